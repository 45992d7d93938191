//! Each check passes on a scripted machine that is sound, and fails once on one that is not.

use super::plan::Arm;
use super::{Checked, Kind, Outcome, Row, Settings, judge, plan, rounds, selfcheck};
use crate::cell::{Axis, Cell};
use crate::measure::clock::Clock;
use crate::record::{self, Effort, Lead, Measured, Request};
use crate::runner::Visitor;
use crate::runner::machine::Machine;
use crate::runner::signals::Caught;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cell::Cell as Shared;
use std::collections::BTreeMap;

const VISIT_NS: u64 = 100_000_000;
const ROUNDS: u32 = 12;

/// A clock that visits move, by so many nanoseconds each.
struct Scripted(Shared<u64>);

impl Clock for Scripted {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
}

/// What a visit finds: nanoseconds an operation, from what is right; faulty mechanisms have none.
type Script = fn(&Visited) -> record::Outcome;

/// A visit, as a script sees it.
struct Visited<'a> {
    request: &'a Request,
    /// What an honest machine finds, with a little noise.
    right_ns: f64,
    /// Visits of this cell before, its first one not counted.
    before: u32,
}

impl Visited<'_> {
    fn cell(&self) -> &Cell {
        &self.request.parts[0].cell
    }

    fn ops(&self) -> u64 {
        self.request.parts[0].ops.unwrap_or(1000)
    }

    fn is(&self, mechanism: &str, placement: &str) -> bool {
        self.cell().mechanism() == mechanism && self.cell().word(Axis::Placement) == placement
    }

    fn is_faulty(&self) -> bool {
        self.request.tampering.is_some_and(|tampering| tampering.faulty)
    }

    fn injected_ns(&self) -> Option<f64> {
        self.request.tampering.and_then(|tampering| tampering.injected_ns_per_op)
    }

    fn takes(&self, ns: f64) -> record::Outcome {
        measured(ns, self.ops())
    }
}

struct Actor<'a> {
    clocks: [&'a Scripted; 2],
    raw_visit_ns: u64,
    script: Script,
    visits: BTreeMap<Cell, u32>,
    requests: Vec<Request>,
    interrupted_after: usize,
}

impl Machine for Actor<'_> {}

impl Visitor for Actor<'_> {
    fn visit(&mut self, request: &Request, heard: &mut dyn FnMut(record::Outcome)) -> Result<(), Caught> {
        if self.requests.len() == self.interrupted_after {
            return Err(Caught::Interrupt);
        }
        self.requests.push(request.clone());
        for (clock, ns) in self.clocks.iter().zip([VISIT_NS, self.raw_visit_ns]) {
            clock.0.set(clock.0.get() + ns);
        }
        let visits = self.visits.entry(request.parts[0].cell.clone()).or_default();
        *visits += 1;
        // A tenth of a percent to and fro, by no rule that an arm could follow.
        let noise = f64::from(*visits * 7919 % 101) / 101.0 - 0.5;
        let injected = request.tampering.and_then(|tampering| tampering.injected_ns_per_op).unwrap_or(0.0);
        let right_ns = (10.0 + injected) * (1.0 + 0.002 * noise);
        heard((self.script)(&Visited { request, right_ns, before: *visits - 1 }));
        Ok(())
    }
}

fn measured(ns: f64, ops: u64) -> record::Outcome {
    record::Outcome::Measured(Box::new(Measured {
        ops,
        calibrated: false,
        lead: Lead::Floor,
        floor_ns: ns,
        typ_ns: ns,
        cpu_ns: ns,
        oversubscribed: false,
        flags: Vec::new(),
        overhead: None,
        ping_pong_ns: None,
        whole_core_ns: None,
        dependent_ns: None,
        moved: None,
        effective: BTreeMap::new(),
        proofs: Vec::new(),
        samples: Vec::new(),
    }))
}

fn failed(error: &str) -> record::Outcome {
    record::Outcome::Failed { phase: "sample".into(), error: error.into() }
}

/// A sound machine.
fn sound(visited: &Visited) -> record::Outcome {
    if !visited.is_faulty() {
        return visited.takes(visited.right_ns);
    }
    failed(match visited.cell().mechanism() {
        "excludes_nobody" | "lets_one_slip" => "updates were lost, the lock let two in at once",
        "loses_a_line" => "of 10 lines 1 are lost where 0 were dropped",
        _ => "piece 1 of the untimed pass came altered",
    })
}

fn settings(rounds: u32) -> Settings {
    Settings { effort: Effort::QUICK, rounds, budget_ns: u64::MAX / 2, deadline_ms: 1000, seed: 42 }
}

