//! Which visits had the cores of their CPUs for themselves: by arithmetic that could use a whole core, timed before and after each.

use crate::record::{Measured, Outcome, Visit};
use std::collections::{BTreeMap, BTreeSet};

/// From so many times as long as it takes on a core that nobody shares, another thread uses the core. Alone it varies by 1 to 3 %; two
/// threads on one core take 1.2 to 2 times as long (measured on a virtual machine; see ARCHITECTURE.md).
pub const SHARED_RATIO: f64 = 1.1;

/// Who had the cores of a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Its workers alone, before and after.
    Alone,
    /// Other threads too, before and after.
    Shared,
}

impl Core {
    /// Its name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Core::Alone => "core alone",
            Core::Shared => "core shared",
        }
    }
}

/// What the arithmetic takes at best on the CPUs of a run, which may be of several kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores(BTreeMap<BTreeSet<usize>, u64>);

impl Cores {
    /// Of the visits that timed it, the least on the same CPUs.
    pub fn of(visits: &[Visit]) -> Cores {
        let mut least = BTreeMap::new();
        for visit in visits {
            let Outcome::Measured(measured) = &visit.outcome else { continue };
            let Some(ns) = measured.whole_core_ns else { continue };
            let least: &mut u64 = least.entry(cpus(measured)).or_insert(u64::MAX);
            *least = ns.into_iter().fold(*least, u64::min);
        }
        Cores(least)
    }

    /// How many times as long as at best it took before and after the visit; `None` where the visit did not time it.
    pub fn ratios(&self, measured: &Measured) -> Option<[f64; 2]> {
        let ns = measured.whole_core_ns?;
        let least = *self.0.get(&cpus(measured))?;
        Some(ns.map(|ns| ns as f64 / least.max(1) as f64))
    }

    /// Who had the cores; `None` where it is not known, or changed meanwhile.
    pub fn side(&self, measured: &Measured) -> Option<Core> {
        match self.ratios(measured)?.map(|ratio| ratio > SHARED_RATIO) {
            [false, false] => Some(Core::Alone),
            [true, true] => Some(Core::Shared),
            _ => None,
        }
    }
}

/// The CPUs on which the workers of a visit ended their samples.
fn cpus(measured: &Measured) -> BTreeSet<usize> {
    measured.samples.iter().flat_map(|sample| &sample.workers).map(|worker| worker.cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Sample, WorkerSample};

    /// A visit by its worker's CPU and both readings.
    fn visit((cpu, whole_core_ns): &(usize, Option<[u64; 2]>)) -> Visit {
        let worker = WorkerSample { cpu: *cpu, ..WorkerSample::default() };
        let samples = vec![Sample { workers: vec![worker], ..Sample::default() }];
        let journal = include_str!("../../tests/golden/small.jsonl");
        let mut visits = journal.lines().filter_map(|line| serde_json::from_str::<Visit>(line).ok());
        let measured = |visit: &Visit| matches!(visit.outcome, Outcome::Measured(_));
        let mut visit = visits.find(measured).expect("it has one");
        if let Outcome::Measured(measured) = &mut visit.outcome {
            (measured.whole_core_ns, measured.samples) = (*whole_core_ns, samples);
        }
        visit
    }

    fn sides(visits: &[Visit]) -> Vec<Option<Core>> {
        let cores = Cores::of(visits);
        let measured = visits.iter().filter_map(|visit| match &visit.outcome {
            Outcome::Measured(measured) => Some(measured),
            _ => None,
        });
        measured.map(|measured| cores.side(measured)).collect()
    }

    #[test]
    fn a_visit_is_alone_by_the_best_reading_of_the_run_on_its_cpus() {
        let visits: Vec<Visit> = [
            (1, Some([1000, 1100])),
            (1, Some([1101, 1900])),
            (1, Some([1100, 1101])),
            (1, None),
            // Another kind of CPU, where it takes twice as long at best.
            (0, Some([2000, 2100])),
            (0, Some([2300, 2300])),
        ]
        .iter()
        .map(visit)
        .collect();
        let (alone, shared) = (Some(Core::Alone), Some(Core::Shared));
        assert_eq!(sides(&visits), [alone, shared, None, None, alone, shared]);
    }
}
