//! Many runs in one report: tables for each class of machine, the runs of a class pooled, hosts that lie apart named.
//!
//! A run counts as one number a cell, the median of its visits; a figure is the median over the runs, beside the least and the
//! greatest of them. Runs of two classes are never pooled.

pub mod hosts;
pub mod machines;

use super::cells::in_unit;
use super::cells::{Failure, Figure, Slot, TEST_EFFORT};
use super::digits::{beside, counted, uncertainty};
use super::document::{Document, Footnotes, Panel, Place, Sheet, coordinate, number, split_value};
use super::load::reduce::Runs;
use super::metric::Metric;
use super::projection::{Projection, project_table};
use super::view::Machines;
use crate::cell::{Cell, Measure, Unavailable};
use crate::compare::stored::{Had, Reduced, Stored};
use crate::measure::stats::{Estimate, Grade, LEAST_VISITS};
use crate::record::Table;
use anyhow::{Context, Result, bail, ensure};
use hosts::host;
use std::collections::{BTreeMap, BTreeSet};

/// The runs of one class of machine.
struct Class<'a> {
    /// Its eight digits; empty where older journals do not tell.
    name: &'a str,
    /// What it stands for.
    line: &'a str,
    runs: Vec<&'a Stored>,
}

/// What the runs of a class say of a cell.
struct Pooled {
    slot: Slot,
    /// The least and the greatest run, as shown.
    spread: Option<(f64, f64)>,
    remarks: Vec<String>,
}

/// The report of many runs; `tables` are those of the runs, in the view that was asked for. Each class has tables of its own,
/// unless `machines` makes rows or columns of the classes.
///
/// # Errors
/// Runs that cannot be pooled, and what a table refuses.
pub fn document(runs: &Runs, tables: &[Table], machines: Option<Machines>) -> Result<Document> {
    let classes = classes(&runs.runs);
    check(&classes)?;
    let cells = runs.known.cells();
    let (shown, others): (Vec<&Table>, Vec<&Table>) = tables.iter().partition(|table| table.metric.is_none());
    ensure!(
        !shown.is_empty(),
        "no table of these runs shows the figure of its measure: report them one at a time"
    );
    let mut facts = facts(runs, &classes);
    facts.extend(left_out(&others));
    let mut pooled = Vec::new();
    for class in &classes {
        let of_cells = by_cell(class, cells.len());
        facts.extend(hosts::facts(class.name, &class.runs, &of_cells));
        let own: Vec<Pooled> = cells.iter().zip(&of_cells).map(|(cell, had)| pool(cell, had)).collect();
        facts.push(("grades", graded(class, &own)));
        pooled.push(own);
    }
    let mut sheets = Vec::new();
    match machines {
        Some(machines) => {
            for table in &shown {
                sheets.extend(machines::sheet(&classes, table, cells, &pooled, machines)?);
            }
        }
        None => {
            for (class, pooled) in classes.iter().zip(&pooled) {
                for table in &shown {
                    sheets.extend(sheet(class, table, cells, pooled)?);
                }
            }
        }
    }
    let title = format!("ipcmatrix: {}", counted(runs.runs.len(), "run"));
    Ok(Document { title, facts, reading: reading(), sheets })
}

/// Which tables are not shown, by the metric that they want, why, and what shows them.
fn left_out(tables: &[&Table]) -> Vec<(&'static str, String)> {
    let mut ids: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for table in tables {
        ids.entry(table.metric.as_deref().unwrap_or_default()).or_default().push(&table.id);
    }
    let line = |(metric, ids): (&str, Vec<&str>)| {
        format!(
            "{}: shows {metric}, and what is kept of each of several runs is the figure of its measure only; \
             `ipcmatrix report RUN --table {}` shows it of one",
            ids.join(", "),
            ids[0]
        )
    };
    ids.into_iter().map(|group| ("left out", line(group))).collect()
}

fn reading() -> Vec<String> {
    vec![
        format!(
            "A run counts as one number a cell, the median of its visits; a figure is the median over the runs of a class, ± is its \
             95 % interval, larger side, rounded up. Under {LEAST_VISITS} runs there is none, but the figure of one run alone has the \
             interval over its visits. In square brackets the least and the greatest run; \
             beside these a figure has two digits at least."
        ),
        hosts::READING.into(),
    ]
}

/// How many figures of a class have an interval of each grade; two modes are told below the tables, of single runs.
fn graded(class: &Class, pooled: &[Pooled]) -> String {
    let figures: Vec<&Figure> = pooled.iter().filter_map(|pooled| pooled.slot.figure()).collect();
    let count = |grade| figures.iter().filter(|figure| figure.ns.grade() == grade).count();
    let grades = Grade::ALL.iter().filter(|grade| **grade != Grade::U);
    let grades: Vec<String> = grades.map(|grade| format!("{grade} {}", count(Some(*grade)))).collect();
    format!("class {}: {}, without interval {}", word(class), grades.join(", "), count(None))
}

