//! A default POSIX read-write lock, shared between processes, which everybody takes for reading.
//! pthread_rwlock_rdlock(3p).

use super::{Counting, Lock};
use crate::sys::pthread::{Preference, RwLock, RwLockKind};
use std::io;
use std::mem::MaybeUninit;

/// The kind without attributes, for readers.
pub enum Readers {}
/// pthread_rwlock_rdlock(3p).
pub type PthreadRwlockRead = RwLock<Readers>;

impl RwLockKind for Readers {
    const PREFERENCE: Preference = Preference::Default;
}

impl Lock for PthreadRwlockRead {
    const NAME: &'static str = "pthread_rwlock_read";
    const SUMMARY: &'static str = "a default POSIX read-write lock taken by readers only, who all hold it at once: \
                                   each counts for itself, pthread_rwlock_rdlock(3p)";
    const NOTE: &'static str = "pthread_rwlock_read: all workers read at once, and each adds the number that it reads to a counter of its own.";
    const COUNTING: Counting = Counting::Apart;

    fn init(at: &mut MaybeUninit<PthreadRwlockRead>) -> io::Result<()> {
        RwLock::init(at)
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.read()?;
        critical();
        self.unlock()
    }
}
