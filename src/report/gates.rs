//! Gates: whether the limits that a matrix sets to its cells hold.
//!
//! A limit of figures holds where the figure keeps it, and is broken where the figure and its whole interval lie beyond. In
//! between it is undecided. One of slow-downs holds where the whole interval of the difference keeps it, and is broken where
//! all of that is surely beyond; else it is undecided, and so without an interval, which is no evidence. One whose cell has no
//! figure is unmeasured. Neither passes silently.

use super::cells::{Slot, measure_value};
use super::comparison;
use super::digits::{counted, uncertainty, value};
use super::document::{Panel, Place, Sheet, with_remedy};
use super::load::Run;
use crate::cell::{Cell, Measure};
use crate::compare::stored::{self, Comparison, Row};
use crate::compare::{Effect, FALSE_DISCOVERIES, Judged, Margin, log_of};
use crate::measure::stats::{Estimate, Interval};
use crate::record::{Gate, Limit};
use serde_json::{Value, json};

/// Whether a limit holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It does.
    Holds,
    /// It does not.
    Broken,
    /// The figure is beyond, but its interval is not; of a slow-down: the interval reaches over the limit, or there is none.
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

impl Checked {
    /// For programs.
    pub fn json(&self) -> Value {
        let Checked { cell, limit, state, found } = self;
        json!({ "cell": cell, "limit": limit, "state": state.word(), "found": found })
    }
}

/// The limits of all gates of a run that need no other run. In one of two arms gates watch arm b, which is judged against arm
/// a too.
pub fn of_run(run: &Run, slots: &[Slot]) -> Vec<Checked> {
    let cell = |index: usize| {
        let figure = match &slots[index] {
            Slot::Measured(figure) => Ok(figure.ns),
            other => Err(why_none(other)),
        };
        (run.header.cells[index].cell.clone(), figure)
    };
    let gates = &run.header.gates;
    let mut checked = absolute(gates, cell);
    if gates.iter().any(|gate| gate.max_regression.is_some()) {
        let rows = comparison::rows(run);
        checked.extend(slow_downs(gates, |number| {
            let row = rows.iter().find(|row| row.cells[1] == number);
            row.map(|row| (row.pair.b.clone(), row.against())).into_iter().collect()
        }));
    }
    checked
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
    slow_downs(gates, |number| {
        let cell = cell(number);
        let rows = comparison.rows.iter().filter(|row| row.cell == cell);
        rows.map(|row| (cell.clone(), Against::of(row))).collect()
    })
}

/// What a comparison says of a cell, as a limit of slow-downs sees it.
pub struct Against {
    /// What was found; or why there is nothing.
    pub found: Result<Difference, String>,
    /// Whether the newer side fails where the older does not.
    pub newly_fails: bool,
    /// The verdict.
    pub word: &'static str,
}

/// The newer side over the older, as logarithms of a ratio of times.
pub struct Difference {
    effect: Effect,
    floor: Option<f64>,
    q: Option<f64>,
}

impl Difference {
    /// Of what was compared, and the verdict on it, if there is one yet.
    pub fn of(effect: &Effect, margin: &Margin, judged: Option<Judged>) -> Difference {
        Difference { effect: *effect, floor: margin.floor, q: judged.and_then(|judged| judged.q) }
    }

    /// The 95 % interval; where there are too few values for one, the noise floor on both sides: 95 % of comparisons of the
    /// same thing stay below that. `None` where neither is known, so that nothing tells how much is chance.
    fn interval(&self) -> Option<Interval> {
        let ratio = self.effect.log_ratio;
        let by_floor = |floor| Interval { low: ratio - floor, high: ratio + floor };
        self.effect.interval_95.or_else(|| self.floor.map(by_floor))
    }

    /// Whether it is no chance, among all cells that were compared, and above the noise floor.
    fn is_sure(&self) -> bool {
        self.q.is_none_or(|q| q <= FALSE_DISCOVERIES)
            && self.floor.is_none_or(|floor| self.effect.log_ratio > floor)
    }

    fn state(&self, limit: f64) -> State {
        match self.interval() {
            Some(all) if all.high <= limit => State::Holds,
            Some(all) if all.low > limit && self.is_sure() => State::Broken,
            _ => State::Undecided,
        }
    }

    /// `+4.5 % of time (95 %: +1.2 to +7.9 %)`.
    fn text(&self) -> String {
        let percent = |log_ratio: f64| 100.0 * log_ratio.exp_m1();
        let interval = match self.interval() {
            Some(all) => format!("95 %: {:+.1} to {:+.1} %", percent(all.low), percent(all.high)),
            None => "no interval, as nothing tells how much is chance".into(),
        };
        format!("{:+.1} % of time ({interval})", percent(self.effect.log_ratio))
    }
}

impl Against {
    fn of(row: &Row) -> Against {
        let difference =
            |found: &stored::Found| Difference::of(&found.effect, &found.margin, Some(found.judged));
        let found = row.found.as_ref().map(difference).map_err(|_| row.why());
        Against { newly_fails: found.is_err() && row.is_regression(), found, word: row.word() }
    }

    fn judge(self, cell: Cell, part: f64) -> Checked {
        let (state, found) = match self.found {
            Err(why) if self.newly_fails => (State::Broken, why),
            Err(why) => (State::Unmeasured, why),
            Ok(found) => (found.state(log_of(part)), format!("{}, {}", found.text(), self.word)),
        };
        let limit = format!("max_regression {}%", (part * 1e6).round() / 1e4);
        Checked { cell, limit, state, found }
    }
}

/// Judges `max_regression` of every gate by what `against` has of each number that it names.
fn slow_downs(gates: &[Gate], against: impl Fn(usize) -> Vec<(Cell, Against)>) -> Vec<Checked> {
    let mut checked = Vec::new();
    for gate in gates {
        let Some(part) = gate.max_regression else { continue };
        let all = gate.cells.iter().flat_map(|number| against(*number));
        checked.extend(all.map(|(cell, against)| against.judge(cell, part)));
    }
    checked
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

/// A table of every limit that was judged.
pub fn sheet(checked: &[Checked]) -> Option<Sheet> {
    let place = |text: &str, strong| Place { text: text.into(), strong, ..Place::default() };
    let row = |one: &Checked| {
        let broken = one.state == State::Broken;
        let places =
            vec![place(&one.limit, false), place(&one.found, false), place(one.state.word(), broken)];
        (one.cell.to_string(), places)
    };
    let head = ["cell", "limit", "found", "state"].map(String::from).to_vec();
    let panel = Panel { heading: String::new(), head, rows: checked.iter().map(row).collect() };
    (!checked.is_empty()).then(|| Sheet { heading: "gates".into(), panels: vec![panel], ..Sheet::default() })
}
