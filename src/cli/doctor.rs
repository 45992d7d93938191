//! `doctor`: which shipped cells this machine refuses, and what disturbs measuring on it. Changes nothing.

use super::arguments::{Doctor as Arguments, TextOrJson};
use super::colour::{self, Paint};
use super::{WELL, output};
use crate::catalog::Catalog;
use crate::cell::{Cell, Unavailable};
use crate::doctor::{self, Diagnosis, Severity};
use crate::environment::Environment;
use crate::matrix::{self, SHIPPED};
use crate::report::escape;
use crate::runner::process;
use anyhow::Result;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The version that the JSON document carries.
const SCHEMA: &str = "ipcmatrix.doctor.v1";

/// The document.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    #[schemars(extend("const" = SCHEMA))]
    schema: &'static str,
    machine_class: String,
    machine: Vec<String>,
    #[serde(flatten)]
    diagnosis: Diagnosis,
    shipped_cells: usize,
    limits: Vec<Limit>,
}

/// Something that makes cells unavailable.
#[derive(Serialize, JsonSchema)]
struct Limit {
    #[serde(flatten)]
    why: Unavailable,
    cells: usize,
    mechanisms: Vec<String>,
}

/// Prints what there is to say about this machine.
///
/// # Errors
/// Where cells cannot be looked at, or the reader of standard output refuses.
pub fn doctor(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let environment = Environment::read(Path::new("/"));
    let cells = shipped_cells(catalog)?;
    let document = Document {
        schema: SCHEMA,
        machine_class: environment.class(),
        machine: environment.summary_lines(),
        diagnosis: doctor::diagnose(&environment),
        limits: limits(&cells, process::probe(&cells)?),
        shipped_cells: cells.len(),
    };
    output::print(&match arguments.format {
        TextOrJson::Text => text(&document),
        TextOrJson::Json => serde_json::to_string_pretty(&document)? + "\n",
    })?;
    Ok(WELL)
}

/// The cells of all matrices that are built in, each once.
fn shipped_cells(catalog: &Catalog) -> Result<Vec<Cell>> {
    let read = |(name, text): &(&str, &str)| matrix::parse(name, text, catalog);
    let matrices: Result<Vec<_>, _> = SHIPPED.iter().map(read).collect();
    let merged = matrix::merge(matrices.map_err(|mistakes| anyhow::anyhow!("{mistakes}"))?);
    Ok(merged.cells.into_iter().map(|planned| planned.cell).collect())
}

/// What refuses cells, with those that it refuses; what refuses most comes first.
fn limits(cells: &[Cell], refused: Vec<Option<Unavailable>>) -> Vec<Limit> {
    let mut by_reason: BTreeMap<Unavailable, Vec<&Cell>> = BTreeMap::new();
    for (cell, why) in cells.iter().zip(refused) {
        if let Some(why) = why {
            by_reason.entry(why).or_default().push(cell);
        }
    }
    let limit = |(why, cells): (Unavailable, Vec<&Cell>)| {
        let mut mechanisms: Vec<String> = cells.iter().map(|cell| cell.mechanism().to_owned()).collect();
        mechanisms.sort();
        mechanisms.dedup();
        Limit { why, cells: cells.len(), mechanisms }
    };
    let mut limits: Vec<Limit> = by_reason.into_iter().map(limit).collect();
    limits.sort_by_key(|limit| std::cmp::Reverse(limit.cells));
    limits
}

fn text(document: &Document) -> String {
    let mut text = format!("machine class {}\n", document.machine_class);
    for line in &document.machine {
        let _ = writeln!(text, "  {}", escape::line(line));
    }
    noise(&mut text, &document.diagnosis);
    refusals(&mut text, document);
    text
}

/// The word of a severity, in its colour where standard output shows colours.
fn coloured(severity: Severity) -> String {
    match severity {
        Severity::Severe => Paint::stdout().word(colour::BAD, severity.name()),
        Severity::Warning => Paint::stdout().word(colour::DOUBTFUL, severity.name()),
        Severity::Note => severity.name().to_owned(),
    }
}

fn noise(text: &mut String, diagnosis: &Diagnosis) {
    let head = match diagnosis.findings.len() {
        0 => "nothing that disturbs measuring was found".to_owned(),
        many => format!("what disturbs measuring here, the worst first ({many})"),
    };
    let _ = writeln!(text, "\n{head}");
    for finding in &diagnosis.findings {
        let _ = writeln!(
            text,
            "  {} {}: {}",
            coloured(finding.severity),
            finding.name,
            escape::line(&finding.found)
        );
        let _ = writeln!(text, "    effect: {}", finding.effect);
        let _ = writeln!(text, "    remedy: {}", escape::line(&finding.remedy));
    }
    let _ = writeln!(
        text,
        "what disturbs a run stands in its report; what that can be: `ipcmatrix list warnings`"
    );
    if !diagnosis.unchecked.is_empty() {
        let _ = writeln!(text, "\nwhat could not be looked at ({})", diagnosis.unchecked.len());
    }
    for unchecked in &diagnosis.unchecked {
        let _ = writeln!(text, "  {}: {}", unchecked.name, escape::line(&unchecked.reason));
    }
}

fn refusals(text: &mut String, document: &Document) {
    let refused: usize = document.limits.iter().map(|limit| limit.cells).sum();
    let _ = writeln!(
        text,
        "\ncells of the built-in matrices: {}, unavailable here: {refused}",
        document.shipped_cells
    );
    for limit in &document.limits {
        let names = limit.mechanisms.join(", ");
        let _ = writeln!(text, "  {} of {names}: {}", limit.cells, escape::line(&limit.why.reason));
        let _ = writeln!(text, "    remedy: {}", escape::line(&limit.why.remedy));
    }
}
