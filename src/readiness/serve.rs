//! Serve: a server that watches every connection, and 10 clients whose requests it answers, while the other
//! connections only stay open. A client sends a request, awaits its reply, and goes on (a closed loop).
//!
//! Server and clients open their ends themselves, after the fork, so that a process holds one end of each
//! connection. They are opened once a visit and shared by all its samples. All are closed by a reset
//! (`SO_LINGER` 0 at both ends), however a worker ends: thousands of ports in TIME_WAIT would be in the way of
//! the next visit.

mod clients;
mod connections;
mod request;
mod server;
#[cfg(test)]
mod tests;

use super::Readiness;
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell};
use crate::measure::histogram::STEPS;
use crate::workload::{Batch, Body, Effective, Proof, SERVER, Workload, mismatch};
use clients::Clients;
use connections::{Doors, connections_of, listeners_of};
use server::Server;
use std::io;
use std::marker::PhantomData;

/// Clients that take part.
const CLIENTS: usize = 10;
/// Server and clients.
const WORKERS: usize = 2;
/// Requests of the untimed pass.
const PROOF_REQUESTS: u64 = 200;
/// The fewest requests of a batch. When it begins the server has done its part of the first wait already, and
/// where that is long it must not show: it is one of 40 at least.
const LEAST_OPS: u64 = 400;
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
    vec![Limit { name: LimitName::RlimitNofile, needs: needs as u64 }]
}

/// A server that waits by `R`, and its clients.
pub struct Serve<R> {
    doors: Doors,
    mechanism: PhantomData<fn() -> R>,
}

impl<R: Readiness> Serve<R> {
    /// Listens, so that both workers know where.
    ///
    /// # Errors
    /// socket(2), bind(2), listen(2).
    pub fn open(cell: &Cell) -> io::Result<Serve<R>> {
        Ok(Serve { doors: Doors::open(cell)?, mechanism: PhantomData })
    }
}

impl<R: Readiness> Workload for Serve<R> {
    fn workers(&self) -> usize {
        WORKERS
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        Ok(match worker {
            SERVER => Box::new(Server::<R>::new(self.doors.accept_all()?)?),
            _ => Box::new(Clients::new(self.doors.connect_all()?)?),
        })
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

    /// Each request and each reply was checked when it came.
    fn verify(&self, batch: &Batch) -> io::Result<()> {
        let moved = request::tally(batch.ops).bytes;
        match batch.tallies.iter().find(|tally| tally.bytes != moved) {
            Some(tally) => Err(mismatch(format!("{} of {moved} bytes were moved", tally.bytes))),
            None => Ok(()),
        }
    }

    fn verify_proof(&self, _proofs: &[Proof]) -> io::Result<()> {
        Ok(())
    }

    fn effective(&self) -> Effective {
        let mut effective = self.doors.settings();
        effective.insert("request_bytes".into(), request::BYTES.into());
        effective.insert("request_times".into(), "of every request, by one reading of the clock each".into());
        effective.insert("request_times_steps".into(), STEPS.into());
        effective
    }
}
