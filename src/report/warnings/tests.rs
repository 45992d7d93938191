//! Each detector fires on what it is for, and none on a healthy run.

use super::*;
use crate::cell::{Axis, Cell, Measure, Value};
use crate::record::{Lead, Measured, Moved, Noise, Outcome, PlannedCell, Sample, Visit, WorkerSample};
use crate::report::cells::{Slot, slots};
use crate::report::load::{Run, parse_run};
use crate::report::metric::Metric;

/// Visits of each cell of a healthy run.
const VISITS: u32 = 12;

/// The cells of a healthy run: one worker; two that take turns; two with a CPU each; the same unpinned; a log.
const CELLS: usize = 5;

/// Their places.
const ONE: usize = 0;
const TURNS: usize = ONE + 1;
const APART: usize = TURNS + 1;
const FREE: usize = APART + 1;
const LOG: usize = FREE + 1;

fn cell(index: usize) -> Cell {
    match index {
        ONE => Cell::new(Measure::Wait, "x").with(Axis::Placement, Value::word("same_cpu")),
        TURNS => Cell::new(Measure::RoundTrip, "x").with(Axis::Placement, Value::word("same_cpu")),
        APART => Cell::new(Measure::RoundTrip, "x").with(Axis::Placement, Value::word("cross_cpu")),
        FREE => Cell::new(Measure::RoundTrip, "x").with(Axis::Placement, Value::word("free")),
        _ => Cell::new(Measure::Append, "x").with(Axis::Placement, Value::word("same_cpu")),
    }
}

/// CPUs, share of the time on them, run delay as a share, context switches: of each worker of a healthy sample.
fn workers(index: usize) -> Vec<(usize, f64, f64, u64)> {
    match index {
        ONE => vec![(1, 0.999, 0.001, 0)],
        TURNS => vec![(1, 0.5, 0.49, 5000), (1, 0.49, 0.5, 5000)],
        APART | FREE => vec![(1, 0.6, 0.15, 5000), (0, 0.4, 0.15, 5000)],
        _ => vec![(1, 0.3, 0.0, 100)],
    }
}

/// A sample of 5 ms by the healthy cell.
fn sample(index: usize) -> Sample {
    let worker = |(cpu, busy, delay, switches): (usize, f64, f64, u64)| WorkerSample {
        cpu_ns: (5e6 * busy) as u64,
        run_delay_ns: Some((5e6 * delay) as u64),
        voluntary_switches: switches,
        cpu,
        ..WorkerSample::default()
    };
    let workers = workers(index).into_iter().map(worker).collect();
    Sample { elapsed_ns: 5_000_000, workers, ..Sample::default() }
}

/// Visits vary by 1 %, up and down.
fn healthy_ns(round: u32) -> f64 {
    1000.0 + [0.0, 8.0, -3.0, 5.0, -7.0, 2.0, -5.0, 9.0, -1.0, 4.0, -9.0, 1.0][round as usize % 12]
}

fn visit(index: usize, round: u32) -> Visit {
    let additive = matches!(index, ONE | TURNS | LOG);
    let ns = healthy_ns(round);
    let position = round * CELLS as u32 + index as u32 + 1;
    Visit {
        cell_index: index,
        cell: cell(index),
        round: round + 1,
        position,
        begin_ns: u64::from(position) * 200_000_000,
        duration_ns: 100_000_000,
        thrifty: false,
        arm: None,
        noise: Some(Noise {
            foreign_share: Some(0.01),
            steal_share: Some(0.0),
            pressure_share: Some(if index == TURNS { 0.9 } else { 0.02 }),
            throttled: Some(0),
            canary_ns: (index == ONE).then_some(1_000_000 + u64::from(round % 3) * 1000),
            waited_ns: None,
        }),
        outcome: Outcome::Measured(Box::new(Measured {
            ops: 5000,
            calibrated: round == 0,
            lead: if additive { Lead::Floor } else { Lead::Typ },
            floor_ns: ns,
            typ_ns: ns,
            cpu_ns: ns,
            oversubscribed: false,
            flags: Vec::new(),
            ping_pong_ns: matches!(index, APART | FREE).then_some([100.0, 110.0 + f64::from(round)]),
            whole_core_ns: (index != FREE).then_some([40_000, 40_500]),
            dependent_ns: None,
            moved: None,
            overhead: None,
            effective: Default::default(),
            proofs: Vec::new(),
            samples: vec![sample(index); 5],
        })),
    }
}

