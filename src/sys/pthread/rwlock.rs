//! A read-write lock. pthread_rwlock_rdlock(3p), pthread_rwlock_wrlock(3p), pthread_rwlockattr_setkind_np(3).
#![allow(unsafe_code)]

use crate::sys::check_code;
use std::cell::UnsafeCell;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Who goes first where readers hold the lock and a writer waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preference {
    /// Whatever the library does: readers, in the GNU C library.
    Default,
    /// The writer: readers that come later wait.
    Writer,
}

/// `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP` of the GNU C library's `pthread.h`, which the crate libc
/// lacks.
const PREFER_WRITER_NONRECURSIVE: libc::c_int = 2;

/// A name for a kind of read-write lock, so that each kind is a type of its own.
pub trait RwLockKind {
    /// Who goes first.
    const PREFERENCE: Preference;
}

/// A read-write lock with the attribute `PTHREAD_PROCESS_SHARED`, and the preference of its kind.
#[repr(transparent)]
pub struct RwLock<K>(UnsafeCell<libc::pthread_rwlock_t>, PhantomData<K>);

// SAFETY: the pthread functions are made to be called by several threads on one object.
unsafe impl<K> Sync for RwLock<K> {}
// SAFETY: it is not tied to a thread; it is never moved once built.
unsafe impl<K> Send for RwLock<K> {}

impl<K: RwLockKind> RwLock<K> {
    /// Builds the lock in place.
    ///
    /// # Errors
    /// pthread_rwlock_init(3p): `EAGAIN`, `ENOMEM`.
    pub fn init(at: &mut MaybeUninit<RwLock<K>>) -> io::Result<()> {
        let mut attributes = MaybeUninit::<libc::pthread_rwlockattr_t>::uninit();
        let a = attributes.as_mut_ptr();
        // SAFETY: the attributes are initialised before use and destroyed after; the place is valid
        // for a pthread_rwlock_t (`repr(transparent)`).
        unsafe {
            check_code(libc::pthread_rwlockattr_init(a))?;
            let preferred = match K::PREFERENCE {
                Preference::Default => 0,
                Preference::Writer => libc::pthread_rwlockattr_setkind_np(a, PREFER_WRITER_NONRECURSIVE),
            };
            let built = check_code(preferred)
                .and_then(|()| {
                    check_code(libc::pthread_rwlockattr_setpshared(a, libc::PTHREAD_PROCESS_SHARED))
                })
                .and_then(|()| check_code(libc::pthread_rwlock_init(at.as_mut_ptr().cast(), a)));
            libc::pthread_rwlockattr_destroy(a);
            built
        }
    }

    /// Waits until nobody writes, and reads.
    ///
    /// # Errors
    /// pthread_rwlock_rdlock(3p): `EAGAIN` when there are too many readers.
    #[inline]
    pub fn read(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid lock.
        check_code(unsafe { libc::pthread_rwlock_rdlock(self.0.get()) })
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

impl<K> Drop for RwLock<K> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: its owner goes away last.
        unsafe { libc::pthread_rwlock_destroy(self.0.get()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::clock::Deadline;
    use crate::sys::memory::SharedPair;
    use std::thread;

    enum WriterFirst {}
    impl RwLockKind for WriterFirst {
        const PREFERENCE: Preference = Preference::Writer;
    }

    fn try_read(lock: &RwLock<WriterFirst>) -> bool {
        // SAFETY: `init` made it a valid lock.
        unsafe { libc::pthread_rwlock_tryrdlock(lock.0.get()) == 0 }
    }

    #[test]
    fn readers_share_and_a_waiting_writer_that_is_preferred_keeps_later_ones_out() {
        let built = SharedPair::build(RwLock::init, ()).unwrap();
        let lock = built.first();
        lock.read().unwrap();
        assert!(try_read(lock), "two readers at once");
        lock.unlock().unwrap();
        let deadline = Deadline::after_ms(30_000);
        let mut kept_out = false;
        thread::scope(|scope| {
            scope.spawn(|| lock.write().and_then(|()| lock.unlock()).unwrap());
            while !kept_out && deadline.left_ms() > 0 {
                match try_read(lock) {
                    true => lock.unlock().unwrap(),
                    false => kept_out = true,
                }
                thread::yield_now();
            }
            lock.unlock().unwrap();
        });
        assert!(kept_out, "the writer waits behind one reader, yet another came in");
    }
}
