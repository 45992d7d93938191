//! A default POSIX read-write lock, shared between processes, taken for writing. pthread_rwlock_wrlock(3p).

use super::Lock;
pub use crate::sys::pthread::RwLock as PthreadRwlock;
use std::io;
use std::mem::MaybeUninit;

impl Lock for PthreadRwlock {
    const NAME: &'static str = "pthread_rwlock";
    const SUMMARY: &'static str =
        "a default POSIX read-write lock taken for writing, process-shared, pthread_rwlock_wrlock(3p)";

    fn init(at: &mut MaybeUninit<PthreadRwlock>) -> io::Result<()> {
        PthreadRwlock::init(at)
    }

    #[inline]
    fn exclusive(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.write()?;
        critical();
        self.unlock()
    }
}
