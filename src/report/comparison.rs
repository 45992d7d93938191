//! The report of a run of two arms: a row a cell, with both figures, the ratio of times and the verdict.

mod json;

pub use json::{SCHEMA, json};

use super::cells::{Figure, Slot, measure_unit, measure_value, slots};
use super::digits::{counted, uncertainty, value};
use super::document::{Document, Footnotes, Panel, Place, Sheet, split_value};
use super::escape::command;
use super::facts::{ended_fact, visits_fact};
use super::gates::{self, Against, Checked, Difference};
use super::load::Run;
use super::metric::Metric;
use super::warnings::{self, Told, Warnings};
use crate::cell::{Axis, Cell, Measure, Value};
use crate::compare::pairs::{Found, Missing, Pair, pairs};
use crate::compare::{FALSE_DISCOVERIES, Judged, MOST_NEEDED, Reason, Verdict, judge};
use crate::measure::stats::{Estimate, Interval};
use crate::record::{Arms, Gate};
use std::collections::BTreeSet;

const HEAD: &[&str] = &["cell", "a", "b", "time b/a", "95 %", "p", "verdict"];

/// A pair with its verdict; none where there is nothing to compare.
pub struct Row<'a> {
    /// The positions of its cells in the header.
    pub cells: [usize; 2],
    /// The pair.
    pub pair: Pair<'a>,
    /// What to think of it.
    pub judged: Option<Judged>,
}

impl Row<'_> {
    /// What a limit of slow-downs is judged by: arm b against arm a.
    pub(super) fn against(&self) -> Against {
        let newly_fails = matches!(&self.pair.found, Err(Missing::Failed { newly: true, .. }));
        let found = self.pair.found.as_ref();
        let found = found.map(|found| Difference::of(&found.effect, &found.margin, self.judged));
        Against { found: found.map_err(|_| remarks(self).join("; ")), newly_fails, word: word_of(self) }
    }
}

/// Every pair of the run, judged together; none where the run has no arms.
pub fn rows(run: &Run) -> Vec<Row<'_>> {
    let Some(arms) = &run.header.arms else { return Vec::new() };
    let pairs = pairs(&run.header, arms, &run.visits);
    let found: Vec<&Found> = pairs.iter().filter_map(|pair| pair.found.as_ref().ok()).collect();
    let effects: Vec<_> = found.iter().map(|found| (found.effect, found.margin)).collect();
    let mut judged = judge(&effects).into_iter();
    let count = pairs.len();
    let mut rows = Vec::with_capacity(count);
    for (place, pair) in pairs.into_iter().enumerate() {
        let judged = pair.found.is_ok().then(|| judged.next()).flatten();
        rows.push(Row { cells: [place, place + count], pair, judged });
    }
    rows
}

/// The comparison of a run with arms.
pub(super) fn document(run: &Run, arms: &Arms, told: &mut Told) -> Document {
    let rows = rows(run);
    let measures = Measure::ALL.iter().map(|measure| {
        let of: Vec<&Row> = rows.iter().filter(|row| row.pair.a.measure() == Some(*measure)).collect();
        (*measure, of)
    });
    let slots = slots(run, Metric::Figure);
    let mut above = warnings::facts(told, &slots);
    above.extend(facts(run, arms, &rows, &slots));
    let gates = gates::of_run(run, &slots);
    above.extend(gate_facts(&run.header.gates, &gates));
    let sheets = measures
        .filter(|(_, rows)| !rows.is_empty())
        .map(|(measure, rows)| sheet(measure, &rows, &slots, told));
    Document {
        title: format!("ipcmatrix: {}, {} against {}", run.header.matrices.join(", "), arms.a, arms.b),
        facts: above,
        reading: reading(),
        sheets: sheets.chain(gate_sheet(&gates)).collect(),
    }
}

fn facts(run: &Run, arms: &Arms, rows: &[Row], slots: &[Slot]) -> Vec<(&'static str, String)> {
    let header = &run.header;
    let mut facts = vec![
        ("command", command(&header.command)),
        ("arm a", arms.a.clone()),
        ("arm b", arms.b.clone()),
        ("begun", header.started.clone()),
        ("version", header.version.clone()),
        ("seed", header.seed.to_string()),
        ("verdicts", verdicts(rows)),
        ("visits", format!("{}; {} asked for", visits_fact(run), counted(arms.rounds as usize, "round"))),
        ("floors", arms.floors_from.clone()),
        ("ended", ended_fact(run, slots)),
    ];
    if arms.a == arms.b {
        facts.push((
            "arms",
            "both are the same: every difference is chance or a fault of the measuring".into(),
        ));
    }
    let crcs = arms.program_crc32.iter().flat_map(|crcs| ["a", "b"].into_iter().zip(crcs));
    facts.extend(crcs.filter_map(|(arm, crc)| {
        crc.as_ref().map(|crc| ("program", format!("arm {arm} is another program, CRC-32 {crc}")))
    }));
    facts.extend(left_out(arms).into_iter().map(|text| ("left out", text)));
    facts.extend(
        header.machine_class.iter().map(|[class, line]| ("machine", format!("class {class}: {line}"))),
    );
    facts
}

