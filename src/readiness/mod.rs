//! Readiness: what tells which of many descriptors can be read.
//!
//! A mechanism implements [`Readiness`] in a file of its own and gets a place in the list that [`DRIVERS`] is made of. It never
//! reads a clock, prints or forks.

mod bitmap;
mod epoll;
mod epoll_edge;
mod epoll_oneshot;
mod interest;
mod io_uring_poll;
mod list;
mod poll;
mod ppoll;
mod pselect;
mod select;
mod serve;
mod wait;
mod watched;

pub use epoll::Epoll;
pub use epoll_edge::EpollEdge;
pub use epoll_oneshot::EpollOneshot;
pub use io_uring_poll::IoUringPoll;
pub use poll::Poll;
pub use ppoll::Ppoll;
pub use pselect::Pselect;
pub use select::Select;
pub use serve::Serve;
pub use wait::{Printed, Wait};

use crate::catalog::{Driver, Family, Limit, alone};
use crate::cell::{Cell, Measure, Unavailable};
use crate::workload::Workload;
use std::io;
use std::os::fd::{BorrowedFd, RawFd};

/// How long to wait for the first descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Not at all: a look.
    None,
    /// That many milliseconds.
    Milliseconds(u16),
    /// Without end.
    Endless,
}

impl Patience {
    /// As poll(2) and epoll_wait(2) take it: -1 is without end.
    #[inline]
    pub fn milliseconds(self) -> i32 {
        match self {
            Patience::None => 0,
            Patience::Milliseconds(milliseconds) => i32::from(milliseconds),
            Patience::Endless => -1,
        }
    }
}

/// What has to be done so that a descriptor is told of again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rearm {
    /// Nothing: it is told of by every call for as long as it can be read.
    Never,
    /// It is told of once each time something comes; one that was not read empty must be armed again.
    WhileReady,
    /// It is told of once; it must be armed again after that, always.
    Always,
}

/// Tells which of the descriptors that it watches can be read.
///
/// A descriptor is its own token: whoever watches many keeps what belongs to each at that place of a table.
pub trait Readiness: Sized + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page or source.
    const SUMMARY: &'static str;
    /// When [`Readiness::rearm`] is needed.
    const REARM: Rearm = Rearm::Never;
    /// Why it does not take files that can always be read, such as /dev/zero, where it does not.
    const REFUSES_DEVICES: Option<&'static str> = None;
    /// Whether it may tell of a descriptor that was ready and was read empty before the call.
    const TELLS_OF_THE_PAST: bool = false;
    /// Whether what [`Readiness::rearm`] asks for is done by the next call, and so a part of it.
    const REARMS_IN_CALL: bool = false;
    /// How the program of Linux Application Development calls it, where it does.
    const PRINTED: Option<Printed> = None;

    /// Whether this machine has it; looked at before anything is opened.
    ///
    /// # Errors
    /// Why not, and what would help.
    fn present() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Watches nothing yet, and at most that many descriptors at once later. In the thread that will wait.
    ///
    /// # Errors
    /// The system call that failed.
    fn open(most_descriptors: usize) -> io::Result<Self>;

    /// Watches a descriptor for reading. It must stay open until it is unwatched, and may be watched once.
    ///
    /// # Errors
    /// The system call that failed, `EPERM` for a file that cannot be waited for.
    fn watch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()>;

    /// Watches it no more.
    ///
    /// # Errors
    /// The system call that failed, `NotFound` where it is not watched.
    fn unwatch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()>;

    /// Arms a watched descriptor again that was told of, as [`Readiness::REARM`] asks for.
    ///
    /// # Errors
    /// The system call that failed.
    #[inline]
    fn rearm(&mut self, _descriptor: BorrowedFd<'_>) -> io::Result<()> {
        Ok(())
    }

    /// One call: how many watched descriptors can be read. No allocation, and nothing beside the call and what
    /// it wants prepared.
    ///
    /// # Errors
    /// The system call's, `Interrupted` included.
    fn wait(&mut self, patience: Patience) -> io::Result<usize>;

    /// Whether the last call told of that descriptor.
    fn is_ready(&self, descriptor: RawFd) -> bool;

    /// Puts the descriptors that the last call told of in place of what is in `ready`.
    fn ready(&self, ready: &mut Vec<RawFd>);
}

/// What all drivers of `R` have in common.
const fn driver<R: Readiness>(
    measure: Measure,
    limits: fn(&Cell) -> Vec<Limit>,
    rough_op_ns: fn(&Cell) -> u64,
    open: fn(&[Cell]) -> io::Result<Box<dyn Workload>>,
) -> Driver {
    Driver {
        present: R::present,
        limits,
        rough_op_ns,
        ..Driver::plain(Family::Readiness, measure, R::NAME, R::SUMMARY, open)
    }
}

/// The driver that measures calls of `R`.
pub const fn wait<R: Readiness>() -> Driver {
    let open =
        |cells: &[Cell]| -> io::Result<Box<dyn Workload>> { Ok(Box::new(Wait::<R>::open(alone(cells)?)?)) };
    driver::<R>(Measure::Wait, wait::limits::<R>, wait::rough_op_ns, open)
}

/// The driver that measures a server which waits by `R`.
pub const fn serve<R: Readiness>() -> Driver {
    let open = |cells: &[Cell]| -> io::Result<Box<dyn Workload>> { Ok(Box::new(Serve::open(cells)?)) };
    driver::<R>(Measure::Serve, serve::limits, serve::rough_op_ns, open)
}

/// Makes the tables of the family of one list, so that no mechanism stands in one and not in the other.
macro_rules! tables {
    ($($mechanism:ty),+ $(,)?) => {
        /// How a server waits by each mechanism.
        const SERVERS: &[(&str, serve::MakeServer)] = &[$(serve::server::<$mechanism>()),+];

        /// Every measure of every mechanism.
        pub const DRIVERS: &[Driver] = &[$(wait::<$mechanism>(),)+ $(serve::<$mechanism>()),+];
    };
}

tables![Select, Pselect, Poll, Ppoll, Epoll, EpollEdge, EpollOneshot, IoUringPoll];

#[cfg(test)]
mod tests;
