//! POSIX semaphores. sem_overview(7).
#![allow(unsafe_code)]

use crate::sys::check;
use crate::sys::leftovers;
use std::cell::UnsafeCell;
use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// A semaphore in memory that the workers share.
pub struct InMemory(UnsafeCell<libc::sem_t>);

// SAFETY: the sem_* functions are made to be called by several threads on one object.
unsafe impl Sync for InMemory {}
// SAFETY: it is not tied to a thread; it is never moved once built.
unsafe impl Send for InMemory {}

impl InMemory {
    /// Builds the semaphore in place, shared between processes, with that value.
    ///
    /// # Errors
    /// sem_init(3): `EINVAL`, `ENOSYS`.
    pub fn init(at: &mut MaybeUninit<InMemory>, value: u32) -> io::Result<()> {
        // SAFETY: the place is valid for a sem_t (`UnsafeCell` and the tuple add nothing to it).
        check(unsafe { libc::sem_init(at.as_mut_ptr().cast(), 1, value) }).map(drop)
    }

    /// Waits until the value is above 0 and takes one. sem_wait(3).
    ///
    /// # Errors
    /// `EINTR`.
    #[inline]
    pub fn wait(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid semaphore.
        check(unsafe { libc::sem_wait(self.0.get()) }).map(drop)
    }

    /// Adds one. sem_post(3).
    ///
    /// # Errors
    /// `EOVERFLOW`.
    #[inline]
    pub fn post(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid semaphore.
        check(unsafe { libc::sem_post(self.0.get()) }).map(drop)
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        // SAFETY: nobody waits on it any more: its owner goes away last.
        unsafe { libc::sem_destroy(self.0.get()) };
    }
}

/// A named semaphore whose name is gone again; forked children inherit the mapping.
pub struct Named(NonNull<libc::sem_t>);

// SAFETY: as for `InMemory`; the pointer is into a mapping that lives until `sem_close`.
unsafe impl Sync for Named {}
// SAFETY: as above.
unsafe impl Send for Named {}

impl Named {
    /// Opens a new named semaphore with that value and unlinks its name.
    ///
    /// # Errors
    /// sem_open(3): `EACCES`, `ENOSPC`, `ENOENT` where `/dev/shm` is not mounted.
    pub fn create(value: u32) -> io::Result<Named> {
        let name = format!("/ipcmatrix.{}.{}", std::process::id(), leftovers::serial());
        leftovers::make_semaphore(&name, value)?;
        let c_name = CString::new(name.as_str())?;
        // SAFETY: the name is a valid C string; without O_CREAT there are no variadic arguments.
        let opened = unsafe { libc::sem_open(c_name.as_ptr(), 0) };
        // SEM_FAILED is a null pointer on Linux.
        let semaphore = NonNull::new(opened).ok_or_else(io::Error::last_os_error)?;
        unlink(&name);
        Ok(Named(semaphore))
    }

    /// Waits until the value is above 0 and takes one. sem_wait(3).
    ///
    /// # Errors
    /// `EINTR`.
    #[inline]
    pub fn wait(&self) -> io::Result<()> {
        // SAFETY: sem_open gave a valid semaphore, which is closed on drop only.
        check(unsafe { libc::sem_wait(self.0.as_ptr()) }).map(drop)
    }

    /// Adds one. sem_post(3).
    ///
    /// # Errors
    /// `EOVERFLOW`.
    #[inline]
    pub fn post(&self) -> io::Result<()> {
        // SAFETY: as in `wait`.
        check(unsafe { libc::sem_post(self.0.as_ptr()) }).map(drop)
    }
}

impl Drop for Named {
    fn drop(&mut self) {
        // SAFETY: it was opened by sem_open and is closed once.
        unsafe { libc::sem_close(self.0.as_ptr()) };
    }
}

/// Makes a named semaphore with that value, and keeps it only by its name.
///
/// # Errors
/// sem_open(3): `EEXIST`, `EACCES`, `ENOSPC`, `ENOENT` where `/dev/shm` is not mounted.
pub fn make(name: &str, value: u32) -> io::Result<()> {
    let name = CString::new(name)?;
    // SAFETY: the name is a valid C string; mode and value are the variadic arguments of O_CREAT.
    let opened =
        unsafe { libc::sem_open(name.as_ptr(), libc::O_CREAT | libc::O_EXCL, 0o600 as libc::c_uint, value) };
    let semaphore = NonNull::new(opened).ok_or_else(io::Error::last_os_error)?;
    // SAFETY: it was opened just now and is closed once.
    unsafe { libc::sem_close(semaphore.as_ptr()) };
    Ok(())
}

/// Removes the name, if there is one. sem_unlink(3).
pub fn unlink(name: &str) {
    if let Ok(name) = CString::new(name) {
        // SAFETY: the name is a valid C string.
        unsafe { libc::sem_unlink(name.as_ptr()) };
    }
}