/// How many limits hold, and the gates that have nothing to watch.
fn gate_facts(gates: &[Gate], checked: &[Checked]) -> Vec<(&'static str, String)> {
    let counts = (!checked.is_empty()).then(|| gates::counts(checked));
    let unwatched =
        unwatched(gates).map(|filter| format!("not judged, as no cell of arm b matches: {filter}"));
    counts.into_iter().chain(unwatched).map(|text| ("gates", text)).collect()
}

/// Every limit that was judged.
fn gate_sheet(checked: &[Checked]) -> Option<Sheet> {
    let caption =
        "Figures are those of arm b, the new side; `max_regression` is that of arm b against arm a.";
    gates::sheet(checked).map(|sheet| Sheet { captions: vec![caption.into()], ..sheet })
}

/// The filters of gates that match no cell of arm b.
fn unwatched(gates: &[Gate]) -> impl Iterator<Item = &str> {
    gates.iter().filter(|gate| gate.cells.is_empty()).map(|gate| gate.filter.as_str())
}

/// Cells that are not compared, those with the same reason together.
fn left_out(arms: &Arms) -> Vec<String> {
    let reasons: BTreeSet<&str> = arms.left_out.iter().map(|[_, why]| why.as_str()).collect();
    let of = |reason: &str| {
        let cells: Vec<&str> =
            arms.left_out.iter().filter(|[_, why]| why == reason).map(|[cell, _]| cell.as_str()).collect();
        format!("{} ({}): {reason}", counted(cells.len(), "cell"), cells.join("; "))
    };
    reasons.into_iter().map(of).collect()
}

/// `12: 1 slower, 0 faster, 10 equal, 1 undecided`.
fn verdicts(rows: &[Row]) -> String {
    let count = |word: &str| rows.iter().filter(|row| word_of(row) == word).count();
    let each = ["slower", "faster", "equal", "undecided", "unavailable", "failed", "not compared"];
    let counts: Vec<String> = each
        .iter()
        .map(|word| (count(word), word))
        .filter(|(count, word)| *count > 0 || each[..4].contains(word))
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!("{}: {}", counted(rows.len(), "cell"), counts.join(", "))
}

/// The word for what came of a pair.
pub fn word_of(row: &Row) -> &'static str {
    match (&row.pair.found, row.judged) {
        (Ok(_), Some(judged)) => judged.verdict.word(),
        (Err(Missing::Unavailable(_)), _) => "unavailable",
        (Err(Missing::Failed { .. }), _) => "failed",
        _ => "not compared",
    }
}

fn reading() -> Vec<String> {
    vec![
        "Both arms of a cell are visited one after the other in each round, in an order that is drawn. The ratio is that of \
         times, so above 1 arm b is slower, also where the figures are rates: the Hodges-Lehmann estimate over the rounds, \
         with its 95 % signed-rank interval and the p of Wilcoxon's signed-rank test."
            .into(),
        format!(
            "Equal: the 90 % interval lies within the least effect of interest (5 % where only additional time disturbs, else \
             10 %, or --least). Slower, faster: p passes Benjamini and Hochberg's rule over all cells, with {:.0} % of false \
             calls at most, and the effect is above the noise floor where one is known. ± is the 95 % interval of the median.",
            100.0 * FALSE_DISCOVERIES
        ),
    ]
}

/// The figures of both arms of a pair, where there are some.
fn figures<'a>(row: &Row, slots: &'a [Slot]) -> impl Iterator<Item = &'a Figure> {
    row.cells.into_iter().filter_map(|cell| slots[cell].figure())
}

fn sheet(measure: Measure, rows: &[&Row], slots: &[Slot], told: &mut Told) -> Sheet {
    let all: Vec<&Figure> = rows.iter().flat_map(|row| figures(row, slots)).collect();
    let warnings = Warnings::of_table(told, &all);
    let mut footnotes = Footnotes::default();
    let cells: Vec<&Cell> = rows.iter().flat_map(|row| [row.pair.a, row.pair.b]).collect();
    let constant = constants(&cells);
    let line = |row: &&Row| {
        let remarks = remarks(row).into_iter().chain(warnings.of(figures(row, slots)));
        let marks = remarks.map(|text| footnotes.number(text)).collect();
        (label(row.pair.a, row.pair.b, &constant), places(row, marks))
    };
    let rows: Vec<(String, Vec<Place>)> = rows.iter().map(line).collect();
    let constants: Vec<String> =
        constant.iter().map(|(axis, value)| split_value(*axis, &Some(value.clone()))).collect();
    let all = (!constants.is_empty()).then(|| format!("All cells: {}.", constants.join("; ")));
    Sheet {
        plot: None,
        heading: format!("{} ({})", measure.name(), measure_unit(measure)),
        captions: all.into_iter().collect(),
        panels: vec![Panel {
            heading: String::new(),
            head: HEAD.iter().map(ToString::to_string).collect(),
            rows,
        }],
        notes: warnings.unmarked,
        footnotes: footnotes.texts,
    }
}

