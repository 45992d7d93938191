//! The read-write lock taken for writing of the standard library, for threads of one process. std::sync::RwLock.

use super::Lock;
use crate::catalog::Reach;
use std::io;
use std::mem::MaybeUninit;
use std::sync::{PoisonError, RwLock};

/// std::sync::RwLock.
pub struct StdRwlock(RwLock<()>);

impl Lock for StdRwlock {
    const NAME: &'static str = "std_rwlock";
    const SUMMARY: &'static str = "std::sync::RwLock";
    const REACH: Reach = Reach::Threads;

    fn init(at: &mut MaybeUninit<StdRwlock>) -> io::Result<()> {
        at.write(StdRwlock(RwLock::new(())));
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        let held = self.0.write().unwrap_or_else(PoisonError::into_inner);
        critical();
        drop(held);
        Ok(())
    }
}
