//! How long a visit will take, before any was made.

use crate::cell::{Axis, Cell, Measure};
use crate::record::{Effort, Kind};

/// Process start and end, opening, and the untimed pass, measured on a small machine.
const OVERHEAD_NS: u64 = 15_000_000;

/// Nanoseconds that a visit of the cell should take where so many CPUs are allowed: its samples, its warm-up and about one batch more.
pub fn visit_ns(cell: &Cell, effort: &Effort, allowed_cpus: usize) -> u64 {
    // A transport names none: it has two.
    let workers = match cell.count(Axis::Workers) as usize {
        0 => 2,
        named => named,
    };
    let contended = cell.measure().is_some_and(Measure::counts_each_worker) && workers > 1;
    let cpus = match cell.word(Axis::Placement) {
        "same_cpu" => 1,
        "cross_cpu" | "free" => allowed_cpus.max(1),
        // A pair of CPUs of some class.
        _ => 2,
    };
    let kind = Kind::of(contended, workers, cpus);
    let sampling = effort.sampling(kind, workers, cpus);
    OVERHEAD_NS
        + effort.warm_up_ns
        + kind.warm_up(sampling.target_ns)
        + u64::from(sampling.samples) * sampling.target_ns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Value;

    /// Milliseconds of a usual visit on two CPUs beyond the overhead and the warm-up.
    fn ms(measure: Measure, workers: u64, placement: &str) -> u64 {
        let cell = Cell::new(measure, "x").with(Axis::Placement, Value::Word(placement.into()));
        let cell = if workers > 0 { cell.with(Axis::Workers, Value::Count(workers)) } else { cell };
        (visit_ns(&cell, &Effort::DEFAULT, 2) - OVERHEAD_NS - Effort::DEFAULT.warm_up_ns) / 1_000_000
    }

    #[test]
    fn a_visit_takes_its_samples_and_a_batch_before() {
        assert_eq!(ms(Measure::Bandwidth, 0, "same_cpu"), 11 * 5);
        assert_eq!(ms(Measure::Bandwidth, 0, "cross_cpu"), 6 * 20);
        assert_eq!(ms(Measure::Increment, 1, "same_cpu"), 11 * 5);
        assert_eq!(ms(Measure::Increment, 2, "cross_cpu"), 6 * 20);
        assert_eq!(ms(Measure::Increment, 2, "same_llc"), 6 * 20);
    }

    #[test]
    fn with_more_workers_than_cpus_it_takes_the_turns_of_all() {
        assert_eq!(ms(Measure::Increment, 4, "same_cpu"), 2 * 200 + 20);
        for placement in ["cross_cpu", "free", "same_llc"] {
            assert_eq!(ms(Measure::Increment, 4, placement), 2 * 100 + 10, "{placement}");
        }
    }
}
