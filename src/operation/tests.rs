//! Every operation keeps the promises of the trait.

use super::variables::{Access, Empty, StaticAccess, TlsLocalExec, Variable};
use super::*;
use crate::catalog::Catalog;
use crate::cell::Value;

fn cell(mechanism: &str, state: &str, workers: u64, spawn: &str, placement: &str) -> Cell {
    Cell::new(Measure::Operation, mechanism)
        .with(Axis::ProcessState, Value::word(state))
        .with(Axis::Workers, Value::Count(workers))
        .with(Axis::Spawn, Value::word(spawn))
        .with(Axis::Placement, Value::word(placement))
}

#[test]
fn combinations_without_sense_are_refused_with_a_remedy() {
    let refused = |state, workers, spawn, placement| {
        !repeat::limits(&cell("empty", state, workers, spawn, placement)).is_empty()
    };
    assert!(!refused("single", 1, "processes", "same_cpu"));
    assert!(!refused("parked", 1, "processes", "free"));
    assert!(!refused("parked", 1, "threads", "same_cpu"));
    assert!(!refused("parked", 5, "threads", "cross_cpu"));
    assert!(refused("single", 1, "threads", "same_cpu"));
    assert!(refused("single", 2, "processes", "same_cpu"));
    assert!(refused("parked", 2, "processes", "same_cpu"));
    assert!(refused("working", 2, "threads", "cross_cpu"));
    assert!(refused("working", 1, "processes", "free"));
}

#[test]
fn depth_belongs_to_what_unwinds_alone() {
    let catalog = Catalog::shipped();
    let deep = |driver: &&Driver| driver.family == Family::Operation && driver.has_axis(Axis::Depth);
    let names: Vec<&str> = catalog.drivers().filter(deep).map(|driver| driver.mechanism).collect();
    assert_eq!(names, ["result_error", "panic_catch", "resume_unwind"]);
}

/// Each access of a thread finds what that thread set, and a wrong number of them is told.
fn finds_its_own<V: Variable>(shared: bool) {
    if V::present().is_err() {
        return;
    }
    let mut ours = Access::<V>::enter(0).unwrap();
    let theirs = std::thread::spawn(|| {
        let mut theirs = Access::<V>::enter(0).unwrap();
        (0..10).for_each(|_| theirs.once().unwrap());
        theirs.check(10).unwrap();
        V::set(3).map(|(value, _)| value).unwrap()
    });
    let their_value = theirs.join().unwrap();
    (0..7).for_each(|_| ours.once().unwrap());
    ours.check(7).unwrap_or_else(|error| panic!("{}: {error}", V::NAME));
    (0..7).for_each(|_| ours.once().unwrap());
    let error = ours.check(8).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: 8 accesses", V::NAME)), "{error}");
    assert_eq!(their_value == 3, !shared, "{}", V::NAME);
}

#[test]
fn each_thread_finds_its_own_value() {
    finds_its_own::<variables::ThreadLocalConst>(false);
    finds_its_own::<variables::ThreadLocalLazy>(false);
    finds_its_own::<TlsLocalExec>(false);
    finds_its_own::<variables::TlsDlopen>(false);
    finds_its_own::<variables::PthreadGetspecific>(false);
    finds_its_own::<StaticAccess>(true);
    finds_its_own::<Empty>(true);
}

#[test]
fn every_call_says_what_it_must() {
    fn repeated<O: Operation>() {
        let mut operation = O::enter(0).unwrap();
        (0..5).for_each(|_| operation.once().unwrap_or_else(|error| panic!("{}: {error}", O::NAME)));
    }
    repeated::<calls::Getppid>();
    repeated::<calls::FailingClose>();
    repeated::<calls::ClockGettime>();
    if calls::FailingCloseRaw::present().is_ok() {
        repeated::<calls::FailingCloseRaw>();
    }
}
