//! Repeat: a worker does one operation again and again, in a process with or without a second thread. The op is one of them.

use super::Operation;
use super::companion::Companion;
use super::rounds::rounds;
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell, SINGLE};
use crate::sys::{affinity, process};
use crate::workload::{Batch, Body, Tally, Workload, mismatch};
use nix::sched::sched_getcpu;
use std::convert::Infallible;
use std::hint::black_box;
use std::io;
use std::marker::PhantomData;

/// What other thread the process of a worker has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// None, and it never had one.
    Single,
    /// One that sleeps.
    Parked,
    /// One that does the same, on another CPU.
    Working,
}

impl State {
    fn of(cell: &Cell) -> io::Result<State> {
        match cell.word(Axis::ProcessState) {
            SINGLE => Ok(State::Single),
            "parked" => Ok(State::Parked),
            "working" => Ok(State::Working),
            other => {
                let text = format!("`{other}` is no value of {}", Axis::ProcessState);
                Err(io::Error::new(io::ErrorKind::InvalidInput, text))
            }
        }
    }
}

/// Why a combination of axes is not measured, and what to choose instead.
pub fn limits(cell: &Cell) -> Vec<Limit> {
    let Ok(state) = State::of(cell) else { return Vec::new() };
    let several = cell.count(Axis::Workers) > 1;
    let threads = cell.word(Axis::Spawn) == "threads";
    let one_cpu = || affinity::allowed_cpus().is_ok_and(|cpus| cpus.len() < 2);
    let (reason, remedy) = match state {
        State::Single if threads => (
            "a worker that is a thread has the coordinator's beside it, so its process is not single",
            "choose spawn = processes, or process_state = parked",
        ),
        _ if several && !threads => (
            "workers that are processes share nothing that an operation could wait for",
            "choose spawn = threads with process_state = parked, or workers = 1",
        ),
        State::Working if several => {
            ("with several workers the others are the threads that work", "choose process_state = parked")
        }
        State::Working if cell.word(Axis::Placement) == "free" => (
            "the second thread that works has a CPU of its own, which a worker that may run anywhere can come to",
            "choose placement = same_cpu",
        ),
        State::Working if one_cpu() => (
            "the second thread that works needs a CPU of its own, and the process may run on one only (affinity)",
            "run with more CPUs allowed, e.g. `taskset -c 0,1 ipcmatrix run ...`",
        ),
        _ => return Vec::new(),
    };
    vec![Limit { name: LimitName::Refused { reason, remedy }, needs: 1 }]
}

/// Workers that repeat `O`.
pub struct Repeat<O> {
    state: State,
    depth: u64,
    workers: usize,
    /// The CPUs that this process may use; a worker that is pinned sees only its own.
    allowed: Vec<usize>,
    threads: bool,
    operation: PhantomData<fn() -> O>,
}

impl<O: Operation> Repeat<O> {
    /// Looks at the cell and at the CPUs; everything is opened by the worker.
    ///
    /// # Errors
    /// `InvalidInput` for a value that no axis has; sched_getaffinity(2).
    pub fn open(cell: &Cell) -> io::Result<Repeat<O>> {
        Ok(Repeat {
            state: State::of(cell)?,
            depth: cell.count(Axis::Depth),
            workers: cell.count(Axis::Workers) as usize,
            allowed: affinity::allowed_cpus()?,
            threads: cell.word(Axis::Spawn) == "threads",
            operation: PhantomData,
        })
    }

    fn second_thread(&self) -> io::Result<Option<Companion>> {
        match self.state {
            State::Single => Ok(None),
            // The coordinator's thread sleeps in poll(2) while a batch runs.
            State::Parked if self.threads => Ok(None),
            State::Parked => Companion::parked().map(Some),
            State::Working => {
                let own = sched_getcpu()?;
                let other = self.allowed.iter().rev().find(|cpu| **cpu != own);
                let other = other.ok_or_else(|| io::Error::other("there is no CPU for the second thread"))?;
                Companion::working::<O>(*other, self.depth).map(Some)
            }
        }
    }
}

/// A second thread that is working when a batch of so many operations begins does one meanwhile, unless it loses its CPU
/// just then.
const ENOUGH_OPS: u64 = 100;

/// One worker.
struct Worker<O> {
    operation: O,
    state: State,
    companion: Option<Companion>,
    /// Operations of the last batch.
    ops: u64,
    /// Batches of [`ENOUGH_OPS`] and more.
    batches: u64,
    /// Those of them during which a second thread that should work did something.
    accompanied: u64,
}

impl<O: Operation> Worker<O> {
    /// Whether the process has the threads that the cell asks for.
    fn check_threads(&self) -> io::Result<()> {
        let threads = process::threads()?;
        if (threads == 1) == (self.state == State::Single) {
            return Ok(());
        }
        Err(mismatch(format!(
            "this process has {threads} thread(s), which is not process_state {:?}",
            self.state
        )))
    }

    fn done_beside(&self) -> Option<u64> {
        self.companion.as_ref().and_then(Companion::done)
    }
}

impl<O: Operation> Body for Worker<O> {
    /// A second thread that works must be at it when the batch begins.
    fn before_batch(&mut self) -> io::Result<()> {
        self.companion.as_mut().map_or(Ok(()), Companion::is_at_work)
    }

    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        let before = self.done_beside();
        rounds(ops, || self.operation.once())?;
        let beside_ops = before.zip(self.done_beside()).map(|(before, after)| after - before);
        self.ops = ops;
        self.batches += u64::from(ops >= ENOUGH_OPS);
        self.accompanied += u64::from(ops >= ENOUGH_OPS && beside_ops != Some(0));
        Ok(Tally { beside_ops, ..Tally::default() })
    }

    fn has_twin(&self) -> bool {
        true
    }

    fn twin(&mut self, ops: u64) -> io::Result<()> {
        let nothing = || -> Result<(), Infallible> {
            black_box(());
            Ok(())
        };
        let Ok(()) = rounds(ops, nothing);
        Ok(())
    }

    fn after_batch(&mut self) -> io::Result<()> {
        self.operation.check(self.ops)
    }

    fn conclude(&mut self) -> io::Result<()> {
        if self.accompanied * 2 < self.batches {
            return Err(mismatch(format!(
                "the second thread worked during {} of {} batches: something else has its CPU",
                self.accompanied, self.batches
            )));
        }
        self.check_threads()
    }
}

impl<O: Operation> Workload for Repeat<O> {
    fn workers(&self) -> usize {
        self.workers
    }

    fn enter(&self, _worker: usize) -> io::Result<Box<dyn Body + '_>> {
        let worker = Worker {
            companion: self.second_thread()?,
            operation: O::enter(self.depth)?,
            state: self.state,
            ops: 0,
            batches: 0,
            accompanied: 0,
        };
        // A second thread is looked at before each batch; one that has ended can say why.
        if self.state == State::Single {
            worker.check_threads()?;
        }
        Ok(Box::new(worker))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    /// Beside a second thread that works a sample is fastest when that thread has lost its CPU: the fastest would be the one
    /// that shows least of it. States and numbers of workers are compared, so the same number leads in all.
    fn median_leads(&self) -> bool {
        true
    }

    fn contended(&self) -> bool {
        self.workers > 1
    }

    /// Each worker checked its own.
    fn verify(&self, _batch: &Batch) -> io::Result<()> {
        Ok(())
    }
}
