//! The whole run on a scripted clock and scripted visits: no process is started and no time passes.

use super::journal::Journal;
use super::machine::{Look, Machine};
use super::progress::Quiet;
use super::resume::Begun;
use super::signals::Caught;
use super::watch::tests::Fake;
use super::{Ran, Settings, Visitor, resume, run};
use crate::cell::{Axis, Cell, Measure, Value};
use crate::measure::clock::Clock;
use crate::record::{
    Arms, Effort, Header, Lead, Line, Measured, Outcome, Part, PlannedCell, Request, Sample, Unavailable,
    Versioned, WorkerSample,
};
use std::cell::Cell as Shared;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const MS: u64 = 1_000_000;

/// A clock that only visits move.
pub(super) struct Scripted(pub(super) Shared<u64>);

impl Clock for Scripted {
    fn now_ns(&self) -> u64 {
        self.0.get()
    }
}

/// What a visit of some cell gives: the time that it takes and its outcome, by the number of the visit.
pub(super) type Script = Box<dyn Fn(usize) -> (u64, Result<Outcome, Caught>)>;

pub(super) struct Actor<'a> {
    pub(super) clock: &'a Scripted,
    pub(super) scripts: Vec<Script>,
    pub(super) visits: BTreeMap<usize, usize>,
    pub(super) requests: Vec<Request>,
    /// `None` tells nothing.
    pub(super) machine: Option<Fake<'a>>,
}

impl Machine for Actor<'_> {
    fn look(&mut self) -> Option<Look> {
        self.machine.as_mut()?.look()
    }

    fn canary_ns(&mut self) -> Option<u64> {
        self.machine.as_mut()?.canary_ns()
    }

    fn rest(&mut self, ms: u64) -> Result<(), Caught> {
        self.machine.as_mut().map_or(Ok(()), |machine| machine.rest(ms))
    }
}

impl Visitor for Actor<'_> {
    fn visit(&mut self, request: &Request, heard: &mut dyn FnMut(Outcome)) -> Result<(), Caught> {
        self.requests.push(request.clone());
        for part in &request.parts {
            let alone = part.cell.measure() == Some(Measure::Bandwidth);
            let index =
                if alone { part.cell.count(Axis::MessageBytes) as usize } else { company_script(part) };
            let visit = self.visits.entry(index).or_default();
            *visit += 1;
            let (duration_ns, outcome) = self.scripts[index](*visit);
            self.clock.0.set(self.clock.0.get() + duration_ns);
            let outcome = outcome?;
            let failed = matches!(outcome, Outcome::Failed { .. });
            heard(outcome);
            if failed {
                break;
            }
        }
        Ok(())
    }
}

