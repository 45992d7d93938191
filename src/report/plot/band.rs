//! The 95 % intervals of a curve: a band through neighbouring rows, a bar where a row has no neighbour with one.

use super::mark::px;
use super::scale::Scale;
use super::{Curve, Point};
use crate::measure::stats::Interval;
use std::fmt::Write;

/// Half the width of the cap of a bar in pixels.
const CAP: f64 = 3.5;

/// The longest runs of neighbouring rows that have an interval, each with the interval.
fn stretches(curve: &Curve) -> impl Iterator<Item = Vec<(&Point, Interval)>> {
    let of = |point: &Option<Point>| point.as_ref().is_some_and(|point| point.interval.is_some());
    let found = curve.points.chunk_by(move |one, other| of(one) && of(other));
    let pairs = found.map(|points| {
        points.iter().flatten().filter_map(|point| Some((point, point.interval?))).collect::<Vec<_>>()
    });
    pairs.filter(|stretch| !stretch.is_empty())
}

/// Whether a point of the curves lies in a band, and whether one stands alone with its bar.
pub fn kinds<'a>(curves: impl Iterator<Item = &'a Curve>) -> [bool; 2] {
    curves.flat_map(stretches).fold([false; 2], |[band, bar], stretch| {
        let alone = stretch.len() == 1;
        [band || !alone, bar || alone]
    })
}

/// The paths of its bands: along the upper ends, and back along the lower ones.
pub fn bands(curve: &Curve, rows: &Scale, scale: &Scale) -> Vec<String> {
    let bands = stretches(curve).filter(|stretch| stretch.len() > 1);
    bands.map(|stretch| outline(&stretch, rows, scale)).collect()
}

fn outline(stretch: &[(&Point, Interval)], rows: &Scale, scale: &Scale) -> String {
    let upper = stretch.iter().map(|(point, interval)| (point.x, interval.high));
    let lower = stretch.iter().rev().map(|(point, interval)| (point.x, interval.low));
    let mut path = String::new();
    for (index, (x, end)) in upper.chain(lower).enumerate() {
        let letter = if index == 0 { 'M' } else { 'L' };
        let _infallible = write!(path, "{letter}{} {}", px(rows.at(x as f64)), px(scale.edge(end)));
    }
    path + "Z"
}

/// The paths of its bars, each with a cap at an end that the axis holds.
pub fn bars(curve: &Curve, rows: &Scale, scale: &Scale) -> Vec<String> {
    let alone = stretches(curve).filter(|stretch| stretch.len() == 1).flatten();
    alone.map(|(point, interval)| bar(rows.at(point.x as f64), interval, scale)).collect()
}

fn bar(x: f64, interval: Interval, scale: &Scale) -> String {
    let [low, high] = [interval.low, interval.high].map(|end| scale.edge(end));
    let cap = |end: f64, y: f64| {
        if scale.holds(end) { format!("M{} {}h{}", px(x - CAP), px(y), px(2.0 * CAP)) } else { String::new() }
    };
    let caps = cap(interval.low, low) + &cap(interval.high, high);
    format!("M{} {}V{}{caps}", px(x), px(low), px(high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A curve at rows 0, 1, 2, ...: the middle of its interval, `None` without one, an empty place where NaN.
    fn curve(middles: &[Option<f64>]) -> Curve {
        let point = |(row, middle): (usize, &Option<f64>)| {
            let interval = middle.map(|middle| Interval { low: middle - 10.0, high: middle + 10.0 });
            let point = Point { x: row as u64, y: 50.0, interval, rarer: None, text: String::new() };
            (!middle.is_some_and(f64::is_nan)).then_some(point)
        };
        Curve { series: 0, points: middles.iter().enumerate().map(point).collect() }
    }

    fn drawn(middles: &[Option<f64>]) -> (Vec<String>, Vec<String>) {
        let rows = Scale::of_rows(&[0, 10], [0.0, 10.0], 0.0);
        let (scale, _) = Scale::of_figures(&[100.0], [100.0, 0.0]);
        let curve = curve(middles);
        assert_eq!(
            kinds(std::iter::once(&curve)),
            [bands, bars].map(|of| !of(&curve, &rows, &scale).is_empty())
        );
        (bands(&curve, &rows, &scale), bars(&curve, &rows, &scale))
    }

    #[test]
    fn a_band_goes_along_the_upper_ends_and_back_along_the_lower() {
        assert_eq!(drawn(&[Some(50.0), Some(60.0)]), (vec!["M0 40L1 30L1 50L0 60Z".into()], vec![]));
    }

    #[test]
    fn what_has_no_interval_parts_the_band_and_what_is_alone_keeps_a_bar() {
        let gap = Some(f64::NAN);
        for between in [None, gap] {
            let (bands, bars) = drawn(&[Some(50.0), Some(60.0), between, Some(50.0), between]);
            assert_eq!(bands, ["M0 40L1 30L1 50L0 60Z"]);
            assert_eq!(bars, ["M3 60V40M-0.5 60h7M-0.5 40h7"]);
        }
        assert_eq!(drawn(&[None, gap, None]), (vec![], vec![]));
    }

    #[test]
    fn an_end_beyond_the_axis_lies_on_its_edge_without_a_cap() {
        let (bands, _) = drawn(&[Some(5.0), Some(50.0)]);
        assert_eq!(bands, ["M0 85L1 40L1 60L0 100Z"]);
        assert_eq!(drawn(&[Some(5.0)]).1, ["M0 100V85M-3.5 85h7"]);
    }
}
