//! A POSIX mutex that lends its holder the priority of whoever waits. `PTHREAD_PRIO_INHERIT`.

use super::pthread_mutex::PlainMutex;
use crate::sys::pthread::{Mutex, MutexAttribute, MutexKind};

/// The kind with priority inheritance.
pub enum PriorityInheriting {}
/// pthread_mutexattr_setprotocol(3p) with `PTHREAD_PRIO_INHERIT`.
pub type PthreadMutexPi = Mutex<PriorityInheriting>;

impl MutexKind for PriorityInheriting {
    const ATTRIBUTE: MutexAttribute = MutexAttribute::PriorityInheriting;
}

impl PlainMutex for PriorityInheriting {
    const NAME: &'static str = "pthread_mutex_pi";
    const SUMMARY: &'static str =
        "a POSIX mutex with priority inheritance, process-shared, pthread_mutexattr_setprotocol(3p)";
}
