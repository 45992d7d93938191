//! The tables of a comparison: one a measure.

use super::Compared;
use crate::cell::{Axis, Cell, Measure, Value};
use crate::compare::stored::{Found, LEAST_RUNS, Row, Side};
use crate::compare::{MOST_NEEDED, Reason, Verdict};
use crate::report::cells::measure_unit;
use crate::report::comparison::{between, constants, figure, label, p_text, ratio};
use crate::report::digits::counted;
use crate::report::document::{Footnotes, Panel, Place, Sheet, coordinate, split_value};

const HEAD: &[&str] = &["cell", "base", "new", "time new/base", "95 %", "q", "verdict"];

/// One table for each measure that has rows.
pub fn sheets(compared: &Compared, axes: Option<(Axis, Axis)>) -> Vec<Sheet> {
    let of = |measure: &Measure| {
        let rows = compared.comparison.rows.iter().filter(|row| row.cell.measure() == Some(*measure));
        let rows: Vec<&Row> = rows.collect();
        (!rows.is_empty()).then(|| sheet(*measure, &rows, axes))
    };
    Measure::ALL.iter().filter_map(of).collect()
}

fn sheet(measure: Measure, rows: &[&Row], axes: Option<(Axis, Axis)>) -> Sheet {
    let mut footnotes = Footnotes::default();
    let cells: Vec<&Cell> = rows.iter().map(|row| &row.cell).collect();
    let mut constant = constants(&cells);
    let panels = match axes {
        None => vec![list(rows, &constant, &mut footnotes)],
        Some(axes) => {
            constant.retain(|(axis, _)| *axis != axes.0 && *axis != axes.1);
            grids(rows, axes, &constant, &mut footnotes)
        }
    };
    let named: Vec<String> =
        constant.iter().map(|(axis, value)| split_value(*axis, &Some(value.clone()))).collect();
    let all = (!named.is_empty()).then(|| format!("All cells: {}.", named.join("; ")));
    let unit = if axes.is_some() { "time new/base" } else { measure_unit(measure) };
    Sheet {
        heading: format!("{} ({unit})", measure.name()),
        captions: all.into_iter().collect(),
        panels,
        footnotes: footnotes.texts,
        ..Sheet::default()
    }
}

/// A row a cell.
fn list(rows: &[&Row], constant: &[(Axis, Value)], footnotes: &mut Footnotes) -> Panel {
    let line = |row: &&Row| {
        let stratum = row.stratum.map(|stratum| format!(" ({})", stratum.word())).unwrap_or_default();
        (label(&row.cell, &row.cell, constant) + &stratum, places(row, footnotes))
    };
    let head = HEAD.iter().map(ToString::to_string).collect();
    Panel { heading: String::new(), head, rows: rows.iter().map(line).collect() }
}

fn places(row: &Row, footnotes: &mut Footnotes) -> Vec<Place> {
    let plain = |text: String| Place { text, ..Place::default() };
    let verdict = marked(row, verdict_text(row), footnotes);
    let Ok(found) = &row.found else {
        return (2..HEAD.len()).map(|_| plain("-".into())).chain([verdict]).collect();
    };
    let shown = |side: &Side| side.shown.map_or("-".into(), |shown| figure(&row.cell, &shown));
    vec![
        plain(shown(&found.base)),
        plain(shown(&found.new)),
        plain(ratio(found.effect.log_ratio)),
        plain(found.effect.interval_95.map_or("-".into(), between)),
        plain(found.judged.q.map_or("-".into(), p_text)),
        verdict,
    ]
}

/// The text with the footnotes of the row, in bold where there is a difference.
fn marked(row: &Row, text: String, footnotes: &mut Footnotes) -> Place {
    let mut marks: Vec<usize> = remarks(row).into_iter().map(|text| footnotes.number(text)).collect();
    marks.sort_unstable();
    let differs = row.found.as_ref().is_ok_and(|found| found.judged.verdict.differs());
    let mut place = Place { text, strong: differs || row.is_regression(), ..Place::default() };
    place.marks = marks;
    place
}

