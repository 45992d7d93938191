//! What may be typed.

mod compared;
#[cfg(test)]
mod examples;
mod shown;
mod talk;

pub use compared::{Ab, Calibrate, Conduct, FailOn};
pub use shown::Shown;
pub use talk::{Colour, Talk};

use super::mute::Muted;
use crate::report::metric::{METRICS, Metric};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Measures every way two programs on one Unix machine can talk or wait for each other.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    /// Colours: auto is what NO_COLOR, CLICOLOR_FORCE and the terminal say, in this order
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, global = true)]
    pub color: Colour,
}

const EXAMPLES: &str = "\
Examples:
  ipcmatrix run                          the tables of Stevens' Appendix A, in three minutes
  ipcmatrix run locks                    lock primitives by thread count, in seven minutes
  ipcmatrix init                         write my-matrix.toml, a matrix of your own to begin with
  ipcmatrix run my-matrix.toml -o out    run it
  ipcmatrix plan appendix                what would be run, what this machine refuses, and why
  ipcmatrix list mechanisms              what there is
  ipcmatrix report reports/2026-01-31-intel-xeon-2cpu --format md

Exit codes: 0 all well, 1 the tool or a cell failed, 2 usage or an invalid file,
3 a check that was asked for failed (a regression, a broken gate), 4 it decides nothing,
5 a measured cell did not reach the precision (run --strict),
130 and 143 a signal came and what was there was saved.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a matrix, print its tables and write a report folder
    Run(Run),
    /// Compare two arms of the same cells, measured in the same rounds: settings, variables or programs
    Ab(Ab),
    /// Measure every cell against itself, and keep how far it lies from itself as its noise floor
    Calibrate(Calibrate),
    /// Show the cells of a matrix, which of them this machine refuses, and the expected time; runs nothing
    Plan(Plan),
    /// Show what there is: matrices, mechanisms, axes, metrics or warnings
    List(List),
    /// Print the tables of a run that was made before
    Report(Report),
    /// Write a run in a format that other programs read
    Export(super::export::Arguments),
    /// Print the JSON Schema of a file or document of this program
    Schema(super::schema::Arguments),
    /// Compare stored runs: what got slower or faster, and how sure that is
    Compare(super::compare::Arguments),
    /// Show what disturbs measuring on this machine and which cells it refuses, with remedies; changes nothing
    Doctor(Doctor),
    /// Prove that the program is right on this machine: what is equal, slower, linear or faulty is told as such
    Selfcheck(Selfcheck),
    /// Write a matrix of your own to begin with, with comments
    Init(super::init::Arguments),
    /// Print what makes a shell complete the words of this program
    Completions(super::completions::Arguments),
    /// Print the manual page of the program or of one of its commands, or write all of them
    Man(super::man::Arguments),
    /// One visit of one cell: a request on standard input, an outcome on standard output
    #[command(hide = true)]
    Cell,
    /// Which cells the machine refuses: cells on standard input, reasons on standard output
    #[command(hide = true)]
    Probe,
}

/// Which cells.
#[derive(Args, Debug, Clone)]
pub struct Selection {
    /// Files, or names from `ipcmatrix list matrices`
    #[arg(value_name = "MATRIX", default_value = "appendix")]
    pub matrices: Vec<String>,
    /// Keep the cells that match, e.g. 'mechanism:pipe message_bytes:(4K OR 64K) -workers:1'; several must all match
    #[arg(short, long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Vec<String>,
    /// Other values on an axis, e.g. message_bytes=1K,64K
    #[arg(short, long, value_name = "AXIS=V,V")]
    pub axis: Vec<String>,
}

/// How much is measured.
#[derive(Args, Debug, Clone)]
pub struct Amount {
    /// Short visits, six a cell and more, one minute
    #[arg(long, conflicts_with_all = ["test", "exact"])]
    pub quick: bool,
    /// Up to 22 visits and more a cell, to ±1 %, in three times the usual time
    #[arg(long, conflicts_with_all = ["quick", "test", "exact"])]
    pub thorough: bool,
    /// The counts and the statistic that were published: 5 x 10 MiB, 3 x 10,000 round trips, 3 x 1,000,000 increments a
    /// worker, 3 x 100,000 calls, 3 x 40,000 requests, 1 x 1,000,000 lines a worker; the mean, no interval
    #[arg(long, conflicts_with = "test")]
    pub exact: bool,
    /// Time for sampling, e.g. 90s or 6m [default: the matrix's, else 3m; with --quick 1m, with --thorough three times that]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Half-width of the 95 % interval at which a cell is done [default: 3%; with --thorough 1%]
    #[arg(long, value_name = "PERCENT", value_parser = parse_precision, conflicts_with = "exact")]
    pub precision: Option<f64>,
}

