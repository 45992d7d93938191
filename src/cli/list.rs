//! `list`: what there is, as tables or as one JSON document.

use super::arguments::{List as Arguments, Listed, TextOrJson};
use super::{WELL, output};
use crate::catalog::{Catalog, Driver, Reach};
use crate::cell::{AXES, Axis, AxisSpec, Cell, Kind, Measure, Unavailable, Value};
use crate::matrix::{self, SHIPPED};
use crate::report::metric::{METRICS, MetricSpec};
use crate::report::warnings::{DETECTORS, Detector};
use crate::runner::process;
use anyhow::Result;
use serde::Serialize;
use std::fmt::Write;
use tabled::builder::Builder;
use tabled::settings::Style;

/// The version that the JSON document carries.
const SCHEMA: &str = "ipcmatrix.list.v1";

/// What was asked for, and nothing else.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrices: Option<Vec<Matrix>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mechanisms: Option<Vec<Mechanism>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    axes: Option<Vec<Words>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<Vec<Shown>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<Warning>>,
}

/// A matrix that is built in.
#[derive(Serialize)]
struct Matrix {
    name: &'static str,
    cells: usize,
    /// `None` where the matrix has none of its own.
    budget_s: Option<f64>,
    #[serde(skip)]
    budget: String,
    tables: Vec<String>,
    title: String,
}

/// A mechanism.
#[derive(Serialize)]
struct Mechanism {
    name: &'static str,
    family: &'static str,
    measures: Vec<&'static str>,
    /// Whom it can serve.
    reach: &'static str,
    /// Whether this machine can run its smallest cell.
    here: bool,
    /// Why not.
    unavailable: Option<Unavailable>,
    summary: &'static str,
}

/// An axis: words that it takes, or numbers in a range, both ends included.
#[derive(Serialize)]
struct Words {
    name: &'static str,
    /// `words`, `mechanism`, `path`, `count` or `bytes`.
    kind: &'static str,
    words: &'static [&'static str],
    least: Option<u64>,
    most: Option<u64>,
    help: &'static str,
}

/// A metric.
#[derive(Serialize)]
struct Shown {
    name: &'static str,
    /// Empty where it is the measure's.
    unit: &'static str,
    measures: Vec<&'static str>,
    more_is_better: Option<bool>,
    help: &'static str,
}

/// What reports warn of.
#[derive(Serialize)]
struct Warning {
    code: &'static str,
    name: &'static str,
    of: &'static str,
    threshold: String,
    /// Whether it counts for the verdict.
    disturbs: bool,
    text: &'static str,
    advice: &'static str,
}

/// Prints what was asked for, or all of it.
///
/// # Errors
/// What the reader of standard output refuses.
pub fn list(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let asked = |what: Listed| arguments.what.is_none_or(|only| only == what);
    let document = Document {
        schema: SCHEMA,
        matrices: asked(Listed::Matrices).then(|| matrices(catalog)),
        mechanisms: asked(Listed::Mechanisms).then(|| mechanisms(catalog)).transpose()?,
        axes: asked(Listed::Axes).then(|| AXES.iter().map(words).collect()),
        metrics: asked(Listed::Metrics).then(|| METRICS.iter().map(shown).collect()),
        warnings: asked(Listed::Warnings).then(|| DETECTORS.iter().map(warning).collect()),
    };
    output::print(&match arguments.format {
        TextOrJson::Text => document.text(),
        TextOrJson::Json => serde_json::to_string_pretty(&document)? + "\n",
    })?;
    Ok(WELL)
}

impl Document {
    fn text(&self) -> String {
        let parts = [
            self.matrices.as_deref().map(matrices_text),
            self.mechanisms.as_deref().map(mechanisms_text),
            self.axes.as_deref().map(axes_text),
            self.metrics.as_deref().map(metrics_text),
            self.warnings.as_deref().map(warnings_text),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }
}

fn names(measures: &[Measure]) -> Vec<&'static str> {
    measures.iter().map(|measure| measure.name()).collect()
}

fn table<const COLUMNS: usize>(
    head: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
) -> String {
    let mut builder = Builder::default();
    builder.push_record(head);
    rows.for_each(|row| builder.push_record(row));
    format!("{}\n", builder.build().with(Style::psql()))
}

fn matrices(catalog: &Catalog) -> Vec<Matrix> {
    let row = |(name, text): &(&'static str, &str)| {
        let matrix = matrix::parse(name, text, catalog).unwrap_or_default();
        Matrix {
            name,
            cells: matrix.cells.len(),
            budget_s: matrix.budget.map(|budget| budget.as_secs_f64()),
            budget: matrix
                .budget
                .map_or(String::new(), |budget| humantime::format_duration(budget).to_string()),
            tables: matrix.tables.into_iter().map(|table| table.id).collect(),
            title: matrix.title,
        }
    };
    SHIPPED.iter().map(row).collect()
}

fn matrices_text(all: &[Matrix]) -> String {
    let row = |matrix: &Matrix| {
        [
            matrix.name.to_owned(),
            matrix.cells.to_string(),
            matrix.budget.clone(),
            matrix.tables.join(" "),
            matrix.title.clone(),
        ]
    };
    table(["matrix", "cells", "budget", "tables", "title"], all.iter().map(row))
}

