//! Runs that are cut at every visit and resumed, on a scripted clock.

use super::*;
use crate::record::{Effort, Request, Unavailable};
use crate::runner::journal::Journal;
use crate::runner::progress::Quiet;
use crate::runner::tests::{Actor, MS, SETTINGS, Script, Scripted, companies, header, measured, steady};
use crate::runner::{Ran, resume};
use std::cell::Cell as Shared;
use std::collections::BTreeMap;

type Scripts = fn() -> Vec<Script>;

/// Goes on with the run; the scripts go on where `begun` ends, and the first visit from `cut` on is interrupted.
fn go_on(
    header: &Header,
    settings: &Settings,
    begun: Begun,
    scripts: Vec<Script>,
    cut: Option<usize>,
) -> (Ran, Vec<Request>) {
    let mut visits = BTreeMap::new();
    for visit in &begun.visits {
        *visits.entry(visit.cell_index).or_default() += 1;
    }
    // Time goes on in the break, and must not count.
    let clock = Scripted(Shared::new(77_777 * MS));
    let left = std::rc::Rc::new(Shared::new(cut.map_or(usize::MAX, |cut| cut - begun.visits.len())));
    let cutting = scripts.into_iter().map(|script| {
        let left = left.clone();
        let cutting: Script = Box::new(move |visit| match left.get() {
            0 => (9 * MS, Err(crate::runner::signals::Caught::Interrupt)),
            more => {
                left.set(more - 1);
                script(visit)
            }
        });
        cutting
    });
    let mut actor =
        Actor { clock: &clock, scripts: cutting.collect(), visits, requests: Vec::new(), machine: None };
    let ran =
        resume(header, settings.clone(), begun, &mut actor, &clock, &mut Journal::nowhere(), &mut Quiet);
    (ran, actor.requests)
}

/// What must not depend on breaks: cell, round, position, operations, whether it was short.
fn structure(visits: &[Visit]) -> Vec<(usize, u32, u32, Option<u64>, bool)> {
    let ops = |visit: &Visit| match &visit.outcome {
        Outcome::Measured(measured) => Some(measured.ops),
        _ => None,
    };
    let one = |visit: &Visit| (visit.cell_index, visit.round, visit.position, ops(visit), visit.thrifty);
    visits.iter().map(one).collect()
}

/// Cuts the run at every visit, by a signal and by a kill, and resumes it; returns the whole run.
fn cut_everywhere(header: &Header, settings: &Settings, scripts: Scripts) -> Ran {
    let fresh = || Begun::nothing(header, settings);
    let (whole, asked) = go_on(header, settings, fresh(), scripts(), None);
    for cut in 0..whole.visits.len() {
        let (part, _) = go_on(header, settings, fresh(), scripts(), Some(cut));
        assert_eq!((part.end.reason.as_str(), part.visits.len()), ("interrupted", cut));
        // A kill leaves no end.
        for end in [Some(&part.end), None] {
            let begun = Begun::replay(header, settings, part.visits.clone(), end).unwrap();
            let (resumed, asked_again) = go_on(header, settings, begun, scripts(), None);
            assert_eq!(structure(&resumed.visits), structure(&whole.visits), "cut after {cut}");
            assert_eq!(resumed.end.reason, whole.end.reason);
            let last = |asked: &[Request]| {
                asked.last().map(|request| (request.parts.last().cloned(), request.effort))
            };
            assert_eq!(last(&asked_again), last(&asked), "operations and effort are the same");
            let times = |visits: &[Visit]| visits.iter().map(|visit| visit.begin_ns).collect::<Vec<_>>();
            if end.is_none() {
                assert_eq!(times(&resumed.visits), times(&whole.visits), "a break takes no time");
            }
        }
    }
    whole
}

