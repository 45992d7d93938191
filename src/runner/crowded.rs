//! CPUs that another task used while the workers of a visit shared them: visits on one CPU avoid them for a while, where another
//! CPU will do. Pure: it is fed visits and asked before the next.

use crate::record::{DILATED, Visit};
use std::collections::BTreeMap;

/// A CPU is avoided for so many visits, after another disturbed one for twice as many, and so on.
const FIRST_VISITS: u32 = 8;
const MOST_VISITS: u32 = 64;

/// What is known of each CPU that was crowded.
#[derive(Clone, Debug, Default)]
pub struct Crowded(BTreeMap<usize, Avoided>);

#[derive(Clone, Copy, Debug)]
struct Avoided {
    /// Visits on one CPU before it is tried again.
    left: u32,
    /// How many they were the last time.
    last: u32,
}

impl Crowded {
    /// The CPUs that the next visit should avoid.
    pub fn cpus(&self) -> Vec<usize> {
        self.0.iter().filter(|(_, avoided)| avoided.left > 0).map(|(cpu, _)| *cpu).collect()
    }

    /// Takes in a visit. Only those whose workers were pinned to one CPU, and of which one was always at work, tell whether
    /// something else had it.
    pub fn take(&mut self, visit: &Visit) {
        let Some((cpu, dilation)) = visit.shared_cpu().zip(visit.dilation()) else { return };
        for avoided in self.0.values_mut() {
            avoided.left = avoided.left.saturating_sub(1);
        }
        if dilation <= DILATED {
            self.0.remove(&cpu);
            return;
        }
        let last = self.0.get(&cpu).map_or(0, |avoided| avoided.last);
        let visits = (2 * last).clamp(FIRST_VISITS, MOST_VISITS);
        self.0.insert(cpu, Avoided { left: visits, last: visits });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Axis, Cell, Measure, Value};
    use crate::record::{Lead, Measured, Outcome, Sample, WorkerSample};
    use crate::report::load::parse_run;

    /// A visit of two workers on those CPUs, each of which worked for half of that share of the time.
    fn visit(measure: Measure, placement: &str, cpus: [usize; 2], busy: f64) -> Visit {
        let run = parse_run(include_bytes!("../../tests/golden/small.jsonl"), "small").unwrap();
        let mut visit =
            run.visits.into_iter().find(|visit| matches!(visit.outcome, Outcome::Measured(_))).unwrap();
        visit.cell = Cell::new(measure, "x").with(Axis::Placement, Value::word(placement));
        let Outcome::Measured(measured) = &mut visit.outcome else { unreachable!("it was measured") };
        let worker = |cpu| WorkerSample { cpu, cpu_ns: (2.5e6 * busy) as u64, ..WorkerSample::default() };
        let sample =
            Sample { elapsed_ns: 5_000_000, workers: cpus.map(worker).to_vec(), ..Sample::default() };
        **measured = Measured { lead: Lead::Floor, samples: vec![sample; 3], ..(**measured).clone() };
        visit
    }

    fn shared(cpu: usize, busy: f64) -> Visit {
        visit(Measure::RoundTrip, "same_cpu", [cpu; 2], busy)
    }

    #[test]
    fn a_cpu_that_something_else_had_is_avoided_and_tried_again_ever_later() {
        let mut crowded = Crowded::default();
        crowded.take(&shared(1, 0.98));
        assert!(crowded.cpus().is_empty(), "2 % are nobody");
        for visits in [8, 16, 32, 64, 64] {
            crowded.take(&shared(1, 0.6));
            for _ in 0..visits {
                assert_eq!(crowded.cpus(), [1]);
                crowded.take(&shared(0, 0.99));
            }
            assert!(crowded.cpus().is_empty(), "it is tried again after {visits}");
        }
        crowded.take(&shared(1, 0.99));
        crowded.take(&shared(1, 0.6));
        (0..8).for_each(|_| crowded.take(&shared(0, 0.99)));
        assert!(crowded.cpus().is_empty(), "once it was free, the next time is a first time");
    }

    #[test]
    fn several_are_avoided_at_a_time() {
        let mut crowded = Crowded::default();
        crowded.take(&shared(3, 0.5));
        crowded.take(&shared(2, 0.5));
        assert_eq!(crowded.cpus(), [2, 3]);
    }

    #[test]
    fn what_waits_or_is_not_pinned_to_one_says_nothing() {
        let mut crowded = Crowded::default();
        crowded.take(&visit(Measure::Append, "same_cpu", [1, 1], 0.3));
        crowded.take(&visit(Measure::RoundTrip, "cross_cpu", [0, 1], 0.3));
        crowded.take(&visit(Measure::RoundTrip, "free", [1, 1], 0.3));
        assert!(crowded.cpus().is_empty());
    }
}
