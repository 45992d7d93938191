//! Exports: what came of a run, in the formats that other programs read.
//!
//! This room works on yesterday's records, as the reports do: it starts nothing, reads no clock, and the same records
//! give the same bytes. [`summary`] says what came of each cell; a file a format writes it down. Cells that a format
//! has no place for are told by [`fn@left_out`].

mod bmf;
mod github_action;
mod go;
mod json;
mod left_out;
mod name;
mod openmetrics;
pub mod summary;
mod summary_csv;
mod visits;

pub use bmf::bmf;
pub use github_action::{Direction, github_action, is_empty};
pub use go::go;
pub use json::{CellLine, Document, Line, RunFacts, VisitLine, cell_lines, json, visit_lines};
pub use left_out::{Place, left_out};
pub use openmetrics::openmetrics;
pub use summary_csv::summary_csv;

use crate::cell::Cell;
use crate::record::Header;
use crate::report::cells::slots;
use crate::report::load::Run;
use crate::report::metric::Metric;
use crate::report::warnings::{Codes, Findings};
use anyhow::{Result, bail};
use std::collections::BTreeSet;
use summary::Summary;

/// The version that the JSON document carries.
pub const SCHEMA: &str = "ipcmatrix.export.v1";

/// The version that each line of JSON Lines carries.
pub const LINE_SCHEMA: &str = "ipcmatrix.export_line.v1";

/// A run, and what came of its cells.
pub struct Export<'a> {
    run: &'a Run,
    /// One a cell of the header, in its order.
    pub cells: Vec<Summary>,
    /// One a visit: its numbers, where it has some.
    visits: Vec<Option<visits::Numbers>>,
    /// The warnings of visits and figures.
    findings: Findings,
}

impl<'a> Export<'a> {
    /// What came of the cells of a run, without the warnings that are muted.
    ///
    /// # Errors
    /// A cell that stands in the header twice, as it does where two arms differ in no axis: its two figures would have one
    /// name.
    pub fn of(run: &'a Run, muted: Codes) -> Result<Export<'a>> {
        check_names(&run.header)?;
        let findings = Findings::of(run, muted);
        let slots = slots(run, Metric::Figure);
        let summary = |(index, slot)| Summary::of(run, index, slot, &findings);
        let cells = slots.iter().enumerate().map(summary).collect();
        let visits = visits::numbers(run);
        Ok(Export { run, cells, visits, findings })
    }
}

fn check_names(header: &Header) -> Result<()> {
    let mut seen: BTreeSet<&Cell> = BTreeSet::new();
    for planned in &header.cells {
        if !seen.insert(&planned.cell) {
            let cell = crate::report::escape::line(&planned.cell.to_string());
            if header.arms.is_some() {
                bail!(
                    "the cell `{cell}` stands for both arms of this run, whose figures would have one name: `ipcmatrix report` prints \
                     their comparison, `ipcmatrix ab --format json` one for programs; export takes a run of one arm, or arms that \
                     differ in an axis"
                );
            }
            bail!("the cell `{cell}` stands twice in the header: the header is damaged; run again");
        }
    }
    Ok(())
}
