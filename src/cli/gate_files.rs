//! Gates of a matrix file, for cells of runs that were made before.

use super::{matrices, usage};
use crate::catalog::Catalog;
use crate::cell::{Cell, Measure};
use crate::matrix::Filter;
use crate::record::Gate;
use anyhow::Result;

/// The gates of a matrix, a file or one that is built in, with the cells that they watch by their places in `cells`: those
/// that match and are of a measure that the gate watches in its matrix, as its limits are in the unit of that.
///
/// # Errors
/// What is wrong in the file, and a matrix without gates: the user's.
pub fn read(name: &str, catalog: &Catalog, cells: &[Cell]) -> Result<Vec<Gate>> {
    let matrix = matrices::read(name, catalog, &[])?;
    if matrix.gates.is_empty() {
        return Err(usage(format!("the matrix {name} has no [[gate]]")));
    }
    let found = |gate: &Gate| -> Result<Gate> {
        let filter = Filter::parse(&gate.filter, catalog).map_err(usage)?;
        let own: Vec<Option<Measure>> =
            gate.cells.iter().map(|position| matrix.cells[*position].cell.measure()).collect();
        let watched =
            |place: &usize| filter.matches(&cells[*place]) && own.contains(&cells[*place].measure());
        Ok(Gate { cells: (0..cells.len()).filter(watched).collect(), ..gate.clone() })
    };
    matrix.gates.iter().map(found).collect()
}
