//! Increment: every worker takes the lock, adds one to a shared counter, and lets go, `ops` times.
//!
//! What an increment is, and what proves that it was done, is the lock's [`super::Counting`]: a relaxed load and a
//! relaxed store where the lock excludes, so that two workers inside at once lose an update and the count at
//! the end of the batch shows it.

use super::Lock;
use super::counting::Counters;
use crate::cell::{Axis, Cell};
use crate::sys::memory::SharedPair;
use crate::workload::{Batch, Body, Tally, Workload};
use std::io;
use std::sync::atomic::AtomicU64;

/// Increments of a counter under one lock.
pub struct Increment<L> {
    shared: SharedPair<L, Counters>,
    workers: usize,
}

impl<L: Lock> Increment<L> {
    /// Builds lock and counters in memory that all workers share.
    ///
    /// # Errors
    /// mmap(2), or what the lock needs.
    pub fn open(cell: &Cell) -> io::Result<Increment<L>> {
        let shared = SharedPair::build(L::init, Counters::new(L::COUNTING))?;
        Ok(Increment { shared, workers: cell.count(Axis::Workers) as usize })
    }

    /// The counter that all workers share.
    #[cfg(test)]
    pub(super) fn counter(&self) -> &AtomicU64 {
        self.shared.second().shared()
    }
}

struct Worker<'a, L> {
    lock: &'a L,
    own_handle: Option<L>,
    shared_counter: &'a AtomicU64,
    own_counter: &'a AtomicU64,
}

impl<L: Lock> Body for Worker<'_, L> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        let lock = self.own_handle.as_ref().unwrap_or(self.lock);
        for _ in 0..ops {
            lock.hold(|| L::COUNTING.add_one(self.shared_counter, self.own_counter))?;
        }
        Ok(Tally::default())
    }
}

impl<L: Lock> Workload for Increment<L> {
    fn workers(&self) -> usize {
        self.workers
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        let (lock, counters) = (self.shared.first(), self.shared.second());
        Ok(Box::new(Worker {
            lock,
            own_handle: lock.own_handle()?,
            shared_counter: counters.shared(),
            own_counter: counters.own(worker),
        }))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    fn contended(&self) -> bool {
        self.workers > 1
    }

    fn verify(&self, batch: &Batch) -> io::Result<()> {
        L::COUNTING.check(self.shared.second(), self.workers, batch.total_ops)
    }

    fn lost_updates(&self, total_ops: u64) -> Option<u64> {
        L::COUNTING.lost(self.shared.second(), self.workers, total_ops)
    }
}
