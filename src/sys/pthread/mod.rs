//! POSIX thread locks, shared between processes. pthreads(7).

mod mutex;
mod rwlock;
mod spin;

pub use mutex::{Mutex, MutexAttribute, MutexKind};
pub use rwlock::{Preference, RwLock, RwLockKind};
pub use spin::SpinLock;
