//! What may be typed of messages, progress and colours.

use crate::cli::output;
use crate::runner::progress::{self, Progress, When};
use clap::{Args, ValueEnum};

/// What is said on standard error while something is measured.
#[derive(Args, Debug, Clone, Default)]
pub struct Talk {
    /// No progress and no messages on standard error but errors
    #[arg(short, long, conflicts_with_all = ["verbose", "progress"])]
    pub quiet: bool,
    /// Say on standard error what is done: each visit and what came of it
    #[arg(short, long)]
    pub verbose: bool,
    /// Progress on standard error: auto is a line that is drawn over itself on a terminal, and without one or in CI a line
    /// each half minute; always is that line in CI too, and without a terminal a line each five seconds
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub progress: When,
}

impl Talk {
    /// How the progress of a run is told.
    pub fn progress(&self) -> Box<dyn Progress> {
        progress::choose(if self.quiet { When::Never } else { self.progress }, self.verbose)
    }

    /// Says a line that is no error.
    pub fn say(&self, line: &str) {
        if !self.quiet {
            output::say(line);
        }
    }

    /// Whether the begin of that round is told, where rounds are all that is told of.
    pub fn tells_round(&self, round: u32) -> bool {
        match (self.quiet, self.verbose, self.progress) {
            (true, _, _) => false,
            (_, true, _) | (_, _, When::Always) => true,
            (_, _, When::Never) => false,
            (_, _, When::Auto) => round == 1 || round.is_multiple_of(5),
        }
    }
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// Where the stream is a terminal, unless the environment says otherwise
    #[default]
    Auto,
    /// Whatever the stream is
    Always,
    /// Never
    Never,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::{Arguments, Command};
    use clap::Parser;

    fn talk(words: &[&str]) -> Option<Talk> {
        match Arguments::try_parse_from(["ipcmatrix", "run"].iter().chain(words)).ok()?.command {
            Command::Run(run) => Some(run.talk),
            _ => None,
        }
    }

    #[test]
    fn quiet_is_not_told_to_talk() {
        assert!(talk(&["-q"]).unwrap().quiet);
        assert!(talk(&["-v"]).unwrap().verbose);
        assert_eq!(talk(&["--progress", "never"]).unwrap().progress, When::Never);
        assert_eq!(talk(&[]).unwrap().progress, When::Auto);
        for both in [&["-q", "-v"][..], &["-q", "--progress", "always"], &["--progress", "often"]] {
            assert!(talk(both).is_none(), "{both:?}");
        }
    }

    #[test]
    fn rounds_are_told_as_asked() {
        let told = |words: &[&str]| (1..=10).filter(|round| talk(words).unwrap().tells_round(*round)).count();
        assert_eq!(told(&[]), 3);
        assert_eq!((told(&["-q"]), told(&["--progress", "never"])), (0, 0));
        assert_eq!((told(&["-v"]), told(&["--progress", "always"])), (10, 10));
    }
}
