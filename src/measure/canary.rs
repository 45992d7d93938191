//! Canaries: arithmetic that always costs the same number of cycles. Where it takes longer than before, the CPU runs
//! slower or somebody else had it. Two kinds: steps that wait for each other take as long on a core that is shared with another
//! thread (simultaneous multithreading: a guest is not told what its host runs there), steps that do not take longer there.

use super::clock::monotonic_ns;
use std::hint::black_box;

/// Steps of a piece, each of which waits for the one before it: about 0.25 ms on a CPU of 3 GHz.
const STEPS: u32 = 100_000;
/// The fastest of so many pieces counts, so that being interrupted once does not look like a slower CPU.
const PIECES: u32 = 4;
/// Odd, so that no step loses a bit. Knuth's multiplier for 64 bits; The Art of Computer Programming 2, 3.3.4.
const FACTOR: u64 = 6_364_136_223_846_793_005;

/// Nanoseconds that a piece of the arithmetic takes now: the fastest of four, one after the other.
pub fn canary_ns() -> u64 {
    (0..PIECES).map(|_| timed_ns(|| arithmetic(black_box(1), STEPS))).min().unwrap_or(0)
}

/// Nanoseconds that it takes.
fn timed_ns<R>(arithmetic: impl Fn() -> R) -> u64 {
    let begin_ns = monotonic_ns();
    black_box(arithmetic());
    monotonic_ns() - begin_ns
}

/// Rounds of a piece of steps that do not wait for each other: about 40 us on a CPU of 3 GHz.
const ROUNDS: u64 = 40_000;

/// Dependent steps that are timed beside them: about 20 us.
const FEW_STEPS: u32 = 10_000;

/// How much of its core a CPU has now, and how fast it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeCore {
    /// Nanoseconds of arithmetic that could use a whole core.
    pub independent_ns: u64,
    /// Nanoseconds of arithmetic right beside it that could not: it takes longer where the clock is slower, and only there.
    pub dependent_ns: u64,
}

impl WholeCore {
    /// Times both on the CPU of the caller, four times in turn: the fastest of each, as whatever interrupts one only adds time.
    pub fn now() -> WholeCore {
        let pairs = (0..PIECES).map(|_| WholeCore {
            independent_ns: timed_ns(|| independent(black_box(ROUNDS))),
            dependent_ns: timed_ns(|| arithmetic(black_box(1), FEW_STEPS)),
        });
        let fastest = |one: WholeCore, other: WholeCore| WholeCore {
            independent_ns: one.independent_ns.min(other.independent_ns),
            dependent_ns: one.dependent_ns.min(other.dependent_ns),
        };
        pairs.reduce(fastest).unwrap_or(WholeCore { independent_ns: 0, dependent_ns: 0 })
    }

    /// How many times as long the one took as the other, whatever the clock rate.
    pub fn ratio(&self) -> f64 {
        self.independent_ns as f64 / self.dependent_ns.max(1) as f64
    }
}

/// Ten operations a round, of which few wait for others: about four a cycle, as many as a core does.
fn independent(rounds: u64) -> [u64; 8] {
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = [1, 2, 3, 4, 5, 6, 7, 8_u64];
    for round in 0..rounds {
        a = a.wrapping_add(round);
        b ^= a;
        c = c.wrapping_add(b);
        d ^= round;
        e = e.wrapping_add(d);
        f ^= e;
        g = g.wrapping_add(round);
        h ^= g;
        a ^= h >> 3;
        c ^= f;
    }
    [a, b, c, d, e, f, g, h]
}

/// The arithmetic: a step is a shift, an exclusive or, and a multiplication.
fn arithmetic(start: u64, steps: u32) -> u64 {
    (0..steps).fold(start, |value, _| (value ^ (value >> 29)).wrapping_mul(FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_the_arithmetic_is_made() {
        // By an independent sum in arbitrary precision.
        assert_eq!(arithmetic(1, STEPS), EXPECTED);
        assert_ne!(arithmetic(2, STEPS), arithmetic(1, STEPS));
    }

    #[test]
    fn it_takes_the_time_of_its_multiplications() {
        // A multiplication of 64 bits takes three cycles and there is no CPU of 10 GHz.
        assert!(canary_ns() > u64::from(STEPS) * 3 / 10, "{} ns", canary_ns());
    }

    #[test]
    fn independent_steps_are_made() {
        assert_eq!(independent(3), BY_HAND);
        let now = WholeCore::now();
        // No core does 20 operations a cycle, and there is none of 10 GHz.
        assert!(now.independent_ns > ROUNDS * 10 / 200, "{now:?}");
        assert!(now.dependent_ns > u64::from(FEW_STEPS) * 3 / 10, "{now:?}");
    }

    const BY_HAND: [u64; 8] = [2, 1, 31, 7, 21, 20, 10, 13];
    const EXPECTED: u64 = 4_352_706_007_599_996_126;
}