/// A run whose visits are at ease, after that was done to each.
fn run(change: impl Fn(&mut Visit)) -> Run {
    let mut run = parse_run(include_bytes!("../../../tests/golden/small.jsonl"), "small").unwrap();
    run.header.cells = (0..CELLS).map(|index| PlannedCell { cell: cell(index), unavailable: None }).collect();
    run.header.tables.clear();
    run.visits = (0..VISITS).flat_map(|round| (0..CELLS).map(move |index| visit(index, round))).collect();
    run.visits.iter_mut().for_each(change);
    run
}

fn measured(visit: &mut Visit) -> &mut Measured {
    match &mut visit.outcome {
        Outcome::Measured(measured) => measured,
        other => panic!("no figures: {other:?}"),
    }
}

fn noise(visit: &mut Visit) -> &mut Noise {
    visit.noise.as_mut().unwrap()
}

/// The codes of the run's visits and figures: code, how many visits, how many cells.
fn fired(run: &Run) -> Vec<(&'static str, usize, usize)> {
    let findings = Findings::of(run, Codes::default());
    let figures = slots(run, Metric::Figure);
    let of_cells = |code: Code| {
        let figures = figures.iter().filter_map(Slot::figure);
        figures.filter(|figure| findings.of_figure(figure).has(code)).count()
    };
    Code::all()
        .map(|code| (code.detector().code, findings.count(code), of_cells(code)))
        .filter(|(_, visits, cells)| visits + cells > 0)
        .collect()
}

#[test]
fn codes_are_in_order_and_words_are_there() {
    for (place, detector) in DETECTORS.iter().enumerate() {
        assert_eq!(detector.code, format!("W{:03}", place + 1));
        assert!(detector.advice.ends_with('.') && !detector.text.ends_with('.'), "{}", detector.code);
        assert!(!detector.name.is_empty() && !detector.threshold().to_string().is_empty());
        assert_eq!(Code::named(detector.code).map(|code| code.detector().name), Some(detector.name));
        let of_cells = matches!(detector.finds, Finds::Figure(_));
        assert_eq!(of_cells, detector.concern == Concern::Cells, "{}", detector.code);
        assert_eq!(detector.unit == Unit::Any, detector.limit == 0.0, "{}", detector.code);
    }
    assert_eq!(Code::named("W000"), None);
}

#[test]
fn nothing_fires_on_a_healthy_run() {
    let run = run(|_| ());
    assert_eq!(fired(&run), []);
    assert!(slots(&run, Metric::Figure).iter().all(|slot| slot.figure().is_some()));
    let mut thorough = run.clone();
    thorough.header.effort = "thorough".into();
    assert_eq!(fired(&thorough), []);
    let findings = Findings::of(&run, Codes::default());
    assert_eq!(findings.unseen.words(), "");
}

/// What each detector is for fires it, in the visits that have it alone; a little less of the same does not.
#[track_caller]
fn fires(code: &str, visits: usize, change: impl Fn(&mut Visit), less: impl Fn(&mut Visit)) {
    assert_eq!(fired(&run(change)), [(Code::named(code).unwrap().detector().code, visits, 0)]);
    assert_eq!(fired(&run(less)), [], "{code} fires on less");
}

/// Does that to the third visit of a cell.
fn third(index: usize, change: impl Fn(&mut Visit)) -> impl Fn(&mut Visit) {
    move |visit| {
        if visit.cell_index == index && visit.round == 3 {
            change(visit);
        }
    }
}

/// Lets the samples take longer, the CPU time and all else staying as it is.
fn longer(factor: f64) -> impl Fn(&mut Visit) {
    move |visit| {
        for sample in &mut measured(visit).samples {
            sample.elapsed_ns = (sample.elapsed_ns as f64 * factor) as u64;
        }
    }
}

#[test]
fn dilation() {
    for index in [ONE, TURNS] {
        fires("W001", 1, third(index, longer(1.08)), third(index, longer(1.03)));
    }
    for index in [APART, LOG] {
        assert_eq!(fired(&run(third(index, longer(1.5)))), [], "it may sleep by design");
    }
    let single_call = |visit: &mut Visit| {
        let measured = measured(visit);
        (measured.ops, measured.samples) = (1, vec![sample(ONE); 1]);
        measured.samples[0].elapsed_ns = 900;
        measured.samples[0].workers[0].cpu_ns = 100;
        measured.samples[0].workers[0].run_delay_ns = Some(0);
    };
    assert_eq!(fired(&run(third(ONE, single_call))), [], "too short for the clock of CPU time");
}

