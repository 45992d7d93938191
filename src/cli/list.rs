//! `list`: what there is.

use super::arguments::Listed;
use super::{WELL, output};
use crate::catalog::{Catalog, Driver, Reach};
use crate::cell::{AXES, Axis, Cell, Kind, Value};
use crate::matrix::{self, SHIPPED};
use crate::report::metric::{METRICS, MetricSpec};
use crate::report::warnings::{DETECTORS, Detector};
use crate::runner::process;
use anyhow::Result;
use std::fmt::Write;
use tabled::builder::Builder;
use tabled::settings::Style;

/// Prints what was asked for, or all of it.
///
/// # Errors
/// What the reader of standard output refuses.
pub fn list(what: Option<Listed>, catalog: &Catalog) -> Result<u8> {
    let text = match what {
        Some(Listed::Matrices) => matrices(catalog),
        Some(Listed::Mechanisms) => mechanisms(catalog)?,
        Some(Listed::Axes) => axes(),
        Some(Listed::Metrics) => metrics(),
        Some(Listed::Warnings) => warnings(),
        None => [matrices(catalog), mechanisms(catalog)?, axes(), metrics(), warnings()].join("\n"),
    };
    output::print(&text)?;
    Ok(WELL)
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

fn matrices(catalog: &Catalog) -> String {
    let row = |(name, text): &(&str, &str)| {
        let matrix = matrix::parse(name, text, catalog).unwrap_or_default();
        let budget = matrix.budget.map(|budget| humantime::format_duration(budget).to_string());
        let tables: Vec<&str> = matrix.tables.iter().map(|table| table.id.as_str()).collect();
        [
            (*name).to_owned(),
            matrix.cells.len().to_string(),
            budget.unwrap_or_default(),
            tables.join(" "),
            matrix.title,
        ]
    };
    table(["matrix", "cells", "budget", "tables", "title"], SHIPPED.iter().map(row))
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
fn mechanisms(catalog: &Catalog) -> Result<String> {
    let drivers: Vec<&Driver> = catalog.drivers().collect();
    let cells: Vec<Cell> = drivers.iter().map(|driver| smallest_cell(driver)).collect();
    let refused = process::probe(&cells)?;
    let names: Vec<&str> = drivers.iter().map(|driver| driver.mechanism).collect();
    let mut rows: Vec<[String; 6]> = Vec::new();
    let mut reasons = String::new();
    for name in unique(names) {
        let of_name: Vec<usize> =
            (0..drivers.len()).filter(|index| drivers[*index].mechanism == name).collect();
        let driver = drivers[of_name[0]];
        let measures: Vec<&str> = of_name.iter().map(|index| drivers[*index].measure.name()).collect();
        let here = of_name.iter().find_map(|index| refused[*index].as_ref());
        if let Some(why) = here {
            let _ = writeln!(reasons, "{name}: {}; {}", why.reason, why.remedy);
        }
        rows.push([
            name.to_owned(),
            driver.family.name().to_owned(),
            measures.join(", "),
            driver.reach.name().to_owned(),
            if here.is_some() { "no" } else { "yes" }.to_owned(),
            driver.summary.to_owned(),
        ]);
    }
    let head = ["mechanism", "family", "measures", "serves", "here", "what it is"];
    let head_of_reasons = if reasons.is_empty() { "" } else { "not on this machine:\n" };
    Ok(format!("{}{head_of_reasons}{reasons}", table(head, rows.into_iter())))
}

/// Each name once, in the order in which they first come.
fn unique(names: Vec<&str>) -> Vec<&str> {
    let mut seen = std::collections::BTreeSet::new();
    names.into_iter().filter(|name| seen.insert(*name)).collect()
}

fn metrics() -> String {
    let row = |spec: &MetricSpec| {
        let measures: Vec<&str> = spec.measures.iter().map(|measure| measure.name()).collect();
        [spec.name.to_owned(), measures.join(", "), spec.help.to_owned()]
    };
    table(["metric", "of", "what it is"], METRICS.iter().map(row))
}

fn warnings() -> String {
    let row = |detector: &Detector| {
        [
            detector.code.to_owned(),
            detector.name.to_owned(),
            detector.concern.name().to_owned(),
            detector.threshold().to_string(),
            detector.text.to_owned(),
            detector.advice.to_owned(),
        ]
    };
    table(["warning", "name", "of", "fires at", "what it means", "advice"], DETECTORS.iter().map(row))
}

fn axes() -> String {
    let values = |kind: Kind| match kind {
        Kind::Words(words) => words.join(", "),
        Kind::Mechanism => "see mechanisms".to_owned(),
        Kind::Path(words) => [&["an absolute path"][..], words].concat().join(", "),
        Kind::Count(least, most) | Kind::Bytes(least, most) => format!("{least} to {most}"),
    };
    let row = |spec: &crate::cell::AxisSpec| [spec.name.to_owned(), values(spec.kind), spec.help.to_owned()];
    table(["axis", "values", "what it is"], AXES.iter().map(row))
}
