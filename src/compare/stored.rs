//! Stored runs against stored runs: one number a run and cell, and what two sets of them say of each other.
//!
//! Runs are reduced when they are read, so that a thousand of them fit into memory: of each cell a run keeps the median of
//! its visits, and single visits only where a ping-pong tells how far apart their CPUs were.

mod settings;
mod side;
mod strata;

pub use settings::{Known, Settings};
pub use side::{Side, figure_of};

use super::floors::Floors;
use super::pairs::least;
use super::{Effect, Judged, Margin, Verdict, judge, log_of};
use crate::cell::Cell;
use crate::measure::stats::Estimate;
use crate::measure::stats::distance::Distance;
use crate::record::Lead;
use std::collections::{BTreeMap, BTreeSet};

/// Runs a side from which on differences are tested: with fewer the shift from run to run cannot be told from a change.
pub const LEAST_RUNS: usize = 3;

/// The effort of a run whose figures are none.
const TEST_EFFORT: &str = "test";

/// Verdicts of a difference from which on it is suspect that all have one direction.
pub const SUSPECT_FROM: usize = 10;

/// A run, reduced to what a comparison needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// What the user calls it: its path.
    pub name: String,
    /// The class of its machine and what it stands for; older journals have none.
    pub machine: Option<[String; 2]>,
    /// How much it measured: `default`, `quick` ...
    pub effort: String,
    /// The version of the program that made it.
    pub version: String,
    /// Its cells in the order of the header, by their number in [`Known`], and what came of each.
    pub cells: Vec<(usize, Had)>,
}

/// What a run has of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Had {
    /// Figures.
    Measured(Box<Reduced>),
    /// The machine or the kernel refused it: why, and what would help.
    Unavailable(String),
    /// A visit failed: in which phase and why.
    Failed(String),
    /// The run ended before.
    NotVisited,
}

/// The visits of a cell, reduced.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// Which number of a visit leads.
    pub lead: Lead,
    /// Nanoseconds an operation, the loop around it included.
    pub raw_ns: Estimate,
    /// The same less each visit's own loop, where every visit has timed that.
    pub net_ns: Option<Estimate>,
    /// Whether the loop is more than a negligible part.
    pub loop_counts: bool,
    /// Whether the visits fall into two modes, so that one number stands for neither.
    pub two_modes: bool,
    /// Visits with fewer samples, for want of time.
    pub thrifty: usize,
    /// The part of the visits, 0 to 1, in which another thread used the core of a worker; `None` where they do not tell.
    pub shared_core: Option<f64>,
    /// Parameters in force, by their number in [`Known`].
    pub settings: usize,
    /// The single visits, where each knows how far apart its CPUs were; else none.
    pub visits: Vec<Distant>,
}

/// A visit across two CPUs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distant {
    /// Nanoseconds an operation, the loop around it included.
    pub raw_ns: f64,
    /// The loop alone, 0 where none was timed.
    pub loop_ns: f64,
    /// Nanoseconds of a ping-pong between the CPUs, before the samples and after them.
    pub ping_pong_ns: [f64; 2],
}

/// In what runs may differ and be compared all the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// The class of the machine.
    pub machine: bool,
    /// How much was measured.
    pub effort: bool,
    /// Parameters in force.
    pub effective: bool,
}

/// How to compare.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The least effect of interest in every cell, as a part; `None` for what each kind of cell has.
    pub least: Option<f64>,
    /// Differences that are let pass.
    pub allowed: Allowed,
    /// Calibrated noise floors: what decides where a side has fewer than [`LEAST_RUNS`] runs.
    pub floors: Option<Floors>,
}

/// What a comparison gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Every cell of either side, in the order of the first run that has it; one row a stratum where there are two.
    pub rows: Vec<Row>,
}

/// A cell of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The cell.
    pub cell: Cell,
    /// How far apart the CPUs were, where that is kept apart.
    pub stratum: Option<Distance>,
    /// What was found, or why there is nothing to compare.
    pub found: Result<Found, Apart>,
}

/// A cell that was compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The runs that are compared with.
    pub base: Side,
    /// The runs that are compared.
    pub new: Side,
    /// What they say of each other.
    pub effect: Effect,
    /// What matters in this cell.
    pub margin: Margin,
    /// The verdict.
    pub judged: Judged,
    /// Whether the time of the loop around the operations was taken off both sides.
    pub net: bool,
    /// What a reader should know.
    pub remarks: Vec<String>,
}

/// Why a cell is not compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Apart {
    /// The new runs do not have it.
    OnlyBase,
    /// The base has not got it.
    OnlyNew,
    /// The two are unlike: each reason.
    Refused(Vec<String>),
    /// No run of a side could measure it: why.
    Unavailable(String),
    /// It failed.
    Failed {
        /// What failed, and on which side.
        reason: String,
        /// Whether the base measured it: then the change broke it.
        newly: bool,
    },
    /// No run of a side has visited it: which.
    NotMeasured(&'static str),
}