impl Amount {
    /// The half-width at which a cell is done, as a fraction: what was typed, else what the effort says.
    pub fn precision(&self) -> f64 {
        self.precision.unwrap_or(if self.thorough { 0.01 } else { 0.03 })
    }
}

const RUN_EXAMPLES: &str = "\
Examples:
  ipcmatrix run                                    the default matrix, appendix
  ipcmatrix run bandwidth -f 'mechanism:(pipe OR unix_stream) placement:same_cpu'
  ipcmatrix run locks -a workers=1,2,4 --budget 5m --precision 2%
  ipcmatrix run locks -o out --resume              go on where that run was ended
  ipcmatrix run smoke --test                       everything once, to see that it works";

#[derive(Args, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub amount: Amount,
    /// Make every cell do a little work once, verify it, and show no figure
    #[arg(long)]
    pub test: bool,
    /// End with exit code 5 when a measured cell did not reach the precision; the report is written all the same
    #[arg(long, conflicts_with_all = ["test", "exact"])]
    pub strict: bool,
    /// Seed of the order of visits [default: a fresh one, recorded in the journal]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Folder of the report, which must not hold a run yet [default: reports/DATE-MACHINE]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Go on with the run in the folder of -o, which was ended by whatever: same command, same program, same boot
    #[arg(long, requires = "output")]
    pub resume: bool,
    /// Run beside another run on this host; both disturb each other
    #[arg(long)]
    pub no_lock: bool,
    /// Leave out what names this host or its user (kernel command line, paths)
    #[arg(long)]
    pub anonymous: bool,
    #[command(flatten)]
    pub muted: Muted,
    /// Give up on a visit after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_deadline)]
    pub deadline: Duration,
    #[command(flatten)]
    pub talk: Talk,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  ipcmatrix plan
  ipcmatrix plan my-matrix.toml -a message_bytes=1M";

#[derive(Args, Debug)]
#[command(after_help = PLAN_EXAMPLES)]
pub struct Plan {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub amount: Amount,
    /// Name every cell
    #[arg(long)]
    pub cells: bool,
    /// Not for plan; there so that the two commands differ by one word
    #[arg(long, hide = true)]
    pub test: bool,
    /// Not for plan either
    #[arg(long, hide = true)]
    pub strict: bool,
}

const LIST_EXAMPLES: &str = "\
Examples:
  ipcmatrix list
  ipcmatrix list axes
  ipcmatrix list mechanisms --format json > mechanisms.json";