fn verdict_text(row: &Row) -> String {
    let needed = match row.found.as_ref().map(|found| found.judged.verdict) {
        Ok(Verdict::Undecided(Reason::MoreNeeded(runs))) if runs < MOST_NEEDED => {
            format!(" (about {runs} runs a side)")
        }
        _ => String::new(),
    };
    format!("{}{needed}", row.word())
}

/// What a reader should know of a row.
fn remarks(row: &Row) -> Vec<String> {
    let Ok(found) = &row.found else { return vec![row.why()] };
    let mut remarks: Vec<String> = undecided(found).into_iter().collect();
    remarks.extend(found.remarks.iter().cloned());
    if found.net {
        remarks.push("net: the loop around the operations was taken off both sides, visit by visit".into());
    }
    remarks
}

fn undecided(found: &Found) -> Option<String> {
    let Verdict::Undecided(reason) = found.judged.verdict else { return None };
    match reason {
        Reason::NoTest => Some(format!(
            "{} of base against {} of new, and no noise floor is known: {LEAST_RUNS} runs a side can be tested",
            counted(found.base.values.len(), "run"),
            found.new.values.len()
        )),
        Reason::BelowFloor => {
            let floor = 100.0 * found.margin.floor.unwrap_or(0.0).exp_m1();
            Some(format!("not above the noise floor of the cell here, {floor:.1} %"))
        }
        Reason::TooFew | Reason::MoreNeeded(_) => None,
    }
}

/// Cells by a row and a column axis, a grid for each combination of the other axes: nothing is averaged.
fn grids(
    rows: &[&Row],
    (row_axis, column_axis): (Axis, Axis),
    constant: &[(Axis, Value)],
    footnotes: &mut Footnotes,
) -> Vec<Panel> {
    let heading = |row: &Row| {
        let rest = row.cell.clone().without(row_axis).without(column_axis);
        let told = |(axis, _): &(Axis, &Value)| {
            *axis != Axis::Measure && constant.iter().all(|(known, _)| known != axis)
        };
        let axes = rest.axes().filter(told).map(|(axis, value)| split_value(axis, &Some(value.clone())));
        let stratum = row.stratum.map(|stratum| format!("CPUs {}", stratum.word()));
        axes.chain(stratum).collect::<Vec<_>>().join("; ")
    };
    let mut panels: Vec<Panel> = Vec::new();
    for title in distinct(rows.iter().map(|row| heading(row))) {
        let own: Vec<&&Row> = rows.iter().filter(|row| heading(row) == title).collect();
        let at = |axis: Axis| {
            distinct(own.iter().map(|row| coordinate(&row.cell.get(axis).cloned())).collect::<Vec<_>>())
        };
        let (down, across) = (at(row_axis), at(column_axis));
        let here =
            |row: &&&&Row, axis: Axis, value: &String| coordinate(&row.cell.get(axis).cloned()) == *value;
        let mut place = |value: &String, column: &String| {
            let found = own.iter().find(|row| here(row, row_axis, value) && here(row, column_axis, column));
            found.map_or(Place { text: "-".into(), ..Place::default() }, |row| cell_place(row, footnotes))
        };
        let lines: Vec<(String, Vec<Place>)> = down
            .iter()
            .map(|value| (value.clone(), across.iter().map(|column| place(value, column)).collect()))
            .collect();
        let head = std::iter::once(row_axis.to_string()).chain(across.clone()).collect();
        panels.push(Panel { heading: title, head, rows: lines });
    }
    panels
}

fn cell_place(row: &Row, footnotes: &mut Footnotes) -> Place {
    let number = row.found.as_ref().map(|found| ratio(found.effect.log_ratio) + " ").unwrap_or_default();
    marked(row, format!("{number}{}", row.word()), footnotes)
}

/// Each text once, in the order in which they come.
fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}