impl Stored {
    /// Whether it was made on a machine of that class.
    pub fn is_of(&self, class: &str) -> bool {
        self.machine.as_ref().is_some_and(|[own, _]| own == class)
    }
}

impl Row {
    /// The word for what came of it.
    pub fn word(&self) -> &'static str {
        match &self.found {
            Ok(found) => found.judged.verdict.stored_word(),
            Err(Apart::OnlyBase) => "only in base",
            Err(Apart::OnlyNew) => "only in new",
            Err(Apart::Refused(_)) => "refused",
            Err(Apart::Unavailable(_)) => "unavailable",
            Err(Apart::Failed { .. }) => "failed",
            Err(Apart::NotMeasured(_)) => "not measured",
        }
    }

    /// Why it is not compared; empty where it is.
    pub fn why(&self) -> String {
        match &self.found {
            Ok(_) => String::new(),
            Err(Apart::OnlyBase) => "no run of new has it".into(),
            Err(Apart::OnlyNew) => "no run of base has it".into(),
            Err(Apart::Refused(reasons)) => reasons.join("; "),
            Err(Apart::Unavailable(why)) => format!("unavailable in {why}"),
            Err(Apart::Failed { reason, newly: true }) => format!("{reason}; base measured it"),
            Err(Apart::Failed { reason, newly: false }) => reason.clone(),
            Err(Apart::NotMeasured(side)) => format!("no run of {side} visited it"),
        }
    }

    /// Whether the new runs are worse beyond doubt: slower, or they fail where the base does not.
    pub fn is_regression(&self) -> bool {
        match &self.found {
            Ok(found) => found.judged.verdict == Verdict::Slower,
            Err(apart) => matches!(apart, Apart::Failed { newly: true, .. }),
        }
    }

    /// Whether nothing is decided: the values do not tell, or the cell cannot be compared.
    pub fn is_undecided(&self) -> bool {
        match &self.found {
            Ok(found) => matches!(found.judged.verdict, Verdict::Undecided(_)),
            Err(apart) => !matches!(apart, Apart::Failed { newly: true, .. }),
        }
    }
}

impl Comparison {
    /// The rows that were compared.
    pub fn found(&self) -> impl Iterator<Item = &Found> {
        self.rows.iter().filter_map(|row| row.found.as_ref().ok())
    }

    /// The geometric mean of the ratios of times, new over base, over the cells that were compared, and their number. A cell of near
    /// and far counts once, by the mean of both.
    pub fn mean_ratio(&self) -> Option<(f64, usize)> {
        let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
        let compared = self.rows.iter().filter_map(|row| Some((&row.cell, row.found.as_ref().ok()?)));
        let mut cells: BTreeMap<&Cell, Vec<f64>> = BTreeMap::new();
        compared.for_each(|(cell, found)| cells.entry(cell).or_default().push(found.effect.log_ratio));
        let logs: Vec<f64> = cells.values().map(|logs| mean(logs)).collect();
        (!logs.is_empty()).then(|| (mean(&logs).exp(), logs.len()))
    }

    /// How many differences there are, where there are [`SUSPECT_FROM`] or more and all have one direction: a machine that
    /// changed looks like that.
    pub fn suspect(&self) -> Option<usize> {
        let directions: Vec<Verdict> =
            self.found().map(|found| found.judged.verdict).filter(|verdict| verdict.differs()).collect();
        let one_way = directions.windows(2).all(|pair| pair[0] == pair[1]);
        (directions.len() >= SUSPECT_FROM && one_way).then_some(directions.len())
    }
}

/// Compares the cells of both sides, judged together. `known` has the cells and parameters that the runs refer to, `wanted`
/// says which cells to look at.
pub fn compare(
    known: &Known,
    [base, new]: [&[Stored]; 2],
    rules: &Rules,
    wanted: impl Fn(&Cell) -> bool,
) -> Comparison {
    let unlike = unlike(base, new, rules.allowed);
    let [of_base, of_new] = [base, new].map(by_cell);
    let mut rows = Vec::new();
    let numbers: Vec<usize> =
        order(base, new).into_iter().filter(|number| wanted(&known.cells()[*number])).collect();
    for number in &numbers {
        let cell = &known.cells()[*number];
        let sides = [&of_base, &of_new].map(|side| side.get(number).map_or(&[][..], Vec::as_slice));
        let floor = rules.floors.as_ref().and_then(|floors| floors.single(cell, numbers.len()));
        rows.extend(of_cell(known, cell, sides, &unlike, rules, floor));
    }
    Comparison { rows: judged(rows) }
}

