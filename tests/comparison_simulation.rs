//! Verdicts of two arms by seeded simulation: scripted rounds go through the real pairing, tests and verdicts. No process
//! is started and no clock is read.
//!
//! The spreads are those that cells of one worker, or on one CPU, show: the fastest sample of a visit moves by 1 to 3 % from
//! visit to visit and by a drift that both arms share; one visit in twenty is disturbed.

use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::compare::floors::between_runs;
use ipcmatrix::compare::pairs::pairs;
use ipcmatrix::compare::{Effect, Margin, Verdict, judge};
use ipcmatrix::measure::stats::median;
use ipcmatrix::record::{Arm, Arms, Header, Lead, Measured, Outcome, PlannedCell, Visit};
use ipcmatrix::report::load::{Run, parse_run};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

const ROUNDS: usize = 20;

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// A visit of a cell with that spread, in that round; `factor` is what an arm takes of the other's time.
fn visit_ns(random: &mut ChaCha8Rng, spread: f64, round: usize, factor: f64) -> f64 {
    let disturbed = if random.random::<f64>() < 0.05 { 1.0 + 0.5 * random.random::<f64>() } else { 1.0 };
    let drift = 1.0 + 0.001 * round as f64;
    100.0 * factor * drift * disturbed * (spread * normal(random)).exp()
}

fn cell(index: usize) -> Cell {
    Cell::new(Measure::Wait, "poll")
        .with(Axis::Descriptors, Value::Count(index as u64))
        .with(Axis::Placement, Value::word("same_cpu"))
}

/// A recorded run, for all that does not matter here.
fn template() -> Run {
    parse_run(include_bytes!("golden/small.jsonl"), "small.jsonl").unwrap()
}

/// A recorded visit of a cell without a loop of its own, for all that does not matter here.
fn recorded_visit(run: &Run) -> Visit {
    let plain = |visit: &&Visit| match &visit.outcome {
        Outcome::Measured(measured) => measured.overhead.is_none(),
        _ => false,
    };
    run.visits.iter().find(plain).unwrap().clone()
}

/// The recorded visit as one that took so long.
fn measured(recorded: &Visit, ns: f64) -> Outcome {
    let Outcome::Measured(mut measured) = recorded.outcome.clone() else { unreachable!("it was measured") };
    (measured.lead, measured.floor_ns, measured.typ_ns) = (Lead::Floor, ns, 1.1 * ns);
    Outcome::Measured(measured)
}

/// A run of those cells, each with the factor of arm b.
fn run(random: &mut ChaCha8Rng, factors: &[f64], rounds: usize) -> Vec<(Effect, Margin)> {
    judged(&header(factors.len(), rounds), &visits(random, factors, rounds))
}

/// Its visits.
fn visits(random: &mut ChaCha8Rng, factors: &[f64], rounds: usize) -> Vec<Visit> {
    let cells = factors.len();
    let recorded = recorded_visit(&template());
    let mut visits = Vec::new();
    for round in 0..rounds {
        for (index, factor) in (0..2 * cells).map(|index| (index, factors[index % cells])) {
            let arm = Arms::arm_of(index, 2 * cells);
            let spread = 0.01 + 0.02 * (index % cells) as f64 / cells as f64;
            let factor = if arm == Arm::B { factor } else { 1.0 };
            visits.push(Visit {
                cell_index: index,
                round: round as u32 + 1,
                arm: Some(arm),
                outcome: measured(&recorded, visit_ns(random, spread, round, factor)),
                ..recorded.clone()
            });
        }
    }
    visits
}

/// What the pairs of those visits say.
fn judged(header: &Header, visits: &[Visit]) -> Vec<(Effect, Margin)> {
    let pairs = pairs(header, header.arms.as_ref().unwrap(), visits);
    pairs.iter().map(|pair| pair.found.as_ref().map(|found| (found.effect, found.margin)).unwrap()).collect()
}

fn header(cells: usize, rounds: usize) -> Header {
    let planned = |index| PlannedCell { cell: cell(index), unavailable: None };
    Header {
        arms: Some(Arms {
            a: "base".into(),
            b: "env:X=1".into(),
            program_crc32: None,
            rounds: rounds as u32,
            least: None,
            floors_from: String::new(),
            floors: Vec::new(),
            left_out: Vec::new(),
        }),
        tables: Vec::new(),
        cells: (0..cells).chain(0..cells).map(planned).collect(),
        ..template().header
    }
}

