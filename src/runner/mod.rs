//! The coordinator of a run: rounds and their order, one process a visit, deadlines, the journal. It
//! never measures, and it names no mechanism.

pub mod estimate;
pub mod exact;
pub mod journal;
pub mod process;
pub mod progress;
pub mod schedule;
pub mod signals;

use crate::cell::Cell;
use crate::measure::clock::{Clock, utc_now};
use crate::measure::stats::LEAST_VISITS;
use crate::record::{Effort, End, Header, Outcome, Request, Visit};
use journal::Journal;
use progress::Progress;
use schedule::Schedule;
use signals::Caught;

/// What a run needs beside its header.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How much a visit measures.
    pub effort: Effort,
    /// How much it measures in rounds that would otherwise not leave time for the least visits.
    pub thrifty: Effort,
    /// Rounds that visit every cell, before any is done early.
    pub full_rounds: usize,
    /// No more rounds than this.
    pub most_rounds: usize,
    /// A visit that takes longer than this is ended.
    pub deadline_ms: u64,
    /// With the book's counts: what an operation of each cell costs about, in nanoseconds, in the order of the
    /// header. `None` calibrates.
    pub exact_op_ns: Option<Vec<u64>>,
}

/// Makes a visit. The program's own starts a process; tests script one.
pub trait Visitor {
    /// Makes one visit of one cell.
    ///
    /// # Errors
    /// The signal that came meanwhile; the visit is dropped then.
    fn visit(&mut self, request: &Request) -> Result<Outcome, Caught>;
}

/// What a run gave, whatever ended it.
#[derive(Debug)]
pub struct Ran {
    /// Every visit, in order.
    pub visits: Vec<Visit>,
    /// How it ended.
    pub end: End,
    /// The signal that ended it.
    pub caught: Option<Caught>,
    /// Why the journal could not be written any more.
    pub journal_error: Option<std::io::Error>,
}

/// Why no more visits are made.
enum Stop {
    Reason(&'static str),
    Signal(Caught),
    Journal(std::io::Error),
}

struct Run<'a> {
    header: &'a Header,
    settings: Settings,
    clock: &'a dyn Clock,
    begin_ns: u64,
    schedule: Schedule,
    visits: Vec<Visit>,
    thrifty: bool,
}

/// Runs every available cell of the header until all are precise enough, the budget is spent, or a signal comes.
pub fn run(
    header: &Header,
    settings: Settings,
    visitor: &mut dyn Visitor,
    clock: &dyn Clock,
    journal: &mut Journal,
    progress: &mut dyn Progress,
) -> Ran {
    let schedule = Schedule::new(&header.cells, header.seed, header.precision, settings.full_rounds);
    let begin_ns = clock.now_ns();
    let mut run = Run { header, settings, clock, begin_ns, schedule, visits: Vec::new(), thrifty: false };
    let stop = run.rounds(visitor, journal, progress);
    let (reason, caught, mut journal_error) = match stop {
        Stop::Reason(reason) => (reason, None, None),
        Stop::Signal(caught) => (caught.reason(), Some(caught), None),
        Stop::Journal(error) => ("the journal could not be written", None, Some(error)),
    };
    let end = End {
        reason: reason.into(),
        elapsed_s: run.elapsed_ns() as f64 / 1e9,
        visits: run.visits.len() as u32,
        ended: utc_now(),
    };
    if journal_error.is_none() {
        journal_error = journal.end(&end).err();
    }
    progress.done();
    Ran { visits: run.visits, end, caught, journal_error }
}

impl Run<'_> {
    fn elapsed_ns(&self) -> u64 {
        self.clock.now_ns() - self.begin_ns
    }

    fn rounds(
        &mut self,
        visitor: &mut dyn Visitor,
        journal: &mut Journal,
        progress: &mut dyn Progress,
    ) -> Stop {
        for round in 1..=self.settings.most_rounds {
            let order = self.schedule.next_round();
            if order.is_empty() {
                return Stop::Reason("done");
            }
            self.thrifty = self.short_of_time(round, &order);
            for (place, cell_index) in order.iter().enumerate() {
                if self.over_budget(*cell_index) {
                    return Stop::Reason("budget");
                }
                progress
                    .visit(&self.standing(round, place, order.len()), &self.header.cells[*cell_index].cell);
                match self.visit(*cell_index, round, visitor) {
                    Ok(visit) => {
                        if let Err(error) = journal.visit(&visit) {
                            return Stop::Journal(error);
                        }
                        self.visits.push(visit);
                    }
                    Err(caught) => return Stop::Signal(caught),
                }
            }
            if let Err(error) = journal.sync() {
                return Stop::Journal(error);
            }
        }
        Stop::Reason("rounds")
    }

    fn visit(&mut self, cell_index: usize, round: usize, visitor: &mut dyn Visitor) -> Result<Visit, Caught> {
        let cell = self.header.cells[cell_index].cell.clone();
        let begin_ns = self.elapsed_ns();
        let request = self.request(cell_index, &cell);
        let outcome = visitor.visit(&request)?;
        let duration_ns = self.elapsed_ns() - begin_ns;
        self.schedule.record(cell_index, &outcome, duration_ns);
        let position = self.visits.len() as u32 + 1;
        Ok(Visit {
            cell_index,
            cell,
            round: round as u32,
            position,
            begin_ns,
            duration_ns,
            thrifty: self.thrifty && self.settings.thrifty != self.settings.effort,
            outcome,
        })
    }

    fn request(&self, cell_index: usize, cell: &Cell) -> Request {
        let settings = &self.settings;
        let calibrated = Request {
            cell: cell.clone(),
            ops: self.schedule.ops(cell_index),
            effort: if self.thrifty { settings.thrifty } else { settings.effort },
            deadline_ms: settings.deadline_ms,
            runner: Some(std::process::id() as i32),
        };
        match &settings.exact_op_ns {
            None => calibrated,
            Some(op_ns) => Request {
                ops: Some(exact::ops(cell)),
                effort: exact::effort(cell),
                deadline_ms: exact::deadline_ms(cell, op_ns[cell_index], settings.deadline_ms),
                ..calibrated
            },
        }
    }

    /// Whether the rounds that are wanted for an interval would not fit into what is left of the budget,
    /// going by the last visit of each cell. The first round knows nothing yet, and calibrates.
    fn short_of_time(&self, round: usize, order: &[usize]) -> bool {
        if round == 1 || round > LEAST_VISITS {
            return false;
        }
        let rounds = (LEAST_VISITS - round + 1) as f64;
        let round_ns: u64 = order.iter().map(|cell| self.schedule.expected_ns(*cell)).sum();
        let left_ns = self.header.budget_s * 1e9 - self.elapsed_ns() as f64;
        // What was seen in the thrifty rounds before would look affordable: once short, short until enough.
        self.thrifty || round_ns as f64 * rounds > left_ns
    }

    /// Whether another visit of that cell would not be over in time.
    fn over_budget(&self, cell_index: usize) -> bool {
        let expected_ns = self.schedule.expected_ns(cell_index);
        (self.elapsed_ns() + expected_ns) as f64 > self.header.budget_s * 1e9
    }

    fn standing(&self, round: usize, place: usize, of: usize) -> progress::Standing {
        progress::Standing {
            round,
            place,
            of,
            done_cells: self.schedule.done_cells(),
            cells: self.header.cells.len(),
            elapsed_ns: self.elapsed_ns(),
            budget_s: self.header.budget_s,
        }
    }
}

#[cfg(test)]
mod tests;
