//! Numbers as they are printed: as many digits as their interval supports, never an exponent.

use crate::measure::stats::Estimate;

/// The most significant digits that are printed, however narrow the interval.
pub const MOST_DIGITS: i32 = 6;

/// The significant digits of a number that has no interval.
pub const UNSURE_DIGITS: i32 = 2;

/// The value of an estimate, in plain digits.
///
/// The last digit printed has the decade of the half-width: 1234.5 with an interval of ±37 is
/// `1230`, with ±3 % of it. At least one significant digit is printed, however wide the interval,
/// and at most [`MOST_DIGITS`]. Without an interval [`UNSURE_DIGITS`] are.
pub fn value(estimate: &Estimate) -> String {
    rounded(estimate.value, estimate, 1)
}

/// The value of an estimate beside which other numbers of its kind stand, or one of these. All are rounded alike, so that
/// they keep their order, and the value has [`UNSURE_DIGITS`] at least, so that they can be told apart.
pub fn beside(number: f64, estimate: &Estimate) -> String {
    rounded(number, estimate, UNSURE_DIGITS)
}

/// A number with the last digit that the value of the estimate has, which has at least so many.
fn rounded(number: f64, estimate: &Estimate, least_digits: i32) -> String {
    let (Some(top), Some(of_value)) = (decade(number), decade(estimate.value)) else {
        return plain(number, 0);
    };
    let last = match estimate.half_width() {
        None => of_value + 1 - UNSURE_DIGITS,
        Some(half_width) => decade(half_width).unwrap_or(i32::MIN).min(of_value + 1 - least_digits),
    };
    plain(number, last.clamp(top + 1 - MOST_DIGITS, top))
}

/// The relative half-width of the 95 % interval, rounded up: `±3%`, under 1 % with one decimal
/// (`±0.4%`), never under `±0.1%`. `None` without an interval.
pub fn uncertainty(estimate: &Estimate) -> Option<String> {
    let percent = 100.0 * estimate.half_width_ratio()?;
    Some(format!("±{}%", percent_up(percent)))
}

/// A percentage rounded up: to one decimal under 1, else to a whole number.
fn percent_up(percent: f64) -> String {
    let tenths = (10.0 * percent - 1e-6).ceil().max(1.0);
    if tenths < 10.0 { format!("0.{tenths}") } else { format!("{}", (percent - 1e-6).ceil().max(1.0)) }
}

/// The power of ten of the first digit: 2 for 123, -2 for 0.05. `None` for 0 and what is not finite.
fn decade(value: f64) -> Option<i32> {
    if value == 0.0 || !value.is_finite() {
        return None;
    }
    format!("{value:e}").rsplit_once('e')?.1.parse().ok()
}

/// The value rounded to the decade `last`, in plain digits.
fn plain(value: f64, last: i32) -> String {
    if last <= 0 {
        return format!("{value:.*}", last.unsigned_abs() as usize);
    }
    let step = 10_f64.powi(last);
    format!("{:.0}", (value / step).round() * step)
}

/// A whole number with a comma between thousands: `1,000,000`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 visit`, `2 visits`.
pub fn counted(number: usize, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {one}{plural}")
}

/// The number of a footnote: `¹²` for 12.
pub fn superscript(number: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    number.to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect()
}

