//! Mechanisms that misbehave: their cell fails with a helpful text, in time, and nothing else does.

use crate::cells::{self, fixed};
use crate::drivers::SWITCH;
use crate::machine::{Need, eventually};
use crate::program::{Ended, Program, alive};
use crate::trial;
use ipcmatrix::record::{Outcome, Request};
use ipcmatrix::report::load::{Run, read_run};
use libtest_mimic::Trial;
use nix::sys::signal::Signal;
use std::path::Path;

const SPAWNS: [&str; 2] = ["threads", "processes"];
/// Long enough for an honest visit on a busy machine, and short enough for a trial.
const DEADLINE_MS: u64 = 1500;
/// So many operations of two workers at once that some updates are lost for all practical purposes.
const MANY_OPS: u64 = 5_000_000;

/// What one visit gives: by mechanism and spawn, the phase and words of the error.
struct Case(&'static str, &'static [&'static str], &'static str, &'static [&'static str]);

const THREADS: &[&str] = &["threads"];
const PROCESSES: &[&str] = &["processes"];
const BOTH: &[&str] = &SPAWNS;

/// The first batch warms up and is honest; the second is a sample.
const CASES: &[Case] = &[
    Case("hangs", BOTH, "deadline", &["worker 1 did not answer in time (phase sample)"]),
    Case("stops", PROCESSES, "deadline", &["worker 1 did not answer in time (phase sample)"]),
    Case("dies", PROCESSES, "sample", &["worker 1 died: it was killed by SIGKILL"]),
    Case("aborts", PROCESSES, "sample", &["worker 1 died: it was killed by SIGABRT"]),
    Case("leaves_early", PROCESSES, "sample", &["worker 1 died: it exited with 0"]),
    Case("panics", BOTH, "sample", &["worker 1: a bug in ipcmatrix: panicked: on purpose"]),
    Case("fails", BOTH, "sample", &["worker 1: a made-up error"]),
    Case("speaks_nonsense", BOTH, "sample", &["worker ", "nonsense"]),
    Case("loses_work", BOTH, "sample", &["999 of 1000 operations were done"]),
    Case("fails_to_open", BOTH, "open", &["a made-up error"]),
    Case("panics_in_open", BOTH, "visit", &["a bug in ipcmatrix: panicked: on purpose"]),
    Case("fails_to_enter", BOTH, "enter", &["worker 1: a made-up error"]),
    Case("dies_in_enter", PROCESSES, "enter", &["worker 1 died: it was killed by SIGKILL"]),
    Case("hangs_in_enter", BOTH, "deadline", &["worker 1 did not answer in time (phase enter)"]),
    Case("alters_a_byte", BOTH, "prove", &["a byte came altered"]),
    Case("hangs_in_proof", BOTH, "deadline", &["worker 1 did not answer in time (phase prove)"]),
    Case("fails_in_the_last_check", BOTH, "conclude", &["worker 1: a made-up error"]),
    Case("fails_at_the_end", PROCESSES, "leave", &["worker 1 exited with 3"]),
];

/// What a whole run gives where the process of the visit itself is hit.
const RUN_CASES: &[Case] = &[
    Case("hangs", BOTH, "deadline", &["worker 1 did not answer in time"]),
    Case("dies", THREADS, "visit", &["the process of the visit ended badly: SIGKILL"]),
    Case("aborts", THREADS, "visit", &["the process of the visit ended badly: SIGABRT"]),
    Case("stops", THREADS, "deadline", &["did not end in 2500 ms and was killed"]),
    Case("leaves_early", THREADS, "visit", &["the process of the visit did not print an outcome"]),
    Case("prints", BOTH, "visit", &["did not print an outcome but \"not an outcome"]),
    Case("floods", BOTH, "visit", &["said more than 16777216 bytes"]),
    Case("speaks_nonsense", BOTH, "warm-up", &["nonsense"]),
    Case("hangs_in_open", BOTH, "deadline", &["did not end in 2500 ms and was killed"]),
    Case("hangs_at_the_end", BOTH, "deadline", &["did not end in 2500 ms and was killed"]),
    Case(
        "leaves_a_child_that_holds_the_output",
        BOTH,
        "deadline",
        &["did not end in 2500 ms and was killed"],
    ),
];

