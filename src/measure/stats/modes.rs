//! Whether the visits of a cell fall into two separate modes, so that one number would stand for neither.
//!
//! The test: sort the visits and split them at the widest gap that leaves each side at least
//! [`LEAST_SHARE`] of them, and [`LEAST_IN_MODE`]. They are two modes where
//!
//! - the gap is over [`GAP_LIMIT`] times the sum of both sides' interquartile ranges, and
//! - the medians of the sides differ by over [`LEAST_DISTANCE`] of the smaller one.
//!
//! Ranges are between quartiles, so that a spike inside a mode does not hide it; a few spikes are too few to be a
//! mode. By simulation (4,000 trials each, see the tests) visits of one mode are taken for two in at most 1 % of
//! cells of 12 to 60 visits where they are log-normal (sigma 0.05 to 0.8), Cauchy or drifting, and in at most 3 %
//! where one visit in ten is a spike of 1.1 to 3 times the rest. Two modes of 70 % and 30 %, 1 and 2 with a
//! deviation of 5 %, are told in half of the cells of 12 visits, 88 % of 20, 96 % of 30; what is missed has too few visits in
//! the smaller mode.

use super::Estimate;

/// The fewest visits in which two modes are looked for.
pub const LEAST_VISITS: usize = 12;

/// The least share of the visits that is a mode.
pub const LEAST_SHARE: f64 = 0.15;

/// The fewest visits that are a mode: of fewer one cannot say how far they spread.
pub const LEAST_IN_MODE: usize = 4;

/// How many times the spread within both modes the gap between them must be.
pub const GAP_LIMIT: f64 = 2.0;

/// The least distance of the medians, as a part of the smaller: nearer ones are one number to a reader.
pub const LEAST_DISTANCE: f64 = 0.05;

/// One of two modes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// The median over its visits, with its interval where they are enough.
    pub estimate: Estimate,
    /// Its part of all visits, 0 to 1.
    pub share: f64,
    /// What its visits have in common, where that is known; else empty.
    pub name: &'static str,
}

/// Two modes, the smaller number first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes(pub [Mode; 2]);

impl Modes {
    /// The two modes of values in the order of the visits; `None` where they are one, are too few to tell, or where
    /// one is not finite.
    pub fn of(values: &[f64]) -> Option<Modes> {
        if values.len() < LEAST_VISITS {
            return None;
        }
        let sorted = super::sorted(values)?;
        let split = widest_gap(&sorted);
        let (low, high) = sorted.split_at(split);
        let gap = high[0] - low[low.len() - 1];
        let (smaller, greater) = (super::median(low)?, super::median(high)?);
        let apart = gap > GAP_LIMIT * (interquartile_range(low) + interquartile_range(high));
        if !apart || !distant(smaller, greater) {
            return None;
        }
        let mode = |own: &dyn Fn(f64) -> bool| {
            let visits: Vec<f64> = values.iter().copied().filter(|value| own(*value)).collect();
            let share = visits.len() as f64 / values.len() as f64;
            Estimate::of(&visits).map(|estimate| Mode { estimate, share, name: "" })
        };
        Some(Modes([mode(&|value| value < high[0])?, mode(&|value| value >= high[0])?]))
    }

    /// The same modes in another unit, or as rates: the smaller number comes first again.
    pub fn map(&self, of: impl Fn(&Estimate) -> Estimate) -> Modes {
        let mut modes = self.0.map(|mode| Mode { estimate: of(&mode.estimate), ..mode });
        modes.sort_by(|one, other| one.estimate.value.total_cmp(&other.estimate.value));
        Modes(modes)
    }
}

/// Whether two numbers are more than one to a reader.
pub fn distant(smaller: f64, greater: f64) -> bool {
    greater - smaller > LEAST_DISTANCE * smaller.abs()
}

/// Where to split sorted values, [`LEAST_VISITS`] or more: before the value behind the widest gap.
fn widest_gap(sorted: &[f64]) -> usize {
    let count = sorted.len();
    let least = LEAST_IN_MODE.max((LEAST_SHARE * count as f64).ceil() as usize);
    let gap = |split: &usize| sorted[*split] - sorted[*split - 1];
    let splits = least..=count - least;
    splits.max_by(|one, other| gap(one).total_cmp(&gap(other))).unwrap_or(least)
}