/// The axes that have the same value in every cell.
pub(super) fn constants(cells: &[&Cell]) -> Vec<(Axis, Value)> {
    let Some(first) = cells.first() else { return Vec::new() };
    let everywhere =
        |(axis, value): &(Axis, &Value)| cells.iter().all(|cell| cell.get(*axis) == Some(*value));
    let named = first.axes().filter(|(axis, _)| !matches!(axis, Axis::Measure | Axis::Mechanism));
    named.filter(everywhere).map(|(axis, value)| (axis, value.clone())).collect()
}

/// What tells the pair from the others: what both arms have and not every cell of the table.
pub(super) fn label(a: &Cell, b: &Cell, constant: &[(Axis, Value)]) -> String {
    let told = |(axis, value): &(Axis, &Value)| {
        let common = b.get(*axis) == Some(*value);
        common && *axis != Axis::Measure && constant.iter().all(|(known, _)| known != axis)
    };
    let word = |(axis, value): (Axis, &Value)| match axis {
        Axis::Mechanism => value.to_string(),
        _ => format!("{axis}={value}"),
    };
    let words: Vec<String> = a.axes().filter(told).map(word).collect();
    if words.is_empty() { "all".into() } else { words.join(" ") }
}

fn places(row: &Row, mut marks: Vec<usize>) -> Vec<Place> {
    marks.sort_unstable();
    let verdict = Place { text: verdict_text(row), marks, ..Place::default() };
    let plain = |text: String| Place { text, ..Place::default() };
    let Ok(found) = &row.pair.found else {
        let nothing = (2..HEAD.len()).map(|_| plain("-".into()));
        return nothing.chain([verdict]).collect();
    };
    let effect = &found.effect;
    vec![
        plain(figure(row.pair.a, &found.a_ns)),
        plain(figure(row.pair.b, &found.b_ns)),
        plain(ratio(effect.log_ratio)),
        plain(effect.interval_95.map_or("-".into(), between)),
        plain(effect.p.map_or("-".into(), p_text)),
        verdict,
    ]
}

/// The figure of an arm in the unit of the measure.
pub(super) fn figure(cell: &Cell, ns: &Estimate) -> String {
    let scale = measure_value(cell, 1.0);
    let shown = if cell.measure() == Some(Measure::Bandwidth) { ns.rate(scale) } else { ns.scaled(scale) };
    value(&shown) + &uncertainty(&shown).map(|text| format!(" {text}")).unwrap_or_default()
}

pub(super) fn ratio(log: f64) -> String {
    format!("{:.3}", log.exp())
}

pub(super) fn between(logs: Interval) -> String {
    format!("{} to {}", ratio(logs.low), ratio(logs.high))
}

pub(super) fn p_text(p: f64) -> String {
    if p < 0.0001 { "<0.0001".into() } else { format!("{p:.4}") }
}

fn verdict_text(row: &Row) -> String {
    let needed = match row.judged.map(|judged| judged.verdict) {
        Some(Verdict::Undecided(Reason::MoreNeeded(rounds))) if rounds < MOST_NEEDED => {
            format!(" (about {rounds} rounds)")
        }
        _ => String::new(),
    };
    format!("{}{needed}", word_of(row))
}

/// What a reader should know of a pair.
fn remarks(row: &Row) -> Vec<String> {
    let found = match &row.pair.found {
        Ok(found) => found,
        Err(Missing::Unavailable(why) | Missing::Failed { reason: why, .. }) => return vec![why.clone()],
        Err(Missing::BelowResolution) => {
            return vec!["in some visit nothing was left without the loop around the operations".into()];
        }
        Err(Missing::NotVisited) => return vec!["no round has a visit of both arms".into()],
    };
    let mut remarks = Vec::new();
    match row.judged.map(|judged| judged.verdict) {
        Some(Verdict::Undecided(Reason::BelowFloor)) => {
            let floor = 100.0 * found.margin.floor.unwrap_or(0.0).exp_m1();
            remarks.push(format!("not above the noise floor of the cell here, {floor:.1} %"));
        }
        Some(Verdict::Undecided(Reason::TooFew)) => {
            remarks.push(format!("{} are too few for an interval", counted(found.log_ratios.len(), "round")));
        }
        _ => {}
    }
    if found.net {
        remarks.push("net: the loop around the operations was taken off both arms, visit by visit".into());
    }
    if found.ops[0] != found.ops[1] {
        let [a, b] = found.ops;
        remarks.push(format!(
            "batches of {a} operations in arm a, of {b} in arm b, as its channel, workers or place ask for"
        ));
    }
    if found.alone > 0 {
        let visits = counted(found.alone, "visit");
        remarks.push(format!("{visits} without a partner in the same round, in the same place and with its cores as much for itself: not compared"));
    }
    remarks
}
