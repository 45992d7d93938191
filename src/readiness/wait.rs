//! Wait: calls on given descriptors, by one worker. The op is one call.
//!
//! Each call must tell of exactly as many descriptors as are ready, which the timed loop checks, and of the one
//! that was made ready where it is one; who all of many are is checked after each batch.

use super::watched::{Kind, OWN_DESCRIPTORS, Watched, numbers};
use super::{Patience, Readiness, Rearm};
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell};
use crate::workload::{Batch, Body, Tally, Workload, mismatch};
use std::hint::black_box;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, RawFd};

/// Which of the watched descriptors are ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    /// All, all the time.
    All,
    /// One at a time, drawn for each call.
    Random,
    /// The one that was watched first.
    First,
    /// The one that was watched last.
    Last,
}

/// What a cell asks for.
#[derive(Clone, Copy, Debug)]
struct Plan {
    descriptors: u64,
    highest: u64,
    ready: Ready,
    kind: Kind,
    /// Calls before the one that is measured; `None` measures many.
    calls_before: Option<u64>,
    printed: bool,
}

impl Plan {
    fn of(cell: &Cell) -> io::Result<Plan> {
        let unknown = |axis: Axis| {
            let text = format!("`{}` is no value of {axis}", cell.word(axis));
            io::Error::new(io::ErrorKind::InvalidInput, text)
        };
        Ok(Plan {
            descriptors: cell.count(Axis::Descriptors).max(1),
            highest: cell.count(Axis::HighestDescriptor),
            ready: match cell.word(Axis::Ready) {
                "all" => Ready::All,
                "random" => Ready::Random,
                "first" => Ready::First,
                "last" => Ready::Last,
                _ => return Err(unknown(Axis::Ready)),
            },
            kind: Kind::named(cell.word(Axis::File)).ok_or_else(|| unknown(Axis::File))?,
            calls_before: match cell.word(Axis::Call) {
                "many" => None,
                "first" => Some(0),
                "second" => Some(1),
                _ => return Err(unknown(Axis::Call)),
            },
            printed: cell.word(Axis::Variant) == PRINTED,
        })
    }
}

/// The word of the axis `variant` for what Linux Application Development prints.
const PRINTED: &str = "as_printed";

/// How the program that Linux Application Development prints in 13.1.4 calls a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// It passes no descriptor (`nfds` is 0), so nothing is ever ready.
    NoDescriptor,
    /// It passes no time, so the call would wait without end if nothing were ready.
    NoTime,
}

/// Calls of a mechanism.
pub struct Wait<R> {
    plan: Plan,
    readiness: PhantomData<fn() -> R>,
}

impl<R: Readiness> Wait<R> {
    /// Looks at the plan; everything is opened by the worker.
    ///
    /// # Errors
    /// `InvalidInput` for a value that no axis has.
    pub fn open(cell: &Cell) -> io::Result<Wait<R>> {
        Ok(Wait { plan: Plan::of(cell)?, readiness: PhantomData })
    }
}

/// What a cell of `R` needs of the kernel.
pub fn limits<R: Readiness>(cell: &Cell) -> Vec<Limit> {
    let refused = |reason, remedy| vec![Limit { name: LimitName::Refused { reason, remedy }, needs: 1 }];
    let Ok(plan) = Plan::of(cell) else { return Vec::new() };
    if let Some(reason) = R::REFUSES_DEVICES.filter(|_| plan.kind.is_always_ready()) {
        return refused(reason, "choose file = eventfd or pipe");
    }
    if plan.kind.is_always_ready() && plan.ready != Ready::All {
        return refused("/dev/zero and /dev/null can always be read", "choose ready = all, or another file");
    }
    if plan.printed && R::PRINTED.is_none() {
        return refused(
            "Linux Application Development prints a program for select and poll only",
            "choose variant = as_meant",
        );
    }
    if numbers(plan.descriptors, plan.highest).is_err() {
        return refused(
            "there are not so many numbers between 64, below which are our own descriptors, and the highest",
            "choose a higher highest_descriptor, or fewer descriptors",
        );
    }
    let at_once = plan.descriptors * plan.kind.descriptors_each() + OWN_DESCRIPTORS;
    vec![Limit { name: LimitName::RlimitNofile, needs: at_once.max(plan.highest + 1) }]
}

