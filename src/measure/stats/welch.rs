//! The difference of two means whose spreads may differ.
//!
//! Source: Welch, "The generalization of Student's problem when several different population variances are involved",
//! Biometrika 34 (1947), with the degrees of freedom of that paper.

use super::Interval;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two means compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Welch {
    /// The mean of the second less that of the first.
    pub difference: f64,
    /// Its standard error, above 0.
    pub error: f64,
    /// Degrees of freedom.
    pub freedom: f64,
}

impl Welch {
    /// Compares two samples of two values at least. `None` where there are fewer, one is not finite, or neither side
    /// varies: nothing then says how sure the difference is.
    pub fn of(first: &[f64], second: &[f64]) -> Option<Welch> {
        let (first, second) = (Mean::of(first)?, Mean::of(second)?);
        let variance = first.variance + second.variance;
        let freedom = variance.powi(2)
            / (first.variance.powi(2) / first.freedom + second.variance.powi(2) / second.freedom);
        let welch = Welch { difference: second.mean - first.mean, error: variance.sqrt(), freedom };
        (welch.error > 0.0 && freedom.is_finite() && welch.difference.is_finite()).then_some(welch)
    }

    /// Compares two samples of values above 0 by their logarithms: the difference is the logarithm of a ratio. `None`
    /// as for [`Welch::of`].
    pub fn of_logs(first: &[f64], second: &[f64]) -> Option<Welch> {
        let logs = |values: &[f64]| values.iter().map(|value| value.ln()).collect::<Vec<f64>>();
        Welch::of(&logs(first), &logs(second))
    }

    /// The two-sided p of no difference.
    pub fn p_value(&self) -> Option<f64> {
        let t = self.difference / self.error;
        Some(2.0 * self.student()?.cdf(-t.abs()))
    }

    /// The interval of the difference with that confidence, 0.95 for 95 %.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let reach = self.student()?.inverse_cdf(0.5 + confidence / 2.0) * self.error;
        Some(Interval { low: self.difference - reach, high: self.difference + reach })
    }

    fn student(&self) -> Option<StudentsT> {
        StudentsT::new(0.0, 1.0, self.freedom).ok()
    }
}

/// How far two further values of the same kind lie apart at most, with that confidence (0.95 for 95 %): the prediction bound of
/// Student's t for the difference of two values drawn from what the sample was drawn from. `None` for under two values, or
/// where one is not finite.
pub fn further_two_apart(sample: &[f64], confidence: f64) -> Option<f64> {
    let Mean { variance, freedom, .. } = Mean::of(sample)?;
    let deviation = (variance * (freedom + 1.0)).sqrt();
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    Some(student.inverse_cdf(0.5 + confidence / 2.0) * std::f64::consts::SQRT_2 * deviation)
}

/// How many times as wide a bound of Student's t gets, when it is to hold for so many differences together and not for one alone
/// (Bonferroni). `None` without a degree of freedom.
pub fn widened(freedom: f64, confidence: f64, differences: usize) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
    let reach = |outside: f64| student.inverse_cdf(1.0 - outside / 2.0);
    Some(reach((1.0 - confidence) / differences.max(1) as f64) / reach(1.0 - confidence))
}

/// A mean, the variance of that mean, and its degrees of freedom.
struct Mean {
    mean: f64,
    variance: f64,
    freedom: f64,
}

impl Mean {
    fn of(values: &[f64]) -> Option<Mean> {
        if values.len() < 2 || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Mean { mean, variance: squares / (count - 1.0) / count, freedom: count - 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-7, "{found}, expected {expected}");
    }

    /// `scipy.stats.ttest_ind(log(second), log(first), equal_var=False)`.
    #[test]
    fn logs_compare_as_in_scipy() {
        let welch = Welch::of_logs(&[10.1, 10.4, 9.9, 10.2], &[11.0, 11.9, 10.8]).unwrap();
        near(welch.difference / welch.error, 3.199_503_715_838_876);
        near(welch.freedom, 2.480_421_392_430_05);
        near(welch.p_value().unwrap(), 0.064_112_596_376_399_9);
        let interval = welch.interval(0.95).unwrap();
        near(interval.low, -0.012_442_485_514_940_704);
        near(interval.high, 0.213_797_169_832_971_65);
    }

    /// `scipy.stats.t.ppf(0.975, 3)` is 3.182446305283708; the deviation of 1, 2, 3, 4 is the root of 5/3.
    #[test]
    fn further_values_lie_within_the_bound_of_student() {
        near(
            further_two_apart(&[1.0, 2.0, 3.0, 4.0], 0.95).unwrap(),
            3.182_446_305_283_708 * (10.0_f64 / 3.0).sqrt(),
        );
        assert_eq!(further_two_apart(&[1.0], 0.95), None);
        assert_eq!(further_two_apart(&[1.0, f64::NAN], 0.95), None);
    }

    #[test]
    fn what_says_nothing_of_its_spread_is_not_compared() {
        assert_eq!(Welch::of(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(Welch::of(&[1.0, 1.0], &[2.0, 2.0]), None);
        assert_eq!(Welch::of(&[1.0, f64::NAN], &[1.0, 2.0]), None);
        assert_eq!(Welch::of_logs(&[0.0, 1.0], &[1.0, 2.0]), None, "0 has no logarithm");
        assert!(Welch::of(&[1.0, 1.0], &[2.0, 2.1]).is_some(), "one side varies");
    }
}
