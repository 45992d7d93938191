//! Many tests at once: how many of those that are called differences are none.
//!
//! Source: Benjamini and Hochberg, "Controlling the false discovery rate: a practical and powerful approach to multiple
//! testing", Journal of the Royal Statistical Society B 57 (1995).

/// The adjusted p of each test, its q, in the order of the tests. Calling every test with a q of at most 0.05 a difference
/// makes at most 5 % false calls among all calls in the long run, where tests are independent or depend positively on
/// one another. `ps` lie between 0 and 1.
///
/// Sorted, q of the i-th of m is the least of p(j) m / j over all j from i on.
pub fn benjamini_hochberg(ps: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ps.len()).collect();
    order.sort_by(|one, other| ps[*one].total_cmp(&ps[*other]));
    let mut qs = vec![1.0; ps.len()];
    let mut least: f64 = 1.0;
    for (before, test) in order.iter().enumerate().rev() {
        least = least.min(ps[*test] * ps.len() as f64 / (before + 1) as f64);
        qs[*test] = least;
    }
    qs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
        }
    }

    /// `scipy.stats.false_discovery_control`.
    #[test]
    fn q_is_that_of_scipy_in_any_order() {
        near(
            &benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005, 0.5, 0.002]),
            &[0.02, 0.048, 0.045, 0.015, 0.5, 0.012],
        );
        assert!(benjamini_hochberg(&[]).is_empty());
        near(&benjamini_hochberg(&[0.7]), &[0.7]);
    }

    /// The 15 tests of the paper's section 3.2: at 0.05 the four smallest are differences.
    #[test]
    fn the_example_of_the_paper_has_four_differences() {
        let ps = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let qs = benjamini_hochberg(&ps);
        assert_eq!(qs.iter().filter(|q| **q <= 0.05).count(), 4);
        near(&qs[..5], &[0.0015, 0.003, 0.0095, 0.035_625, 0.0603]);
    }
}
