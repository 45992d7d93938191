//! `man`: manual pages, made of the same words as `--help`.

use super::{WELL, output, usage};
use anyhow::Result;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use roff::{Roff, roman};
use std::fs;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  ipcmatrix man | man -l -
  ipcmatrix man run | man -l -
  ipcmatrix man -o ~/.local/share/man/man1";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The page of this command instead of that of the program
    #[arg(value_name = "COMMAND", conflicts_with = "output")]
    command: Option<String>,
    /// Write every page into this folder, which is made if need be: ipcmatrix.1, ipcmatrix-run.1, ...
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

/// Prints a page, or writes all.
///
/// # Errors
/// A command that there is not; what the folder or the reader of standard output refuses.
pub fn man(arguments: &Arguments) -> Result<u8> {
    let program = program();
    match (&arguments.output, &arguments.command) {
        (Some(folder), _) => write(folder, &program)?,
        (None, None) => output::print(&page(&program)?)?,
        (None, Some(name)) => match shown(&program).find(|command| command.get_name() == name) {
            Some(command) => output::print(&page(command)?)?,
            None => {
                let names: Vec<&str> = shown(&program).map(Command::get_name).collect();
                return Err(usage(crate::matrix::unknown("command", name, &names)));
            }
        },
    }
    Ok(WELL)
}

fn program() -> Command {
    let mut program = super::arguments::Arguments::command().disable_help_subcommand(true);
    program.build();
    program
}

/// The commands that have a page.
fn shown(program: &Command) -> impl Iterator<Item = &Command> {
    program.get_subcommands().filter(|command| !command.is_hide_set())
}

fn write(folder: &Path, program: &Command) -> Result<()> {
    let shown_folder = folder.display();
    fs::create_dir_all(folder).map_err(|error| {
        usage(format!("cannot make the folder {shown_folder}: {error}; name another with -o"))
    })?;
    for command in std::iter::once(program).chain(shown(program)) {
        let name = Man::new(command.clone()).get_filename();
        output::write_asked(&folder.join(name), &page(command)?)?;
    }
    Ok(())
}

/// The page. What stands below the options keeps its lines, which `Man::render` would run into each other.
fn page(command: &Command) -> Result<String> {
    let man = Man::new(command.clone()).manual("ipcmatrix");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    synopsis(command).to_writer(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if shown(command).next().is_some() {
        man.render_subcommands_section(&mut text)?;
    }
    if let Some(help) = command.get_after_help() {
        let mut notes = Roff::new();
        notes.control("SH", ["NOTES AND EXAMPLES"]).control("nf", []);
        for line in help.to_string().lines() {
            notes.text([roman(line)]);
        }
        notes.control("fi", []);
        notes.to_writer(&mut text)?;
    }
    if command.get_version().is_some() {
        man.render_version_section(&mut text)?;
    }
    Ok(String::from_utf8(text)?)
}

/// How the command is typed, as `--help` says it: what `Man` makes of it knows no `--` and no `...`.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    let mut section = Roff::new();
    section.control("SH", ["SYNOPSIS"]).control("nf", []);
    section.text(usage.lines().map(|line| roman(line.trim())).collect::<Vec<_>>());
    section.control("fi", []);
    section
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_synopsis_is_what_can_be_typed() {
        let program = program();
        let compare = shown(&program).find(|command| command.get_name() == "compare").unwrap();
        let text = page(compare).unwrap().replace("\\-", "-");
        assert!(text.contains("\nipcmatrix compare [OPTIONS] <BASE>... [-- <NEW>...]\n"), "{text}");
    }

    #[test]
    fn every_command_has_a_page_with_its_examples() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &program()).unwrap();
        let mut names: Vec<String> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert!(names.contains(&"ipcmatrix.1".to_owned()) && names.contains(&"ipcmatrix-run.1".to_owned()));
        assert!(!names.iter().any(|name| name.contains("cell") || name.contains("help")), "{names:?}");
        for name in names {
            let text = fs::read_to_string(folder.path().join(&name)).unwrap();
            assert!(text.contains(".TH ipcmatrix") && text.contains("\nExamples:\n"), "{name}: {text}");
        }
    }
}
