//! Matrix files: TOML text in, tables and cells out. Nothing is read from a disk and nothing is run.
//!
//! ```toml
//! schema = 1
//! title = "A heading"
//! budget = "3m"                          # optional
//!
//! [[table]]
//! id = "A.2"
//! title = "Bandwidth between two processes"
//! measure = "bandwidth"
//! row = "message_bytes"
//! column = "mechanism"
//! split = ["placement"]                  # optional
//! notes = ["A line below the table."]    # optional
//! published = ["A.2", "A.3"]             # optional: published tables that may stand beside it
//! metric = "ns_per_op"                   # optional: what it shows in place of the figure of the measure
//!
//! [table.axes]
//! mechanism = ["pipe", "tcp"]
//! message_bytes = "pow2(1K, 64K)"        # or 4096, "4K", "1..=5", [1024, "2K"]
//! placement = ["same_cpu", "cross_cpu"]
//!
//! [[exclude]]
//! filter = "mechanism:tcp message_bytes:1K"
//! tables = ["A.2"]                       # optional: every table without it
//!
//! [[include]]
//! matrix = "locks"                       # the tables of a shipped matrix
//!
//! [[gate]]
//! filter = "mechanism:pipe message_bytes:64K"
//! min = "500MB/s"                        # a figure in the unit of the measure; or max = "10us"
//! max_regression = "5%"                  # how much slower than the runs that they are compared with
//! ```
//!
//! An axis of the measure that a table does not name has the defaults of [`Measure::axes`], an axis
//! of some mechanisms the default of each driver. A cell leaves out the axes that its mechanism does
//! not have. An axis with several values is row, column or split. The excludes of a file hold for the
//! tables that it includes too; its budget is its own. A gate watches every cell that matches, in the tables that are
//! included too; `max` and `min` want cells of one measure, and mean what a report shows of it: bytes a second of a
//! bandwidth, the time of 1,000,000 increments, of 40,000 requests, of 1,000,000 lines, else of one operation.
//!
//! [`Measure::axes`]: crate::cell::Measure::axes

mod arms;
mod expand;
mod file;
mod filter;
mod gate;
mod merge;
mod mistake;
mod overrides;
mod page;
mod schema;
mod shipped;
mod table;
mod value;

#[cfg(test)]
mod golden;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod tests;

pub use arms::{Paired, Settings};
pub use filter::Filter;
pub use gate::elsewhere;
pub use merge::merge;
pub use mistake::{MOST_MISTAKES, Mistake, Mistakes};
pub use overrides::Override;
pub use schema::schema;
pub use shipped::{SHIPPED, shipped};

use crate::catalog::Catalog;
use crate::record::{Gate, PlannedCell, Table};
use mistake::Place;
pub(crate) use mistake::unknown;
use std::time::Duration;

/// The schema of matrix files that this program reads.
pub const SCHEMA: u32 = 1;

/// The largest matrix file, in bytes.
pub const LARGEST_FILE_BYTES: usize = 1 << 20;

/// What a table may show of its cells: the names of the metrics, which the report makes.
pub const METRIC_NAMES: &[&str] = &[
    "figure",
    "ns_per_op",
    "ops_per_second",
    "cpu_ns_per_op",
    "mb_per_cpu_second",
    "switches_per_op",
    "calls_per_mib",
    "fairness",
    "least_share",
    "most_share",
    "lost_share",
    "percent_of_memory_copy",
    "raw_ns_per_op",
    "overhead_ns_per_op",
    "ns_per_descriptor",
    "cpu_s_per_100000",
    "calls_per_select_call",
    "server_cpu_s",
    "p50_us",
    "p99_us",
    "percent_of_single",
    "drained_s",
    "app_cpu_percent",
    "daemon_cpu_percent",
    "lost_percent",
    "doubled",
    "reordered",
    "torn",
];

/// The most cells that a matrix may have.
pub const MOST_CELLS: usize = 4096;

/// Tables and the cells that they show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    /// The name under which it was read: a shipped name or a file name.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// How long sampling may take, where the file says so.
    pub budget: Option<Duration>,
    /// Its tables, in the order of the file.
    pub tables: Vec<Table>,
    /// The cells of all tables, each once.
    pub cells: Vec<PlannedCell>,
    /// What must hold of some of them.
    pub gates: Vec<Gate>,
}

impl Matrix {
    /// Keeps the cells that match, and drops tables, values and cells that are no longer needed.
    ///
    /// Nothing may be left: the caller says so.
    pub fn retain(&mut self, filter: &Filter) {
        let mut kept = Vec::new();
        let mut moved = Vec::new();
        for planned in std::mem::take(&mut self.cells) {
            let keep = filter.matches(&planned.cell);
            moved.push(keep.then_some(kept.len()));
            kept.extend(keep.then_some(planned));
        }
        self.cells = kept;
        for table in &mut self.tables {
            table.cells = table.cells.iter().filter_map(|position| moved[*position]).collect();
            expand::prune_axes(table, &self.cells);
        }
        self.tables.retain(|table| !table.cells.is_empty());
        for gate in &mut self.gates {
            gate.cells = gate.cells.iter().filter_map(|position| moved[*position]).collect();
        }
        self.gates.retain(|gate| !gate.cells.is_empty());
    }
}

/// Reads a matrix file; `name` is what messages call it.
///
/// # Errors
/// Every mistake of the file, with its place and with what was expected.
pub fn parse(name: &str, text: &str, catalog: &Catalog) -> Result<Matrix, Mistakes> {
    parse_with(name, text, catalog, &[])
}

/// Reads a matrix file and replaces the values of some axes.
///
/// An override holds in each table that has the axis. An axis that gets several values and that the
/// table does not show apart is added to its split. Mechanisms that do not measure what a table
/// shows are left out of it, and a table without any is dropped.
///
/// # Errors
/// Every mistake of the file, or every override that does not fit it.
pub fn parse_with(
    name: &str,
    text: &str,
    catalog: &Catalog,
    overrides: &[Override],
) -> Result<Matrix, Mistakes> {
    parse_from(SHIPPED, name, text, catalog, overrides)
}

/// Reads a matrix file from its bytes, as [`parse_with`] does from its text.
///
/// # Errors
/// As [`parse_with`], and where the bytes are not UTF-8.
pub fn parse_bytes(
    name: &str,
    bytes: &[u8],
    catalog: &Catalog,
    overrides: &[Override],
) -> Result<Matrix, Mistakes> {
    match std::str::from_utf8(bytes) {
        Ok(text) => parse_with(name, text, catalog, overrides),
        Err(error) => {
            let offset = error.valid_up_to();
            let byte = bytes.get(offset).copied().unwrap_or_default();
            let message = format!("the file is not text: byte {} (0x{byte:02X}) is not UTF-8", offset + 1);
            Err(Mistakes::one(Place::of(name, bytes, offset).mistake(message)))
        }
    }
}

fn parse_from(
    library: &[(&str, &str)],
    name: &str,
    text: &str,
    catalog: &Catalog,
    overrides: &[Override],
) -> Result<Matrix, Mistakes> {
    let mut session = file::Session::new(catalog, library);
    let mut document = session.read(name, text);
    let mut mistakes = session.mistakes;
    if mistakes.is_empty() {
        mistakes = overrides::apply(&mut document, overrides, catalog);
    }
    if !mistakes.is_empty() {
        return Err(Mistakes::sorted(mistakes));
    }
    expand::expand(name, document, catalog, !overrides.is_empty()).map_err(Mistakes::sorted)
}
