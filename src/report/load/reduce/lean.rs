//! A line of a journal without what a comparison does not need: what is left out is skipped and never built.

use crate::cell::Cell;
use crate::record::{Gate, Lead, Line, Overhead, SCHEMA, Table};
use crate::report::load::line::{explain, parse_line};
use crate::report::load::{SECOND_HEADER, check_cell, check_header};
use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The header of a run.
pub struct Header {
    pub version: String,
    pub effort: String,
    pub machine_class: Option<[String; 2]>,
    pub cells: Vec<crate::record::PlannedCell>,
    /// The text of each cell, as visits most likely have it.
    pub texts: Vec<String>,
    pub gates: Vec<Gate>,
    pub tables: Vec<Table>,
}

/// A visit.
#[derive(Deserialize)]
pub struct Visit<'a> {
    #[serde(borrow)]
    schema: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(default)]
    pub cell_index: usize,
    #[serde(borrow)]
    cell: Option<&'a RawValue>,
    #[serde(default)]
    pub thrifty: bool,
    #[serde(borrow, default)]
    pub outcome: Cow<'a, str>,
    lead: Option<Lead>,
    floor_ns: Option<f64>,
    typ_ns: Option<f64>,
    ops: Option<u64>,
    pub overhead: Option<Overhead>,
    pub ping_pong_ns: Option<[f64; 2]>,
    pub whole_core_ns: Option<[u64; 2]>,
    pub dependent_ns: Option<[u64; 2]>,
    #[serde(borrow)]
    pub effective: Option<&'a RawValue>,
    #[serde(borrow)]
    samples: Option<&'a RawValue>,
    pub reason: Option<String>,
    pub remedy: Option<String>,
    pub phase: Option<String>,
    pub error: Option<String>,
}

/// What a line says to be.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(borrow)]
    schema: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Sample {
    elapsed_ns: u64,
}

impl Visit<'_> {
    /// The number that leads, and nanoseconds an operation by it.
    pub fn lead_ns(&self) -> Result<(Lead, f64)> {
        let damaged = "a measured visit without its numbers: remove the line if it is damaged";
        let lead = self.lead.context(damaged)?;
        let ns = match lead {
            Lead::Floor => self.floor_ns,
            Lead::Typ => self.typ_ns,
            Lead::Mean => Some(self.mean_ns().context(damaged)?),
        };
        Ok((lead, ns.context(damaged)?))
    }

    fn mean_ns(&self) -> Option<f64> {
        let samples: Vec<Sample> = serde_json::from_str(self.samples?.get()).ok()?;
        let elapsed: u64 = samples.iter().map(|sample| sample.elapsed_ns).sum();
        Some(elapsed as f64 / (samples.len() as f64 * self.ops? as f64))
    }
}

/// Reads the first line.
pub fn header(line: &str) -> Result<Header> {
    // Read as what it says to be, a header takes a part of the time; the strict reader says what is wrong.
    let plain =
        serde_json::from_str::<Kind>(line).is_ok_and(|own| own.schema == SCHEMA && own.kind == "header");
    let header = match plain.then(|| serde_json::from_str(line)) {
        Some(Ok(header)) => header,
        _ => match parse_line(line)? {
            Line::Header(header) => *header,
            _ => {
                bail!(
                    "expected the header first: the beginning of the journal is missing; name a whole journal"
                )
            }
        },
    };
    check_header(&header)?;
    ensure!(
        header.arms.is_none(),
        "a run of two arms compares them itself: print that by `ipcmatrix report`, and name runs of one arm here"
    );
    let texts = header.cells.iter().map(|planned| serde_json::to_string(&planned.cell));
    let texts = texts.collect::<serde_json::Result<Vec<String>>>()?;
    let crate::record::Header { version, effort, machine_class, cells, gates, tables, .. } = header;
    Ok(Header { version, effort, machine_class, cells, texts, gates, tables })
}

/// Reads another line; `None` where it is no visit.
pub fn visit<'a>(line: &'a str, header: &Header) -> Result<Option<Visit<'a>>> {
    let visit: Visit = serde_json::from_str(line).map_err(|error| explain(line, &error))?;
    if visit.schema != SCHEMA || !matches!(&*visit.kind, "visit" | "end" | "resumed") {
        // Another version, a second header, or a kind that does not exist: the strict reader says which.
        return match parse_line(line)? {
            Line::Header(_) => bail!(SECOND_HEADER),
            _ => Ok(None),
        };
    }
    if &*visit.kind != "visit" {
        return Ok(None);
    }
    let text = visit.cell.map_or("", |cell| cell.get());
    if header.texts.get(visit.cell_index).is_none_or(|known| known != text) {
        let cell: Cell = serde_json::from_str(text).map_err(|error| explain(line, &error))?;
        check_cell(visit.cell_index, &cell, &header.cells)?;
    }
    ensure!(
        matches!(&*visit.outcome, "measured" | "unavailable" | "failed"),
        "outcome {:?}: expected measured, unavailable or failed; remove the line if it is damaged",
        visit.outcome
    );
    Ok(Some(visit))
}
