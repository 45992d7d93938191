//! Which cell is visited when. Pure: it is fed outcomes and asked for the next round.

mod state;

use crate::cell::{Axis, Measure};
use crate::measure::stats::LEAST_VISITS;
use crate::record::{Outcome, PlannedCell};
use crate::strata::cores::Cores;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use state::{Standing, State};
use std::collections::{HashMap, HashSet};

/// One in this many finished cells is visited again in a partial round: drift shows in them.
const SENTINELS: usize = 10;

/// A partial round visits one in this many of the cells that want more visits, those with the widest intervals.
const WIDEST: usize = 3;

/// But it visits at least so many: with fewer the visits of one cell would follow each other so closely that what
/// disturbs one disturbs the next.
const LEAST_IN_ROUND: usize = 12;

/// What a cell lacks until its interval is narrow enough.
struct Lack {
    cell: usize,
    /// `None` where no number of visits is enough.
    visits: Option<usize>,
    /// Nanoseconds of a visit of it and of all that are visited with it.
    visit_ns: u64,
}

impl Lack {
    fn ns(&self) -> f64 {
        self.visits.map_or(f64::INFINITY, |visits| visits as f64 * self.visit_ns as f64)
    }
}

/// What decides which cell is visited when. Pure: it is fed outcomes and asked for the next round.
pub trait Rounds {
    /// Before each round: notes the time that is left, and lets cells be done early where the rounds for every cell that are left
    /// would not be over in it, going by the last visit of each. `spent_ns` is when the last visit ended, by the records and not by the clock, so that a run that is
    /// resumed decides as it would have.
    fn begin_round(&mut self, round: usize, budget_s: f64, spent_ns: u64);
    /// The visits of the next round in their order, with the cells of each in theirs; empty when no cell wants
    /// another visit.
    fn next_round(&mut self) -> Vec<Vec<usize>>;
    /// Takes in what came of a visit.
    fn record(&mut self, cell: usize, outcome: &Outcome, duration_ns: u64);
    /// Operations of a batch of that cell, once a visit has calibrated it.
    fn ops(&self, cell: usize) -> Option<u64>;
    /// Duration of the cell's last visit, in nanoseconds; 0 before the first.
    fn expected_ns(&self, cell: usize) -> u64;
    /// Whether the cell wants more visits.
    fn wants_more(&self, cell: usize) -> bool;
    /// Cells that want no other visit because they are precise enough.
    fn done_cells(&self) -> usize;
}

/// Rounds over cells, in a fresh random order each.
pub struct Schedule {
    states: Vec<State>,
    /// Cells with the same number are visited together.
    companies: Vec<usize>,
    order: ChaCha8Rng,
    precision: f64,
    full_rounds: usize,
    /// Visits from which on a cell may be done.
    looks_from: usize,
    /// Nanoseconds that are left for visits, as far as it is known.
    left_ns: f64,
    /// What cores gave at best before the round.
    cores: Cores,
}

impl Schedule {
    /// A schedule of those cells. The first `full_rounds` rounds visit every available cell; after them, or after the sixth where
    /// they do not all fit, a cell is done when its 95 % interval has a half-width of `precision` at a look (method: fixed counts), and
    /// rounds visit the cells with the widest intervals.
    pub fn new(cells: &[PlannedCell], seed: u64, precision: f64, full_rounds: usize) -> Schedule {
        let order = ChaCha8Rng::seed_from_u64(seed);
        let state = |planned: &PlannedCell| State::new(planned.cell.clone(), planned.unavailable.is_some());
        let states = cells.iter().map(state).collect();
        Schedule {
            states,
            companies: companies(cells),
            order,
            precision,
            full_rounds,
            looks_from: full_rounds,
            left_ns: f64::INFINITY,
            cores: Cores::default(),
        }
    }

    fn with(&self, standing: Standing) -> Vec<usize> {
        let states = self.states.iter().enumerate();
        states.filter(|(_, state)| state.standing == standing).map(|(index, _)| index).collect()
    }

