//! Progress on standard error, drawn between visits and by no thread of its own.

use crate::cell::Cell;
use crate::record::{Outcome, Visit};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};

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

/// Is told of each visit before it begins, and of what came of it.
pub trait Progress {
    /// A visit of that cell is about to begin.
    fn visit(&mut self, standing: &Standing, cell: &Cell);
    /// The visit of a cell is over.
    fn visited(&mut self, _visit: &Visit) {}
    /// The run is over.
    fn done(&mut self);
}

/// When progress is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// As suits the stream
    #[default]
    Auto,
    /// More often
    Always,
    /// Not at all
    Never,
}

/// Says nothing.
pub struct Quiet;

impl Progress for Quiet {
    fn visit(&mut self, _standing: &Standing, _cell: &Cell) {}
    fn done(&mut self) {}
}

/// One line that is drawn over itself.
struct Bar {
    bar: ProgressBar,
}

/// A line now and then.
struct Lines<W> {
    to: W,
    /// Between two lines, and when the next is due; `None` is never.
    every_ns: Option<u64>,
    next_ns: u64,
    /// Whether each visit has a line too.
    verbose: bool,
}

/// Between two lines where nobody watches.
const SELDOM_NS: u64 = 30_000_000_000;
/// Between two lines where they are asked for.
const OFTEN_NS: u64 = 5_000_000_000;

/// How progress is told on standard error: where visits are told, and without a terminal, in lines.
pub fn choose(when: When, verbose: bool) -> Box<dyn Progress> {
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    let terminal = std::io::stderr().is_terminal();
    let every_ns = match when {
        When::Never if !verbose => return Box::new(Quiet),
        When::Never => None,
        _ if verbose => None,
        When::Auto if terminal && !ci => return Box::new(Bar::new()),
        When::Always if terminal => return Box::new(Bar::new()),
        When::Auto => Some(SELDOM_NS),
        When::Always => Some(OFTEN_NS),
    };
    Box::new(Lines { to: std::io::stderr(), every_ns, next_ns: every_ns.unwrap_or(0), verbose })
}

impl Bar {
    fn new() -> Bar {
        // No steady tick: that would be a thread of ours while a batch runs.
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        Bar { bar }
    }
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

// Nobody is left to be told where a line cannot be written.
impl<W: Write> Progress for Lines<W> {
    fn visit(&mut self, standing: &Standing, cell: &Cell) {
        if let Some(every_ns) = self.every_ns.filter(|_| standing.elapsed_ns >= self.next_ns) {
            self.next_ns = standing.elapsed_ns + every_ns;
            let _ = writeln!(self.to, "{}", line(standing, cell));
        }
    }

    fn visited(&mut self, visit: &Visit) {
        if self.verbose {
            let _ = writeln!(self.to, "{}", told(visit));
        }
    }

    fn done(&mut self) {}
}

/// A visit and what came of it, in a line.
fn told(visit: &Visit) -> String {
    let Visit { position, round, cell, .. } = visit;
    let outcome = match &visit.outcome {
        Outcome::Measured(measured) => {
            format!("verified, samples: {}, operations in each: {}", measured.samples.len(), measured.ops)
        }
        Outcome::Unavailable(why) => format!("unavailable: {}", why.reason),
        Outcome::Failed { phase, error } => format!("failed ({phase}): {error}"),
    };
    let arm = visit.arm.map_or(String::new(), |arm| format!(", arm {}", format!("{arm:?}").to_lowercase()));
    let waited_ms = visit.noise.and_then(|noise| noise.waited_ns).unwrap_or(0) / 1_000_000;
    let waited = if waited_ms > 0 { format!(", waited {waited_ms} ms for others") } else { String::new() };
    let took_ms = visit.duration_ns / 1_000_000;
    let text = format!("visit {position}, round {round}{arm}: {cell}: {outcome}; {took_ms} ms{waited}");
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn line(standing: &Standing, cell: &Cell) -> String {
    let elapsed_s = standing.elapsed_ns as f64 / 1e9;
    // A day is no limit that anybody waits for.
    let of = match standing.budget_s {
        budget_s if budget_s < 86_400.0 => format!(" of {budget_s:.0} s"),
        _ => String::new(),
    };
    format!(
        "round {}, visit {}/{} | {} of {} cells precise enough | {elapsed_s:.0} s{of} | {cell}",
        standing.round,
        standing.place + 1,
        standing.of,
        standing.done_cells,
        standing.cells
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Measure;

    fn lines(every_ns: Option<u64>, verbose: bool) -> Lines<Vec<u8>> {
        Lines { to: Vec::new(), every_ns, next_ns: every_ns.unwrap_or(0), verbose }
    }

    fn visit(outcome: Outcome) -> Visit {
        let cell = Cell::new(Measure::RoundTrip, "a_way");
        let (begin_ns, duration_ns) = (0, 3_000_000);
        let (cell_index, round, position) = (0, 2, 7);
        let (thrifty, arm, noise) = (false, None, None);
        Visit { cell_index, cell, round, position, begin_ns, duration_ns, thrifty, arm, noise, outcome }
    }

    #[test]
    fn a_line_comes_when_it_is_due_and_not_before() {
        let mut lines = lines(Some(10), false);
        let cell = Cell::new(Measure::RoundTrip, "a_way");
        for elapsed_ns in 0..=35 {
            let of =
                Standing { round: 1, place: 0, of: 1, done_cells: 0, cells: 1, elapsed_ns, budget_s: 9.0 };
            lines.visit(&of, &cell);
        }
        let failed = Outcome::Failed { phase: "open".into(), error: "no".into() };
        lines.visited(&visit(failed));
        assert_eq!(String::from_utf8(lines.to).unwrap().lines().count(), 3, "at 10, 20 and 30");
    }

    #[test]
    fn a_visit_is_told_in_one_line_without_escapes() {
        let mut lines = lines(None, true);
        let error = "two\nlines \u{1b}[31m".to_owned();
        lines.visited(&visit(Outcome::Failed { phase: "open".into(), error }));
        let said = String::from_utf8(lines.to).unwrap();
        assert!(said.starts_with("visit 7, round 2: "), "{said}");
        assert!(said.contains("a_way") && said.ends_with("failed (open): two lines  [31m; 3 ms\n"), "{said}");
    }
}
