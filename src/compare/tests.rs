use super::*;

const MARGIN: Margin = Margin { least: 0.05, floor: None };

fn interval(low: f64, high: f64) -> Option<Interval> {
    Some(Interval { low, high })
}

/// An effect with intervals so wide on each side.
fn effect(log_ratio: f64, reach: f64, p: f64) -> Effect {
    Effect {
        log_ratio,
        interval_95: interval(log_ratio - 1.2 * reach, log_ratio + 1.2 * reach),
        interval_90: interval(log_ratio - reach, log_ratio + reach),
        p: Some(p),
        values: 20,
    }
}

fn alone(effect: Effect, margin: Margin) -> Verdict {
    judge(&[(effect, margin)])[0].verdict
}

#[test]
fn a_sure_difference_has_its_direction() {
    assert_eq!(alone(effect(0.1, 0.02, 0.001), MARGIN), Verdict::Slower);
    assert_eq!(alone(effect(-0.1, 0.02, 0.001), MARGIN), Verdict::Faster);
}

#[test]
fn what_lies_inside_the_margin_is_equal_however_sure() {
    assert_eq!(alone(effect(0.02, 0.01, 0.000_1), MARGIN), Verdict::Equal);
    assert_eq!(alone(effect(0.045, 0.01, 0.000_1), MARGIN), Verdict::Slower, "not surely inside");
    assert_eq!(alone(effect(0.02, 0.01, 0.000_1), Margin { least: 0.01, floor: None }), Verdict::Slower);
}

#[test]
fn below_the_noise_floor_nothing_differs() {
    let floor = Margin { floor: Some(0.12), ..MARGIN };
    assert_eq!(alone(effect(0.1, 0.02, 0.001), floor), Verdict::Undecided(Reason::BelowFloor));
    assert_eq!(alone(effect(0.13, 0.02, 0.001), floor), Verdict::Slower);
    assert_eq!(alone(effect(0.0, 0.01, 0.9), floor), Verdict::Equal, "the floor forbids differences only");
}

/// Intervals of 0.024 around 0.03: within 0.05 when they are 0.02 wide (x 1.44), but away from 0 when they are 0.03
/// wide, which the wider one of 0.0288 is already; 21 is one more than there are.
#[test]
fn what_is_undecided_says_how_much_is_needed() {
    assert_eq!(
        alone(effect(0.03, 0.024, 0.2), MARGIN),
        Verdict::Undecided(Reason::MoreNeeded(21)),
        "never what there is"
    );
    assert_eq!(alone(effect(0.0, 0.1, 0.9), MARGIN), Verdict::Undecided(Reason::MoreNeeded(80)));
    assert_eq!(alone(effect(0.06, 0.1, 0.3), MARGIN), Verdict::Undecided(Reason::MoreNeeded(80)));
    assert_eq!(alone(effect(0.05, 50.0, 0.9), MARGIN), Verdict::Undecided(Reason::MoreNeeded(MOST_NEEDED)));
    let few = Effect { interval_95: None, interval_90: None, ..effect(0.1, 0.1, 0.25) };
    assert_eq!(alone(few, MARGIN), Verdict::Undecided(Reason::TooFew));
}

#[test]
fn one_run_against_one_is_decided_by_a_known_floor_alone() {
    let effect = Effect::of_runs(&[100.0], &[110.0]).unwrap();
    assert!((effect.log_ratio - 0.1_f64.ln_1p()).abs() < 1e-12);
    assert_eq!((effect.p, effect.interval_95, effect.values), (None, None, 1));
    assert_eq!(alone(effect, MARGIN), Verdict::Undecided(Reason::NoTest));
    assert_eq!(alone(effect, Margin { floor: Some(0.05), ..MARGIN }), Verdict::Slower);
    assert_eq!(alone(effect, Margin { floor: Some(0.2), ..MARGIN }), Verdict::Undecided(Reason::BelowFloor));
}

#[test]
fn many_cells_are_judged_together() {
    let chance: Vec<(Effect, Margin)> =
        (1..20).map(|nth| (effect(0.06, 0.02, 0.05 * f64::from(nth)), MARGIN)).collect();
    let with = |p: f64| {
        let mut all = vec![(effect(0.06, 0.02, p), MARGIN)];
        all.extend(&chance);
        judge(&all)[0]
    };
    assert!(with(0.04).verdict != Verdict::Slower, "alone it would be one");
    assert_eq!((with(0.002).verdict, with(0.002).q), (Verdict::Slower, Some(0.04)));
    let mut untested = effect(0.1, 0.02, 0.0);
    untested.p = None;
    let both = judge(&[(untested, MARGIN), (effect(0.06, 0.02, 0.04), MARGIN)]);
    assert_eq!((both[0].q, both[1].q), (None, Some(0.04)), "what has no p is no test");
}

#[test]
fn effects_of_pairs_and_of_runs_have_what_the_verdict_wants() {
    let pairs = Effect::of_pairs(&[0.1, 0.11, 0.09, 0.1, 0.12, 0.08, 0.1]).unwrap();
    assert!((pairs.log_ratio - 0.1).abs() < 1e-12);
    assert_eq!(alone(pairs, MARGIN), Verdict::Slower);
    assert_eq!((Effect::of_pairs(&[]), Effect::of_pairs(&[f64::NAN])), (None, None));
    let runs = Effect::of_runs(&[100.0, 101.0, 99.0], &[110.0, 111.0, 109.5]).unwrap();
    assert_eq!((runs.values, alone(runs, MARGIN)), (3, Verdict::Slower));
    assert_eq!((Effect::of_runs(&[], &[1.0]), Effect::of_runs(&[0.0], &[1.0])), (None, None));
}

#[test]
fn each_kind_of_comparison_has_its_words() {
    let words = |verdict: Verdict| (verdict.word(), verdict.stored_word());
    assert_eq!(words(Verdict::Slower), ("slower", "regression"));
    assert_eq!(words(Verdict::Faster), ("faster", "improvement"));
    assert_eq!(words(Verdict::Equal), ("equal", "equal"));
    assert_eq!(words(Verdict::Undecided(Reason::TooFew)), ("undecided", "inconclusive"));
}