/// The verdicts of one run with the factor of arm b of each cell.
fn verdicts(random: &mut ChaCha8Rng, factors: &[f64]) -> Vec<Verdict> {
    judge(&run(random, factors, ROUNDS)).into_iter().map(|judged| judged.verdict).collect()
}

/// 20 runs of 100 cells: 2,000 raw ps, and the differences that are called where there is none.
#[test]
fn the_same_arm_twice_is_no_difference() {
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let (mut low, mut called) = (0, 0);
    for _ in 0..20 {
        let effects = run(&mut random, &[1.0; 100], ROUNDS);
        low += effects.iter().filter(|(effect, _)| effect.p.unwrap() < 0.05).count();
        called += judge(&effects).iter().filter(|judged| judged.verdict.differs()).count();
    }
    println!("the same arm twice: {low} of 2000 raw p under 0.05, {called} verdicts of a difference");
    let share = low as f64 / 2000.0;
    assert!((0.02..=0.08).contains(&share), "raw p under 0.05 in {share}");
    assert_eq!(called, 0);
}

/// A run of 20 rounds that was ended after five has the floor of five.
#[test]
fn the_floor_of_a_run_that_ended_early_is_wider() {
    let mut random = ChaCha8Rng::seed_from_u64(10);
    let visits = visits(&mut random, &[1.0], 5);
    let floor = |planned| {
        let mut header = header(1, planned);
        header.arms.as_mut().unwrap().floors = vec![Some(0.01)];
        judged(&header, &visits)[0].1.floor.unwrap()
    };
    assert!((floor(5) - 0.01).abs() < 1e-12, "{}", floor(5));
    assert!((floor(20) - 0.02).abs() < 1e-12, "{}", floor(20));
}

/// The share of slower cells that are found so where every other cell is slower by that part.
fn found(part: f64) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let factors: Vec<f64> = (0..40).map(|index| if index % 2 == 0 { 1.0 + part } else { 1.0 }).collect();
    let mut found = 0;
    for _ in 0..25 {
        let verdicts = verdicts(&mut random, &factors);
        found += verdicts.iter().step_by(2).filter(|verdict| **verdict == Verdict::Slower).count();
    }
    found as f64 / 500.0
}

#[test]
fn injected_slow_downs_are_found() {
    let (ten, five) = (found(0.10), found(0.05));
    println!("found in 20 rounds: 10 % in {ten}, 5 % in {five}");
    assert!(ten >= 0.95, "10 %: {ten}");
    assert!(five >= 0.80, "5 %: {five}");
}

/// Of the differences that are called among cells of which a tenth are slower or faster, at most 5 % are none.
#[test]
fn false_discoveries_are_few() {
    let mut random = ChaCha8Rng::seed_from_u64(8);
    let factor = |index: usize| match index % 20 {
        0 => 1.06,
        1 => 0.93,
        _ => 1.0,
    };
    let factors: Vec<f64> = (0..100).map(factor).collect();
    let (mut calls, mut wrong) = (0, 0);
    for _ in 0..30 {
        for (index, verdict) in verdicts(&mut random, &factors).into_iter().enumerate() {
            let truth = match factor(index) {
                slower if slower > 1.0 => Some(Verdict::Slower),
                faster if faster < 1.0 => Some(Verdict::Faster),
                _ => None,
            };
            calls += usize::from(verdict.differs());
            wrong += usize::from(verdict.differs() && Some(verdict) != truth);
        }
    }
    println!("{calls} differences called, {wrong} of them false");
    assert!(calls > 200, "{calls}");
    assert!(wrong as f64 <= 0.05 * f64::from(calls as u32), "{wrong} of {calls}");
}

/// The checks above catch verdicts that take raw p for q, and arms that are compared as if their visits were no pairs.
#[test]
fn raw_ps_in_place_of_qs_are_caught() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    let effects = run(&mut random, &[1.0; 400], ROUNDS);
    let margin = Margin { least: 1e-6, floor: None };
    let sharp: Vec<(Effect, Margin)> = effects.iter().map(|(effect, _)| (*effect, margin)).collect();
    let judged_alone = sharp.iter().filter(|one| judge(&[**one])[0].verdict.differs()).count();
    let judged_together = judge(&sharp).iter().filter(|judged| judged.verdict.differs()).count();
    assert!(judged_alone > 4, "raw p passes the check: {judged_alone} of 400");
    assert_eq!(judged_together, 0);
}

/// The median of six visits of a run.
fn run_of_six(random: &mut ChaCha8Rng, spread: f64) -> f64 {
    let ns: Vec<f64> = (0..6).map(|_| visit_ns(random, spread, 0, 1.0)).collect();
    median(&ns).unwrap()
}

