//! Locks that do not exclude.

use crate::lock::Lock;
use std::hint::spin_loop;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::yield_now;

/// Lets everybody in.
pub struct ExcludesNobody;

impl Lock for ExcludesNobody {
    const NAME: &'static str = "excludes_nobody";
    const SUMMARY: &'static str = "faulty on purpose: lets everybody in";

    fn init(at: &mut MaybeUninit<ExcludesNobody>) -> io::Result<()> {
        at.write(ExcludesNobody);
        Ok(())
    }

    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        critical();
        Ok(())
    }
}

/// One in so many goes in whether somebody is inside or not.
const ONE_IN: u64 = 64;

/// A lock that one in [`ONE_IN`] does not wait for.
pub struct LetsOneSlip {
    taken: AtomicBool,
    asked: AtomicU64,
}

impl Lock for LetsOneSlip {
    const NAME: &'static str = "lets_one_slip";
    const SUMMARY: &'static str = "faulty on purpose: one in 64 goes in whether somebody is inside or not";

    fn init(at: &mut MaybeUninit<LetsOneSlip>) -> io::Result<()> {
        at.write(LetsOneSlip { taken: AtomicBool::new(false), asked: AtomicU64::new(0) });
        Ok(())
    }

    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        if self.asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(ONE_IN) {
            critical();
            return Ok(());
        }
        let mut tries = 0_u32;
        while self.taken.swap(true, Ordering::Acquire) {
            tries += 1;
            // Who is inside may have lost the CPU, to this one.
            if tries.is_multiple_of(1024) { yield_now() } else { spin_loop() }
        }
        critical();
        self.taken.store(false, Ordering::Release);
        Ok(())
    }
}