fn delayed(share: f64) -> impl Fn(&mut Visit) {
    move |visit| {
        for sample in &mut measured(visit).samples {
            sample.workers[0].run_delay_ns = Some((5e6 * share) as u64);
        }
    }
}

#[test]
fn run_delay() {
    fires("W002", 1, third(ONE, delayed(0.06)), third(ONE, delayed(0.04)));
    fires("W002", 1, third(APART, delayed(0.21)), third(APART, delayed(0.19)));
    assert_eq!(fired(&run(third(TURNS, delayed(0.9)))), [], "they share a CPU");
}

#[test]
fn what_the_machine_tells() {
    let foreign = |share| third(APART, move |visit| noise(visit).foreign_share = Some(share));
    fires("W003", 1, foreign(0.06), foreign(0.05));
    let steal = |share| third(ONE, move |visit| noise(visit).steal_share = Some(share));
    fires("W004", 1, steal(0.02), steal(0.01));
    let throttled = |times| third(LOG, move |visit| noise(visit).throttled = Some(times));
    fires("W010", 1, throttled(1), throttled(0));
    let waited = |ns| third(LOG, move |visit| noise(visit).waited_ns = ns);
    fires("W017", 1, waited(Some(5)), waited(Some(0)));
}

#[test]
fn pressure() {
    let pressure = |index, share| third(index, move |visit| noise(visit).pressure_share = Some(share));
    fires("W009", 1, pressure(ONE, 0.11), pressure(ONE, 0.09));
    fires("W009", 1, pressure(APART, 0.13), pressure(APART, 0.11));
    assert_eq!(fired(&run(pressure(TURNS, 1.0))), [], "they share a CPU");
}

#[test]
fn a_slow_round_is_one_of_all_its_visits() {
    let canary = |ns| third(ONE, move |visit| noise(visit).canary_ns = Some(ns));
    fires("W005", CELLS, canary(1_030_000), canary(1_019_000));
    fires("W005", CELLS, canary(970_000), canary(985_000));
}

#[test]
fn far_cpus() {
    for reading in [[90.0, 250.0], [250.0, 90.0], [250.0, 251.0]] {
        let far = third(APART, move |visit| measured(visit).ping_pong_ns = Some(reading));
        fires("W006", 1, far, third(APART, |visit| measured(visit).ping_pong_ns = Some([100.0, 149.0])));
    }
    let all_far = |visit: &mut Visit| {
        if visit.cell_index == APART {
            measured(visit).ping_pong_ns = Some([300.0, 310.0]);
        }
    };
    assert_eq!(fired(&run(all_far)), [], "it never was near");
}

#[test]
fn migrations() {
    let moved = |index| third(index, |visit| measured(visit).samples[3].workers[1].cpu = 2);
    fires("W007", 1, moved(FREE), moved(APART));
}

fn switching(switches: u64) -> impl Fn(&mut Visit) {
    move |visit| {
        for sample in &mut measured(visit).samples {
            sample.workers[0].involuntary_switches = switches;
        }
    }
}

#[test]
fn context_switches() {
    fires("W008", 1, third(APART, switching(11_000)), third(APART, switching(9_000)));
    fires("W008", 1, third(ONE, switching(3)), third(ONE, switching(2)));
    let fewer = |visit: &mut Visit| {
        measured(visit).samples.iter_mut().for_each(|sample| sample.workers[0].voluntary_switches = 0);
        measured(visit).samples.iter_mut().for_each(|sample| sample.workers[1].voluntary_switches = 4_000);
    };
    assert_eq!(fired(&run(third(APART, fewer))), [("W008", 1, 0)]);
    let mut few = run(third(APART, switching(11_000)));
    few.visits.retain(|visit| visit.round <= 5);
    assert_eq!(fired(&few), [], "five visits do not say what is usual");
}

