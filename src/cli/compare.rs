//! `compare`: stored runs against stored runs.

use super::{REGRESSED, UNDECIDED, WELL, floors, gating, matrices, output, usage};
use crate::catalog::Catalog;
use crate::cell::Axis;
use crate::compare::floors::Floors;
use crate::compare::stored::{self, Allowed, Comparison, Rules, Stored};
use crate::matrix::Filter;
use crate::record::Gate;
use crate::report::compared::{self, Compared};
use crate::report::gates::{self, Checked};
use crate::report::load::reduce::{self, Runs, journals_below};
use crate::report::{markdown, text};
use anyhow::Result;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ipcmatrix compare reports/before reports/after
  ipcmatrix compare --fail-on regression base-1 base-2 base-3 -- new-1 new-2 new-3
  ipcmatrix compare --format md -o verdict all-base-runs all-new-runs
  ipcmatrix compare --row message_bytes --col mechanism -f measure:bandwidth base new

A folder without a run of its own stands for every run below it. Three runs a side or more are tested; with fewer the
verdict is inconclusive unless a noise floor is known.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The runs to compare with, and the new one where no -- follows: folders or their records.jsonl
    #[arg(value_name = "BASE", required = true)]
    pub runs: Vec<PathBuf>,
    /// The new runs, where there are several
    #[arg(value_name = "NEW", last = true)]
    pub new: Vec<PathBuf>,
    /// Keep the cells that match, as for `run`; several must all match
    #[arg(short, long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Vec<String>,
    /// Shape of the document
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Axis of the rows of a table of ratios, in place of a row a cell
    #[arg(long, value_name = "AXIS", value_parser = parse_axis, requires = "col")]
    pub row: Option<Axis>,
    /// Axis of its columns
    #[arg(long, value_name = "AXIS", value_parser = parse_axis, requires = "row")]
    pub col: Option<Axis>,
    /// The least effect of interest in every cell, e.g. 3% [default: 5% where only additional time disturbs, else 10%]
    #[arg(long, value_name = "PERCENT", value_parser = super::arguments::parse_precision)]
    pub least: Option<f64>,
    /// In what both sides may differ and be compared all the same
    #[arg(long, value_enum, value_delimiter = ',', value_name = "WHAT,...")]
    pub allow: Vec<Allow>,
    /// Verdicts that end with exit code 3 (regression; a cell that fails in new only counts as one) or 4 (inconclusive, and
    /// cells that cannot be compared); where no cell could be compared it is 4 whichever was asked for
    #[arg(long, value_enum, value_delimiter = ',', value_name = "VERDICT,...")]
    pub fail_on: Vec<FailOn>,
    /// Noise floors of `calibrate -o` [default: those of the class of machine of the runs, in the user's data folder]
    #[arg(long, value_name = "FILE")]
    pub floors: Option<PathBuf>,
    /// Judge by the gates of this matrix in place of those that the new runs were made with; broken ones end with exit code
    /// 3, undecided and unmeasured ones with 4
    #[arg(long, value_name = "MATRIX")]
    pub gates: Option<String>,
    /// Folder for the verdict as compare.json and compare.md, written before the exit
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for a terminal
    Text,
    /// GitHub Markdown
    Md,
    /// One JSON document
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Allow {
    /// The class of the machine
    Machine,
    /// How much was measured
    Effort,
    /// Parameters in force
    Effective,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// New is slower beyond doubt
    Regression,
    /// Nothing is decided
    Inconclusive,
}

fn parse_axis(text: &str) -> Result<Axis, String> {
    let names = || crate::cell::AXES.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
    Axis::named(text).ok_or_else(|| format!("expected one of {}", names()))
}

/// Compares, prints, writes what was asked for, and returns the exit code.
///
/// # Errors
/// Runs that cannot be read and words that do not fit: exit code 2.
pub fn compare(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    if arguments.row.is_some() && arguments.format == Format::Json && arguments.output.is_none() {
        return Err(usage(
            "json has every cell as one object, and --row and --col are for tables: leave them out, or choose --format text or md",
        ));
    }
    let filters = matrices::filters(&arguments.filter, catalog)?;
    let (runs, base) = read(arguments)?;
    let (base, new) = runs.runs.split_at(base);
    let (floors, floors_from) = find_floors(arguments, &runs.runs)?;
    let rules = rules(arguments, floors);
    let wanted = |cell: &_| filters.iter().all(|filter: &Filter| filter.matches(cell));
    let comparison = stored::compare(&runs.known, [base, new], &rules, wanted);
    check(arguments, &comparison)?;
    let checked = judged_gates(arguments, catalog, &runs, new, &comparison)?;
    let compared = Compared {
        base,
        new,
        comparison: &comparison,
        gates: &checked,
        allowed: arguments.allow.iter().map(|allow| allow.word()).collect(),
        floors_from,
    };
    publish(arguments, &compared)?;
    Ok(exit_code(arguments, &comparison, &checked))
}

impl Allow {
    fn word(self) -> &'static str {
        match self {
            Allow::Machine => "machine",
            Allow::Effort => "effort",
            Allow::Effective => "effective",
        }
    }
}

