//! Gates: whether the limits that a matrix sets to its cells hold.
//!
//! A limit holds where the figure keeps it, and is broken where the figure and its whole interval lie beyond. In between it is
//! undecided, and so is one whose cell has no figure: neither passes silently.

use super::cells::{Slot, measure_value};
use super::digits::{counted, uncertainty, value};
use super::document::with_remedy;
use super::load::Run;
use crate::cell::{Cell, Measure};
use crate::compare::log_of;
use crate::compare::stored::{Comparison, Row};
use crate::measure::stats::{Estimate, Interval};
use crate::record::{Gate, Limit};

/// Whether a limit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does.
    Holds,
    /// It does not.
    Broken,
    /// The figure is beyond, but its interval is not.
    Undecided,
    /// There is no figure.
    Unmeasured,
}

impl State {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            State::Holds => "holds",
            State::Broken => "broken",
            State::Undecided => "undecided",
            State::Unmeasured => "unmeasured",
        }
    }
}

/// A limit of a cell, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The cell.
    pub cell: Cell,
    /// The limit, e.g. `max 10us`.
    pub limit: String,
    /// Whether it holds.
    pub state: State,
    /// What was found, or why there is nothing.
    pub found: String,
}

/// The limits of all gates of a run that need no other run.
pub fn of_run(run: &Run, slots: &[Slot]) -> Vec<Checked> {
    let cell = |index: usize| {
        let figure = match &slots[index] {
            Slot::Measured(figure) => Ok(figure.ns),
            other => Err(why_none(other)),
        };
        (run.header.cells[index].cell.clone(), figure)
    };
    absolute(&run.header.gates, cell)
}

fn why_none(slot: &Slot) -> String {
    match slot {
        Slot::Unavailable(why) => format!("unavailable: {}", with_remedy(&why.reason, &why.remedy)),
        Slot::Failed(failure) => format!("failed in phase {}: {}", failure.phase, failure.error),
        Slot::BelowResolution { .. } => "below resolution".into(),
        Slot::Works => "a test shows no figure".into(),
        Slot::Measured(_) | Slot::NotVisited | Slot::Absent => "not visited".into(),
    }
}

/// Judges `max` and `min` of every gate by the figures of its cells, nanoseconds an operation.
pub fn absolute(gates: &[Gate], cell: impl Fn(usize) -> (Cell, Result<Estimate, String>)) -> Vec<Checked> {
    let mut checked = Vec::new();
    for gate in gates {
        let limits = [("max", &gate.max), ("min", &gate.min)];
        let limits = limits.into_iter().filter_map(|(name, limit)| Some((name, limit.as_ref()?)));
        for (name, limit) in limits {
            for index in &gate.cells {
                let (cell, figure) = cell(*index);
                checked.push(one(cell, name, limit, figure));
            }
        }
    }
    checked
}

fn one(cell: Cell, name: &str, limit: &Limit, figure: Result<Estimate, String>) -> Checked {
    let text = format!("{name} {}", limit.text);
    match figure {
        Err(found) => Checked { cell, limit: text, state: State::Unmeasured, found },
        Ok(ns) => {
            let (shown, unit, scale) = shown(&cell, &ns);
            let beyond = |number: f64| match name {
                "max" => number * scale > limit.value,
                _ => number * scale < limit.value,
            };
            let all = shown.interval.unwrap_or(Interval { low: shown.value, high: shown.value });
            let state = match (beyond(shown.value), beyond(all.low) && beyond(all.high)) {
                (false, _) => State::Holds,
                (true, true) => State::Broken,
                (true, false) => State::Undecided,
            };
            let uncertainty = uncertainty(&shown).map(|text| format!(" {text}")).unwrap_or_default();
            Checked { cell, limit: text, state, found: format!("{}{uncertainty} {unit}", value(&shown)) }
        }
    }
}

/// The figure of the measure with its short unit, and the size of that unit in nanoseconds or bytes a second.
fn shown(cell: &Cell, ns: &Estimate) -> (Estimate, &'static str, f64) {
    let of_one = measure_value(cell, 1.0);
    match cell.measure() {
        Some(Measure::Bandwidth) => (ns.rate(of_one), "MB/s", 1e6),
        Some(Measure::RoundTrip | Measure::Wait) => (ns.scaled(of_one), "us", 1e3),
        Some(Measure::Increment | Measure::Serve | Measure::Append) => (ns.scaled(of_one), "s", 1e9),
        Some(Measure::Operation) | None => (ns.scaled(of_one), "ns", 1.0),
    }
}

/// Judges `max_regression` of every gate by a comparison; `cell` has the cell of each number that a gate names.
pub fn relative(gates: &[Gate], cell: impl Fn(usize) -> Cell, comparison: &Comparison) -> Vec<Checked> {
    let mut checked = Vec::new();
    for gate in gates {
        let Some(part) = gate.max_regression else { continue };
        for cell in gate.cells.iter().map(|number| cell(*number)) {
            let rows = comparison.rows.iter().filter(|row| row.cell == cell);
            checked.extend(rows.map(|row| against(row, part)));
        }
    }
    checked
}

fn against(row: &Row, part: f64) -> Checked {
    let (state, found) = match &row.found {
        Err(_) if row.is_regression() => (State::Broken, row.why()),
        Err(_) => (State::Unmeasured, row.why()),
        Ok(found) => {
            let beyond = found.effect.log_ratio > log_of(part);
            let state = match (beyond, row.is_regression()) {
                (false, _) => State::Holds,
                (true, true) => State::Broken,
                (true, false) => State::Undecided,
            };
            (state, format!("{:+.1} % of time, {}", 100.0 * found.effect.log_ratio.exp_m1(), row.word()))
        }
    };
    let limit = format!("max_regression {}%", (part * 1e6).round() / 1e4);
    Checked { cell: row.cell.clone(), limit, state, found }
}

/// `12 limits: 10 hold, 2 broken`.
pub fn counts(checked: &[Checked]) -> String {
    let count = |state: State| checked.iter().filter(|one| one.state == state).count();
    let others =
        [State::Broken, State::Undecided, State::Unmeasured].map(|state| (count(state), state.word()));
    let others =
        others.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!(", {count} {word}"));
    format!("{}: {} hold{}", counted(checked.len(), "limit"), count(State::Holds), others.collect::<String>())
}

/// `gates` for a report: how many hold, and each that does not; `None` where no figure is shown.
pub fn fact(checked: &[Checked]) -> Option<String> {
    let test = |one: &Checked| one.found == why_none(&Slot::Works);
    if checked.iter().all(test) {
        return None;
    }
    let mut text = counts(checked);
    for one in checked.iter().filter(|one| one.state != State::Holds) {
        text += &format!("; {} ({}) of `{}`: {}", one.state.word(), one.limit, one.cell, one.found);
    }
    Some(text)
}
