//! A default POSIX mutex, shared between processes. pthread_mutex_lock(3p).

use super::Lock;
pub use crate::sys::pthread::Mutex as PthreadMutex;
use std::io;
use std::mem::MaybeUninit;

impl Lock for PthreadMutex {
    const NAME: &'static str = "pthread_mutex";
    const SUMMARY: &'static str = "a default POSIX mutex, process-shared, pthread_mutex_lock(3p)";

    fn init(at: &mut MaybeUninit<PthreadMutex>) -> io::Result<()> {
        PthreadMutex::init(at)
    }

    #[inline]
    fn exclusive(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.lock()?;
        critical();
        self.unlock()
    }
}