fn rules(arguments: &Arguments, floors: Option<Floors>) -> Rules {
    let allows = |what| arguments.allow.contains(&what);
    let allowed = Allowed {
        machine: allows(Allow::Machine),
        effort: allows(Allow::Effort),
        effective: allows(Allow::Effective),
    };
    Rules { least: arguments.least, allowed, floors }
}

/// The noise floors of the class of machine that made all runs.
fn find_floors(arguments: &Arguments, runs: &[Stored]) -> Result<(Option<Floors>, String)> {
    let class = runs.first().and_then(|run| run.machine.as_ref());
    let class = class.filter(|[class, _]| runs.iter().all(|run| run.is_of(class)));
    match (class, &arguments.floors) {
        (None, Some(_)) => Err(usage("the runs are not of one known class of machine: leave out --floors")),
        (None, None) => Ok((None, "none are used, as the runs are not of one known class of machine".into())),
        (class, named) => floors::find(named.as_deref(), class),
    }
}

/// The runs of both sides, and how many of them are base.
fn read(arguments: &Arguments) -> Result<(Runs, usize)> {
    let (base, new) = match (arguments.runs.as_slice(), arguments.new.as_slice()) {
        ([base @ .., new], []) if base.len() == 1 => (base, std::slice::from_ref(new)),
        (_, []) => {
            return Err(usage(
                "expected BASE and NEW, or several of each with -- between them: compare BASE... -- NEW...",
            ));
        }
        (base, new) => (base, new),
    };
    let all = |paths: &[PathBuf]| -> Result<Vec<PathBuf>> {
        let each = paths.iter().map(|path| journals_below(path)).collect::<Result<Vec<_>>>();
        Ok(each.map_err(|error| usage(format!("{error:#}")))?.concat())
    };
    let (mut base, new) = (all(base)?, all(new)?);
    let count = base.len();
    base.extend(new);
    let runs = reduce::read(&base).map_err(|error| usage(format!("{error:#}")))?;
    Ok((runs, count))
}

/// What would print nothing, or nothing but dashes, is refused.
fn check(arguments: &Arguments, comparison: &Comparison) -> Result<()> {
    if comparison.rows.is_empty() {
        return Err(usage("no cell of these runs matches; leave out -f to see them all"));
    }
    let lacks = |axis: &Axis| comparison.rows.iter().all(|row| row.cell.get(*axis).is_none());
    match arguments.row.iter().chain(&arguments.col).find(|axis| lacks(axis)) {
        Some(axis) => Err(usage(format!("no cell of these runs has the axis {axis}"))),
        None => Ok(()),
    }
}

/// The limits of the gates that were named, else of those that the new runs were made with.
fn judged_gates(
    arguments: &Arguments,
    catalog: &Catalog,
    runs: &Runs,
    new: &[Stored],
    comparison: &Comparison,
) -> Result<Vec<Checked>> {
    let of_new = &runs.gates[runs.runs.len() - new.len()..];
    let cells = runs.known.cells();
    let mut gates: Vec<Gate> = Vec::new();
    match &arguments.gates {
        Some(name) => gates = gating::read(name, catalog, cells)?,
        None => {
            for gate in of_new.iter().flatten() {
                if !gates.contains(gate) {
                    gates.push(gate.clone());
                }
            }
        }
    }
    let wanted: Vec<&crate::cell::Cell> = comparison.rows.iter().map(|row| &row.cell).collect();
    for gate in &mut gates {
        gate.cells.retain(|number| wanted.contains(&&cells[*number]));
    }
    let mut checked =
        gates::absolute(&gates, |number| (cells[number].clone(), stored::figure_of(new, number)));
    checked.extend(gates::relative(&gates, |number| cells[number].clone(), comparison));
    if arguments.gates.is_some() && checked.is_empty() {
        return Err(usage("the gates of that matrix watch no cell of these runs"));
    }
    Ok(checked)
}

/// Prints the document and writes the files: both before the exit code tells what they say.
fn publish(arguments: &Arguments, compared: &Compared) -> Result<()> {
    let document = || compared::document(compared, arguments.row.zip(arguments.col));
    if let Some(folder) = &arguments.output {
        std::fs::create_dir_all(folder).map_err(|error| {
            usage(format!("cannot make the folder {}: {error}; name another with -o", folder.display()))
        })?;
        write(folder, "compare.json", &compared::json(compared)?)?;
        write(folder, "compare.md", &markdown::render(&document(), false))?;
    }
    output::print(&match arguments.format {
        Format::Text => text::render(&document()),
        Format::Md => markdown::render(&document(), false),
        Format::Json => compared::json(compared)?,
    })
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    output::write_asked(&folder.join(name), text)
}

fn exit_code(arguments: &Arguments, comparison: &Comparison, gates: &[Checked]) -> u8 {
    let asked = |what| arguments.fail_on.contains(&what);
    let has = |of: fn(&stored::Row) -> bool| comparison.rows.iter().any(of);
    if asked(FailOn::Regression) && has(stored::Row::is_regression) {
        return REGRESSED;
    }
    match gating::exit_code(gates) {
        WELL if !arguments.fail_on.is_empty() && comparison.found().next().is_none() => {
            gating::nothing_compared()
        }
        WELL if asked(FailOn::Inconclusive) && has(stored::Row::is_undecided) => UNDECIDED,
        code => code,
    }
}
