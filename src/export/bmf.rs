//! Bencher Metric Format: JSON with benchmark, measure, value and the ends of its interval.
//!
//! Source: bencher.dev/docs/reference/bencher-metric-format. `latency` (nanoseconds) is Bencher's own measure;
//! `bytes-per-second` is made by Bencher when it comes first.

use super::summary::Number;
use super::{Export, name};
use crate::cell::{Axis, Measure};
use anyhow::Result;
use serde::Serialize;
use serde_json::{Map, to_value};

/// A value with its 95 % interval, which is left out where there is none.
#[derive(Serialize)]
struct Metric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

impl From<Number> for Metric {
    fn from(number: Number) -> Metric {
        Metric { value: number.value, lower_value: number.low, upper_value: number.high }
    }
}

/// The cells that have one figure, with a newline at the end.
///
/// # Errors
/// Where a value has no JSON form; none of those here lacks one.
pub fn bmf(export: &Export) -> Result<String> {
    let mut benchmarks = Map::new();
    for cell in &export.cells {
        let Some(ns) = cell.ns_per_op else { continue };
        let mut measures = Map::new();
        measures.insert("latency".into(), to_value(Metric::from(ns))?);
        if cell.measure() == Some(Measure::Bandwidth) {
            let rate = bytes_per_second(ns, cell.cell.count(Axis::MessageBytes));
            measures.insert("bytes-per-second".into(), to_value(Metric::from(rate))?);
        }
        benchmarks.insert(name::path(&cell.cell), measures.into());
    }
    Ok(serde_json::to_string_pretty(&benchmarks)? + "\n")
}

/// The rate of a message's bytes; without an interval where that of the time reaches 0.
pub(super) fn bytes_per_second(ns: Number, message_bytes: u64) -> Number {
    let rate = |ns: f64| message_bytes as f64 * 1e9 / ns;
    let ends = ns.low.zip(ns.high).filter(|(low, _)| *low > 0.0);
    Number {
        value: rate(ns.value),
        low: ends.map(|(_, high)| rate(high)),
        high: ends.map(|(low, _)| rate(low)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_rate_change_places() {
        let ns = Number { value: 100.0, low: Some(50.0), high: Some(200.0) };
        let rate = bytes_per_second(ns, 1000);
        assert_eq!((rate.low, rate.value, rate.high), (Some(5e9), 1e10, Some(2e10)));
        let reaching = Number { low: Some(-1.0), ..ns };
        assert_eq!(
            (bytes_per_second(reaching, 1000).low, bytes_per_second(reaching, 1000).high),
            (None, None)
        );
    }
}
