//! What two measurements of the same cells say of each other: how far apart they are, whether that can be chance, and
//! whether it matters. Pure; `ab` and comparisons of stored runs judge by the same rules.
//!
//! An effect is the natural logarithm of a ratio of times, the second over the first: above 0 the second is slower.

pub mod floors;
pub mod pairs;
pub mod stored;
mod verdict;

pub use verdict::{FALSE_DISCOVERIES, Judged, MOST_NEEDED, Reason, Verdict, judge};

use crate::measure::stats::Interval;
use crate::measure::stats::signed_rank;
use crate::measure::stats::welch::Welch;

/// What is known of a cell measured twice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effect {
    /// The logarithm of the ratio.
    pub log_ratio: f64,
    /// Its 95 % interval; `None` where there are too few values for one.
    pub interval_95: Option<Interval>,
    /// Its 90 % interval: inside the margin on both sides, the two are equal (two one-sided tests at 5 %).
    pub interval_90: Option<Interval>,
    /// The two-sided p of no difference; `None` where nothing tells how much is chance, as with one run against one.
    pub p: Option<f64>,
    /// Pairs of values, or the values of the side that has fewer.
    pub values: usize,
}

impl Effect {
    /// Of pairs that were measured side by side: logarithms of the ratio, one a pair. Hodges-Lehmann estimate, interval
    /// and test by signed ranks. `None` where there is no pair or a logarithm is not finite.
    pub fn of_pairs(log_ratios: &[f64]) -> Option<Effect> {
        Some(Effect {
            log_ratio: signed_rank::hodges_lehmann(log_ratios)?,
            interval_95: signed_rank::interval(log_ratios, 0.95),
            interval_90: signed_rank::interval(log_ratios, 0.90),
            p: signed_rank::p_value(log_ratios),
            values: log_ratios.len(),
        })
    }

    /// Of stored runs, one value above 0 a run: Welch's t on logarithms. Where a side has a single run, or no side
    /// varies, the ratio of the geometric means and nothing else. `None` where a side has none, or a value is not
    /// above 0 and finite.
    pub fn of_runs(first: &[f64], second: &[f64]) -> Option<Effect> {
        let mean_log =
            |values: &[f64]| values.iter().map(|value| value.ln()).sum::<f64>() / values.len() as f64;
        let log_ratio = mean_log(second) - mean_log(first);
        let welch = Welch::of_logs(first, second);
        log_ratio.is_finite().then(|| Effect {
            log_ratio,
            interval_95: welch.and_then(|welch| welch.interval(0.95)),
            interval_90: welch.and_then(|welch| welch.interval(0.90)),
            p: welch.and_then(|welch| welch.p_value()),
            values: first.len().min(second.len()),
        })
    }
}

/// What matters in a cell, and what its machine shows without any difference; both as logarithms of a ratio, above 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The least effect of interest: two sides that surely lie closer than this are equal.
    pub least: f64,
    /// The noise floor: how far the same thing measured twice lies apart, where that was calibrated.
    pub floor: Option<f64>,
}

/// The least effect of interest where only additional time disturbs: one worker, or all on one CPU.
pub const LEAST_ADDITIVE: f64 = 0.05;
/// The least effect of interest where workers on several CPUs or at one lock disturb one another.
pub const LEAST_INTERACTING: f64 = 0.10;

/// The logarithm that belongs to a change by that part: 0.05 reads as 5 % more, and lies as far from none as 1/1.05.
pub fn log_of(part: f64) -> f64 {
    part.ln_1p()
}

#[cfg(test)]
mod tests;
