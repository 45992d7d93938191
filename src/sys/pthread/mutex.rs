//! A mutex, with the attribute that a mechanism asks for. pthread_mutex_lock(3p), pthread_mutexattr_init(3).
#![allow(unsafe_code)]

use crate::sys::check_code;
use std::cell::UnsafeCell;
use std::io;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// What a mutex does besides letting one in at a time: the attribute that it has apart from being process-shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MutexAttribute {
    /// Nothing more.
    None,
    /// Looks at the lock for a short while before it sleeps: `PTHREAD_MUTEX_ADAPTIVE_NP` of the GNU C library.
    Adaptive,
    /// Tells the next one when its holder died: `PTHREAD_MUTEX_ROBUST`, pthread_mutexattr_setrobust(3).
    Robust,
    /// Lends the holder the priority of whoever waits: `PTHREAD_PRIO_INHERIT`, pthread_mutexattr_setprotocol(3p).
    PriorityInheriting,
}

impl MutexAttribute {
    /// Sets the attribute; returns the code of the pthread function.
    ///
    /// # Safety
    /// `a` points to initialised attributes.
    unsafe fn set(self, a: *mut libc::pthread_mutexattr_t) -> libc::c_int {
        // SAFETY: the caller gives initialised attributes.
        unsafe {
            match self {
                MutexAttribute::None => 0,
                MutexAttribute::Adaptive => {
                    libc::pthread_mutexattr_settype(a, libc::PTHREAD_MUTEX_ADAPTIVE_NP)
                }
                MutexAttribute::Robust => libc::pthread_mutexattr_setrobust(a, libc::PTHREAD_MUTEX_ROBUST),
                MutexAttribute::PriorityInheriting => {
                    libc::pthread_mutexattr_setprotocol(a, libc::PTHREAD_PRIO_INHERIT)
                }
            }
        }
    }
}

/// A name for a kind of mutex, so that each kind is a type of its own.
pub trait MutexKind {
    /// What it has.
    const ATTRIBUTE: MutexAttribute;
}

/// A mutex with the attribute `PTHREAD_PROCESS_SHARED`, and that of its kind.
#[repr(transparent)]
pub struct Mutex<K>(UnsafeCell<libc::pthread_mutex_t>, PhantomData<K>);

// SAFETY: the pthread functions are made to be called by several threads on one object.
unsafe impl<K> Sync for Mutex<K> {}
// SAFETY: it is not tied to a thread; it is never moved once built.
unsafe impl<K> Send for Mutex<K> {}

impl<K: MutexKind> Mutex<K> {
    /// Builds the mutex in place.
    ///
    /// # Errors
    /// pthread_mutex_init(3p): `EAGAIN`, `ENOMEM`; `ENOTSUP` where the kernel does not know the kind.
    pub fn init(at: &mut MaybeUninit<Mutex<K>>) -> io::Result<()> {
        // SAFETY: `repr(transparent)`: the place of a `Mutex` is the place of a pthread_mutex_t.
        build(unsafe { &mut *at.as_mut_ptr().cast() }, K::ATTRIBUTE)
    }

    /// Waits for the mutex.
    ///
    /// # Errors
    /// pthread_mutex_lock(3p). `EOWNERDEAD` of a robust mutex: the caller holds it and its last holder
    /// died; [`Mutex::make_consistent`] must follow before it is let go.
    #[inline]
    pub fn lock(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid mutex.
        check_code(unsafe { libc::pthread_mutex_lock(self.0.get()) })
    }

    /// Lets the next one in.
    ///
    /// # Errors
    /// pthread_mutex_unlock(3p): `EPERM` when another holds it and the mutex checks that.
    #[inline]
    pub fn unlock(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid mutex.
        check_code(unsafe { libc::pthread_mutex_unlock(self.0.get()) })
    }

    /// Says that what the mutex guards is in order again after its holder died. pthread_mutex_consistent(3).
    ///
    /// # Errors
    /// `EINVAL` when the mutex is not robust, or no holder died.
    pub fn make_consistent(&self) -> io::Result<()> {
        // SAFETY: `init` made it a valid mutex.
        check_code(unsafe { libc::pthread_mutex_consistent(self.0.get()) })
    }
}

impl<K> Drop for Mutex<K> {
    fn drop(&mut self) {
        // SAFETY: nobody uses it any more: its owner goes away last.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

/// Builds a mutex in place.
fn build(at: &mut MaybeUninit<libc::pthread_mutex_t>, attribute: MutexAttribute) -> io::Result<()> {
    let mut attributes = MaybeUninit::<libc::pthread_mutexattr_t>::uninit();
    let a = attributes.as_mut_ptr();
    // SAFETY: the attributes are initialised before use and destroyed after; the place is valid.
    unsafe {
        check_code(libc::pthread_mutexattr_init(a))?;
        let built = check_code(libc::pthread_mutexattr_setpshared(a, libc::PTHREAD_PROCESS_SHARED))
            .and_then(|()| check_code(attribute.set(a)))
            .and_then(|()| check_code(libc::pthread_mutex_init(at.as_mut_ptr(), a)));
        libc::pthread_mutexattr_destroy(a);
        built
    }
}

#[cfg(all(test, target_env = "gnu", target_pointer_width = "64"))]
mod tests {
    use super::*;

    /// The word in which the GNU C library keeps what a mutex is (`__data.__kind`).
    fn kind_word(attribute: MutexAttribute) -> i32 {
        const KIND_AT_BYTE: usize = 16;
        let mut place = MaybeUninit::uninit();
        build(&mut place, attribute).unwrap();
        // SAFETY: the word lies inside the mutex of 40 bytes, which was built above, and is aligned.
        unsafe { place.as_ptr().cast::<u8>().add(KIND_AT_BYTE).cast::<i32>().read() }
    }

    #[test]
    fn each_attribute_reaches_the_mutex() {
        const SHARED: i32 = 0x80;
        let words = [
            MutexAttribute::None,
            MutexAttribute::Adaptive,
            MutexAttribute::Robust,
            MutexAttribute::PriorityInheriting,
        ]
        .map(kind_word);
        assert_eq!(words, [SHARED, SHARED | libc::PTHREAD_MUTEX_ADAPTIVE_NP, SHARED | 0x10, SHARED | 0x20]);
    }
}
