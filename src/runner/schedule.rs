//! Which cell is visited when. Pure: it is fed outcomes and asked for the next round.

use crate::cell::{Axis, Measure};
use crate::measure::stats::{Estimate, LOOKS};
use crate::record::{Outcome, PlannedCell};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashMap;

/// One in this many finished cells is visited again in a partial round: drift shows in them.
const SENTINELS: usize = 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Active,
    /// Its interval is narrow enough.
    Done,
    /// Unavailable or failed: another visit would give nothing.
    Closed,
}

struct State {
    standing: Standing,
    ops: Option<u64>,
    values_ns: Vec<f64>,
    last_duration_ns: u64,
}

/// Rounds over cells, in a fresh random order each.
pub struct Schedule {
    states: Vec<State>,
    /// Cells with the same number are visited together.
    companies: Vec<usize>,
    order: ChaCha8Rng,
    precision: f64,
    full_rounds: usize,
}

impl Schedule {
    /// A schedule of those cells. The first `full_rounds` rounds visit every available cell; after them a
    /// cell is done when its 95 % interval has a half-width of `precision` at a look (method: fixed counts).
    pub fn new(cells: &[PlannedCell], seed: u64, precision: f64, full_rounds: usize) -> Schedule {
        let state = |cell: &PlannedCell| State {
            standing: if cell.unavailable.is_some() { Standing::Closed } else { Standing::Active },
            ops: None,
            values_ns: Vec::new(),
            last_duration_ns: 0,
        };
        let order = ChaCha8Rng::seed_from_u64(seed);
        let (states, companies) = (cells.iter().map(state).collect(), companies(cells));
        Schedule { states, companies, order, precision, full_rounds }
    }

    /// The visits of the next round in their order, with the cells of each in theirs; empty when no cell wants
    /// another visit.
    pub fn next_round(&mut self) -> Vec<Vec<usize>> {
        let with = |standing| {
            let states = self.states.iter().enumerate();
            states.filter(move |(_, state)| state.standing == standing).map(|(index, _)| index)
        };
        let mut round: Vec<usize> = with(Standing::Active).collect();
        if round.is_empty() {
            return Vec::new();
        }
        let mut done: Vec<usize> = with(Standing::Done).collect();
        let wanted = done.len().div_ceil(SENTINELS);
        round.extend_from_slice(done.partial_shuffle(&mut self.order, wanted).0);
        round.shuffle(&mut self.order);
        let mut visits: Vec<Vec<usize>> = Vec::new();
        let mut places = HashMap::new();
        for cell in round {
            let place = *places.entry(self.companies[cell]).or_insert_with(|| {
                visits.push(Vec::new());
                visits.len() - 1
            });
            visits[place].push(cell);
        }
        visits
    }

    /// Takes in what came of a visit.
    pub fn record(&mut self, cell: usize, outcome: &Outcome, duration_ns: u64) {
        let (precision, full_rounds) = (self.precision, self.full_rounds);
        let state = &mut self.states[cell];
        state.last_duration_ns = duration_ns;
        let Outcome::Measured(measured) = outcome else {
            state.standing = Standing::Closed;
            return;
        };
        state.ops = Some(measured.ops);
        state.values_ns.push(measured.lead_ns());
        let visits = state.values_ns.len();
        if visits >= full_rounds && LOOKS.contains(&visits) {
            let half_width = Estimate::of(&state.values_ns).and_then(|estimate| estimate.half_width_ratio());
            if half_width.is_some_and(|ratio| ratio <= precision) {
                state.standing = Standing::Done;
            }
        }
    }

    /// Operations of a batch of that cell, once a visit has calibrated it.
    pub fn ops(&self, cell: usize) -> Option<u64> {
        self.states[cell].ops
    }

    /// Duration of the cell's last visit, in nanoseconds; 0 before the first.
    pub fn expected_ns(&self, cell: usize) -> u64 {
        self.states[cell].last_duration_ns
    }

    /// Cells that want no other visit because they are precise enough.
    pub fn done_cells(&self) -> usize {
        self.states.iter().filter(|state| state.standing == Standing::Done).count()
    }
}

/// For each cell the first of those that it is visited with, itself where it is alone.
fn companies(cells: &[PlannedCell]) -> Vec<usize> {
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

/// A seed that nobody chose, short enough to be typed again.
pub fn fresh_seed(mixed_in: u64) -> u64 {
    u64::from(ChaCha8Rng::seed_from_u64(mixed_in).random::<u32>())
}
