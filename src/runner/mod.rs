//! The coordinator of a run: rounds and their order, one process a visit, deadlines, the journal. It
//! never measures, and it names no mechanism.

pub mod arms;
mod crowded;
pub mod estimate;
pub mod exact;
pub mod host;
pub mod journal;
pub mod machine;
mod places;
pub mod process;
pub mod progress;
pub mod resume;
pub mod schedule;
pub mod signals;
mod watch;

use crate::measure::clock::{Clock, utc_now};
use crate::measure::stats::{LEAST_VISITS, STEADY_VISITS};
use crate::record::{Arm, Arms, Effort, End, Header, Noise, Outcome, Part, Request, Visit};
use journal::Journal;
use machine::Machine;
use places::Places;
use progress::Progress;
use resume::Begun;
use schedule::Rounds;
use signals::Caught;
use std::ops::Range;
use watch::{LONGEST_WAIT_NS, Watch};

/// Rounds in which a run sees how long visits take.
const FIRST_ROUNDS: usize = 2;

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

/// Makes a visit, and sees the machine around it. The program's own starts a process; tests script one.
pub trait Visitor: Machine {
    /// Makes one visit and tells the outcome of each of its cells as it comes, in order. After a failure the cells
    /// that are left have none.
    ///
    /// # Errors
    /// The signal that came meanwhile; the cell at work is dropped then.
    fn visit(&mut self, request: &Request, heard: &mut dyn FnMut(Outcome)) -> Result<(), Caught>;
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
    /// Time that was spent before the run was resumed.
    spent_ns: u64,
    schedule: Box<dyn Rounds>,
    visits: Vec<Visit>,
    thrifty: bool,
    watch: Watch,
    places: Places,
}

/// Runs every available cell of the header until all are precise enough or give nothing more, the budget is spent, or a
/// signal comes.
pub fn run(
    header: &Header,
    settings: Settings,
    visitor: &mut dyn Visitor,
    clock: &dyn Clock,
    journal: &mut Journal,
    progress: &mut dyn Progress,
) -> Ran {
    let begun = Begun::nothing(header, &settings);
    resume(header, settings, begun, visitor, clock, journal, progress)
}

