//! What came of one cell, for every format.

use crate::cell::{Cell, Measure, Unavailable};
use crate::measure::stats::Estimate;
use crate::measure::stats::modes;
use crate::report::cells::{Failure, Figure, Slot, in_ns};
use crate::report::csv::csv_unit;
use crate::report::load::Run;
use crate::report::metric::Metric;
use crate::report::warnings::Findings;
use schemars::JsonSchema;
use serde::Serialize;

/// What came of a cell. What does not apply is null.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Summary {
    /// The cell.
    pub cell: Cell,
    /// What came of it. A cell that was measured has no figure where the run was a test, where nothing was left when
    /// the loop was taken off, and where the visits fall into two modes or were made under two conditions.
    #[schemars(extend("enum" = ["measured", "unavailable", "failed", "not_visited", "absent"]))]
    pub outcome: &'static str,
    /// Unit of `figure` and of the modes, as in the tables.
    pub unit: Option<String>,
    /// Whether more is better of `figure`.
    pub more_is_better: Option<bool>,
    /// The median over the visits of what the tables show.
    pub figure: Option<Number>,
    /// The same as nanoseconds an operation of a worker.
    pub ns_per_op: Option<Number>,
    /// The two modes where the visits fall into two, as then one number would stand for neither; else empty.
    pub modes: Vec<Mode>,
    /// How narrow the interval is: A to D, or U for two modes; null where the visits are too few.
    #[schemars(extend("enum" = ["A", "B", "C", "D", "U", null]))]
    pub grade: Option<String>,
    /// Visits made, whatever came of them.
    pub visits: usize,
    /// The independent visits that the measured ones are worth.
    pub effective_visits: Option<f64>,
    /// Whether the interval is the full range of the visits, because they are worth too few independent ones.
    pub full_range: Option<bool>,
    /// The fewest operations a worker in a sample.
    pub least_ops: Option<u64>,
    /// The most.
    pub most_ops: Option<u64>,
    /// Whether more workers ran than CPUs were given.
    pub oversubscribed: Option<bool>,
    /// Whether the time of the loop around the operations was taken off.
    pub net: Option<bool>,
    /// Whether it is the mean of the published counts, which has no interval.
    pub exact: Option<bool>,
    /// Part of the updates that got lost, 0 to 1, where nothing prevents that.
    pub lost_share: Option<f64>,
    /// Part of the lines that got lost, 0 to 1, where lines are logged.
    pub lost_lines_share: Option<f64>,
    /// Stable words of the visits for what a reader should know, e.g. `n_drift`.
    pub flags: Vec<String>,
    /// What a reader should know of the figure, or disturbed its visits: `ipcmatrix list warnings`.
    pub warnings: Vec<Warning>,
    /// Why it cannot be measured here, and what would help.
    pub unavailable: Option<Unavailable>,
    /// Visits that were refused although others were measured, with the first reason.
    pub refused: Option<Refused>,
    /// Why it failed.
    pub failure: Option<Failed>,
    /// Set where the loop alone took as long as the operations in it.
    pub below_resolution: Option<BelowResolution>,
}

/// A number with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Number {
    /// The median over the visits.
    pub value: f64,
    /// The lower end of its 95 % interval; null where the visits are too few.
    pub low: Option<f64>,
    /// The upper end.
    pub high: Option<f64>,
}

/// One of two modes, or of two conditions of the visits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Mode {
    /// In the unit of the tables.
    pub figure: Number,
    /// Nanoseconds an operation.
    pub ns_per_op: Number,
    /// Its part of all visits, 0 to 1.
    pub share: f64,
    /// What its visits have in common, where that is known: `near`, `far`, `core alone`, `core shared`, `on one CPU`, `on several`.
    pub condition: Option<&'static str>,
}

/// A warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Warning {
    /// Its stable code, e.g. `W003`.
    pub code: &'static str,
    /// Measured visits that it is about; null where it is about the figure.
    pub visits: Option<usize>,
}

/// Visits that were refused.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Refused {
    /// How many.
    pub visits: usize,
    /// The first reason.
    #[serde(flatten)]
    pub why: Unavailable,
}

/// The first failure, and how many there were.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Failed {
    /// What was being done.
    pub phase: String,
    /// What went wrong.
    pub error: String,
    /// Visits that failed.
    pub visits: usize,
}

/// What was measured where nothing is left to show, in nanoseconds an operation.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct BelowResolution {
    /// The loop with the operations in it.
    pub raw_ns: f64,
    /// The loop alone.
    pub twin_ns: f64,
}

