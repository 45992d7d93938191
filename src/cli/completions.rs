//! `completions`: words are completed by the program itself, which the shell asks, so that they are those of the program
//! that is installed: matrices, mechanisms, axes and their values, metrics, warnings.

use super::{WELL, output, usage};
use crate::catalog::Catalog;
use crate::cell::{AXES, AxisSpec, Kind};
use crate::matrix::{self, SHIPPED};
use crate::report::metric::METRICS;
use crate::report::warnings::DETECTORS;
use anyhow::{Context, Result};
use clap::{Arg, Args, Command, CommandFactory, ValueEnum};
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use std::collections::BTreeSet;
use std::ffi::OsStr;

/// The variable by which the shell asks.
const ASKED: &str = "IPCMATRIX_COMPLETE";
/// How the program is called.
const NAME: &str = "ipcmatrix";

/// What makes one word of those that bash takes apart.
const BASH_WORDS: &str = include_str!("completions.bash");

const EXAMPLES: &str = "\
Examples:
  ipcmatrix completions bash > ~/.local/share/bash-completion/completions/ipcmatrix
  ipcmatrix completions zsh > ~/.zfunc/_ipcmatrix    with `fpath+=~/.zfunc` before compinit
  ipcmatrix completions fish > ~/.config/fish/completions/ipcmatrix.fish

The shell asks the program that is found as ipcmatrix, so completions need not be made again for another version.";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Which shell
    shell: Shell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Prints what the shell reads.
///
/// # Errors
/// What the reader of standard output refuses.
pub fn completions(arguments: &Arguments) -> Result<u8> {
    let name = match arguments.shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
    };
    let shells = Shells::builtins();
    let completer = shells.completer(name).context("this shell cannot be served")?;
    let mut script = Vec::new();
    completer.write_registration(ASKED, NAME, NAME, NAME, &mut script)?;
    let words = if arguments.shell == Shell::Bash { BASH_WORDS } else { "" };
    output::print(&(String::from_utf8(script)? + words))?;
    Ok(WELL)
}

/// Answers the shell, where it is one that asks; whether it was.
///
/// # Errors
/// A shell that is not known, and what the reader of standard output refuses.
pub fn answer() -> Result<bool> {
    let folder = std::env::current_dir().ok();
    CompleteEnv::with_factory(completable)
        .var(ASKED)
        .try_complete(std::env::args_os(), folder.as_deref())
        .map_err(|error| usage(format!("{ASKED} is for the completion of a shell: {error}")))
}

/// The command line with what completes the values of its arguments.
fn completable() -> Command {
    with_completers(super::arguments::Arguments::command())
}

fn with_completers(command: Command) -> Command {
    command.mut_args(with_completer).mut_subcommands(with_completers)
}

fn with_completer(argument: Arg) -> Arg {
    let completer = match argument.get_id().as_str() {
        "matrices" => ArgValueCompleter::new(matrices),
        "filter" => ArgValueCompleter::new(|typed: &OsStr| settings(typed, &[' ', '(', '-'], ':')),
        "row" | "col" => {
            ArgValueCompleter::new(|typed: &OsStr| headings(typed, &[("machine", "class of machine")]))
        }
        "command" => ArgValueCompleter::new(commands),
        "table" => ArgValueCompleter::new(tables),
        "split" => ArgValueCompleter::new(|typed: &OsStr| headings(typed, &[])),
        "axis" => ArgValueCompleter::new(|typed: &OsStr| settings(typed, &[], '=')),
        "arm_a" | "arm_b" => ArgValueCompleter::new(arms),
        "metric" => ArgValueCompleter::new(|typed: &OsStr| {
            listed(typed, METRICS.iter().map(|spec| (spec.name.to_owned(), spec.help)))
        }),
        "mute" => ArgValueCompleter::new(|typed: &OsStr| {
            listed(typed, DETECTORS.iter().map(|detector| (detector.code.to_owned(), detector.name)))
        }),
        _ => return argument,
    };
    argument.add(completer)
}

