//! The words of a matrix: axes, their values, measures, and the cell made of them.
//!
//! A cell is one measure of one mechanism at one value on each axis that applies. Everything that
//! names a cell (matrix files, filters, records, tables, exports) uses the names in this file.

mod measure;
mod schema;
mod unavailable;
mod value;

pub use measure::Measure;
pub use unavailable::Unavailable;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A parameter of a cell. The order here is the order in which axes are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Axis {
    /// What is asked of the mechanism.
    Measure,
    /// The operating system or library object under test.
    Mechanism,
    /// Payload of one message, in bytes.
    MessageBytes,
    /// Threads or processes that take part.
    Workers,
    /// Whether the workers are threads of one process or processes.
    Spawn,
    /// Which CPUs the workers may run on.
    Placement,
    /// Whether `TCP_NODELAY` is set.
    Nodelay,
    /// Capacity asked of the channel, in bytes; 0 keeps what the system gives.
    CapacityBytes,
    /// The highest number of a watched descriptor; 0 leaves the numbers to the system.
    HighestDescriptor,
    /// Descriptors that are watched.
    Descriptors,
    /// Which of the watched descriptors are ready.
    Ready,
    /// What the watched descriptors are.
    File,
    /// Which call of a visit is measured.
    Call,
    /// Whether a classic program is repeated as it was printed or as it was meant.
    Variant,
    /// What the connections between clients and server are made of.
    Socket,
    /// Connections that are open and silent, beside those of the clients.
    IdleConnections,
    /// What other thread the process of a worker has.
    ProcessState,
    /// Calls between where an error is raised and where it is handled.
    Depth,
    /// Whether who logs waits for a daemon that is behind.
    Sender,
    /// Whether the daemon of the log limits how many lines it takes.
    Daemon,
    /// The socket of the machine's own log daemon.
    LogSocket,
    /// The file into which the machine's own log daemon writes.
    LogFile,
}

/// The values an axis takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of these words.
    Words(&'static [&'static str]),
    /// The name of a mechanism in the catalog.
    Mechanism,
    /// A whole number within these bounds, both included.
    Count(u64, u64),
    /// A size in bytes within these bounds, both included; `1K` is 1024.
    Bytes(u64, u64),
    /// An absolute path, or one of these words.
    Path(&'static [&'static str]),
}

/// One row of the axis table.
#[derive(Clone, Copy, Debug)]
pub struct AxisSpec {
    /// The axis.
    pub axis: Axis,
    /// Its name in files, filters and records.
    pub name: &'static str,
    /// The values that it takes.
    pub kind: Kind,
    /// One line for `ipcmatrix list axes`.
    pub help: &'static str,
}

/// The largest message that a cell may ask for: 64 MiB.
pub const LARGEST_MESSAGE_BYTES: u64 = 64 << 20;

/// The mechanism that other bandwidths are compared with: one copy of the same bytes by one worker.
pub const MEMORY_COPY: &str = "memory_copy";

/// The largest number of workers that a cell may ask for.
pub const MOST_WORKERS: u64 = 64;

/// The highest descriptor, and the most of them, that a cell may ask for: the largest `fs.nr_open` that Linux
/// comes with.
pub const MOST_DESCRIPTORS: u64 = 1 << 20;

/// The largest number of idle connections that a cell may ask for.
pub const MOST_IDLE_CONNECTIONS: u64 = 500_000;

/// The deepest that an error may be raised: so many calls fit into the stack of any thread.
pub const MOST_DEPTH: u64 = 1_000;

/// The word of [`Axis::ProcessState`] for a process that never had a second thread.
pub const SINGLE: &str = "single";

/// The words of [`Axis::Placement`].
const PLACEMENTS: &[&str] =
    &["same_cpu", "cross_cpu", "free", "smt_sibling", "same_l2", "same_llc", "cross_llc", "cross_node"];

