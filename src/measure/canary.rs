//! A canary: arithmetic that always costs the same number of cycles. Where it takes longer than before, the CPU runs
//! slower or somebody else had it.

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
    let piece = |_| {
        let begin_ns = monotonic_ns();
        black_box(arithmetic(black_box(1)));
        monotonic_ns() - begin_ns
    };
    (0..PIECES).map(piece).min().unwrap_or(0)
}

/// The arithmetic: a step is a shift, an exclusive or, and a multiplication.
fn arithmetic(start: u64) -> u64 {
    (0..STEPS).fold(start, |value, _| (value ^ (value >> 29)).wrapping_mul(FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_of_the_arithmetic_is_made() {
        // By an independent sum in arbitrary precision.
        assert_eq!(arithmetic(1), EXPECTED);
        assert_ne!(arithmetic(2), arithmetic(1));
    }

    #[test]
    fn it_takes_the_time_of_its_multiplications() {
        // A multiplication of 64 bits takes three cycles and there is no CPU of 10 GHz.
        assert!(canary_ns() > u64::from(STEPS) * 3 / 10, "{} ns", canary_ns());
    }

    const EXPECTED: u64 = 4_352_706_007_599_996_126;
}
