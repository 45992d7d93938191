//! No lock, but an addition that no other can come between: the floor of an increment.

use super::{Counting, Lock};
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{Ordering, compiler_fence};

/// `AtomicU64::fetch_add`.
pub struct AtomicAdd;

impl Lock for AtomicAdd {
    const NAME: &'static str = "atomic_add";
    const SUMMARY: &'static str =
        "one atomic addition in place of lock, add, unlock: the floor, AtomicU64::fetch_add";
    const NOTE: &'static str = "atomic_add is the floor: one atomic addition in place of lock, add, unlock.";
    const COUNTING: Counting = Counting::Atomic;

    fn init(at: &mut MaybeUninit<AtomicAdd>) -> io::Result<()> {
        at.write(AtomicAdd);
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        critical();
        // Costs nothing; without it a compiler would be free to make one addition of many.
        compiler_fence(Ordering::SeqCst);
        Ok(())
    }
}