/// Goes on with a run that was begun before; otherwise like [`run`].
pub fn resume(
    header: &Header,
    settings: Settings,
    begun: Begun,
    visitor: &mut dyn Visitor,
    clock: &dyn Clock,
    journal: &mut Journal,
    progress: &mut dyn Progress,
) -> Ran {
    let begin_ns = clock.now_ns();
    let Begun { schedule, visits, spent_ns, round, rest, thrifty } = begun;
    let watch = Watch::after_waits(waited_ns(&visits));
    let places = Places::after(header, &visits);
    let mut run =
        Run { header, settings, clock, begin_ns, spent_ns, schedule, visits, thrifty, watch, places };
    let stop = run.rounds(round, &rest, visitor, journal, progress);
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

/// How long the quiet gate has waited before those visits, in nanoseconds.
fn waited_ns(visits: &[Visit]) -> u64 {
    visits.iter().filter_map(|visit| visit.noise?.waited_ns).sum()
}

impl Run<'_> {
    fn elapsed_ns(&self) -> u64 {
        self.spent_ns + self.clock.now_ns() - self.begin_ns
    }

    /// The rest of the round that was begun, then those after it.
    fn rounds(
        &mut self,
        begun: usize,
        rest: &[Vec<usize>],
        visitor: &mut dyn Visitor,
        journal: &mut Journal,
        progress: &mut dyn Progress,
    ) -> Stop {
        if let Err(stop) = self.round(begun, rest, visitor, journal, progress) {
            return stop;
        }
        for round in begun + 1..=self.settings.most_rounds {
            self.schedule.begin_round(round, self.header.budget_s, resume::end_ns(&self.visits));
            let order = self.schedule.next_round();
            if order.is_empty() {
                return Stop::Reason("done");
            }
            self.thrifty = self.short_of_time(round, &order);
            if let Err(stop) = self.round(round, &order, visitor, journal, progress) {
                return stop;
            }
        }
        Stop::Reason("rounds")
    }

    fn round(
        &mut self,
        round: usize,
        order: &[Vec<usize>],
        visitor: &mut dyn Visitor,
        journal: &mut Journal,
        progress: &mut dyn Progress,
    ) -> Result<(), Stop> {
        let of = order.iter().map(Vec::len).sum();
        let mut place = 0;
        for (index, cells) in order.iter().enumerate() {
            // Nothing comes between the two arms of a pair.
            let second_arm = self.header.arms.is_some() && index % 2 == 1;
            let waited_ns =
                if second_arm { None } else { self.quiet(cells, round, visitor).map_err(Stop::Signal)? };
            self.places.next(second_arm);
            if self.over_budget(cells) {
                return Err(Stop::Reason("budget"));
            }
            progress.visit(&self.standing(round, place, of), &self.header.cells[cells[0]].cell);
            let canary_ns = if place == 0 { self.canary_ns(visitor) } else { None };
            place += cells.len();
            let before = self.visits.len();
            let noise = Noise { waited_ns, canary_ns, ..Noise::default() };
            let visited = self.visit(cells, round, noise, visitor, journal);
            self.visits[before..].iter().for_each(|visit| progress.visited(visit));
            visited?;
        }
        journal.sync().map_err(Stop::Journal)
    }

    /// One visit, of one cell or of several. What was heard before a signal came is kept.
    fn visit(
        &mut self,
        cells: &[usize],
        round: usize,
        noise_before: Noise,
        visitor: &mut dyn Visitor,
        journal: &mut Journal,
    ) -> Result<(), Stop> {
        let before = if self.shows_figures() { self.watch.look(visitor, self.clock) } else { None };
        let mut begin_ns = self.elapsed_ns();
        let mut heard = Vec::new();
        let visited =
            visitor.visit(&self.request(cells), &mut |outcome| heard.push((outcome, self.elapsed_ns())));
        let Noise { waited_ns, canary_ns, .. } = noise_before;
        let noise = before.map(|_| self.watch.noise(before, visitor, self.clock)).unwrap_or_default();
        // It is of the process, so it stands with the first of its cells.
        let mut noise =
            Some(Noise { waited_ns, canary_ns, ..noise }).filter(|noise| *noise != Noise::default());
        for (cell_index, (outcome, end_ns)) in cells.iter().zip(heard) {
            let mut visit = self.keep(*cell_index, round, begin_ns..end_ns, outcome);
            visit.noise = noise.take();
            journal.visit(&visit).map_err(Stop::Journal)?;
            self.places.take(&visit);
            self.visits.push(visit);
            begin_ns = end_ns;
        }
        visited.map_err(Stop::Signal)
    }

    fn keep(&mut self, cell_index: usize, round: usize, when_ns: Range<u64>, outcome: Outcome) -> Visit {
        let duration_ns = when_ns.end - when_ns.start;
        self.schedule.record(cell_index, &outcome, duration_ns);
        Visit {
            cell_index,
            cell: self.header.cells[cell_index].cell.clone(),
            round: round as u32,
            position: self.visits.len() as u32 + 1,
            begin_ns: when_ns.start,
            duration_ns,
            thrifty: self.thrifty && self.settings.thrifty != self.settings.effort,
            arm: self.arm(&[cell_index]),
            noise: None,
            outcome,
        }
    }

    /// The arm of those cells, which are of one.
    fn arm(&self, cells: &[usize]) -> Option<Arm> {
        let of = |_: &Arms| Arms::arm_of(cells[0], self.header.cells.len());
        self.header.arms.as_ref().map(of)
    }

    fn request(&self, cells: &[usize]) -> Request {
        let settings = &self.settings;
        let cell = |index: usize| &self.header.cells[index].cell;
        let parts = |ops: &dyn Fn(usize) -> Option<u64>| {
            cells.iter().map(|index| Part { cell: cell(*index).clone(), ops: ops(*index) }).collect()
        };
        let (parts, effort, deadline_ms) = match &settings.exact_op_ns {
            None => {
                let effort = if self.thrifty { settings.thrifty } else { settings.effort };
                (parts(&|index| self.schedule.ops(index)), effort, settings.deadline_ms)
            }
            Some(op_ns) => {
                let longest =
                    |longest_ms, index: &usize| exact::deadline_ms(cell(*index), op_ns[*index], longest_ms);
                let deadline_ms = cells.iter().fold(settings.deadline_ms, longest);
                (parts(&|index| Some(exact::ops(cell(index)))), exact::effort(cell(cells[0])), deadline_ms)
            }
        };
        Request {
            parts,
            effort,
            deadline_ms,
            runner: Some(std::process::id() as i32),
            tampering: None,
            avoided_cpus: self.places.avoided_cpus.clone(),
            same_cpu_as: self.places.same_cpu_as,
            arm: self.arm(cells),
        }
    }

    /// Whether the rounds for every cell, as far as they are [`STEADY_VISITS`], would not fit into what is left of the budget,
    /// going by the last visit of each cell; before the first by what a visit should take.
    fn short_of_time(&self, round: usize, order: &[Vec<usize>]) -> bool {
        // Later it would mix visits of two kinds for little.
        let most = if round <= FIRST_ROUNDS { STEADY_VISITS } else { LEAST_VISITS };
        let wanted = self.settings.full_rounds.min(most);
        if self.thrifty || round > wanted || wanted < LEAST_VISITS {
            // The visits of a cell are alike: once short, short until the end.
            return self.thrifty;
        }
        let rounds = (wanted - round + 1) as f64;
        let round_ns: u64 = order.iter().flatten().map(|cell| self.likely_ns(*cell)).sum();
        let left_ns = self.header.budget_s * 1e9 - self.elapsed_ns() as f64;
        round_ns as f64 * rounds > left_ns
    }

    /// Whether anything that is shown comes of this run; else nobody is told what disturbed it.
    fn shows_figures(&self) -> bool {
        self.settings.effort.shows_figures() || self.settings.exact_op_ns.is_some()
    }

    /// Waits before a visit until the machine is quieter; nanoseconds that it waited.
    fn quiet(
        &mut self,
        cells: &[usize],
        round: usize,
        visitor: &mut dyn Visitor,
    ) -> Result<Option<u64>, Caught> {
        if !self.shows_figures() {
            return Ok(None);
        }
        let budget_ns = (self.header.budget_s * 1e9) as u64;
        let needed_ns = self.least_rounds_ns(round).max(self.expected_ns(cells)) + LONGEST_WAIT_NS;
        let to_spare = self.elapsed_ns() + needed_ns <= budget_ns;
        self.watch.quiet(visitor, self.clock, budget_ns, to_spare)
    }

    fn canary_ns(&self, visitor: &mut dyn Visitor) -> Option<u64> {
        if self.shows_figures() { visitor.canary_ns() } else { None }
    }

    /// What the rounds until an interval is had should still take in a round, that one included as a whole.
    fn least_rounds_ns(&self, round: usize) -> u64 {
        let rounds = (LEAST_VISITS.min(self.settings.most_rounds) + 1).saturating_sub(round) as u64;
        let cells = (0..self.header.cells.len()).filter(|cell| self.schedule.wants_more(*cell));
        rounds * cells.map(|cell| self.likely_ns(cell)).sum::<u64>()
    }

    /// What a visit of the cell should take: as long as the last one; before the first by its kind.
    fn likely_ns(&self, cell: usize) -> u64 {
        match self.schedule.expected_ns(cell) {
            0 => {
                let header = self.header;
                estimate::visit_ns(&header.cells[cell].cell, &self.settings.effort, header.allowed_cpus.len())
            }
            seen_ns => seen_ns,
        }
    }

    fn expected_ns(&self, cells: &[usize]) -> u64 {
        cells.iter().map(|cell| self.schedule.expected_ns(*cell)).sum()
    }

    /// Whether another visit of those cells would not be over in time.
    fn over_budget(&self, cells: &[usize]) -> bool {
        (self.elapsed_ns() + self.expected_ns(cells)) as f64 > self.header.budget_s * 1e9
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
