//! The place where one end of a ring sleeps, so that no call to wake up is lost and none is made in vain.
//!
//! One end goes to sleep, the other changes something in shared memory (a mark) and wakes it:
//!
//! | who goes to sleep | who changes something |
//! | --- | --- |
//! | 1. says so: flag = 1 | A. changes the mark |
//! | 2. fence | B. fence |
//! | 3. looks at the mark once more; goes on where it changed | C. looks at the flag; goes on where it is 0 |
//! | 4. futex(2): sleeps only while the flag is 1 | D. flag = 0, and wakes who sleeps on it |
//!
//! Both fences are sequentially consistent, so one of them comes first. Where it is 2, C sees the flag and
//! D wakes. Where it is B, 3 sees the mark. So it cannot be that neither sees the other. D may come between
//! 3 and 4: the flag is 0 then, the kernel compares it under its own lock, and 4 returns at once. A wake-up
//! that comes late finds nobody, or somebody who looks and sleeps again.
//! `tests/sleeper_model.rs` tries the orders that the memory model allows on this very file.

use super::atomics::{AtomicU32, Ordering, fence};
use super::futex;
use std::io;

const AWAKE: u32 = 0;
const ASLEEP: u32 = 1;

/// The flag and the futex word. All zero bytes are an end that is awake.
#[repr(transparent)]
#[derive(Debug, Default)]
pub struct Sleeper(AtomicU32);

impl Sleeper {
    /// Sleeps until woken, but not when `ready` says that there is no need (any more). It may return early,
    /// so the caller looks again.
    ///
    /// # Errors
    /// What `ready` returns, or futex(2).
    pub fn sleep_unless(&self, ready: impl FnOnce() -> io::Result<bool>) -> io::Result<()> {
        // An exchange, not a store: it comes after a late D in the order of this flag, whoever reads it.
        self.0.swap(ASLEEP, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let slept = match ready() {
            Ok(false) => futex::wait(&self.0, ASLEEP),
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        self.0.store(AWAKE, Ordering::Relaxed);
        slept
    }

    /// Wakes the other end if it sleeps and that is `worth` it. Call it after each change that the other
    /// end may sleep for. Without a sleeper it costs a fence and a load.
    ///
    /// # Errors
    /// futex(2).
    #[inline]
    pub fn wake_if(&self, worth: impl FnOnce() -> bool) -> io::Result<()> {
        fence(Ordering::SeqCst);
        if self.0.load(Ordering::Relaxed) == AWAKE || !worth() {
            return Ok(());
        }
        self.wake()
    }

    #[cold]
    fn wake(&self) -> io::Result<()> {
        if self.0.swap(AWAKE, Ordering::Relaxed) == AWAKE {
            return Ok(());
        }
        futex::wake(&self.0, 1).map(drop)
    }
}
