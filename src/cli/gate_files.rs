//! Gates of a matrix file, for cells of runs that were made before.

use super::{matrices, usage};
use crate::catalog::Catalog;
use crate::cell::Cell;
use crate::record::Gate;
use anyhow::Result;

/// The gates of a matrix, a file or one that is built in, with the cells of runs by their places in `cells`.
///
/// # Errors
/// What is wrong in the file, and a matrix without gates: the user's.
pub fn read(name: &str, catalog: &Catalog, cells: &[Cell]) -> Result<Vec<Gate>> {
    let matrix = matrices::read(name, catalog, &[])?;
    if matrix.gates.is_empty() {
        return Err(usage(format!("the matrix {name} has no [[gate]]")));
    }
    let place = |position: &usize| cells.iter().position(|cell| *cell == matrix.cells[*position].cell);
    let found = |gate: &Gate| Gate { cells: gate.cells.iter().filter_map(place).collect(), ..gate.clone() };
    Ok(matrix.gates.iter().map(found).collect())
}