impl Number {
    fn of(estimate: &Estimate) -> Number {
        let interval = estimate.interval;
        Number {
            value: estimate.value,
            low: interval.map(|interval| interval.low),
            high: interval.map(|interval| interval.high),
        }
    }

    /// Seconds of a number of nanoseconds.
    pub fn seconds(self) -> Number {
        let seconds = |ns: f64| ns / 1e9;
        Number { value: seconds(self.value), low: self.low.map(seconds), high: self.high.map(seconds) }
    }
}

impl Mode {
    fn of(cell: &Cell, mode: &modes::Mode) -> Mode {
        Mode {
            figure: Number::of(&mode.estimate),
            ns_per_op: Number::of(&in_ns(cell, &mode.estimate)),
            share: mode.share,
            condition: (!mode.name.is_empty()).then_some(mode.name),
        }
    }
}

impl Summary {
    /// What came of the cell at that position of the header.
    pub(super) fn of(run: &Run, index: usize, slot: &Slot, findings: &Findings) -> Summary {
        let cell = &run.header.cells[index].cell;
        let visits = run.visits.iter().filter(|visit| visit.cell_index == index).count();
        let mut summary = Summary::without_figure(cell, slot, visits);
        if let Slot::Measured(figure) = slot {
            summary.add_figure(figure);
            summary.warnings = warnings(findings, figure);
        }
        summary
    }

    fn without_figure(cell: &Cell, slot: &Slot, visits: usize) -> Summary {
        let measure = cell.measure();
        Summary {
            cell: cell.clone(),
            outcome: slot.word(),
            unit: measure.map(csv_unit),
            more_is_better: measure.and_then(|measure| Metric::Figure.more_is_better(measure)),
            figure: None,
            ns_per_op: None,
            modes: Vec::new(),
            grade: None,
            visits,
            effective_visits: None,
            full_range: None,
            least_ops: None,
            most_ops: None,
            oversubscribed: None,
            net: None,
            exact: None,
            lost_share: None,
            lost_lines_share: None,
            flags: Vec::new(),
            warnings: Vec::new(),
            unavailable: if let Slot::Unavailable(why) = slot { Some(why.clone()) } else { None },
            refused: None,
            failure: if let Slot::Failed(failure) = slot { Some(failed(failure)) } else { None },
            below_resolution: match slot {
                Slot::BelowResolution { raw_ns, twin_ns } => {
                    Some(BelowResolution { raw_ns: *raw_ns, twin_ns: *twin_ns })
                }
                _ => None,
            },
        }
    }

    fn add_figure(&mut self, figure: &Figure) {
        match &figure.modes {
            Some(modes) => self.modes = modes.0.iter().map(|mode| Mode::of(&self.cell, mode)).collect(),
            None => {
                self.figure = Some(Number::of(&figure.shown));
                self.ns_per_op = Some(Number::of(&figure.ns));
            }
        }
        self.grade = figure.grade().map(|grade| grade.to_string());
        self.effective_visits = Some(figure.ns.effective_visits);
        self.full_range = Some(figure.ns.full_range);
        (self.least_ops, self.most_ops) = (Some(figure.least_ops), Some(figure.most_ops));
        self.oversubscribed = Some(figure.oversubscribed);
        (self.net, self.exact) = (Some(figure.net), Some(figure.exact));
        (self.lost_share, self.lost_lines_share) = (figure.lost_share, figure.lost_lines);
        self.flags = figure.flags.iter().cloned().collect();
        let refused = figure.refused.as_ref();
        self.refused = refused.map(|(visits, why)| Refused { visits: *visits, why: why.clone() });
    }

    /// Visits that were neither refused nor failed, where there is a figure.
    pub fn measured_visits(&self) -> usize {
        self.visits - self.refused.as_ref().map_or(0, |refused| refused.visits)
    }

    /// The codes of its warnings, with a space between.
    pub fn codes(&self) -> String {
        self.warnings.iter().map(|warning| warning.code).collect::<Vec<_>>().join(" ")
    }

    /// The measure, if the cell names a known one.
    pub fn measure(&self) -> Option<Measure> {
        self.cell.measure()
    }
}

/// In the order of their codes.
fn warnings(findings: &Findings, figure: &Figure) -> Vec<Warning> {
    let told = findings.told_of(figure.cell_index, Some(figure)).into_iter();
    told.map(|(code, visits)| Warning { code: code.detector().code, visits }).collect()
}

fn failed(failure: &Failure) -> Failed {
    Failed { phase: failure.phase.clone(), error: failure.error.clone(), visits: failure.failed }
}
