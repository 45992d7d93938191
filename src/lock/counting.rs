//! How workers count under a lock, and what must hold of the counters afterwards.

use crate::cell::MOST_WORKERS;
use crate::sys::memory::Line;
use crate::workload::mismatch;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering, compiler_fence};

/// What an increment is under a lock, and so what proves that the lock held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// A relaxed load and a relaxed store of the shared counter, never one instruction: two workers inside at
    /// once lose an update, on one CPU too, so the counter must be workers x increments.
    Alone,
    /// One atomic addition to the shared counter, which must be workers x increments.
    Atomic,
    /// As [`Counting::Alone`], without a lock that would prevent losses: how many there were is the result.
    Unguarded,
    /// All are inside at once and may only read what is shared: each reads the step there and adds it to a
    /// counter of its own on its own cache lines, which must be its increments.
    Apart,
}

/// The step that is added where workers count apart; the shared counter holds it.
const STEP: u64 = 1;

/// The shared counter, and one for each worker that may take part.
pub struct Counters {
    shared: Line<AtomicU64>,
    own: [Line<AtomicU64>; MOST_WORKERS as usize],
}

impl Counters {
    /// Counters before the first increment.
    pub fn new(counting: Counting) -> Counters {
        let shared = if counting == Counting::Apart { STEP } else { 0 };
        Counters {
            shared: Line(AtomicU64::new(shared)),
            own: [const { Line(AtomicU64::new(0)) }; MOST_WORKERS as usize],
        }
    }

    /// The shared counter.
    pub fn shared(&self) -> &AtomicU64 {
        &self.shared.0
    }

    /// The counter of that worker.
    pub fn own(&self, worker: usize) -> &AtomicU64 {
        &self.own[worker].0
    }
}

impl Counting {
    /// One increment. `self` is a constant where it is called, so that nothing is decided in the loop.
    #[inline(always)]
    pub fn add_one(self, shared: &AtomicU64, own: &AtomicU64) {
        match self {
            Counting::Alone | Counting::Unguarded => {
                let before = shared.load(Ordering::Relaxed);
                // Costs nothing; without it a compiler makes one instruction of this, which no other worker on
                // the same CPU can come between: a lock that lets two in would not be noticed there.
                compiler_fence(Ordering::SeqCst);
                shared.store(before + 1, Ordering::Relaxed);
            }
            Counting::Atomic => {
                shared.fetch_add(1, Ordering::Relaxed);
            }
            Counting::Apart => {
                own.store(own.load(Ordering::Relaxed) + shared.load(Ordering::Relaxed), Ordering::Relaxed);
            }
        }
    }

    /// Checks the counters after `total_ops` increments of each of the workers.
    ///
    /// # Errors
    /// `InvalidData` with what was expected and what was found.
    pub fn check(self, counters: &Counters, workers: usize, total_ops: u64) -> io::Result<()> {
        let expected = total_ops * workers as u64;
        let counted = counters.shared().load(Ordering::Relaxed);
        let found = format!("the counter is {counted} after {workers} workers x {total_ops} increments");
        match self {
            Counting::Apart => check_apart(counters, workers, total_ops),
            Counting::Unguarded if counted > expected => {
                Err(mismatch(format!("{found}, more than {expected}: not even without a lock")))
            }
            Counting::Alone | Counting::Atomic if counted != expected => Err(mismatch(format!(
                "{found}, not {expected}: updates were lost, the lock let two in at once"
            ))),
            _ => Ok(()),
        }
    }

    /// How many of `total_ops` increments of each of the workers got lost, where losing them is the result.
    pub fn lost(self, counters: &Counters, workers: usize, total_ops: u64) -> Option<u64> {
        let counted = counters.shared().load(Ordering::Relaxed);
        (self == Counting::Unguarded).then(|| (total_ops * workers as u64).saturating_sub(counted))
    }
}

fn check_apart(counters: &Counters, workers: usize, total_ops: u64) -> io::Result<()> {
    let step = counters.shared().load(Ordering::Relaxed);
    if step != STEP {
        return Err(mismatch(format!("a reader changed what all share: it is {step}, not {STEP}")));
    }
    for worker in 0..workers {
        let counted = counters.own(worker).load(Ordering::Relaxed);
        if counted != total_ops {
            return Err(mismatch(format!("worker {worker} counted {counted} after {total_ops} increments")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(counting: Counting, shared: u64, own: [u64; 2]) -> Counters {
        let counters = Counters::new(counting);
        counters.shared().store(shared, Ordering::Relaxed);
        for (worker, value) in own.into_iter().enumerate() {
            counters.own(worker).store(value, Ordering::Relaxed);
        }
        counters
    }

    fn refusal(counting: Counting, shared: u64, own: [u64; 2]) -> String {
        counting.check(&counted(counting, shared, own), 2, 50).unwrap_err().to_string()
    }

    #[test]
    fn a_lost_update_is_refused_under_a_lock_and_counted_without_one() {
        let short = counted(Counting::Unguarded, 90, [0, 0]);
        assert!(Counting::Unguarded.check(&short, 2, 50).is_ok());
        assert_eq!(Counting::Unguarded.lost(&short, 2, 50), Some(10));
        assert_eq!(Counting::Alone.lost(&short, 2, 50), None);
        for counting in [Counting::Alone, Counting::Atomic] {
            assert!(counting.check(&counted(counting, 100, [0, 0]), 2, 50).is_ok());
            let said = refusal(counting, 99, [0, 0]);
            assert!(said.contains("is 99 after 2 workers x 50 increments, not 100"), "{said}");
        }
        assert!(refusal(Counting::Unguarded, 101, [0, 0]).contains("more than 100"));
    }

    #[test]
    fn workers_that_count_apart_must_each_have_counted_and_left_the_step_alone() {
        assert!(Counting::Apart.check(&counted(Counting::Apart, 1, [50, 50]), 2, 50).is_ok());
        assert!(refusal(Counting::Apart, 1, [50, 49]).contains("worker 1 counted 49 after 50"));
        assert!(refusal(Counting::Apart, 2, [50, 50]).contains("a reader changed"));
    }

    #[test]
    fn each_way_of_counting_counts_by_one() {
        for (counting, shared, own) in [
            (Counting::Alone, 1, 0),
            (Counting::Atomic, 1, 0),
            (Counting::Unguarded, 1, 0),
            (Counting::Apart, 1, 1),
        ] {
            let counters = Counters::new(counting);
            counting.add_one(counters.shared(), counters.own(3));
            let now = [counters.shared(), counters.own(3)].map(|counter| counter.load(Ordering::Relaxed));
            assert_eq!(now, [shared, own], "{counting:?}");
            assert!(counting.check(&counters, 0, 0).is_ok() == (counting == Counting::Apart), "{counting:?}");
        }
    }
}
