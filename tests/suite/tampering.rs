//! Visits that are tampered with on purpose: what was done shows, and what is faulty is caught.

use crate::cells::{self, fixed, shipped};
use crate::machine::Need;
use crate::trial;
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{INJECTED, INJECTED_FLAG, Measured, Request, Tampering};
use libtest_mimic::Trial;

/// Enough operations for two workers to meet, and few enough for a pipe.
const LOCK_OPS: u64 = 5_000_000;
const PIPE_OPS: u64 = 100;
/// The log loses the thousandth.
const LINES: u64 = 5_000;

pub fn trials() -> Vec<Trial> {
    let mut trials =
        vec![trial("tampering::an_injected_spin_shows_and_is_told", &[], an_injected_spin_shows)];
    let lock = |name| cells::increment(name, 2, "processes", "cross_cpu");
    let pipe = |name| cells::bandwidth(name, 4096, "processes", "same_cpu");
    let log = Cell::new(Measure::Append, "loses_a_line")
        .with(Axis::MessageBytes, Value::Count(80))
        .with(Axis::Workers, Value::Count(2))
        .with(Axis::Spawn, Value::word("threads"))
        .with(Axis::Placement, Value::word("same_cpu"));
    let cases: [(Cell, u64, &str, &'static [Need]); 5] = [
        (lock("excludes_nobody"), LOCK_OPS, "updates were lost", &[Need::TwoCpus]),
        (lock("lets_one_slip"), LOCK_OPS, "updates were lost", &[Need::TwoCpus]),
        (pipe("alters_a_byte"), PIPE_OPS, "came altered", &[]),
        (pipe("drops_a_byte"), PIPE_OPS, "came altered", &[]),
        (log, LINES, "2 are lost where 0 were dropped", &[]),
    ];
    for (cell, ops, words, needs) in cases {
        let name = format!("tampering::{}::is_caught", cell.mechanism());
        trials.push(trial(name, needs, move || is_caught(&cell, ops, words)));
    }
    trials
}

fn is_caught(cell: &Cell, ops: u64, words: &str) {
    let honest = fixed(cell, ops, 1);
    let (phase, error) = cells::failed(shipped(&honest));
    assert_eq!(
        (phase.as_str(), error.contains("no driver")),
        ("start", true),
        "nobody else can ask for it: {error}"
    );
    let tampering = Some(Tampering { faulty: true, ..Tampering::default() });
    let (_, error) = cells::failed(shipped(&Request { tampering, ..honest }));
    assert!(error.contains(words), "{error}");
}

fn an_injected_spin_shows() {
    let cell = Cell::new(Measure::Operation, "getppid")
        .with(Axis::ProcessState, Value::word("single"))
        .with(Axis::Workers, Value::Count(1))
        .with(Axis::Spawn, Value::word("processes"))
        .with(Axis::Placement, Value::word("same_cpu"));
    const INJECTED_NS: f64 = 20_000.0;
    let visit = |injected_ns_per_op| -> Measured {
        let tampering = Some(Tampering { injected_ns_per_op, faulty: false });
        cells::measured(shipped(&Request { tampering, ..fixed(&cell, 1000, 3) }))
    };
    let (honest, longer) = (visit(None), visit(Some(INJECTED_NS)));
    let told = |measured: &Measured| measured.flags.iter().any(|flag| flag == INJECTED_FLAG);
    assert!(!honest.effective.contains_key(INJECTED) && !told(&honest), "{:?}", honest.flags);
    assert_eq!(longer.effective[INJECTED], INJECTED_NS);
    assert!(told(&longer), "{:?}", longer.flags);
    // A clock rate that rises after the spin was timed makes it shorter, by less than this.
    assert!(longer.floor_ns > INJECTED_NS / 3.0, "{}", longer.floor_ns);
}
