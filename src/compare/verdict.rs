//! Verdicts over all cells of a comparison at once.

use super::{Effect, Margin};
use crate::measure::stats::Interval;
use crate::measure::stats::discovery::benjamini_hochberg;

/// The share of false calls among all calls that is accepted.
pub const FALSE_DISCOVERIES: f64 = 0.05;

/// What to think of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The second takes less time.
    Faster,
    /// The second takes more time.
    Slower,
    /// They differ by less than matters.
    Equal,
    /// These values do not tell.
    Undecided(Reason),
}

/// Why a cell is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// About so many values a side, or pairs, would decide it, going by the spread of those that there are. At most
    /// [`MOST_NEEDED`]: beyond, the number is that and means "more than this".
    MoreNeeded(u64),
    /// There are too few values for an interval.
    TooFew,
    /// The difference is not above what the same thing measured twice shows here.
    BelowFloor,
    /// Nothing tells how much is chance, and no noise floor is known.
    NoTest,
}

/// No more values than this are asked for.
pub const MOST_NEEDED: u64 = 100_000;

impl Verdict {
    /// The word for two arms.
    pub fn word(self) -> &'static str {
        self.worded(["faster", "slower", "equal", "undecided"])
    }

    /// The word for an older and a newer run.
    pub fn stored_word(self) -> &'static str {
        self.worded(["improvement", "regression", "equal", "inconclusive"])
    }

    fn worded(self, words: [&'static str; 4]) -> &'static str {
        words[match self {
            Verdict::Faster => 0,
            Verdict::Slower => 1,
            Verdict::Equal => 2,
            Verdict::Undecided(_) => 3,
        }]
    }

    /// Whether it says that there is a difference.
    pub fn differs(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Slower)
    }
}

/// A verdict with the q that it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// The p after Benjamini and Hochberg; `None` where there is no p.
    pub q: Option<f64>,
    /// The verdict.
    pub verdict: Verdict,
}

/// Judges all cells of a comparison together, in their order. For each, in this order:
///
/// 1. equal, where the 90 % interval lies within the least effect of interest on both sides, however sure a small
///    difference is;
/// 2. slower or faster, where q is at most [`FALSE_DISCOVERIES`] and the effect is above the noise floor, if one is known.
///    Without a p (one run against one) a known floor decides alone;
/// 3. undecided.
pub fn judge(cells: &[(Effect, Margin)]) -> Vec<Judged> {
    let tested: Vec<f64> = cells.iter().filter_map(|(effect, _)| effect.p).collect();
    let mut qs = benjamini_hochberg(&tested).into_iter();
    let one = |(effect, margin): &(Effect, Margin)| {
        let q = effect.p.and_then(|_| qs.next());
        Judged { q, verdict: verdict(effect, margin, q) }
    };
    cells.iter().map(one).collect()
}

fn verdict(effect: &Effect, margin: &Margin, q: Option<f64>) -> Verdict {
    let size = effect.log_ratio.abs();
    let within = |interval: Interval| -margin.least < interval.low && interval.high < margin.least;
    if effect.interval_90.is_some_and(within) {
        return Verdict::Equal;
    }
    // Where no test tells, an effect must be of interest too.
    let above_floor =
        margin.floor.map(|floor| size > if q.is_some() { floor } else { floor.max(margin.least) });
    match (q.map(|q| q <= FALSE_DISCOVERIES), above_floor) {
        (Some(true) | None, Some(true)) | (Some(true), None) => direction(effect.log_ratio),
        (Some(true) | None, Some(false)) => Verdict::Undecided(Reason::BelowFloor),
        (None, None) => Verdict::Undecided(Reason::NoTest),
        (Some(false), _) => Verdict::Undecided(undecided(effect, margin)),
    }
}

fn direction(log_ratio: f64) -> Verdict {
    if log_ratio > 0.0 { Verdict::Slower } else { Verdict::Faster }
}

/// Intervals shrink with the root of the number of values. Enough are those after which either the 95 % interval leaves
/// 0 out, or the 90 % interval lies within the margin, whichever comes first, if the estimate stays what it is.
fn undecided(effect: &Effect, margin: &Margin) -> Reason {
    let (Some(wide), Some(narrow)) = (effect.interval_95, effect.interval_90) else { return Reason::TooFew };
    let size = effect.log_ratio.abs();
    let times = |interval: Interval, room: f64| {
        let half_width = (interval.high - interval.low) / 2.0;
        if room > 0.0 { (half_width / room).powi(2) } else { f64::INFINITY }
    };
    let to_differ =
        if margin.floor.is_none_or(|floor| size > floor) { times(wide, size) } else { f64::INFINITY };
    let to_equal = times(narrow, margin.least - size);
    let needed = (effect.values as f64 * to_differ.min(to_equal)).ceil();
    // Adjusting for many cells asks for more than one cell would need: never for what there is.
    let more_than_there_are = needed.max(effect.values as f64 + 1.0);
    Reason::MoreNeeded(more_than_there_are.min(MOST_NEEDED as f64) as u64)
}
