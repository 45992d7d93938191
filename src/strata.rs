//! Figures that are mixtures, told apart by what is known of the visits: `free` workers that were on one CPU or on several,
//! two CPUs that were near to each other or far, and cores that the workers had alone or shared with others.

pub mod cores;

use crate::cell::{Axis, Cell};
use crate::measure::stats::distance::{Distance, LEAST_VISITS, Limit};
use crate::measure::stats::modes::{Mode, Modes, distant};
use crate::measure::stats::{Estimate, Interval, median};
use crate::record::{Measured, Sample};
use cores::{Core, Cores};

/// Samples in which all workers ended on one CPU.
pub const ONE_CPU: &str = "on one CPU";
/// Samples in which they did not.
pub const SEVERAL_CPUS: &str = "on several";

/// Some of the visits of a cell, or of their samples.
pub struct Stratum {
    /// What they have in common.
    name: &'static str,
    /// Their part of all, 0 to 1.
    share: f64,
    /// The visits, each with its place among all and its numbers over those samples.
    pub visits: Vec<(usize, Measured)>,
}

impl Stratum {
    fn is_one(&self) -> bool {
        self.visits.len() >= LEAST_VISITS
    }
}

/// The two figures of a cell whose visits are of two strata; `None` where they are of one, or where both have the same figure.
/// `figure` makes one of some visits.
pub fn split(
    cell: &Cell,
    measured: &[&Measured],
    cores: &Cores,
    figure: impl Fn(&Stratum) -> Option<Estimate>,
) -> Option<Modes> {
    strata(cell, measured, cores).into_iter().find_map(|both| {
        let [one, other] = both.map(|stratum| {
            figure(&stratum).map(|estimate| Mode { estimate, share: stratum.share, name: stratum.name })
        });
        // Sorts them.
        let modes = Modes([one?, other?]).map(Estimate::clone);
        let [smaller, greater] = modes.0.map(|mode| mode.estimate.value);
        distant(smaller, greater).then_some(modes)
    })
}

/// The pairs of strata that a cell's visits have, what matters most first.
fn strata(cell: &Cell, measured: &[&Measured], cores: &Cores) -> Vec<[Stratum; 2]> {
    let pairs = match cell.word(Axis::Placement) {
        "free" => vec![by_cpu(measured)],
        _ => by_distance(measured).into_iter().chain(by_core(measured, cores)).collect(),
    };
    pairs.into_iter().filter(|both| both.iter().all(Stratum::is_one)).collect()
}

/// Visits by who had the cores of their CPUs, where those with a shared one took surely longer: of some noise either side may be the faster
/// one by chance.
fn by_core(measured: &[&Measured], cores: &Cores) -> Option<[Stratum; 2]> {
    let sides: Vec<Option<Core>> = measured.iter().map(|measured| cores.side(measured)).collect();
    let times = |wanted: Core| -> Vec<f64> {
        let of = measured.iter().zip(&sides).filter(|(_, side)| **side == Some(wanted));
        of.map(|(measured, _)| measured.lead_ns()).collect()
    };
    let [alone, shared] = [Core::Alone, Core::Shared].map(times);
    let stratum = |wanted: Core| of_side(measured, wanted.word(), |place, _| sides[place] == Some(wanted));
    below(&alone, &shared).then(|| [Core::Alone, Core::Shared].map(stratum))
}

/// The fewest visits that are a stratum by core.
const LEAST_ON_A_CORE: usize = 3;

/// Whether the first times lie surely below the others: their interval where both have one, else each of them.
fn below(first: &[f64], other: &[f64]) -> bool {
    if first.len().min(other.len()) < LEAST_ON_A_CORE {
        return false;
    }
    let range = |times: &[f64]| {
        let interval = Estimate::of(times).and_then(|estimate| estimate.interval);
        let ends = |times: &[f64]| Interval {
            low: times.iter().copied().fold(f64::INFINITY, f64::min),
            high: times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        };
        interval.unwrap_or_else(|| ends(times))
    };
    range(first).high < range(other).low
}

/// The visits of which that holds, by their places.
fn of_side(measured: &[&Measured], name: &'static str, holds: impl Fn(usize, &Measured) -> bool) -> Stratum {
    let kept = measured.iter().enumerate().filter(|(place, measured)| holds(*place, measured));
    let visits: Vec<(usize, Measured)> = kept.map(|(place, measured)| (place, (*measured).clone())).collect();
    Stratum { name, share: visits.len() as f64 / measured.len() as f64, visits }
}

/// Samples by whether the workers shared a CPU at their end.
fn by_cpu(measured: &[&Measured]) -> [Stratum; 2] {
    let all: usize = measured.iter().map(|measured| measured.samples.len()).sum();
    [(ONE_CPU, true), (SEVERAL_CPUS, false)].map(|(name, wanted)| {
        let kept = |(place, measured): (usize, &&Measured)| {
            Some((place, only(measured, |sample| on_one_cpu(sample) == wanted)?))
        };
        let visits: Vec<(usize, Measured)> = measured.iter().enumerate().filter_map(kept).collect();
        let samples: usize = visits.iter().map(|(_, visit)| visit.samples.len()).sum();
        Stratum { name, share: samples as f64 / all as f64, visits }
    })
}

fn on_one_cpu(sample: &Sample) -> bool {
    sample.workers.windows(2).all(|pair| pair[0].cpu == pair[1].cpu)
}

/// The visit with the numbers of some of its samples; `None` where it has none of them.
fn only(measured: &Measured, wanted: impl Fn(&Sample) -> bool) -> Option<Measured> {
    let samples: Vec<Sample> = measured.samples.iter().filter(|sample| wanted(sample)).cloned().collect();
    let each_op = |of: &dyn Fn(&Sample) -> u64| -> Vec<f64> {
        samples.iter().map(|sample| of(sample) as f64 / measured.ops as f64).collect()
    };
    let elapsed = each_op(&|sample| sample.elapsed_ns);
    let cpu = each_op(&|sample| sample.workers.iter().map(|worker| worker.cpu_ns).sum());
    Some(Measured {
        floor_ns: elapsed.iter().copied().reduce(f64::min)?,
        typ_ns: median(&elapsed)?,
        cpu_ns: median(&cpu)?,
        samples,
        ..measured.clone()
    })
}

/// Visits by the way of a cache line between the CPUs, before and after: where it has two lengths that are far enough apart.
fn by_distance(measured: &[&Measured]) -> Option<[Stratum; 2]> {
    let ways: Vec<[f64; 2]> = measured.iter().map(|measured| measured.ping_pong_ns).collect::<Option<_>>()?;
    let limit = Limit::of(&ways)?;
    Some(
        [Distance::Near, Distance::Far].map(|wanted| {
            of_side(measured, wanted.word(), |place, _| limit.side(ways[place]) == Some(wanted))
        }),
    )
}
