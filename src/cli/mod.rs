//! The command line: what was typed becomes a plan, a run or a document. Errors end here, with an exit code.

mod ab;
mod anonymous;
mod arguments;
mod arms;
mod calibrate;
mod colour;
mod compare;
mod completions;
mod doctor;
mod export;
mod floors;
mod gating;
mod init;
mod list;
mod man;
mod matrices;
mod mute;
mod output;
mod plan;
mod plots;
mod report;
mod resume;
mod run;
mod schema;
mod selfcheck;
mod splice;

use crate::catalog::Catalog;
use arguments::{Arguments, Command};
use clap::Parser;
use std::io::ErrorKind;
use std::process::ExitCode;

/// All well.
const WELL: u8 = 0;
/// The tool or a cell failed.
const FAILED: u8 = 1;
/// Usage, or a file that is not valid.
const USAGE: u8 = 2;
/// A check that the user asked for failed: a difference, a broken gate.
const REGRESSED: u8 = 3;
/// A check that the user asked for decides nothing.
const UNDECIDED: u8 = 4;
/// A measured cell did not reach the precision, and the user asked for that to be an error.
const UNSURE: u8 = 5;

/// The user's mistake: shown as it is, exit code 2. Any other error is the tool's or the machine's, exit code 1.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// An error of the user.
fn usage(text: impl Into<String>) -> anyhow::Error {
    Usage(text.into()).into()
}

/// The program. Tests pass a catalog with hostile mechanisms in it.
pub fn main(catalog: &Catalog) -> ExitCode {
    colour::take_option(std::env::args_os().skip(1));
    match completions::answer() {
        Ok(false) => {}
        Ok(true) => return ExitCode::from(WELL),
        Err(error) => return ExitCode::from(told(&error)),
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            return match error.print() {
                Err(refused) if !error.use_stderr() && refused.kind() != ErrorKind::BrokenPipe => {
                    output::say(&format!("ipcmatrix: {}: {refused}", output::Stdout));
                    ExitCode::from(FAILED)
                }
                // A closed pipe is the reader's choice.
                _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(USAGE)),
            };
        }
    };
    match dispatch(arguments.command, catalog) {
        Ok(code) => ExitCode::from(code),
        Err(error) => ExitCode::from(told(&error)),
    }
}

/// Says what ended the program, and returns the exit code.
fn told(error: &anyhow::Error) -> u8 {
    if closed_pipe(error) {
        return WELL;
    }
    output::say(&format!("ipcmatrix: {error:#}"));
    if error.is::<Usage>() { USAGE } else { FAILED }
}

fn dispatch(command: Command, catalog: &Catalog) -> anyhow::Result<u8> {
    match command {
        Command::Run(arguments) => run::run(&arguments, catalog),
        Command::Ab(arguments) => ab::ab(&arguments, catalog),
        Command::Calibrate(arguments) => calibrate::calibrate(&arguments, catalog),
        Command::Plan(arguments) => plan::plan(&arguments, catalog),
        Command::List(arguments) => list::list(&arguments, catalog),
        Command::Export(arguments) => export::export(&arguments, catalog),
        Command::Schema(arguments) => schema::schema(&arguments, catalog),
        Command::Report(arguments) => report::report(&arguments, catalog),
        Command::Compare(arguments) => compare::compare(&arguments, catalog),
        Command::Doctor(arguments) => doctor::doctor(&arguments, catalog),
        Command::Selfcheck(arguments) => selfcheck::selfcheck(&arguments),
        Command::Init(arguments) => init::init(&arguments),
        Command::Completions(arguments) => completions::completions(&arguments),
        Command::Man(arguments) => man::man(&arguments),
        Command::Cell => crate::visit::main(catalog, &Catalog::of(crate::faulty::DRIVERS)),
        Command::Probe => crate::visit::probe(catalog),
    }
}

/// Whether the error is that nobody reads standard output any more (`| head`).
fn closed_pipe(error: &anyhow::Error) -> bool {
    let io = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
    };
    error.is::<output::Stdout>() && error.chain().any(io)
}
