//! Statistics and stop rules by seeded simulation: scripted visits go through the real schedule, the real estimate and
//! the real report. No process is started and no clock is read.
//!
//! Three mutations are tried on the checks themselves, so that they are known to fail for them: samples pooled in place
//! of visits, floor and median swapped, flags dropped.

use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::measure::stats::modes::Modes;
use ipcmatrix::measure::stats::{Estimate, Interval, median, median_interval};
use ipcmatrix::record::{Header, Lead, Measured, Outcome, PlannedCell, Table, Visit};
use ipcmatrix::report::load::Run;
use ipcmatrix::report::{Options, text};
use ipcmatrix::runner::schedule::{Rounds, Schedule};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::f64::consts::TAU;

const SAMPLES: usize = 10;

fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// A number of a visit of so many rounds, by the round from 0.
type Source = fn(&mut ChaCha8Rng, usize) -> f64;

fn log_normal(random: &mut ChaCha8Rng, _: usize) -> f64 {
    100.0 * (0.05 * normal(random)).exp()
}

/// One visit in ten takes 1.1 to 3 times as long.
fn spiky(random: &mut ChaCha8Rng, _: usize) -> f64 {
    let spike = if random.random::<f64>() < 0.1 { 1.1 + 1.9 * random.random::<f64>() } else { 1.0 };
    100.0 * spike * (1.0 + 0.03 * normal(random))
}

/// The median of [`spiky`]: 5/9 of the quiet visits are below it, which is 0.13971 deviations over their middle.
const SPIKY_MEDIAN: f64 = 100.0 * (1.0 + 0.03 * 0.139_71);

/// A normal deviate over another: Cauchy, without a mean.
fn heavy(random: &mut ChaCha8Rng, _: usize) -> f64 {
    100.0 + 2.0 * normal(random) / normal(random)
}

/// Seven in ten near 100, three near 200.
fn two_modes(random: &mut ChaCha8Rng, _: usize) -> f64 {
    let mode = if random.random::<f64>() < 0.7 { 100.0 } else { 200.0 };
    mode + 5.0 * normal(random)
}

/// The median of [`two_modes`]: the quantile 0.5/0.7 of its lower mode.
const TWO_MODES_MEDIAN: f64 = 100.0 + 5.0 * 0.565_948_821_932_863;

/// The machine grows slower by 0.02 % a round, which is small beside what varies from visit to visit: what is asked for
/// is the middle of that time.
fn drifting(random: &mut ChaCha8Rng, round: usize) -> f64 {
    100.0 * (1.0 + 0.0002 * round as f64) * (1.0 + 0.03 * normal(random))
}

fn no_drift(_: usize) -> f64 {
    100.0
}

/// What the median is after so many rounds.
type Truth = fn(usize) -> f64;

const SOURCES: [(&str, Source, Truth); 5] = [
    ("log-normal", log_normal, no_drift),
    ("spiky", spiky, |_| SPIKY_MEDIAN),
    ("heavy-tailed", heavy, no_drift),
    ("two modes", two_modes, |_| TWO_MODES_MEDIAN),
    ("drifting", drifting, |rounds| 100.0 * (1.0 + 0.0002 * (rounds as f64 - 1.0) / 2.0)),
];

/// Whether the interval of those numbers holds the truth; none holds nothing.
fn holds(values: &[f64], truth: f64) -> bool {
    let interval = Estimate::of(values).and_then(|estimate| estimate.interval);
    interval.is_some_and(|interval| interval.low <= truth && truth <= interval.high)
}

/// The share of trials whose interval, after so many visits, holds the truth.
fn coverage(source: Source, truth: Truth, visits: usize, trials: usize) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(2026);
    let mut holds = |_: &usize| {
        holds(&(0..visits).map(|round| source(&mut random, round)).collect::<Vec<f64>>(), truth(visits))
    };
    (0..trials).filter(|trial| holds(trial)).count() as f64 / trials as f64
}

#[test]
fn the_interval_covers_with_95_percent() {
    for (name, source, truth) in SOURCES {
        for visits in [6, 12, 22, 42] {
            let share = coverage(source, truth, visits, 4000);
            assert!((0.93..=0.975).contains(&share), "{name}, {visits} visits: {share}");
        }
    }
}

/// What a visit takes.
const VISIT_NS: u64 = 1_000_000;

fn cell(index: usize) -> Cell {
    Cell::new(Measure::Wait, "poll").with(Axis::Descriptors, Value::Count(index as u64))
}

fn planned(cells: usize) -> Vec<PlannedCell> {
    (0..cells).map(|index| PlannedCell { cell: cell(index), unavailable: None }).collect()
}

