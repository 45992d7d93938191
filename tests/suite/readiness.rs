//! Calls on many descriptors: every driver finds who is ready, limits are told, and a lie is caught.

use crate::cells::{self, failed, fixed, measured, request, shipped, unavailable, visit};
use crate::conformance::is_complete;
use crate::hostile::hostile;
use crate::program::Program;
use crate::trial;
use ipcmatrix::catalog::{Catalog, Driver, Family};
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Effort, Lead, Outcome, Request};
use libtest_mimic::Trial;

/// Who is ready of how many descriptors of what kind; what devices cannot do comes last.
const CASES: &[(u64, &str, &str)] = &[
    (1, "all", "eventfd"),
    (100, "all", "eventfd"),
    (100, "all", "pipe"),
    (1, "random", "pipe"),
    (77, "random", "eventfd"),
    (77, "first", "eventfd"),
    (77, "last", "pipe"),
    (77, "all", "dev_null"),
    (1, "all", "dev_zero"),
];
const DEVICES: [&str; 2] = ["dev_null", "dev_zero"];
const WITHOUT_DEVICES: [&str; 4] = ["epoll", "epoll_edge", "epoll_oneshot", "io_uring_poll"];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("readiness::a_first_call_is_made_once", &[], a_first_call_is_made_once),
        trial("readiness::descriptors_have_the_numbers_asked_for", &[], numbers_are_as_asked),
        trial("readiness::the_printed_program_is_repeated", &[], printed),
        trial("readiness::a_low_limit_refuses_large_cells_alone", &[], low_limit),
        trial("readiness::a_soft_limit_is_raised_and_recorded", &[], soft_limit),
        trial("readiness::a_wrong_count_is_caught", &[], || {
            lie("miscounts", "told of 2 descriptors, 1 are ready")
        }),
        trial("readiness::a_wrong_descriptor_is_caught", &[], || {
            lie("tells_of_another", "did not tell of descriptor ")
        }),
    ];
    let waits = |driver: &&Driver| driver.family == Family::Readiness && driver.measure == Measure::Wait;
    for driver in Catalog::shipped().drivers().filter(waits) {
        for case @ (descriptors, ready, file) in CASES {
            let name = format!("readiness::{}::{descriptors}_{file}_{ready}", driver.mechanism);
            trials.push(trial(name, &[], move || finds(driver, *case)));
        }
    }
    trials
}

/// The cell of a case.
fn cell(mechanism: &str, (descriptors, ready, file): (u64, &str, &str)) -> Cell {
    cells::wait(mechanism, descriptors, ready).with(Axis::File, Value::word(file))
}

fn finds(driver: &Driver, case: (u64, &str, &str)) {
    let outcome = shipped(&fixed(&cell(driver.mechanism, case), 50, 3));
    if DEVICES.contains(&case.2) && WITHOUT_DEVICES.contains(&driver.mechanism) {
        let refused = unavailable(outcome);
        assert!(refused.reason.contains("/dev/zero") && refused.remedy.contains("eventfd"), "{refused:?}");
        return;
    }
    if let (Outcome::Unavailable(refused), Err(why)) = (&outcome, (driver.present)()) {
        assert_eq!(*refused, why);
        return;
    }
    let figures = measured(outcome);
    is_complete(&figures, 1);
    assert_eq!((figures.lead, figures.ops, figures.samples.len()), (Lead::Floor, 50, 3));
    let twins = figures.samples.iter().filter(|sample| sample.workers[0].twin.is_some()).count();
    assert_eq!(twins == 3, figures.overhead.is_some());
    if case.1 != "all" {
        let overhead = figures.overhead.expect("writing and reading is done beside the call");
        assert!(overhead.twin_ns > 0.0 && overhead.twin_ns.is_finite() && overhead.twin_cpu_ns.is_finite());
        assert!((figures.floor_ns - overhead.twin_ns - overhead.net_ns).abs() < 1e-6);
    }
}

