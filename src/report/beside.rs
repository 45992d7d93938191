//! Published figures beside today's, in grids of the same shape.

use super::cells::Slot;
use super::document::{Footnotes, Panel, Place, coordinate, split_value};
use super::projection::{Coordinate, Grid, Projection};
use crate::cell::{Axis, Cell, Value};
use crate::published::{self, Figure};

/// For each grid, one panel a published table that the matrix names.
pub fn panels(projection: &Projection, footnotes: &mut Footnotes) -> Vec<Panel> {
    let figures = published::figures();
    let of_table = |id: &String| -> Vec<Figure> {
        let metric = projection.metric.spec().name;
        figures.iter().filter(|figure| figure.table == *id && figure.metric == metric).cloned().collect()
    };
    let mut panels = Vec::new();
    for grid in &projection.grids {
        for figures in projection.table.published.iter().map(of_table).filter(|figures| !figures.is_empty()) {
            panels.extend(panel(projection, grid, &figures, footnotes));
        }
    }
    panels
}

/// Nothing where no figure has its place in this grid.
fn panel(
    projection: &Projection,
    grid: &Grid,
    figures: &[Figure],
    footnotes: &mut Footnotes,
) -> Option<Panel> {
    let table = projection.table;
    let mut rows = Vec::new();
    let mut placed = false;
    for (row, slots) in grid.rows.iter().zip(&grid.slots) {
        let places = grid.columns.iter().zip(slots).map(|(column, slot)| {
            let cell = cell(projection, grid, row, column);
            let figure = figures.iter().find(|figure| figure.is_beside(&cell));
            placed |= figure.is_some();
            place(projection, figure, slot, footnotes)
        });
        rows.push((coordinate(row), places.collect()));
    }
    let head = std::iter::once(table.row.to_string()).chain(grid.columns.iter().map(coordinate)).collect();
    placed.then(|| Panel { heading: heading(projection, grid, &figures[0]), head, rows })
}

/// Which table this is and, where it is there, what the factor means.
fn heading(projection: &Projection, grid: &Grid, figure: &Figure) -> String {
    let heading = format!("published {}: {}, {}", figure.table, figure.system, figure.year);
    let split: Vec<String> = grid.split.iter().map(|(axis, value)| split_value(*axis, value)).collect();
    if projection.metric.is_ratio() {
        let at = if split.is_empty() { String::new() } else { format!("; beside {}", split.join("; ")) };
        return heading + &at;
    }
    let against =
        if split.is_empty() { "today's".to_owned() } else { format!("today's at {}", split.join("; ")) };
    let brackets = match figure.runs {
        Some(_) => "in square brackets the least and the greatest of the runs, in round ones",
        None => "in brackets",
    };
    format!("{heading}; {brackets} how many times as good {against} is")
}

/// The cell of a place, as far as its coordinates tell.
fn cell(projection: &Projection, grid: &Grid, row: &Coordinate, column: &Coordinate) -> Cell {
    let table = projection.table;
    let mut cell = Cell::default().with(Axis::Measure, Value::word(table.measure.name()));
    let here = [(table.row, row.clone()), (table.column, column.clone())];
    let constants = projection.constants.iter().map(|(axis, value, _)| (*axis, Some(value.clone())));
    let all: Vec<(Axis, Option<Value>)> =
        here.into_iter().chain(grid.split.clone()).chain(constants).collect();
    for (axis, value) in all {
        if let Some(value) = value {
            cell.set(axis, value);
        }
    }
    cell
}

fn place(projection: &Projection, figure: Option<&Figure>, slot: &Slot, footnotes: &mut Footnotes) -> Place {
    let Some(figure) = figure else {
        return Place { text: "-".into(), ..Place::default() };
    };
    let runs = figure.runs.as_ref();
    let runs = runs.map(|runs| format!(" [{}-{}, {} runs]", runs.least, runs.most, runs.count));
    let other = (figure.mechanism != figure.beside)
        .then(|| format!("published as {}: not the same mechanism, shown for comparison", figure.mechanism));
    let notes = other.into_iter().chain(figure.remark.map(String::from));
    let mut marks: Vec<usize> = notes.map(|note| footnotes.number(note)).collect();
    marks.sort_unstable();
    let factor = factor(projection, figure, slot).unwrap_or_default();
    Place {
        text: format!("{}{}{factor}", figure.printed, runs.unwrap_or_default()),
        marks,
        ..Place::default()
    }
}

/// How many times as good today's is: a ratio of mechanisms is not good or bad, and two modes are no one number.
fn factor(projection: &Projection, figure: &Figure, slot: &Slot) -> Option<String> {
    if projection.metric.is_ratio() {
        return None;
    }
    let today = slot.figure().filter(|figure| figure.modes.is_none())?.shown.value;
    let more_is_better = projection.metric.more_is_better(projection.table.measure) == Some(true);
    let times = if more_is_better { today / figure.value } else { figure.value / today };
    Some(format!(" (x{})", two_digits(times)))
}

/// A ratio with two significant digits, in plain digits.
fn two_digits(ratio: f64) -> String {
    if !(ratio.is_finite() && ratio > 0.0) {
        return "?".into();
    }
    let step = 10_f64.powi(ratio.log10().floor() as i32 - 1);
    let rounded = (ratio / step).round() * step;
    let decimals = (-(step.log10().round() as i32)).max(0) as usize;
    format!("{rounded:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::two_digits;

    #[test]
    fn ratios_have_two_digits() {
        let shown: Vec<String> = [0.0123, 0.99, 1.0, 9.96, 272.4, 123_456.0].map(two_digits).to_vec();
        assert_eq!(shown, ["0.012", "0.99", "1.0", "10.0", "270", "120000"]);
    }
}