/// Two in three are done early; the operations are those of the cell's first visit.
fn mixed() -> Vec<Script> {
    let calibrated = |cell: u64| -> Script {
        Box::new(move |visit| {
            let ns = if cell.is_multiple_of(3) { 100.0 + (visit * 37 % 50) as f64 } else { 100.0 };
            ((5 + cell) * MS, Ok(measured(ns, 1000 + cell)))
        })
    };
    (0..7).map(calibrated).collect()
}

#[test]
fn a_run_cut_at_any_visit_is_the_same_when_it_is_resumed() {
    let whole = cut_everywhere(&header(7, 1e6), &Settings { most_rounds: 14, ..SETTINGS }, mixed);
    assert_eq!(whole.end.reason, "rounds");
    assert!(whole.visits.len() < 7 * 14, "partial rounds are among them: {}", whole.visits.len());
}

#[test]
fn a_run_that_becomes_thrifty_in_its_second_round_stays_so() {
    let slow: Scripts = || (0..4).map(|_| steady(400)).collect();
    // Room for 15 visits and for one that is dropped.
    let whole = cut_everywhere(&header(4, 6.2), &Settings { thrifty: Effort::THRIFTY, ..SETTINGS }, slow);
    assert_eq!(whole.end.reason, "budget");
    let short = |visit: &&Visit| visit.thrifty;
    assert!(whole.visits.iter().filter(short).count() < whole.visits.len());
}

/// Forty restless cells: the even ones differ so little from visit to visit that twelve visits make them precise, the odd ones never are.
fn restless() -> Vec<Script> {
    let restless = |cell: u64| -> Script {
        Box::new(move |visit| {
            let apart = if cell.is_multiple_of(2) { 4.0 } else { 60.0 };
            let ns = 100.0 + apart * [-1.0, 0.5, -0.5, 1.0, 0.0][visit % 5];
            (10 * MS, Ok(measured(ns, 1000 + cell)))
        })
    };
    (0..40).map(restless).collect()
}

#[test]
fn a_run_that_is_short_after_six_rounds_is_the_same_when_it_is_resumed() {
    let settings = Settings { full_rounds: 12, ..SETTINGS };
    // Room for six rounds, 39 visits more, and one that is dropped.
    let whole = cut_everywhere(&header(40, 2.7995), &settings, restless);
    assert_eq!(whole.end.reason, "budget");
    let visits = |cell: usize| whole.visits.iter().filter(|visit| visit.cell_index == cell).count();
    let of = |remainder: usize| (0..40).filter(|cell| cell % 2 == remainder).map(visits).collect::<Vec<_>>();
    let (even, odd) = (of(0), of(1));
    assert!(
        odd.iter().all(|visits| *visits == 6) && even.iter().any(|visits| *visits >= 8),
        "{even:?} {odd:?}"
    );
}

#[test]
fn the_budget_counts_what_was_spent_before() {
    let header = header(4, 1.0);
    let script: Scripts = || (0..4).map(|_| steady(70)).collect();
    let (part, _) = go_on(&header, &SETTINGS, Begun::nothing(&header, &SETTINGS), script(), Some(9));
    assert_eq!(part.end.elapsed_s, 0.639, "nine visits, and one that was dropped");
    let begun = Begun::replay(&header, &SETTINGS, part.visits, Some(&part.end)).unwrap();
    let (resumed, _) = go_on(&header, &SETTINGS, begun, script(), None);
    assert_eq!((resumed.end.reason.as_str(), resumed.visits.len()), ("budget", 14));
    assert_eq!(resumed.visits[9].begin_ns, 639 * MS);
    assert_eq!(resumed.end.elapsed_s, 0.989);
}

/// Six served cells in two companies; one fails at once, one is refused, in the middle of theirs.
fn served() -> Vec<Script> {
    let mut scripts: Vec<Script> = (0..6).map(|_| steady(1)).collect();
    scripts[1] = Box::new(|visit| {
        let failed = Outcome::Failed { phase: "sample".into(), error: "lost".into() };
        (MS, Ok(if visit == 2 { failed } else { measured(1.0, 1) }))
    });
    scripts[4] =
        Box::new(|_| (MS, Ok(Outcome::Unavailable(Unavailable { reason: "r".into(), remedy: "m".into() }))));
    scripts
}

