//! Paired differences: how far one side lies from the other, and whether that can be chance.
//!
//! Pure arithmetic; the unit is that of the differences (for ratios: give their logarithms).
//!
//! Sources: Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1 (1945); Hodges and Lehmann,
//! "Estimates of location based on rank tests", Annals of Mathematical Statistics 34 (1963); Tukey's interval by Walsh
//! averages as in Hollander, Wolfe and Chicken, "Nonparametric Statistical Methods" (2014), chapter 3.

use super::{Interval, median, sorted};
use statrs::distribution::{ContinuousCDF, Normal};

/// With more differences than this the distribution of the rank sum is taken as normal.
const MOST_EXACT: usize = 100;

/// The Hodges-Lehmann estimate of the middle of differences: the median of the means of all pairs of them, each with
/// itself included. `None` where there is none or one is not finite.
pub fn hodges_lehmann(differences: &[f64]) -> Option<f64> {
    median(&walsh_averages(differences))
}

/// The interval of the Hodges-Lehmann estimate that belongs to the signed-rank test: the middle of differences that are
/// symmetric about it lies inside with at least that confidence (0.95 reads as 95 %). `None` where so few differences
/// cannot give that confidence (0.95 wants 6, 0.90 wants 5), or one is not finite.
///
/// With k the greatest number for which P(W < k) is at most half of 1 - confidence, W being the rank sum of
/// the positive ones where there is no difference, the ends are the k-th Walsh averages from below and from above.
pub fn interval(differences: &[f64], confidence: f64) -> Option<Interval> {
    let averages = sorted(&walsh_averages(differences))?;
    let ranks = RankSum::new((1..=differences.len()).map(|rank| 2 * rank).collect());
    let side = (1.0 - confidence) / 2.0;
    let depth = (1..=averages.len() / 2).take_while(|depth| ranks.at_most(2 * (depth - 1)) <= side).last()?;
    Some(Interval { low: averages[depth - 1], high: averages[averages.len() - depth] })
}

/// The two-sided p of Wilcoxon's signed-rank test: how often differences that are symmetric about 0 would give a rank
/// sum at least as far from its middle. `None` where there is none or one is not finite.
///
/// Differences of 0 are left out, as Wilcoxon did; equal ones share the mean of their ranks, and the distribution is the
/// exact one for those ranks up to 100 of them, beyond that the normal one with a correction for steps. Where all
/// are 0, p is 1.
pub fn p_value(differences: &[f64]) -> Option<f64> {
    if differences.is_empty() || differences.iter().any(|difference| !difference.is_finite()) {
        return None;
    }
    let mut moved: Vec<f64> = differences.iter().copied().filter(|difference| *difference != 0.0).collect();
    moved.sort_by(|one, other| one.abs().total_cmp(&other.abs()));
    let doubled = doubled_ranks(&moved);
    let positive: usize =
        moved.iter().zip(&doubled).filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| rank).sum();
    let negative = doubled.iter().sum::<usize>() - positive;
    let ranks = RankSum::new(doubled);
    Some((2.0 * ranks.at_most(positive.min(negative))).min(1.0))
}

/// The means of all pairs, each with itself included.
fn walsh_averages(values: &[f64]) -> Vec<f64> {
    let with_later = |(at, one): (usize, &f64)| {
        values[at..].iter().map(|other| one / 2.0 + other / 2.0).collect::<Vec<f64>>()
    };
    values.iter().enumerate().flat_map(with_later).collect()
}

/// Twice the rank of each of the values, which are in rising order of their size; equal ones share the mean.
fn doubled_ranks(by_size: &[f64]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(by_size.len());
    for equal in by_size.chunk_by(|one, other| one.abs() == other.abs()) {
        let (first, last) = (ranks.len() + 1, ranks.len() + equal.len());
        ranks.extend(equal.iter().map(|_| first + last));
    }
    ranks
}

/// Twice the sum of those ranks of which each counts by the throw of a coin.
struct RankSum {
    doubled: Vec<usize>,
    /// How likely each sum is, from 0, or one below it.
    cumulated: Vec<f64>,
}

impl RankSum {
    fn new(doubled: Vec<usize>) -> RankSum {
        let cumulated = if doubled.len() <= MOST_EXACT { cumulated(&doubled) } else { Vec::new() };
        RankSum { doubled, cumulated }
    }

