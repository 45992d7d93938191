//! The report in words, for every format: title, facts of the run, tables, notes and footnotes.
//!
//! Nothing here is escaped yet: that is the business of each format.

use super::Options;
use super::beside;
use super::cells::{Failure, Figure, SHOWN_INCREMENTS, SHOWN_LINES, SHOWN_REQUESTS, Slot, slots};
use super::comparison;
use super::digits::{counted, percent, superscript, thousands, uncertainty, value};
use super::facts::{brief_facts, facts, reading};
use super::load::Run;
use super::metric::Metric;
use super::net::{NET, below_resolution};
use super::plot::Plot;
use super::projection::{Coordinate, Grid, Projection, project};
use super::raw::Raw;
use super::strata;
use super::warnings::{self, Findings, N_DRIFT, Told, Warnings};
use super::winner::winner;
use crate::cell::{Axis, Measure, Value};
use crate::measure::stats::LEAST_VISITS;
use crate::measure::stats::modes::Mode;
use crate::record::INJECTED_FLAG;
use anyhow::{Result, ensure};

/// A report.
pub struct Document {
    /// Its heading.
    pub title: String,
    /// What was run and what came of it: label and text.
    pub facts: Vec<(&'static str, String)>,
    /// How to read the tables.
    pub reading: Vec<String>,
    /// The tables.
    pub sheets: Vec<Sheet>,
}

impl Document {
    /// The first fact of that label.
    pub fn fact(&self, label: &str) -> Option<&str> {
        self.facts.iter().find(|(own, _)| *own == label).map(|(_, text)| text.as_str())
    }
}

/// A table of the matrix: its grids, then what stands below them.
#[derive(Default)]
pub struct Sheet {
    /// Its heading, with the unit.
    pub heading: String,
    /// What holds for the whole table.
    pub captions: Vec<String>,
    /// One panel for each combination of split values.
    pub panels: Vec<Panel>,
    /// What it looks like, where its rows are numbers.
    pub plot: Option<Plot>,
    /// The notes of the matrix.
    pub notes: Vec<String>,
    /// Footnotes, numbered from 1.
    pub footnotes: Vec<String>,
}

/// A grid, ready to be printed.
pub struct Panel {
    /// The split values; empty without a split.
    pub heading: String,
    /// Headings: the row's axis, then the columns.
    pub head: Vec<String>,
    /// Heading of the row and its places.
    pub rows: Vec<(String, Vec<Place>)>,
}

/// One place of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// The number with its uncertainty, or a word.
    pub text: String,
    /// Numbers of its footnotes.
    pub marks: Vec<usize>,
    /// Whether it is the best of its row beyond doubt.
    pub best: bool,
    /// Whether it is to be seen first for what it says.
    pub strong: bool,
    /// The number before it was rounded, where there is one.
    pub raw: Option<Raw>,
}

impl Place {
    /// The footnote marks, `¹,²`.
    pub fn marks(&self) -> String {
        self.marks.iter().map(|mark| superscript(*mark)).collect::<Vec<_>>().join(",")
    }
}

/// The report of a run; of one with arms, what they say of each other. Another metric shows both in tables apart.
///
/// # Errors
/// Those of [`project`].
pub fn document(run: &Run, options: Options) -> Result<Document> {
    let findings = Findings::of(run, options.muted);
    let mut told = Told::nothing(&findings);
    if let (Some(arms), Metric::Figure) = (&run.header.arms, options.metric) {
        return Ok(comparison::document(run, arms, &mut told));
    }
    let slots = slots(run, Metric::Figure);
    let mut above = match options.brief {
        true => brief_facts(run, &findings, &slots),
        false => warnings::facts(&mut told, &slots),
    };
    if !options.brief {
        above.extend(facts(run, &slots));
    }
    let projections = project(run, options.metric)?;
    let sheets: Vec<Sheet> =
        projections.iter().map(|projection| sheet(projection, options, &mut told)).collect();
    ensure!(
        !sheets.is_empty() || run.header.tables.is_empty(),
        "no table of this run can show {}: it is a metric of {} cells",
        options.metric.spec().name,
        options.metric.spec().measures.iter().map(|measure| measure.name()).collect::<Vec<_>>().join(" or ")
    );
    let places = || sheets.iter().flat_map(|sheet| &sheet.panels).flat_map(|panel| &panel.rows);
    let mut reading = reading(run);
    if places().any(|(_, places)| places.iter().any(|place| place.best)) {
        reading.push(BEST.into());
    }
    Ok(Document { title: title(run), facts: above, reading, sheets })
}

