//! A POSIX semaphore in shared memory, used as a lock. sem_init(3).

use super::Lock;
pub use crate::sys::semaphore::InMemory as PosixSemaphore;
use std::io;
use std::mem::MaybeUninit;

impl Lock for PosixSemaphore {
    const NAME: &'static str = "posix_semaphore";
    const SUMMARY: &'static str = "a POSIX semaphore in shared memory, sem_init(3)";

    fn init(at: &mut MaybeUninit<PosixSemaphore>) -> io::Result<()> {
        PosixSemaphore::init(at, 1)
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.wait()?;
        critical();
        self.post()
    }
}