fn act(
    settings: &Settings,
    script: Script,
    raw_visit_ns: u64,
    interrupted_after: usize,
) -> (Checked, Vec<Request>) {
    let clocks = [Scripted(Shared::new(5)), Scripted(Shared::new(99))];
    let actors = [&clocks[0], &clocks[1]];
    let (visits, requests) = (BTreeMap::new(), Vec::new());
    let mut actor = Actor { clocks: actors, raw_visit_ns, script, visits, requests, interrupted_after };
    let checked = selfcheck(settings, &mut actor, [&clocks[0], &clocks[1]], &mut |_| ());
    (checked, actor.requests)
}

fn checked(script: Script) -> Checked {
    act(&settings(ROUNDS), script, VISIT_NS, usize::MAX).0
}

/// The checks that failed.
fn failures(checked: &Checked) -> Vec<&Row> {
    checked.rows.iter().filter(|row| row.outcome == Outcome::Fail).collect()
}

/// Exactly those checks fail with that script: kind and a part of what is checked.
#[track_caller]
fn fail(script: Script, expected: &[(Kind, &str)]) -> Checked {
    let checked = checked(script);
    let found = failures(&checked);
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (row, (kind, of)) in found.iter().zip(expected) {
        assert!(row.check == *kind && row.of.contains(of), "{row:#?}");
    }
    assert!(!checked.is_well());
    checked
}

#[test]
fn a_sound_machine_passes_everything() {
    let checked = checked(sound);
    assert!(checked.is_well(), "{:#?}", failures(&checked));
    assert_eq!(checked.rounds, ROUNDS);
    let of = |kind| checked.rows.iter().filter(|row| row.check == kind).collect::<Vec<_>>();
    assert_eq!(of(Kind::Same).len(), 8);
    assert_eq!(of(Kind::SlowDown).len(), 16);
    assert_eq!(of(Kind::Linear).len(), 6);
    assert_eq!(of(Kind::Fault).len(), 5);
    assert_eq!((of(Kind::Floor).len(), of(Kind::Clock).len()), (2, 1));
    for row in of(Kind::SlowDown) {
        let injected = row.injected.unwrap();
        let figure = row.figure.unwrap();
        assert!((figure.value - injected).abs() < 0.002, "{row:?}");
        assert!(row.found.starts_with("found: "), "2 % is ten times the noise: {row:?}");
        assert_eq!(row.outcome == Outcome::Told, injected < 1.09, "{row:?}");
    }
}

#[test]
fn the_arms_of_a_round_share_the_cpu_of_its_first() {
    let moving: Script = |visited| {
        let cpu = visited.request.same_cpu_as.unwrap_or(visited.before as usize % 2);
        let record::Outcome::Measured(mut measured) = visited.takes(visited.right_ns) else { unreachable!() };
        let workers = vec![record::WorkerSample { cpu, ..record::WorkerSample::default() }];
        measured.samples = vec![record::Sample { workers, ..record::Sample::default() }];
        record::Outcome::Measured(measured)
    };
    let subjects = plan::subjects();
    let requests: Vec<Request> = act(&settings(3), moving, VISIT_NS, usize::MAX)
        .1
        .into_iter()
        .filter(|request| request.tampering.is_none_or(|it| !it.faulty))
        .collect();
    let cell = &subjects[0].cell;
    let asked: Vec<Option<usize>> = requests
        .iter()
        .filter(|request| request.parts[0].cell == *cell)
        .map(|request| request.same_cpu_as)
        .collect();
    let arms = subjects[0].arms.len();
    let rounds = &asked[asked.len() - 3 * arms..];
    for round in rounds.chunks(arms) {
        assert!(
            round[0].is_none() && round[1].is_some() && round[1..].iter().all(|cpu| *cpu == round[1]),
            "{asked:?}"
        );
    }
    assert_ne!(rounds[1], rounds[arms + 1], "each round chooses anew: {asked:?}");
}

/// Both arms ask for the same, so no visitor can tell them apart: what they gave is made up.
#[test]
fn what_is_the_same_and_called_different_fails() {
    let subjects = plan::subjects();
    let found = |again: f64| {
        let mut taken = rounds::Taken::of(&subjects);
        for (subject, series) in subjects.iter().zip(&mut taken.series) {
            let noise = |round: u32, arm: usize| f64::from((round * 31 + arm as u32 * 17) % 11) / 1000.0;
            let arm = |round: u32, arm: usize| {
                let is_again = subject.arms[arm] == Arm::Again && subject.label == "getppid";
                let ns = if is_again { again } else { 1.0 } + noise(round, arm);
                rounds::Ns { lead: ns, floor: ns }
            };
            series.rounds =
                (0..ROUNDS).map(|round| (0..subject.arms.len()).map(|at| arm(round, at)).collect()).collect();
        }
        let rows = judge::all(&subjects, &taken).into_iter();
        rows.filter(|row| row.check == Kind::Same && row.outcome == Outcome::Fail).collect::<Vec<_>>()
    };
    assert!(found(1.0).is_empty(), "{:?}", found(1.0));
    assert!(found(1.03).is_empty(), "sure, but less than matters: {:?}", found(1.03));
    let different = found(1.08);
    assert!(
        matches!(&different[..], [row] if row.of == "getppid" && row.found.ends_with("slower")),
        "{different:?}"
    );
}