    /// Those of the active cells that a partial round visits: of those that are worth it the ones with the widest intervals; of
    /// equally wide ones those that come first.
    fn widest(&self, worth: &[usize], active: &[usize]) -> Vec<usize> {
        let wanted = worth.len().div_ceil(WIDEST).max(LEAST_IN_ROUND);
        let mut ranked = worth.to_vec();
        ranked.sort_by(|one, other| self.states[*other].want().total_cmp(&self.states[*one].want()));
        ranked.truncate(wanted);
        self.in_company(ranked, active)
    }

    /// Those of the active cells that the time left should make precise, with others up to the least size of a round, the ones that take
    /// least time first; all where the time will do for none, or no end is known.
    fn within_reach(&self, active: &[usize]) -> Vec<usize> {
        if self.left_ns.is_infinite() {
            return active.to_vec();
        }
        let mut ranked: Vec<Lack> = active.iter().map(|cell| self.lack(*cell, active)).collect();
        ranked.sort_by(|one, other| one.ns().total_cmp(&other.ns()));
        match self.reached(&ranked) {
            0 => active.to_vec(),
            reached => {
                ranked.truncate(reached.max(LEAST_IN_ROUND));
                ranked.iter().map(|lack| lack.cell).collect()
            }
        }
    }

    /// What that active cell lacks until it is precise.
    fn lack(&self, cell: usize, active: &[usize]) -> Lack {
        let visited = active.iter().filter(|other| self.companies[**other] == self.companies[cell]);
        Lack {
            cell,
            visits: self.states[cell].visits_to(self.precision, &self.cores),
            visit_ns: visited.map(|cell| self.expected_ns(*cell)).sum(),
        }
    }

    /// How many of those, from the first, are precise by the end, with the sentinels of their rounds. Cells that are visited together
    /// take the time of their visits once.
    fn reached(&self, ranked: &[Lack]) -> usize {
        let done = self.with(Standing::Done);
        let done_ns: u64 = done.iter().map(|cell| self.expected_ns(*cell)).sum();
        let sentinels_ns = done_ns as f64 / SENTINELS as f64;
        let (mut charged, mut rounds, mut needed_ns) = (HashMap::new(), 0, 0.0);
        let fits = |lack: &&Lack| {
            let Some(visits) = lack.visits else { return false };
            let paid = charged.entry(self.companies[lack.cell]).or_insert(0);
            needed_ns += visits.saturating_sub(*paid) as f64 * lack.visit_ns as f64;
            *paid = visits.max(*paid);
            rounds = rounds.max(visits);
            needed_ns + rounds as f64 * sentinels_ns <= self.left_ns
        };
        ranked.iter().take_while(fits).count()
    }

    /// Those cells with the active ones of their companies: they are compared with one another, so they are visited
    /// under the same conditions.
    fn in_company(&self, cells: Vec<usize>, active: &[usize]) -> Vec<usize> {
        let wanted: HashSet<usize> = cells.iter().map(|cell| self.companies[*cell]).collect();
        active.iter().copied().filter(|cell| wanted.contains(&self.companies[*cell])).collect()
    }

    /// Visits that the cell lacks until the rounds for every cell are over for it.
    fn lacks(&self, cell: usize) -> usize {
        self.full_rounds.saturating_sub(self.states[cell].visits())
    }

    /// Rounds for every cell that are left: visits that some active cell still lacks.
    pub fn full_rounds_left(&self) -> usize {
        self.with(Standing::Active).into_iter().map(|cell| self.lacks(cell)).max().unwrap_or(0)
    }

    /// Lets cells be done before the rounds for every cell are over, for want of time, as soon as every active one has as many
    /// visits as an interval takes: what is left of these rounds is for the others, as far as they are within reach. Cells that were
    /// not looked at for being in them are looked at now.
    pub fn look_early(&mut self) {
        let least = self.full_rounds - self.full_rounds_left();
        self.looks_from = self.looks_from.min(least.max(LEAST_VISITS));
        for state in self.states.iter_mut().filter(|state| state.visits() >= self.looks_from) {
            state.look(Some(self.precision), &self.cores);
        }
    }