pub fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    for Case(mechanism, spawns, phase, words) in CASES {
        for spawn in *spawns {
            let name = format!("hostile::visit::{mechanism}::{spawn}");
            trials.push(trial(name, &[], move || fails_in_a_visit(mechanism, spawn, phase, words)));
        }
    }
    for case @ Case(mechanism, spawns, ..) in RUN_CASES {
        for spawn in *spawns {
            let name = format!("hostile::run::{mechanism}::{spawn}");
            trials.push(trial(name, &[], move || fails_in_a_run(case, spawn)));
        }
    }
    for spawn in SPAWNS {
        let name = |what: &str| format!("hostile::{what}::{spawn}");
        trials.push(trial(name("broken_lock_is_caught"), &[Need::TwoCpus], move || {
            broken_lock_is_caught(spawn)
        }));
        trials
            .push(trial(name("a_worker_that_wanders_is_caught"), &[Need::TwoCpus], move || wanderer(spawn)));
        trials.push(trial(name("a_visit_that_hangs_ends_with_its_runner"), &[], move || {
            ends_with_its_runner(spawn)
        }));
        trials.push(trial(name("a_child_that_is_left_is_ended"), &[], move || a_child_is_ended(spawn)));
    }
    trials.push(trial("hostile::every_mechanism_fails_in_one_run", &[], all_in_one_run));
    trials.push(trial("hostile::the_request_is_nonsense", &[], the_request_is_nonsense));
    trials
}

/// This test program, as ipcmatrix with the hostile catalog.
pub fn hostile() -> Program {
    Program::new(std::env::current_exe().unwrap()).env(SWITCH, "1")
}

/// One visit; afterwards nothing of it is left.
pub fn visit(request: &Request) -> Outcome {
    let running = hostile().args(["cell"]).input(serde_json::to_vec(request).unwrap()).start();
    let mark = running.mark();
    let ended = running.end().exits(0);
    nothing_is_left(&mark);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", ended.stdout))
}

#[track_caller]
fn nothing_is_left(mark: &str) {
    eventually(|| {
        let left = alive(mark);
        (!left.is_empty()).then(|| format!("left: {left:?}"))
    });
}

fn fails_in_a_visit(mechanism: &str, spawn: &str, phase: &str, words: &[&str]) {
    let cell = cells::increment(mechanism, 2, spawn, "same_cpu");
    let found = cells::failed(visit(&Request { deadline_ms: DEADLINE_MS, ..fixed(&cell, 1000, 3) }));
    assert_eq!(found.0, phase, "{}", found.1);
    for word in words {
        assert!(found.1.contains(word), "{word:?} does not stand in {:?}", found.1);
    }
}

fn broken_lock_is_caught(spawn: &str) {
    let cell = cells::increment("excludes_nobody", 2, spawn, "cross_cpu");
    let (phase, error) = cells::failed(visit(&fixed(&cell, MANY_OPS, 1)));
    assert_eq!(phase, "warm-up", "{error}");
    let expected = format!("not {}: updates were lost, the lock let two in at once", 2 * MANY_OPS);
    assert!(error.contains(&expected), "{error}");
}

fn wanderer(spawn: &str) {
    let cell = cells::increment("wanders", 2, spawn, "same_cpu");
    let (phase, error) = cells::failed(visit(&fixed(&cell, 1000, 3)));
    assert_eq!(phase, "sample", "{error}");
    assert!(
        error.starts_with("worker 1 was pinned to CPU ") && error.contains(" and ended on CPU "),
        "{error}"
    );
}

/// A matrix of hostile mechanisms and one that behaves.
fn matrix(mechanisms: &[&str], spawn: &str) -> String {
    format!(
        "schema = 1\ntitle = \"t\"\n[[table]]\nid = \"t\"\ntitle = \"t\"\nmeasure = \"increment\"\n\
         row = \"workers\"\ncolumn = \"mechanism\"\n[table.axes]\nmechanism = {:?}\nworkers = 2\n\
         spawn = \"{spawn}\"\nplacement = \"same_cpu\"\n",
        [mechanisms, &["behaves"]].concat()
    )
}

