//! What github-action-benchmark reads: a JSON list of name, unit and value, one list for figures of which less is
//! better (`customSmallerIsBetter`), one for those of which more is (`customBiggerIsBetter`).
//!
//! Source: the README of github.com/benchmark-action/github-action-benchmark.

use super::summary::{Number, Summary};
use super::{Export, name};
use anyhow::Result;
use serde::Serialize;

/// Which figures a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Those of which less is better.
    Smaller,
    /// Those of which more is better.
    Bigger,
}

impl Direction {
    /// Both.
    pub const ALL: &'static [Direction] = &[Direction::Smaller, Direction::Bigger];

    /// The name of its file in a folder with both.
    pub fn file_name(self) -> &'static str {
        match self {
            Direction::Smaller => "smaller-is-better.json",
            Direction::Bigger => "bigger-is-better.json",
        }
    }
}

#[derive(Serialize)]
struct Entry<'a> {
    name: String,
    unit: &'a str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// The cells that have one figure, those of that direction alone, with a newline at the end.
///
/// # Errors
/// Where a value has no JSON form; none of those here lacks one.
pub fn github_action(export: &Export, direction: Direction) -> Result<String> {
    let entries: Vec<Entry> = entries(export, direction).collect();
    Ok(serde_json::to_string_pretty(&entries)? + "\n")
}

/// Whether the list has no figure. github-action-benchmark takes that for a fault and ends with an error (tried with its 1.22.0).
pub fn is_empty(export: &Export, direction: Direction) -> bool {
    entries(export, direction).next().is_none()
}

fn entries<'a>(export: &'a Export, direction: Direction) -> impl Iterator<Item = Entry<'a>> {
    let wanted = Some(direction == Direction::Bigger);
    export.cells.iter().filter(move |cell| cell.more_is_better == wanted).filter_map(entry)
}

fn entry(cell: &Summary) -> Option<Entry<'_>> {
    let figure = cell.figure?;
    let mut extra = format!("visits: {}", cell.visits);
    if let (Some(low), Some(high)) = (figure.low, figure.high) {
        extra = format!("95 % interval: {low} to {high}\n{extra}");
    }
    if let Some(grade) = &cell.grade {
        extra += &format!("\ngrade: {grade}");
    }
    if !cell.warnings.is_empty() {
        extra += &format!("\nwarnings: {}", cell.codes());
    }
    let unit = cell.unit.as_deref()?;
    Some(Entry { name: name::path(&cell.cell), unit, value: figure.value, range: range(figure), extra })
}

/// `± 0.5`: the larger side of the interval, in the unit of the value.
fn range(figure: Number) -> Option<String> {
    let side = (figure.value - figure.low?).max(figure.high? - figure.value);
    Some(format!("± {side}"))
}