    /// The probability of a doubled sum of at most that.
    fn at_most(&self, doubled_sum: usize) -> f64 {
        if let Some(last) = self.cumulated.len().checked_sub(1) {
            return self.cumulated[doubled_sum.min(last)];
        }
        let mean = self.doubled.iter().sum::<usize>() as f64 / 2.0;
        let variance = self.doubled.iter().map(|rank| (rank * rank) as f64).sum::<f64>() / 4.0;
        Normal::standard().cdf((doubled_sum as f64 + 1.0 - mean) / variance.sqrt())
    }
}

fn cumulated(doubled: &[usize]) -> Vec<f64> {
    let mut likely = vec![0.0; doubled.iter().sum::<usize>() + 1];
    likely[0] = 1.0;
    for rank in doubled {
        for sum in (0..likely.len()).rev() {
            let with = if sum >= *rank { likely[sum - rank] } else { 0.0 };
            likely[sum] = (likely[sum] + with) / 2.0;
        }
    }
    let mut below = 0.0;
    for one in &mut likely {
        below += *one;
        *one = below;
    }
    likely
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
    }

    /// The depression scale of nine patients before and after: Hollander, Wolfe and Chicken, example 3.1, where the
    /// one-sided p is 0.0195, the estimate -0.46 and the interval of R's wilcox.test (-0.786, -0.010).
    const DEPRESSION: [f64; 9] = [-0.952, 0.147, -1.022, -0.43, -0.62, -0.59, -0.49, 0.08, -0.01];

    #[test]
    fn a_published_example_comes_out_as_published() {
        near(p_value(&DEPRESSION).unwrap(), 0.039_062_5);
        near(hodges_lehmann(&DEPRESSION).unwrap(), -0.46);
        let interval_95 = interval(&DEPRESSION, 0.95).unwrap();
        near(interval_95.low, -0.786);
        near(interval_95.high, -0.010);
        let interval_90 = interval(&DEPRESSION, 0.90).unwrap();
        near(interval_90.low, -0.726);
        near(interval_90.high, -0.175);
    }

    /// `scipy.stats.wilcoxon(mode="exact")`, and for the ties all 512 signs counted one by one.
    #[test]
    fn p_is_that_of_scipy_and_of_counting() {
        near(p_value(&[0.8, -0.3, 1.2, 2.1, -0.7, 0.5, 1.9, 0.1, -1.1, 0.4]).unwrap(), 0.193_359_375);
        near(p_value(&[1.0, 1.0, -1.0, 2.0, 2.0, 3.0, 0.0, -2.0, 4.0, 5.0]).unwrap(), 0.082_031_25);
    }

    /// `scipy.stats.wilcoxon(mode="approx", correction=True)`; the exact p is 0.00023952.
    #[test]
    fn many_differences_are_taken_as_normal() {
        let many: Vec<f64> =
            (0..150).map(|at| if at % 3 == 0 { -1.0 } else { 1.0 } * f64::from(at + 1)).collect();
        near(p_value(&many).unwrap(), 0.000_278_762_466_499_967_2);
        let hundred: Vec<f64> = (1..=101).map(f64::from).collect();
        let (exact, normal) = (interval(&hundred[..100], 0.95).unwrap(), interval(&hundred, 0.95).unwrap());
        let wider_by = (normal.high - normal.low) / (exact.high - exact.low);
        assert!((1.0..1.02).contains(&wider_by), "no step where the normal one begins: {exact:?} {normal:?}");
    }

    #[test]
    fn what_is_too_little_has_no_interval() {
        let five = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(interval(&five, 0.95), None);
        assert_eq!(interval(&five, 0.90), Some(Interval { low: 1.0, high: 5.0 }));
        let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(interval(&six, 0.95), Some(Interval { low: 1.0, high: 6.0 }));
        assert_eq!((interval(&[], 0.9), p_value(&[]), hodges_lehmann(&[])), (None, None, None));
        assert_eq!((p_value(&[f64::NAN]), hodges_lehmann(&[f64::INFINITY])), (None, None));
    }

    #[test]
    fn no_difference_at_all_is_chance() {
        assert_eq!(p_value(&[0.0; 8]), Some(1.0));
        assert_eq!(hodges_lehmann(&[0.0; 8]), Some(0.0));
    }

    #[test]
    fn signs_do_not_matter() {
        let mirrored = DEPRESSION.map(|difference| -difference);
        assert_eq!(p_value(&mirrored), p_value(&DEPRESSION));
        let (one, other) = (interval(&mirrored, 0.95).unwrap(), interval(&DEPRESSION, 0.95).unwrap());
        assert_eq!((one.low, one.high), (-other.high, -other.low));
    }
}
