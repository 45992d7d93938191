use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found}, expected {expected}");
}

fn interval(values: &[f64], effective: f64) -> (f64, f64) {
    let interval = median_interval(values, effective).unwrap();
    (interval.low, interval.high)
}

fn up_to(last: usize) -> Vec<f64> {
    (1..=last).map(|value| value as f64).collect()
}

#[test]
fn the_median_is_the_middle() {
    assert_eq!(median(&[]), None);
    assert_eq!(median(&[3.0]), Some(3.0));
    assert_eq!(median(&[9.0, 1.0, 5.0]), Some(5.0));
    assert_eq!(median(&[9.0, 1.0, 5.0, 2.0]), Some(3.5));
    assert_eq!(median(&[1.0, f64::NAN]), None);
    assert_eq!(median(&[1.0, f64::INFINITY]), None);
    assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX), "no overflow");
}

/// By hand, n = 6: g(1) = 1 - 2/64 = 0.96875, g(2) = 1 - 14/64 = 0.78125, so i = 0.01875/0.1875
/// = 0.1 and lambda = 5 x 0.1 / (1 + 4 x 0.1) = 5/14.
#[test]
fn the_interval_of_six_values_is_that_by_hand() {
    let (low, high) = interval(&[6.0, 5.0, 4.0, 3.0, 2.0, 1.0], 6.0);
    near(low, 1.0 + 5.0 / 14.0);
    near(high, 6.0 - 5.0 / 14.0);
}

/// By hand, n = 10: g(2) = 1 - 2 x 11/1024, g(3) = 1 - 2 x 56/1024, so i = 29.2/90 and
/// lambda = 8 i / (2 + 6 i).
#[test]
fn the_interval_of_ten_values_is_that_by_hand() {
    let part = 29.2 / 90.0;
    let lambda = 8.0 * part / (2.0 + 6.0 * part);
    let (low, high) = interval(&up_to(10), 10.0);
    near(low, 2.0 + lambda);
    near(high, 9.0 - lambda);
}

#[test]
fn five_values_have_no_interval() {
    assert_eq!(median_interval(&up_to(5), 5.0), None);
    let estimate = Estimate::of(&up_to(5)).unwrap();
    assert_eq!((estimate.value, estimate.interval, estimate.visits), (3.0, None, 5));
    assert_eq!((estimate.half_width_ratio(), estimate.grade()), (None, None));
    assert!(!estimate.full_range);
    assert_eq!(Estimate::of(&[]), None);
}

/// 20 values worth 6.9 count as 6: the depth 1 + 5/14 becomes (19/14) x 21/7 = 57/14 = 4 + 1/14.
#[test]
fn fewer_effective_values_widen_the_interval() {
    let (low, high) = interval(&up_to(20), 6.9);
    near(low, 4.0 + 1.0 / 14.0);
    near(high, 17.0 - 1.0 / 14.0);
    let (plain_low, plain_high) = interval(&up_to(20), 20.0);
    assert!(low < plain_low && high > plain_high);
    assert_eq!(interval(&up_to(20), 5.9), (1.0, 20.0));
}

#[test]
fn a_thousand_values_and_more_have_a_narrow_interval() {
    let (low, high) = interval(&up_to(10_000), 10_000.0);
    near((low + high) / 2.0, 5000.5);
    let normal = 1.96 * (10_000.0_f64).sqrt() / 2.0;
    assert!(((high - low) / 2.0 - normal).abs() < 1.0, "{low} {high}");
}

#[test]
fn values_that_climb_are_worth_fewer() {
    near(autocorrelation(&[1.0, 2.0, 3.0, 4.0]), 0.25);
    near(autocorrelation(&[1.0, -1.0, 1.0, -1.0]), -0.75);
    assert_eq!(autocorrelation(&[7.0, 7.0, 7.0]), 0.0);
    let estimate = Estimate::of(&up_to(12)).unwrap();
    assert!(estimate.full_range, "{estimate:?}");
    assert_eq!(estimate.interval, Some(Interval { low: 1.0, high: 12.0 }));
    let alternating = [1.0, 9.0, 2.0, 8.0, 3.0, 7.0];
    assert_eq!(Estimate::of(&alternating).unwrap().effective_visits, 6.0);
}

#[test]
fn a_rate_swaps_the_ends_of_the_interval() {
    let interval = Some(Interval { low: 4.0, high: 8.0 });
    let time = Estimate { value: 5.0, interval, visits: 7, effective_visits: 7.0, full_range: false };
    near(time.half_width_ratio().unwrap(), 0.6);
    let rate = time.rate(40.0);
    assert_eq!((rate.value, rate.interval), (8.0, Some(Interval { low: 5.0, high: 10.0 })));
    near(rate.half_width_ratio().unwrap(), 0.375);
    let scaled = time.scaled(0.5);
    assert_eq!((scaled.value, scaled.interval), (2.5, Some(Interval { low: 2.0, high: 4.0 })));
    assert_eq!((rate.visits, scaled.visits), (7, 7));
}

