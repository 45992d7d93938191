//! Why a visit has no figures.

use crate::record::{Outcome, Unavailable};
use std::fmt::Display;

/// Why a visit has no figures.
#[derive(Debug)]
pub enum Refusal {
    /// The machine or the kernel refuses the cell.
    Unavailable(Unavailable),
    /// It ought to have worked and did not.
    Failed {
        /// What was being done.
        phase: &'static str,
        /// What went wrong.
        error: String,
    },
}

impl Refusal {
    /// The machine or the kernel refuses the cell, for that reason.
    pub fn unavailable(reason: impl Into<String>, remedy: impl Into<String>) -> Refusal {
        Refusal::Unavailable(Unavailable { reason: reason.into(), remedy: remedy.into() })
    }

    /// It ought to have worked and did not.
    pub fn failed(phase: &'static str, error: impl Display) -> Refusal {
        Refusal::Failed { phase, error: error.to_string() }
    }

    /// What the opening of a cell, or the looking for its room, ended with: what only that shows to be missing is no
    /// failure.
    pub fn of_opening(error: std::io::Error) -> Refusal {
        match error.get_ref().and_then(|inner| inner.downcast_ref::<Unavailable>()) {
            Some(why) => Refusal::Unavailable(why.clone()),
            None => Refusal::failed("open", error),
        }
    }

    /// As the record has it.
    pub fn outcome(self) -> Outcome {
        match self {
            Refusal::Unavailable(unavailable) => Outcome::Unavailable(unavailable),
            Refusal::Failed { phase, error } => Outcome::Failed { phase: phase.into(), error },
        }
    }
}
