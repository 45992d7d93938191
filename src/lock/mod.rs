//! Locks: what lets one worker in at a time, and, to compare with, what does not.
//!
//! A mechanism implements [`Lock`] in a file of its own and gets a line in [`DRIVERS`]. Locks live in
//! one mapping that all workers share, built in place before any of them starts.

mod anonymous_file;
mod atomic_add;
mod counting;
mod fcntl_lock;
mod flock;
mod futex_mutex;
mod increment;
mod no_lock;
mod ofd_lock;
mod parking_lot_fair_mutex;
mod parking_lot_mutex;
mod parking_lot_rwlock;
mod posix_semaphore;
mod posix_semaphore_named;
mod pthread_mutex;
mod pthread_mutex_adaptive;
mod pthread_mutex_pi;
mod pthread_mutex_robust;
mod pthread_rwlock;
mod pthread_rwlock_prefer_writer;
mod pthread_rwlock_read;
mod pthread_spin;
mod std_mutex;
mod std_rwlock;
mod sysv_semaphore;

pub use counting::Counting;
pub use increment::Increment;
pub use pthread_mutex_robust::PthreadMutexRobust;

use crate::catalog::{Driver, Family, Reach, alone};
use crate::cell::{Axis, Cell, Measure};
use std::io;
use std::mem::MaybeUninit;

/// A lock that is held by one worker at a time, unless [`Lock::COUNTING`] says otherwise.
pub trait Lock: Send + Sync + Sized + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page or source.
    const SUMMARY: &'static str;
    /// What a reader of a table with it must know, or nothing.
    const NOTE: &'static str = "";
    /// Whom it can serve.
    const REACH: Reach = Reach::Both;
    /// Whether its objects live in an IPC namespace.
    const PRIVATE_IPC: bool = false;
    /// What an increment is under it, and so what proves that it held.
    const COUNTING: Counting = Counting::Alone;

    /// Whether a worker that waits does so in a queue of the kernel each time, which costs tens of microseconds
    /// across CPUs.
    const QUEUES_IN_KERNEL: bool = false;

    /// Builds the lock in place, in the coordinator, before any worker starts.
    ///
    /// # Errors
    /// The system call that failed.
    fn init(at: &mut MaybeUninit<Self>) -> io::Result<()>;

    /// In each worker, before any clock: a handle of its own, where workers that shared one would not exclude
    /// each other, because the lock belongs to the handle.
    ///
    /// # Errors
    /// The system call that failed.
    fn own_handle(&self) -> io::Result<Option<Self>> {
        Ok(None)
    }

    /// Runs `critical` once while holding the lock.
    ///
    /// # Errors
    /// The system call that failed.
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()>;
}

/// The driver that measures increments under `L`.
pub const fn increment<L: Lock>() -> Driver {
    Driver {
        note: L::NOTE,
        reach: L::REACH,
        private_ipc: L::PRIVATE_IPC,
        rough_op_ns: rough_op_ns::<L>,
        ..Driver::plain(Family::Lock, Measure::Increment, L::NAME, L::SUMMARY, |cells| {
            Ok(Box::new(Increment::<L>::open(alone(cells)?)?))
        })
    }
}

/// What an increment of each worker costs about, in nanoseconds.
fn rough_op_ns<L: Lock>(cell: &Cell) -> u64 {
    let workers = cell.count(Axis::Workers);
    let across = cell.word(Axis::Placement) != "same_cpu" && workers > 1;
    match (L::QUEUES_IN_KERNEL, across) {
        (true, true) => 50_000 * workers,
        (true, false) => 1_000 * workers,
        (false, _) => 200 * workers,
    }
}

/// Every measure of every lock.
pub const DRIVERS: &[Driver] = &[
    increment::<pthread_mutex::PthreadMutex>(),
    increment::<pthread_mutex_adaptive::PthreadMutexAdaptive>(),
    increment::<pthread_mutex_robust::PthreadMutexRobust>(),
    increment::<pthread_mutex_pi::PthreadMutexPi>(),
    increment::<pthread_spin::PthreadSpin>(),
    increment::<pthread_rwlock::PthreadRwlock>(),
    increment::<pthread_rwlock_prefer_writer::PthreadRwlockPreferWriter>(),
    increment::<pthread_rwlock_read::PthreadRwlockRead>(),
    increment::<posix_semaphore::PosixSemaphore>(),
    increment::<posix_semaphore_named::PosixSemaphoreNamed>(),
    increment::<sysv_semaphore::SysvSemaphore>(),
    increment::<sysv_semaphore::SysvSemaphoreUndo>(),
    increment::<fcntl_lock::FcntlLock>(),
    increment::<ofd_lock::OfdLock>(),
    increment::<flock::Flock>(),
    increment::<futex_mutex::FutexMutex>(),
    increment::<atomic_add::AtomicAdd>(),
    increment::<no_lock::NoLock>(),
    increment::<parking_lot_mutex::ParkingLotMutex>(),
    increment::<parking_lot_fair_mutex::ParkingLotFairMutex>(),
    increment::<parking_lot_rwlock::ParkingLotRwlock>(),
    increment::<std_mutex::StdMutex>(),
    increment::<std_rwlock::StdRwlock>(),
];

#[cfg(test)]
mod tests;