/// Every axis, in printing order. Lists, validation and help walk this table.
pub const AXES: &[AxisSpec] = &[
    AxisSpec {
        axis: Axis::Measure,
        name: "measure",
        kind: Kind::Words(&["bandwidth", "round_trip", "increment", "wait", "serve", "operation", "append"]),
        help: "what is asked of the mechanism",
    },
    AxisSpec {
        axis: Axis::Mechanism,
        name: "mechanism",
        kind: Kind::Mechanism,
        help: "the operating system or library object under test",
    },
    AxisSpec {
        axis: Axis::MessageBytes,
        name: "message_bytes",
        kind: Kind::Bytes(1, LARGEST_MESSAGE_BYTES),
        help: "payload of one message, in bytes (1K = 1024)",
    },
    AxisSpec {
        axis: Axis::Workers,
        name: "workers",
        kind: Kind::Count(1, MOST_WORKERS),
        help: "threads or processes that take part",
    },
    AxisSpec {
        axis: Axis::Spawn,
        name: "spawn",
        kind: Kind::Words(&["processes", "threads"]),
        help: "whether the workers are processes or threads of one process",
    },
    AxisSpec {
        axis: Axis::Placement,
        name: "placement",
        kind: Kind::Words(PLACEMENTS),
        help: "workers on one CPU, spread over the CPUs, wherever the kernel puts them, or in turn on the two CPUs of a pair that is so near",
    },
    AxisSpec {
        axis: Axis::Nodelay,
        name: "nodelay",
        kind: Kind::Words(&["off", "on"]),
        help: "whether TCP_NODELAY is set (tcp only)",
    },
    AxisSpec {
        axis: Axis::CapacityBytes,
        name: "capacity_bytes",
        kind: Kind::Bytes(0, 1 << 30),
        help: "capacity asked of the channel, in bytes; 0 keeps what the system gives",
    },
    AxisSpec {
        axis: Axis::HighestDescriptor,
        name: "highest_descriptor",
        kind: Kind::Count(0, MOST_DESCRIPTORS),
        help: "highest number of a watched descriptor; 0 leaves the numbers to the system",
    },
    AxisSpec {
        axis: Axis::Descriptors,
        name: "descriptors",
        kind: Kind::Count(1, MOST_DESCRIPTORS),
        help: "descriptors that are watched",
    },
    AxisSpec {
        axis: Axis::Ready,
        name: "ready",
        kind: Kind::Words(&["all", "random", "first", "last"]),
        help: "all watched descriptors are ready all the time, or one at a time: drawn, first or last watched",
    },
    AxisSpec {
        axis: Axis::File,
        name: "file",
        kind: Kind::Words(&["eventfd", "pipe", "dev_zero", "dev_null"]),
        help: "what the watched descriptors are",
    },
    AxisSpec {
        axis: Axis::Call,
        name: "call",
        kind: Kind::Words(&["many", "first", "second"]),
        help: "many calls in batches, or the first or second of a fresh process alone",
    },
    AxisSpec {
        axis: Axis::Variant,
        name: "variant",
        kind: Kind::Words(&["as_meant", "as_printed"]),
        help: "the program of Linux Application Development as it was meant or as it was printed",
    },
    AxisSpec {
        axis: Axis::Socket,
        name: "socket",
        kind: Kind::Words(&["tcp", "unix"]),
        help: "TCP over loopback, or Unix stream sockets",
    },
    AxisSpec {
        axis: Axis::IdleConnections,
        name: "idle_connections",
        kind: Kind::Count(0, MOST_IDLE_CONNECTIONS),
        help: "connections that are open and silent, beside the 10 of the clients",
    },
    AxisSpec {
        axis: Axis::ProcessState,
        name: "process_state",
        kind: Kind::Words(&[SINGLE, "parked", "working"]),
        help: "the process never had a second thread, has one that is parked, or one that works too, on another CPU",
    },
    AxisSpec {
        axis: Axis::Depth,
        name: "depth",
        kind: Kind::Count(1, MOST_DEPTH),
        help: "calls between where an error is raised and where it is handled",
    },
    AxisSpec {
        axis: Axis::Sender,
        name: "sender",
        kind: Kind::Words(&["blocking", "non_blocking"]),
        help: "who logs waits for a daemon that is behind, or drops the line",
    },
    AxisSpec {
        axis: Axis::Daemon,
        name: "daemon",
        kind: Kind::Words(&["plain", "rate_limited"]),
        help: "the daemon writes every line, or at most 40 in a millisecond and drops the others",
    },
    AxisSpec {
        axis: Axis::LogSocket,
        name: "log_socket",
        kind: Kind::Path(&[]),
        help: "the socket of the log daemon that dev_log measures",
    },
    AxisSpec {
        axis: Axis::LogFile,
        name: "log_file",
        kind: Kind::Path(&["looked_for"]),
        help: "the file into which that daemon writes what programs log; looked_for tries the usual ones",
    },
];

