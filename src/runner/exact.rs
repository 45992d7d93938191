//! The book's counts and statistic, for `run --exact`: 5 x 10 MiB a bandwidth cell, 3 x 10,000 round trips,
//! 3 x 1,000,000 increments a worker, 3 x 100,000 waits; the mean leads. Stevens, UNIX Network Programming, volume 2,
//! Appendix A; Kerrisk, The Linux Programming Interface, table 63-9.
//! A served cell has the 40,000 requests of the article that it comes from, 3 times; a log has 1,000,000 lines a worker, once.
//! Operations are as many as increments, as no source says how many there were.

use crate::cell::{Cell, Measure};
use crate::record::Effort;

/// Bytes of one loop of bandwidth.
const LOOP_BYTES: u64 = 10 << 20;
const ROUND_TRIPS: u64 = 10_000;
const REQUESTS: u64 = 40_000;
const INCREMENTS: u64 = 1_000_000;
const OPERATIONS: u64 = 1_000_000;
/// Waits of Kerrisk's table; The Linux Programming Interface, 63.4.5.
const WAITS: u64 = 100_000;
/// Lines of each thread, as published with CatServerRTL's figures.
const LINES: u64 = 1_000_000;
const BANDWIDTH_LOOPS: u32 = 5;
const LOG_LOOPS: u32 = 1;
const OTHER_LOOPS: u32 = 3;

/// A cell that should take longer than this says so in `plan`, in milliseconds.
pub const LONG_MS: u64 = 60_000;
/// A visit is given up after this many times the time that it should take, as a busy lock costs ten times a
/// quiet one on some machines.
const PATIENCE: u64 = 20;

/// Operations a worker in each sample of an exact cell.
pub fn ops(cell: &Cell) -> u64 {
    match cell.measure() {
        Some(Measure::Bandwidth) => LOOP_BYTES.div_ceil(cell.message_bytes().max(1) as u64),
        Some(Measure::RoundTrip) => ROUND_TRIPS,
        Some(Measure::Wait) => WAITS,
        Some(Measure::Serve) => REQUESTS,
        Some(Measure::Operation) => OPERATIONS,
        Some(Measure::Append) => LINES,
        Some(Measure::Increment) | None => INCREMENTS,
    }
}

/// Samples of an exact cell.
pub fn effort(cell: &Cell) -> Effort {
    Effort::exactly(match cell.measure() {
        Some(Measure::Bandwidth) => BANDWIDTH_LOOPS,
        Some(Measure::Append) => LOG_LOOPS,
        _ => OTHER_LOOPS,
    })
}

/// Milliseconds that an exact cell should take, where an operation costs `op_ns`.
pub fn expected_ms(cell: &Cell, op_ns: u64) -> u64 {
    let samples = u64::from(effort(cell).additive.samples);
    (ops(cell) * samples).saturating_mul(op_ns) / 1_000_000
}

/// The deadline of an exact cell: its own, as some take minutes and most take none.
pub fn deadline_ms(cell: &Cell, op_ns: u64, least_ms: u64) -> u64 {
    least_ms.max(expected_ms(cell, op_ns).saturating_mul(PATIENCE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Axis, Value};

    #[test]
    fn the_counts_are_those_of_the_book() {
        let bandwidth =
            |bytes| Cell::new(Measure::Bandwidth, "x").with(Axis::MessageBytes, Value::Count(bytes));
        assert_eq!((ops(&bandwidth(1024)), effort(&bandwidth(1024)).additive.samples), (10_240, 5));
        assert_eq!(ops(&bandwidth(65_536)), 160);
        assert_eq!(ops(&bandwidth(3)), 3_495_254, "never less than 10 MiB");
        let trips = Cell::new(Measure::RoundTrip, "x");
        assert_eq!((ops(&trips), effort(&trips).additive.samples), (10_000, 3));
        assert_eq!(ops(&Cell::new(Measure::Increment, "x")), 1_000_000);
        assert_eq!(ops(&Cell::new(Measure::Serve, "x")), 40_000);
        let deep = Cell::new(Measure::Operation, "x").with(Axis::Depth, Value::Count(100));
        assert_eq!((ops(&deep), effort(&deep).additive.samples), (1_000_000, 3), "whatever the depth");
        let log = Cell::new(Measure::Append, "x");
        assert_eq!((ops(&log), effort(&log).interacting.samples), (1_000_000, 1));
    }

    #[test]
    fn slow_cells_get_a_deadline_of_their_own() {
        let cell = Cell::new(Measure::Increment, "x");
        assert_eq!(expected_ms(&cell, 100_000), 300_000);
        assert_eq!(deadline_ms(&cell, 100_000, 10_000), 6_000_000);
        assert_eq!(deadline_ms(&cell, 20, 10_000), 10_000);
    }
}