pub(super) fn measured(ns: f64, ops: u64) -> Outcome {
    Outcome::Measured(Box::new(Measured {
        ops,
        calibrated: false,
        lead: Lead::Floor,
        floor_ns: ns,
        typ_ns: ns * 2.0,
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

/// A cell that always costs the same.
pub(super) fn steady(duration_ms: u64) -> Script {
    Box::new(move |_| (duration_ms * MS, Ok(measured(100.0, 1000))))
}

/// A cell whose figures never agree.
pub(super) fn restless(duration_ms: u64) -> Script {
    Box::new(move |visit| (duration_ms * MS, Ok(measured([100.0, 300.0, 200.0, 400.0, 250.0][visit % 5], 7))))
}

pub(super) fn header(cells: usize, budget_s: f64) -> Header {
    let cell = |index: usize| PlannedCell {
        cell: Cell::new(Measure::Bandwidth, "x").with(Axis::MessageBytes, Value::Count(index as u64)),
        unavailable: None,
    };
    Header {
        version: "0".into(),
        matrices: vec![],
        matrix_crc32: String::new(),
        command: vec![],
        effort: "default".into(),
        seed: 42,
        budget_s,
        precision: 0.03,
        started: String::new(),
        machine_class: None,
        binary_crc32: Some("1".into()),
        allowed_cpus: vec![0, 1],
        boot_crc32: Some("2".into()),
        arms: None,
        tables: vec![],
        cells: (0..cells).map(cell).collect(),
        gates: Vec::new(),
    }
}

pub(super) const SETTINGS: Settings = Settings {
    effort: Effort::DEFAULT,
    thrifty: Effort::THRIFTY,
    full_rounds: 6,
    most_rounds: usize::MAX,
    deadline_ms: 1000,
    exact_op_ns: None,
};

fn act(header: &Header, settings: Settings, scripts: Vec<Script>) -> (Ran, Vec<Request>) {
    let clock = Scripted(Shared::new(5));
    let mut actor =
        Actor { clock: &clock, scripts, visits: BTreeMap::new(), requests: Vec::new(), machine: None };
    let ran = run(header, settings, &mut actor, &clock, &mut Journal::nowhere(), &mut Quiet);
    let requests = actor.requests;
    (ran, requests)
}

fn visits_of(ran: &Ran, cell: usize) -> usize {
    ran.visits.iter().filter(|visit| visit.cell_index == cell).count()
}

#[test]
fn every_round_visits_every_cell_once_in_an_order_of_its_own() {
    let header = header(20, 1e6);
    let settings = Settings { most_rounds: 5, ..SETTINGS };
    let (ran, _) = act(&header, settings.clone(), (0..20).map(|_| restless(1)).collect());
    assert_eq!((ran.end.reason.as_str(), ran.visits.len()), ("rounds", 100));
    let orders: Vec<Vec<usize>> =
        ran.visits.chunks(20).map(|round| round.iter().map(|visit| visit.cell_index).collect()).collect();
    for (index, order) in orders.iter().enumerate() {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..20).collect::<Vec<_>>());
        assert!(ran.visits[index * 20..][..20].iter().all(|visit| visit.round as usize == index + 1));
        assert!(orders[..index].iter().all(|earlier| earlier != order), "round {index} repeats an order");
    }
    let (again, _) = act(&header, settings, (0..20).map(|_| restless(1)).collect());
    assert_eq!(again.visits, ran.visits, "the seed gives the order");
}

#[test]
fn precise_cells_are_done_at_a_look_and_only_sentinels_come_back() {
    let header = header(12, 10.0);
    let scripts = (0..12).map(|index| if index == 0 { restless(10) } else { steady(10) }).collect();
    let (ran, _) = act(&header, SETTINGS, scripts);
    assert_eq!(ran.end.reason, "budget");
    let steady: usize = (1..12).map(|cell| visits_of(&ran, cell)).sum();
    let rounds = visits_of(&ran, 0);
    assert!(rounds > 100, "the restless cell gets the rest of the time: {rounds}");
    // Eleven finished cells give two sentinels a round after the six rounds for everybody.
    assert!((66 + (rounds - 7) * 2..=66 + (rounds - 5) * 2).contains(&steady), "{steady} of {rounds}");
}

#[test]
fn a_run_in_which_all_are_precise_is_done() {
    let (ran, _) = act(&header(3, 1e6), SETTINGS, (0..3).map(|_| steady(1)).collect());
    assert_eq!((ran.end.reason.as_str(), ran.visits.len()), ("done", 18));
}

#[test]
fn no_visit_begins_that_would_not_end_in_the_budget() {
    let (ran, _) = act(&header(4, 1.0), SETTINGS, (0..4).map(|_| restless(70)).collect());
    assert_eq!(ran.end.reason, "budget");
    assert!(ran.end.elapsed_s <= 1.0, "{}", ran.end.elapsed_s);
    assert_eq!(ran.visits.len(), 14);
}

#[test]
fn rounds_become_thrifty_only_when_six_would_not_fit() {
    let short = act(&header(4, 1.0), SETTINGS, (0..4).map(|_| restless(70)).collect());
    assert!(short.0.visits.iter().all(|visit| visit.thrifty), "what a visit should take says so beforehand");
    assert!(short.1.iter().all(|request| request.effort == Effort::THRIFTY));
    let slow = act(&header(4, 6.0), SETTINGS, (0..4).map(|_| restless(400)).collect());
    assert!(
        slow.0.visits.iter().all(|visit| visit.thrifty == (visit.round > 1)),
        "the first round showed it"
    );
    let long = act(&header(4, 10.0), SETTINGS, (0..4).map(|_| restless(70)).collect());
    assert!(long.0.visits.iter().all(|visit| !visit.thrifty));
    assert!(long.1.iter().all(|request| request.effort == Effort::DEFAULT));
}

#[test]
fn a_batch_is_calibrated_once_and_kept() {
    let (_, requests) = act(&header(1, 1e6), SETTINGS, vec![steady(1)]);
    let ops: Vec<_> = requests.iter().map(|request| request.parts[0].ops).collect();
    assert_eq!(ops, [None, Some(1000), Some(1000), Some(1000), Some(1000), Some(1000)]);
}

#[test]
fn what_fails_or_is_unavailable_is_not_visited_again_and_stops_nobody_else() {
    let failed = || Outcome::Failed { phase: "sample".into(), error: "lost".into() };
    let refused = || Outcome::Unavailable(Unavailable { reason: "r".into(), remedy: "m".into() });
    let mut header = header(4, 1e6);
    header.cells[3].unavailable = Some(Unavailable { reason: "reach".into(), remedy: "m".into() });
    let scripts: Vec<Script> = vec![
        Box::new(move |visit| (MS, Ok(if visit == 2 { failed() } else { measured(1.0, 1) }))),
        Box::new(move |_| (MS, Ok(refused()))),
        steady(1),
        steady(1),
    ];
    let (ran, _) = act(&header, SETTINGS, scripts);
    let visits: Vec<usize> = (0..4).map(|cell| visits_of(&ran, cell)).collect();
    assert_eq!((ran.end.reason.as_str(), visits), ("done", vec![2, 1, 6, 0]));
}

/// Served cells: 0 to 2 differ in the mechanism alone, and so do 3 to 5; the script goes by the number.
pub(super) fn companies(budget_s: f64) -> Header {
    let mut header = header(6, budget_s);
    for (index, planned) in header.cells.iter_mut().enumerate() {
        let mechanism = format!("m{}", index % 3);
        planned.cell =
            Cell::new(Measure::Serve, &mechanism).with(Axis::IdleConnections, Value::Count(index as u64 / 3));
    }
    header
}

fn company_script(of: &Part) -> usize {
    of.cell.count(Axis::IdleConnections) as usize * 3 + of.cell.mechanism()[1..].parse::<usize>().unwrap()
}

#[test]
fn cells_that_share_what_is_opened_are_visited_together_in_an_order_of_their_own() {
    let settings = Settings { most_rounds: 8, ..SETTINGS };
    let (ran, requests) = act(&companies(1e6), settings, (0..6).map(|_| restless(5)).collect());
    assert_eq!((ran.visits.len(), requests.len()), (48, 16));
    let mut orders = BTreeSet::new();
    for request in &requests {
        let idle: BTreeSet<u64> =
            request.parts.iter().map(|part| part.cell.count(Axis::IdleConnections)).collect();
        assert_eq!((request.parts.len(), idle.len()), (3, 1), "{request:?}");
        orders.insert(request.parts.iter().map(company_script).collect::<Vec<_>>());
    }
    assert!(orders.len() > 4, "the order within a visit is drawn: {orders:?}");
    for pair in ran.visits.windows(2) {
        assert_eq!(pair[0].begin_ns + pair[0].duration_ns, pair[1].begin_ns);
        assert_eq!(pair[0].duration_ns, 5 * MS);
    }
}

#[test]
fn cells_behind_one_that_failed_have_their_turn_in_the_next_round() {
    let failed = || Outcome::Failed { phase: "sample".into(), error: "lost".into() };
    let mut scripts: Vec<Script> = (0..6).map(|_| steady(1)).collect();
    scripts[1] = Box::new(move |_| (MS, Ok(failed())));
    let (ran, requests) = act(&companies(1e6), SETTINGS, scripts);
    assert_eq!((ran.end.reason.as_str(), visits_of(&ran, 1)), ("done", 1));
    let first = requests.iter().find(|request| request.parts.iter().any(|part| company_script(part) == 1));
    let before = first.unwrap().parts.iter().take_while(|part| company_script(part) != 1).count();
    let at_first = |visit: &&crate::record::Visit| visit.round == 1 && visit.cell_index < 3;
    assert_eq!(ran.visits.iter().filter(at_first).count(), before + 1);
    assert!([0, 2].iter().all(|cell| visits_of(&ran, *cell) >= 6), "all others are measured");
}

#[test]
fn a_signal_drops_the_visit_and_keeps_the_others() {
    let scripts: Vec<Script> =
        vec![Box::new(|visit| (MS, if visit == 4 { Err(Caught::Terminate) } else { Ok(measured(1.0, 1)) }))];
    let (ran, _) = act(&header(1, 1e6), SETTINGS, scripts);
    assert_eq!(ran.caught, Some(Caught::Terminate));
    assert_eq!((ran.end.reason.as_str(), ran.visits.len(), ran.end.visits), ("terminated", 3, 3));
}

#[test]
fn the_journal_holds_every_line_and_a_journal_that_is_removed_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records.jsonl");
    let header = header(2, 1e6);
    let clock = Scripted(Shared::new(0));
    let mut journal = Journal::create(&path, &header).unwrap();
    let scripts = vec![steady(1), steady(1)];
    let mut actor =
        Actor { clock: &clock, scripts, visits: BTreeMap::new(), requests: Vec::new(), machine: None };
    let ran = run(&header, SETTINGS, &mut actor, &clock, &mut journal, &mut Quiet);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Versioned> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 14);
    assert!(matches!(&lines[0].line, Line::Header(read) if **read == header));
    for (line, visit) in lines[1..13].iter().zip(&ran.visits) {
        assert!(matches!(&line.line, Line::Visit(read) if **read == *visit));
    }
    assert!(matches!(&lines[13].line, Line::End(end) if *end == ran.end));

    let other = folder.path().join("other.jsonl");
    let mut journal = Journal::create(&other, &header).unwrap();
    let gone = other.clone();
    let removing: Script = Box::new(move |visit| {
        if visit == 3 {
            std::fs::remove_file(&gone).unwrap();
        }
        (MS, Ok(measured(1.0, 1)))
    });
    let mut actor = Actor {
        clock: &clock,
        scripts: vec![removing, steady(1)],
        visits: BTreeMap::new(),
        requests: Vec::new(),
        machine: None,
    };
    let ran = run(&header, SETTINGS, &mut actor, &clock, &mut journal, &mut Quiet);
    assert!(ran.journal_error.is_some());
    assert_eq!(ran.visits.len(), 6, "what was measured until then is kept");
}