/// What the mark of the best figure says, where there is one.
const BEST: &str = "Bold (in text a star) is the best of its row beyond doubt: its interval lies beyond those of all others, of figures under two \
                    conditions in both.";

fn title(run: &Run) -> String {
    format!("ipcmatrix: {}", run.header.matrices.join(", "))
}

fn sheet(projection: &Projection, options: Options, told: &mut Told) -> Sheet {
    let table = projection.table;
    let slots = projection.grids.iter().flat_map(|grid| grid.slots.iter().flatten());
    let warnings = Warnings::of_table(told, &slots.filter_map(Slot::figure).collect::<Vec<_>>());
    let mut footnotes = Footnotes::default();
    let mut panels: Vec<Panel> =
        projection.grids.iter().map(|grid| panel(projection, grid, &warnings, &mut footnotes)).collect();
    if options.published {
        panels.extend(beside::panels(projection, &mut footnotes));
    }
    Sheet {
        heading: format!("{} {} ({})", table.id, table.title, projection.metric.unit(table.measure)),
        captions: captions(projection),
        panels,
        plot: Plot::of(projection).map(|plot| Plot { warnings: warnings.brief, ..plot }),
        notes: table.notes.iter().cloned().chain(warnings.unmarked).collect(),
        footnotes: footnotes.texts,
    }
}

/// What holds for the whole table: the unit, axes of one value, a scale.
pub(super) fn captions(projection: &Projection) -> Vec<String> {
    let metric = projection.metric;
    let mut captions = Vec::new();
    match (metric, projection.table.measure) {
        (Metric::Figure, Measure::Bandwidth) => captions.push("MB/s = 10^6 bytes a second.".to_string()),
        (Metric::Figure, Measure::RoundTrip) => {
            captions
                .push("Request out and answer back, never halved; the book calls it latency.".to_string());
        }
        (Metric::Figure, Measure::Increment) => {
            captions.extend(scaled(projection, SHOWN_INCREMENTS, "increments a worker"));
        }
        (Metric::Figure, Measure::Serve) => {
            captions.extend(scaled(projection, SHOWN_REQUESTS, "requests"));
        }
        (Metric::Figure, Measure::Wait | Measure::Operation) => {}
        (Metric::Figure, Measure::Append) => {
            captions.extend(scaled(projection, SHOWN_LINES, "lines a worker"))
        }
        _ => captions.push(format!("{}: {}.", metric.spec().name, metric.spec().help)),
    }
    if metric == Metric::DrainedS {
        captions.extend(scaled(projection, SHOWN_LINES, "lines a worker"));
    }
    if metric.is_percentile() {
        captions.push("Taken in each batch; a visit counts as the median over its batches.".into());
    }
    let constant = |(axis, value, everywhere): &(Axis, Value, bool)| {
        let where_it_applies = if *everywhere { "" } else { " where it applies" };
        format!("{}{where_it_applies}", split_value(*axis, &Some(value.clone())))
    };
    let constants: Vec<String> = projection.constants.iter().map(constant).collect();
    if !constants.is_empty() {
        captions.push(format!("All cells: {}.", constants.join("; ")));
    }
    captions
}

