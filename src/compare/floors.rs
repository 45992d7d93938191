//! Noise floors: how far the same cell lies from itself on a class of machines.

use crate::cell::Cell;
use crate::measure::stats::median;
use crate::measure::stats::signed_rank::hodges_lehmann;
use crate::measure::stats::welch::{further_two_apart, widened};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// The version that the document carries.
pub const SCHEMA: &str = "ipcmatrix.floors.v1";

/// The share of comparisons of the same thing that stay below a floor.
const BELOW: f64 = 0.95;

/// How often the signs of the ratios are drawn.
const DRAWS: usize = 1000;

/// Visits that stand for one run: as many as an interval takes, so a run of usual length is steadier than this.
const VISITS_A_RUN: usize = 6;

/// What a calibration found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floors {
    /// [`SCHEMA`].
    pub schema: String,
    /// Version of the program that measured.
    pub version: String,
    /// The class of the machine, as eight hexadecimal digits, and what it stands for.
    pub machine_class: [String; 2],
    /// The cells, in the order in which they were calibrated.
    pub cells: Vec<Floor>,
}

/// The floors of one cell, as logarithms of a ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    /// The cell.
    pub cell: Cell,
    /// When it was calibrated, RFC 3339 in UTC.
    pub calibrated: String,
    /// Rounds in which both arms were measured.
    pub rounds: usize,
    /// For two arms in the same rounds, as many as these: 95 % of the estimates lie closer to 0.
    pub paired: f64,
    /// For one run against another: how far two further runs of six visits lie apart in 95 % of the cases, by the spread of
    /// the medians of six visits in a row (Student's t, so few of them give a wide bound). What only another hour or another
    /// boot shows is not in it.
    pub single: f64,
}

impl Floor {
    /// Of a cell that was both arms. `log_ratios` has one a round, `ns` the times of both arms in the order of the rounds, as
    /// they are compared: without the loop where that counts. `None` where there are fewer than twelve times, or a number is
    /// not finite.
    ///
    /// Which visit of a round belongs to which arm was drawn, so each ratio could as well have had the other sign: the
    /// signs are drawn 1000 times (with a fixed seed) and the estimate made of each.
    pub fn of(cell: &Cell, calibrated: &str, log_ratios: &[f64], ns: &[f64]) -> Option<Floor> {
        let mut random = ChaCha8Rng::seed_from_u64(2026);
        let mut flipped = || {
            let signs = log_ratios.iter().map(|ratio| if random.random() { *ratio } else { -ratio });
            hodges_lehmann(&signs.collect::<Vec<f64>>()).map(f64::abs)
        };
        let paired: Vec<f64> = (0..DRAWS).map(|_| flipped()).collect::<Option<_>>()?;
        Some(Floor {
            cell: cell.clone(),
            calibrated: calibrated.to_owned(),
            rounds: log_ratios.len(),
            paired: quantile(paired)?,
            single: between_runs(ns)?,
        })
    }
}

/// How far two further runs of six visits lie apart in 95 % of the cases, as the logarithm of a ratio, by the times of visits
/// in their order. `None` where there are fewer than twelve, or a number is not finite.
pub fn between_runs(ns: &[f64]) -> Option<f64> {
    let runs: Option<Vec<f64>> = ns.chunks_exact(VISITS_A_RUN).map(|run| median(run).map(f64::ln)).collect();
    further_two_apart(&runs?, BELOW)
}

/// The least of the values that is not below 95 % of them.
fn quantile(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let place = (BELOW * values.len() as f64).ceil() as usize;
    values.get(place.checked_sub(1)?).copied().filter(|value| value.is_finite())
}

impl Floors {
    /// A document without a cell.
    pub fn new(version: &str, machine_class: [String; 2]) -> Floors {
        Floors { schema: SCHEMA.to_owned(), version: version.to_owned(), machine_class, cells: Vec::new() }
    }

    /// Takes in a cell, in place of what was known of it.
    pub fn put(&mut self, floor: Floor) {
        match self.cells.iter_mut().find(|known| known.cell == floor.cell) {
            Some(known) => *known = floor,
            None => self.cells.push(floor),
        }
    }

    fn of(&self, cell: &Cell) -> Option<&Floor> {
        self.cells.iter().find(|known| known.cell == *cell)
    }