#[derive(Args, Debug)]
#[command(after_help = LIST_EXAMPLES)]
pub struct List {
    /// What to show [default: all of it]
    pub what: Option<Listed>,
    /// Shape of the document
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Listed {
    /// The matrices that are built in
    Matrices,
    /// The mechanisms, whom they can serve and what can be asked of them
    Mechanisms,
    /// The axes and their values
    Axes,
    /// What `report --metric` can show
    Metrics,
    /// What reports warn of: codes, limits, meaning and advice
    Warnings,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  ipcmatrix report reports/2026-01-31-intel-xeon-2cpu
  ipcmatrix report out --format csv > samples.csv
  ipcmatrix report out --table A.2 --row mechanism -f placement:same_cpu --published
  ipcmatrix report out --metric cpu_ns_per_op --mute W003,W007
  ipcmatrix report out --format html > report.html
  ipcmatrix report out --format svg -o plots
  ipcmatrix report --into README.md              fill every block of README.md
  ipcmatrix report --into README.md --check      exit code 3 where one is not what the records say

A block stands between these two lines; the first has the words of its report, with paths as seen from the file:
  <!-- ipcmatrix:begin NAME --table A.2 reports/my-run -->
  <!-- ipcmatrix:end NAME -->";

#[derive(Args, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct Report {
    /// Folders of runs, or their records.jsonl
    #[arg(value_name = "RUN", required_unless_present = "into")]
    pub runs: Vec<PathBuf>,
    /// Shape of the document [default: text; in a block of a file md]
    #[arg(long, value_enum)]
    pub format: Option<Format>,
    #[command(flatten)]
    pub shown: Shown,
    /// Folder for a file of each plot (svg)
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub muted: Muted,
    /// Judge the gates that the runs were made with: broken ones end with exit code 3, undecided and unmeasured ones with 4
    #[arg(long)]
    pub gate: bool,
    /// Fill the blocks of this file, or one of them, in place of printing
    #[arg(long, value_name = "FILE#BLOCK", conflicts_with = "gate")]
    pub into: Option<String>,
    /// Write nothing; exit code 3 where a block is not what the records say, and its name
    #[arg(long, requires = "into")]
    pub check: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for a terminal
    Text,
    /// GitHub Markdown
    Md,
    /// One row a sample
    Csv,
    /// One page with tables and plots, that needs nothing else
    Html,
    /// A picture of a table whose rows are numbers
    Svg,
}

const DOCTOR_EXAMPLES: &str = "\
Examples:
  ipcmatrix doctor
  ipcmatrix doctor --format json > doctor.json";

#[derive(Args, Debug)]
#[command(after_help = DOCTOR_EXAMPLES)]
pub struct Doctor {
    /// Shape of the document
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextOrJson {
    /// For a terminal
    Text,
    /// One JSON document
    Json,
}

const SELFCHECK_EXAMPLES: &str = "\
Examples:
  ipcmatrix selfcheck                    in under three minutes
  ipcmatrix selfcheck --quick            fewer and shorter visits
  ipcmatrix selfcheck --format json > selfcheck.json

Exit code 1 where a check fails, 4 where one is undecided.";

#[derive(Args, Debug)]
#[command(after_help = SELFCHECK_EXAMPLES)]
pub struct Selfcheck {
    /// Shape of the document
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// Shorter visits and fewer rounds: finds less
    #[arg(long)]
    pub quick: bool,
    /// Rounds; under 6 there are no intervals, and what must be found is not [default: 20; with --quick 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: Option<u32>,
    /// Seed of the order of visits [default: a fresh one, which is printed]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Check beside another run on this host; both disturb each other
    #[arg(long)]
    pub no_lock: bool,
    /// Give up on a visit after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_deadline)]
    pub deadline: Duration,
    #[command(flatten)]
    pub talk: Talk,
}

fn parse_budget(text: &str) -> Result<Duration, String> {
    bounded(text, Duration::from_millis(100), Duration::from_secs(24 * 3600))
}

fn parse_deadline(text: &str) -> Result<Duration, String> {
    bounded(text, Duration::from_millis(100), Duration::from_secs(3600))
}

fn bounded(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let (low, high) = (humantime::format_duration(least), humantime::format_duration(most));
    match humantime::parse_duration(text) {
        Ok(duration) if (least..=most).contains(&duration) => Ok(duration),
        _ => Err(format!("expected a time from {low} to {high}, such as 500ms, 90s or 6m")),
    }
}

fn parse_metric(text: &str) -> Result<Metric, String> {
    let names: Vec<&str> = METRICS.iter().map(|spec| spec.name).collect();
    Metric::named(text).ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

pub fn parse_precision(text: &str) -> Result<f64, String> {
    let expected = || "expected a percentage above 0 and below 100, such as 3% or 0.5%".to_owned();
    let number: f64 = text.strip_suffix('%').unwrap_or(text).trim().parse().map_err(|_| expected())?;
    if number > 0.0 && number < 100.0 { Ok(number / 100.0) } else { Err(expected()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Measure;
    use crate::report::facts::exact_counts;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn exact_names_the_counts_of_every_measure() {
        let command = Amount::augment_args(clap::Command::new("run"));
        let exact = command.get_arguments().find(|argument| argument.get_id() == "exact").unwrap();
        let help = exact.get_help().unwrap().to_string();
        for measure in Measure::ALL {
            let words: Vec<&str> = exact_counts(*measure).split(' ').collect();
            assert!(help.contains(&format!("{} x {}", words[0], words[3])), "{words:?}: {help}");
        }
    }

    #[test]
    fn thorough_is_more_precise_unless_told_otherwise() {
        let precision = |words: &[&str]| {
            let all = ["ipcmatrix", "run"].iter().chain(words);
            match Arguments::try_parse_from(all).map(|arguments| arguments.command) {
                Ok(Command::Run(run)) => Some(run.amount.precision()),
                _ => None,
            }
        };
        assert_eq!(precision(&[]), Some(0.03));
        assert_eq!(precision(&["--thorough"]), Some(0.01));
        assert_eq!(precision(&["--thorough", "--precision", "2%"]), Some(0.02));
        for other in ["--quick", "--test", "--exact"] {
            assert_eq!(precision(&["--thorough", other]), None, "{other}");
        }
        for other in ["--test", "--exact"] {
            assert_eq!(precision(&["--strict", other]), None, "no interval: {other}");
        }
    }

    #[test]
    fn times_and_percentages_have_bounds() {
        assert_eq!(parse_budget("6m"), Ok(Duration::from_secs(360)));
        assert_eq!(parse_precision("0.5%"), Ok(0.005));
        for bad in ["", "0s", "-1s", "2 fortnights", "99999h"] {
            assert!(parse_budget(bad).unwrap_err().contains("such as"), "{bad}");
        }
        for bad in ["0%", "100%", "-3%", "nan", "inf", "three"] {
            assert!(parse_precision(bad).unwrap_err().contains("such as"), "{bad}");
        }
    }
}
