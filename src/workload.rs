//! What the runner and the visit know of a measure: workers that do operations, and what must hold then.
//!
//! A [`Workload`] is opened once a visit, before any worker starts. Each worker calls
//! [`Workload::enter`] and gets a [`Body`]; one dynamic call runs a whole batch, so that no
//! operation pays for one. The loops inside are generic over the mechanism.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// Parameters in force, by name, as the system reports them (not as they were asked for).
pub type Effective = BTreeMap<String, serde_json::Value>;

/// The worker of a serve cell that is the server; the other drives the clients.
pub const SERVER: usize = 0;

/// What a worker did in one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// Payload bytes sent or received.
    pub bytes: u64,
    /// System calls that moved them.
    pub calls: u64,
    /// Calls of a mechanism that waits for many; in workers that serve.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub waits: Option<u64>,
    /// Half of the requests took no longer, in nanoseconds; in workers that time each request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request_p50_ns: Option<u64>,
    /// 99 of 100 requests took no longer, in nanoseconds; in workers that time each request.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub request_p99_ns: Option<u64>,
    /// Operations that a second thread of the worker's process did meanwhile, where one works too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub beside_ops: Option<u64>,
    /// Lines that could not be handed over without waiting, and were dropped; in workers that log.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub refused: Option<u64>,
}

impl Tally {
    /// What a worker did that moved so many bytes by so many system calls.
    pub fn moved(bytes: u64, calls: u64) -> Tally {
        Tally { bytes, calls, ..Tally::default() }
    }
}

/// What came of the lines that all workers logged in one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delivery {
    /// Lines that were to be logged.
    pub attempted: u64,
    /// Of these, lines that were dropped because handing them over would have meant to wait.
    pub refused: u64,
    /// Lines that came to a daemon that counts them.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub received: Option<u64>,
    /// Of these, lines that it dropped to keep its limit.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limited: Option<u64>,
    /// Lines that do not stand in the file, whole, once at least.
    pub lost: u64,
    /// Whole lines too many: those that stand there again, or that nobody wrote.
    pub doubled: u64,
    /// Whole lines of an earlier batch, which counted them as lost; older journals count them as doubled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late: Option<u64>,
    /// Whole lines behind a later one of the same worker.
    pub reordered: u64,
    /// Lines of the file that are no whole line.
    pub torn: u64,
}

/// What a worker saw in the untimed pass that checks every byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Proof {
    /// Bytes sent or received and checked.
    pub bytes: u64,
    /// CRC-32 (IEEE) of those bytes in order.
    pub crc32: u32,
}

/// When what a worker handed over in a batch had been dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drained {
    /// It hands nothing over.
    NothingToTell,
    /// With the batch itself.
    AtOnce,
    /// Just now.
    Now,
    /// Nobody can tell.
    Unknown,
}

