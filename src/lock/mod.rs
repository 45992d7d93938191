//! Locks: what lets one worker in at a time.
//!
//! A mechanism implements [`Lock`] in a file of its own and gets a line in [`DRIVERS`]. Locks live in
//! one mapping that all workers share, built in place before any of them starts.

mod fcntl_lock;
mod increment;
mod parking_lot_mutex;
mod parking_lot_rwlock;
mod posix_semaphore;
mod posix_semaphore_named;
mod pthread_mutex;
mod pthread_rwlock;
mod std_mutex;
mod std_rwlock;
mod sysv_semaphore;

pub use increment::Increment;

use crate::catalog::{Driver, Family, Reach};
use crate::cell::Measure;
use std::io;
use std::mem::MaybeUninit;

/// A lock that is held by one worker at a time.
pub trait Lock: Send + Sync + Sized + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page or source.
    const SUMMARY: &'static str;
    /// Whom it can serve.
    const REACH: Reach = Reach::Both;
    /// Whether its objects live in an IPC namespace.
    const PRIVATE_IPC: bool = false;

    /// Builds the lock in place, in the coordinator, before any worker starts.
    ///
    /// # Errors
    /// The system call that failed.
    fn init(at: &mut MaybeUninit<Self>) -> io::Result<()>;

    /// Runs `critical` while holding the lock alone.
    ///
    /// # Errors
    /// The system call that failed.
    fn exclusive(&self, critical: impl FnOnce()) -> io::Result<()>;
}

/// The driver that measures increments under `L`.
pub const fn increment<L: Lock>() -> Driver {
    Driver {
        family: Family::Lock,
        measure: Measure::Increment,
        mechanism: L::NAME,
        summary: L::SUMMARY,
        reach: L::REACH,
        extra_axes: &[],
        private_ipc: L::PRIVATE_IPC,
        present: || Ok(()),
        limits: |_| Vec::new(),
        open: |cell| Ok(Box::new(Increment::<L>::open(cell)?)),
    }
}

/// Every measure of every lock.
pub const DRIVERS: &[Driver] = &[
    increment::<pthread_mutex::PthreadMutex>(),
    increment::<pthread_rwlock::PthreadRwlock>(),
    increment::<posix_semaphore::PosixSemaphore>(),
    increment::<posix_semaphore_named::PosixSemaphoreNamed>(),
    increment::<sysv_semaphore::SysvSemaphore>(),
    increment::<sysv_semaphore::SysvSemaphoreUndo>(),
    increment::<fcntl_lock::FcntlLock>(),
    increment::<parking_lot_mutex::ParkingLotMutex>(),
    increment::<parking_lot_rwlock::ParkingLotRwlock>(),
    increment::<std_mutex::StdMutex>(),
    increment::<std_rwlock::StdRwlock>(),
];