/// A share as a whole percentage, where that would not say none or all.
pub fn percent(share: f64) -> String {
    match 100.0 * share {
        0.0 => "0 %".into(),
        percent if percent < 1.0 => "under 1 %".into(),
        percent if percent > 99.0 && share < 1.0 => "over 99 %".into(),
        percent => format!("{percent:.0} %"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::stats::Interval;

    /// What is printed for a value with that half-width.
    fn shown(value: f64, half_width: f64) -> String {
        let interval = Some(Interval { low: value - half_width / 2.0, high: value + half_width });
        super::value(&Estimate { interval, ..unsure(value) })
    }

    fn unsure(value: f64) -> Estimate {
        Estimate { value, interval: None, visits: 3, effective_visits: 3.0, full_range: false }
    }

    fn plus_minus(half_width: f64) -> String {
        let interval = Some(Interval { low: 100.0, high: 100.0 + half_width });
        uncertainty(&Estimate { interval, ..unsure(100.0) }).unwrap()
    }

    #[test]
    fn a_share_never_seems_none_or_all() {
        let shown = [0.0, 0.001, 0.0802, 0.995, 1.0].map(percent);
        assert_eq!(shown, ["0 %", "under 1 %", "8 %", "over 99 %", "100 %"]);
    }

    #[test]
    fn the_last_digit_has_the_decade_of_the_half_width() {
        assert_eq!(shown(1234.5, 300.0), "1200");
        assert_eq!(shown(1234.5, 37.0), "1230");
        assert_eq!(shown(1236.7, 9.9), "1237");
        assert_eq!(shown(1234.56, 0.5), "1234.6");
        assert_eq!(shown(0.012_345, 0.000_4), "0.0123");
        assert_eq!(shown(9.96, 0.2), "10.0");
        assert_eq!(shown(996.0, 20.0), "1000");
    }

    #[test]
    fn numbers_side_by_side_keep_their_order() {
        let of = |value: f64, half_width: f64, [least, most]: [f64; 2]| {
            let interval = Some(Interval { low: value - half_width, high: value + half_width });
            [least, value, most].map(|number| beside(number, &Estimate { interval, ..unsure(value) }))
        };
        assert_eq!(of(586.0, 17.0, [568.0, 587.0]), ["570", "590", "590"]);
        assert_eq!(of(563.0, 190.0, [376.0, 578.0]), ["380", "560", "580"], "two digits at least");
        assert_eq!(of(9.97, 0.2, [9.2, 10.04]), ["9.2", "10.0", "10.0"]);
        assert_eq!(of(1_000_000.0, 0.5, [999_999.4, 1_000_004.0]), ["999999", "1000000", "1000000"]);
        assert_eq!([0.98, 1.04, 1.06].map(|number| beside(number, &unsure(1.04))), ["1.0", "1.0", "1.1"]);
    }

    #[test]
    fn digits_have_a_least_and_a_most() {
        assert_eq!(shown(4.2, 55.0), "4", "wider than the value");
        assert_eq!(shown(0.42, 55.0), "0.4");
        assert_eq!(shown(1234.5, 0.0), "1234.50", "no width at all");
        assert_eq!(shown(12_345_678.0, 0.001), "12345700");
        assert_eq!(shown(0.0, 0.001), "0");
    }

    #[test]
    fn without_an_interval_two_digits_are_printed() {
        let texts = [1234.5, 99.6, 9.96, 0.012_345, 12_345_678.0].map(|value| super::value(&unsure(value)));
        assert_eq!(texts, ["1200", "100", "10.0", "0.012", "12000000"]);
        assert_eq!(uncertainty(&unsure(5.0)), None);
    }

    #[test]
    fn no_exponent_is_printed_at_any_magnitude() {
        for value in [1e-9, 3.3e-5, 1e5, 1e16, 1e21] {
            let text = shown(value, value / 30.0);
            assert!(text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{text}");
            assert!((text.parse::<f64>().unwrap() / value - 1.0).abs() < 0.06, "{text}");
        }
    }

    #[test]
    fn the_uncertainty_is_rounded_up() {
        let texts = [0.0, 0.01, 0.4, 0.41, 0.9, 0.91, 1.0, 1.01, 2.9, 3.0, 129.3].map(plus_minus);
        assert_eq!(
            texts,
            ["±0.1%", "±0.1%", "±0.4%", "±0.5%", "±0.9%", "±1%", "±1%", "±2%", "±3%", "±3%", "±130%"]
        );
    }

    #[test]
    fn counts_read_well() {
        assert_eq!([0, 999, 1000, 1_000_000].map(thousands), ["0", "999", "1,000", "1,000,000"]);
        assert_eq!(superscript(1203), "¹²⁰³");
        assert_eq!([counted(1, "visit"), counted(0, "cell")], ["1 visit", "0 cells"]);
    }
}
