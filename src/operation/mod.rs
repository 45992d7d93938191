//! Operations: what is done once and is over, such as a system call, an access to a variable or an error that is handled.
//!
//! A mechanism implements [`Operation`] and gets a line in [`DRIVERS`]; those of a few lines share a file with their
//! kin. Each is measured in a process that never had a second thread, beside one that is parked, and beside one that works.

mod access;
mod calls;
mod companion;
mod frames;
mod repeat;
mod rounds;
mod unwinding;
mod variables;

pub use repeat::Repeat;

use crate::catalog::{Driver, Family, alone};
use crate::cell::{Axis, Cell, Measure, Unavailable};
use std::io;

/// Something that is done once and is over.
pub trait Operation: Sized + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page or source.
    const SUMMARY: &'static str;
    /// What a reader of a table with it must know, or nothing.
    const NOTE: &'static str = "";
    /// Axes that only some operations have, with the value that a matrix gets when it names none.
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[];
    /// What it costs about, in nanoseconds, for each call that is left.
    const ROUGH_NS: u64 = 200;

    /// Whether this machine has it; looked at before anything is opened.
    ///
    /// # Errors
    /// Why not, and what would help.
    fn present() -> Result<(), Unavailable> {
        Ok(())
    }

    /// In the thread that will repeat it, before any clock. `depth` is 0 where it has no such axis.
    ///
    /// # Errors
    /// The call that failed.
    fn enter(depth: u64) -> io::Result<Self>;

    /// Does it once and checks what came of it, as far as that costs next to nothing. No allocation of ours.
    ///
    /// # Errors
    /// `InvalidData` with what was expected and what was found.
    fn once(&mut self) -> io::Result<()>;

    /// Outside any clock, after it was done `ops` times since the last check: checks what [`Operation::once`] had no
    /// time for.
    ///
    /// # Errors
    /// As [`Operation::once`].
    fn check(&mut self, _ops: u64) -> io::Result<()> {
        Ok(())
    }
}

/// The driver that measures `O`.
pub const fn operation<O: Operation>() -> Driver {
    Driver {
        note: O::NOTE,
        extra_axes: O::EXTRA_AXES,
        present: O::present,
        limits: repeat::limits,
        rough_op_ns: rough_op_ns::<O>,
        ..Driver::plain(Family::Operation, Measure::Operation, O::NAME, O::SUMMARY, |cells| {
            Ok(Box::new(Repeat::<O>::open(alone(cells)?)?))
        })
    }
}

/// What an operation of each worker costs about, in nanoseconds.
fn rough_op_ns<O: Operation>(cell: &Cell) -> u64 {
    let calls = 10 + cell.count(Axis::Depth);
    O::ROUGH_NS * if cell.get(Axis::Depth).is_some() { calls } else { 1 } * cell.count(Axis::Workers).max(1)
}

/// Every operation.
pub const DRIVERS: &[Driver] = &[
    operation::<variables::Access<variables::Empty>>(),
    operation::<calls::Getppid>(),
    operation::<calls::FailingClose>(),
    operation::<calls::FailingCloseRaw>(),
    operation::<calls::ClockGettime>(),
    operation::<variables::Access<variables::StaticAccess>>(),
    operation::<variables::Access<variables::ThreadLocalConst>>(),
    operation::<variables::Access<variables::ThreadLocalLazy>>(),
    operation::<variables::Access<variables::TlsLocalExec>>(),
    operation::<variables::Access<variables::TlsDlopen>>(),
    operation::<variables::Access<variables::PthreadGetspecific>>(),
    operation::<unwinding::ResultError>(),
    operation::<unwinding::PanicCatch>(),
    operation::<unwinding::ResumeUnwind>(),
];

#[cfg(test)]
mod tests;