/// Those of the words that begin with what was typed behind its last comma, with what stands before that in front.
fn listed(typed: &OsStr, words: impl Iterator<Item = (String, &'static str)>) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let (before, begun) = typed.split_at(typed.rfind(',').map_or(0, |at| at + 1));
    let candidate = |(word, help): (String, &'static str)| {
        let help = (!help.is_empty()).then(|| help.into());
        word.starts_with(begun).then(|| CompletionCandidate::new(format!("{before}{word}")).help(help))
    };
    words.filter_map(candidate).collect()
}

/// The axes, and what else can head rows or columns.
fn headings(typed: &OsStr, beside: &[(&str, &'static str)]) -> Vec<CompletionCandidate> {
    let axes = AXES.iter().map(|spec| (spec.name.to_owned(), spec.help));
    listed(typed, axes.chain(beside.iter().map(|(name, help)| ((*name).to_owned(), *help))))
}

/// The commands that have a manual page.
fn commands(typed: &OsStr) -> Vec<CompletionCandidate> {
    let program = super::arguments::Arguments::command();
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
    listed(typed, shown.map(|command| (command.get_name().to_owned(), "")))
}

/// The tables of the matrices that are built in; a run of another matrix has others.
fn tables(typed: &OsStr) -> Vec<CompletionCandidate> {
    let catalog = Catalog::shipped();
    let read = SHIPPED.iter().filter_map(|(name, text)| matrix::parse(name, text, &catalog).ok());
    let ids: BTreeSet<String> = read.flat_map(|read| read.tables).map(|table| table.id).collect();
    listed(typed, ids.into_iter().map(|id| (id, "")))
}

fn matrices(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = listed(typed, SHIPPED.iter().map(|(name, _)| ((*name).to_owned(), "")));
    let is_matrix = |path: &std::path::Path| path.extension().is_some_and(|extension| extension == "toml");
    all.extend(PathCompleter::file().filter(is_matrix).complete(typed));
    all
}

/// What is written AXIS, sign, VALUE; of several with these letters between them the last.
fn settings(typed: &OsStr, between: &[char], sign: char) -> Vec<CompletionCandidate> {
    let Some(text) = typed.to_str() else { return Vec::new() };
    let (before, last) = text.split_at(text.rfind(between).map_or(0, |at| at + 1));
    let found = match last.split_once(sign) {
        None => match opened(before, sign) {
            Some(name) => values(name, last),
            None => {
                listed(OsStr::new(last), AXES.iter().map(|spec| (format!("{}{sign}", spec.name), spec.help)))
            }
        },
        Some((name, begun)) => {
            let prefix = format!("{name}{sign}");
            values(name, begun).into_iter().map(|found| found.add_prefix(&prefix)).collect()
        }
    };
    found.into_iter().map(|candidate| candidate.add_prefix(before)).collect()
}

/// The axis of the list in parentheses that is open at the end of the text.
fn opened(text: &str, sign: char) -> Option<&str> {
    let (before, inside) = text.rsplit_once('(')?;
    let name = before.strip_suffix(sign)?.rsplit([' ', '-', '(']).next();
    name.filter(|_| !inside.contains(')'))
}

fn values(axis: &str, begun: &str) -> Vec<CompletionCandidate> {
    let spec = AXES.iter().find(|spec| spec.name == axis);
    listed(OsStr::new(begun), spec.map_or(Vec::new(), words).into_iter().map(|word| (word, "")))
}

/// The values that an axis names.
fn words(spec: &AxisSpec) -> Vec<String> {
    match spec.kind {
        Kind::Words(words) | Kind::Path(words) => words.iter().map(|word| (*word).to_owned()).collect(),
        Kind::Mechanism => {
            let mut names: Vec<String> =
                Catalog::shipped().drivers().map(|driver| driver.mechanism.to_owned()).collect();
            names.sort();
            names.dedup();
            names
        }
        Kind::Count(..) | Kind::Bytes(..) => Vec::new(),
    }
}

fn arms(typed: &OsStr) -> Vec<CompletionCandidate> {
    let kinds = [
        ("base", "the cells as the matrix has them"),
        ("env:", "a variable of the environment: env:NAME=VALUE"),
        ("bin:", "the file of another ipcmatrix: bin:PATH"),
    ];
    let mut all = listed(typed, kinds.into_iter().map(|(word, help)| (word.to_owned(), help)));
    all.extend(settings(typed, &[','], '='));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap_complete::engine::complete;

    /// What the last of the words may become.
    fn completed(words: &str) -> Vec<String> {
        let words: Vec<std::ffi::OsString> =
            std::iter::once(NAME).chain(words.split('|')).map(Into::into).collect();
        let at = words.len() - 1;
        let found = complete(&mut completable(), words, at, None).unwrap();
        found.iter().map(|candidate| candidate.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn words_are_completed_by_what_they_mean() {
        for (typed, expected) in [
            ("se", "selfcheck"),
            ("run|--thor", "--thorough"),
            ("run|lo", "locks"),
            ("plan|smoke|lo", "locks"),
            ("run|-a|place", "placement="),
            ("run|-a|placement=same_cpu,fr", "placement=same_cpu,free"),
            ("plan|-f|-measure:incr", "-measure:increment"),
            ("plan|-f|measure:bandwidth mechanism:(pi", "measure:bandwidth mechanism:(pipe"),
            ("plan|-f|mechanism:(pipe OR unix_s", "mechanism:(pipe OR unix_stream"),
            ("plan|-f|mechanism:(pipe OR tcp) pla", "mechanism:(pipe OR tcp) placement:"),
            ("ab|--a|ba", "base"),
            ("ab|--b|nodelay=of", "nodelay=off"),
            ("report|--mute|W001,W00", "W001,W002"),
            ("list|--format|j", "json"),
            ("man|re", "report"),
            ("report|.|--table|A.", "A.2"),
        ] {
            assert!(completed(typed).iter().any(|word| word == expected), "{typed}: {:?}", completed(typed));
        }
        assert!(!completed("c").contains(&"cell".to_owned()), "it is hidden: {:?}", completed("c"));
    }
}
