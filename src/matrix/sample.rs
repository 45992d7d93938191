//! Drivers that the tests of this room need; none is ever opened.

use crate::catalog::{Catalog, Driver, Family, Reach};
use crate::cell::{Axis, Measure};
use std::io;

const fn transport(mechanism: &'static str, extra_axes: &'static [(Axis, &'static str)]) -> Driver {
    Driver {
        family: Family::Transport,
        measure: Measure::Bandwidth,
        mechanism,
        note: "",
        summary: "a transport of the tests",
        reach: Reach::Both,
        extra_axes,
        private_ipc: false,
        present: || Ok(()),
        limits: |_| Vec::new(),
        rough_op_ns: |_| 1,
        open: |_| Err(io::ErrorKind::Unsupported.into()),
    }
}

const fn lock(mechanism: &'static str, reach: Reach) -> Driver {
    Driver {
        family: Family::Lock,
        measure: Measure::Increment,
        mechanism,
        note: "",
        summary: "a lock of the tests",
        reach,
        extra_axes: &[],
        private_ipc: false,
        present: || Ok(()),
        limits: |_| Vec::new(),
        rough_op_ns: |_| 1,
        open: |_| Err(io::ErrorKind::Unsupported.into()),
    }
}

static DRIVERS: &[Driver] = &[
    transport("pipe", &[(Axis::CapacityBytes, "0")]),
    transport("queue", &[]),
    transport("tcp", &[(Axis::Nodelay, "off"), (Axis::CapacityBytes, "0")]),
    lock("mutex", Reach::Both),
    lock("thread_mutex", Reach::Threads),
    lock("record_lock", Reach::Processes),
];

/// Three transports and three locks, one of each reach.
pub(super) fn catalog() -> Catalog {
    Catalog::of(DRIVERS)
}