/// The distance between the quartiles of sorted values, each interpolated between its neighbours.
fn interquartile_range(sorted: &[f64]) -> f64 {
    let at = |quantile: f64| {
        let place = quantile * (sorted.len() - 1) as f64;
        let below = place.floor() as usize;
        let above = (below + 1).min(sorted.len() - 1);
        sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
    };
    at(0.75) - at(0.25)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn normal(random: &mut ChaCha8Rng) -> f64 {
        let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// A value of that visit of so many.
    type Source = fn(&mut ChaCha8Rng, f64) -> f64;

    fn spiky(random: &mut ChaCha8Rng, _: f64) -> f64 {
        let spike = if random.random::<f64>() < 0.1 { 1.1 + 1.9 * random.random::<f64>() } else { 1.0 };
        spike * (1.0 + 0.01 * normal(random))
    }

    fn two_modes(random: &mut ChaCha8Rng, _: f64) -> f64 {
        let mode = if random.random::<f64>() < 0.7 { 1.0 } else { 2.0 };
        mode + 0.05 * normal(random)
    }

    /// The share of trials in which two modes are found.
    fn found(source: Source, count: usize, trials: usize) -> f64 {
        let mut random = ChaCha8Rng::seed_from_u64(1985);
        let mut draw = |_| {
            let value = |visit: usize| source(&mut random, visit as f64 / count as f64);
            Modes::of(&(0..count).map(value).collect::<Vec<f64>>()).is_some()
        };
        (0..trials).filter(|trial| draw(*trial)).count() as f64 / trials as f64
    }

    #[test]
    fn one_mode_is_seldom_taken_for_two() {
        let sources: [(&str, Source, f64); 6] = [
            ("narrow log-normal", |random, _| (0.05 * normal(random)).exp(), 0.01),
            ("log-normal", |random, _| (0.3 * normal(random)).exp(), 0.01),
            ("wide log-normal", |random, _| (0.8 * normal(random)).exp(), 0.01),
            ("Cauchy", |random, _| 100.0 + 5.0 * normal(random) / normal(random), 0.01),
            ("drift", |random, part| (1.0 + 0.5 * part) * (1.0 + 0.02 * normal(random)), 0.01),
            ("spiky", spiky, 0.03),
        ];
        for (name, source, most) in sources {
            for count in [12, 16, 20, 30, 60] {
                let share = found(source, count, 4000);
                assert!(share <= most, "{name}, {count} visits: {share}");
            }
        }
    }

    #[test]
    fn two_modes_are_found() {
        for (count, least) in [(12, 0.45), (20, 0.85), (30, 0.93), (60, 0.98)] {
            let share = found(two_modes, count, 4000);
            assert!(share >= least, "{count} visits: {share}");
        }
    }

    #[test]
    fn modes_have_their_medians_and_shares() {
        let values = [9.0, 1.0, 1.1, 1.2, 9.1, 1.0, 1.1, 9.2, 1.2, 1.1, 9.1, 1.1];
        let Modes([low, high]) = Modes::of(&values).unwrap();
        assert_eq!((low.estimate.value, high.estimate.value), (1.1, 9.1));
        assert_eq!((low.estimate.visits, high.estimate.visits), (8, 4));
        assert!((low.share - 8.0 / 12.0).abs() < 1e-12 && (high.share - 4.0 / 12.0).abs() < 1e-12);
        assert!(low.estimate.interval.is_some() && high.estimate.interval.is_none());
        let Modes([slow, fast]) = Modes::of(&values).unwrap().map(|estimate| estimate.rate(9.1));
        assert_eq!((slow.estimate.value, fast.estimate.visits), (1.0, 8));
    }

    #[test]
    fn too_few_visits_or_too_near_modes_are_one() {
        let far = |near: usize, far: usize| [vec![1.0; near], vec![9.0; far]].concat();
        assert!(Modes::of(&far(8, 4)).is_some());
        assert_eq!(Modes::of(&far(7, 4)), None, "eleven visits");
        assert_eq!(Modes::of(&far(9, 3)), None, "three are no mode");
        assert!(Modes::of(&far(17, 3)).is_none() && Modes::of(&far(34, 6)).is_some(), "15 %");
        assert_eq!(Modes::of(&far(35, 5)), None, "under 15 %");
        assert_eq!(Modes::of(&[vec![1.0; 8], vec![1.04; 8]].concat()), None, "4 % apart");
        assert!(Modes::of(&[vec![1.0; 8], vec![1.06; 8]].concat()).is_some());
        assert_eq!(Modes::of(&[1.0; 20]), None);
        assert_eq!(Modes::of(&[f64::NAN; 20]), None);
    }
}