/// What comes of the doubled arms and of those that must be found, where they take so many times the base and `noise` parts more or
/// less from round to round.
fn outcomes(times: fn(Arm) -> f64, noise: f64) -> Vec<(Kind, Outcome)> {
    let subjects = plan::subjects();
    let mut taken = rounds::Taken::of(&subjects);
    let mut random = ChaCha8Rng::seed_from_u64(1991);
    for (subject, series) in subjects.iter().zip(&mut taken.series) {
        series.base_ns = 1.0;
        let mut arm = |at: usize| {
            let ns = times(subject.arms[at]) * (1.0 + noise * (2.0 * random.random::<f64>() - 1.0));
            rounds::Ns { lead: ns, floor: ns }
        };
        series.rounds = (0..ROUNDS).map(|_| (0..subject.arms.len()).map(&mut arm).collect()).collect();
    }
    let asked =
        |row: &Row| matches!(row.check, Kind::Linear | Kind::SlowDown) && row.outcome != Outcome::Told;
    let rows = judge::all(&subjects, &taken).into_iter().filter(asked);
    rows.map(|row| (row.check, row.outcome)).collect()
}

#[test]
fn noise_that_hides_what_is_expected_leaves_it_undecided_and_excuses_nothing() {
    let right = |arm: Arm| match arm {
        // Of one operation: T(2n)/T(n) is 2.04.
        Arm::Double => 1.02,
        Arm::Slower(percents) => 1.0 + f64::from(percents) / 100.0,
        _ => 1.0,
    };
    let of = |times, noise, kind| {
        let mut found: Vec<Outcome> = outcomes(times, noise)
            .into_iter()
            .filter(|(of, _)| *of == kind)
            .map(|(_, outcome)| outcome)
            .collect();
        found.dedup();
        found
    };
    assert!(of(right, 0.3, Kind::Linear).contains(&Outcome::Undecided));
    assert_eq!(of(right, 0.001, Kind::Linear), [Outcome::Fail], "surely over 2.03");
    assert_eq!(of(right, 0.001, Kind::SlowDown), [Outcome::Pass]);
    assert!(of(right, 0.9, Kind::SlowDown).contains(&Outcome::Undecided));
    assert_eq!(of(|_| 1.0, 0.001, Kind::SlowDown), [Outcome::Fail], "surely not slower");
}

#[test]
fn the_same_arm_twice_is_the_same_request_twice_in_each_round() {
    let (_, requests) = act(&settings(ROUNDS), sound, VISIT_NS, usize::MAX);
    for subject in plan::subjects() {
        let plain = |ops| Request {
            runner: Some(std::process::id() as i32),
            ..Request::alone(&subject.cell, ops, Effort::QUICK, 1000)
        };
        let made = |wanted: Request| requests.iter().filter(|request| **request == wanted).count();
        assert_eq!(made(plain(None)), 1, "{}: it chooses the operations", subject.label);
        assert_eq!(made(plain(Some(1000))), 2 + 2 * ROUNDS as usize, "{}", subject.label);
    }
}

#[test]
fn batches_that_take_more_than_twice_as_long_fail() {
    let script = |visited: &Visited| {
        let longer = visited.is("getppid", "same_cpu") && visited.ops() == 2000;
        if longer { visited.takes(visited.right_ns * 1.02) } else { sound(visited) }
    };
    let checked = fail(script, &[(Kind::Linear, "getppid")]);
    assert!(failures(&checked)[0].found.starts_with("2.0"), "{:?}", failures(&checked));
}

#[test]
fn a_slow_down_that_does_not_show_fails_where_it_must_be_found() {
    let script = |visited: &Visited| {
        let deaf = visited.is("posix_semaphore", "same_cpu") && visited.injected_ns().is_some();
        if deaf { visited.takes(10.0 + 0.001 * f64::from(visited.before % 3)) } else { sound(visited) }
    };
    let lock = "POSIX semaphore";
    let checked = fail(script, &[(Kind::SlowDown, lock), (Kind::SlowDown, lock)]);
    assert!(failures(&checked)[0].found.starts_with("not found"), "{:?}", failures(&checked));
}

