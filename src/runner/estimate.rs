//! How long a visit will take, before any was made.

use crate::cell::{Axis, Cell, Measure};
use crate::record::Effort;

/// Process start and end, opening, the untimed pass and one calibrated batch more, measured on a small machine.
const OVERHEAD_NS: u64 = 15_000_000;

/// Nanoseconds that a visit of the cell should take.
pub fn visit_ns(cell: &Cell, effort: &Effort) -> u64 {
    let contend = matches!(cell.measure(), Some(Measure::Increment | Measure::Append));
    let contended = contend && cell.count(Axis::Workers) > 1;
    let one_cpu = cell.word(Axis::Placement) == "same_cpu";
    let sampling = match (contended, one_cpu) {
        (true, true) => effort.oversubscribed,
        (false, true) => effort.additive,
        (_, false) => effort.interacting,
    };
    effort.warm_up_ns + OVERHEAD_NS + (u64::from(sampling.samples) + 1) * sampling.target_ns
}
