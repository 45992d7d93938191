//! Which figure of a row is the best beyond doubt.

use super::cells::{Figure, Slot};
use crate::measure::stats::modes::Mode;
use crate::measure::stats::{Estimate, Interval};

/// The column with the best figure, if its interval lies beyond that of every other figure of the row, and if
/// it is the time or the rate of work that was done. A row of one figure has no winner. Of two modes none wins, unless all have two of
/// the same names (as of visits with their cores alone and shared) and one is the best in both.
pub fn winner(slots: &[Slot], more_is_better: bool) -> Option<usize> {
    let sound = |figure: &&Figure| {
        [figure.lost_share, figure.lost_lines].into_iter().flatten().all(|lost| lost == 0.0)
    };
    let figures: Vec<(usize, &Figure)> = slots
        .iter()
        .enumerate()
        .filter_map(|(column, slot)| Some((column, slot.figure().filter(sound)?)))
        .collect();
    match in_strata(&figures) {
        Some([one, other]) => {
            best(&one, more_is_better).filter(|won| best(&other, more_is_better) == Some(*won))
        }
        None => {
            let shown: Vec<Candidate> =
                figures.iter().map(|(column, figure)| candidate(*column, figure)).collect();
            best(&shown, more_is_better)
        }
    }
}

/// A column with its value, the interval that it may win with, and the range that it may lose with.
type Candidate = (usize, f64, Option<Interval>, Option<Interval>);

fn candidate(column: usize, figure: &Figure) -> Candidate {
    let own = figure.shown.interval.filter(|_| figure.modes.is_none());
    (column, figure.shown.value, own, range(figure))
}

/// The candidate whose interval lies beyond the ranges of all others, where there are others.
fn best(candidates: &[Candidate], more_is_better: bool) -> Option<usize> {
    let by_value = |one: &&Candidate, other: &&Candidate| {
        let order = one.1.total_cmp(&other.1);
        if more_is_better { order } else { order.reverse() }
    };
    let (column, _, own, _) = candidates.iter().max_by(by_value)?;
    let own = (*own)?;
    let beyond = |other: Interval| if more_is_better { other.high < own.low } else { other.low > own.high };
    let others = candidates.iter().filter(|other| other.0 != *column);
    let beats_all = others.clone().all(|(.., range)| range.is_some_and(beyond));
    (candidates.len() > 1 && beats_all).then_some(*column)
}

/// The figures by stratum, where all have two of the same names.
fn in_strata(figures: &[(usize, &Figure)]) -> Option<[Vec<Candidate>; 2]> {
    let names = figures.first()?.1.modes?.0.map(|mode| mode.name);
    let of = |name: &str| -> Option<Vec<Candidate>> {
        let one = |(column, figure): &(usize, &Figure)| {
            let mode = figure.modes?.0.into_iter().find(|mode| mode.name == name && !name.is_empty())?;
            let Estimate { value, interval, .. } = mode.estimate;
            Some((*column, value, interval, interval))
        };
        figures.iter().map(one).collect()
    };
    Some([of(names[0])?, of(names[1])?])
}

/// Where the figure may lie: of two modes from one to the other, each with its interval where it has one.
fn range(figure: &Figure) -> Option<Interval> {
    let Some(modes) = figure.modes else { return figure.shown.interval };
    let of = |mode: Mode| {
        let value = mode.estimate.value;
        mode.estimate.interval.unwrap_or(Interval { low: value, high: value })
    };
    let [one, other] = modes.0.map(of);
    Some(Interval { low: one.low.min(other.low), high: one.high.max(other.high) })
}