/// A visit whose samples are those, by the minimum as one worker has it.
fn visit_of(samples: &[f64], flags: &[&str]) -> Measured {
    Measured {
        ops: 1000,
        calibrated: false,
        lead: Lead::Floor,
        floor_ns: samples.iter().copied().fold(f64::INFINITY, f64::min),
        typ_ns: median(samples).unwrap_or(f64::NAN),
        cpu_ns: samples[0],
        oversubscribed: false,
        flags: flags.iter().map(ToString::to_string).collect(),
        overhead: None,
        ping_pong_ns: None,
        whole_core_ns: None,
        dependent_ns: None,
        moved: None,
        effective: Default::default(),
        proofs: Vec::new(),
        samples: Vec::new(),
    }
}

fn outcome(measured: Measured) -> Outcome {
    Outcome::Measured(Box::new(measured))
}

/// Numbers of the visits of each cell of a run of the real schedule, until it wants no more or `most` rounds are made.
fn scheduled(
    cells: usize,
    full_rounds: usize,
    most: usize,
    mut ns: impl FnMut(usize, usize) -> f64,
) -> (Vec<Vec<f64>>, Schedule) {
    let mut schedule = Schedule::new(&planned(cells), 7, 0.03, full_rounds);
    let mut values = vec![Vec::new(); cells];
    for round in 0..most {
        let order = schedule.next_round();
        if order.is_empty() {
            break;
        }
        for cell in order.into_iter().flatten() {
            let value = ns(cell, round);
            schedule.record(cell, &outcome(visit_of(&[value], &[])), VISIT_NS);
            values[cell].push(value);
        }
    }
    (values, schedule)
}

/// With looks after fixed counts and a stop at the first narrow interval the least lucky cells are looked at more often,
/// so the coverage falls a little below that of one look.
#[test]
fn the_interval_covers_under_the_stop_rule_too() {
    for (name, source, truth) in SOURCES {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let (values, schedule) = scheduled(1500, 12, 70, |_, round| source(&mut random, round));
        let held = values.iter().filter(|values| holds(values, truth(values.len()))).count();
        let share = held as f64 / values.len() as f64;
        assert!((0.92..=0.98).contains(&share), "{name}: {share}, {} done", schedule.done_cells());
    }
}

/// Where time is short cells are looked at after six visits already, and those come first whom the time left can make precise.
#[test]
fn the_interval_covers_where_cells_are_done_early() {
    // None at all, and as much as two thirds of the rounds for all take.
    for budget_s in [0.0, 12.0] {
        for (name, source, truth) in SOURCES {
            let mut random = ChaCha8Rng::seed_from_u64(2);
            let mut schedule = Schedule::new(&planned(1500), 7, 0.03, 12);
            let mut values = vec![Vec::new(); 1500];
            let mut spent_ns = 0;
            for round in 0..12 {
                schedule.begin_round(round + 1, budget_s, spent_ns);
                for cell in schedule.next_round().into_iter().flatten() {
                    // A run of no time at all ends at once, so there the rounds for all are made.
                    if budget_s > 0.0 && spent_ns as f64 > budget_s * 1e9 {
                        break;
                    }
                    let value = source(&mut random, round);
                    schedule.record(cell, &outcome(visit_of(&[value], &[])), VISIT_NS);
                    values[cell].push(value);
                    spent_ns += VISIT_NS;
                }
            }
            let at_six = values.iter().filter(|values| values.len() == 6).count();
            assert_eq!(
                at_six > schedule.done_cells(),
                budget_s > 0.0,
                "{name}: cells out of reach stay at six: {at_six}"
            );
            let held = values.iter().filter(|values| holds(values, truth(values.len()))).count();
            let share = held as f64 / values.len() as f64;
            let done = schedule.done_cells();
            assert!((0.92..=0.98).contains(&share), "{name}, {budget_s} s: {share}, {done} done");
        }
    }
}

#[test]
fn cells_of_two_modes_stop_at_twenty() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (values, _) = scheduled(200, 12, 200, |_, round| two_modes(&mut random, round));
    let stopped = values.iter().filter(|values| values.len() == 20).count();
    assert!(stopped > 150, "{stopped} of 200");
    for values in values.iter().filter(|values| Modes::of(values).is_some()) {
        assert!(values.len() >= 20, "a cell of two modes was done at {}", values.len());
    }
}

/// A worker that switches from one mode to the other in the middle, and one that the host takes the CPU from.
#[test]
fn a_switch_of_mode_is_told_and_steal_moves_nothing() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let switching = |round: usize| if round < 10 { 100.0 } else { 280.0 };
    let (values, schedule) =
        scheduled(1, 12, 200, |_, round| switching(round) * (1.0 + 0.01 * normal(&mut random)));
    assert_eq!((values[0].len(), schedule.done_cells()), (20, 0));
    assert!(Modes::of(&values[0]).is_some());

    let mut stolen = || {
        let sample = |_| {
            let taken =
                if random.random::<f64>() < 0.3 { 50.0 + 200.0 * random.random::<f64>() } else { 0.0 };
            (100.0 + taken) * (1.0 + 0.005 * random.random::<f64>())
        };
        let samples: Vec<f64> = (0..SAMPLES).map(sample).collect();
        visit_of(&samples, &[]).lead_ns()
    };
    let (values, schedule) = scheduled(20, 12, 200, |_, _| stolen());
    assert_eq!(schedule.done_cells(), 20);
    assert!(values.iter().all(|values| (median(values).unwrap() / 100.0 - 1.0).abs() < 0.005));
}

