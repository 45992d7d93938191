//! What stands behind a rounded figure, for formats in which a reader can ask for it.

use super::cells::Slot;
use super::digits::counted;
use super::document::named;
use crate::measure::stats::Estimate;

/// The significant digits of a raw number: more than any clock gives.
const DIGITS: usize = 9;

/// A figure before it was rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    /// What tables are sorted by: the median over the visits.
    pub value: f64,
    /// All that is known of it in one line: median, interval, visits, time of an operation; or each mode.
    pub text: String,
}

impl Raw {
    /// What stands behind a slot that has a figure.
    pub fn of(slot: &Slot, unit: &str) -> Option<Raw> {
        let figure = slot.figure()?;
        let own = match &figure.modes {
            Some(modes) => modes
                .0
                .map(|mode| format!("{}: {}", named(&mode), estimate(&mode.estimate, unit)))
                .join("; or "),
            None => estimate(&figure.shown, unit),
        };
        let text = match figure.known {
            true => format!("{} {unit}: what the others are compared with", number(figure.shown.value)),
            false => format!("{own}; {} ns an operation", number(figure.ns.value)),
        };
        Some(Raw { value: figure.shown.value, text })
    }
}

fn estimate(estimate: &Estimate, unit: &str) -> String {
    let interval = match estimate.interval {
        Some(interval) => format!("95 % interval {} to {}", number(interval.low), number(interval.high)),
        None => "no interval".into(),
    };
    format!("{} {unit}, {interval}, {}", number(estimate.value), counted(estimate.visits, "visit"))
}

/// In plain digits, with [`DIGITS`] of them and no zeros behind.
pub fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value);
    format!("{rounded}")
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn raw_numbers_keep_their_digits_and_have_no_exponent() {
        let shown = [2283.105022831, 0.012, 1e-12, 123_456_789_012.0, 5.0].map(number);
        assert_eq!(shown, ["2283.10502", "0.012", "0.000000000001", "123456789000", "5"]);
    }
}
