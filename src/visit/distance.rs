//! How far two CPUs are from each other: a cache line goes from one to the other and back. The host of a virtual machine may
//! move its CPUs, so this is asked before and after what is measured on two of them.
//!
//! Two processes play it, forked before the workers start and ended after them, so that the process of the visit has one
//! thread until then. They sleep while anything is measured.

use super::control::{Control, Order, collect};
use super::placement::Placement;
use super::refusal::Refusal;
use super::spawn;
use crate::measure::clock::{Deadline, monotonic_ns};
use crate::measure::stats::median;
use crate::sys::memory::SharedPair;
use crate::workload::{Batch, Body, Tally, Workload};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

/// The phase of a failure here.
const PHASE: &str = "ping-pong";
/// The median of so many pieces counts: a program that takes one of the CPUs for a while spoils some of them.
const PIECES: usize = 8;
/// Ways there and back in each piece: 0.2 to 1 ms for all pieces.
const TRIPS: u64 = 256;
/// Looks at the line before the CPU is offered to others: the other player may be kept from its own.
const LOOKS_A_TURN: u32 = 10_000;

/// Who asks.
#[derive(Clone, Copy)]
pub struct Probe<'a> {
    line: &'a Line,
    controls: &'a [Control],
}

impl Probe<'_> {
    /// Nanoseconds in which the line goes there and back now.
    ///
    /// # Errors
    /// A player that is gone, or `deadline` when time is up.
    pub fn ns(&self, deadline: Deadline) -> Result<f64, Refusal> {
        self.order(&Order::Run(TRIPS))?;
        collect(self.controls, 0, deadline, PHASE)?;
        Ok(f64::from_bits(self.line.shared.second().load(Ordering::Acquire)))
    }

    fn order(&self, order: &Order) -> Result<(), Refusal> {
        let mut sent = self.controls.iter().map(|control| control.send(order));
        sent.try_for_each(|sent| sent.map_err(|error| Refusal::failed(PHASE, error)))
    }
}

/// Does that with a probe of the two CPUs of the placement; without one where it has not just two or none is wanted.
///
/// # Errors
/// Those of `within`, or players that could not be started or did not end well.
pub fn probed<R>(
    placement: &Placement,
    wanted: bool,
    deadline: Deadline,
    within: impl FnOnce(Option<Probe>) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let Some(pair) = placement.pair().filter(|_| wanted) else { return within(None) };
    let line = Line::new().map_err(|error| Refusal::failed(PHASE, error))?;
    spawn::with_workers(&line, &pair, "processes", None, |controls| {
        collect(controls, 0, deadline, PHASE)?;
        let probe = Probe { line: &line, controls };
        let done = within(Some(probe))?;
        probe.order(&Order::Leave)?;
        Ok(done)
    })
}

/// The line, and beside it what was measured last: nanoseconds there and back, as the bits of a number.
struct Line {
    shared: SharedPair<AtomicU64, AtomicU64>,
}

impl Line {
    fn new() -> io::Result<Line> {
        let build = |place: &mut std::mem::MaybeUninit<AtomicU64>| {
            place.write(AtomicU64::new(0));
            Ok(())
        };
        Ok(Line { shared: SharedPair::build(build, AtomicU64::new(0))? })
    }

    /// Waits until the line holds that.
    fn await_turn(&self, turn: u64) {
        let mut looks = 0;
        while self.shared.first().load(Ordering::Acquire) != turn {
            looks += 1;
            if looks % LOOKS_A_TURN == 0 {
                std::thread::yield_now();
            }
        }
    }

    /// Sends the line there and has it back, so many times.
    fn serve(&self, turn: &mut u64, trips: u64) {
        for _ in 0..trips {
            self.shared.first().store(*turn + 1, Ordering::Release);
            *turn += 2;
            self.await_turn(*turn);
        }
    }

    /// Has the line and sends it back, so many times.
    fn return_it(&self, turn: &mut u64, trips: u64) {
        for _ in 0..trips {
            self.await_turn(*turn + 1);
            *turn += 2;
            self.shared.first().store(*turn, Ordering::Release);
        }
    }
}

impl Workload for Line {
    fn workers(&self) -> usize {
        2
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        Ok(Box::new(Player { line: self, serves: worker == 0, turn: 0 }))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    fn meets(&self) -> bool {
        true
    }

    fn verify(&self, _batch: &Batch) -> io::Result<()> {
        Ok(())
    }
}

struct Player<'a> {
    line: &'a Line,
    serves: bool,
    /// What the line holds between two batches.
    turn: u64,
}

impl Body for Player<'_> {
    fn run(&mut self, trips: u64) -> io::Result<Tally> {
        if !self.serves {
            self.line.return_it(&mut self.turn, PIECES as u64 * trips);
            return Ok(Tally::default());
        }
        let mut pieces = [0.0; PIECES];
        for piece in &mut pieces {
            let begin_ns = monotonic_ns();
            self.line.serve(&mut self.turn, trips);
            *piece = (monotonic_ns() - begin_ns) as f64 / trips as f64;
        }
        let ns = median(&pieces).unwrap_or_default();
        self.line.shared.second().store(ns.to_bits(), Ordering::Release);
        Ok(Tally::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trip_goes_there_and_back() {
        let line = Line::new().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| Player { line: &line, serves: false, turn: 0 }.run(7).unwrap());
            Player { line: &line, serves: true, turn: 0 }.run(7).unwrap();
        });
        assert_eq!(line.shared.first().load(Ordering::Acquire), 2 * 7 * PIECES as u64);
        let ns = f64::from_bits(line.shared.second().load(Ordering::Acquire));
        assert!(ns > 1.0, "no line crosses in {ns} ns");
    }
}
