//! Which figure of a row is the best beyond doubt.

use super::cells::{Figure, Slot};
use crate::measure::stats::Interval;
use crate::measure::stats::modes::Mode;

/// The column with the best figure, if its interval lies beyond that of every other figure of the row, and if
/// it is the time or the rate of work that was done. A row of one figure has no winner, and of two modes none wins.
pub fn winner(slots: &[Slot], more_is_better: bool) -> Option<usize> {
    let sound = |figure: &&Figure| {
        [figure.lost_share, figure.lost_lines].into_iter().flatten().all(|lost| lost == 0.0)
    };
    let figures: Vec<(usize, &Figure)> = slots
        .iter()
        .enumerate()
        .filter_map(|(column, slot)| Some((column, slot.figure().filter(sound)?)))
        .collect();
    let by_value = |one: &&(usize, &Figure), other: &&(usize, &Figure)| {
        let order = one.1.shown.value.total_cmp(&other.1.shown.value);
        if more_is_better { order } else { order.reverse() }
    };
    let (column, best) = figures.iter().max_by(by_value)?;
    let own = best.shown.interval.filter(|_| best.modes.is_none())?;
    let worse = |figure: &Figure| {
        let beyond =
            |other: Interval| if more_is_better { other.high < own.low } else { other.low > own.high };
        range(figure).is_some_and(beyond)
    };
    let beats_all = figures.iter().filter(|other| other.0 != *column).all(|other| worse(other.1));
    (figures.len() > 1 && beats_all).then_some(*column)
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
