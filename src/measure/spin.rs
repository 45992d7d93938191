//! Arithmetic of a known length, without a look at the clock.

use super::clock::monotonic_ns;
use std::hint::black_box;

/// Turns that are timed to learn how long one takes: some tenths of a millisecond.
const TIMED_TURNS: u64 = 100_000;
/// The fastest of so many counts: interference can only add time.
const TRIES: usize = 20;

/// Arithmetic for so many nanoseconds an operation. How many turns that are is found out where it is made: on the CPU of
/// the thread that makes it, at the clock rate of that moment.
pub struct Spin {
    turns_per_op: f64,
}

impl Spin {
    /// A spin of so many nanoseconds an operation, on this CPU.
    pub fn of(ns_per_op: f64) -> Spin {
        let times = (0..TRIES).map(|_| {
            let begin_ns = monotonic_ns();
            turn(TIMED_TURNS);
            monotonic_ns() - begin_ns
        });
        let fastest_ns = times.min().unwrap_or(1).max(1);
        Spin { turns_per_op: ns_per_op * TIMED_TURNS as f64 / fastest_ns as f64 }
    }

    /// Spins for that many operations.
    pub fn operations(&self, ops: u64) {
        turn((self.turns_per_op * ops as f64).round() as u64);
    }
}

/// Arithmetic in which each step needs the one before it (a shift register of Marsaglia, "Xorshift RNGs", Journal of
/// Statistical Software 8, 2003).
fn turn(turns: u64) {
    let mut state = black_box(88_172_645_463_325_252_u64);
    for _ in 0..turns {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    black_box(state);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spin_takes_at_least_about_what_was_asked() {
        let spin = Spin::of(50.0);
        let fastest = (0..10).map(|_| {
            let begin_ns = monotonic_ns();
            spin.operations(20_000);
            monotonic_ns() - begin_ns
        });
        // A clock rate that rises meanwhile makes it shorter, by less than this.
        let fastest_ns = fastest.min().unwrap();
        assert!(fastest_ns > 300_000, "{fastest_ns} ns for 1 ms");
    }
}
