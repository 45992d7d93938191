//! How long a visit will take, before any was made.

use crate::cell::{Axis, Cell, Measure};
use crate::record::Effort;

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
    let sampling = effort.sampling(contended, workers, cpus);
    let before_ns = if contended && workers > cpus { sampling.target_ns / 10 } else { sampling.target_ns };
    OVERHEAD_NS + effort.warm_up_ns + before_ns + u64::from(sampling.samples) * sampling.target_ns
}
