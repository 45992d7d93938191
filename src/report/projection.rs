//! Records -> tables: cells by row, column and split, with nothing averaged on the way.

use super::cells::{Slot, slots};
use super::load::Run;
use super::metric::Metric;
use super::view::advice;
use crate::cell::{Axis, Cell, Value};
use crate::record::Table;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeSet;

/// A value on an axis; `None` where the axis does not apply to the cell.
pub type Coordinate = Option<Value>;

/// A table of the matrix with what was found.
#[derive(Clone, Debug)]
pub struct Projection<'a> {
    /// The table as the matrix has it.
    pub table: &'a Table,
    /// What it shows: what was asked for, else what the matrix says, else the figure of the measure.
    pub metric: Metric,
    /// Axes that have one value in the whole table, and whether every cell has it.
    pub constants: Vec<(Axis, Value, bool)>,
    /// One grid for each combination of split values that has cells.
    pub grids: Vec<Grid>,
}

/// Rows x columns at one combination of split values.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The split axes with their values here.
    pub split: Vec<(Axis, Coordinate)>,
    /// Headings of the rows.
    pub rows: Vec<Coordinate>,
    /// Headings of the columns.
    pub columns: Vec<Coordinate>,
    /// One slot a row and column.
    pub slots: Vec<Vec<Slot>>,
}

/// Every table of a run, in the order of the matrix.
///
/// # Errors
/// A table that would have to average: an axis with more than one value that is neither row, column
/// nor split, or two cells in one place; a table with cells of another measure.
pub fn project(run: &Run, metric: Metric) -> Result<Vec<Projection<'_>>> {
    let mut made: Vec<(Metric, Vec<Slot>)> = Vec::new();
    let mut projections = Vec::new();
    for table in &run.header.tables {
        let metric = shown(table, metric)?;
        if !metric.spec().measures.contains(&table.measure) {
            continue;
        }
        if !made.iter().any(|(known, _)| *known == metric) {
            made.push((metric, slots(run, metric)));
        }
        let slots = made.iter().find(|(known, _)| *known == metric).map_or(&[][..], |(_, slots)| slots);
        let cell = |index: usize| &run.header.cells[index].cell;
        let projection = project_table(&cell, table, metric, slots);
        projections.push(projection.with_context(|| format!("table {:?}", table.id))?);
    }
    Ok(projections)
}

/// What the table shows.
fn shown(table: &Table, asked: Metric) -> Result<Metric> {
    match &table.metric {
        Some(name) if asked == Metric::Figure => {
            Metric::named(name).with_context(|| format!("table {:?}: there is no metric {name:?}", table.id))
        }
        _ => Ok(asked),
    }
}

/// A cell of a table, and what came of it.
type Found<'a> = (&'a Cell, &'a Slot);

/// A table with a slot for each cell, both found by their number.
///
/// # Errors
/// Those of [`project`].
pub(super) fn project_table<'a>(
    cell: &dyn Fn(usize) -> &'a Cell,
    table: &'a Table,
    metric: Metric,
    slots: &[Slot],
) -> Result<Projection<'a>> {
    let found: Vec<Found> = table.cells.iter().map(|index| (cell(*index), &slots[*index])).collect();
    check(table, &found)?;
    let mut grids = Vec::new();
    for split in combinations(table, &found) {
        let here = |(cell, _): &&Found| split.iter().all(|(axis, value)| cell.get(*axis) == value.as_ref());
        let cells: Vec<Found> = found.iter().filter(here).copied().collect();
        if !cells.is_empty() {
            grids.push(grid(table, split, &cells)?);
        }
    }
    Ok(Projection { table, metric, constants: constants(table, &found), grids })
}

