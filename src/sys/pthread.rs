//! POSIX thread locks, shared between processes. pthread_mutex_lock(3p), pthread_rwlock_wrlock(3p).
#![allow(unsafe_code)]

use crate::sys::check_code;
use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;

/// A default mutex with the attribute `PTHREAD_PROCESS_SHARED`.
pub struct Mutex(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: the pthread functions are made to be called by several threads on one object.
unsafe impl Sync for Mutex {}
// SAFETY: it is not tied to a thread; it is never moved once built.
unsafe impl Send for Mutex {}

impl Mutex {
    /// Builds the mutex in place.
    ///
    /// # Errors
    /// pthread_mutex_init(3p): `EAGAIN`, `ENOMEM`.
    pub fn init(at: &mut MaybeUninit<Mutex>) -> io::Result<()> {
        let mut attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
        let a = attributes.as_mut_ptr();
        // SAFETY: the attributes are initialised before use and destroyed after; the place is valid
        // for a pthread_mutex_t (`UnsafeCell` and the tuple add nothing to it).
        unsafe {
            check_code(libc::pthread_mutexattr_init(a))?;
            let built = check_code(libc::pthread_mutexattr_setpshared(a, libc::PTHREAD_PROCESS_SHARED))
                .and_then(|()| check_code(libc::pthread_mutex_init(at.as_mut_ptr().cast(), a)));
            libc::pthread_mutexattr_destroy(a);
            built
        }
    }

    /// Waits for the mutex.
    ///
    /// # Errors
    /// pthread_mutex_lock(3p).
    #[inline]
    pub fn lock(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid mutex.
        check_code(unsafe { libc::pthread_mutex_lock(self.0.get()) })
    }

    /// Lets the next one in.
    ///
    /// # Errors
    /// pthread_mutex_unlock(3p).
    #[inline]
    pub fn unlock(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid mutex.
        check_code(unsafe { libc::pthread_mutex_unlock(self.0.get()) })
    }
}

impl Drop for Mutex {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: its owner goes away last.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

/// A default read-write lock with the attribute `PTHREAD_PROCESS_SHARED`.
pub struct RwLock(UnsafeCell<libc::pthread_rwlock_t>);

// SAFETY: as for `Mutex`.
unsafe impl Sync for RwLock {}
// SAFETY: as for `Mutex`.
unsafe impl Send for RwLock {}

impl RwLock {
    /// Builds the lock in place.
    ///
    /// # Errors
    /// pthread_rwlock_init(3p): `EAGAIN`, `ENOMEM`.
    pub fn init(at: &mut MaybeUninit<RwLock>) -> io::Result<()> {
        let mut attributes = MaybeUninit::<libc::pthread_rwlockattr_t>::uninit();
        let a = attributes.as_mut_ptr();
        // SAFETY: as in `Mutex::init`, with a pthread_rwlock_t.
        unsafe {
            check_code(libc::pthread_rwlockattr_init(a))?;
            let built = check_code(libc::pthread_rwlockattr_setpshared(a, libc::PTHREAD_PROCESS_SHARED))
                .and_then(|()| check_code(libc::pthread_rwlock_init(at.as_mut_ptr().cast(), a)));
            libc::pthread_rwlockattr_destroy(a);
            built
        }
    }

    /// Waits until nobody reads or writes, and writes.
    ///
    /// # Errors
    /// pthread_rwlock_wrlock(3p).
    #[inline]
    pub fn write(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid lock.
        check_code(unsafe { libc::pthread_rwlock_wrlock(self.0.get()) })
    }

    /// Lets others in.
    ///
    /// # Errors
    /// pthread_rwlock_unlock(3p).
    #[inline]
    pub fn unlock(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid lock.
        check_code(unsafe { libc::pthread_rwlock_unlock(self.0.get()) })
    }
}

impl Drop for RwLock {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: its owner goes away last.
        unsafe { libc::pthread_rwlock_destroy(self.0.get()) };
    }
}
