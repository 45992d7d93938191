//! Gates: those of a matrix file for runs that were made before, and what comes of them as an exit code.

use super::{REGRESSED, UNDECIDED, UNSURE, WELL, matrices, output, usage};
use crate::catalog::Catalog;
use crate::cell::Cell;
use crate::matrix::elsewhere;
use crate::record::Gate;
use crate::report::cells::{Slot, TEST_EFFORT};
use crate::report::digits::counted;
use crate::report::gates::{self, Checked, State};
use crate::report::load::Run;
use anyhow::Result;

/// The gates of a matrix, a file or one that is built in, with the cells that they watch by their places in `cells`.
///
/// # Errors
/// What is wrong in the file, and a matrix without gates: the user's.
pub fn read(name: &str, catalog: &Catalog, cells: &[Cell]) -> Result<Vec<Gate>> {
    let matrix = matrices::read(name, catalog, &[])?;
    if matrix.gates.is_empty() {
        return Err(usage(format!("the matrix {name} has no [[gate]]")));
    }
    let found = |gate: &Gate| elsewhere(gate, &matrix.cells, cells, catalog).map_err(usage);
    matrix.gates.iter().map(found).collect()
}

/// Whether the gates of the matrix hold, as an exit code; each that does not is told. A test shows no figure to judge.
pub fn judge(run: &Run, slots: &[Slot]) -> u8 {
    if run.header.effort == TEST_EFFORT {
        return WELL;
    }
    let limits = gates::of_run(run, slots);
    tell("", &limits);
    exit_code(&limits)
}

/// Says which gates do not hold, each line with `place` in front.
pub fn tell(place: &str, limits: &[Checked]) {
    for one in limits.iter().filter(|one| one.state != State::Holds) {
        let (state, cell) = (one.state.word(), &one.cell);
        output::say(&format!("ipcmatrix: {place}gate {state}: {} of `{cell}`: {}", one.limit, one.found));
    }
}

/// What gates make of an exit code: a broken one is told before those that nothing is known of.
pub fn exit_code(gates: &[Checked]) -> u8 {
    let any = |of: &dyn Fn(State) -> bool| gates.iter().any(|one| of(one.state));
    if any(&|state| state == State::Broken) {
        REGRESSED
    } else if any(&|state| state != State::Holds) {
        UNDECIDED
    } else {
        WELL
    }
}

/// Says that `--fail-on` was asked for where no cell could be compared; the exit code of that.
pub fn nothing_compared() -> u8 {
    output::say(
        "ipcmatrix: --fail-on: no cell could be compared, so nothing tells whether there is a difference",
    );
    UNDECIDED
}

/// Whether every measured cell reached the precision, and one was, as an exit code. Those below resolution did not.
pub fn strict(slots: &[Slot], precision: f64) -> u8 {
    let measured: Vec<&Slot> = slots.iter().filter(|slot| slot.word() == "measured").collect();
    if measured.is_empty() {
        output::say("ipcmatrix: --strict: no cell was measured, so none is precise");
        return UNSURE;
    }
    let reach = |slot: &&Slot| slot.figure().is_some_and(|figure| figure.reaches(precision));
    let unsure = measured.len() - measured.into_iter().filter(reach).count();
    if unsure == 0 {
        return WELL;
    }
    output::say(&format!(
        "ipcmatrix: {} did not reach ±{}%: use --budget, --precision or a filter",
        counted(unsure, "measured cell"),
        (precision * 1e6).round() / 1e4
    ));
    UNSURE
}
