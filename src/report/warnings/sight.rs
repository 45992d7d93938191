//! What a detector sees of a visit: the visit, what disturbed its process, its round, and the other visits of its cell.

use crate::measure::stats::{LEAST_VISITS, median};
use crate::record::{Measured, Noise, Outcome, Sample, Visit, WorkerSample};
use crate::report::load::Run;
use crate::report::samples;
use crate::strata::cores::{Cores, Reading};
use std::collections::BTreeMap;

/// A visit among the others.
pub struct Sight<'a> {
    /// The visit.
    pub visit: &'a Visit,
    /// Its figures.
    pub measured: &'a Measured,
    /// What disturbed the process that made it.
    pub noise: Option<&'a Noise>,
    /// The fixed arithmetic of its round over that of the median round, or the other way round: 1 or more.
    pub canary: Option<f64>,
    /// The measured visits of its cell, this one among them.
    pub cell: &'a Others,
    /// The arithmetic that could use a whole core, at its slower reading, over the least on those CPUs in the run.
    pub whole_core: Option<f64>,
    /// The last CPU that visits on one CPU had, which they take where nothing keeps them off it.
    pub first_choice: Option<usize>,
}

/// What is usual for a cell.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// The least of [`run_delay`].
    pub least_delay: Option<f64>,
    /// The least pressure.
    pub least_pressure: Option<f64>,
    /// The least time of a cache line, in nanoseconds.
    pub least_ping_pong_ns: Option<f64>,
    /// The median of [`switches_an_op`]; `None` where the visits are too few to say what is usual.
    pub usual_switches: Option<f64>,
}

impl Others {
    fn of(visits: &[(&Measured, Option<&Noise>)]) -> Others {
        let least = |numbers: &mut dyn Iterator<Item = f64>| numbers.reduce(f64::min);
        let measured = || visits.iter().map(|(measured, _)| *measured);
        let switches: Vec<f64> = measured().map(switches_an_op).collect();
        Others {
            least_delay: least(&mut measured().filter_map(run_delay)),
            least_pressure: least(&mut visits.iter().filter_map(|(_, noise)| noise.as_ref()?.pressure_share)),
            least_ping_pong_ns: least(&mut measured().filter_map(|measured| measured.ping_pong_ns).flatten()),
            usual_switches: median(&switches).filter(|_| switches.len() >= LEAST_VISITS),
        }
    }
}

/// Calls that for every measured visit, with its place among the visits of the run.
pub fn each(run: &Run, mut saw: impl FnMut(usize, &Sight)) {
    let noises = noises(&run.visits);
    let canaries = canaries(&run.visits);
    let cores = Cores::of(&run.visits);
    let usual_ns = usual(&canaries);
    let mut cells: BTreeMap<usize, Vec<(&Measured, Option<&Noise>)>> = BTreeMap::new();
    let mut seen = None;
    for (visit, noise) in run.visits.iter().zip(&noises) {
        if let Outcome::Measured(measured) = &visit.outcome {
            cells.entry(visit.cell_index).or_default().push((measured, *noise));
            seen = seen.max(visit.shared_cpu());
        }
    }
    // The last that is allowed. An older journal does not tell: the last that was shared.
    let first_choice = run.header.allowed_cpus.last().map(|cpu| *cpu as usize).or(seen);
    let cells: BTreeMap<usize, Others> =
        cells.into_iter().map(|(index, visits)| (index, Others::of(&visits))).collect();
    for (place, (visit, noise)) in run.visits.iter().zip(noises).enumerate() {
        let (Outcome::Measured(measured), Some(cell)) = (&visit.outcome, cells.get(&visit.cell_index)) else {
            continue;
        };
        let canary =
            canaries.get(&visit.round).zip(usual_ns).map(|(own, usual)| apart(*own as f64, usual as f64));
        let ratios = Reading::of(measured).and_then(|reading| cores.ratios(&reading));
        let whole_core = ratios.map(|[before, after]| before.max(after));
        saw(place, &Sight { visit, measured, noise, canary, cell, whole_core, first_choice });
    }
}

/// The noise around each visit. It is recorded with the first visit of a process; those that follow in the same process
/// begin in the very nanosecond in which the one before ended.
fn noises(visits: &[Visit]) -> Vec<Option<&Noise>> {
    let mut noises: Vec<Option<&Noise>> = Vec::with_capacity(visits.len());
    let mut before: Option<&Visit> = None;
    for visit in visits {
        let follows = |before: &Visit| {
            before.round == visit.round
                && before.begin_ns.checked_add(before.duration_ns) == Some(visit.begin_ns)
        };
        let same_process = visit.noise.is_none() && before.is_some_and(follows);
        let carried = if same_process { noises.last().copied().flatten() } else { None };
        noises.push(visit.noise.as_ref().or(carried));
        before = Some(visit);
    }
    noises
}

/// That of the median round, of an even number the faster of the two in the middle.
fn usual(canaries: &BTreeMap<u32, u64>) -> Option<u64> {
    let mut sorted: Vec<u64> = canaries.values().copied().collect();
    sorted.sort_unstable();
    sorted.get(sorted.len().checked_sub(1)? / 2).copied()
}

/// How many times the one is the other, 1 or more.
fn apart(one: f64, other: f64) -> f64 {
    (one / other).max(other / one)
}

/// The fixed arithmetic of each round that has it, in nanoseconds.
fn canaries(visits: &[Visit]) -> BTreeMap<u32, u64> {
    let mut canaries = BTreeMap::new();
    for visit in visits {
        if let Some(ns) = visit.noise.and_then(|noise| noise.canary_ns).filter(|ns| *ns > 0) {
            canaries.entry(visit.round).or_insert(ns);
        }
    }
    canaries
}

/// Nanoseconds of all samples.
pub fn elapsed_ns(measured: &Measured) -> f64 {
    measured.samples.iter().map(|sample| sample.elapsed_ns).sum::<u64>() as f64
}

/// Whether every worker was on a CPU of its own at the end of each sample.
pub fn own_cpus(measured: &Measured) -> bool {
    let own = |sample: &Sample| {
        let mut cpus: Vec<usize> = sample.workers.iter().map(|worker| worker.cpu).collect();
        cpus.sort_unstable();
        cpus.windows(2).all(|pair| pair[0] != pair[1])
    };
    measured.samples.iter().all(own)
}

/// Workers of the visit.
pub fn workers(measured: &Measured) -> usize {
    measured.samples.first().map_or(0, |sample| sample.workers.len())
}

/// The greatest share of the time in which a worker was ready and waited; `None` where that is not recorded.
pub fn run_delay(measured: &Measured) -> Option<f64> {
    let of = |worker: usize| -> Option<u64> {
        let own =
            |sample: &Sample| sample.workers.get(worker).and_then(|own: &WorkerSample| own.run_delay_ns);
        measured.samples.iter().map(own).sum()
    };
    let delays: Vec<u64> = (0..workers(measured)).map(of).collect::<Option<_>>()?;
    delays.into_iter().max().map(|delay_ns| delay_ns as f64 / elapsed_ns(measured).max(1.0))
}

/// Context switches of all workers for each operation of one.
pub fn switches_an_op(measured: &Measured) -> f64 {
    let switches: f64 = measured.samples.iter().map(samples::switches).sum();
    switches / (measured.ops as f64 * measured.samples.len().max(1) as f64)
}
