//! A POSIX mutex that looks at the lock for a while before it sleeps. `PTHREAD_MUTEX_ADAPTIVE_NP`.

use super::pthread_mutex::PlainMutex;
use crate::sys::pthread::{Mutex, MutexAttribute, MutexKind};

/// The kind that spins first.
pub enum Adaptive {}
/// pthread_mutexattr_settype(3p) with `PTHREAD_MUTEX_ADAPTIVE_NP`.
pub type PthreadMutexAdaptive = Mutex<Adaptive>;

impl MutexKind for Adaptive {
    const ATTRIBUTE: MutexAttribute = MutexAttribute::Adaptive;
}

impl PlainMutex for Adaptive {
    const NAME: &'static str = "pthread_mutex_adaptive";
    const SUMMARY: &'static str = "a POSIX mutex that spins before it sleeps, process-shared, PTHREAD_MUTEX_ADAPTIVE_NP of the GNU C library";
}
