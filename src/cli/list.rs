//! `list`: what there is.

use super::arguments::Listed;
use super::{WELL, output};
use crate::catalog::{Catalog, Driver};
use crate::cell::{AXES, Kind};
use crate::matrix::{self, SHIPPED};
use anyhow::Result;
use tabled::builder::Builder;
use tabled::settings::Style;

/// Prints what was asked for, or all of it.
///
/// # Errors
/// What the reader of standard output refuses.
pub fn list(what: Option<Listed>, catalog: &Catalog) -> Result<u8> {
    let text = match what {
        Some(Listed::Matrices) => matrices(catalog),
        Some(Listed::Mechanisms) => mechanisms(catalog),
        Some(Listed::Axes) => axes(),
        None => format!("{}\n{}\n{}", matrices(catalog), mechanisms(catalog), axes()),
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

fn mechanisms(catalog: &Catalog) -> String {
    let row = |driver: &Driver| {
        [
            driver.mechanism.to_owned(),
            driver.family.name().to_owned(),
            driver.measure.name().to_owned(),
            driver.reach.name().to_owned(),
            driver.summary.to_owned(),
        ]
    };
    table(["mechanism", "family", "measures", "serves", "what it is"], catalog.drivers().map(row))
}

fn axes() -> String {
    let values = |kind: Kind| match kind {
        Kind::Words(words) => words.join(", "),
        Kind::Mechanism => "see mechanisms".to_owned(),
        Kind::Count(least, most) | Kind::Bytes(least, most) => format!("{least} to {most}"),
    };
    let row = |spec: &crate::cell::AxisSpec| [spec.name.to_owned(), values(spec.kind), spec.help.to_owned()];
    table(["axis", "values", "what it is"], AXES.iter().map(row))
}
