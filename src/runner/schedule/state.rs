//! How far one cell is: its visits, what they are worth, and whether it wants another.

use crate::cell::Cell;
use crate::measure::stats::modes::Modes;
use crate::measure::stats::{Estimate, LEAST_VISITS, LOOKS, loop_counts, median};
use crate::record::{Measured, Outcome};
use crate::strata::cores::{Cores, Reading};
use crate::strata::{self, Stratum};

/// A cell of two modes, or of visits under two conditions, gets no visit after so many: more would only make its shares better known.
pub const MOST_IN_TWO_MODES: usize = 20;

/// The larger side of the 95 % interval of a median of normal figures is about so many standard deviations over the root of their
/// number: half of it, and a quarter more.
const WIDTH_OF_ONE: f64 = 1.96 * 1.2533 * 1.25;
/// Standard deviations of normal figures in their median distance from the median.
const DEVIATIONS: f64 = 1.4826;

/// Whether a cell wants another visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Active,
    /// Its interval is narrow enough.
    Done,
    /// It has two figures, and both were seen often enough.
    TwoModes,
    /// Unavailable or failed: another visit would give nothing.
    Closed,
}

/// One cell.
pub struct State {
    cell: Cell,
    pub standing: Standing,
    /// Operations of a batch, once a visit has calibrated it.
    pub ops: Option<u64>,
    /// Duration of the last visit, in nanoseconds; 0 before the first.
    pub last_duration_ns: u64,
    /// Nanoseconds an operation of each visit, by the number that leads, the loop included.
    raw_ns: Vec<f64>,
    /// Nanoseconds of the loop alone of each visit that timed it.
    loops_ns: Vec<f64>,
    /// The visits.
    measured: Vec<Measured>,
    /// The half-width as a part of the value, as far as the visits tell; infinite where they do not.
    width: f64,
}

impl State {
    pub fn new(cell: Cell, refused: bool) -> State {
        State {
            cell,
            standing: if refused { Standing::Closed } else { Standing::Active },
            ops: None,
            last_duration_ns: 0,
            raw_ns: Vec::new(),
            loops_ns: Vec::new(),
            measured: Vec::new(),
            width: f64::INFINITY,
        }
    }

    /// Visits that gave a figure.
    pub fn visits(&self) -> usize {
        self.raw_ns.len()
    }

    /// Takes in what came of a visit.
    pub fn take(&mut self, outcome: &Outcome, duration_ns: u64) {
        self.last_duration_ns = duration_ns;
        let Outcome::Measured(measured) = outcome else {
            self.standing = Standing::Closed;
            return;
        };
        self.push(measured);
        self.width = self.width_now();
    }

    fn push(&mut self, measured: &Measured) {
        self.ops = Some(measured.ops);
        self.raw_ns.push(measured.lead_ns());
        self.loops_ns.extend(measured.overhead.map(|overhead| overhead.twin_ns));
        self.measured.push(measured.clone());
    }

    /// What its visits timed of their cores.
    pub fn readings(&self) -> impl Iterator<Item = Reading> {
        self.measured.iter().filter_map(Reading::of)
    }

    /// The loop of each visit, where it counts and every visit timed it: what the report takes off.
    fn taken_off(&self) -> Option<&[f64]> {
        let timed = self.loops_ns.len() == self.raw_ns.len();
        (timed && loop_counts(&self.raw_ns, &self.loops_ns)).then_some(&self.loops_ns)
    }

    /// What the report makes of the visits.
    fn shown_ns(&self) -> Vec<f64> {
        match self.taken_off() {
            Some(loops) => self.raw_ns.iter().zip(loops).map(|(raw, alone)| raw - alone).collect(),
            None => self.raw_ns.clone(),
        }
    }

    /// Whether the report shows two figures: of visits, or of samples, under two conditions, or of two modes that nobody can name.
    fn is_two(&self, cores: &Cores) -> bool {
        let off = self.taken_off();
        let figure = |stratum: &Stratum| {
            let ns =
                |(place, visit): &(usize, Measured)| visit.lead_ns() - off.map_or(0.0, |off| off[*place]);
            Estimate::of(&stratum.visits.iter().map(ns).collect::<Vec<f64>>())
        };
        let measured: Vec<&Measured> = self.measured.iter().collect();
        strata::split(&self.cell, &measured, cores, figure).is_some() || Modes::of(&self.shown_ns()).is_some()
    }

    /// Infinite too where successive visits are so alike that they are worth too few: the interval is then none of
    /// 95 %, however narrow.
    fn width_now(&self) -> f64 {
        let estimate = Estimate::of(&self.shown_ns()).filter(|estimate| !estimate.full_range);
        estimate.and_then(|estimate| estimate.half_width_ratio()).unwrap_or(f64::INFINITY)
    }

    /// Decides whether its visits are enough, at a look or once a cell of two figures has its visits. Without a
    /// precision, in the rounds for every cell, only two figures end it. A cell that is done stays so.
    pub fn look(&mut self, precision: Option<f64>, cores: &Cores) {
        let visits = self.visits();
        let looked_at = LOOKS.contains(&visits);
        if self.standing != Standing::Active || !(looked_at || visits == MOST_IN_TWO_MODES) {
            return;
        }
        let enough = precision.is_some_and(|precision| looked_at && self.width <= precision);
        if !self.is_two(cores) {
            self.standing = if enough { Standing::Done } else { Standing::Active };
        } else if visits >= MOST_IN_TWO_MODES {
            self.standing = Standing::TwoModes;
        }
    }

    /// Visits until the look at which its interval should be narrow enough, going by how far its figures lie from their median, which
    /// a single disturbed one hardly moves, and by how many of them they are worth; `None` where that is after the last look, and where
    /// they are two figures.
    pub fn visits_to(&self, precision: f64, cores: &Cores) -> Option<usize> {
        if self.is_two(cores) {
            return None;
        }
        let shown = self.shown_ns();
        let Estimate { value, effective_visits, .. } = Estimate::of(&shown)?;
        let away: Vec<f64> = shown.iter().map(|ns| (ns - value).abs()).collect();
        let deviation = DEVIATIONS * median(&away)? / value.abs();
        let independent = (WIDTH_OF_ONE * deviation / precision).powi(2).max(LEAST_VISITS as f64);
        let needed = independent * shown.len() as f64 / effective_visits;
        let look = LOOKS.iter().find(|look| **look > shown.len() && **look as f64 >= needed)?;
        Some(look - shown.len())
    }

    /// How much it wants another visit: the wider its interval, the more. After the last look nothing can make it
    /// done, so it comes behind all others.
    pub fn want(&self) -> f64 {
        let looked_at_last = LOOKS.last().is_some_and(|last| self.visits() >= *last);
        if looked_at_last { -1.0 / self.width.max(f64::MIN_POSITIVE) } else { self.width }
    }
}