fn classes(runs: &[Stored]) -> Vec<Class<'_>> {
    let mut found: BTreeMap<&str, Class> = BTreeMap::new();
    for run in runs {
        let [name, line] = run.machine.as_ref().map_or(["", "not told"], |[name, line]| [name, line]);
        found.entry(name).or_insert(Class { name, line, runs: Vec::new() }).runs.push(run);
    }
    found.into_values().collect()
}

/// Runs that measured in another way are not pooled.
fn check(classes: &[Class]) -> Result<()> {
    for class in classes {
        if let Some(run) = class.runs.iter().find(|run| run.effort == TEST_EFFORT) {
            bail!("{} is a test and has no figures: leave it out", run.name);
        }
        let efforts: BTreeSet<&str> = class.runs.iter().map(|run| run.effort.as_str()).collect();
        ensure!(
            efforts.len() < 2 || !efforts.contains("exact"),
            "machine {}: runs by --exact have the mean where others have the median ({}): report them apart",
            class.name,
            efforts.into_iter().collect::<Vec<_>>().join(", ")
        );
    }
    Ok(())
}

fn facts(runs: &Runs, classes: &[Class]) -> Vec<(&'static str, String)> {
    let list = |of: fn(&Stored) -> &str| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        runs.runs.iter().for_each(|run| *counts.entry(of(run)).or_default() += 1);
        counts.iter().map(|(name, count)| format!("{name} ({count})")).collect::<Vec<_>>().join(", ")
    };
    let mut facts = vec![
        ("runs", counted(runs.runs.len(), "run")),
        ("version", list(|run| &run.version)),
        ("effort", list(|run| &run.effort)),
    ];
    facts.extend(classes.iter().map(|class| {
        let hosts: BTreeSet<String> = class.runs.iter().map(|run| host(&run.name)).collect();
        let (runs, hosts) = (counted(class.runs.len(), "run"), counted(hosts.len(), "host"));
        ("machine", format!("class {}: {}; {runs} on {hosts}", word(class), class.line))
    }));
    facts
}

fn word<'a>(class: &Class<'a>) -> &'a str {
    if class.name.is_empty() { "unknown" } else { class.name }
}

/// What each run of the class has of each cell, by the number of the cell, with the position of the run.
pub type ByCell<'a> = Vec<Vec<(usize, &'a Had)>>;

fn by_cell<'a>(class: &Class<'a>, cells: usize) -> ByCell<'a> {
    let mut all = vec![Vec::new(); cells];
    for (at, run) in class.runs.iter().enumerate() {
        for (number, had) in &run.cells {
            all[*number].push((at, had));
        }
    }
    all
}

/// Nanoseconds an operation in each run, with the position of the run: the loop taken off in all of them or in none.
fn figures(had: &[(usize, &Had)]) -> Vec<(usize, Estimate)> {
    let measured = had.iter().filter_map(|(at, had)| match had {
        Had::Measured(reduced) => Some((*at, &**reduced)),
        _ => None,
    });
    let all: Vec<(usize, &Reduced)> = measured.collect();
    let net = all.iter().any(|(_, run)| run.loop_counts) && all.iter().all(|(_, run)| run.net_ns.is_some());
    all.iter().map(|(at, run)| (*at, run.net_ns.filter(|_| net).unwrap_or(run.raw_ns))).collect()
}

fn pool(cell: &Cell, had: &[(usize, &Had)]) -> Pooled {
    let all: Vec<Estimate> = figures(had).into_iter().map(|(_, estimate)| estimate).collect();
    let values: Vec<f64> = all.iter().map(|estimate| estimate.value).collect();
    let ns = if let [only] = all.as_slice() { Some(*only) } else { Estimate::of(&values) };
    let Some(ns) = ns else { return Pooled { slot: without(had), spread: None, remarks: Vec::new() } };
    let shown = in_unit(cell, &ns);
    let ends = values.iter().map(|value| in_unit(cell, &Estimate { value: *value, ..ns }).value);
    let spread = (all.len() > 1)
        .then(|| (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(f64::NEG_INFINITY, f64::max)));
    Pooled { slot: Slot::Measured(Box::new(figure(ns, shown))), spread, remarks: remarks(had, all.len()) }
}

fn figure(ns: Estimate, shown: Estimate) -> Figure {
    Figure {
        cell_index: 0,
        ns,
        shown,
        modes: None,
        least_ops: 0,
        most_ops: 0,
        oversubscribed: false,
        lost_share: None,
        lost_lines: None,
        known: false,
        exact: false,
        trend: None,
        flags: BTreeSet::new(),
        net: false,
        refused: None,
    }
}

/// Why no run has a figure: what failed comes first, then what was refused.
fn without(had: &[(usize, &Had)]) -> Slot {
    let failed: Vec<&String> =
        had.iter().filter_map(|(_, had)| if let Had::Failed(why) = had { Some(why) } else { None }).collect();
    if let Some(why) = failed.first() {
        let failure =
            Failure { phase: String::new(), error: (*why).clone(), failed: failed.len(), visits: had.len() };
        return Slot::Failed(failure);
    }
    let refused =
        had.iter().find_map(|(_, had)| if let Had::Unavailable(why) = had { Some(why) } else { None });
    match refused {
        Some(why) => Slot::Unavailable(Unavailable { reason: why.clone(), remedy: String::new() }),
        None if had.is_empty() => Slot::Absent,
        None => Slot::NotVisited,
    }
}

