//! The JSON document of a run, and JSON Lines with an object a visit or a cell.

use super::summary::Summary;
use super::{Export, LINE_SCHEMA, SCHEMA};
use crate::cell::Cell;
use crate::record::{Lead, Measured, Outcome};
use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;

/// The document.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    /// The version of the document.
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    /// The run.
    run: RunFacts<'a>,
    /// What came of each cell, in the order of the matrix.
    cells: &'a [Summary],
}

/// What was run.
#[derive(Serialize, JsonSchema)]
pub struct RunFacts<'a> {
    /// Version of the program that ran it.
    version: &'a str,
    /// The matrices that were named.
    matrices: &'a [String],
    /// Which matrix it was: CRC-32 of its cells and tables, in hexadecimal.
    matrix_crc32: &'a str,
    /// `default`, `quick`, `thorough`, `exact` or `test`. Of a test no figure is shown.
    effort: &'a str,
    /// Seed of the order of visits.
    seed: u64,
    /// Half-width of the 95 % interval at which a cell was done, as a fraction.
    precision: f64,
    /// When the run began, RFC 3339 in UTC.
    started: &'a str,
    /// Why it ended; null where it was killed, or still goes on.
    ended: Option<&'a str>,
    /// The class of the machine, as eight hexadecimal digits, and what it stands for; null in older journals.
    machine_class: Option<&'a [String; 2]>,
    /// Visits that were made, those of cells that were filtered out left out.
    visits: usize,
}

/// A line of JSON Lines.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line<'a> {
    /// What came of a visit.
    Visit(Box<VisitLine<'a>>),
    /// What came of a cell; among visits, of a cell that has none.
    Cell(Box<CellLine<'a>>),
}

/// What came of a cell.
#[derive(Serialize, JsonSchema)]
pub struct CellLine<'a> {
    /// The version of the line.
    #[schemars(extend("const" = LINE_SCHEMA))]
    schema: &'static str,
    /// The cell.
    #[serde(flatten)]
    summary: &'a Summary,
}

/// What came of a visit. What does not apply is null.
#[derive(Serialize, JsonSchema)]
pub struct VisitLine<'a> {
    /// The version of the line.
    #[schemars(extend("const" = LINE_SCHEMA))]
    schema: &'static str,
    /// The cell.
    cell: &'a Cell,
    /// What came of the cell, all its visits together.
    cell_outcome: &'static str,
    /// What came of the visit.
    #[schemars(extend("enum" = ["measured", "unavailable", "failed"]))]
    outcome: &'static str,
    /// Round, from 1.
    round: u32,
    /// Position of the visit in the run, from 1.
    position: u32,
    /// Begin of the visit, nanoseconds since the run began.
    begin_ns: u64,
    /// Duration of the whole visit in nanoseconds.
    duration_ns: u64,
    /// Whether the round took fewer samples a visit, for want of time.
    thrifty: bool,
    /// Which number leads.
    lead: Option<Lead>,
    /// Nanoseconds an operation of a worker, by the number that leads, less the loop where the report takes it off.
    ns_per_op: Option<f64>,
    /// Nanoseconds of CPU time of all workers an operation of any of them, likewise.
    cpu_ns_per_op: Option<f64>,
    /// Minimum over the samples of elapsed nanoseconds an operation, loop included.
    floor_ns: Option<f64>,
    /// Median over the samples, loop included.
    typ_ns: Option<f64>,
    /// Nanoseconds an operation of the loop alone, where that was timed.
    twin_ns: Option<f64>,
    /// Operations a worker in each sample.
    ops: Option<u64>,
    /// Samples.
    samples: Option<usize>,
    /// Whether more workers ran than CPUs were given.
    oversubscribed: Option<bool>,
    /// Stable words for what a reader should know, e.g. `n_drift`.
    flags: &'a [String],
    /// Codes of what disturbed it: `ipcmatrix list warnings`.
    warnings: Vec<&'static str>,
    /// What was being done when it failed.
    phase: Option<&'a str>,
    /// Why it failed or was refused.
    reason: Option<&'a str>,
    /// What would make the cell available.
    remedy: Option<&'a str>,
}