/// What a call of `R` costs about, in nanoseconds.
pub fn rough_op_ns(cell: &Cell) -> u64 {
    500 + 50 * cell.count(Axis::Descriptors) + cell.count(Axis::HighestDescriptor) / 2
}

/// The worker: the mechanism, what it watches, and what each call must tell.
struct Waiter<R> {
    readiness: R,
    watched: Vec<Watched>,
    plan: Plan,
    patience: Patience,
    /// How many descriptors each call must tell of.
    expected: usize,
    /// State of the drawing.
    seed: u64,
    told: Vec<RawFd>,
}

impl<R: Readiness> Waiter<R> {
    fn enter(plan: Plan) -> io::Result<Waiter<R>> {
        let printed = R::PRINTED.filter(|_| plan.printed);
        let numbers = numbers(plan.descriptors, plan.highest)?;
        // The watched come first, so that what a mechanism opens for itself has none of their numbers.
        let watched: Vec<Watched> =
            numbers.into_iter().map(|number| Watched::open(plan.kind, number)).collect::<io::Result<_>>()?;
        let mut readiness = R::open(watched.len())?;
        for one in &watched {
            if plan.ready == Ready::All && !plan.kind.is_always_ready() {
                one.make_ready()?;
            }
            if printed != Some(Printed::NoDescriptor) {
                readiness.watch(one.as_fd())?;
            }
        }
        let told = Vec::with_capacity(watched.len());
        let (patience, expected) = match (printed, plan.ready) {
            (Some(Printed::NoDescriptor), _) => (Patience::None, 0),
            (Some(Printed::NoTime), _) => (Patience::Endless, watched.len()),
            (None, Ready::All) => (Patience::None, watched.len()),
            (None, _) => (Patience::Endless, 1),
        };
        Ok(Waiter { readiness, watched, plan, patience, expected, seed: SEED, told })
    }

    /// The place of the one that is ready next.
    #[inline]
    fn draw(&mut self) -> usize {
        let count = self.watched.len();
        match self.plan.ready {
            Ready::All | Ready::First => 0,
            Ready::Last => count - 1,
            Ready::Random => {
                // Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003).
                self.seed ^= self.seed << 13;
                self.seed ^= self.seed >> 7;
                self.seed ^= self.seed << 17;
                ((u128::from(self.seed) * count as u128) >> 64) as usize
            }
        }
    }

    /// One call that must tell of that many. In its loop always: where it is not, each turn computes a time.
    #[inline(always)]
    fn call(&mut self, patience: Patience) -> io::Result<()> {
        let told = self.readiness.wait(patience)?;
        if told == self.expected { Ok(()) } else { Err(self.wrong_count(told)) }
    }

    #[cold]
    fn wrong_count(&self, told: usize) -> io::Error {
        mismatch(format!("{} told of {told} descriptors, {} are ready", R::NAME, self.expected))
    }

    /// Calls while all are ready. A loop for each patience, as a program that is written for one has it.
    fn calls(&mut self, ops: u64) -> io::Result<()> {
        match self.patience {
            Patience::None => self.calls_with(Patience::None, ops),
            Patience::Milliseconds(_) | Patience::Endless => self.calls_with(self.patience, ops),
        }
    }

    #[inline(always)]
    fn calls_with(&mut self, patience: Patience, ops: u64) -> io::Result<()> {
        for _ in 0..ops {
            self.call(patience)?;
            if R::REARM != Rearm::Never {
                self.rearm_all()?;
            }
        }
        Ok(())
    }

    fn rearm_all(&mut self) -> io::Result<()> {
        self.watched.iter().try_for_each(|one| self.readiness.rearm(one.as_fd()))
    }