#[test]
fn one_run_against_one_stays_below_its_floor() {
    let mut random = ChaCha8Rng::seed_from_u64(1998);
    for visits in [12, 18, 40, 80] {
        let mut below = 0;
        let trials: u32 = 2000;
        for _ in 0..trials {
            let ns: Vec<f64> = (0..visits).map(|at| visit_ns(&mut random, 0.02, at / 2, 1.0)).collect();
            let floor = between_runs(&ns).unwrap();
            let [one, other] = [(); 2].map(|()| run_of_six(&mut random, 0.02));
            below += u32::from((one / other).ln().abs() <= floor);
        }
        let share = f64::from(below) / f64::from(trials);
        assert!(share >= 0.94, "{visits} visits: {share}");
    }
}

/// A visit that took so long, after that was done to it.
fn changed(recorded: &Visit, ns: f64, change: impl Fn(&mut Measured)) -> Outcome {
    let Outcome::Measured(mut measured) = measured(recorded, ns) else { unreachable!("it was measured") };
    change(&mut measured);
    Outcome::Measured(measured)
}

/// The ratios of the one pair of the header, and how many of its visits have no partner.
fn paired(header: &Header, visits: &[Visit]) -> (Vec<f64>, usize) {
    let found = pairs(header, header.arms.as_ref().unwrap(), visits).remove(0).found.unwrap();
    (found.log_ratios, found.alone)
}

/// So many rounds of one cell, with what came of arm a and of arm b in each.
fn rounds(recorded: &Visit, count: u32, of: impl Fn(u32) -> [Outcome; 2]) -> Vec<Visit> {
    let mut visits = Vec::new();
    for round in 0..count {
        for (index, outcome) in of(round).into_iter().enumerate() {
            let arm = Some(Arms::arm_of(index, 2));
            visits.push(Visit { cell_index: index, round: round + 1, arm, outcome, ..recorded.clone() });
        }
    }
    visits
}

/// Another program as an arm may not know which CPU to avoid.
#[test]
fn pairs_on_different_cpus_are_not_compared() {
    let recorded = recorded_visit(&template());
    let on = |cpu: usize, ns: f64| {
        changed(&recorded, ns, |measured| {
            let workers = measured.samples.iter_mut().flat_map(|sample| &mut sample.workers);
            workers.for_each(|worker| worker.cpu = cpu);
        })
    };
    let header = header(1, 8);
    let visits = rounds(&recorded, 8, |round| {
        let apart = round < 2;
        [on(1, 100.0), if apart { on(0, 300.0) } else { on(1, 100.0) }]
    });
    assert_eq!(paired(&header, &visits), (vec![0.0; 6], 4));
}

/// A host that moves CPUs between the arms of a round is no difference of the arms.
#[test]
fn near_is_compared_with_near() {
    let recorded = recorded_visit(&template());
    let at = |way: f64, ns: f64| changed(&recorded, ns, |measured| measured.ping_pong_ns = Some([way, way]));
    let crossing = |planned: PlannedCell| PlannedCell {
        cell: planned.cell.with(Axis::Placement, Value::word("cross_cpu")),
        ..planned
    };
    let plain = header(1, 12);
    let header = Header { cells: plain.cells.clone().into_iter().map(crossing).collect(), ..plain };
    let (near, far) = (|| at(60.0, 100.0), || at(250.0, 300.0));
    let visits = rounds(&recorded, 12, |round| match round {
        0..4 => [near(), far()],
        4..8 => [far(), far()],
        _ => [near(), near()],
    });
    assert_eq!(paired(&header, &visits), (vec![0.0; 8], 8));
}

/// Another guest that takes the core between the arms of a round is no difference of the arms, where rounds enough are left to tell.
#[test]
fn alone_is_compared_with_alone() {
    let recorded = recorded_visit(&template());
    let on = |core_ns: u64, ns: f64| {
        changed(&recorded, ns, |measured| measured.whole_core_ns = Some([core_ns, core_ns]))
    };
    let (alone, shared) = (|| on(40_000, 100.0), || on(65_000, 150.0));
    let header = header(1, 12);
    let found = |unlike: u32| {
        let visits = rounds(&recorded, 12, |round| match round {
            round if round < unlike => [alone(), shared()],
            round if round % 2 == 0 => [shared(), shared()],
            _ => [alone(), alone()],
        });
        paired(&header, &visits)
    };
    assert_eq!(found(6), (vec![0.0; 6], 12));
    let (ratios, without) = found(7);
    assert_eq!((ratios.len(), without), (12, 0), "fewer than half, and five would have no interval");
}