/// Runs the matrix with a short deadline in a folder of its own; afterwards nothing of it is left.
fn run(folder: &Path, matrix: &str) -> (Ended, Run) {
    let file = folder.join("hostile.toml");
    std::fs::write(&file, matrix).unwrap();
    let out = folder.join("out");
    let deadline = format!("{DEADLINE_MS}ms");
    let running =
        hostile().args(["run", "--test", "--deadline", &deadline, "-o"]).args([&out, &file]).start();
    let mark = running.mark();
    let ended = running.end();
    nothing_is_left(&mark);
    (ended, read_run(&out).unwrap())
}

fn outcome<'a>(run: &'a Run, mechanism: &str) -> &'a Outcome {
    let visit = run.visits.iter().find(|visit| visit.cell.mechanism() == mechanism);
    &visit.unwrap_or_else(|| panic!("no visit of {mechanism}")).outcome
}

/// The run says what failed, measures the rest, and exits with 1.
fn fails_in_a_run(case: &Case, spawn: &str) {
    let Case(mechanism, _, phase, words) = case;
    let folder = tempfile::tempdir().unwrap();
    let (ended, run) = run(folder.path(), &matrix(&[mechanism], spawn));
    let found = cells::failed(outcome(&run, mechanism).clone());
    assert_eq!(found.0, *phase, "{}", found.1);
    for word in *words {
        assert!(found.1.contains(word), "{word:?} does not stand in {:?}", found.1);
    }
    assert!(matches!(outcome(&run, "behaves"), Outcome::Measured(_)), "the rest is measured");
    ended.exits(1).prints(&["1 measured, 0 unavailable, 1 failed", "works"]);
}

/// Nobody but the kernel can end it: its deadline is far away and the runner is killed.
fn ends_with_its_runner(spawn: &str) {
    for mechanism in ["hangs", "hangs_in_open", "hangs_in_enter"] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hostile.toml");
        std::fs::write(&file, matrix(&[mechanism], spawn)).unwrap();
        let filter = format!("mechanism:{mechanism}");
        let arguments = ["run", "--test", "--deadline", "1h", "-f", &filter];
        let running = hostile().args(arguments).args([&file]).start();
        let mark = running.mark();
        // The runner, the visit, and its workers where they are processes and have been started.
        let all = if spawn == "threads" || mechanism == "hangs_in_open" { 2 } else { 4 };
        eventually(|| (alive(&mark).len() < all).then(|| "no visit has begun yet".to_owned()));
        running.signal(Signal::SIGKILL);
        running.end().exits(137);
        nothing_is_left(&mark);
    }
}

/// Where the outcome is good, a process that the mechanism left behind is ended all the same.
fn a_child_is_ended(spawn: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (ended, run) = run(folder.path(), &matrix(&["leaves_a_child"], spawn));
    assert!(matches!(outcome(&run, "leaves_a_child"), Outcome::Measured(_)));
    ended.exits(0);
}

/// One bad cell after another does not wear the runner out.
fn all_in_one_run() {
    let bad =
        ["dies", "panics", "fails", "fails_to_open", "fails_to_enter", "alters_a_byte", "speaks_nonsense"];
    let folder = tempfile::tempdir().unwrap();
    let (ended, run) = run(folder.path(), &matrix(&bad, "processes"));
    for mechanism in bad {
        cells::failed(outcome(&run, mechanism).clone());
    }
    assert_eq!(run.end.expect("the journal is complete").visits as usize, bad.len() + 1);
    ended.exits(1).prints(&["1 measured, 0 unavailable, 7 failed", "a made-up error", "killed by SIGKILL"]);
}

fn the_request_is_nonsense() {
    for nonsense in ["", "{", "[]", "\0\u{1}", r#"{"cell":{"measure":"bandwidth"}}"#] {
        let ended = Program::ipcmatrix(["cell"]).input(nonsense).run().exits(0);
        let (phase, error) = cells::failed(serde_json::from_str(&ended.stdout).unwrap());
        assert_eq!(phase, "start");
        assert!(error.starts_with("the request is not one: "), "{error}");
    }
    let unknown = cells::request(&cells::increment("no_such_thing", 1, "threads", "same_cpu"));
    let (phase, error) = cells::failed(cells::shipped(&unknown));
    assert_eq!((phase.as_str(), error.contains("no driver measures the cell")), ("start", true), "{error}");
}