#[test]
fn a_visit_to_several_cells_goes_on_with_those_that_are_left() {
    let whole = cut_everywhere(&companies(1e6), &SETTINGS, served);
    assert_eq!(whole.end.reason, "done");
    let header = companies(1e6);
    let first = &whole.visits[..1];
    let begun = Begun::replay(&header, &SETTINGS, first.to_vec(), None).unwrap();
    assert_eq!(begun.rest.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn visits_that_the_seed_does_not_give_are_refused() {
    let header = header(7, 1e6);
    let settings = Settings { most_rounds: 3, ..SETTINGS };
    let (whole, _) = go_on(&header, &settings, Begun::nothing(&header, &settings), mixed(), None);
    let refused = |visits: Vec<Visit>| Begun::replay(&header, &settings, visits, None).err();
    assert_eq!(refused(whole.visits.clone()), None);
    let mut doubled = whole.visits.clone();
    doubled.insert(4, doubled[3].clone());
    assert!(refused(doubled).unwrap().contains("visit 4 (round 1, cell "));
    let mut lost = whole.visits.clone();
    lost.remove(9);
    assert!(refused(lost).is_some());
    let done = || (0..7).map(|_| steady(1)).collect();
    let (done, _) = go_on(&header, &SETTINGS, Begun::nothing(&header, &SETTINGS), done(), None);
    let mut surplus = done.visits.clone();
    surplus.push(surplus[41].clone());
    assert!(Begun::replay(&header, &SETTINGS, surplus, None).is_err(), "no cell wanted another visit");
}

#[test]
fn each_difference_is_a_reason_of_its_own() {
    let then = header(2, 10.0);
    assert_eq!(refusal(&then, &then), None);
    type Change = fn(&mut Header);
    let changes: [(&str, Change); 12] = [
        ("the matrix is another one", |now| now.matrix_crc32 = "x".into()),
        ("begun by version 0 of the program, this is 9", |now| now.version = "9".into()),
        ("another build", |now| now.binary_crc32 = Some("x".into())),
        ("the binary of this program cannot be read", |now| now.binary_crc32 = None),
        ("booted since", |now| now.boot_crc32 = Some("x".into())),
        ("which boot this is cannot be read", |now| now.boot_crc32 = None),
        ("of another class now", |now| now.machine_class = Some(["1".into(), "one CPU".into()])),
        ("begun on the CPUs 0,1, now 1,2 are allowed", |now| now.allowed_cpus = vec![1, 2]),
        ("its effort is default, not quick", |now| now.effort = "quick".into()),
        ("begun with --precision 3%", |now| now.precision = 0.01),
        ("begun with --seed 42", |now| now.seed = 43),
        ("a budget of 10 s", |now| now.budget_s = 11.0),
    ];
    for (reason, change) in changes {
        let mut now = then.clone();
        change(&mut now);
        assert!(refusal(&then, &now).unwrap().contains(reason), "{reason}");
    }
    let old = Header { binary_crc32: None, boot_crc32: None, ..then.clone() };
    assert!(refusal(&old, &then).unwrap().contains("does not say which binary"));
    let old = Header { boot_crc32: None, ..then.clone() };
    assert!(refusal(&old, &then).unwrap().contains("in which boot"));
}

#[test]
fn a_signal_is_no_end_of_the_work() {
    let end = |reason: &str| End { reason: reason.into(), elapsed_s: 1.0, visits: 1, ended: String::new() };
    for finished in ["done", "budget", "rounds"] {
        assert!(is_finished(Some(&end(finished))), "{finished}");
    }
    for reason in ["interrupted", "terminated", "the journal could not be written"] {
        assert!(!is_finished(Some(&end(reason))), "{reason}");
    }
    assert!(!is_finished(None));
}
