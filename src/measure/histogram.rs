//! Counts of times in a fixed table, from which percentiles are read. Nothing is allocated when a time is
//! added, and the time that it takes does not depend on how many there are.

/// Steps between a time and its double: a percentile is exact to 1 part in this many.
pub const STEPS: u64 = 128;
const STEP_BITS: u32 = STEPS.trailing_zeros();
/// Times from this power of two on, 18 minutes in nanoseconds, are counted as the longest.
const LONGEST_BITS: u32 = 40;
const SLOTS: usize = ((LONGEST_BITS - STEP_BITS + 1) as usize) << STEP_BITS;

/// Times, counted by their size.
pub struct Histogram {
    counts: Vec<u32>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { counts: vec![0; SLOTS], total: 0 }
    }
}

impl Histogram {
    /// Forgets every time.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    /// Adds a time.
    #[inline]
    pub fn add(&mut self, ns: u64) {
        self.counts[slot(ns)] += 1;
        self.total += 1;
    }

    /// The time that `share` of all, from 0 to 1, did not exceed: the middle of the step that it is in, at most
    /// half of 1/128 from the truth. `None` where no time was added.
    pub fn percentile(&self, share: f64) -> Option<u64> {
        let wanted = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut counted = 0;
        let reached = |count: &u32| {
            counted += u64::from(*count);
            counted >= wanted
        };
        self.counts.iter().position(reached).map(|slot| (least_of(slot) + least_of(slot + 1)) / 2)
    }
}

/// Times below [`STEPS`] have a slot each; every doubling above has as many slots.
fn slot(ns: u64) -> usize {
    let ns = ns.min((1 << LONGEST_BITS) - 1);
    let doublings = (u64::BITS - ns.leading_zeros()).saturating_sub(STEP_BITS + 1);
    ((u64::from(doublings) << STEP_BITS) + (ns >> doublings)) as usize
}

/// The least time of a slot.
fn least_of(slot: usize) -> u64 {
    let slot = slot as u64;
    let doublings = (slot >> STEP_BITS).saturating_sub(1);
    (slot - (doublings << STEP_BITS)) << doublings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_holds_what_is_between_its_bounds() {
        let around = |bits: u32| [-1i64, 0, 1].map(|by| (1i64 << bits).saturating_add(by) as u64);
        for ns in (0..=LONGEST_BITS - 1).flat_map(around).chain(0..3000) {
            let slot = slot(ns);
            assert!(slot < SLOTS, "{ns}");
            let (least, next) = (least_of(slot), least_of(slot + 1));
            assert!((least..next).contains(&ns), "{ns} in {least}..{next}");
            assert!(next - least <= (least / STEPS).max(1), "{ns}: {least}..{next}");
        }
        assert_eq!(slot(u64::MAX), SLOTS - 1);
    }

    #[test]
    fn percentiles_are_those_of_the_sorted_times_to_half_a_step() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile(0.5), None);
        let times: Vec<u64> = (1..=1000).map(|number| number * 1234).collect();
        times.iter().for_each(|ns| histogram.add(*ns));
        for (share, truth) in [(0.5, times[499]), (0.99, times[989]), (1.0, times[999]), (0.0, times[0])] {
            let got = histogram.percentile(share).unwrap();
            assert!(got.abs_diff(truth) <= truth / STEPS, "{share}: {got}, not {truth}");
        }
        histogram.clear();
        histogram.add(100);
        assert_eq!(histogram.percentile(0.99), Some(100));
    }
}