/// That the figures were measured on other counts of operations than the one shown.
fn scaled(projection: &Projection, shown: u64, ops: &str) -> Option<String> {
    let slots = projection.grids.iter().flat_map(|grid| grid.slots.iter().flatten());
    let figures: Vec<&Figure> = slots.filter_map(Slot::figure).collect();
    let least = figures.iter().map(|figure| figure.least_ops).min()?;
    let most = figures.iter().map(|figure| figure.most_ops).max()?;
    if (least, most) == (shown, shown) {
        return None;
    }
    if least == most {
        let (least, shown) = (thousands(least), thousands(shown));
        return Some(format!("Scaled: measured on {least} {ops}, shown for {shown}."));
    }
    let batches = if most <= shown { "shorter batches" } else { "other batches" };
    let (least, most, shown) = (thousands(least), thousands(most), thousands(shown));
    Some(format!("Scaled: measured on {batches} ({least} to {most} {ops}), shown for {shown}."))
}

fn panel(projection: &Projection, grid: &Grid, warnings: &Warnings, footnotes: &mut Footnotes) -> Panel {
    let table = projection.table;
    let better = projection.metric.more_is_better(table.measure).filter(|_| table.column == Axis::Mechanism);
    let unit = projection.metric.unit(table.measure);
    let mut rows = Vec::new();
    for (heading, slots) in grid.rows.iter().zip(&grid.slots) {
        let best = better.and_then(|more| winner(slots, more));
        let place = |(column, slot)| Place {
            best: best == Some(column),
            raw: Raw::of(slot, unit),
            ..place(slot, warnings, footnotes)
        };
        rows.push((coordinate(heading), slots.iter().enumerate().map(place).collect()));
    }
    let heading =
        grid.split.iter().map(|(axis, value)| split_value(*axis, value)).collect::<Vec<_>>().join("; ");
    let head = std::iter::once(table.row.to_string()).chain(grid.columns.iter().map(coordinate)).collect();
    Panel { heading, head, rows }
}

pub(super) fn coordinate(value: &Coordinate) -> String {
    value.as_ref().map_or_else(|| "-".into(), Value::to_string)
}

/// `placement same_cpu (all workers on one CPU)`.
pub(super) fn split_value(axis: Axis, value: &Coordinate) -> String {
    let Some(value) = value else {
        return format!("no {axis}");
    };
    let meaning = match (axis, value) {
        (Axis::Placement, Value::Word(word)) => match word.as_str() {
            "same_cpu" => " (all workers on one CPU)",
            "cross_cpu" => " (workers spread over the CPUs)",
            "free" => " (workers wherever the kernel puts them)",
            "smt_sibling" => " (two threads of one core)",
            "same_l2" => " (two cores that share an L2 cache)",
            "same_llc" => " (two cores that share the last-level cache only)",
            "cross_llc" => " (two cores of one memory node that share no cache)",
            "cross_node" => " (two cores of two memory nodes)",
            _ => "",
        },
        (Axis::HighestDescriptor, Value::Count(0)) => " (numbers are the lowest that are free)",
        _ => "",
    };
    format!("{axis} {value}{meaning}")
}

/// What a place shows.
fn place(slot: &Slot, warnings: &Warnings, footnotes: &mut Footnotes) -> Place {
    let (text, notes) = match slot {
        Slot::Measured(figure) => {
            (number(figure), remarks(figure).into_iter().chain(warnings.of([&**figure])).collect())
        }
        Slot::Works => ("works".into(), Vec::new()),
        Slot::Unavailable(why) => ("n/a".into(), vec![with_remedy(&why.reason, &why.remedy)]),
        Slot::Failed(failure) => ("failed".into(), vec![failed(failure)]),
        Slot::BelowResolution { raw_ns, twin_ns } => {
            ("below resolution".into(), vec![below_resolution(*raw_ns, *twin_ns)])
        }
        Slot::NotVisited => {
            ("not visited".into(), vec!["the run ended before this cell was visited".to_string()])
        }
        Slot::Absent => ("-".into(), Vec::new()),
    };
    let mut marks: Vec<usize> = notes.into_iter().map(|note| footnotes.number(note)).collect();
    marks.sort_unstable();
    Place { text, marks, ..Place::default() }
}

/// The number with its uncertainty; as it is where it was not measured; both modes with their shares of the visits.
pub(super) fn number(figure: &Figure) -> String {
    if figure.known {
        return figure.shown.value.to_string();
    }
    if let Some(modes) = &figure.modes {
        return modes.0.map(|mode| format!("{} ({})", value(&mode.estimate), named(&mode))).join(" or ");
    }
    let uncertainty = uncertainty(&figure.shown).map(|text| format!(" {text}")).unwrap_or_default();
    value(&figure.shown) + &uncertainty
}

