//! Increment: every worker takes the lock, adds one to a shared counter, and lets go, `ops` times.
//!
//! The counter is a relaxed load and a relaxed store, not an atomic addition: two workers inside at
//! once lose an update, and the count at the end of the batch shows it.

use super::Lock;
use crate::cell::{Axis, Cell};
use crate::sys::memory::SharedPair;
use crate::workload::{Batch, Body, Effective, Proof, Tally, Workload, mismatch};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// Increments of one counter under one lock.
pub struct Increment<L> {
    shared: SharedPair<L, AtomicU64>,
    workers: usize,
}

impl<L: Lock> Increment<L> {
    /// Builds lock and counter in memory that all workers share.
    ///
    /// # Errors
    /// mmap(2), or what the lock needs.
    pub fn open(cell: &Cell) -> io::Result<Increment<L>> {
        let shared = SharedPair::build(L::init, AtomicU64::new(0))?;
        Ok(Increment { shared, workers: cell.count(Axis::Workers) as usize })
    }
}

struct Worker<'a, L> {
    lock: &'a L,
    counter: &'a AtomicU64,
}

impl<L: Lock> Body for Worker<'_, L> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        for _ in 0..ops {
            self.lock.exclusive(|| {
                self.counter.store(self.counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            })?;
        }
        Ok(Tally::default())
    }
}

impl<L: Lock> Workload for Increment<L> {
    fn workers(&self) -> usize {
        self.workers
    }

    fn enter(&self, _worker: usize) -> io::Result<Box<dyn Body + '_>> {
        Ok(Box::new(Worker { lock: self.shared.first(), counter: self.shared.second() }))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    fn contended(&self) -> bool {
        self.workers > 1
    }

    fn verify(&self, batch: &Batch) -> io::Result<()> {
        let expected = batch.total_ops * self.workers as u64;
        let counted = self.shared.second().load(Ordering::Relaxed);
        if counted == expected {
            return Ok(());
        }
        Err(mismatch(format!(
            "the counter is {counted} after {} workers x {} increments, not {expected}: updates were lost, \
             the lock let two in at once",
            self.workers, batch.total_ops
        )))
    }

    fn verify_proof(&self, _proofs: &[Proof]) -> io::Result<()> {
        Ok(())
    }

    fn effective(&self) -> Effective {
        Effective::new()
    }
}
