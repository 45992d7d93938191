//! What one sample gives beside its time: sums over its workers, their rates, the times of requests.

use crate::cell::{Axis, Cell};
use crate::record::{Measured, Sample, WorkerSample};
use crate::workload::{Delivery, SERVER, Tally};

/// Nanoseconds of CPU time of all workers.
pub fn cpu_ns(sample: &Sample) -> f64 {
    sample.workers.iter().map(|worker| worker.cpu_ns).sum::<u64>() as f64
}

/// Nanoseconds of CPU time of the server; not finite where there is none.
pub fn server_cpu_ns(sample: &Sample) -> f64 {
    sample.workers.get(SERVER).map_or(f64::NAN, |server| server.cpu_ns as f64)
}

/// A percentile of the request times of the worker that timed them; not finite where none did.
pub fn request_us(sample: &Sample, percentile: fn(&Tally) -> Option<u64>) -> f64 {
    let timed = sample.workers.iter().find_map(|worker| percentile(&worker.tally));
    timed.map_or(f64::NAN, |ns| ns as f64 / 1e3)
}

/// Nanoseconds from the earliest begin until what every worker handed over was dealt with; not finite where that
/// is not known.
pub fn drained_ns(sample: &Sample) -> f64 {
    let begin_ns = sample.workers.iter().map(|worker| worker.begin_ns).min();
    let drained: Option<Vec<u64>> = sample.workers.iter().map(|worker| worker.drained_ns).collect();
    let drained_ns = drained.and_then(|all| all.into_iter().max());
    begin_ns.zip(drained_ns).map_or(f64::NAN, |(begin, drained)| drained.saturating_sub(begin) as f64)
}

/// Nanoseconds of CPU time of the process that works for the workers; not finite where there is none.
pub fn daemon_cpu_ns(sample: &Sample) -> f64 {
    sample.daemon_cpu_ns.map_or(f64::NAN, |ns| ns as f64)
}

/// Lines of some kind, of a million that were logged; not finite where none were.
pub fn a_million(sample: &Sample, lines: fn(&Delivery) -> u64) -> f64 {
    sample.delivery.map_or(f64::NAN, |delivery| lines(&delivery) as f64 * 1e6 / delivery.attempted as f64)
}

/// Context switches of all workers.
pub fn switches(sample: &Sample) -> f64 {
    let of = |worker: &WorkerSample| worker.voluntary_switches + worker.involuntary_switches;
    sample.workers.iter().map(of).sum::<u64>() as f64
}

/// Reads and writes of all workers.
pub fn calls(sample: &Sample) -> f64 {
    sample.workers.iter().map(|worker| worker.tally.calls).sum::<u64>() as f64
}

/// Bytes that a sample of the visit moved.
pub fn moved_bytes(cell: &Cell, measured: &Measured) -> f64 {
    cell.count(Axis::MessageBytes) as f64 * measured.ops as f64
}

/// Each worker's rate from the common begin: all do the same number of operations, so it is one over the time
/// until the worker had done its own.
pub fn rates(sample: &Sample) -> Vec<f64> {
    let begin_ns = sample.workers.iter().map(|worker| worker.begin_ns).min().unwrap_or(0);
    sample.workers.iter().map(|worker| 1.0 / worker.end_ns.saturating_sub(begin_ns).max(1) as f64).collect()
}

/// Jain's fairness index: the square of the sum over n times the sum of squares.
pub fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// The share of the sum that one rate has, picked from all.
pub fn share(rates: &[f64], pick: fn(f64, f64) -> f64) -> f64 {
    let sum: f64 = rates.iter().sum();
    rates.iter().copied().reduce(pick).unwrap_or(0.0) / sum
}
