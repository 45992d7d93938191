//! Which visits had the cores of their CPUs for themselves: by arithmetic that could use a whole core, timed before and after each.

use crate::record::{Measured, Outcome, Visit};
use std::collections::{BTreeMap, BTreeSet};

/// From so many times as long as it takes on a core that nobody shares, another thread uses the core. Alone it varies by 1 to 3 %; two
/// threads on one core take 1.2 to 2 times as long (measured on a virtual machine; see ARCHITECTURE.md).
pub const SHARED_RATIO: f64 = 1.1;

/// The fewest readings, two a visit, of which one can be taken for the best that there is.
pub const LEAST_READINGS: usize = 12;

/// One reading in so many may be too low.
const LOW_PART: usize = 50;

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

/// What a visit timed of the cores of its CPUs.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The CPUs of its workers, and whether dependent steps were timed: readings of one kind have one unit.
    kind: (BTreeSet<usize>, bool),
    /// How long the arithmetic took before and after, over what dependent steps took, so that the clock rate makes no difference,
    /// where both were timed.
    took: [f64; 2],
}

impl Reading {
    /// Of the nanoseconds that both took before and after, on those CPUs.
    pub fn new(cpus: BTreeSet<usize>, whole_core_ns: [u64; 2], dependent_ns: Option<[u64; 2]>) -> Reading {
        let [before, after] = whole_core_ns.map(|ns| ns.max(1) as f64);
        let [slow_before, slow_after] = dependent_ns.unwrap_or([1; 2]).map(|ns| ns.max(1) as f64);
        Reading { kind: (cpus, dependent_ns.is_some()), took: [before / slow_before, after / slow_after] }
    }

    /// Of a visit, by the CPUs on which its workers ended their samples; `None` where it did not time it.
    pub fn of(measured: &Measured) -> Option<Reading> {
        let workers = measured.samples.iter().flat_map(|sample| &sample.workers);
        let cpus = workers.map(|worker| worker.cpu).collect();
        Some(Reading::new(cpus, measured.whole_core_ns?, measured.dependent_ns))
    }
}

/// What the arithmetic takes at best on the CPUs of a run, which may be of several kinds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cores(BTreeMap<(BTreeSet<usize>, bool), f64>);

impl Cores {
    /// Of the visits of a run.
    pub fn of<'a>(visits: impl IntoIterator<Item = &'a Visit>) -> Cores {
        let reading = |visit: &Visit| match &visit.outcome {
            Outcome::Measured(measured) => Reading::of(measured),
            _ => None,
        };
        Cores::of_readings(visits.into_iter().filter_map(reading))
    }

    /// Of the visits that timed it on the same CPUs, the reading that one in fifty lies below, and two at least: a disturbance of the
    /// dependent steps makes a reading too low. Where there are fewer than [`LEAST_READINGS`] it is not known what is best.
    pub fn of_readings(all: impl IntoIterator<Item = Reading>) -> Cores {
        let mut readings: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        for Reading { kind, took } in all {
            readings.entry(kind).or_default().extend(took);
        }
        let known = readings.into_iter().filter(|(_, readings)| readings.len() >= LEAST_READINGS);
        let low = |(kind, mut readings): (_, Vec<f64>)| {
            readings.sort_by(f64::total_cmp);
            (kind, readings[(readings.len() / LOW_PART).max(2)])
        };
        Cores(known.map(low).collect())
    }

    /// How many times as long as at best it took before and after; `None` where it is not known what is best.
    pub fn ratios(&self, reading: &Reading) -> Option<[f64; 2]> {
        let least = *self.0.get(&reading.kind)?;
        Some(reading.took.map(|took| took / least))
    }

    /// Who had the cores of a visit; `None` where it is not known, or changed meanwhile.
    pub fn side(&self, measured: &Measured) -> Option<Core> {
        match self.ratios(&Reading::of(measured)?)?.map(|ratio| ratio > SHARED_RATIO) {
            [false, false] => Some(Core::Alone),
            [true, true] => Some(Core::Shared),
            _ => None,
        }
    }

    /// The part of these visits, 0 to 1, in which another thread used a core, before or after; `None` where no visit tells.
    pub fn shared_share(&self, readings: &[Reading]) -> Option<f64> {
        let known: Vec<[f64; 2]> = readings.iter().filter_map(|reading| self.ratios(reading)).collect();
        let shared = known.iter().filter(|ratios| ratios.iter().any(|ratio| *ratio > SHARED_RATIO)).count();
        (!known.is_empty()).then(|| shared as f64 / known.len() as f64)
    }
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

    const ALONE: Option<Core> = Some(Core::Alone);
    const SHARED: Option<Core> = Some(Core::Shared);

    #[test]
    fn a_visit_is_alone_by_the_best_readings_of_the_run_on_its_cpus() {
        let mut visits: Vec<Visit> = (0..6).map(|_| visit(&(1, Some([1000, 1000])))).collect();
        // Another kind of CPU, where it takes twice as long at best.
        visits.extend((0..6).map(|_| visit(&(0, Some([2000, 2100])))));
        let more = [
            (1, Some([1101, 1900])),
            (1, Some([1100, 1101])),
            (1, None),
            (0, Some([2300, 2300])),
            (1, Some([500, 1000])),
        ];
        visits.extend(more.iter().map(visit));
        let sides = sides(&visits);
        assert_eq!(sides[..12], [ALONE; 12]);
        assert_eq!(
            sides[12..],
            [SHARED, None, None, SHARED, ALONE],
            "a single reading is no measure of the others"
        );
    }

    #[test]
    fn of_few_visits_nothing_is_known() {
        let visits: Vec<Visit> = (0..6).map(|at| visit(&(1, Some([1000 + 100 * at; 2])))).collect();
        assert_eq!(sides(&visits[..5]), [None; 5]);
        assert_eq!(sides(&visits), [ALONE, ALONE, ALONE, SHARED, SHARED, SHARED]);
    }

    #[test]
    fn a_visit_shared_its_core_where_either_reading_says_so() {
        let reading = |cpu, took| Reading::new(BTreeSet::from([cpu]), took, None);
        let own = [
            reading(1, [1000, 1000]),
            reading(1, [1000, 1200]),
            reading(1, [1200, 1200]),
            reading(0, [7, 7]),
        ];
        let many = std::iter::repeat_n(reading(1, [1000, 1010]), LEAST_READINGS);
        let cores = Cores::of_readings(many.chain(own.clone()));
        assert_eq!(cores.shared_share(&own), Some(2.0 / 3.0), "nothing is known of CPU 0");
        assert_eq!((cores.shared_share(&own[3..]), cores.shared_share(&[])), (None, None));
    }

    #[test]
    fn a_slower_clock_is_no_shared_core() {
        let at = |whole_core_ns, dependent_ns| {
            let mut visit = visit(&(1, Some([whole_core_ns; 2])));
            if let Outcome::Measured(measured) = &mut visit.outcome {
                measured.dependent_ns = Some([dependent_ns; 2]);
            }
            visit
        };
        let visits =
            [at(1000, 500), at(2000, 1000), at(1500, 500), at(3000, 1000), at(1000, 500), at(1010, 500)];
        assert_eq!(sides(&visits), [ALONE, ALONE, SHARED, SHARED, ALONE, ALONE]);
    }
}
