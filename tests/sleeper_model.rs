//! Tries `src/sys/sleeper.rs`, the very file, in the orders of its steps that the memory model allows. A
//! wake-up that is lost shows as a thread that waits for ever: the model checker gives up on it.

// The same file with two kinds of atomics: that is the point.
#![allow(clippy::duplicate_mod)]

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};

/// The kernel's part: the word is compared, and the sleeper noted, under one lock. futex(2).
///
/// A sleeper gives way until the count of wake-ups has changed. (The checker's own condition variable
/// forgets a notice when the lock is released right after it, so it cannot stand for the kernel.)
mod futex {
    use loom::sync::Mutex;
    use loom::sync::atomic::{AtomicU32, Ordering};
    use std::io;

    loom::lazy_static! {
        static ref WAKE_UPS: Mutex<u32> = Mutex::new(0);
    }

    pub fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
        let before = {
            let wake_ups = WAKE_UPS.lock().unwrap();
            if word.load(Ordering::Relaxed) != expected {
                return Ok(());
            }
            *wake_ups
        };
        while *WAKE_UPS.lock().unwrap() == before {
            loom::thread::yield_now();
        }
        Ok(())
    }

    pub fn wake(_word: &AtomicU32, _count: i32) -> io::Result<usize> {
        *WAKE_UPS.lock().unwrap() += 1;
        Ok(1)
    }
}

/// The file with the atomics of the model.
#[path = "../src/sys"]
mod whole {
    mod atomics {
        pub use loom::sync::atomic::{AtomicU32, Ordering, fence};
    }
    use super::futex;
    pub mod sleeper;
}

/// The file without its fences.
#[path = "../src/sys"]
mod unfenced {
    mod atomics {
        pub use loom::sync::atomic::{AtomicU32, Ordering};
        pub fn fence(_order: Ordering) {}
    }
    use super::futex;
    pub mod sleeper;
}

/// With two changes all orders take minutes; those with at most this many switches away from a thread that
/// could go on take seconds.
const SOME: Option<usize> = Some(3);

/// One thread changes a mark `changes` times and wakes whoever sleeps where `worth(change)`; the other
/// sleeps until it has seen the last change.
macro_rules! model {
    ($file:ident, $changes:expr, $worth:expr, $preemptions:expr) => {{
        let mut checker = loom::model::Builder::new();
        checker.preemption_bound = $preemptions;
        checker.check(|| {
            let shared = Arc::new((AtomicU32::new(0), $file::sleeper::Sleeper::default()));
            let theirs = Arc::clone(&shared);
            let other = loom::thread::spawn(move || {
                for change in 1..=$changes {
                    theirs.0.store(change, Ordering::Release);
                    theirs.1.wake_if(|| $worth(change)).unwrap();
                }
            });
            loop {
                let seen = shared.0.load(Ordering::Acquire);
                if seen == $changes {
                    break;
                }
                shared.1.sleep_unless(|| Ok(shared.0.load(Ordering::Acquire) != seen)).unwrap();
            }
            other.join().unwrap();
        })
    }};
}

#[test]
fn no_wake_up_is_lost() {
    model!(whole, 1, |_| true, None);
    model!(whole, 2, |_| true, SOME);
}

#[test]
fn a_wake_up_may_wait_until_it_is_worth_it() {
    model!(whole, 2, |change| change == 2, SOME);
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn the_model_sees_what_a_missing_fence_does() {
    model!(unfenced, 1, |_| true, None);
}