/// The document, with a newline at its end.
///
/// # Errors
/// Where a value has no JSON form; none of those here lacks one.
pub fn json(export: &Export) -> Result<String> {
    let header = &export.run.header;
    let run = RunFacts {
        version: &header.version,
        matrices: &header.matrices,
        matrix_crc32: &header.matrix_crc32,
        effort: &header.effort,
        seed: header.seed,
        precision: header.precision,
        started: &header.started,
        ended: export.run.end.as_ref().map(|end| end.reason.as_str()),
        machine_class: header.machine_class.as_ref(),
        visits: export.run.visits.len(),
    };
    let document = Document { schema: SCHEMA, run, cells: &export.cells };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// An object a cell, in the order of the header.
///
/// # Errors
/// As [`json`].
pub fn cell_lines(export: &Export) -> Result<String> {
    lines(export.cells.iter().map(cell_line))
}

/// An object a visit, in the order in which they were made; then one for each cell without a visit.
///
/// # Errors
/// As [`json`].
pub fn visit_lines(export: &Export) -> Result<String> {
    let visits = (0..export.run.visits.len()).map(|place| visit_line(export, place));
    lines(visits.chain(export.cells.iter().filter(|cell| cell.visits == 0).map(cell_line)))
}

fn lines<'a>(lines: impl Iterator<Item = Line<'a>>) -> Result<String> {
    let mut text = String::new();
    for line in lines {
        text += &serde_json::to_string(&line)?;
        text.push('\n');
    }
    Ok(text)
}

fn cell_line(summary: &Summary) -> Line<'_> {
    Line::Cell(Box::new(CellLine { schema: LINE_SCHEMA, summary }))
}

/// The visit at that place of the run.
fn visit_line<'a>(export: &'a Export, place: usize) -> Line<'a> {
    let (visit, numbers) = (&export.run.visits[place], export.visits[place]);
    let codes = export.findings.of_visit(place);
    let mut line = VisitLine {
        schema: LINE_SCHEMA,
        cell: &visit.cell,
        cell_outcome: export.cells[visit.cell_index].outcome,
        outcome: "measured",
        round: visit.round,
        position: visit.position,
        begin_ns: visit.begin_ns,
        duration_ns: visit.duration_ns,
        thrifty: visit.thrifty,
        lead: None,
        ns_per_op: numbers.map(|numbers| numbers.ns_per_op),
        cpu_ns_per_op: numbers.and_then(|numbers| numbers.cpu_ns_per_op),
        floor_ns: None,
        typ_ns: None,
        twin_ns: None,
        ops: None,
        samples: None,
        oversubscribed: None,
        flags: &[],
        warnings: codes.iter().map(|code| code.detector().code).collect(),
        phase: None,
        reason: None,
        remedy: None,
    };
    match &visit.outcome {
        Outcome::Measured(measured) => line.add_measured(measured),
        Outcome::Unavailable(why) => {
            line.outcome = "unavailable";
            line.reason = Some(&why.reason);
            line.remedy = Some(&why.remedy);
        }
        Outcome::Failed { phase, error } => {
            line.outcome = "failed";
            line.phase = Some(phase);
            line.reason = Some(error);
        }
    }
    Line::Visit(Box::new(line))
}

impl<'a> VisitLine<'a> {
    fn add_measured(&mut self, measured: &'a Measured) {
        self.lead = Some(measured.lead);
        (self.floor_ns, self.typ_ns) = (Some(measured.floor_ns), Some(measured.typ_ns));
        self.twin_ns = measured.overhead.map(|overhead| overhead.twin_ns);
        (self.ops, self.samples) = (Some(measured.ops), Some(measured.samples.len()));
        self.oversubscribed = Some(measured.oversubscribed);
        self.flags = &measured.flags;
    }
}