fn remarks(had: &[(usize, &Had)], measured: usize) -> Vec<String> {
    let mut remarks = Vec::new();
    if measured < had.len() {
        let why = had.iter().find_map(|(_, had)| match had {
            Had::Failed(why) | Had::Unavailable(why) => Some(format!("; the first: {why}")),
            _ => None,
        });
        let missing = had.len() - measured;
        remarks.push(format!(
            "{missing} of {} have no figure{}",
            counted(had.len(), "run"),
            why.unwrap_or_default()
        ));
    }
    let two =
        had.iter().filter(|(_, had)| matches!(had, Had::Measured(reduced) if reduced.two_modes)).count();
    if two > 0 {
        remarks.push(format!("grade U: visits of two modes in {two} of {}", counted(measured, "run")));
    }
    remarks
}

/// A table of a class; nothing where none of its runs has a cell of it.
fn sheet(class: &Class, table: &Table, cells: &[Cell], pooled: &[Pooled]) -> Result<Option<Sheet>> {
    if table.cells.iter().all(|number| pooled[*number].slot == Slot::Absent) {
        return Ok(None);
    }
    let projection = projection(table, cells, pooled)?;
    let mut footnotes = Footnotes::default();
    let panels = panels(&projection, pooled, &mut footnotes);
    Ok(Some(finished(&projection, &format!("machine {}", word(class)), panels, footnotes)))
}

fn projection<'a>(table: &'a Table, cells: &'a [Cell], pooled: &[Pooled]) -> Result<Projection<'a>> {
    // The number of the cell goes through the projection with its slot.
    let slots: Vec<Slot> =
        pooled.iter().enumerate().map(|(number, one)| numbered(&one.slot, number)).collect();
    project_table(&|number| &cells[number], table, Metric::Figure, &slots)
        .with_context(|| format!("table {:?}", table.id))
}

/// A table with its headings around these panels.
fn finished(projection: &Projection, machine: &str, panels: Vec<Panel>, footnotes: Footnotes) -> Sheet {
    let table = projection.table;
    let mut captions = super::document::captions(projection);
    captions.retain(|text| !text.starts_with("Scaled:"));
    if matches!(table.measure, Measure::Increment | Measure::Serve | Measure::Append) {
        captions.push("Scaled from the counts of each run.".into());
    }
    let unit = projection.metric.unit(table.measure);
    Sheet {
        heading: format!("{} {} ({unit}), {machine}", table.id, table.title),
        captions,
        panels,
        plot: None,
        notes: table.notes.clone(),
        footnotes: footnotes.texts,
    }
}

fn numbered(slot: &Slot, number: usize) -> Slot {
    let mut slot = slot.clone();
    if let Slot::Measured(figure) = &mut slot {
        figure.cell_index = number;
    }
    slot
}

fn panels(projection: &Projection, pooled: &[Pooled], footnotes: &mut Footnotes) -> Vec<Panel> {
    let table = projection.table;
    let mut panels = Vec::new();
    for grid in &projection.grids {
        let mut rows = Vec::new();
        for (heading, slots) in grid.rows.iter().zip(&grid.slots) {
            let places = slots.iter().map(|slot| place(slot, pooled, footnotes)).collect();
            rows.push((coordinate(heading), places));
        }
        let split = grid.split.iter().map(|(axis, value)| split_value(*axis, value));
        let head =
            std::iter::once(table.row.to_string()).chain(grid.columns.iter().map(coordinate)).collect();
        panels.push(Panel { heading: split.collect::<Vec<_>>().join("; "), head, rows });
    }
    panels
}

/// A figure with its uncertainty, and the least and the greatest run.
fn between(figure: &Figure, (least, most): (f64, f64)) -> String {
    let shown = &figure.shown;
    let alike = |number| beside(number, shown);
    let sure = uncertainty(shown).map_or(String::new(), |text| format!(" {text}"));
    format!("{}{sure} [{}-{}]", alike(shown.value), alike(least), alike(most))
}

fn place(slot: &Slot, pooled: &[Pooled], footnotes: &mut Footnotes) -> Place {
    let (text, notes) = match slot {
        Slot::Measured(figure) => {
            let one = &pooled[figure.cell_index];
            (one.spread.map_or_else(|| number(figure), |ends| between(figure, ends)), one.remarks.clone())
        }
        Slot::Unavailable(why) => ("n/a".into(), vec![why.reason.clone()]),
        Slot::Failed(Failure { error, failed, visits, .. }) => {
            ("failed".into(), vec![format!("{error} ({failed} of {})", counted(*visits, "run"))])
        }
        Slot::NotVisited => ("not visited".into(), vec!["no run got to this cell".into()]),
        _ => ("-".into(), Vec::new()),
    };
    let mut marks: Vec<usize> = notes.into_iter().map(|note| footnotes.number(note)).collect();
    marks.sort_unstable();
    Place { text, marks, ..Place::default() }
}
