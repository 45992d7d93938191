//! The loop around the operations: when it is taken off, and what is left of each visit.

use super::metric::Metric;
use crate::measure::stats::{loop_counts, median};
use crate::record::Measured;

/// What is taken off the times of one visit, for each operation: the loop around it, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Off {
    /// Nanoseconds of elapsed time.
    pub ns: f64,
    /// Nanoseconds of CPU time.
    pub cpu_ns: f64,
}

/// The footnote of a figure from which the time of the loop was taken off.
pub const NET: &str = "net: the same loop without the call was timed in each visit; as it took over 1 %, it was taken off \
                       that visit's number (raw: `report --metric raw_ns_per_op`, the loop: `overhead_ns_per_op`)";

/// What is taken off each visit: its own loop, as what disturbs one visit disturbs both. `None` where the loop is a
/// negligible part of the time that the metric is made of, was not timed in every visit, or belongs into the metric.
pub fn off(metric: Metric, measured: &[&Measured]) -> Option<Vec<Off>> {
    if metric.is_raw() {
        return None;
    }
    let own = |measured: &&Measured| {
        measured.overhead.map(|overhead| Off { ns: overhead.twin_ns, cpu_ns: overhead.twin_cpu_ns })
    };
    let off = measured.iter().map(own).collect::<Option<Vec<Off>>>()?;
    let loops: Vec<f64> = off.iter().map(|off| of(metric, off)).collect();
    loop_counts(&raw(metric, measured), &loops).then_some(off)
}

/// What is taken off each visit: nothing where [`off`] takes nothing off.
pub fn each_off(metric: Metric, measured: &[&Measured]) -> Vec<Off> {
    off(metric, measured).unwrap_or_else(|| vec![Off::default(); measured.len()])
}

/// Nanoseconds an operation of each visit, less what is taken off it.
pub fn left(metric: Metric, measured: &[&Measured], each_off: &[Off]) -> Vec<f64> {
    raw(metric, measured).iter().zip(each_off).map(|(raw, off)| raw - of(metric, off)).collect()
}

/// Nanoseconds an operation of each visit with the loop left in: CPU time where the metric is made of that, else
/// elapsed time by the number that leads.
pub fn raw(metric: Metric, measured: &[&Measured]) -> Vec<f64> {
    let of = |measured: &&Measured| if metric.is_of_cpu() { measured.cpu_ns } else { measured.lead_ns() };
    measured.iter().map(of).collect()
}

/// The median of the loops, in nanoseconds of the time that the metric is made of.
pub fn twin(metric: Metric, off: &[Off]) -> Option<f64> {
    median(&off.iter().map(|off| of(metric, off)).collect::<Vec<f64>>())
}

/// The part of it that the metric is made of.
pub fn of(metric: Metric, off: &Off) -> f64 {
    if metric.is_of_cpu() { off.cpu_ns } else { off.ns }
}

/// Why nothing is left to show, for a footnote.
pub fn below_resolution(raw_ns: f64, twin_ns: f64) -> String {
    format!(
        "below resolution: {raw_ns:.0} ns an operation with the loop around it, {twin_ns:.0} ns for the loop alone; in the \
         median visit nothing was left"
    )
}
