//! What disturbed a run, and what a reader should know of its figures: detectors with stable codes, the codes that they
//! give to visits and cells, footnotes, and the verdict.
//!
//! Pure, over records: nothing here changes what was measured, or how much. The [`DETECTORS`] are one table; each gives a
//! number for a visit or for a figure and fires where that is over its limit.

mod codes;
mod figures;
mod findings;
mod footnotes;
mod sight;
mod table;
#[cfg(test)]
mod tests;
mod verdict;
mod visits;

pub use codes::{Code, Codes};
pub use findings::Findings;
pub(super) use footnotes::{Told, Warnings};
pub use table::DETECTORS;
pub(super) use verdict::facts;
pub use verdict::{Verdict, Word, verdict};
pub(super) use visits::N_DRIFT;

use super::cells::Figure;
use sight::Sight;
use std::fmt;

/// What a code is about, and so where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// Single visits: a footnote counts them.
    Visits,
    /// The figure of a cell: a footnote counts the cells.
    Cells,
    /// Single visits too, but as something that the run did: it stands above the tables only.
    Run,
}

impl Concern {
    /// The word for it in the list.
    pub fn name(self) -> &'static str {
        match self {
            Concern::Visits => "visits",
            Concern::Cells => "cells",
            Concern::Run => "run",
        }
    }
}

/// What the number of a detector counts in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A share from 0 to 1, shown as a percentage.
    Percent,
    /// So many times what is usual.
    Times,
    /// A plain number.
    Number,
    /// Whether there was any; the limit is 0.
    Any,
}

/// Which number a detector looks at; `None` where the journal does not tell.
#[derive(Clone, Copy)]
pub enum Finds {
    /// One of a visit.
    Visit(fn(&Sight) -> Option<f64>),
    /// One of the figure of a cell.
    Figure(fn(&Figure) -> Option<f64>),
}

/// One row of the table.
pub struct Detector {
    /// Its stable code, `W001`: never used for something else.
    pub code: &'static str,
    /// A short name.
    pub name: &'static str,
    /// What it is about.
    pub concern: Concern,
    /// It fires where its number is over this.
    pub limit: f64,
    /// What the number counts in.
    pub unit: Unit,
    /// What it means, in a clause.
    pub text: &'static str,
    /// What would help, in sentences.
    pub advice: &'static str,
    /// Whether it tells of a disturbance, so that it counts for the verdict. What it does not say is how the run was made
    /// or what the figures look like.
    pub disturbs: bool,
    /// Its number.
    finds: Finds,
}

impl Detector {
    /// The limit in words, `over 5 %`; empty where there is none to speak of.
    pub fn threshold(&self) -> Threshold<'_> {
        Threshold(self)
    }

    /// Whether it fires for that number.
    fn fires(&self, number: Option<f64>) -> bool {
        number.is_some_and(|number| number > self.limit)
    }

    /// `W003 foreign CPU, over 5 %`.
    fn head(&self) -> String {
        let Detector { code, name, .. } = self;
        match self.unit {
            Unit::Any => format!("{code} {name}"),
            _ => format!("{code} {name}, {}", self.threshold()),
        }
    }

    /// `W003 foreign CPU, over 5 %: 12 of 84 visits`.
    fn line(&self, count: &str) -> String {
        format!("{}: {count}", self.head())
    }

    /// The same with what it means and what would help.
    fn full_line(&self, count: &str) -> String {
        format!("{}: {} ({count}). {}", self.head(), self.text, self.advice)
    }
}

/// The limit of a detector in words.
pub struct Threshold<'a>(&'a Detector);

impl fmt::Display for Threshold<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.0.limit;
        match self.0.unit {
            Unit::Percent => write!(f, "over {} %", (limit * 1e6).round() / 1e4),
            Unit::Times => write!(f, "over {limit} times"),
            Unit::Number => write!(f, "over {limit}"),
            Unit::Any => f.write_str("any"),
        }
    }
}