/// Visits on CPU 1, which something else uses half of, unless they are told to avoid it.
struct Neighbour<'a>(&'a Scripted, Vec<Vec<usize>>, Vec<Option<usize>>);

impl Machine for Neighbour<'_> {}

impl Visitor for Neighbour<'_> {
    fn visit(&mut self, request: &Request, heard: &mut dyn FnMut(Outcome)) -> Result<(), Caught> {
        self.1.push(request.avoided_cpus.clone());
        self.2.push(request.same_cpu_as);
        self.0.0.set(self.0.0.get() + MS);
        let Outcome::Measured(mut visited) = measured(100.0, 1000) else { unreachable!("it was measured") };
        let (cpu, cpu_ns) = if request.avoided_cpus.contains(&1) { (0, 5 * MS) } else { (1, 3 * MS) };
        let workers = vec![WorkerSample { cpu, cpu_ns, ..WorkerSample::default() }];
        visited.samples = vec![Sample { elapsed_ns: 5 * MS, workers, ..Sample::default() }; 2];
        heard(Outcome::Measured(visited));
        Ok(())
    }
}

/// What was avoided in each visit of so many rounds over four cells at that placement.
fn avoided(header: Header, rounds: usize) -> Vec<Vec<usize>> {
    asked(header, rounds).0
}