#[test]
fn a_slow_down_of_the_wrong_size_fails() {
    let script = |visited: &Visited| match visited.injected_ns() {
        Some(ns) if visited.is("getppid", "same_cpu") => visited.takes(visited.right_ns + ns),
        _ => sound(visited),
    };
    let checked = fail(script, &[(Kind::SlowDown, "20 %: getppid"), (Kind::SlowDown, "10 %: getppid")]);
    assert!(failures(&checked)[0].found.contains("far from it"), "{:?}", failures(&checked));
}

#[test]
fn a_broken_lock_that_goes_unnoticed_fails() {
    let script = |visited: &Visited| {
        if visited.is_faulty() && visited.is("excludes_nobody", "cross_cpu") {
            visited.takes(1.0)
        } else {
            sound(visited)
        }
    };
    let checked = fail(script, &[(Kind::Fault, "lets everybody in")]);
    assert!(failures(&checked)[0].found.contains("as if nothing were wrong"));
}

#[test]
fn a_fault_that_ends_in_another_way_fails() {
    let script = |visited: &Visited| {
        if visited.is_faulty() && visited.is("loses_a_line", "same_cpu") {
            failed("no room")
        } else {
            sound(visited)
        }
    };
    fail(script, &[(Kind::Fault, "a log that loses a line")]);
}

#[test]
fn a_floor_out_of_bounds_fails() {
    let script = |visited: &Visited| {
        if visited.is("clock_gettime", "same_cpu") {
            visited.takes(200.0 * visited.right_ns)
        } else {
            sound(visited)
        }
    };
    fail(script, &[(Kind::Floor, "reading the clock")]);
}

#[test]
fn a_clock_that_runs_at_another_rate_fails() {
    let (checked, _) = act(&settings(ROUNDS), sound, VISIT_NS - VISIT_NS / 500, usize::MAX);
    let found = failures(&checked);
    assert!(matches!(found[..], [row] if row.check == Kind::Clock), "{found:?}");
}

#[test]
fn a_cell_that_fails_fails_its_checks_and_one_that_is_refused_is_not_tried() {
    let script = |visited: &Visited| {
        if visited.is("pthread_mutex", "cross_cpu") && visited.before > 5 {
            failed("it was killed")
        } else if visited.is("pipe", "cross_cpu") {
            let (reason, remedy) = ("one CPU".into(), "add one".into());
            record::Outcome::Unavailable(record::Unavailable { reason, remedy })
        } else {
            sound(visited)
        }
    };
    let checked = fail(script, &[(Kind::Same, "pthread mutex")]);
    assert!(failures(&checked)[0].found.contains("it was killed"));
    let refused: Vec<&Row> = checked.rows.iter().filter(|row| row.outcome == Outcome::NotTried).collect();
    assert!(matches!(refused[..], [row] if row.found.contains("one CPU")), "{refused:?}");
}

#[test]
fn a_signal_leaves_what_was_there() {
    let (checked, _) = act(&settings(ROUNDS), sound, VISIT_NS, 300);
    assert_eq!(checked.caught, Some(Caught::Interrupt));
    assert!(checked.rounds > 5 && checked.rounds < ROUNDS, "{}", checked.rounds);
    assert!(checked.is_well(), "{:#?}", failures(&checked));
}

#[test]
fn no_round_goes_over_the_budget() {
    let settings = |visits: u64| Settings { budget_ns: visits * VISIT_NS, ..settings(ROUNDS) };
    let visits = |rounds: u64| 5 + 8 * 3 + 38 * rounds;
    for (budget, rounds) in [(visits(1), 1), (visits(2) - 1, 1), (visits(2), 2), (visits(100), ROUNDS)] {
        let (checked, requests) = act(&settings(budget), sound, VISIT_NS, usize::MAX);
        assert_eq!(checked.rounds, rounds, "{budget}");
        assert_eq!(requests.len() as u64, visits(rounds.into()));
    }
}

#[test]
fn in_too_few_rounds_nothing_is_found_and_nothing_is_the_same() {
    let (checked, _) = act(&settings(1), sound, VISIT_NS, usize::MAX);
    let undecided = |kind| {
        let rows = checked.rows.iter().filter(|row| row.outcome == Outcome::Undecided);
        rows.filter(|row| row.check == kind).count()
    };
    assert_eq!((undecided(Kind::Same), undecided(Kind::SlowDown)), (8, 8));
    let all = checked.rows.iter().filter(|row| row.outcome == Outcome::Undecided).count();
    assert_eq!(all, 16, "{:#?}", checked.rows);
    assert!(checked.is_well() && checked.is_undecided(), "nothing is known to be wrong, nor to be right");
}
