//! Why a cell is not run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Why a cell cannot be measured here.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Unavailable {
    /// What stands in the way, with the limit's name and value where it is one.
    pub reason: String,
    /// What would make the cell available.
    pub remedy: String,
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.reason, self.remedy)
    }
}

/// So that what only the opening of a cell shows can come as an [`std::io::Error`].
impl std::error::Error for Unavailable {}
