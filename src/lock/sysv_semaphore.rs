//! A System V semaphore, used as a lock, without and with undo at exit. semop(2).

use super::Lock;
use crate::sys::sysv::Semaphore;
use nix::libc;
use std::io;
use std::mem::MaybeUninit;

/// semop(2); `UNDO` adds `SEM_UNDO` to both operations.
pub struct SysvLock<const UNDO: bool>(Semaphore);

/// Without undo.
pub type SysvSemaphore = SysvLock<false>;
/// With undo at exit.
pub type SysvSemaphoreUndo = SysvLock<true>;

impl<const UNDO: bool> Lock for SysvLock<UNDO> {
    const NAME: &'static str = if UNDO { "sysv_semaphore_undo" } else { "sysv_semaphore" };
    const SUMMARY: &'static str =
        if UNDO { "a System V semaphore with SEM_UNDO, semop(2)" } else { "a System V semaphore, semop(2)" };
    const PRIVATE_IPC: bool = true;
    const QUEUES_IN_KERNEL: bool = true;

    fn init(at: &mut MaybeUninit<Self>) -> io::Result<()> {
        at.write(SysvLock(Semaphore::create(1)?));
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        let flags = if UNDO { libc::SEM_UNDO } else { 0 };
        self.0.add(-1, flags)?;
        critical();
        self.0.add(1, flags)
    }
}