    /// Duration of one visit of every cell that wants more, by its last one, in nanoseconds.
    pub fn full_round_ns(&self) -> u64 {
        self.with(Standing::Active).iter().map(|cell| self.expected_ns(*cell)).sum()
    }
}

impl Rounds for Schedule {
    fn begin_round(&mut self, round: usize, budget_s: f64, spent_ns: u64) {
        self.left_ns = budget_s * 1e9 - spent_ns as f64;
        self.cores = Cores::of_readings(self.states.iter().flat_map(State::readings));
        let needed_ns = self.full_round_ns() as f64 * self.full_rounds_left() as f64;
        if round > LEAST_VISITS && needed_ns > self.left_ns {
            self.look_early();
        }
    }

    fn next_round(&mut self) -> Vec<Vec<usize>> {
        let mut active = self.with(Standing::Active);
        if active.is_empty() {
            return Vec::new();
        }
        active.shuffle(&mut self.order);
        let short = self.looks_from < self.full_rounds;
        let lacking = |cell: &usize| self.lacks(*cell) > 0;
        // Rounds for every cell that are not cut short take what they take.
        let worth =
            if short || !active.iter().any(lacking) { self.within_reach(&active) } else { active.clone() };
        let lacking: Vec<usize> = worth.iter().copied().filter(lacking).collect();
        let mut round =
            if lacking.is_empty() { self.widest(&worth, &active) } else { self.in_company(lacking, &active) };
        let mut done = self.with(Standing::Done);
        let wanted = done.len().div_ceil(SENTINELS);
        round.extend_from_slice(done.partial_shuffle(&mut self.order, wanted).0);
        round.shuffle(&mut self.order);
        visits(&self.companies, round)
    }

    fn record(&mut self, cell: usize, outcome: &Outcome, duration_ns: u64) {
        let state = &mut self.states[cell];
        state.take(outcome, duration_ns);
        let may_be_done = state.visits() >= self.looks_from;
        state.look(may_be_done.then_some(self.precision), &self.cores);
    }

    fn ops(&self, cell: usize) -> Option<u64> {
        self.states[cell].ops
    }

    fn expected_ns(&self, cell: usize) -> u64 {
        self.states[cell].last_duration_ns
    }

    fn wants_more(&self, cell: usize) -> bool {
        self.states[cell].standing == Standing::Active
    }

    fn done_cells(&self) -> usize {
        self.with(Standing::Done).len()
    }
}

/// For each cell the first of those that it is visited with, itself where it is alone.
pub(super) fn companies(cells: &[PlannedCell]) -> Vec<usize> {
    let mut firsts = HashMap::new();
    let company = |(index, planned): (usize, &PlannedCell)| {
        let together = planned.cell.measure().is_some_and(Measure::visited_together);
        match together {
            true => *firsts.entry(planned.cell.clone().without(Axis::Mechanism)).or_insert(index),
            false => index,
        }
    };
    cells.iter().enumerate().map(company).collect()
}

/// The round's cells as visits, those of a company in one.
pub(super) fn visits(companies: &[usize], round: Vec<usize>) -> Vec<Vec<usize>> {
    let mut visits: Vec<Vec<usize>> = Vec::new();
    let mut places = HashMap::new();
    for cell in round {
        let place = *places.entry(companies[cell]).or_insert_with(|| {
            visits.push(Vec::new());
            visits.len() - 1
        });
        visits[place].push(cell);
    }
    visits
}

/// A seed that nobody chose, short enough to be typed again.
pub fn fresh_seed(mixed_in: u64) -> u64 {
    u64::from(ChaCha8Rng::seed_from_u64(mixed_in).random::<u32>())
}

#[cfg(test)]
mod tests;
