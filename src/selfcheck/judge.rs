//! What the visits say. Pure.

use super::plan::{Arm, MUST_FIND_PERCENT, Subject};
use super::rounds::{Ns, Out, Series, Taken, injected_ns};
use super::{Figure, Kind, Outcome, Row};
use crate::compare::{Effect, Judged, Margin, judge, log_of};
use crate::measure::stats::{Estimate, median};

/// Within so many parts of what was injected an estimate is close to it.
const CLOSE_PART: f64 = 0.3;
/// T(2n) / T(n).
const LINEAR: std::ops::RangeInclusive<f64> = 1.97..=2.03;
/// How far two clocks of one machine may run apart, as a part: a time daemon changes the rate by half of this at most
/// (adjtimex(2): 500 ppm).
const CLOCKS_APART: f64 = 1e-3;
/// Clocks that were watched for less than this are not judged, in nanoseconds.
const LEAST_WATCHED_NS: u64 = 1_000_000_000;

/// Every check of figures.
pub fn all(subjects: &[Subject], taken: &Taken) -> Vec<Row> {
    let of = |wanted: fn(Arm) -> bool| -> Vec<Against<'_>> {
        let arms = subjects.iter().zip(&taken.series).flat_map(|(subject, series)| {
            let at = move |at: usize| Against { subject, series, at };
            (0..subject.arms.len()).filter(move |arm| wanted(subject.arms[*arm])).map(at)
        });
        arms.collect()
    };
    let mut rows = Vec::new();
    let same = of(|arm| arm == Arm::Again);
    rows.extend(judged(&same, |against| log_of(against.subject.least)).into_iter().map(|(a, j)| a.same(j)));
    let slower = of(|arm| matches!(arm, Arm::Slower(_)));
    // Every slow-down is meant to be seen, however little it matters.
    rows.extend(judged(&slower, |_| 0.0).into_iter().map(|(a, j)| a.slower(j)));
    rows.extend(of(|arm| arm == Arm::Double).iter().map(Against::linear));
    rows.extend(subjects.iter().zip(&taken.series).filter_map(|(subject, series)| floor(subject, series)));
    rows
}

/// An arm of a cell, against its base.
#[derive(Clone, Copy)]
struct Against<'a> {
    subject: &'a Subject,
    series: &'a Series,
    /// Which arm.
    at: usize,
}

/// Judges comparisons of one kind together. Those without a figure have none.
fn judged<'a>(
    all: &[Against<'a>],
    least: impl Fn(&Against) -> f64,
) -> Vec<(Against<'a>, Option<(Effect, Judged)>)> {
    let effects: Vec<Option<Effect>> = all.iter().map(|against| against.effect(|ns| ns.lead)).collect();
    let known: Vec<(Effect, Margin)> = all
        .iter()
        .zip(&effects)
        .filter_map(|(against, effect)| Some(((*effect)?, Margin { least: least(against), floor: None })))
        .collect();
    let mut judged = judge(&known).into_iter();
    let one = |(against, effect): (&Against<'a>, Option<Effect>)| {
        (*against, effect.and_then(|effect| Some((effect, judged.next()?))))
    };
    all.iter().zip(effects).map(one).collect()
}

impl Against<'_> {
    /// The effect of the arm against the base of the same round.
    fn effect(&self, of: fn(&Ns) -> f64) -> Option<Effect> {
        let log = |round: &Vec<Ns>| (of(&round[self.at]) / of(&round[0])).ln();
        Effect::of_pairs(&self.series.rounds.iter().map(log).collect::<Vec<f64>>())
    }

    fn row(&self, check: Kind, of: String, expected: String) -> Row {
        let (outcome, found) = match &self.series.out {
            Some(Out::Unavailable(why)) => (Outcome::NotTried, why.to_string()),
            Some(Out::Failed(error)) => (Outcome::Fail, error.clone()),
            None => (Outcome::Fail, "no round was complete".to_owned()),
        };
        Row { check, of, outcome, found, expected, figure: None, injected: None }
    }

    fn same(&self, judged: Option<(Effect, Judged)>) -> Row {
        let expected = format!("no verdict of a difference of {:.0} %", 100.0 * self.subject.least);
        let row = self.row(Kind::Same, self.subject.label.to_owned(), expected);
        let Some((effect, judged)) = judged.filter(|_| self.series.out.is_none()) else { return row };
        let outcome = match judged.verdict.differs() {
            true => Outcome::Fail,
            // In so few rounds there is no verdict of a difference, whatever the difference.
            false if effect.interval_95.is_none() => Outcome::Undecided,
            false => Outcome::Pass,
        };
        let figure = ratio(&effect, 1.0);
        let found = format!("{}, {}", percent(&figure), judged.verdict.word());
        Row { outcome, found, figure: Some(figure), ..row }
    }

    fn slower(&self, judged: Option<(Effect, Judged)>) -> Row {
        let Arm::Slower(percents) = self.subject.arms[self.at] else {
            unreachable!("filtered by the caller")
        };
        let must = percents >= MUST_FIND_PERCENT;
        let expected = if must { "found, at its size" } else { "nothing: shows the resolution" };
        let row =
            self.row(Kind::SlowDown, format!("{percents} %: {}", self.subject.label), expected.to_owned());
        let Some((effect, judged)) = judged.filter(|_| self.series.out.is_none()) else { return row };
        let injected = self.injected(percents);
        let found = judged.verdict.differs() && effect.log_ratio > 0.0;
        let (size, right) = size(&effect, injected);
        let outcome = match (must, found, right) {
            (false, ..) => Outcome::Told,
            (true, true, true) => Outcome::Pass,
            (true, false, _) if effect.interval_95.is_none() || holds(&effect, injected) => {
                Outcome::Undecided
            }
            (true, ..) => Outcome::Fail,
        };
        let figure = ratio(&effect, 1.0);
        let word = if found { "found" } else { "not found" };
        let found =
            format!("{word}: {}, injected {:+.1} %, {size}", percent(&figure), 100.0 * injected.exp_m1());
        Row { outcome, found, figure: Some(figure), injected: Some(injected.exp()), ..row }
    }

    /// The logarithm of what was injected, by the base that the rounds show.
    fn injected(&self, percents: u32) -> f64 {
        let injected_ns = injected_ns(self.series.base_ns, percents);
        let log = |round: &Vec<Ns>| (injected_ns / round[0].lead).ln_1p();
        median(&self.series.rounds.iter().map(log).collect::<Vec<f64>>()).unwrap_or_default()
    }

    /// By the fastest samples: what disturbs some of them is no part of the question.
    fn linear(&self) -> Row {
        let expected = format!("{} to {}", LINEAR.start(), LINEAR.end());
        let row = self.row(Kind::Linear, format!("T(2n)/T(n): {}", self.subject.label), expected);
        let Some(effect) = self.effect(|ns| ns.floor).filter(|_| self.series.out.is_none()) else {
            return row;
        };
        let figure = ratio(&effect, 2.0);
        let may_be = |(low, high): (f64, f64)| low <= *LINEAR.end() && high >= *LINEAR.start();
        let outcome = match LINEAR.contains(&figure.value) {
            true => Outcome::Pass,
            false if figure.low.zip(figure.high).is_none_or(may_be) => Outcome::Undecided,
            false => Outcome::Fail,
        };
        let found = match figure.low.zip(figure.high) {
            Some((low, high)) => format!("{:.3} ({low:.3} to {high:.3})", figure.value),
            None => format!("{:.3} (too few rounds for an interval)", figure.value),
        };
        Row { outcome, found, figure: Some(figure), ..row }
    }
}

