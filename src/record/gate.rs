//! Limits that a matrix sets to some of its cells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What must hold of some cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gate {
    /// Which cells, as the matrix says it.
    pub filter: String,
    /// Those cells: their positions in the header.
    pub cells: Vec<usize>,
    /// What their figure may be at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Limit>,
    /// What their figure must be at least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Limit>,
    /// By what part they may get slower, against the runs that they are compared with: 0.05 reads as 5 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_regression: Option<f64>,
}

/// A limit of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// As it is written, e.g. `10us`.
    pub text: String,
    /// Bytes a second of a bandwidth, else nanoseconds of what the figure is the time of.
    pub value: f64,
}
