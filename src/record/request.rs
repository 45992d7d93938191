//! What a visit is asked for.

use super::{Arm, Effort, Tampering};
use crate::cell::Cell;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the runner hands to the process of a visit, as JSON on its standard input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    /// The cells, in the order of their measuring: one, or those that are visited together. The process prints one
    /// [`Outcome`](super::Outcome) for each, and stops at the first that fails.
    pub parts: Vec<Part>,
    /// How much to measure.
    pub effort: Effort,
    /// The visit gives up a cell when this many milliseconds have passed.
    pub deadline_ms: u64,
    /// Process id of the runner: the visit ends with it.
    pub runner: Option<i32>,
    /// What is done to the visit on purpose, to see that the program notices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tampering: Option<Tampering>,
    /// CPUs that something else uses: workers that share one CPU take another, where there is one that will do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub avoided_cpus: Vec<usize>,
    /// Workers that share one CPU take this one, where they may use it: that of the visit with which this one is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_cpu_as: Option<usize>,
    /// For whoever starts the process, in a run of two arms; the process itself is not told.
    #[serde(skip)]
    pub arm: Option<Arm>,
}

/// A cell of a visit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Part {
    /// The cell.
    pub cell: Cell,
    /// Operations a worker in each sample; `None` lets the visit calibrate.
    pub ops: Option<u64>,
}

/// Why workers that share a CPU are not on the last one that they may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Moved {
    /// Something else used that one, or a thread of its core.
    Crowded,
    /// This one had more of its core for itself.
    FreerCore,
}

impl Request {
    /// A request for one cell, from a process that ends when it likes.
    pub fn alone(cell: &Cell, ops: Option<u64>, effort: Effort, deadline_ms: u64) -> Request {
        let parts = vec![Part { cell: cell.clone(), ops }];
        Request {
            parts,
            effort,
            deadline_ms,
            runner: None,
            tampering: None,
            avoided_cpus: Vec::new(),
            same_cpu_as: None,
            arm: None,
        }
    }
}
