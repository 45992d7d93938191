//! No lock at all: what is lost is the result.

use super::{Counting, Lock};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{Ordering, compiler_fence};

/// Nothing.
pub struct NoLock;

impl Lock for NoLock {
    const NAME: &'static str = "no_lock";
    const SUMMARY: &'static str =
        "no lock: a load, an addition and a store; updates get lost, and how many is recorded";
    const NOTE: &'static str = "no_lock takes no lock and loses updates: its time is not that of work done (report --metric lost_share).";
    const COUNTING: Counting = Counting::Unguarded;

    fn init(at: &mut MaybeUninit<NoLock>) -> io::Result<()> {
        at.write(NoLock);
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        critical();
        // Costs nothing; without it a compiler would be free to add many increments up before it stores them.
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }
}
