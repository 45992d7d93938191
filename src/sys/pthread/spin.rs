//! A spin lock: who waits looks at it again and again. pthread_spin_lock(3).
#![allow(unsafe_code)]

use crate::sys::check_code;
use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;

/// A spin lock made with `PTHREAD_PROCESS_SHARED`.
pub struct SpinLock(UnsafeCell<libc::pthread_spinlock_t>);

// SAFETY: the pthread functions are made to be called by several threads on one object.
unsafe impl Sync for SpinLock {}

impl SpinLock {
    /// Builds the lock in place.
    ///
    /// # Errors
    /// pthread_spin_init(3): `EAGAIN`, `ENOMEM`.
    pub fn init(at: &mut MaybeUninit<SpinLock>) -> io::Result<()> {
        // SAFETY: the place is valid for a pthread_spinlock_t (`UnsafeCell` and the tuple add nothing to it).
        check_code(unsafe { libc::pthread_spin_init(at.as_mut_ptr().cast(), libc::PTHREAD_PROCESS_SHARED) })
    }

    /// Looks at the lock until it is free, and takes it.
    ///
    /// # Errors
    /// pthread_spin_lock(3): `EDEADLOCK` where the library notices.
    #[inline]
    pub fn lock(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid spin lock.
        check_code(unsafe { libc::pthread_spin_lock(self.0.get()) })
    }

    /// Lets the next one in.
    ///
    /// # Errors
    /// pthread_spin_unlock(3): none on Linux.
    #[inline]
    pub fn unlock(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid spin lock.
        check_code(unsafe { libc::pthread_spin_unlock(self.0.get()) })
    }
}

impl Drop for SpinLock {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: its owner goes away last.
        unsafe { libc::pthread_spin_destroy(self.0.get()) };
    }
}