    /// For two arms in so many rounds: the greater floor of the two cells, as far as it is known. With fewer rounds than
    /// were calibrated it grows with the root of their ratio; with more it stays, as what remains need not be chance.
    pub fn paired(&self, a: &Cell, b: &Cell, rounds: usize) -> Option<f64> {
        let scaled =
            |floor: &Floor| floor.paired * (floor.rounds as f64 / rounds.max(1) as f64).sqrt().max(1.0);
        let known = [self.of(a), self.of(b)].into_iter().flatten().map(scaled);
        known.reduce(f64::max)
    }

    /// For one stored run of the cell against another, where so many cells are compared: in 95 % of such comparisons of the same
    /// thing no cell lies further away.
    pub fn single(&self, cell: &Cell, cells: usize) -> Option<f64> {
        let floor = self.of(cell)?;
        let runs = 2 * floor.rounds / VISITS_A_RUN;
        Some(floor.single * widened(runs.checked_sub(1)? as f64, BELOW, cells)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Measure;

    fn cell(name: &str) -> Cell {
        Cell::new(Measure::Wait, name)
    }

    fn floor(name: &str, paired: f64) -> Floor {
        let (cell, calibrated) = (cell(name), String::new());
        Floor { cell, calibrated, rounds: 20, paired, single: 2.0 * paired }
    }

    #[test]
    fn a_wider_spread_has_a_higher_floor() {
        let of = |spread: f64| {
            let swing = |at: i32| spread * f64::from((at * 7) % 11 - 5);
            let ratios: Vec<f64> = (0..20).map(swing).collect();
            let ns: Vec<f64> = (0..40).map(|at| 100.0 * swing(at).exp()).collect();
            Floor::of(&cell("x"), "", &ratios, &ns).unwrap()
        };
        let (narrow, wide) = (of(0.001), of(0.01));
        assert!((wide.paired / narrow.paired - 10.0).abs() < 1e-6, "{narrow:?} {wide:?}");
        assert!(wide.single > 5.0 * narrow.single && narrow.single > 0.0);
        assert_eq!(of(0.01), wide, "drawn from a fixed seed");
        assert!(narrow.paired < 0.005, "the estimate of 20 is steadier than one ratio");
    }

    #[test]
    fn a_drift_counts_between_runs_and_not_within_rounds() {
        let ns: Vec<f64> = (0..40).map(|at| 100.0 * (0.01 * f64::from(at)).exp()).collect();
        let drifting = Floor::of(&cell("x"), "", &[0.001; 20], &ns).unwrap();
        assert!(drifting.single > 0.2 && drifting.paired <= 0.001, "{drifting:?}");
    }

    #[test]
    fn too_little_has_no_floor() {
        assert_eq!(Floor::of(&cell("x"), "", &[], &[1.0; 12]), None);
        assert_eq!(Floor::of(&cell("x"), "", &[0.1; 6], &[1.0; 11]), None);
        assert_eq!(Floor::of(&cell("x"), "", &[f64::NAN; 6], &[1.0; 12]), None);
    }

    #[test]
    fn a_comparison_has_the_greater_floor_of_its_cells() {
        let mut floors = Floors::new("0", Default::default());
        floors.put(floor("x", 0.02));
        floors.put(floor("y", 0.05));
        floors.put(floor("x", 0.01));
        assert_eq!(floors.cells.len(), 2);
        let paired = |one: &str, other: &str, rounds| floors.paired(&cell(one), &cell(other), rounds);
        assert_eq!(paired("x", "y", 20), Some(0.05));
        assert_eq!((paired("x", "x", 5), paired("x", "x", 80)), (Some(0.02), Some(0.01)));
        assert_eq!((paired("x", "z", 20), paired("z", "z", 20)), (Some(0.01), None));
        assert_eq!((floors.single(&cell("y"), 1), floors.single(&cell("z"), 1)), (Some(0.1), None));
        // Six runs: `scipy.stats.t.ppf([0.975, 1 - 0.025 / 100], 5)` is 2.5706 and 7.9759.
        let of_100 = floors.single(&cell("y"), 100).unwrap();
        assert!((of_100 / 0.1 - 7.9759 / 2.5706).abs() < 1e-3, "{of_100}");
    }
}
