//! Progress on standard error, drawn between visits and by no thread of its own.

use crate::cell::Cell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// How far a run is.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// The round, from 1.
    pub round: usize,
    /// Visits made in this round.
    pub place: usize,
    /// Visits of this round.
    pub of: usize,
    /// Cells that are precise enough.
    pub done_cells: usize,
    /// Cells of the matrix.
    pub cells: usize,
    /// Nanoseconds since the run began.
    pub elapsed_ns: u64,
    /// Seconds that the run may take.
    pub budget_s: f64,
}

/// Is told of each visit before it begins.
pub trait Progress {
    /// A visit of that cell is about to begin.
    fn visit(&mut self, standing: &Standing, cell: &Cell);
    /// The run is over.
    fn done(&mut self);
}

/// Says nothing.
pub struct Quiet;

impl Progress for Quiet {
    fn visit(&mut self, _standing: &Standing, _cell: &Cell) {}
    fn done(&mut self) {}
}

/// One line that is drawn over itself.
pub struct Bar {
    bar: ProgressBar,
}

/// A bar where standard error is a terminal and nobody asked for quiet, else nothing.
pub fn choose(quiet: bool) -> Box<dyn Progress> {
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    if quiet || ci || !std::io::stderr().is_terminal() {
        return Box::new(Quiet);
    }
    // No steady tick: that would be a thread of ours while a batch runs.
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
        bar.set_style(style);
    }
    Box::new(Bar { bar })
}

impl Progress for Bar {
    fn visit(&mut self, standing: &Standing, cell: &Cell) {
        self.bar.set_message(line(standing, cell));
        self.bar.tick();
    }

    fn done(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn line(standing: &Standing, cell: &Cell) -> String {
    let elapsed_s = standing.elapsed_ns as f64 / 1e9;
    format!(
        "round {}, visit {}/{} | {} of {} cells precise enough | {elapsed_s:.0} s of {:.0} s | {cell}",
        standing.round,
        standing.place + 1,
        standing.of,
        standing.done_cells,
        standing.cells,
        standing.budget_s
    )
}
