//! One visit of one cell, asked for as the runner asks.

use crate::program::Program;
use ipcmatrix::catalog::Catalog;
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::matrix::Filter;
use ipcmatrix::record::{Effort, Measured, Outcome, Request, Sampling, Unavailable};

/// Enough for a visit of a debug build on a machine that others use too.
const DEADLINE_MS: u64 = 30_000;

/// What any Linux machine can measure: no library and no newer kernel is asked for.
pub const EVERYWHERE: &str =
    "-mechanism:(tirpc_tcp OR tirpc_udp OR door_call_seccomp OR io_uring_poll OR dev_log)";

/// The drivers that all the filters keep: so many cells the smoke matrix has then.
pub fn drivers(filters: &[&str]) -> usize {
    let catalog = Catalog::shipped();
    let filters: Vec<Filter> = filters.iter().map(|text| Filter::parse(text, &catalog).unwrap()).collect();
    let kept = |cell: &Cell| filters.iter().all(|filter| filter.matches(cell));
    catalog.drivers().filter(|driver| kept(&Cell::new(driver.measure, driver.mechanism))).count()
}

/// A bandwidth cell.
pub fn bandwidth(mechanism: &str, message_bytes: u64, spawn: &str, placement: &str) -> Cell {
    Cell::new(Measure::Bandwidth, mechanism)
        .with(Axis::MessageBytes, Value::Count(message_bytes))
        .with(Axis::Spawn, Value::word(spawn))
        .with(Axis::Placement, Value::word(placement))
}

/// A round trip cell.
pub fn round_trip(mechanism: &str, spawn: &str, placement: &str) -> Cell {
    Cell::new(Measure::RoundTrip, mechanism)
        .with(Axis::Spawn, Value::word(spawn))
        .with(Axis::Placement, Value::word(placement))
}

/// An increment cell.
pub fn increment(mechanism: &str, workers: u64, spawn: &str, placement: &str) -> Cell {
    Cell::new(Measure::Increment, mechanism)
        .with(Axis::Workers, Value::Count(workers))
        .with(Axis::Spawn, Value::word(spawn))
        .with(Axis::Placement, Value::word(placement))
}

/// A wait cell: that many eventfds, of which those are ready.
pub fn wait(mechanism: &str, descriptors: u64, ready: &str) -> Cell {
    Cell::new(Measure::Wait, mechanism)
        .with(Axis::HighestDescriptor, Value::Count(0))
        .with(Axis::Descriptors, Value::Count(descriptors))
        .with(Axis::Ready, Value::word(ready))
        .with(Axis::File, Value::word("eventfd"))
        .with(Axis::Call, Value::word("many"))
        .with(Axis::Variant, Value::word("as_meant"))
        .with(Axis::Placement, Value::word("same_cpu"))
}

/// A request that measures a little.
pub fn request(cell: &Cell) -> Request {
    Request::alone(cell, None, Effort::TEST, DEADLINE_MS)
}

/// A request of that many samples of that many operations, after one batch to warm up.
pub fn fixed(cell: &Cell, ops: u64, samples: u32) -> Request {
    let sampling = Sampling { samples, target_ns: 1_000_000_000 };
    let effort =
        Effort { additive: sampling, interacting: sampling, oversubscribed: sampling, ..Effort::TEST };
    Request::alone(cell, Some(ops), effort, DEADLINE_MS)
}

/// Asks the program, which is started by `before` (a tracer, say), for one visit.
pub fn visit(program: Program, request: &Request) -> Outcome {
    let ended = program.args(["cell"]).input(serde_json::to_vec(request).unwrap()).run().exits(0);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", ended.stdout))
}

/// One visit of that cell by the program as shipped.
pub fn shipped(request: &Request) -> Outcome {
    visit(Program::new(crate::program::IPCMATRIX), request)
}

/// The figures, if there are any.
#[track_caller]
pub fn measured(outcome: Outcome) -> Measured {
    match outcome {
        Outcome::Measured(measured) => *measured,
        other => panic!("expected figures, got {other:?}"),
    }
}

/// The reason and the remedy, if the cell is unavailable.
#[track_caller]
pub fn unavailable(outcome: Outcome) -> Unavailable {
    match outcome {
        Outcome::Unavailable(unavailable) => unavailable,
        other => panic!("expected it to be unavailable, got {other:?}"),
    }
}

/// Phase and error, if the visit failed.
#[track_caller]
pub fn failed(outcome: Outcome) -> (String, String) {
    match outcome {
        Outcome::Failed { phase, error } => (phase, error),
        other => panic!("expected a failure, got {other:?}"),
    }
}

/// An operation cell of one worker that is a process.
pub fn operation(mechanism: &str, process_state: &str) -> Cell {
    Cell::new(Measure::Operation, mechanism)
        .with(Axis::ProcessState, Value::word(process_state))
        .with(Axis::Workers, Value::Count(1))
        .with(Axis::Spawn, Value::word("processes"))
        .with(Axis::Placement, Value::word("same_cpu"))
}