    /// Calls of which each finds another one ready, made so before it and read empty after it.
    fn turns(&mut self, ops: u64) -> io::Result<()> {
        for _ in 0..ops {
            let place = self.draw();
            self.watched[place].make_ready()?;
            self.call(Patience::Endless)?;
            if !self.readiness.is_ready(self.watched[place].number()) {
                return Err(self.wrong_one(place));
            }
            self.empty(place)?;
        }
        Ok(())
    }

    #[cold]
    fn wrong_one(&self, place: usize) -> io::Error {
        let number = self.watched[place].number();
        mismatch(format!("{} did not tell of descriptor {number}, which is ready", R::NAME))
    }

    #[inline]
    fn empty(&mut self, place: usize) -> io::Result<()> {
        self.watched[place].empty()?;
        if R::REARM == Rearm::Always {
            self.readiness.rearm(self.watched[place].as_fd())?;
        }
        Ok(())
    }

    /// Whether the last call told of every descriptor that is watched, and of no other.
    fn check_told(&mut self) -> io::Result<()> {
        self.readiness.ready(&mut self.told);
        self.told.sort_unstable();
        let mut watched: Vec<RawFd> = self.watched.iter().map(Watched::number).collect();
        watched.sort_unstable();
        if self.told == watched {
            return Ok(());
        }
        let missing = watched.iter().find(|number| self.told.binary_search(number).is_err());
        let missing = missing.map_or("one twice".to_owned(), |number| format!("not of descriptor {number}"));
        Err(mismatch(format!("{} told of {} descriptors, {missing}", R::NAME, self.told.len())))
    }
}

/// Any number but 0 starts the drawing; the same one in each visit, so that visits do the same.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

impl<R: Readiness> Body for Waiter<R> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        match self.plan.ready {
            Ready::All => self.calls(ops)?,
            Ready::Random | Ready::First | Ready::Last => self.turns(ops)?,
        }
        Ok(Tally::default())
    }

    /// A single call is not repeated, so there is nothing beside it.
    fn has_twin(&self) -> bool {
        let in_call = R::REARMS_IN_CALL && self.plan.ready == Ready::All;
        self.plan.calls_before.is_none() && !in_call
    }

    fn twin(&mut self, ops: u64) -> io::Result<()> {
        for op in 0..ops {
            if self.plan.ready != Ready::All {
                let place = black_box(self.draw());
                self.watched[place].make_ready()?;
                self.empty(place)?;
            } else if R::REARM != Rearm::Never {
                self.rearm_all()?;
            }
            black_box(op);
        }
        Ok(())
    }

    fn after_batch(&mut self) -> io::Result<()> {
        if self.plan.ready == Ready::All {
            return if self.expected == 0 { Ok(()) } else { self.check_told() };
        }
        // What the twin made ready and read empty again may still be noted: a look forgets it.
        if R::TELLS_OF_THE_PAST {
            return self.forget_the_past();
        }
        match self.readiness.wait(Patience::None)? {
            0 => Ok(()),
            told => Err(mismatch(format!("{} told of {told} descriptors, none is ready", R::NAME))),
        }
    }
}

impl<R: Readiness> Waiter<R> {
    /// Looks until nothing of the past can be left: one descriptor may have noted something each, and the kernel works
    /// through a few of them in a look, whether they tell of something or not.
    fn forget_the_past(&mut self) -> io::Result<()> {
        const LEAST_A_LOOK: u64 = 20;
        const MORE: u64 = 2;
        for _ in 0..self.plan.descriptors / LEAST_A_LOOK + MORE {
            self.readiness.wait(Patience::None)?;
        }
        Ok(())
    }
}

impl<R: Readiness> Workload for Wait<R> {
    fn workers(&self) -> usize {
        1
    }

    fn enter(&self, _worker: usize) -> io::Result<Box<dyn Body + '_>> {
        Ok(Box::new(Waiter::<R>::enter(self.plan)?))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    fn calls_before(&self) -> Option<u64> {
        self.plan.calls_before
    }

    /// Each call was checked when it was made.
    fn verify(&self, _batch: &Batch) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