#[test]
fn how_it_was_made() {
    let drift = |flag: &'static str| third(ONE, move |visit| measured(visit).flags = vec![flag.into()]);
    fires("W014", 1, drift("n_drift"), drift("other"));
    let elsewhere = |cpu| {
        third(ONE, move |visit| {
            measured(visit).samples.iter_mut().for_each(|sample| sample.workers[0].cpu = cpu)
        })
    };
    fires("W018", 1, elsewhere(0), elsewhere(1));
    let freer = third(ONE, |visit| {
        let measured = measured(visit);
        measured.moved = Some(Moved::FreerCore);
        measured.samples.iter_mut().for_each(|sample| sample.workers[0].cpu = 0)
    });
    fires("W018", 1, elsewhere(0), freer);
    let reading = |after| third(ONE, move |visit| measured(visit).whole_core_ns = Some([40_000, after]));
    fires("W019", 1, reading(44_001), reading(44_000));
    // Nearly all were moved, and the first choice is still the last CPU.
    let lasting = run(|visit| {
        let moved = visit.round > 1;
        if visit.cell.word(Axis::Placement) == "same_cpu" && moved {
            measured(visit)
                .samples
                .iter_mut()
                .flat_map(|sample| &mut sample.workers)
                .for_each(|own| own.cpu = 0);
        }
    });
    let moved = lasting
        .visits
        .iter()
        .filter(|visit| visit.cell.word(Axis::Placement) == "same_cpu" && visit.round > 1);
    let told = fired(&lasting).into_iter().find(|(code, ..)| *code == "W018").map(|(_, visits, _)| visits);
    assert_eq!(told, Some(moved.count()));
    // All of them were: only the header knows.
    let mut other = run(|_| ());
    other.header.allowed_cpus = vec![0, 1, 2];
    let all = other.visits.iter().filter(|visit| visit.shared_cpu().is_some()).count();
    let told = fired(&other).into_iter().find(|(code, ..)| *code == "W018").map(|(_, visits, _)| visits);
    assert_eq!(told, Some(all));
    fires("W015", 1, third(ONE, |visit| visit.thrifty = true), |_| ());
}

/// Gives the visits of a cell those times.
fn times(index: usize, ns: impl Fn(u32) -> f64) -> impl Fn(&mut Visit) {
    move |visit| {
        let round = visit.round - 1;
        if visit.cell_index == index {
            (measured(visit).floor_ns, measured(visit).typ_ns) = (ns(round), ns(round));
        }
    }
}

#[test]
fn figures_of_cells() {
    let climbing = |step: f64| run(times(APART, move |round| 1000.0 + step * f64::from(round)));
    assert_eq!(fired(&climbing(10.0)), [("W011", 0, 1), ("W012", 0, 1)]);
    assert_eq!(fired(&climbing(2.0)), [("W012", 0, 1)], "2 % in all");
    let modes = |other: f64| {
        run(times(ONE, move |round| if round % 3 == 0 { other } else { 0.0 } + healthy_ns(round)))
    };
    assert_eq!(fired(&modes(500.0)), [("W013", 0, 1)]);
    assert_eq!(fired(&modes(30.0)), [], "3 % apart");
    let waves =
        |long: u32| run(times(APART, move |round| if round % long < long / 2 { 1000.0 } else { 1001.0 }));
    assert_eq!(fired(&waves(6)), [("W012", 0, 1)]);
    assert_eq!(fired(&waves(2)), []);
    let over = run(third(LOG, |visit| measured(visit).oversubscribed = true));
    assert_eq!(fired(&over), [("W016", 0, 1)]);
}

#[test]
fn the_visits_of_one_process_share_its_noise_and_no_other_does() {
    let mut run = run(third(ONE, |visit| noise(visit).foreign_share = Some(0.5)));
    let first = run.visits.iter().position(|visit| visit.round == 3).unwrap();
    let end_ns = run.visits[first].begin_ns + run.visits[first].duration_ns;
    run.visits[first + 1].noise = None;
    assert_eq!(fired(&run), [("W003", 1, 0)], "a process of its own that saw nothing");
    (run.visits[first + 1].begin_ns, run.visits[first + 1].duration_ns) = (end_ns, 7);
    run.visits[first + 2].noise = None;
    run.visits[first + 2].begin_ns = end_ns + 7;
    assert_eq!(fired(&run), [("W003", 3, 0)]);
    run.visits[first + 2].round = 4;
    assert_eq!(fired(&run), [("W003", 2, 0)]);
}