/// The share of a mode, and what it is where that is known: `64 % near`.
pub(super) fn named(mode: &Mode) -> String {
    format!("{} {}", percent(mode.share), mode.name).trim_end().into()
}

fn failed(failure: &Failure) -> String {
    let Failure { phase, error, failed, visits } = failure;
    format!(
        "failed in phase {phase}: {error} ({}); nothing of the cell is used",
        share(*failed, *visits, "failed")
    )
}

/// What a reader should know of a figure.
fn remarks(figure: &Figure) -> Vec<String> {
    let mut remarks = Vec::new();
    if let Some(modes) = &figure.modes {
        remarks.extend(strata::footnote(modes).map(String::from));
    } else if figure.shown.interval.is_none() && !figure.exact {
        remarks.push(without_interval(figure));
    }
    if figure.net {
        remarks.push(NET.into());
    }
    if let Some(lost) = figure.lost_share.filter(|lost| *lost > 0.0) {
        remarks.push(format!("{:.0} % of the updates got lost: not the time of work done", 100.0 * lost));
    }
    if let Some(lost) = figure.lost_lines.filter(|lost| *lost > 0.0) {
        remarks.push(format!("{} of the lines got lost", percent(lost)));
    }
    let unknown = figure.flags.iter().filter(|flag| *flag != N_DRIFT);
    remarks.extend(unknown.map(|flag| flag_text(flag)));
    if let Some((refused, why)) = &figure.refused {
        let all = refused + figure.shown.visits;
        remarks.push(format!(
            "{}: {}",
            share(*refused, all, "unavailable"),
            with_remedy(&why.reason, &why.remedy)
        ));
    }
    remarks
}

/// Why a figure has no interval.
fn without_interval(figure: &Figure) -> String {
    let why = match figure.ns.interval {
        Some(interval) if interval.low <= 0.0 => {
            "in some visits the loop alone took as long, so the rate has no upper end".into()
        }
        Some(_) => format!("fewer than {LEAST_VISITS} visits of what it is compared with"),
        None => format!("fewer than {LEAST_VISITS} visits"),
    };
    format!("{why}: no interval, and at most two digits")
}

/// A flag that is no warning, with what it means where it is a known one.
fn flag_text(flag: &str) -> String {
    match flag {
        INJECTED_FLAG => "injected: each operation was made longer on purpose, to test the program".into(),
        other => format!("flag {other}"),
    }
}

/// Reason and what would help, in one line.
pub fn with_remedy(reason: &str, remedy: &str) -> String {
    let reason = reason.trim_end_matches(['.', ' ']);
    if remedy.is_empty() { reason.into() } else { format!("{reason}; {remedy}") }
}

/// `2 of 7 visits failed`.
fn share(part: usize, whole: usize, what: &str) -> String {
    format!("{part} of {} {what}", counted(whole, "visit"))
}

/// Footnotes of a table, each text once.
#[derive(Default)]
pub(super) struct Footnotes {
    pub(super) texts: Vec<String>,
}

