//! A POSIX mutex that outlives a holder who died. pthread_mutexattr_setrobust(3).

use super::Lock;
use crate::sys::pthread::{Mutex, MutexAttribute, MutexKind};
use nix::libc;
use std::io;
use std::mem::MaybeUninit;

/// The kind that tells of a dead holder.
pub enum Robust {}
/// pthread_mutexattr_setrobust(3) with `PTHREAD_MUTEX_ROBUST`.
pub type PthreadMutexRobust = Mutex<Robust>;

impl MutexKind for Robust {
    const ATTRIBUTE: MutexAttribute = MutexAttribute::Robust;
}

impl Lock for PthreadMutexRobust {
    const NAME: &'static str = "pthread_mutex_robust";
    const SUMMARY: &'static str =
        "a POSIX mutex that survives the death of its holder, process-shared, pthread_mutexattr_setrobust(3)";

    fn init(at: &mut MaybeUninit<PthreadMutexRobust>) -> io::Result<()> {
        Mutex::init(at)
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        if let Err(error) = self.lock() {
            self.inherit(error)?;
        }
        critical();
        self.unlock()
    }
}

impl PthreadMutexRobust {
    /// Takes the mutex over from a holder who died. What it guards is one word, which is in order at any time.
    #[cold]
    fn inherit(&self, error: io::Error) -> io::Result<()> {
        if error.raw_os_error() == Some(libc::EOWNERDEAD) { self.make_consistent() } else { Err(error) }
    }
}