impl Axis {
    /// The row of this axis in [`AXES`].
    pub fn spec(self) -> &'static AxisSpec {
        AXES.iter().find(|spec| spec.axis == self).expect("every axis stands in AXES: a test walks them")
    }

    /// The name used in files, filters and records.
    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// The axis of that name, if there is one.
    pub fn named(name: &str) -> Option<Axis> {
        AXES.iter().find(|spec| spec.name == name).map(|spec| spec.axis)
    }
}

impl fmt::Display for Axis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value on an axis.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Value {
    /// A number or a size in bytes.
    Count(u64),
    /// A word.
    Word(String),
}

impl Value {
    /// A word value.
    pub fn word(text: impl Into<String>) -> Value {
        Value::Word(text.into())
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Count(count) => f.pad(&count.to_string()),
            Value::Word(word) => f.pad(word),
        }
    }
}

/// One measure of one mechanism at one value on each axis that applies to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cell {
    axes: BTreeMap<Axis, Value>,
}

impl Cell {
    /// A cell of that measure and mechanism, with no other axis yet.
    pub fn new(measure: Measure, mechanism: &str) -> Cell {
        let mut cell = Cell::default();
        cell.set(Axis::Measure, Value::word(measure.name()));
        cell.set(Axis::Mechanism, Value::word(mechanism));
        cell
    }

    /// Sets the value on an axis.
    pub fn set(&mut self, axis: Axis, value: Value) {
        self.axes.insert(axis, value);
    }

    /// This cell with the value on an axis set.
    pub fn with(mut self, axis: Axis, value: Value) -> Cell {
        self.set(axis, value);
        self
    }

    /// This cell without the axis.
    pub fn without(mut self, axis: Axis) -> Cell {
        self.axes.remove(&axis);
        self
    }

    /// The value on an axis; `None` where the axis does not apply.
    pub fn get(&self, axis: Axis) -> Option<&Value> {
        self.axes.get(&axis)
    }

    /// The word on an axis, or `""`.
    pub fn word(&self, axis: Axis) -> &str {
        match self.axes.get(&axis) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }

    /// The number on an axis, or 0.
    pub fn count(&self, axis: Axis) -> u64 {
        match self.axes.get(&axis) {
            Some(Value::Count(count)) => *count,
            _ => 0,
        }
    }

    /// The measure, if the cell names a known one.
    pub fn measure(&self) -> Option<Measure> {
        Measure::named(self.word(Axis::Measure))
    }

    /// The name of the mechanism.
    pub fn mechanism(&self) -> &str {
        self.word(Axis::Mechanism)
    }

    /// Payload of one message, in bytes.
    pub fn message_bytes(&self) -> usize {
        self.count(Axis::MessageBytes) as usize
    }

    /// Every axis of this cell with its value, in printing order.
    pub fn axes(&self) -> impl Iterator<Item = (Axis, &Value)> {
        self.axes.iter().map(|(axis, value)| (*axis, value))
    }
}

/// `bandwidth pipe message_bytes=1024 placement=same_cpu`: measure and mechanism bare, the rest named.
impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (axis, value)) in self.axes().enumerate() {
            if position > 0 {
                f.write_str(" ")?;
            }
            match axis {
                Axis::Measure | Axis::Mechanism => write!(f, "{value}")?,
                _ => write!(f, "{axis}={value}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_axis_is_in_the_table_once_and_in_order() {
        for pair in AXES.windows(2) {
            assert!(pair[0].axis < pair[1].axis, "{} before {}", pair[0].name, pair[1].name);
        }
        for spec in AXES {
            assert_eq!(Axis::named(spec.name), Some(spec.axis));
            let json = serde_json::to_string(&spec.axis).unwrap();
            assert_eq!(json, format!("\"{}\"", spec.name), "serde and the table name it alike");
        }
    }

    #[test]
    fn a_cell_reads_back_from_its_json() {
        let cell = Cell::new(Measure::Bandwidth, "pipe")
            .with(Axis::MessageBytes, Value::Count(1024))
            .with(Axis::Placement, Value::word("same_cpu"));
        let json = serde_json::to_string(&cell).unwrap();
        assert_eq!(
            json,
            r#"{"measure":"bandwidth","mechanism":"pipe","message_bytes":1024,"placement":"same_cpu"}"#
        );
        assert_eq!(serde_json::from_str::<Cell>(&json).unwrap(), cell);
        assert_eq!(cell.to_string(), "bandwidth pipe message_bytes=1024 placement=same_cpu");
    }
}