impl Footnotes {
    /// The number of a footnote, from 1.
    pub(super) fn number(&mut self, text: String) -> usize {
        if let Some(position) = self.texts.iter().position(|known| *known == text) {
            return position + 1;
        }
        self.texts.push(text);
        self.texts.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::stats::modes::{Mode, Modes};
    use crate::measure::stats::{Estimate, Interval};

    /// A figure with that interval, or without one where both ends are equal.
    fn slot(low: f64, value: f64, high: f64) -> Slot {
        let interval = (low < high).then_some(Interval { low, high });
        let shown = Estimate { value, interval, visits: 7, effective_visits: 7.0, full_range: false };
        Slot::Measured(Box::new(Figure {
            cell_index: 0,
            ns: shown,
            shown,
            modes: None,
            least_ops: 1,
            most_ops: 1,
            oversubscribed: false,
            lost_share: None,
            lost_lines: None,
            known: false,
            exact: false,
            net: false,
            trend: None,
            flags: Default::default(),
            refused: None,
        }))
    }

    #[test]
    fn a_winner_is_beyond_doubt() {
        let (ahead, behind, near) = (slot(9.0, 10.0, 11.0), slot(4.0, 5.0, 6.0), slot(8.0, 8.5, 9.0));
        assert_eq!(winner(&[behind.clone(), Slot::NotVisited, ahead.clone()], true), Some(2));
        assert_eq!(winner(&[behind.clone(), ahead.clone()], false), Some(0), "less is better");
        assert_eq!(winner(&[ahead.clone(), near], true), None, "the intervals touch");
        let wide = slot(1.0, 3.0, 9.5);
        assert_eq!(winner(&[ahead.clone(), behind.clone(), wide], true), None, "the third overlaps");
        assert_eq!(winner(&[ahead.clone(), slot(2.0, 2.0, 2.0)], true), None, "the other has no interval");
        assert_eq!(winner(&[slot(20.0, 20.0, 20.0), behind], true), None, "the first has no interval");
        assert_eq!(winner(&[ahead, Slot::Absent], true), None, "no rival");
        assert_eq!(winner(&[], true), None);
    }

    /// A figure of two strata, each with its value and an interval of 1 around it.
    fn in_two(names: [&'static str; 2], values: [f64; 2]) -> Slot {
        let Slot::Measured(mut figure) = slot(1.0, 2.0, 30.0) else { unreachable!("a figure") };
        let mode = |at: usize| {
            let interval = Some(Interval { low: values[at] - 0.5, high: values[at] + 0.5 });
            Mode {
                estimate: Estimate { value: values[at], interval, ..figure.shown },
                share: 0.5,
                name: names[at],
            }
        };
        figure.modes = Some(Modes([mode(0), mode(1)]));
        Slot::Measured(figure)
    }

    #[test]
    fn of_two_strata_the_winner_is_the_best_in_both() {
        let of = |values| in_two(["core alone", "core shared"], values);
        let (first, second) = (of([4.0, 6.0]), of([6.0, 9.0]));
        assert_eq!(
            winner(&[first.clone(), second.clone()], false),
            Some(0),
            "4 to 6 and 6 to 9 touch, but like with like do not"
        );
        assert_eq!(winner(&[first.clone(), of([6.0, 6.5])], false), None, "in doubt with a shared core");
        assert_eq!(winner(&[first.clone(), of([6.0, 3.0])], false), None, "each is the best in one");
        assert_eq!(
            winner(&[first.clone(), second, slot(20.0, 21.0, 22.0)], false),
            None,
            "of the third it is not known"
        );
        let unnamed = [in_two(["", ""], [4.0, 6.0]), in_two(["", ""], [16.0, 19.0])];
        assert_eq!(winner(&unnamed, false), None, "nobody knows what the modes stand for");
    }

    #[test]
    fn what_the_others_are_compared_with_is_a_plain_number() {
        let Slot::Measured(mut figure) = slot(1.0, 1.0, 1.0) else { unreachable!("a figure") };
        figure.shown = Estimate::exactly(1.0, &figure.shown);
        figure.known = true;
        let findings = Findings::default();
        let mut told = Told::nothing(&findings);
        let warnings = Warnings::of_table(&mut told, &[]);
        let place = place(&Slot::Measured(figure), &warnings, &mut Footnotes::default());
        assert_eq!((place.text.as_str(), place.marks.len()), ("1", 0));
    }

    #[test]
    fn equal_footnotes_share_a_number() {
        let mut footnotes = Footnotes::default();
        let numbers = ["one", "two", "one", "three", "two"].map(|text| footnotes.number(text.into()));
        assert_eq!(numbers, [1, 2, 1, 3, 2]);
        assert_eq!(footnotes.texts, ["one", "two", "three"]);
    }

    #[test]
    fn a_remedy_follows_its_reason() {
        assert_eq!(with_remedy("too large.", "raise it"), "too large; raise it");
        assert_eq!(with_remedy("too large.", ""), "too large");
    }
}
