//! Every driver: one measure of one mechanism. Lists, validation, visits and the conformance suite
//! walk this table; nothing else knows which mechanisms there are.

use crate::cell::Unavailable;
use crate::cell::{Axis, Cell, Measure};
use crate::workload::Workload;
use std::io;

/// Whom a mechanism can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Threads of one process only.
    Threads,
    /// Processes only; one thread alone is served too, as it has no rival.
    Processes,
    /// Threads and processes.
    Both,
}

impl Reach {
    /// Whether workers started that way are served; the reason where they are not.
    pub fn refuses(self, spawn: &str, workers: u64) -> Option<&'static str> {
        match (self, spawn) {
            (Reach::Threads, "processes") => Some("it works between the threads of one process only"),
            (Reach::Processes, "threads") if workers > 1 => {
                Some("it belongs to the process, so the threads of one process do not exclude each other")
            }
            _ => None,
        }
    }

    /// The word that `list` shows.
    pub fn name(self) -> &'static str {
        match self {
            Reach::Threads => "threads",
            Reach::Processes => "processes",
            Reach::Both => "threads, processes",
        }
    }
}

/// The group of mechanisms that share a layer-2 trait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Carries messages between two workers.
    Transport,
    /// Lets one worker in at a time.
    Lock,
    /// Tells which of many descriptors can be read.
    Readiness,
    /// Is done once: a system call, an access, an error that is handled.
    Operation,
    /// Keeps the lines that programs log.
    Log,
}

impl Family {
    /// The word that `list` shows.
    pub fn name(self) -> &'static str {
        match self {
            Family::Transport => "transport",
            Family::Lock => "lock",
            Family::Readiness => "readiness",
            Family::Operation => "operation",
            Family::Log => "log",
        }
    }
}

/// A limit of the kernel that a cell needs at a certain value or above.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Which limit.
    pub name: LimitName,
    /// The least value that the cell needs.
    pub needs: u64,
}

/// The limits that mechanisms know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitName {
    /// A sysctl of the IPC namespace, e.g. `fs.mqueue.msgsize_max`; raised inside a private namespace.
    IpcSysctl(&'static str),
    /// A sysctl of the machine, e.g. `fs.pipe-max-size`; never written.
    Sysctl(&'static str),
    /// `RLIMIT_MSGQUEUE`, in bytes: what one user's POSIX queues may hold.
    RlimitMsgqueue,
    /// `RLIMIT_NOFILE`: one more than the highest descriptor of a process. The soft limit is raised up to the
    /// hard one, which is left alone.
    RlimitNofile,
    /// How many ports `net.ipv4.ip_local_port_range` has: those that connect(2) and a bind(2) to port 0 choose from.
    LocalPorts,
    /// No value of any limit helps: the kernel refuses what the cell asks for.
    Refused {
        /// Why, with the error where there is one.
        reason: &'static str,
        /// What to choose instead.
        remedy: &'static str,
    },
    /// A limit that the protocol fixes, whatever the machine.
    Protocol {
        /// What is limited, e.g. `the argument of Sun RPC over UDP`.
        name: &'static str,
        /// The largest value.
        most: u64,
        /// Where that value comes from.
        why: &'static str,
    },
}

/// One measure of one mechanism.
pub struct Driver {
    /// The family whose trait the mechanism implements.
    pub family: Family,
    /// What is measured.
    pub measure: Measure,
    /// Its name in files, records and tables.
    pub mechanism: &'static str,
    /// One line: what it is, with the manual page or source.
    pub summary: &'static str,
    /// What a reader of a table with it must know, or nothing: it is printed below each of them.
    pub note: &'static str,
    /// Whom it can serve.
    pub reach: Reach,
    /// Axes that only some mechanisms have, with the value that a matrix gets when it names none.
    pub extra_axes: &'static [(Axis, &'static str)],
    /// Whether its objects live in an IPC namespace (System V objects, POSIX queues).
    pub private_ipc: bool,
    /// Whether this machine has what the mechanism is made of (a call of a newer kernel, a library), and
    /// why not. Looked at in the process of a visit, before the cell is opened.
    pub present: fn() -> Result<(), Unavailable>,
    /// Whether this machine has what that cell needs beside its limits (room on a disk, a daemon that the cell
    /// names), and why not. Looked at likewise; it changes nothing.
    pub usable: fn(&Cell) -> Result<(), Unavailable>,
    /// Limits of the kernel that this cell needs.
    pub limits: fn(&Cell) -> Vec<Limit>,
    /// What an operation costs about, in nanoseconds, for `plan --exact` and its deadlines only.
    pub rough_op_ns: fn(&Cell) -> u64,
    /// Opens the cells of one visit, before any worker starts: one cell, or of a measure that is visited together
    /// ([`Measure::visited_together`]) all that differ in nothing but the mechanism.
    pub open: fn(&[Cell]) -> io::Result<Box<dyn Workload>>,
}

/// The cell of a visit to one alone.
///
/// # Errors
/// `InvalidInput` where there are more or none.
pub fn alone(cells: &[Cell]) -> io::Result<&Cell> {
    match cells {
        [cell] => Ok(cell),
        _ => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("cells of this measure are visited one by one, not {} together", cells.len()),
        )),
    }
}

impl Driver {
    /// A driver with nothing of its own: no note, no axes, no private IPC namespace, no limits; for threads and processes, on
    /// every machine; a microsecond an operation. What is otherwise is set by struct update.
    pub const fn plain(
        family: Family,
        measure: Measure,
        mechanism: &'static str,
        summary: &'static str,
        open: fn(&[Cell]) -> io::Result<Box<dyn Workload>>,
    ) -> Driver {
        Driver {
            family,
            measure,
            mechanism,
            summary,
            note: "",
            reach: Reach::Both,
            extra_axes: &[],
            private_ipc: false,
            present: || Ok(()),
            usable: |_| Ok(()),
            limits: |_| Vec::new(),
            rough_op_ns: |_| 1_000,
            open,
        }
    }

    /// Whether cells of this driver have the axis.
    pub fn has_axis(&self, axis: Axis) -> bool {
        matches!(axis, Axis::Measure | Axis::Mechanism)
            || self.measure.axes().iter().any(|(own, _)| *own == axis)
            || self.extra_axes.iter().any(|(own, _)| *own == axis)
    }
}

/// A set of drivers. The program's own is [`Catalog::shipped`]; tests add hostile ones.
#[derive(Clone)]
pub struct Catalog {
    drivers: Vec<&'static Driver>,
}

impl Catalog {
    /// Every driver of the program, family by family.
    pub fn shipped() -> Catalog {
        let families = [
            crate::transport::DRIVERS,
            crate::lock::DRIVERS,
            crate::readiness::DRIVERS,
            crate::operation::DRIVERS,
            crate::log::DRIVERS,
        ];
        let drivers = families.into_iter().flatten().collect();
        Catalog { drivers }
    }

    /// A catalog of these drivers alone.
    pub fn of(drivers: &'static [Driver]) -> Catalog {
        Catalog { drivers: drivers.iter().collect() }
    }

    /// This catalog with more drivers.
    pub fn with(mut self, more: &'static [Driver]) -> Catalog {
        self.drivers.extend(more);
        self
    }

    /// Every driver.
    pub fn drivers(&self) -> impl Iterator<Item = &'static Driver> + '_ {
        self.drivers.iter().copied()
    }

    /// The driver of that measure and mechanism.
    pub fn find(&self, measure: Measure, mechanism: &str) -> Option<&'static Driver> {
        self.drivers().find(|driver| driver.measure == measure && driver.mechanism == mechanism)
    }
}
