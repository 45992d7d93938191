//! A POSIX spin lock, shared between processes. pthread_spin_lock(3).

use super::Lock;
pub use crate::sys::pthread::SpinLock as PthreadSpin;
use std::io;
use std::mem::MaybeUninit;

impl Lock for PthreadSpin {
    const NAME: &'static str = "pthread_spin";
    const SUMMARY: &'static str = "a POSIX spin lock, process-shared, pthread_spin_lock(3)";

    fn init(at: &mut MaybeUninit<PthreadSpin>) -> io::Result<()> {
        PthreadSpin::init(at)
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.lock()?;
        critical();
        self.unlock()
    }
}