/// Whether each cell of the table has a place of its own kind in it.
fn check(table: &Table, found: &[Found]) -> Result<()> {
    for (cell, _) in found {
        let measure = table.measure;
        ensure!(cell.measure() == Some(measure), "it shows {}, but has the cell `{cell}`", measure.name());
    }
    for axis in axes(found).into_iter().filter(|axis| !placed(table, *axis)) {
        let values = values(table, found, axis);
        let values: Vec<&Value> = values.iter().flatten().collect();
        if values.len() > 1 {
            let list = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            bail!(
                "{axis} has the values {list} and is neither row, column nor split: nothing is averaged; {}",
                advice(axis, &values)
            );
        }
    }
    Ok(())
}

/// Whether the axis is row, column or split of the table.
fn placed(table: &Table, axis: Axis) -> bool {
    axis == table.row || axis == table.column || table.split.contains(&axis)
}

/// Every axis that one of the cells has.
fn axes(found: &[Found]) -> BTreeSet<Axis> {
    found.iter().flat_map(|(cell, _)| cell.axes().map(|(axis, _)| axis)).collect()
}

/// The values that cells have on an axis: in the order of the matrix, then in that of the cells.
/// Cells that do not have the axis come first, as `None`.
fn values(table: &Table, found: &[Found], axis: Axis) -> Vec<Coordinate> {
    let present: BTreeSet<Coordinate> = found.iter().map(|(cell, _)| cell.get(axis).cloned()).collect();
    let named = table.axes.iter().filter(|(own, _)| *own == axis).flat_map(|(_, values)| values.clone());
    let of_cells = found.iter().filter_map(|(cell, _)| cell.get(axis).cloned());
    let mut values = Vec::new();
    for value in std::iter::once(None).chain(named.chain(of_cells).map(Some)) {
        if present.contains(&value) && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Every combination of split values, the first axis slowest; one empty combination without a split.
fn combinations(table: &Table, found: &[Found]) -> Vec<Vec<(Axis, Coordinate)>> {
    let mut combinations = vec![Vec::new()];
    for axis in &table.split {
        let values = values(table, found, *axis);
        let longer = |combination: &Vec<(Axis, Coordinate)>| -> Vec<Vec<(Axis, Coordinate)>> {
            let with = |value: &Coordinate| [combination.clone(), vec![(*axis, value.clone())]].concat();
            values.iter().map(with).collect()
        };
        combinations = combinations.iter().flat_map(longer).collect();
    }
    combinations
}

fn grid(table: &Table, split: Vec<(Axis, Coordinate)>, cells: &[Found]) -> Result<Grid> {
    let rows = values(table, cells, table.row);
    let columns = values(table, cells, table.column);
    let mut slots = Vec::new();
    for row in &rows {
        let in_row = columns.iter().map(|column| place(table, cells, row, column));
        slots.push(in_row.collect::<Result<Vec<Slot>>>()?);
    }
    Ok(Grid { split, rows, columns, slots })
}

/// What came of the one cell in a place.
fn place(table: &Table, cells: &[Found], row: &Coordinate, column: &Coordinate) -> Result<Slot> {
    let here =
        |(cell, _): &&Found| cell.get(table.row) == row.as_ref() && cell.get(table.column) == column.as_ref();
    let mut here = cells.iter().filter(here);
    match (here.next(), here.next()) {
        (None, _) => Ok(Slot::Absent),
        (Some((_, slot)), None) => Ok((*slot).clone()),
        (Some((one, _)), Some((other, _))) => {
            bail!("`{one}` and `{other}` fall on one place: nothing is averaged; split the table")
        }
    }
}

/// Axes that have one value in the whole table.
fn constants(table: &Table, found: &[Found]) -> Vec<(Axis, Value, bool)> {
    let free = axes(found).into_iter().filter(|axis| *axis != Axis::Measure && !placed(table, *axis));
    let constant = |axis| {
        let values = values(table, found, axis);
        let value = values.iter().flatten().next()?;
        Some((axis, value.clone(), !values.contains(&None)))
    };
    free.filter_map(constant).collect()
}
