//! What may be typed of comparisons: `ab`, `calibrate`.

use super::{Muted, Run, Selection, Talk, TextOrJson, parse_budget, parse_deadline, parse_precision};
use clap::{Args, FromArgMatches, ValueEnum};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How two arms are measured.
#[derive(Args, Debug, Clone)]
pub struct Conduct {
    /// Rounds: visits of each arm of a cell; under 6 there would be no interval
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(6..=1000))]
    pub rounds: u32,
    /// Time after which no visit begins [default: as long as the rounds take]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Duration>,
    /// Seed of the order of visits [default: a fresh one, recorded in the journal]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Run beside another run on this host; both disturb each other
    #[arg(long)]
    pub no_lock: bool,
    /// Leave out what names this host or its user (kernel command line, paths)
    #[arg(long)]
    pub anonymous: bool,
    /// Give up on a visit after this time
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = parse_deadline)]
    pub deadline: Duration,
    #[command(flatten)]
    pub talk: Talk,
}

impl Conduct {
    /// A run of the same cells that is conducted in the same way, as if nothing else had been typed.
    pub fn as_run(&self, selection: &Selection, output: Option<&Path>) -> Run {
        let mut nothing = Run::augment_args(clap::Command::new("run")).get_matches_from(["run"]);
        let run = Run::from_arg_matches_mut(&mut nothing)
            .expect("every argument of run has a default: a test types none");
        Run {
            selection: selection.clone(),
            seed: self.seed,
            output: output.map(Path::to_path_buf),
            no_lock: self.no_lock,
            anonymous: self.anonymous,
            deadline: self.deadline,
            talk: self.talk.clone(),
            ..run
        }
    }
}

const AB_EXAMPLES: &str = "\
An arm is `base` (the cells as the matrix has them), or one or several of these with commas between them:
  AXIS=VALUE       another value on an axis, e.g. nodelay=off or mechanism=unix_stream
  env:NAME=VALUE   a variable of the environment of its visits (a value has no comma)
  bin:PATH         the file of another ipcmatrix that makes its visits

Examples:
  ipcmatrix ab --a nodelay=off --b nodelay=on bandwidth -f mechanism:tcp
  ipcmatrix ab --a base --b env:GLIBC_TUNABLES=glibc.pthread.rseq=0 locks --least 3%
  ipcmatrix ab --a bin:old/ipcmatrix --b base smoke --fail-on slower,undecided --format json

Arm a chooses how many operations a batch has, for both where they have as many workers in the same place. Gates of the
matrix ([[gate]]) are held against arm b, slow-downs are those of arm b against arm a.
Exit codes: those of run, of gates too; with --fail-on 3 for a difference and 4 for cells that are undecided or not compared,
and 4 where no cell could be compared, whichever was asked for.";

#[derive(Args, Debug)]
#[command(after_help = AB_EXAMPLES)]
pub struct Ab {
    #[command(flatten)]
    pub selection: Selection,
    /// The first arm: what the second is compared with
    #[arg(long = "a", value_name = "ARM", id = "arm_a")]
    pub a: String,
    /// The second arm
    #[arg(long = "b", value_name = "ARM", id = "arm_b")]
    pub b: String,
    #[command(flatten)]
    pub conduct: Conduct,
    /// Least effect of interest; what surely lies within it is equal [default: 5% where only additional time disturbs, else 10%]
    #[arg(long, value_name = "PERCENT", value_parser = parse_precision)]
    pub least: Option<f64>,
    /// End with exit code 3 or 4 when a cell has such a verdict; the report is written all the same
    #[arg(long, value_enum, value_delimiter = ',', value_name = "VERDICT,VERDICT")]
    pub fail_on: Vec<FailOn>,
    /// Noise floors of `calibrate -o` [default: those of this class of machine in the user's data folder]
    #[arg(long, value_name = "FILE")]
    pub floors: Option<PathBuf>,
    #[command(flatten)]
    pub muted: Muted,
    /// Shape of the document on standard output
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    pub format: TextOrJson,
    /// Folder of the report, which must not hold a run yet [default: reports/DATE-MACHINE]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

/// Verdicts that can be asked to be an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    /// Arm b is slower in a cell: exit code 3
    Slower,
    /// Arm b is faster in a cell: exit code 3
    Faster,
    /// A cell is undecided or could not be compared: exit code 4
    Undecided,
}

const CALIBRATE_EXAMPLES: &str = "\
Both arms are the same, so whatever lies between them is noise. Visits are as short as those of a run that is short of time, so
that the floors hold for every run; to one that measures longer they are a little high. Cells that were calibrated before are
replaced, others kept.

Examples:
  ipcmatrix calibrate
  ipcmatrix calibrate locks -f placement:same_cpu -o floors.json";

#[derive(Args, Debug)]
#[command(after_help = CALIBRATE_EXAMPLES)]
pub struct Calibrate {
    #[command(flatten)]
    pub selection: Selection,
    #[command(flatten)]
    pub conduct: Conduct,
    /// File of the floors [default: ipcmatrix/floors-CLASS.json in XDG_DATA_HOME or ~/.local/share]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::{Arguments, Command};
    use clap::Parser;

    fn ab(words: &[&str]) -> Result<Ab, String> {
        let all = ["ipcmatrix", "ab"].iter().chain(words);
        match Arguments::try_parse_from(all).map_err(|error| error.to_string())?.command {
            Command::Ab(ab) => Ok(ab),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn arms_and_axes_do_not_clash() {
        let typed = [
            "--a",
            "nodelay=off",
            "--b=nodelay=on",
            "-a",
            "message_bytes=1K",
            "--axis",
            "workers=2",
            "locks",
        ];
        let ab = ab(&typed).unwrap();
        assert_eq!((ab.a.as_str(), ab.b.as_str()), ("nodelay=off", "nodelay=on"));
        assert_eq!(ab.selection.axis, ["message_bytes=1K", "workers=2"]);
        assert_eq!(ab.selection.matrices, ["locks"]);
        assert_eq!(ab.conduct.rounds, 20);
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let with = |more: &[&str]| ab(&[&["--a", "base", "--b", "base"], more].concat());
        assert_eq!(
            with(&["--fail-on", "slower,undecided"]).unwrap().fail_on,
            [FailOn::Slower, FailOn::Undecided]
        );
        for bad in [&["--rounds", "5"][..], &["--fail-on", "sad"], &["--least", "0%"], &["--budget", "0s"]] {
            assert!(with(bad).is_err(), "{bad:?}");
        }
        assert!(ab(&["--a", "base"]).unwrap_err().contains("--b"));
    }

    #[test]
    fn an_arm_is_conducted_as_a_run() {
        let ab =
            ab(&["--a", "base", "--b", "base", "--seed", "7", "-q", "--deadline", "3s", "smoke"]).unwrap();
        let run = ab.conduct.as_run(&ab.selection, Some(Path::new("out")));
        assert_eq!((run.seed, run.talk.quiet, run.deadline), (Some(7), true, Duration::from_secs(3)));
        assert_eq!((run.selection.matrices, run.output), (vec!["smoke".to_owned()], Some("out".into())));
        assert!(!run.test && !run.resume && !run.strict && !run.amount.exact);
    }
}
