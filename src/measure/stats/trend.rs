//! Whether values rise or fall in the order in which they came.
//!
//! Source: Mann, "Nonparametric tests against trend", Econometrica 13 (1945), with the normal approximation of the count
//! of pairs and a correction for continuity.

use super::{LEAST_VISITS, median};

/// The deviate that the count of pairs must pass: by chance in one of a hundred.
const LEAST_DEVIATE: f64 = 2.576;

/// How far the median of the last third is from that of the first third, as a part of the median of all: above 0 where
/// values rise. `None` where the order may be chance, under [`LEAST_VISITS`] values, and where one is not finite.
pub fn trend(values: &[f64]) -> Option<f64> {
    let all = median(values).filter(|all| *all != 0.0 && values.len() >= LEAST_VISITS)?;
    let count = values.len() as f64;
    let pair = |one: f64, later: f64| match later.total_cmp(&one) {
        std::cmp::Ordering::Less => -1,
        std::cmp::Ordering::Equal => 0,
        std::cmp::Ordering::Greater => 1,
    };
    let after =
        |(place, one): (usize, &f64)| values[place + 1..].iter().map(|later| pair(*one, *later)).sum::<i64>();
    let rising: i64 = values.iter().enumerate().map(after).sum();
    let deviation = (count * (count - 1.0) * (2.0 * count + 5.0) / 18.0).sqrt();
    if (rising.abs() - 1) as f64 <= LEAST_DEVIATE * deviation {
        return None;
    }
    let third = values.len() / 3;
    let (first, last) = (median(&values[..third])?, median(&values[values.len() - third..])?);
    Some((last - first) / all.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rises_or_falls_is_told_with_its_size() {
        let rising: Vec<f64> = (0..9).map(|step| 100.0 + f64::from(step)).collect();
        assert!((trend(&rising).unwrap() - 6.0 / 104.0).abs() < 1e-12);
        let falling: Vec<f64> = rising.iter().rev().copied().collect();
        assert!((trend(&falling).unwrap() + 6.0 / 104.0).abs() < 1e-12);
    }

    #[test]
    fn what_goes_up_and_down_has_no_trend_and_a_few_values_have_none() {
        assert_eq!(trend(&[1.0, 9.0, 2.0, 8.0, 3.0, 7.0, 4.0, 6.0, 5.0]), None);
        assert_eq!(trend(&[5.0; 12]), None);
        assert_eq!(trend(&[1.0, 2.0, 3.0, 4.0, 5.0]), None, "five of five may be chance");
        assert_eq!(trend(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN, 7.0]), None);
    }

    #[test]
    fn one_in_a_hundred_orders_passes() {
        let mut state = 7_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64
        };
        let found = (0..4000).filter(|_| trend(&[(); 12].map(|()| random())).is_some()).count();
        assert!((10..60).contains(&found), "{found} of 4000");
    }
}