/// That, and the CPU that each visit was to take.
fn asked(header: Header, rounds: usize) -> (Vec<Vec<usize>>, Vec<Option<usize>>) {
    let clock = Scripted(Shared::new(5));
    let mut visitor = Neighbour(&clock, Vec::new(), Vec::new());
    let settings = Settings { most_rounds: rounds, full_rounds: rounds, ..SETTINGS };
    run(&header, settings, &mut visitor, &clock, &mut Journal::nowhere(), &mut Quiet);
    (visitor.1, visitor.2)
}

fn placed(placement: &str) -> Header {
    let mut header = header(4, 1e6);
    for planned in &mut header.cells {
        planned.cell = planned.cell.clone().with(Axis::Placement, Value::word(placement));
    }
    header
}

#[test]
fn a_cpu_that_something_else_uses_is_avoided_by_the_visits_after_the_one_that_saw_it() {
    let one = |visit: &Vec<usize>| *visit == [1];
    let seen = avoided(placed("same_cpu"), 7);
    assert_eq!(seen.len(), 28);
    assert!(seen[0].is_empty() && seen[1..9].iter().all(one), "{seen:?}");
    assert!(seen[9].is_empty() && seen[10..26].iter().all(one) && seen[26].is_empty(), "{seen:?}");
    assert!(avoided(placed("cross_cpu"), 7).iter().all(Vec::is_empty), "there it needs both");
}