#[test]
fn grades_include_their_bound() {
    let grades = [0.0, 0.02, 0.0201, 0.05, 0.051, 0.10, 0.11, 3.0, f64::NAN].map(Grade::of);
    let names = grades.map(|grade| grade.to_string()).concat();
    assert_eq!(names, "AABBCCDDD");
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A normal deviate over another: Cauchy, without a mean.
fn heavy(random: &mut ChaCha8Rng) -> f64 {
    100.0 + normal(random) / normal(random)
}

fn log_normal(random: &mut ChaCha8Rng) -> f64 {
    (0.8 * normal(random)).exp()
}

/// Seven in ten near 1, three near 2.
fn two_modes(random: &mut ChaCha8Rng) -> f64 {
    let mode = if random.random::<f64>() < 0.7 { 1.0 } else { 2.0 };
    mode + 0.05 * normal(random)
}

/// The median of [`two_modes`]: the quantile 0.5/0.7 of its lower mode.
const TWO_MODES_MEDIAN: f64 = 1.0 + 0.05 * 0.565_948_821_932_863;

/// The share of trials whose interval holds the truth.
fn coverage(
    truth: f64,
    trials: usize,
    mut draw: impl FnMut() -> Vec<f64>,
    find: impl Fn(&[f64]) -> Interval,
) -> f64 {
    let holds = |interval: Interval| interval.low <= truth && truth <= interval.high;
    (0..trials).filter(|_| holds(find(&draw()))).count() as f64 / trials as f64
}

#[test]
fn the_interval_covers_the_median_of_independent_visits() {
    type Source = (&'static str, fn(&mut ChaCha8Rng) -> f64, f64);
    let sources: [Source; 3] = [
        ("log-normal", log_normal, 1.0),
        ("heavy", heavy, 100.0),
        ("two modes", two_modes, TWO_MODES_MEDIAN),
    ];
    for (name, source, truth) in sources {
        for count in [6, 10, 15, 30] {
            let mut random = ChaCha8Rng::seed_from_u64(1986);
            let mut draw = || (0..count).map(|_| source(&mut random)).collect::<Vec<f64>>();
            let plain =
                coverage(truth, 8000, &mut draw, |values| median_interval(values, count as f64).unwrap());
            assert!((0.93..=0.975).contains(&plain), "{name}, {count} visits: {plain}");
            let whole =
                coverage(truth, 8000, &mut draw, |values| Estimate::of(values).unwrap().interval.unwrap());
            assert!((0.93..=0.975).contains(&whole), "{name}, {count} visits, estimate: {whole}");
        }
    }
}

/// Each visit keeps half of the deviation of the one before.
fn sluggish(random: &mut ChaCha8Rng, count: usize) -> Vec<f64> {
    let mut deviation = normal(random) / 0.75_f64.sqrt();
    let mut step = || {
        deviation = 0.5 * deviation + normal(random);
        100.0 + deviation
    };
    (0..count).map(|_| step()).collect()
}

#[test]
fn the_interval_of_autocorrelated_visits_is_widened_until_it_covers() {
    for (count, least) in [(12, 0.85), (30, 0.90), (60, 0.93)] {
        let mut random = ChaCha8Rng::seed_from_u64(1992);
        let blind = coverage(
            100.0,
            4000,
            || sluggish(&mut random, count),
            |values| median_interval(values, count as f64).unwrap(),
        );
        let mut random = ChaCha8Rng::seed_from_u64(1992);
        let aware = coverage(
            100.0,
            4000,
            || sluggish(&mut random, count),
            |values| Estimate::of(values).unwrap().interval.unwrap(),
        );
        assert!(blind < 0.86, "{count} visits, taken as independent: {blind}");
        assert!(aware >= least && aware > blind + 0.05, "{count} visits: {aware} against {blind}");
    }
}

#[test]
fn looks_climb_and_begin_where_an_interval_is_possible() {
    assert_eq!(LOOKS.first(), Some(&LEAST_VISITS));
    assert!(LOOKS.windows(2).all(|pair| pair[0] < pair[1]));
}

#[test]
fn a_ratio_has_the_extremes_of_both_intervals() {
    let of = |value: f64| {
        Estimate::of(&[value - 1.0, value - 0.5, value, value, value + 0.5, value + 1.0]).unwrap()
    };
    let ratio = of(10.0).over(&of(20.0));
    let (one, other) = (of(10.0).interval.unwrap(), of(20.0).interval.unwrap());
    assert!((ratio.value - 0.5).abs() < 1e-12);
    assert_eq!(ratio.interval, Some(Interval { low: one.low / other.high, high: one.high / other.low }));
    let alone = Estimate::of(&[5.0]).unwrap();
    assert_eq!(of(10.0).over(&alone).interval, None);
}