/// Samples of one visit share what disturbs it.
fn samples(random: &mut ChaCha8Rng) -> Vec<f64> {
    let visit = 100.0 * (0.05 * normal(random)).exp();
    (0..SAMPLES).map(|_| visit * (0.01 * normal(random)).exp()).collect()
}

/// The share of intervals from 12 visits that hold the truth.
fn coverage_by(interval: fn(&[Vec<f64>]) -> Interval) -> f64 {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut holds = || {
        let visits: Vec<Vec<f64>> = (0..12).map(|_| samples(&mut random)).collect();
        let interval = interval(&visits);
        interval.low <= 100.0 && 100.0 <= interval.high
    };
    (0..2000).filter(|_| holds()).count() as f64 / 2000.0
}

/// The check of [`the_interval_covers_with_95_percent`] catches a pipeline that takes samples for independent visits. In the
/// order in which they came the estimate itself sees that they are alike, and gives them what 12 visits are worth.
#[test]
fn samples_pooled_in_place_of_visits_are_caught() {
    let visits = coverage_by(|visits| {
        let values: Vec<f64> = visits.iter().filter_map(|samples| median(samples)).collect();
        Estimate::of(&values).unwrap().interval.unwrap()
    });
    assert!((0.93..=0.975).contains(&visits), "{visits}");
    let pooled = coverage_by(|visits| {
        let all = visits.concat();
        median_interval(&all, all.len() as f64).unwrap()
    });
    assert!(pooled < 0.6, "pooled samples pass the check: {pooled}");
    let in_order = coverage_by(|visits| Estimate::of(&visits.concat()).unwrap().interval.unwrap());
    assert!(in_order > 0.9, "{in_order}");
}

/// How far the figure of ten visits moves, as a part, when a neighbour takes a third of the time of most samples.
fn moved_by_a_neighbour(of: fn(&Measured) -> f64) -> f64 {
    let visit = |slow: usize| {
        let sample = |index: usize| if index < slow { 133.0 } else { 100.0 };
        visit_of(&(0..SAMPLES).map(sample).collect::<Vec<f64>>(), &[])
    };
    let figure = |slow| Estimate::of(&[of(&visit(slow)); 10]).unwrap().value;
    figure(7) / figure(0) - 1.0
}

/// With floor and median swapped the neighbour is the result.
#[test]
fn floor_and_median_swapped_are_caught() {
    assert!(moved_by_a_neighbour(Measured::lead_ns).abs() < 0.03);
    let swapped = |measured: &Measured| {
        let (floor_ns, typ_ns) = (measured.typ_ns, measured.floor_ns);
        Measured { floor_ns, typ_ns, ..measured.clone() }.lead_ns()
    };
    assert!(moved_by_a_neighbour(swapped) > 0.03, "swapped numbers pass the check");
}

/// The report of one cell whose sixth visit has a flag, unless the pipeline drops it.
fn flagged(dropped: bool) -> String {
    let visit = |position: u32| {
        let flags: &[&str] = if position == 6 && !dropped { &["n_drift"] } else { &[] };
        Visit {
            cell_index: 0,
            cell: cell(1),
            round: position,
            position,
            begin_ns: 0,
            duration_ns: 1,
            thrifty: false,
            arm: None,
            noise: None,
            outcome: outcome(visit_of(&[100.0], flags)),
        }
    };
    let run = Run {
        header: header(),
        visits: (1..=8).map(visit).collect(),
        end: None,
        torn_line: false,
        resumed: Vec::new(),
    };
    text::text(&run, Options::default()).unwrap()
}

fn header() -> Header {
    let table = Table {
        id: "S".into(),
        title: "simulated".into(),
        measure: Measure::Wait,
        row: Axis::Descriptors,
        column: Axis::Mechanism,
        split: Vec::new(),
        notes: Vec::new(),
        published: Vec::new(),
        metric: None,
        axes: Vec::new(),
        cells: vec![0],
    };
    Header {
        version: "0".into(),
        matrices: vec!["simulated".into()],
        matrix_crc32: String::new(),
        command: Vec::new(),
        effort: "default".into(),
        seed: 1,
        budget_s: 1.0,
        precision: 0.03,
        started: String::new(),
        machine_class: None,
        binary_crc32: None,
        allowed_cpus: Vec::new(),
        boot_crc32: None,
        arms: None,
        tables: vec![table],
        cells: vec![PlannedCell { cell: cell(1), unavailable: None }],
        gates: Vec::new(),
    }
}

#[test]
fn dropped_flags_are_caught() {
    let is_told = |document: &str| document.contains("n_drift: some samples were over four times");
    assert!(is_told(&flagged(false)));
    assert!(!is_told(&flagged(true)), "a report without the flag passes the check");
}
