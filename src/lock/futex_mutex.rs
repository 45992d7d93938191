//! Our own mutex: one word and a place to sleep. The third mutex of Ulrich Drepper's "Futexes Are Tricky", futex(2).
//!
//! | word | state | a locker makes it | the holder makes it |
//! | --- | --- | --- | --- |
//! | 0 `FREE` | nobody holds it, nobody sleeps | `HELD` and has it; `AWAITED` and has it, when it slept before | - |
//! | 1 `HELD` | held; nobody sleeps | `AWAITED`, and sleeps | `FREE` |
//! | 2 `AWAITED` | held; somebody may sleep | - (it sleeps) | `FREE`, and wakes one |
//!
//! Who slept takes the mutex as `AWAITED`, since it cannot know whether others sleep still: one wake-up too
//! many is harmless, one too few would be a hang.

use super::Lock;
use crate::sys::futex;
use std::io;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
const AWAITED: u32 = 2;

/// The three-state mutex.
pub struct FutexMutex(AtomicU32);

impl FutexMutex {
    /// Sleeps until the mutex is this worker's.
    #[cold]
    fn wait(&self) -> io::Result<()> {
        while self.0.swap(AWAITED, Ordering::Acquire) != FREE {
            futex::wait(&self.0, AWAITED)?;
        }
        Ok(())
    }
}

impl Lock for FutexMutex {
    const NAME: &'static str = "futex_mutex";
    const SUMMARY: &'static str = "a mutex of ours on one word in three states, process-shared, futex(2)";

    fn init(at: &mut MaybeUninit<FutexMutex>) -> io::Result<()> {
        at.write(FutexMutex(AtomicU32::new(FREE)));
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        if self.0.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait()?;
        }
        critical();
        if self.0.swap(FREE, Ordering::Release) == AWAITED {
            futex::wake(&self.0, 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::thread;

    #[test]
    fn who_comes_second_waits_until_the_first_lets_go_and_is_woken() {
        let (mutex, entered) = (FutexMutex(AtomicU32::new(FREE)), AtomicBool::new(false));
        let word = || mutex.0.load(Ordering::Relaxed);
        let has_entered = || entered.load(Ordering::Relaxed);
        thread::scope(|scope| {
            let first = || {
                assert_eq!(word(), HELD);
                scope.spawn(|| mutex.hold(|| entered.store(true, Ordering::Relaxed)).unwrap());
                while word() != AWAITED && !has_entered() {
                    thread::yield_now();
                }
                assert!(!has_entered(), "both were inside");
            };
            mutex.hold(first).unwrap();
        });
        assert!(has_entered());
        assert_eq!(word(), FREE);
    }
}