#[test]
fn a_resumed_run_avoids_what_it_would_have_avoided() {
    let header = placed("same_cpu");
    let settings = Settings { most_rounds: 7, full_rounds: 7, ..SETTINGS };
    let whole = avoided(header.clone(), 7);
    for done in 1..28 {
        let clock = Scripted(Shared::new(5));
        let mut first = Neighbour(&clock, Vec::new(), Vec::new());
        let ran = run(&header, settings.clone(), &mut first, &clock, &mut Journal::nowhere(), &mut Quiet);
        let past = ran.visits[..done].to_vec();
        let begun = Begun::replay(&header, &settings, past, None).unwrap();
        let mut rest = Neighbour(&clock, Vec::new(), Vec::new());
        resume(&header, settings.clone(), begun, &mut rest, &clock, &mut Journal::nowhere(), &mut Quiet);
        assert_eq!(rest.1, whole[done..], "after {done} visits");
    }
}

/// Two arms of the same, the second of which another program may be.
fn two_arms(program_crc32: Option<[Option<String>; 2]>) -> Header {
    let base = || "base".to_owned();
    let arms = Arms {
        a: base(),
        b: base(),
        program_crc32,
        rounds: 7,
        least: None,
        floors_from: String::new(),
        floors: Vec::new(),
        left_out: Vec::new(),
    };
    Header { arms: Some(arms), ..placed("same_cpu") }
}

#[test]
fn both_arms_of_a_pair_are_in_the_same_place() {
    let (seen, same_cpu_as) = asked(two_arms(None), 7);
    assert!(seen.chunks(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
    assert!(seen[..2].iter().all(Vec::is_empty) && seen[2] == [1], "{seen:?}");
    for (pair, avoided) in same_cpu_as.chunks(2).zip(seen.chunks(2)) {
        let first_was_on = if avoided[0].contains(&1) { 0 } else { 1 };
        assert_eq!(pair, [None, Some(first_was_on)]);
    }
}

#[test]
fn beside_another_program_both_stay_on_the_cpu_that_it_takes() {
    let (seen, same_cpu_as) = asked(two_arms(Some([None, Some("0".into())])), 7);
    assert_eq!(same_cpu_as[..2], [Some(1); 2]);
    assert_eq!(
        (&seen[2][..], &same_cpu_as[2..4]),
        (&[1][..], &[None, Some(0)][..]),
        "it may know what to avoid"
    );
}

#[test]
fn without_arms_no_visit_follows_another() {
    assert!(asked(placed("same_cpu"), 3).1.iter().all(Option::is_none));
}
