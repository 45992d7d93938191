//! What can be asked of a mechanism, and the axes that the question has.

use super::{Axis, SINGLE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is asked of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Bytes a second one way; the op is a message.
    Bandwidth,
    /// A request out and its answer back; the op is both together.
    RoundTrip,
    /// Lock, add one to a shared counter, unlock; the op is one increment of one worker.
    Increment,
    /// Ask which descriptors can be read; the op is one call.
    Wait,
    /// A server answers requests of several clients; the op is one request and its reply.
    Serve,
    /// Repeat a small operation of the system, the language or a library; the op is one of them.
    Operation,
    /// Write a line into a log; the op is one line of one worker.
    Append,
}

impl Measure {
    /// Every measure.
    pub const ALL: &'static [Measure] = &[
        Measure::Bandwidth,
        Measure::RoundTrip,
        Measure::Increment,
        Measure::Wait,
        Measure::Serve,
        Measure::Operation,
        Measure::Append,
    ];

    /// The name used in files, filters and records.
    pub fn name(self) -> &'static str {
        match self {
            Measure::Bandwidth => "bandwidth",
            Measure::RoundTrip => "round_trip",
            Measure::Increment => "increment",
            Measure::Wait => "wait",
            Measure::Serve => "serve",
            Measure::Operation => "operation",
            Measure::Append => "append",
        }
    }

    /// The measure of that name, if there is one.
    pub fn named(name: &str) -> Option<Measure> {
        Measure::ALL.iter().copied().find(|measure| measure.name() == name)
    }

    /// Whether cells that differ in nothing but the mechanism are visited together: one process opens what they
    /// share, and measures one after the other.
    pub fn visited_together(self) -> bool {
        self == Measure::Serve
    }

    /// The mechanism with which the others are compared in a table of ratios, where there is one.
    pub fn reference(self) -> Option<&'static str> {
        match self {
            Measure::Wait => Some("select"),
            Measure::Bandwidth
            | Measure::RoundTrip
            | Measure::Increment
            | Measure::Serve
            | Measure::Operation
            | Measure::Append => None,
        }
    }

    /// Whether each worker does operations of its own, so that those of all are as many times more.
    pub fn counts_each_worker(self) -> bool {
        matches!(self, Measure::Increment | Measure::Operation | Measure::Append)
    }

    /// The axes that every cell of this measure has, with the values that a matrix gets when it
    /// names none. An empty list means that the matrix must name them.
    pub fn axes(self) -> &'static [(Axis, &'static [&'static str])] {
        match self {
            Measure::Bandwidth => &[
                (Axis::MessageBytes, &[]),
                (Axis::Spawn, &["processes"]),
                (Axis::Placement, &["same_cpu", "cross_cpu"]),
            ],
            Measure::RoundTrip => {
                &[(Axis::Spawn, &["processes"]), (Axis::Placement, &["same_cpu", "cross_cpu"])]
            }
            Measure::Increment => &[
                (Axis::Workers, &[]),
                (Axis::Spawn, &["processes"]),
                (Axis::Placement, &["same_cpu", "cross_cpu"]),
            ],
            Measure::Wait => &[
                (Axis::HighestDescriptor, &["0"]),
                (Axis::Descriptors, &["1"]),
                (Axis::Ready, &["all"]),
                (Axis::File, &["eventfd"]),
                (Axis::Call, &["many"]),
                (Axis::Variant, &["as_meant"]),
                (Axis::Placement, &["same_cpu"]),
            ],
            Measure::Serve => &[
                (Axis::Socket, &["tcp"]),
                (Axis::IdleConnections, &[]),
                (Axis::Spawn, &["processes"]),
                (Axis::Placement, &["same_cpu", "cross_cpu"]),
            ],
            Measure::Operation => &[
                (Axis::ProcessState, &[SINGLE, "parked", "working"]),
                (Axis::Workers, &["1"]),
                (Axis::Spawn, &["processes"]),
                (Axis::Placement, &["same_cpu"]),
            ],
            Measure::Append => &[
                (Axis::MessageBytes, &["80"]),
                (Axis::Workers, &["2"]),
                (Axis::Spawn, &["threads"]),
                (Axis::Placement, &["same_cpu", "cross_cpu"]),
            ],
        }
    }
}
