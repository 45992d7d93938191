//! The Go benchmark data format, as benchstat and its kin read it: one line a visit.
//!
//! Source: "Proposal: Go Benchmark Data Format" (golang.org/design/14313-benchmark-format) and the documentation of
//! golang.org/x/perf/benchfmt. Names are `BenchmarkBandwidth/mechanism=pipe/...`.

use super::{Export, name};
use crate::cell::{Axis, Cell, Measure};
use crate::record::{Header, Outcome};
use crate::report::escape::line;
use std::fmt::Write;

/// The visits of the cells that have a figure, in the order in which they were made.
///
/// The lines in front have what is the same for every run that may be compared with this one: benchstat keeps apart
/// what differs in them. A visit's iterations are the operations a worker of one sample.
pub fn go(export: &Export) -> String {
    let mut text = head(&export.run.header);
    for (visit, numbers) in export.run.visits.iter().zip(&export.visits) {
        let (Outcome::Measured(measured), Some(numbers)) = (&visit.outcome, numbers) else { continue };
        if !has_place(export, visit.cell_index) {
            continue;
        }
        let cell = &visit.cell;
        let ns = numbers.ns_per_op;
        let _infallible = write!(text, "Benchmark{} {} {ns} ns/op", full_name(cell), measured.ops);
        if cell.measure() == Some(Measure::Bandwidth) {
            let bytes = cell.count(Axis::MessageBytes) as f64;
            let _infallible = write!(text, " {} B/s", bytes * 1e9 / ns);
        }
        if let Some(cpu_ns) = numbers.cpu_ns_per_op {
            let _infallible = write!(text, " {cpu_ns} cpu-ns/op");
        }
        text.push('\n');
    }
    text
}

/// Whether the visits of the cell count: single visits may stand where no one number may.
fn has_place(export: &Export, index: usize) -> bool {
    let cell = &export.cells[index];
    cell.figure.is_some() || !cell.modes.is_empty()
}

fn head(header: &Header) -> String {
    let mut text = String::from("pkg: ipcmatrix\n");
    let mut fact = |key: &str, value: &str| {
        let _infallible = writeln!(text, "{key}: {}", line(value));
    };
    fact("effort", &header.effort);
    if let Some([class, words]) = &header.machine_class {
        fact("machine-class", class);
        fact("machine", words);
    }
    text + "Unit B/s better=higher\nUnit cpu-ns/op better=lower\n"
}

/// `RoundTrip/mechanism=pipe`: what follows `Benchmark` must not begin with a small letter.
fn full_name(cell: &Cell) -> String {
    let words = cell.word(Axis::Measure).split('_').map(|word| {
        let mut letters = word.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first.into_iter().chain(letters).collect::<String>()
    });
    name::escaped(&words.collect::<String>()) + &name::axes(cell)
}
