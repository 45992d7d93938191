//! The class of machine as the rows or the columns of tables: all classes side by side, none pooled with another.
//!
//! The axis whose place they take is printed apart by its values, so nothing is averaged and nothing is left out.

use super::{Class, Footnotes, Pooled, finished, place, projection, word};
use crate::cell::{Axis, Cell};
use crate::record::Table;
use crate::report::cells::Slot;
use crate::report::document::{Panel, Place, Sheet, coordinate, split_value};
use crate::report::projection::{Coordinate, Grid};
use crate::report::view::Machines;
use anyhow::Result;

/// The name of this axis in headings, and on the command line.
pub const MACHINE: &str = "machine";

/// A table of all classes that have a cell of it; nothing where none has.
pub(super) fn sheet(
    classes: &[Class],
    table: &Table,
    cells: &[Cell],
    pooled: &[Vec<Pooled>],
    machines: Machines,
) -> Result<Option<Sheet>> {
    let has = |pooled: &[Pooled]| table.cells.iter().any(|number| pooled[*number].slot != Slot::Absent);
    let mut grids: Vec<(&str, &[Pooled], Vec<Grid>)> = Vec::new();
    let mut first = None;
    for (class, pooled) in classes.iter().zip(pooled).filter(|(_, pooled)| has(pooled)) {
        let projection = projection(table, cells, pooled)?;
        grids.push((word(class), pooled, projection.grids.clone()));
        first.get_or_insert(projection);
    }
    let Some(first) = first else { return Ok(None) };
    let mut footnotes = Footnotes::default();
    let mut panels = Vec::new();
    // The places of a table come from its cells, so those of all classes are alike.
    for (at, shape) in first.grids.iter().enumerate() {
        let mut of = |class: usize, row: usize, column: usize| {
            let (_, pooled, grids) = &grids[class];
            place(&grids[at].slots[row][column], pooled, &mut footnotes)
        };
        let names: Vec<String> = grids.iter().map(|(name, ..)| (*name).to_owned()).collect();
        panels.extend(match machines {
            Machines::Columns => columns(table, shape, &names, &mut of),
            Machines::Rows => rows(table, shape, &names, &mut of),
        });
    }
    panels
        .retain(|panel| panel.rows.iter().flat_map(|(_, places)| places).any(|place| place.text != NOTHING));
    Ok(Some(finished(&first, "by machine", panels, footnotes)))
}

/// What stands where a table has no cell.
const NOTHING: &str = "-";

/// The place of a class, a row and a column.
type Of<'a> = dyn FnMut(usize, usize, usize) -> Place + 'a;

/// Classes as columns; one panel a column of the table.
fn columns(table: &Table, grid: &Grid, names: &[String], of: &mut Of) -> Vec<Panel> {
    let head = || std::iter::once(table.row.to_string()).chain(names.iter().cloned()).collect();
    let mut panels = Vec::new();
    for (column, value) in grid.columns.iter().enumerate() {
        let mut row = |row: usize| (0..names.len()).map(|class| of(class, row, column)).collect();
        let rows = grid.rows.iter().enumerate().map(|(at, heading)| (coordinate(heading), row(at))).collect();
        panels.push(Panel { heading: heading(grid, table.column, value), head: head(), rows });
    }
    panels
}

/// Classes as rows; one panel a row of the table.
fn rows(table: &Table, grid: &Grid, names: &[String], of: &mut Of) -> Vec<Panel> {
    let head = || std::iter::once(MACHINE.into()).chain(grid.columns.iter().map(coordinate)).collect();
    let mut panels = Vec::new();
    for (row, value) in grid.rows.iter().enumerate() {
        let mut places =
            |class: usize| (0..grid.columns.len()).map(|column| of(class, row, column)).collect();
        let rows = names.iter().enumerate().map(|(class, name)| (name.clone(), places(class))).collect();
        panels.push(Panel { heading: heading(grid, table.row, value), head: head(), rows });
    }
    panels
}

/// The split values of the table, then that of the axis whose place the classes took.
fn heading(grid: &Grid, axis: Axis, value: &Coordinate) -> String {
    let split = grid.split.iter().map(|(axis, value)| split_value(*axis, value));
    split.chain([split_value(axis, value)]).collect::<Vec<_>>().join("; ")
}
