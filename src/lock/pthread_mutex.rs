//! A default POSIX mutex, shared between processes. pthread_mutex_lock(3p).

use super::Lock;
use crate::sys::pthread::{Mutex, MutexAttribute, MutexKind};
use std::io;
use std::mem::MaybeUninit;

/// A kind of POSIX mutex that is taken and let go without more ado.
pub trait PlainMutex: MutexKind + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
}

impl<K: PlainMutex> Lock for Mutex<K> {
    const NAME: &'static str = K::NAME;
    const SUMMARY: &'static str = K::SUMMARY;

    fn init(at: &mut MaybeUninit<Mutex<K>>) -> io::Result<()> {
        Mutex::init(at)
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.lock()?;
        critical();
        self.unlock()
    }
}

/// The kind without attributes.
pub enum Default {}
/// pthread_mutex_lock(3p).
pub type PthreadMutex = Mutex<Default>;

impl MutexKind for Default {
    const ATTRIBUTE: MutexAttribute = MutexAttribute::None;
}

impl PlainMutex for Default {
    const NAME: &'static str = "pthread_mutex";
    const SUMMARY: &'static str = "a default POSIX mutex, process-shared, pthread_mutex_lock(3p)";
}
