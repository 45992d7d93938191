//! The numbers that detectors look at in a visit: `None` where the journal does not tell.

use super::sight::{Sight, elapsed_ns, own_cpus, run_delay as greatest_delay, switches_an_op, workers};
use crate::cell::Axis;
use crate::record::{Moved, Noise};

/// The flag of a visit whose samples left the length that was planned.
pub const N_DRIFT: &str = "n_drift";

/// A change by fewer context switches a second than this is none.
const LEAST_SWITCHES: f64 = 500.0;

/// The number of a visit that a detector does not apply to: below every limit.
pub const DOES_NOT_APPLY: Option<f64> = Some(f64::NEG_INFINITY);

fn word(is_so: bool) -> Option<f64> {
    Some(if is_so { 1.0 } else { 0.0 })
}

/// How much longer it took than its workers worked, where that tells something.
pub fn dilation(sight: &Sight) -> Option<f64> {
    sight.visit.dilation().or(DOES_NOT_APPLY)
}

/// The share of the time in which a worker waited for its CPU. Workers that share one wait by design; those with one each
/// are woken up, which takes a while too, so there the best visit of the cell is the measure.
pub fn run_delay(sight: &Sight) -> Option<f64> {
    above_own(sight, greatest_delay(sight.measured), sight.cell.least_delay)
}

/// The share of the time in which some task waited for a CPU, likewise.
pub fn pressure(sight: &Sight) -> Option<f64> {
    above_own(sight, sight.noise?.pressure_share, sight.cell.least_pressure)
}

/// A share of waiting as it is of one worker, and above the cell's least of several.
fn above_own(sight: &Sight, share: Option<f64>, least: Option<f64>) -> Option<f64> {
    match workers(sight.measured) {
        _ if !own_cpus(sight.measured) => DOES_NOT_APPLY,
        0 | 1 => share,
        _ => share.zip(least).map(|(share, least)| share - least),
    }
}

/// The share of other programs.
pub fn foreign(sight: &Sight) -> Option<f64> {
    sight.noise?.foreign_share
}

/// The share that the host took.
pub fn steal(sight: &Sight) -> Option<f64> {
    sight.noise?.steal_share
}

/// How far the fixed arithmetic of the round lies from that of the median round.
pub fn canary(sight: &Sight) -> Option<f64> {
    sight.canary
}

/// The slower reading of the cache line over the least of the cell.
pub fn far(sight: &Sight) -> Option<f64> {
    match sight.measured.ping_pong_ns {
        Some([before, after]) => Some(before.max(after) / sight.cell.least_ping_pong_ns?),
        None if workers(sight.measured) > 1 && own_cpus(sight.measured) => None,
        None => DOES_NOT_APPLY,
    }
}

/// The slower reading of the arithmetic that could use a whole core over the least of the run. Workers that are not pinned have no core, and
/// those with a second thread at work may share theirs with it by design.
pub fn shared_core(sight: &Sight) -> Option<f64> {
    let of = |axis| sight.visit.cell.word(axis);
    let has_none = of(Axis::Placement) == "free" || of(Axis::ProcessState) == "working";
    if has_none { DOES_NOT_APPLY } else { sight.whole_core }
}

/// How often a worker ended a sample on another CPU than the one before. Pinned workers cannot: their visit fails.
pub fn migrations(sight: &Sight) -> Option<f64> {
    if sight.visit.cell.word(Axis::Placement) != "free" {
        return DOES_NOT_APPLY;
    }
    let moved = |pair: &[crate::record::Sample]| {
        let workers = pair[0].workers.iter().zip(&pair[1].workers);
        workers.filter(|(one, next)| one.cpu != next.cpu).count()
    };
    // One sample has none before it.
    let pairs = sight.measured.samples.windows(2);
    (pairs.len() > 0).then(|| pairs.map(moved).sum::<usize>() as f64)
}

/// How many times more or fewer context switches an operation it had than the median visit of its cell.
pub fn switches(sight: &Sight) -> Option<f64> {
    let Some(usual) = sight.cell.usual_switches else { return DOES_NOT_APPLY };
    let own = switches_an_op(sight.measured);
    let ops = sight.measured.ops as f64 * sight.measured.samples.len() as f64;
    let a_second = (own - usual).abs() * ops * 1e9 / elapsed_ns(sight.measured).max(1.0);
    Some(if a_second < LEAST_SWITCHES { 0.0 } else { own.max(usual) / own.min(usual) })
}

/// How often the quota of the control group stopped it.
pub fn throttled(sight: &Sight) -> Option<f64> {
    sight.noise?.throttled.map(|times| times as f64)
}

/// Whether samples were much longer or shorter than planned.
pub fn drifted(sight: &Sight) -> Option<f64> {
    word(sight.measured.flags.iter().any(|flag| flag == N_DRIFT))
}

/// Whether it took fewer samples for want of time.
pub fn thrifty(sight: &Sight) -> Option<f64> {
    word(sight.visit.thrifty)
}

/// Whether its workers shared another CPU than the one that comes first, because something else used that. Older journals do not tell why.
pub fn aside(sight: &Sight) -> Option<f64> {
    let aside = sight.visit.shared_cpu().zip(sight.first_choice).is_some_and(|(own, first)| own != first);
    word(aside && sight.measured.moved != Some(Moved::FreerCore))
}

/// Nanoseconds that the run waited before it.
pub fn waited(sight: &Sight) -> Option<f64> {
    let waited_ns = |noise: &Noise| noise.waited_ns;
    Some(sight.visit.noise.as_ref().and_then(waited_ns).unwrap_or(0) as f64)
}
