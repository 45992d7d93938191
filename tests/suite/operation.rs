//! Operations: each is done in every state of the process, what makes no sense is refused, and a lie is caught.

use crate::cells::{self, failed, fixed, measured, shipped, unavailable, visit};
use crate::conformance::is_complete;
use crate::hostile::hostile;
use crate::machine::{self, Need, cpus};
use crate::program::{IPCMATRIX, Program};
use crate::trial;
use ipcmatrix::catalog::{Catalog, Driver, Family};
use ipcmatrix::cell::{Axis, Cell, Value};
use ipcmatrix::record::{Effort, Measured, Request};
use libtest_mimic::Trial;

/// Enough that the second thread cannot miss all of it.
const OPS: u64 = 2000;
const SAMPLES: u32 = 3;
const WORKERS: [u64; 3] = [1, 2, 5];
const DEPTHS: [u64; 3] = [1, 10, 100];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("operation::combinations_without_sense_are_refused", &[], refusals),
        trial("operation::one_cpu_is_too_few_for_two_that_work", &[Need::Tool("taskset")], one_cpu),
        trial("operation::a_wrong_result_is_caught", &[], || {
            lie("forgets", "single", &["warm-up"], "forgets did nothing")
        }),
        trial("operation::a_second_thread_that_fails_is_told", &[Need::TwoCpus], || {
            lie("fails_beside", "working", &["enter"], "the second thread ended: a made-up error")
        }),
        trial(
            "operation::beside_a_working_thread_the_core_is_not_asked_for",
            &[Need::TwoCpus],
            its_own_thread,
        ),
        trial("operation::a_second_thread_that_stops_is_told", &[Need::TwoCpus], || {
            let phases = &["enter", "warm-up", "sample"];
            lie("stops_beside", "working", phases, "the second thread ended: it has had enough")
        }),
    ];
    for driver in Catalog::shipped().drivers().filter(|driver| driver.family == Family::Operation) {
        let present: &[Need] = if (driver.present)().is_ok() { &[] } else { &[Need::Present] };
        let working: &[Need] = if present.is_empty() { &[Need::TwoCpus] } else { present };
        for (state, needs) in [("single", present), ("parked", present), ("working", working)] {
            let name = format!("operation::{}::{state}", driver.mechanism);
            trials.push(trial(name, needs, move || is_done(driver, state)));
        }
        let name = format!("operation::{}::by_threads_at_once", driver.mechanism);
        trials.push(trial(name, present, move || is_done_by_threads(driver)));
    }
    trials
}

/// The cells of a driver at each depth, where it has that.
fn cells_of(driver: &Driver, state: &str) -> Vec<Cell> {
    let cell = cells::operation(driver.mechanism, state);
    if !driver.has_axis(Axis::Depth) {
        return vec![cell];
    }
    DEPTHS.map(|depth| cell.clone().with(Axis::Depth, Value::Count(depth))).to_vec()
}

/// What the second thread did in each sample, where one works.
fn beside(figures: &Measured) -> Vec<Option<u64>> {
    figures.samples.iter().map(|sample| sample.workers[0].tally.beside_ops).collect()
}

/// Its second thread may use the other half of the core by design; and it follows the arm that it is compared with.
fn its_own_thread() {
    for (state, asked) in [("parked", true), ("working", false)] {
        let request = fixed(&cells::operation("clock_gettime", state), OPS, SAMPLES);
        let effort = Effort { fill_channels: true, ..request.effort };
        let figures = measured(shipped(&Request { effort, same_cpu_as: Some(cpus()[0]), ..request }));
        assert_eq!(figures.whole_core_ns.is_some(), asked, "{state}");
        assert_eq!(figures.one_cpu(), Some(cpus()[0]), "{state}");
    }
}

fn is_done(driver: &Driver, state: &str) {
    for cell in cells_of(driver, state) {
        let figures = measured(shipped(&fixed(&cell, OPS, SAMPLES)));
        assert_eq!((figures.ops, figures.samples.len()), (OPS, SAMPLES as usize));
        is_complete(&figures, 1);
        let overhead = figures.overhead.expect("the loop is timed without the operation too");
        assert!(overhead.twin_ns > 0.0 && overhead.twin_ns.is_finite());
        let beside = beside(&figures);
        assert!(beside.iter().all(|ops| ops.is_some() == (state == "working")), "{beside:?}");
    }
}

fn is_done_by_threads(driver: &Driver) {
    for workers in WORKERS {
        let cell = cells::operation(driver.mechanism, "parked")
            .with(Axis::Spawn, Value::word("threads"))
            .with(Axis::Workers, Value::Count(workers));
        let figures = measured(shipped(&fixed(&cell, OPS, SAMPLES)));
        is_complete(&figures, workers as usize);
        assert_eq!(beside(&figures), [None; SAMPLES as usize]);
    }
}

fn refusals() {
    let refused = |changes: &[(Axis, Value)]| {
        let cell = cells::operation("empty", "single");
        let cell = changes.iter().fold(cell, |cell, (axis, value)| cell.with(*axis, value.clone()));
        let why = unavailable(shipped(&fixed(&cell, OPS, 1)));
        assert!(why.remedy.starts_with("choose "), "{why:?}");
        why.reason
    };
    let (state, spawn, placement) = (
        |word| (Axis::ProcessState, Value::word(word)),
        |word| (Axis::Spawn, Value::word(word)),
        |word| (Axis::Placement, Value::word(word)),
    );
    let two = (Axis::Workers, Value::Count(2));
    assert!(refused(&[spawn("threads")]).contains("so its process is not single"));
    assert!(refused(std::slice::from_ref(&two)).contains("processes share nothing"));
    assert!(refused(&[two.clone(), state("parked")]).contains("processes share nothing"));
    assert!(refused(&[two, state("working"), spawn("threads")]).contains("the others are the threads"));
    assert!(refused(&[state("working"), placement("free")]).contains("has a CPU of its own"));
}

fn one_cpu() {
    let cpu = machine::cpus()[0].to_string();
    let pinned = || Program::new("taskset").args(["-c", &cpu, IPCMATRIX]);
    let request = |state| fixed(&cells::operation("empty", state), OPS, 1);
    let why = unavailable(visit(pinned(), &request("working")));
    assert!(why.reason.contains("may run on one only"), "{why:?}");
    assert!(why.remedy.contains("more CPUs allowed"), "{why:?}");
    measured(visit(pinned(), &request("parked")));
}

/// An operation that lies fails in one of those phases, with those words.
fn lie(mechanism: &str, state: &str, phases: &[&str], words: &str) {
    let told = failed(visit(hostile(), &fixed(&cells::operation(mechanism, state), OPS, SAMPLES)));
    assert!(phases.contains(&told.0.as_str()), "{told:?}");
    assert!(told.1.contains(words), "{told:?}");
}
