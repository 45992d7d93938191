//! A POSIX read-write lock that lets a waiting writer go before readers, taken for writing.
//! pthread_rwlockattr_setkind_np(3).

use super::pthread_rwlock::WriteLock;
use crate::sys::pthread::{Preference, RwLock, RwLockKind};

/// The kind in which writers go first.
pub enum PreferWriter {}
/// pthread_rwlockattr_setkind_np(3) with `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP`.
pub type PthreadRwlockPreferWriter = RwLock<PreferWriter>;

impl RwLockKind for PreferWriter {
    const PREFERENCE: Preference = Preference::Writer;
}

impl WriteLock for PreferWriter {
    const NAME: &'static str = "pthread_rwlock_prefer_writer";
    const SUMMARY: &'static str =
        "a POSIX read-write lock that prefers writers, taken for writing, pthread_rwlockattr_setkind_np(3)";
}
