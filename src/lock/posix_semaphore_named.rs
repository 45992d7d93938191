//! A named POSIX semaphore, used as a lock. Its name is gone before any worker starts. sem_open(3).

use super::Lock;
pub use crate::sys::semaphore::Named as PosixSemaphoreNamed;
use std::io;
use std::mem::MaybeUninit;

impl Lock for PosixSemaphoreNamed {
    const NAME: &'static str = "posix_semaphore_named";
    const SUMMARY: &'static str = "a named POSIX semaphore, sem_open(3)";

    fn init(at: &mut MaybeUninit<PosixSemaphoreNamed>) -> io::Result<()> {
        at.write(PosixSemaphoreNamed::create(1)?);
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.wait()?;
        critical();
        self.post()
    }
}