/// Every cell once, in the order of the first run that has it.
fn order(base: &[Stored], new: &[Stored]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let all = base.iter().chain(new).flat_map(|run| run.cells.iter().map(|(number, _)| *number));
    all.filter(|number| seen.insert(*number)).collect()
}

fn by_cell(runs: &[Stored]) -> BTreeMap<usize, Vec<&Had>> {
    let mut cells: BTreeMap<usize, Vec<&Had>> = BTreeMap::new();
    for (number, had) in runs.iter().flat_map(|run| &run.cells) {
        cells.entry(*number).or_default().push(had);
    }
    cells
}

/// In what the runs differ as a whole.
fn unlike(base: &[Stored], new: &[Stored], allowed: Allowed) -> Vec<String> {
    let all = || base.iter().chain(new);
    let mut reasons = Vec::new();
    let classes: BTreeSet<&str> =
        all().map(|run| run.machine.as_ref().map_or("unknown", |[class, _]| class)).collect();
    if classes.len() > 1 && !allowed.machine {
        let classes: Vec<&str> = classes.into_iter().collect();
        reasons.push(format!("the class of the machine differs: {}", classes.join(", ")));
    }
    if all().any(|run| run.effort == TEST_EFFORT) {
        reasons.push("a test sees that every cell works and shows no figure".into());
    }
    let efforts: BTreeSet<&str> = all().map(|run| run.effort.as_str()).collect();
    if efforts.len() > 1 && !allowed.effort {
        let efforts: Vec<&str> = efforts.into_iter().collect();
        reasons.push(format!("the effort differs: {}", efforts.join(", ")));
    }
    reasons
}

/// The rows of a cell, not judged yet.
fn of_cell(
    known: &Known,
    cell: &Cell,
    sides: [&[&Had]; 2],
    unlike: &[String],
    rules: &Rules,
    floor: Option<f64>,
) -> Vec<Row> {
    let apart = |why| vec![Row { cell: cell.clone(), stratum: None, found: Err(why) }];
    let [base, new] = match side::measured(sides) {
        Ok(measured) => measured,
        Err(why) => return apart(why),
    };
    let mut reasons = unlike.to_vec();
    reasons.extend(side::other_lead(&base, &new));
    if !rules.allowed.effective {
        reasons.extend(known.differences(base.iter().chain(&new).map(|reduced| reduced.settings)));
    }
    if !reasons.is_empty() {
        return apart(Apart::Refused(reasons));
    }
    let margin = Margin { least: log_of(rules.least.unwrap_or_else(|| least(cell))), floor };
    let net = base.iter().chain(&new).any(|reduced| reduced.loop_counts);
    let remarks = side::remarks(sides, [&base, &new]);
    let row = |stratum, sides: [Side; 2], more: Option<String>| {
        let remarks = remarks.iter().cloned().chain(more).collect();
        Row { cell: cell.clone(), stratum, found: found(sides, margin, net, remarks) }
    };
    match strata::of(&base, &new, net) {
        Some(parts) => {
            parts.into_iter().map(|part| row(Some(part.stratum), part.sides, part.remark)).collect()
        }
        None => vec![row(None, [Side::of(&base, net), Side::of(&new, net)], None)],
    }
}

/// What two sides say of each other; the verdict comes with those of the other cells.
fn found(sides: [Side; 2], margin: Margin, net: bool, remarks: Vec<String>) -> Result<Found, Apart> {
    let [base, new] = sides;
    match (base.values.is_empty(), new.values.is_empty()) {
        (true, false) => return Err(Apart::OnlyNew),
        (false, true) => return Err(Apart::OnlyBase),
        _ => {}
    }
    let tested = base.values.len().min(new.values.len()) >= LEAST_RUNS;
    let Some(effect) = Effect::of_runs(&base.values, &new.values) else {
        let reason = "nothing is left in some run without the loop around the operations".to_owned();
        return Err(Apart::Refused(vec![reason]));
    };
    // Runs enough tell their own spread; else the floor of one run against another stands for it.
    let (effect, margin) = match tested {
        true => (effect, Margin { floor: None, ..margin }),
        false => (Effect { interval_95: None, interval_90: None, p: None, ..effect }, margin),
    };
    let undecided = Judged { q: None, verdict: Verdict::Undecided(super::Reason::NoTest) };
    Ok(Found { base, new, effect, margin, judged: undecided, net, remarks })
}

/// The rows with the verdicts of all of them.
fn judged(mut rows: Vec<Row>) -> Vec<Row> {
    let found = || rows.iter().filter_map(|row| row.found.as_ref().ok());
    let effects: Vec<(Effect, Margin)> = found().map(|found| (found.effect, found.margin)).collect();
    let verdicts = judge(&effects);
    let found = rows.iter_mut().filter_map(|row| row.found.as_mut().ok());
    for (found, verdict) in found.zip(verdicts) {
        found.judged = verdict;
    }
    rows
}

#[cfg(test)]
mod tests;
