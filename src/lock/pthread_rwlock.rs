//! A default POSIX read-write lock, shared between processes, taken for writing. pthread_rwlock_wrlock(3p).

use super::Lock;
use crate::sys::pthread::{Preference, RwLock, RwLockKind};
use std::io;
use std::mem::MaybeUninit;

/// A kind of POSIX read-write lock that is taken for writing.
pub trait WriteLock: RwLockKind + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
}

impl<K: WriteLock> Lock for RwLock<K> {
    const NAME: &'static str = K::NAME;
    const SUMMARY: &'static str = K::SUMMARY;

    fn init(at: &mut MaybeUninit<RwLock<K>>) -> io::Result<()> {
        RwLock::init(at)
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.write()?;
        critical();
        self.unlock()
    }
}

/// The kind without attributes, for writers.
pub enum Default {}
/// pthread_rwlock_wrlock(3p).
pub type PthreadRwlock = RwLock<Default>;

impl RwLockKind for Default {
    const PREFERENCE: Preference = Preference::Default;
}

impl WriteLock for Default {
    const NAME: &'static str = "pthread_rwlock";
    const SUMMARY: &'static str =
        "a default POSIX read-write lock taken for writing, process-shared, pthread_rwlock_wrlock(3p)";
}
