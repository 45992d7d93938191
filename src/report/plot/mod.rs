//! Tables whose rows are numbers, as pictures: x is the row, each column is a series.
//!
//! [`Plot::of`] takes from a projection what a picture shows, `scale` finds places on its axes, `mark` has
//! colours and shapes, `band` draws the intervals, `layout` measures text, and `svg` draws. The same records give the same bytes.

mod band;
mod layout;
mod mark;
mod scale;
mod svg;

pub use svg::{Embed, style, svg};

use super::cells::Slot;
use super::document::{Document, coordinate, number, split_value};
use super::projection::{Coordinate, Grid, Projection};
use crate::cell::{Axis, Value};
use crate::measure::stats::Interval;
use crate::measure::stats::modes::{Mode, Modes};
use crate::strata::cores::Core;

/// The most series that a reader can tell apart: so many pairs of colour and shape there are.
pub const MOST_SERIES: usize = mark::PAIRS;

/// A table as a picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// The table's short name.
    pub id: String,
    /// The heading of the table.
    pub title: String,
    /// What x is.
    pub x: String,
    /// What y is: the unit.
    pub y: String,
    /// Every column of the table; its position gives the colour and the shape in all panels.
    pub series: Vec<String>,
    /// One for each combination of split values at which a column has figures in two rows.
    pub panels: Vec<Panel>,
    /// What disturbed its figures, or is to be known of them: a line a warning, which the picture of a file of its own has below it.
    pub warnings: Vec<String>,
}

/// One picture of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// The split values; empty without a split.
    pub heading: String,
    /// The numbers of the rows, rising.
    pub rows: Vec<u64>,
    /// What is drawn.
    pub curves: Vec<Curve>,
}

/// The figures of one column.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its position in [`Plot::series`].
    pub series: usize,
    /// One place a row; `None` where there is no figure, so that the line has a gap.
    pub points: Vec<Option<Point>>,
}

/// One figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The number of the row.
    pub x: u64,
    /// The figure; of two modes or strata the one with more visits.
    pub y: f64,
    /// Its 95 % interval.
    pub interval: Option<Interval>,
    /// The other of the two.
    pub rarer: Option<f64>,
    /// The figure as the table has it.
    pub text: String,
}

impl Plot {
    /// The picture of a table; `None` where its rows are no numbers, no column has figures in two rows, or more
    /// columns have figures than a reader can tell apart ([`MOST_SERIES`]).
    pub fn of(projection: &Projection) -> Option<Plot> {
        let table = projection.table;
        let series = columns(projection);
        let panels: Vec<Panel> = projection
            .grids
            .iter()
            .map(|grid| panel(grid, &series))
            .collect::<Option<Vec<Panel>>>()?
            .into_iter()
            .filter(|panel| panel.curves.iter().any(is_line))
            .collect();
        let told_apart = panels.iter().all(|panel| panel.curves.len() <= MOST_SERIES);
        (!panels.is_empty() && told_apart).then(|| Plot {
            id: table.id.clone(),
            title: format!("{} {}", table.id, table.title),
            x: axis_title(table.row),
            y: projection.metric.unit(table.measure).into(),
            series: series.iter().map(coordinate).collect(),
            panels,
            warnings: Vec::new(),
        })
    }

    /// The name of its file: the table's, of letters that every file system takes.
    pub fn file_name(&self) -> String {
        let safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_' | '-');
        let stem: String = self.id.chars().map(|letter| if safe(letter) { letter } else { '-' }).collect();
        let stem = stem.trim_start_matches('.');
        let stem = if stem.is_empty() { "table" } else { &stem[..stem.len().min(80)] };
        format!("{stem}.svg")
    }
}

/// The plots of a report, each with the name of its file; the second of two that would have the same has a number.
pub fn files(document: &Document) -> Vec<(String, &Plot)> {
    let plots: Vec<&Plot> = document.sheets.iter().filter_map(|sheet| sheet.plot.as_ref()).collect();
    file_names(plots.iter().copied()).into_iter().zip(plots).collect()
}

fn file_names<'a>(plots: impl Iterator<Item = &'a Plot>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for plot in plots {
        let name = plot.file_name();
        let stem = name.trim_end_matches(".svg");
        let numbered = (2..).map(|number: usize| format!("{stem}-{number}.svg"));
        let free = |name: &String| !names.iter().any(|known| known.eq_ignore_ascii_case(name));
        names.extend(std::iter::once(name.clone()).chain(numbered).find(free));
    }
    names
}

fn is_line(curve: &Curve) -> bool {
    curve.points.iter().flatten().count() > 1
}

/// Every column of a table, in the order of its grids.
fn columns(projection: &Projection) -> Vec<Coordinate> {
    let mut columns = Vec::new();
    for column in projection.grids.iter().flat_map(|grid| &grid.columns) {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    columns
}

/// `None` where a row is no number.
fn panel(grid: &Grid, series: &[Coordinate]) -> Option<Panel> {
    let number = |row: &Coordinate| match row {
        Some(Value::Count(number)) => Some(*number),
        _ => None,
    };
    let mut rows: Vec<(u64, &Vec<Slot>)> = grid
        .rows
        .iter()
        .zip(&grid.slots)
        .map(|(row, slots)| Some((number(row)?, slots)))
        .collect::<Option<_>>()?;
    rows.sort_by_key(|(row, _)| *row);
    let curve = |(index, column): (usize, &Coordinate)| {
        let points = rows.iter().map(|(row, slots)| point(*row, &slots[index])).collect();
        Some(Curve { series: series.iter().position(|known| known == column)?, points })
    };
    let curves = grid.columns.iter().enumerate().filter_map(curve);
    let curves = curves.filter(|curve| curve.points.iter().any(Option::is_some)).collect();
    let heading: Vec<String> = grid.split.iter().map(|(axis, value)| split_value(*axis, value)).collect();
    Some(Panel { heading: heading.join("; "), rows: rows.iter().map(|(row, _)| *row).collect(), curves })
}

/// What is drawn of a place.
fn point(x: u64, slot: &Slot) -> Option<Point> {
    let figure = slot.figure()?;
    // A curve is of one condition throughout.
    let alone = |mode: &Mode| mode.name == Core::Alone.word();
    let (estimate, rarer) = match figure.modes {
        None => (figure.shown, None),
        Some(Modes([one, other])) if alone(&other) || (!alone(&one) && other.share > one.share) => {
            (other.estimate, Some(one.estimate.value))
        }
        Some(Modes([one, other])) => (one.estimate, Some(other.estimate.value)),
    };
    Some(Point { x, y: estimate.value, interval: estimate.interval, rarer, text: number(figure) })
}

/// The axis in words; units stand last in its name.
fn axis_title(axis: Axis) -> String {
    axis.name().replace('_', " ")
}

#[cfg(test)]
mod tests;
