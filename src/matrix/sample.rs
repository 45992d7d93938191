//! Drivers that the tests of this room need; none is ever opened.

use crate::catalog::{Catalog, Driver, Family, Reach};
use crate::cell::{Axis, Measure};
use std::io;

const fn driver(family: Family, measure: Measure, mechanism: &'static str) -> Driver {
    let summary = "a driver of the tests";
    Driver::plain(family, measure, mechanism, summary, |_| Err(io::ErrorKind::Unsupported.into()))
}

const fn transport(mechanism: &'static str, extra_axes: &'static [(Axis, &'static str)]) -> Driver {
    Driver { extra_axes, ..driver(Family::Transport, Measure::Bandwidth, mechanism) }
}

const fn lock(mechanism: &'static str, reach: Reach) -> Driver {
    Driver { reach, ..driver(Family::Lock, Measure::Increment, mechanism) }
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