/// The part of one worker.
pub trait Body {
    /// Before each batch, outside any clock: sees to it that what takes part beside the workers does.
    ///
    /// # Errors
    /// Why it does not.
    fn before_batch(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Does exactly `ops` operations. Allocates, prints, locks or reads a clock for none of them; only clients
    /// whose single requests are timed read it, once each.
    ///
    /// # Errors
    /// The system call that failed, or `InvalidData` where a message was not the expected one.
    fn run(&mut self, ops: u64) -> io::Result<Tally>;

    /// Whether there is something to do in [`Body::twin`].
    fn has_twin(&self) -> bool {
        false
    }

    /// The loop of [`Body::run`] without the operation: what it takes is the overhead of the loop. Timed apart, after
    /// each batch.
    ///
    /// # Errors
    /// As [`Body::run`].
    fn twin(&mut self, _ops: u64) -> io::Result<()> {
        Ok(())
    }

    /// After each batch and its twin, outside any clock: checks what the loop had no time for, and leaves things as the next
    /// batch wants to find them.
    ///
    /// # Errors
    /// The system call that failed, or `InvalidData` where the work was not done.
    fn after_batch(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// After each batch, its own time read already: waits until what this worker handed over has been dealt with.
    ///
    /// # Errors
    /// The system call that failed, or that whoever was to deal with it is gone.
    fn drain(&mut self) -> io::Result<Drained> {
        Ok(Drained::NothingToTell)
    }

    /// The untimed pass that checks every byte. Measures that prove themselves otherwise do nothing.
    ///
    /// # Errors
    /// As [`Body::run`].
    fn prove(&mut self) -> io::Result<Proof> {
        Ok(Proof::default())
    }

    /// Untimed: begins the next cell of a visit to several, with what this worker has open. The first is begun
    /// by [`Workload::enter`].
    ///
    /// # Errors
    /// The system call that failed; `Unsupported` where the visit has one cell.
    fn take_part(&mut self, _part: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Untimed, after the last sample of a cell: what must still hold, where only the worker can see it.
    ///
    /// # Errors
    /// `InvalidData` with what was expected and what was found.
    fn conclude(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// One batch as the coordinator saw it, for [`Workload::verify`].
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Operations a worker in this batch.
    pub ops: u64,
    /// Operations a worker in all batches of this visit, this one included.
    pub total_ops: u64,
    /// One tally a worker, in the order of the workers.
    pub tallies: &'a [Tally],
}

/// What the runner makes workers of. It is opened in the coordinator before any worker starts and is
/// seen by each through shared memory, inherited descriptors, or as the same object (threads).
pub trait Workload: Sync {
    /// How many workers take part.
    fn workers(&self) -> usize;

    /// In the worker, before any clock: open handles, allocate and touch buffers.
    ///
    /// # Errors
    /// The system call that failed.
    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>>;

    /// Whether this worker's clock readings count. Elapsed time is the latest end less the earliest
    /// begin over the workers that are timed.
    fn timed(&self, worker: usize) -> bool;

    /// Whether workers wait for each other, so that interference may also make them faster and the
    /// minimum would lie.
    fn contended(&self) -> bool {
        false
    }

    /// Whether the median of a visit's samples leads though nothing else says so.
    fn median_leads(&self) -> bool {
        false
    }

    /// Whether workers meet at a gate before the clock is read, so that they begin together.
    fn meets(&self) -> bool {
        self.contended()
    }

    /// Where one operation alone is measured, how many are made before it in the visit: nothing is calibrated, warmed
    /// up or repeated then.
    fn calls_before(&self) -> Option<u64> {
        None
    }

    /// The fewest operations of a batch, so that filling the channel is not the result.
    fn least_ops(&self) -> u64 {
        1
    }

    /// The longest that a batch need be, in nanoseconds, where it shows as much as the longer one that is usual.
    fn longest_batch_ns(&self) -> u64 {
        u64::MAX
    }

    /// In the coordinator, when the operations of a batch are known: is there room for what it makes (a file)?
    ///
    /// # Errors
    /// An `Unavailable` inside, with how much is missing and what helps: the cell is unavailable then.
    fn has_room(&self, _ops: u64) -> io::Result<()> {
        Ok(())
    }

    /// In the coordinator, after every batch: what must hold now?
    ///
    /// # Errors
    /// `InvalidData` with what was expected and what was found.
    fn verify(&self, batch: &Batch) -> io::Result<()>;

    /// In the coordinator, after every batch: how many increments of all batches of `total_ops` operations a
    /// worker got lost, where nothing prevents that and the loss is the result; else `None`.
    fn lost_updates(&self, _total_ops: u64) -> Option<u64> {
        None
    }

    /// The process that works for the workers and is none of them, where there is one: its CPU time is recorded.
    fn daemon(&self) -> Option<i32> {
        None
    }

    /// In the coordinator, after every batch that verified: what came of its lines, where it has some.
    fn delivery(&self) -> Option<Delivery> {
        None
    }

    /// In the coordinator, after the untimed pass: do the two sides agree? Measures that prove themselves otherwise
    /// have nothing to compare.
    ///
    /// # Errors
    /// `InvalidData` with what was expected and what was found.
    fn verify_proof(&self, _proofs: &[Proof]) -> io::Result<()> {
        Ok(())
    }

    /// Parameters in force, where the workload has some.
    fn effective(&self) -> Effective {
        Effective::new()
    }
}

/// The error of a check that did not hold.
pub fn mismatch(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}
