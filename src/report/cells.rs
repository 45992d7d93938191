//! What came of each cell: one figure, or why there is none.

use super::load::Run;
use super::metric::Metric;
use crate::cell::{Axis, Cell, Measure};
use crate::measure::stats::Estimate;
use crate::record::{Measured, Outcome, Unavailable, Visit};
use std::collections::BTreeSet;

/// The increments a worker for which seconds are shown, as in the book.
pub const SHOWN_INCREMENTS: u64 = 1_000_000;

/// The requests for which seconds are shown, as in the article that served cells come from.
pub const SHOWN_REQUESTS: u64 = 40_000;

/// The effort of a run whose figures are not shown: it only sees that every cell works.
pub const TEST_EFFORT: &str = "test";

/// What came of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    /// A figure.
    Measured(Box<Figure>),
    /// Measured once to see that it works: no figure is shown ([`TEST_EFFORT`]).
    Works,
    /// The machine or the kernel refuses it.
    Unavailable(Unavailable),
    /// A visit failed, so nothing of the cell is used.
    Failed(Failure),
    /// The run ended before it was visited.
    NotVisited,
    /// The matrix has no such cell.
    Absent,
}

/// The figure of a measured cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Nanoseconds an operation; what the runner compares with the precision.
    pub ns: Estimate,
    /// What is shown, in its unit: MB/s, microseconds, seconds per [`SHOWN_INCREMENTS`] or
    /// [`SHOWN_REQUESTS`], or another metric.
    pub shown: Estimate,
    /// The fewest operations a worker in a sample, over the visits.
    pub least_ops: u64,
    /// The most.
    pub most_ops: u64,
    /// Whether more workers ran than CPUs were given, in any visit.
    pub oversubscribed: bool,
    /// The flags of all visits.
    pub flags: BTreeSet<String>,
    /// Visits that were refused although others were measured, with the first reason.
    pub refused: Option<(usize, Unavailable)>,
}

/// Why a cell failed: the first failure, and how many there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was being done.
    pub phase: String,
    /// What went wrong.
    pub error: String,
    /// Visits that failed.
    pub failed: usize,
    /// Visits made.
    pub visits: usize,
}

impl Slot {
    /// The word for it in CSV.
    pub fn word(&self) -> &'static str {
        match self {
            Slot::Measured(_) | Slot::Works => "measured",
            Slot::Unavailable(_) => "unavailable",
            Slot::Failed(_) => "failed",
            Slot::NotVisited => "not_visited",
            Slot::Absent => "absent",
        }
    }

    /// The figure, where there is one.
    pub fn figure(&self) -> Option<&Figure> {
        match self {
            Slot::Measured(figure) => Some(figure),
            _ => None,
        }
    }
}

/// What came of every cell of the header, in its order.
pub fn slots(run: &Run, metric: Metric) -> Vec<Slot> {
    let mut visits: Vec<Vec<&Visit>> = vec![Vec::new(); run.header.cells.len()];
    for visit in &run.visits {
        visits[visit.cell_index].push(visit);
    }
    let shown = |slot| match slot {
        Slot::Measured(_) if run.header.effort == TEST_EFFORT => Slot::Works,
        slot => slot,
    };
    let planned = run.header.cells.iter().zip(visits);
    let mut slots: Vec<Slot> = planned
        .map(|(planned, visits)| shown(slot(metric, &planned.cell, planned.unavailable.as_ref(), &visits)))
        .collect();
    if metric == Metric::PercentOfMemoryCopy {
        relate_to_copy(run, &mut slots);
    }
    slots
}

/// The mechanism that copies in memory, which other bandwidths are compared with.
const MEMORY_COPY: &str = "memory_copy";

/// Makes percentages of the copy of the same bytes; a cell without one beside it has no figure.
fn relate_to_copy(run: &Run, slots: &mut [Slot]) {
    let copies: Vec<(u64, f64)> = run
        .header
        .cells
        .iter()
        .zip(slots.iter())
        .filter(|(planned, _)| planned.cell.mechanism() == MEMORY_COPY)
        .filter_map(|(planned, slot)| {
            Some((planned.cell.count(Axis::MessageBytes), slot.figure()?.shown.value))
        })
        .collect();
    for (planned, slot) in run.header.cells.iter().zip(slots) {
        let Slot::Measured(figure) = slot else { continue };
        let bytes = planned.cell.count(Axis::MessageBytes);
        match copies.iter().find(|(copied, _)| *copied == bytes) {
            Some((_, copy)) => figure.shown = figure.shown.scaled(100.0 / copy),
            None => *slot = Slot::Absent,
        }
    }
}

