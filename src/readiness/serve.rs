//! Serve: a server that watches every connection, and 10 clients whose requests it answers, while the other
//! connections only stay open. A client sends a request, awaits its reply, and goes on (a closed loop).
//!
//! Server and clients open their ends themselves, after the fork, so that a process holds one end of each
//! connection. They are opened once a visit and shared by all its samples, and by the mechanisms that the visit
//! compares: each watches the same connections, one after the other. All are closed by a reset
//! (`SO_LINGER` 0 at both ends), however a worker ends: thousands of ports in TIME_WAIT would be in the way of
//! the next visit.

mod clients;
mod connections;
mod request;
mod server;
#[cfg(test)]
mod tests;

use super::{Readiness, SERVERS};
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell};
use crate::measure::histogram::STEPS;
use crate::workload::{Batch, Body, Effective, Proof, SERVER, Tally, Workload, mismatch};
use clients::Clients;
use connections::{Doors, connections_of, listeners_of, ports_needed};
use server::Server;
use std::collections::BTreeSet;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Clients that take part.
const CLIENTS: usize = 10;
/// Server and clients.
const WORKERS: usize = 2;
/// Requests of the untimed pass.
const PROOF_REQUESTS: u64 = 200;
/// The fewest requests of a batch. When it begins the server has done its part of the first wait already, and
/// where that is long it must not show: it is one of 40 at least.
const LEAST_OPS: u64 = 400;
/// Some hundred requests of 10 clients show as much as some thousand; the time goes to more visits.
const LONGEST_BATCH_NS: u64 = 10_000_000;
/// Descriptors of a visit beside the connections: standard ones, control channels, those of the mechanism.
const OTHER_DESCRIPTORS: usize = 32;

/// What a request costs about, in nanoseconds.
pub fn rough_op_ns(cell: &Cell) -> u64 {
    20_000 + 20 * cell.count(Axis::IdleConnections)
}

/// Each process holds one end of every connection; one process that has both workers holds both.
pub fn limits(cell: &Cell) -> Vec<Limit> {
    let ends = if cell.word(Axis::Spawn) == "threads" { WORKERS } else { 1 };
    let needs = ends * connections_of(cell) + listeners_of(cell) + OTHER_DESCRIPTORS;
    vec![
        Limit { name: LimitName::RlimitNofile, needs: needs as u64 },
        Limit { name: LimitName::LocalPorts, needs: ports_needed(cell) },
    ]
}

/// The ends of all connections that a process holds, in order.
type Ends = Arc<[OwnedFd]>;
/// Makes a server that watches every connection, which are open and have nothing to say.
pub type MakeServer = fn(Ends) -> io::Result<Box<dyn Body>>;

/// A server that waits by `R`, by the name of it.
pub const fn server<R: Readiness>() -> (&'static str, MakeServer) {
    (R::NAME, |ends| Ok(Box::new(Server::<R>::new(ends)?)))
}

/// A server that waits by one mechanism after the other, and its clients.
pub struct Serve {
    doors: Doors,
    /// Of each part: the mechanism, and how its server is made.
    makers: Vec<(&'static str, MakeServer)>,
}

impl Serve {
    /// Listens, so that both workers know where. The cells differ in the mechanism alone.
    ///
    /// # Errors
    /// socket(2), bind(2), listen(2); `InvalidInput` for a mechanism that serves nobody.
    pub fn open(cells: &[Cell]) -> io::Result<Serve> {
        let first = cells.first().ok_or(io::ErrorKind::InvalidInput)?;
        let makers = cells.iter().map(|cell| maker(cell.mechanism())).collect::<io::Result<_>>()?;
        Ok(Serve { doors: Doors::open(first)?, makers })
    }
}

fn maker(mechanism: &str) -> io::Result<(&'static str, MakeServer)> {
    let unknown = || io::Error::new(io::ErrorKind::InvalidInput, format!("no server waits by {mechanism}"));
    SERVERS.iter().find(|(name, _)| *name == mechanism).copied().ok_or_else(unknown)
}

/// A worker that keeps its connections from cell to cell and begins all else anew.
struct Parts<'a> {
    begin: Box<dyn Fn(usize) -> io::Result<Box<dyn Body>> + 'a>,
    current: Box<dyn Body>,
}

impl<'a> Parts<'a> {
    fn begin(begin: impl Fn(usize) -> io::Result<Box<dyn Body>> + 'a) -> io::Result<Box<dyn Body + 'a>> {
        let current = begin(0)?;
        Ok(Box::new(Parts { begin: Box::new(begin), current }))
    }
}

impl Body for Parts<'_> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        self.current.run(ops)
    }

    fn prove(&mut self) -> io::Result<Proof> {
        self.current.prove()
    }

    fn take_part(&mut self, part: usize) -> io::Result<()> {
        self.current = (self.begin)(part)?;
        Ok(())
    }

    fn conclude(&mut self) -> io::Result<()> {
        self.current.conclude()
    }
}

impl Workload for Serve {
    fn workers(&self) -> usize {
        WORKERS
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        if worker == SERVER {
            let ends: Ends = self.doors.accept_all()?.into();
            return Parts::begin(move |part| (self.makers[part].1)(ends.clone()));
        }
        let ends: Ends = self.doors.connect_all()?.into();
        Parts::begin(move |_| Ok(Box::new(Clients::new(ends.clone())?)))
    }

    fn timed(&self, worker: usize) -> bool {
        worker != SERVER
    }

    fn meets(&self) -> bool {
        true
    }

    fn least_ops(&self) -> u64 {
        LEAST_OPS
    }

    fn longest_batch_ns(&self) -> u64 {
        LONGEST_BATCH_NS
    }

    /// Each request and each reply was checked when it came.
    fn verify(&self, batch: &Batch) -> io::Result<()> {
        let moved = request::tally(batch.ops).bytes;
        match batch.tallies.iter().find(|tally| tally.bytes != moved) {
            Some(tally) => Err(mismatch(format!("{} of {moved} bytes were moved", tally.bytes))),
            None => Ok(()),
        }
    }

    fn effective(&self) -> Effective {
        let mut effective = self.doors.settings();
        // A set: the order of the visit was drawn, and is no setting.
        let names: BTreeSet<&str> = self.makers.iter().map(|(name, _)| *name).collect();
        let names: Vec<&str> = names.into_iter().collect();
        effective.insert("connections_shared_by".into(), names.into());
        effective.insert("request_bytes".into(), request::BYTES.into());
        effective.insert("request_times".into(), "of every request, by one reading of the clock each".into());
        effective.insert("request_times_steps".into(), STEPS.into());
        effective
    }
}