#[test]
fn an_older_journal_is_silent_and_says_what_it_lacks() {
    let old = run(|visit| {
        visit.noise = None;
        measured(visit).ping_pong_ns = None;
        let samples = measured(visit).samples.iter_mut();
        samples.flat_map(|sample| &mut sample.workers).for_each(|worker| worker.run_delay_ns = None);
    });
    assert_eq!(fired(&old), []);
    let findings = Findings::of(&old, [Code::named("W004").unwrap()].into_iter().collect());
    assert_eq!(findings.unseen.words(), "W002 W003 W005 W006 W009 W010");
}

#[test]
fn muted_codes_are_not_there_and_do_not_disturb() {
    let run = run(|visit| noise(visit).foreign_share = Some(0.5));
    let muted: Codes = Code::named("W003").into_iter().collect();
    let slots = slots(&run, Metric::Figure);
    assert_eq!(verdict(&Findings::of(&run, Codes::default()), &slots).unwrap().word, Word::Noisy);
    let findings = Findings::of(&run, muted);
    assert_eq!(
        (findings.count(Code::named("W003").unwrap()), findings.all().filter(|c| !c.is_empty()).count()),
        (0, 0)
    );
    assert_eq!(verdict(&findings, &slots).unwrap().word, Word::Quiet);
}

#[test]
fn a_verdict_is_the_worse_of_both_shares() {
    let words = |disturbed: f64| {
        [None, Some(0.0), Some(0.05), Some(0.25), Some(0.5), Some(0.51)].map(|poor| Word::of(disturbed, poor))
    };
    use Word::{Noisy, Quiet, Unusable, Usable};
    assert_eq!(words(0.0), [Usable, Quiet, Quiet, Usable, Noisy, Unusable]);
    assert_eq!(words(0.05), [Usable, Quiet, Quiet, Usable, Noisy, Unusable]);
    assert_eq!(words(0.25), [Usable, Usable, Usable, Usable, Noisy, Unusable]);
    assert_eq!(words(1.0), [Noisy, Noisy, Noisy, Noisy, Noisy, Unusable]);
}

#[test]
fn grades_that_make_a_quiet_run_noisy_are_named() {
    let told = |change: fn(&mut Visit)| {
        let run = run(change);
        verdict(&Findings::of(&run, Code::all().collect()), &slots(&run, Metric::Figure)).unwrap().to_string()
    };
    let wide = told(|visit| {
        let factor = f64::from(visit.round);
        measured(visit).floor_ns *= factor;
        measured(visit).typ_ns *= factor;
    });
    assert!(wide.starts_with("unusable by its grades: 0 of 60 visits disturbed (0 %); grades A 0"), "{wide}");
    assert!(told(|_| ()).starts_with("quiet: 0 of 60"), "{}", told(|_| ()));
}

#[test]
fn the_largest_causes_come_first_and_are_three() {
    let run = run(|visit| {
        let round = visit.round;
        noise(visit).steal_share = Some(if round <= 6 { 0.5 } else { 0.0 });
        noise(visit).foreign_share = Some(if round <= 3 { 0.5 } else { 0.0 });
        noise(visit).throttled = Some(u64::from(round <= 2));
        measured(visit).flags = if round <= 1 { vec!["n_drift".into()] } else { Vec::new() };
        visit.thrifty = true;
    });
    let verdict = verdict(&Findings::of(&run, Codes::default()), &slots(&run, Metric::Figure)).unwrap();
    let causes: Vec<(&str, usize)> =
        verdict.causes.iter().map(|(code, visits)| (code.detector().code, *visits)).collect();
    assert_eq!(causes, [("W004", 30), ("W003", 15), ("W010", 10)], "thrifty is no disturbance");
    assert_eq!((verdict.visits, verdict.disturbed, verdict.word), (60, 30, Word::Noisy));
    assert_eq!(
        verdict.to_string(),
        "noisy: 30 of 60 visits disturbed (50 %); grades A 5, B 0, C 0, D 0, U 0, without interval 0"
    );
}

#[test]
fn a_run_without_visits_is_unusable_and_a_test_has_no_verdict() {
    let mut run = run(|_| ());
    let of = |run: &Run| verdict(&Findings::of(run, Codes::default()), &slots(run, Metric::Figure));
    run.header.effort = "test".into();
    assert_eq!(of(&run), None);
    run.header.effort = "default".into();
    run.visits.clear();
    assert_eq!(of(&run).unwrap().to_string(), "unusable: nothing was measured");
}