/// What came of one cell. A failed visit fails it; then the visits that were measured count.
fn slot(metric: Metric, cell: &Cell, planned: Option<&Unavailable>, visits: &[&Visit]) -> Slot {
    if let Some(failure) = failure(visits) {
        return Slot::Failed(failure);
    }
    let refusals: Vec<&Unavailable> = planned.into_iter().chain(visits.iter().filter_map(refusal)).collect();
    let measured: Vec<&Measured> = visits.iter().filter_map(measured).collect();
    let refused = refusals.first().map(|first| (refusals.len(), (*first).clone()));
    match (measured.is_empty(), refused) {
        (true, Some((_, unavailable))) => Slot::Unavailable(unavailable),
        (true, None) => Slot::NotVisited,
        (false, refused) => figure(metric, cell, &measured, refused),
    }
}

/// The figures of a visit that has some.
fn measured<'a>(visit: &&'a Visit) -> Option<&'a Measured> {
    match &visit.outcome {
        Outcome::Measured(measured) => Some(measured),
        _ => None,
    }
}

fn refusal<'a>(visit: &&'a Visit) -> Option<&'a Unavailable> {
    match &visit.outcome {
        Outcome::Unavailable(unavailable) => Some(unavailable),
        _ => None,
    }
}

fn failure(visits: &[&Visit]) -> Option<Failure> {
    let failures = visits.iter().filter_map(|visit| match &visit.outcome {
        Outcome::Failed { phase, error } => Some((phase, error)),
        _ => None,
    });
    let failed = failures.clone().count();
    let (phase, error) = failures.into_iter().next()?;
    Some(Failure { phase: phase.clone(), error: error.clone(), failed, visits: visits.len() })
}

/// The figure of a cell with measured visits; a failure where a visit's number is no time.
fn figure(
    metric: Metric,
    cell: &Cell,
    measured: &[&Measured],
    refused: Option<(usize, Unavailable)>,
) -> Slot {
    let times: Vec<f64> = measured.iter().map(|measured| measured.lead_ns()).collect();
    let senseless: Vec<&f64> = times.iter().filter(|time| !(time.is_finite() && **time > 0.0)).collect();
    let (None, Some(ns)) = (senseless.first(), Estimate::of(&times)) else {
        let time = senseless.first().map_or(0.0, |time| **time);
        let error = format!("recorded {time} ns an operation: below what the clock resolves");
        return Slot::Failed(Failure {
            phase: "sample".into(),
            error,
            failed: senseless.len(),
            visits: times.len(),
        });
    };
    let Some(shown) = shown(metric, cell, &ns, measured) else { return Slot::Absent };
    let ops = measured.iter().map(|measured| measured.ops);
    Slot::Measured(Box::new(Figure {
        ns,
        shown,
        least_ops: ops.clone().min().unwrap_or(0),
        most_ops: ops.max().unwrap_or(0),
        oversubscribed: measured.iter().any(|measured| measured.oversubscribed),
        flags: measured.iter().flat_map(|measured| measured.flags.iter().cloned()).collect(),
        refused,
    }))
}

/// The unit of a measure's figures.
pub fn measure_unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Bandwidth => "MB/s",
        Measure::RoundTrip => "us per round trip",
        Measure::Increment => "seconds per 1,000,000 increments a worker",
        Measure::Serve => "seconds per 40,000 requests",
    }
}

/// What is shown of the cell: `None` where the metric cannot be had of it. Rates of the measure are
/// inverted here, after the median.
fn shown(metric: Metric, cell: &Cell, ns: &Estimate, measured: &[&Measured]) -> Option<Estimate> {
    if metric != Metric::Figure {
        let values: Option<Vec<f64>> = measured.iter().map(|measured| metric.of(cell, measured)).collect();
        return Estimate::of(&values?);
    }
    Some(match cell.measure() {
        Some(Measure::Bandwidth) => ns.rate(megabytes_scale(cell)),
        Some(Measure::RoundTrip) => ns.scaled(MICROSECOND_SCALE),
        Some(Measure::Increment) => ns.scaled(INCREMENT_SCALE),
        Some(Measure::Serve) => ns.scaled(REQUEST_SCALE),
        None => *ns,
    })
}

/// One time in nanoseconds an operation, in the unit of the cell's measure.
pub fn measure_value(cell: &Cell, ns: f64) -> f64 {
    match cell.measure() {
        Some(Measure::Bandwidth) => megabytes_scale(cell) / ns,
        Some(Measure::RoundTrip) => ns * MICROSECOND_SCALE,
        Some(Measure::Increment) => ns * INCREMENT_SCALE,
        Some(Measure::Serve) => ns * REQUEST_SCALE,
        None => ns,
    }
}

/// MB/s x ns: bytes of a message x 10^9 ns/s over 10^6 bytes.
fn megabytes_scale(cell: &Cell) -> f64 {
    cell.count(Axis::MessageBytes) as f64 * 1e3
}

/// Microseconds for a nanosecond.
const MICROSECOND_SCALE: f64 = 1e-3;

/// Seconds per [`SHOWN_INCREMENTS`] for a nanosecond an increment.
const INCREMENT_SCALE: f64 = SHOWN_INCREMENTS as f64 / 1e9;

/// Seconds per [`SHOWN_REQUESTS`] for a nanosecond a request.
pub(super) const REQUEST_SCALE: f64 = SHOWN_REQUESTS as f64 / 1e9;
