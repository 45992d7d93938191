//! What is measured: a few cells, each by several arms in the same rounds.

use crate::cell::{Axis, Cell, Measure, SINGLE, Value};
use crate::compare::{LEAST_ADDITIVE, LEAST_INTERACTING};

/// One way in which a cell is visited in each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arm {
    /// As it is; the others are compared with this.
    Base,
    /// As it is, once more.
    Again,
    /// Each operation made longer by so many percent of the cell's own figure.
    Slower(u32),
    /// Twice as many operations a batch.
    Double,
}

/// A cell and its arms.
pub struct Subject {
    /// What the table calls it.
    pub label: &'static str,
    /// The cell.
    pub cell: Cell,
    /// The least difference that a comparison of such cells calls one, as a part.
    pub least: f64,
    /// The arms, [`Arm::Base`] first.
    pub arms: &'static [Arm],
    /// The nanoseconds that an operation may take at most, where that is a floor with a bound.
    pub bound_ns: Option<f64>,
}

/// Percents by which operations are made longer; from the greatest that need not be found on.
pub const INJECTED_PERCENT: [u32; 4] = [20, 10, 5, 2];
/// Slow-downs of so many percent and more must be found.
pub const MUST_FIND_PERCENT: u32 = 10;

const TWICE: &[Arm] = &[Arm::Base, Arm::Again];
const FLOOR: &[Arm] = &[Arm::Base, Arm::Again, Arm::Double];
const ALL: &[Arm] = &[
    Arm::Base,
    Arm::Again,
    Arm::Slower(INJECTED_PERCENT[0]),
    Arm::Slower(INJECTED_PERCENT[1]),
    Arm::Slower(INJECTED_PERCENT[2]),
    Arm::Slower(INJECTED_PERCENT[3]),
    Arm::Double,
];

/// A loop around nothing takes a few cycles.
const MOST_EMPTY_NS: f64 = 20.0;
/// What is timed in batches of some milliseconds may begin and end with a reading of the clock that takes this long.
const MOST_CLOCK_NS: f64 = 1_000.0;

/// The cells that are measured.
pub fn subjects() -> Vec<Subject> {
    let additive = |label, cell, arms| Subject { label, cell, least: LEAST_ADDITIVE, arms, bound_ns: None };
    let interacting =
        |label, cell| Subject { label, cell, least: LEAST_INTERACTING, arms: TWICE, bound_ns: None };
    vec![
        Subject { bound_ns: Some(MOST_EMPTY_NS), ..additive("empty loop", operation("empty"), FLOOR) },
        Subject {
            bound_ns: Some(MOST_CLOCK_NS),
            ..additive("reading the clock", operation("clock_gettime"), FLOOR)
        },
        additive("getppid", operation("getppid"), ALL),
        additive("pipe, 4 KiB messages, one CPU", bandwidth("pipe", "same_cpu"), ALL),
        additive("pipe, round trip, one CPU", round_trip("pipe", "same_cpu"), ALL),
        additive("POSIX semaphore, one worker", increment("posix_semaphore", 1, "same_cpu"), ALL),
        interacting("pipe, round trip, two CPUs", round_trip("pipe", "cross_cpu")),
        interacting("pthread mutex, two workers, two CPUs", increment("pthread_mutex", 2, "cross_cpu")),
    ]
}

fn placed(measure: Measure, mechanism: &str, placement: &str) -> Cell {
    Cell::new(measure, mechanism)
        .with(Axis::Spawn, Value::word("processes"))
        .with(Axis::Placement, Value::word(placement))
}

fn operation(mechanism: &str) -> Cell {
    placed(Measure::Operation, mechanism, "same_cpu")
        .with(Axis::ProcessState, Value::word(SINGLE))
        .with(Axis::Workers, Value::Count(1))
}

/// Messages of 4 KiB.
pub fn bandwidth(mechanism: &str, placement: &str) -> Cell {
    placed(Measure::Bandwidth, mechanism, placement).with(Axis::MessageBytes, Value::Count(4096))
}

fn round_trip(mechanism: &str, placement: &str) -> Cell {
    placed(Measure::RoundTrip, mechanism, placement)
}

/// Increments of that many workers.
pub fn increment(mechanism: &str, workers: u64, placement: &str) -> Cell {
    placed(Measure::Increment, mechanism, placement).with(Axis::Workers, Value::Count(workers))
}

/// Lines of 80 bytes of two threads.
pub fn append(mechanism: &str) -> Cell {
    Cell::new(Measure::Append, mechanism)
        .with(Axis::MessageBytes, Value::Count(80))
        .with(Axis::Workers, Value::Count(2))
        .with(Axis::Spawn, Value::word("threads"))
        .with(Axis::Placement, Value::word("same_cpu"))
}
