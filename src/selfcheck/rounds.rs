//! The visits: every cell by all of its arms, in each round.

use super::Settings;
use super::plan::{Arm, Subject};
use crate::cell::Unavailable;
use crate::measure::clock::Clock;
use crate::measure::stats::median;
use crate::record::{Outcome, Request, Tampering};
use crate::runner::Visitor;
use crate::runner::signals::Caught;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Visits before the first round, of which the first chooses the operations of a batch and all say how long one takes.
const VISITS_BEFORE: usize = 3;

/// Why a cell gives nothing any more.
#[derive(Clone, Debug, PartialEq)]
pub enum Out {
    /// The machine refuses it.
    Unavailable(Unavailable),
    /// It failed.
    Failed(String),
}

/// Nanoseconds an operation in one visit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ns {
    /// By the number that leads.
    pub lead: f64,
    /// By the fastest sample.
    pub floor: f64,
}

/// What one cell gave.
pub struct Series {
    /// Operations a batch; 0 before the first visit.
    pub ops: u64,
    /// Nanoseconds of an operation by the number that leads, before the first round.
    pub base_ns: f64,
    /// One row a round: each arm's visit, in the order of the arms.
    pub rounds: Vec<Vec<Ns>>,
    /// The CPU that the workers of the visit before shared, which the other arms of its round take too.
    cpu: Option<usize>,
    /// Why there are no more.
    pub out: Option<Out>,
}

/// What all cells gave.
pub struct Taken {
    /// One for each subject.
    pub series: Vec<Series>,
    /// Rounds that were complete.
    pub rounds: u32,
}

impl Taken {
    /// Nothing yet.
    pub fn of(subjects: &[Subject]) -> Taken {
        let nothing = |_: &Subject| Series { ops: 0, base_ns: 0.0, rounds: Vec::new(), cpu: None, out: None };
        Taken { series: subjects.iter().map(nothing).collect(), rounds: 0 }
    }
}

/// Makes all rounds that will be over at `end_ns`, going by the one before.
///
/// # Errors
/// The signal that came meanwhile; the rounds before it stay.
pub fn make(
    settings: &Settings,
    subjects: &[Subject],
    taken: &mut Taken,
    visitor: &mut dyn Visitor,
    (clock, end_ns): (&dyn Clock, u64),
    begun: &mut dyn FnMut(u32),
) -> Result<(), Caught> {
    let mut random = ChaCha8Rng::seed_from_u64(settings.seed);
    for (subject, series) in subjects.iter().zip(&mut taken.series) {
        begin(settings, subject, series, visitor)?;
    }
    let mut round_ns = 0;
    for round in 1..=settings.rounds {
        let begin_ns = clock.now_ns();
        if begin_ns + round_ns > end_ns {
            break;
        }
        begun(round);
        let mut order: Vec<usize> = (0..subjects.len()).collect();
        order.shuffle(&mut random);
        for index in order {
            visit_arms(settings, &subjects[index], &mut taken.series[index], visitor, &mut random)?;
        }
        taken.rounds = round;
        round_ns = clock.now_ns() - begin_ns;
    }
    Ok(())
}

/// Finds out how many operations make a batch, and how long one takes.
fn begin(
    settings: &Settings,
    subject: &Subject,
    series: &mut Series,
    visitor: &mut dyn Visitor,
) -> Result<(), Caught> {
    let mut figures = Vec::new();
    while figures.len() < VISITS_BEFORE && series.out.is_none() {
        let ops = (series.ops > 0).then_some(series.ops);
        figures.extend(visit(settings, subject, ops, None, series, visitor)?.map(|ns| ns.lead));
    }
    series.base_ns = median(&figures).unwrap_or_default();
    Ok(())
}

/// One visit by each arm, in an order of their own.
fn visit_arms(
    settings: &Settings,
    subject: &Subject,
    series: &mut Series,
    visitor: &mut dyn Visitor,
    random: &mut ChaCha8Rng,
) -> Result<(), Caught> {
    let mut order: Vec<usize> = (0..subject.arms.len()).collect();
    order.shuffle(random);
    let mut round = vec![Ns::default(); subject.arms.len()];
    series.cpu = None;
    for arm in order {
        if series.out.is_some() {
            return Ok(());
        }
        let (ops, injected_ns) = match subject.arms[arm] {
            Arm::Base | Arm::Again => (series.ops, None),
            Arm::Double => (2 * series.ops, None),
            Arm::Slower(percent) => (series.ops, Some(injected_ns(series.base_ns, percent))),
        };
        round[arm] = visit(settings, subject, Some(ops), injected_ns, series, visitor)?.unwrap_or_default();
    }
    if series.out.is_none() {
        series.rounds.push(round);
    }
    Ok(())
}

/// The nanoseconds by which an operation is made longer.
pub fn injected_ns(base_ns: f64, percent: u32) -> f64 {
    base_ns * f64::from(percent) / 100.0
}

/// The figure of one visit; `None` where the cell is out with it.
fn visit(
    settings: &Settings,
    subject: &Subject,
    ops: Option<u64>,
    injected_ns_per_op: Option<f64>,
    series: &mut Series,
    visitor: &mut dyn Visitor,
) -> Result<Option<Ns>, Caught> {
    let alone = Request::alone(&subject.cell, ops, settings.effort, settings.deadline_ms);
    let tampering = injected_ns_per_op.map(|_| Tampering { injected_ns_per_op, faulty: false });
    let runner = Some(std::process::id() as i32);
    let request = Request { tampering, runner, same_cpu_as: series.cpu, ..alone };
    let mut heard = None;
    visitor.visit(&request, &mut |outcome| heard = Some(outcome))?;
    let failed = |text: String| Some(Out::Failed(text));
    series.out = match heard {
        Some(Outcome::Measured(measured)) if measured.floor_ns > 0.0 && measured.lead_ns().is_finite() => {
            if ops.is_none() {
                series.ops = measured.ops;
            }
            series.cpu = measured.one_cpu();
            return Ok(Some(Ns { lead: measured.lead_ns(), floor: measured.floor_ns }));
        }
        Some(Outcome::Measured(measured)) => failed(format!("{} ns an operation", measured.lead_ns())),
        Some(Outcome::Unavailable(why)) => Some(Out::Unavailable(why)),
        Some(Outcome::Failed { phase, error }) => failed(format!("failed in phase {phase}: {error}")),
        None => failed("the visit told nothing".to_owned()),
    };
    Ok(None)
}
