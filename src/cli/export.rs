//! `export`: a run in the formats that other programs read.

use super::mute::Muted;
use super::{WELL, matrices, output, usage};
use crate::catalog::Catalog;
use crate::export::{self, Direction, Export, Place};
use crate::report::csv;
use crate::report::keep::keep;
use crate::report::load::{self, Run};
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What stands for standard input or standard output.
const STANDARD: &str = "-";

const EXAMPLES: &str = "\
Examples:
  ipcmatrix export out --format go > new.txt && benchstat old.txt new.txt
  ipcmatrix export out --format csv --summary -o cells.csv
  ipcmatrix export out --format github-action -o folder       both lists, a file each
  ipcmatrix export out --format github-action --direction smaller -o smaller.json
  ipcmatrix export out --format openmetrics -o /var/lib/node_exporter/ipcmatrix.prom";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder of a run, or its records.jsonl; - for a journal on standard input
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Which format
    #[arg(long, value_enum)]
    format: Format,
    /// Write to this file instead of standard output; for github-action without --direction a folder, made if need be
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Keep the cells that match, e.g. 'mechanism:pipe placement:same_cpu'; several must all match
    #[arg(short, long, value_name = "FILTER", allow_hyphen_values = true)]
    filter: Vec<String>,
    /// A row or object a cell instead of one a sample (csv) or a visit (jsonl)
    #[arg(long)]
    summary: bool,
    #[command(flatten)]
    muted: Muted,
    /// Which of the two lists of github-action
    #[arg(long, value_enum)]
    direction: Option<Order>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A document with every cell: figures, intervals, grades, reasons
    Json,
    /// JSON Lines: an object a visit, or a cell with --summary
    Jsonl,
    /// One row a sample, or a cell with --summary
    Csv,
    /// The Go benchmark format, one line a visit, for benchstat
    Go,
    /// Bencher Metric Format
    Bmf,
    /// The lists of github-action-benchmark: customSmallerIsBetter and customBiggerIsBetter
    GithubAction,
    /// Prometheus text for the textfile collector of the node exporter
    Openmetrics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    /// Figures of which less is better (customSmallerIsBetter)
    Smaller,
    /// Figures of which more is better (customBiggerIsBetter)
    Bigger,
}

impl Order {
    fn direction(self) -> Direction {
        match self {
            Order::Smaller => Direction::Smaller,
            Order::Bigger => Direction::Bigger,
        }
    }
}

/// Writes the run, and tells on standard error which cells the format has no place for.
///
/// # Errors
/// What does not fit together, a run that cannot be read, filters that leave nothing: exit code 2, and so
/// is a file that cannot be written.
pub fn export(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    check(arguments)?;
    let run = read(arguments, catalog)?;
    let export = Export::of(&run, arguments.muted.codes()).map_err(|error| usage(format!("{error:#}")))?;
    for (path, text) in documents(arguments, &run, &export)? {
        match path {
            Some(path) => output::write_asked(&path, &text)?,
            None => output::print(&text)?,
        }
    }
    for line in export::left_out(&export, place(arguments.format)) {
        output::say(&format!("ipcmatrix: {line}"));
    }
    for direction in lists(arguments).iter().filter(|direction| export::is_empty(&export, **direction)) {
        output::say(&format!(
            "ipcmatrix: no cell has a figure for {}: github-action-benchmark ends with an error on an empty list, so do not hand it over",
            direction.file_name()
        ));
    }
    Ok(WELL)
}

/// The lists of github-action that are written.
fn lists(arguments: &Arguments) -> Vec<Direction> {
    match arguments.direction {
        Some(order) => vec![order.direction()],
        None if arguments.format == Format::GithubAction => Direction::ALL.to_vec(),
        None => Vec::new(),
    }
}

/// What would be left out silently is refused.
fn check(arguments: &Arguments) -> Result<()> {
    if arguments.summary && !matches!(arguments.format, Format::Csv | Format::Jsonl) {
        return Err(usage(
            "--summary is for csv and jsonl: the other formats are one thing or the other already",
        ));
    }
    let github = arguments.format == Format::GithubAction;
    if arguments.direction.is_some() && !github {
        return Err(usage("--direction is for github-action, which has two lists: leave it out"));
    }
    if github && arguments.direction.is_none() && file(arguments).is_none() {
        return Err(usage(
            "github-action has two lists: choose one with --direction smaller or bigger, or name a folder for both with -o",
        ));
    }
    Ok(())
}

/// The file that was asked for; `None` for standard output.
fn file(arguments: &Arguments) -> Option<&Path> {
    arguments.output.as_deref().filter(|path| *path != Path::new(STANDARD))
}

fn read(arguments: &Arguments, catalog: &Catalog) -> Result<Run> {
    let filters = matrices::filters(&arguments.filter, catalog)?;
    let run = if arguments.run == Path::new(STANDARD) {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        load::parse_run(&bytes, "standard input")
    } else {
        load::read_run(&arguments.run)
    };
    let run = run.map_err(|error| usage(format!("{error:#}")))?;
    let run = keep(run, |cell| filters.iter().all(|filter| filter.matches(cell)));
    if run.header.cells.is_empty() {
        let path = arguments.run.display();
        return Err(usage(format!(
            "no cell of {path} matches: `ipcmatrix export {path} --format csv --summary` names them all"
        )));
    }
    Ok(run)
}

/// The documents with their files; `None` is standard output.
fn documents(arguments: &Arguments, run: &Run, export: &Export) -> Result<Vec<(Option<PathBuf>, String)>> {
    let text = match (arguments.format, arguments.summary) {
        (Format::Json, _) => export::json(export)?,
        (Format::Jsonl, false) => export::visit_lines(export)?,
        (Format::Jsonl, true) => export::cell_lines(export)?,
        (Format::Csv, false) => csv::csv(run, arguments.muted.codes()),
        (Format::Csv, true) => export::summary_csv(export),
        (Format::Go, _) => export::go(export),
        (Format::Bmf, _) => export::bmf(export)?,
        (Format::Openmetrics, _) => export::openmetrics(export),
        (Format::GithubAction, _) => match (arguments.direction, file(arguments)) {
            (Some(order), _) => export::github_action(export, order.direction())?,
            (None, folder) => return both_lists(folder.unwrap_or(Path::new(".")), export),
        },
    };
    Ok(vec![(file(arguments).map(Path::to_path_buf), text)])
}

fn both_lists(folder: &Path, export: &Export) -> Result<Vec<(Option<PathBuf>, String)>> {
    fs::create_dir_all(folder).map_err(|error| {
        usage(format!("cannot make the folder {}: {error}; name another with -o", folder.display()))
    })?;
    let one = |direction: &Direction| {
        let text = export::github_action(export, *direction)?;
        Ok((Some(folder.join(direction.file_name())), text))
    };
    Direction::ALL.iter().map(one).collect()
}

fn place(format: Format) -> Place {
    match format {
        Format::Json | Format::Jsonl | Format::Csv | Format::Openmetrics => Place::Everything,
        Format::Go => Place::Visits,
        Format::Bmf | Format::GithubAction => Place::OneNumber,
    }
}
