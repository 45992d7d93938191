//! The numbers that detectors look at in the figure of a cell.

use crate::report::cells::Figure;
use crate::report::strata;

/// How far the last visits are from the first, as a part of the figure; 0 where that may be chance.
pub fn trend(figure: &Figure) -> Option<f64> {
    Some(figure.trend.map_or(0.0, f64::abs))
}

/// The lag-1 autocorrelation, by what the visits are worth in place of their number (`Estimate::effective_visits`).
pub fn alike(figure: &Figure) -> Option<f64> {
    let (visits, worth) = (figure.shown.visits as f64, figure.shown.effective_visits);
    Some(if figure.modes.is_some() || figure.shown.interval.is_none() {
        0.0
    } else {
        (visits - worth) / (visits + worth)
    })
}

/// Whether it has two modes, and nothing but the figures tells them apart; others have a footnote of their own.
pub fn two_modes(figure: &Figure) -> Option<f64> {
    let unknown = figure.modes.as_ref().is_some_and(|modes| strata::footnote(modes).is_none());
    Some(f64::from(u8::from(unknown)))
}

/// Whether more workers ran than CPUs were given.
pub fn oversubscribed(figure: &Figure) -> Option<f64> {
    Some(f64::from(u8::from(figure.oversubscribed)))
}
