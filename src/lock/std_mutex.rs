//! The mutex of the standard library, for threads of one process. std::sync::Mutex.

use super::Lock;
use crate::catalog::Reach;
use std::io;
use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

/// std::sync::Mutex.
pub struct StdMutex(Mutex<()>);

impl Lock for StdMutex {
    const NAME: &'static str = "std_mutex";
    const SUMMARY: &'static str = "std::sync::Mutex";
    const REACH: Reach = Reach::Threads;

    fn init(at: &mut MaybeUninit<StdMutex>) -> io::Result<()> {
        at.write(StdMutex(Mutex::new(())));
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        critical();
        drop(held);
        Ok(())
    }
}
