//! Gates: those of a matrix file for cells of runs that were made before, and those of a run at its end.

use super::{WELL, matrices, output, usage};
use crate::catalog::Catalog;
use crate::cell::Cell;
use crate::record::Gate;
use crate::report::cells::{Slot, TEST_EFFORT};
use crate::report::gates;
use crate::report::load::Run;
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

/// Whether the gates of the matrix hold, as an exit code; each that does not is told. A test shows no figure to judge.
pub fn judge(run: &Run, slots: &[Slot]) -> u8 {
    if run.header.effort == TEST_EFFORT {
        return WELL;
    }
    let limits = gates::of_run(run, slots);
    for one in limits.iter().filter(|one| one.state != gates::State::Holds) {
        let (state, cell) = (one.state.word(), &one.cell);
        output::say(&format!("ipcmatrix: gate {state}: {} of `{cell}`: {}", one.limit, one.found));
    }
    super::compare::gate_code(&limits)
}