/// How an estimate lies to what was injected, and whether that will do: its interval holds it, or it is close.
fn size(effect: &Effect, injected: f64) -> (&'static str, bool) {
    if holds(effect, injected) {
        ("in the interval", true)
    } else if (effect.log_ratio - injected).abs() <= CLOSE_PART * injected {
        ("close to it", true)
    } else {
        ("far from it", false)
    }
}

/// Whether the interval of an estimate holds what was injected.
fn holds(effect: &Effect, injected: f64) -> bool {
    effect.interval_95.is_some_and(|interval| interval.low <= injected && injected <= interval.high)
}

/// A ratio in place of its logarithm.
fn ratio(effect: &Effect, times: f64) -> Figure {
    let back = |log: f64| times * log.exp();
    Figure {
        value: back(effect.log_ratio),
        low: effect.interval_95.map(|interval| back(interval.low)),
        high: effect.interval_95.map(|interval| back(interval.high)),
    }
}

/// `+0.3 % (-0.2 to +0.8)`.
fn percent(ratio: &Figure) -> String {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    match ratio.low.zip(ratio.high) {
        Some((low, high)) => {
            format!("{:+.1} % ({:+.1} to {:+.1})", percent(ratio.value), percent(low), percent(high))
        }
        None => format!("{:+.1} % (too few rounds for an interval)", percent(ratio.value)),
    }
}

/// The figure of a cell that is a floor.
fn floor(subject: &Subject, series: &Series) -> Option<Row> {
    let bound_ns = subject.bound_ns?;
    let expected = format!("above 0, at most {bound_ns} ns");
    let row = Against { subject, series, at: 0 }.row(Kind::Floor, subject.label.to_owned(), expected);
    let base: Vec<f64> = series.rounds.iter().map(|round| round[0].lead).collect();
    let Some(estimate) = Estimate::of(&base).filter(|_| series.out.is_none()) else { return Some(row) };
    let outcome =
        if estimate.value > 0.0 && estimate.value <= bound_ns { Outcome::Pass } else { Outcome::Fail };
    let (low, high) = estimate.interval.map(|interval| (interval.low, interval.high)).unzip();
    let found = match low.zip(high) {
        Some((low, high)) => format!("{:.2} ns ({low:.2} to {high:.2})", estimate.value),
        None => format!("{:.2} ns (too few rounds for an interval)", estimate.value),
    };
    Some(Row { outcome, found, figure: Some(Figure { value: estimate.value, low, high }), ..row })
}

/// `CLOCK_MONOTONIC` against another clock, by what passed on each.
pub fn clocks([ours_ns, raw_ns]: [u64; 2]) -> Row {
    let apart = ours_ns as f64 / raw_ns.max(1) as f64 - 1.0;
    let outcome = match (ours_ns.max(raw_ns) < LEAST_WATCHED_NS, apart.abs() <= CLOCKS_APART) {
        (true, _) => Outcome::NotTried,
        (false, true) => Outcome::Pass,
        (false, false) => Outcome::Fail,
    };
    Row {
        check: Kind::Clock,
        of: "CLOCK_MONOTONIC against CLOCK_MONOTONIC_RAW".to_owned(),
        outcome,
        found: format!("{:+.1} millionths over {:.1} s", 1e6 * apart, ours_ns as f64 / 1e9),
        expected: format!("at most {:.0} millionths, over 1 s at least", 1e6 * CLOCKS_APART),
        figure: Some(Figure { value: 1.0 + apart, low: None, high: None }),
        injected: None,
    }
}