/// The smallest cell of a driver: what refuses this refuses all of them.
fn smallest_cell(driver: &Driver) -> Cell {
    let mut cell = Cell::new(driver.measure, driver.mechanism);
    let read = |text: &str| text.parse().map_or_else(|_| Value::word(text), Value::Count);
    for (axis, defaults) in driver.measure.axes() {
        let value = match axis {
            Axis::Spawn if driver.reach == Reach::Threads => Value::word("threads"),
            Axis::Spawn => Value::word("processes"),
            Axis::Placement => Value::word("free"),
            _ => defaults.first().map_or(Value::Count(1), |text| read(text)),
        };
        cell.set(*axis, value);
    }
    for (axis, value) in driver.extra_axes {
        cell.set(*axis, read(value));
    }
    cell
}

/// Every mechanism with what it can measure, and whether this machine can run it.
fn mechanisms(catalog: &Catalog) -> Result<Vec<Mechanism>> {
    let drivers: Vec<&Driver> = catalog.drivers().collect();
    let cells: Vec<Cell> = drivers.iter().map(|driver| smallest_cell(driver)).collect();
    let refused = process::probe(&cells)?;
    let row = |name: &'static str| {
        let of_name: Vec<usize> =
            (0..drivers.len()).filter(|index| drivers[*index].mechanism == name).collect();
        let driver = drivers[of_name[0]];
        let unavailable = of_name.iter().find_map(|index| refused[*index].clone());
        Mechanism {
            name,
            family: driver.family.name(),
            measures: of_name.iter().map(|index| drivers[*index].measure.name()).collect(),
            reach: driver.reach.name(),
            here: unavailable.is_none(),
            unavailable,
            summary: driver.summary,
        }
    };
    Ok(unique(drivers.iter().map(|driver| driver.mechanism).collect()).into_iter().map(row).collect())
}

fn mechanisms_text(all: &[Mechanism]) -> String {
    let row = |mechanism: &Mechanism| {
        [
            mechanism.name.to_owned(),
            mechanism.family.to_owned(),
            mechanism.measures.join(", "),
            mechanism.reach.to_owned(),
            if mechanism.here { "yes" } else { "no" }.to_owned(),
            mechanism.summary.to_owned(),
        ]
    };
    let head = ["mechanism", "family", "measures", "serves", "here", "what it is"];
    let mut text = table(head, all.iter().map(row));
    let mut heading = "not on this machine:\n";
    for mechanism in all {
        if let Some(why) = &mechanism.unavailable {
            let _ = writeln!(text, "{heading}{}: {}; {}", mechanism.name, why.reason, why.remedy);
            heading = "";
        }
    }
    text
}

/// Each name once, in the order in which they first come.
fn unique(names: Vec<&'static str>) -> Vec<&'static str> {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().filter(|name| seen.insert(*name)).collect()
}

fn shown(spec: &MetricSpec) -> Shown {
    let MetricSpec { name, unit, measures, more_is_better, help, .. } = *spec;
    Shown { name, unit, measures: names(measures), more_is_better, help }
}

fn metrics_text(all: &[Shown]) -> String {
    let row = |metric: &Shown| [metric.name.to_owned(), metric.measures.join(", "), metric.help.to_owned()];
    table(["metric", "of", "what it is"], all.iter().map(row))
}

fn warning(detector: &Detector) -> Warning {
    let Detector { code, name, text, advice, disturbs, .. } = *detector;
    let (of, threshold) = (detector.concern.name(), detector.threshold().to_string());
    Warning { code, name, of, threshold, disturbs, text, advice }
}

fn warnings_text(all: &[Warning]) -> String {
    let row = |warning: &Warning| {
        let Warning { code, name, of, threshold, text, advice, .. } = warning;
        [*code, *name, *of, threshold, *text, *advice].map(str::to_owned)
    };
    table(["warning", "name", "of", "fires at", "what it means", "advice"], all.iter().map(row))
}

fn words(spec: &AxisSpec) -> Words {
    let (kind, words, bounds): (_, &[&str], _) = match spec.kind {
        Kind::Words(words) => ("words", words, None),
        Kind::Mechanism => ("mechanism", &[], None),
        Kind::Path(words) => ("path", words, None),
        Kind::Count(least, most) => ("count", &[], Some((least, most))),
        Kind::Bytes(least, most) => ("bytes", &[], Some((least, most))),
    };
    let (least, most) = bounds.unzip();
    Words { name: spec.name, kind, words, least, most, help: spec.help }
}

fn axes_text(all: &[Words]) -> String {
    let values = |axis: &Words| match (axis.kind, axis.least.zip(axis.most)) {
        (_, Some((least, most))) => format!("{least} to {most}"),
        ("mechanism", None) => "see mechanisms".to_owned(),
        ("path", None) => [&["an absolute path"][..], axis.words].concat().join(", "),
        _ => axis.words.join(", "),
    };
    let row = |axis: &Words| [axis.name.to_owned(), values(axis), axis.help.to_owned()];
    table(["axis", "values", "what it is"], all.iter().map(row))
}
