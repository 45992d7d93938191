//! Proof that the program is right on this machine: what is the same is called the same, what was made longer is found,
//! twice the operations take twice the time, and what is faulty is caught.
//!
//! Visits are made as a run makes them, by the same processes. In each round every cell is visited by all of its arms, one
//! right after the other in an order drawn for it, so that drift shows in all of them alike; what is judged are the ratios
//! to the base of the same round, by the rules of [`crate::compare`].

mod faults;
mod judge;
mod plan;
mod rounds;

use crate::measure::clock::Clock;
use crate::record::Effort;
use crate::runner::Visitor;
use crate::runner::signals::Caught;
use serde::Serialize;

/// How it is done.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How much a visit measures.
    pub effort: Effort,
    /// Rounds over all cells.
    pub rounds: u32,
    /// No round begins that would not be over when so many nanoseconds have passed, going by the one before.
    pub budget_ns: u64,
    /// A visit that takes longer than this is ended.
    pub deadline_ms: u64,
    /// Seed of the order.
    pub seed: u64,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is as it must be.
    Pass,
    /// It is not.
    Fail,
    /// It does not look so, but by its interval it may be: the machine is too noisy to tell.
    Undecided,
    /// Nothing is asked of it: it is told.
    Told,
    /// This machine cannot do it.
    NotTried,
}

impl Outcome {
    /// The word in the table.
    pub fn word(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "FAIL",
            Outcome::Undecided => "undecided",
            Outcome::Told => "told",
            Outcome::NotTried => "not tried",
        }
    }
}

/// The groups of checks, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The same arm twice.
    Same,
    /// Operations made longer on purpose.
    SlowDown,
    /// Twice the operations.
    Linear,
    /// Something faulty.
    Fault,
    /// What an empty operation or a reading of the clock takes.
    Floor,
    /// The clock against another.
    Clock,
}

impl Kind {
    /// The word in the table.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Same => "a/a",
            Kind::SlowDown => "slow-down",
            Kind::Linear => "linear",
            Kind::Fault => "fault",
            Kind::Floor => "floor",
            Kind::Clock => "clock",
        }
    }

    /// What to do where such a check fails.
    pub fn advice(self) -> &'static str {
        match self {
            Kind::Same => {
                "what is the same twice was called different: something disturbs this machine in turns (clock rates, other \
                 programs); see `ipcmatrix doctor`, repeat on a quiet machine, and do not trust comparisons until it passes"
            }
            Kind::SlowDown => {
                "a slow-down came out at another size than was injected: something disturbs this machine in turns, or the program \
                 is wrong; see `ipcmatrix doctor`, repeat on a quiet machine, and report it if it stays"
            }
            Kind::Linear => {
                "batches of twice the length do not take twice the time: the clock rate changes within batches, or something \
                 takes time once a batch; see `ipcmatrix doctor` (clock rates, quotas, steal), repeat on a quiet machine"
            }
            Kind::Fault => {
                "work that was not done went unnoticed: that is no noise but a bug; please report it"
            }
            Kind::Floor => {
                "times of short operations are mostly harness here: look at the clock source (`ipcmatrix doctor`), and at \
                 whether the program was built with optimisation"
            }
            Kind::Clock => {
                "the clock of all figures runs at another rate than the raw one: it is being set, or the clock source is \
                 broken; see the clock source (`ipcmatrix doctor`) and the log of the time daemon"
            }
        }
    }
}

/// A figure with its 95 % interval, where there is one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// What kind of check.
    pub check: Kind,
    /// What was checked.
    pub of: String,
    /// What came of it.
    pub outcome: Outcome,
    /// What was found, in words.
    pub found: String,
    /// What must hold, in words.
    pub expected: String,
    /// What was found, as a number: a ratio, or nanoseconds for a floor.
    pub figure: Option<Figure>,
    /// What was injected, as a ratio.
    pub injected: Option<f64>,
}

/// All checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Rounds that were complete.
    pub rounds: u32,
    /// Nanoseconds that all took.
    pub elapsed_ns: u64,
    /// Every check.
    pub rows: Vec<Row>,
    /// The signal that ended it.
    pub caught: Option<Caught>,
}

impl Checked {
    /// Whether no check that must hold is known not to.
    pub fn is_well(&self) -> bool {
        self.rows.iter().all(|row| row.outcome != Outcome::Fail)
    }

    /// Whether some check that must hold is undecided.
    pub fn is_undecided(&self) -> bool {
        self.rows.iter().any(|row| row.outcome == Outcome::Undecided)
    }
}

/// Makes all visits and judges them. `clock` is the one that figures are taken by, `raw` another of the same machine. `begun`
/// is told of each round before it begins.
pub fn selfcheck(
    settings: &Settings,
    visitor: &mut dyn Visitor,
    [clock, raw]: [&dyn Clock; 2],
    begun: &mut dyn FnMut(u32),
) -> Checked {
    let begin = [clock.now_ns(), raw.now_ns()];
    let subjects = plan::subjects();
    let (caught_faults, stopped) = faults::visit_all(settings, visitor);
    let mut taken = rounds::Taken::of(&subjects);
    let until = (clock, begin[0] + settings.budget_ns);
    let stopped =
        stopped.or_else(|| rounds::make(settings, &subjects, &mut taken, visitor, until, begun).err());
    let elapsed = [clock.now_ns() - begin[0], raw.now_ns() - begin[1]];
    let mut rows = judge::all(&subjects, &taken);
    rows.extend(caught_faults);
    rows.push(judge::clocks(elapsed));
    rows.sort_by_key(|row| row.check as u8);
    Checked { rounds: taken.rounds, elapsed_ns: elapsed[0], rows, caught: stopped }
}

#[cfg(test)]
mod tests;
