//! Two arms in the same rounds: both of a cell follow each other, in an order that is drawn for each round. Pure.

use super::schedule::{Rounds, companies, visits};
use crate::cell::{Axis, Cell};
use crate::record::{Outcome, PlannedCell};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rounds over pairs of cells, which all stay in until one of the two gives nothing more.
///
/// Both arms of a cell do as many operations a batch where as many workers do them in the same place. Arm a chooses how many, so in the
/// first round it comes first everywhere; a visit of arm b does more only where its channel is so large that they would not fill it
/// often enough. With other workers, or elsewhere, a batch must have another length: each arm chooses its own.
pub struct Pairs {
    /// Whether the pair wants visits.
    open: Vec<bool>,
    /// Pairs with the same number are visited together.
    companies: Vec<usize>,
    /// Whether both arms of the pair do as many operations a batch.
    alike: Vec<bool>,
    /// Of each cell of the header: operations of a batch, and nanoseconds of the last visit.
    seen: Vec<(Option<u64>, u64)>,
    rounds: usize,
    order: ChaCha8Rng,
}

impl Pairs {
    /// Rounds over the cells of a header with arms: the first half belongs to arm a, the second to arm b.
    pub fn new(cells: &[PlannedCell], seed: u64) -> Pairs {
        let (a, b) = cells.split_at(cells.len() / 2);
        let available =
            |(a, b): (&PlannedCell, &PlannedCell)| a.unavailable.is_none() && b.unavailable.is_none();
        Pairs {
            open: a.iter().zip(b).map(available).collect(),
            companies: companies(a),
            alike: a.iter().zip(b).map(|(a, b)| batches_are_alike(&a.cell, &b.cell)).collect(),
            seen: vec![(None, 0); cells.len()],
            rounds: 0,
            order: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    fn pairs(&self) -> usize {
        self.open.len()
    }

    /// The other arm of a cell.
    fn partner(&self, cell: usize) -> usize {
        if cell < self.pairs() { cell + self.pairs() } else { cell - self.pairs() }
    }
}

fn batches_are_alike(a: &Cell, b: &Cell) -> bool {
    (a.count(Axis::Workers), a.word(Axis::Placement)) == (b.count(Axis::Workers), b.word(Axis::Placement))
}

impl Rounds for Pairs {
    fn begin_round(&mut self, _round: usize, _budget_s: f64, _spent_ns: u64) {}

    fn next_round(&mut self) -> Vec<Vec<usize>> {
        let mut round: Vec<usize> = (0..self.pairs()).filter(|pair| self.open[*pair]).collect();
        round.shuffle(&mut self.order);
        let mut both = Vec::new();
        for of_a in visits(&self.companies, round) {
            let b_first: bool = self.order.random();
            let of_b = of_a.iter().map(|cell| self.partner(*cell)).collect();
            let pair = if b_first && self.rounds > 0 { [of_b, of_a] } else { [of_a, of_b] };
            both.extend(pair);
        }
        self.rounds += 1;
        both
    }

    fn record(&mut self, cell: usize, outcome: &Outcome, duration_ns: u64) {
        self.seen[cell].1 = duration_ns;
        match outcome {
            Outcome::Measured(measured) => self.seen[cell].0 = Some(measured.ops),
            _ => {
                let pair = cell % self.pairs();
                self.open[pair] = false;
            }
        }
    }

    fn ops(&self, cell: usize) -> Option<u64> {
        let of_partner = self.alike[cell % self.pairs()].then(|| self.seen[self.partner(cell)].0).flatten();
        self.seen[cell].0.or(of_partner)
    }

    fn expected_ns(&self, cell: usize) -> u64 {
        self.seen[cell].1
    }

    fn wants_more(&self, cell: usize) -> bool {
        self.open[cell % self.pairs()]
    }

    fn done_cells(&self) -> usize {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Unavailable;
    use crate::runner::tests::{header, measured};

    fn refused() -> Outcome {
        Outcome::Unavailable(Unavailable { reason: "r".into(), remedy: "m".into() })
    }

    fn pairs(cells: usize) -> Pairs {
        Pairs::new(&header(2 * cells, 1.0).cells, 11)
    }

    #[test]
    fn both_arms_of_a_cell_follow_each_other_in_a_drawn_order() {
        let mut pairs = pairs(10);
        let mut b_first = 0;
        for round in 0..40 {
            let order = pairs.next_round().concat();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..20).collect::<Vec<_>>());
            assert!(order.chunks(2).all(|both| both[0].abs_diff(both[1]) == 10), "{order:?}");
            let here = order.chunks(2).filter(|both| both[0] > both[1]).count();
            assert!(round > 0 || here == 0, "arm a chooses the length of a batch");
            b_first += here;
        }
        assert!((150..=240).contains(&b_first), "{b_first} of 390");
    }

    #[test]
    fn both_arms_do_as_many_operations() {
        let mut pairs = pairs(2);
        pairs.record(1, &measured(100.0, 77), 5);
        assert_eq!([0, 1, 2, 3].map(|cell| pairs.ops(cell)), [None, Some(77), None, Some(77)]);
        assert_eq!([0, 1, 2, 3].map(|cell| pairs.expected_ns(cell)), [0, 5, 0, 0]);
    }

    #[test]
    fn arms_of_other_workers_or_places_choose_their_own_operations() {
        use crate::cell::Value;
        for (axis, other) in
            [(Axis::Workers, Value::Count(5)), (Axis::Placement, Value::Word("cross_cpu".into()))]
        {
            let mut cells = header(2, 1.0).cells;
            cells[1].cell = cells[0].cell.clone().with(axis, other);
            let mut pairs = Pairs::new(&cells, 11);
            pairs.record(0, &measured(100.0, 77), 5);
            assert_eq!([0, 1].map(|cell| pairs.ops(cell)), [Some(77), None], "{axis:?}");
        }
    }

    #[test]
    fn a_pair_of_which_one_arm_gives_nothing_is_closed() {
        let mut closing = pairs(3);
        closing.record(4, &refused(), 1);
        let mut order = closing.next_round().concat();
        order.sort_unstable();
        assert_eq!(order, [0, 2, 3, 5]);
        let mut cells = header(4, 1.0).cells;
        cells[3].unavailable = Some(Unavailable { reason: "r".into(), remedy: "m".into() });
        assert_eq!(Pairs::new(&cells, 1).next_round(), [[0], [2]]);
    }
}