/// Nothing warms it up, nothing is calibrated, and there is one number.
fn a_first_call_is_made_once() {
    for (call, made) in [("first", 1), ("second", 2)] {
        let cell = cells::wait("epoll", 100, "all").with(Axis::Call, Value::word(call));
        let figures = measured(shipped(&Request { effort: Effort::DEFAULT, ..request(&cell) }));
        assert_eq!((figures.ops, figures.samples.len()), (1, 1), "{call}, call {made}");
        assert!(figures.overhead.is_none() && figures.flags.is_empty());
    }
}

fn numbers_are_as_asked() {
    for mechanism in ["select", "pselect", "poll", "ppoll", "epoll", "epoll_edge", "epoll_oneshot"] {
        for (highest, descriptors) in [(2, 1), (10, 1), (200, 9)] {
            let cell = cells::wait(mechanism, descriptors, "all")
                .with(Axis::HighestDescriptor, Value::Count(highest));
            is_complete(&measured(shipped(&fixed(&cell, 20, 1))), 1);
        }
    }
    let cell = cells::wait("poll", 100, "all").with(Axis::HighestDescriptor, Value::Count(100));
    let refused = unavailable(shipped(&fixed(&cell, 1, 1)));
    assert!(refused.reason.contains("not so many numbers between 64"), "{refused:?}");
    assert!(refused.remedy.contains("fewer descriptors"), "{refused:?}");
    // What a mechanism opens for itself has none of the numbers that are asked for, the lowest free ones included.
    for highest in 3..8 {
        let cell = cells::wait("epoll", 1, "all").with(Axis::HighestDescriptor, Value::Count(highest));
        match shipped(&fixed(&cell, 20, 1)) {
            Outcome::Failed { phase, error } => {
                assert!(phase == "enter" && error.contains("is in use"), "{highest}: {phase}: {error}");
                assert!(highest > 3, "the first that is free is given: {error}");
            }
            outcome => is_complete(&measured(outcome), 1),
        }
    }
}

fn printed() {
    let as_printed = |mechanism| {
        let cell = cell(mechanism, (1, "all", "dev_zero")).with(Axis::Variant, Value::word("as_printed"));
        shipped(&fixed(&cell, 100, 1))
    };
    for mechanism in ["select", "poll"] {
        is_complete(&measured(as_printed(mechanism)), 1);
    }
    let refused = unavailable(as_printed("ppoll"));
    assert!(refused.reason.contains("select and poll only"), "{refused:?}");
}

/// Both limits are low: what needs more is told with the limit, the rest is measured.
fn low_limit() {
    let folder = tempfile::tempdir().unwrap();
    let script = "ulimit -n 256; exec \"$1\" run --no-lock readiness --test -f '-file:pipe'";
    let ended = Program::shell(script, [folder.path()]).run().exits(0);
    ended.prints(&[
        ", 0 failed",
        "works",
        "RLIMIT_NOFILE is 256 (hard limit 256), the cell needs 16385; raise it, e.g. `ulimit -n 16385` as root",
        "the cell needs 1010",
    ]);
}

fn soft_limit() {
    let cell = cells::wait("select", 1, "all").with(Axis::HighestDescriptor, Value::Count(300));
    let asked = request(&cell);
    let program = Program::shell("ulimit -S -n 256; exec \"$1\" cell", [""; 0]);
    let ended = program.input(serde_json::to_vec(&asked).unwrap()).run().exits(0);
    let figures = measured(serde_json::from_str(&ended.stdout).unwrap());
    assert_eq!(figures.effective["RLIMIT_NOFILE"], serde_json::json!({ "was": 256, "raised_to": 301 }));
}

fn lie(mechanism: &str, words: &str) {
    let (phase, error) = failed(visit(hostile(), &fixed(&cells::wait(mechanism, 10, "random"), 5, 1)));
    assert_eq!(phase, "warm-up", "{error}");
    assert!(error.contains(words), "{error}");
}
