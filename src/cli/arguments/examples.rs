//! Every command's `--help` has examples, and what it shows can be typed; so can what the workflow in the README runs.

use super::{Arguments, Command};
use crate::catalog::Catalog;
use crate::cli::arms::Arm;
use crate::cli::{REGRESSED, UNDECIDED, matrices};
use crate::matrix;
use clap::{CommandFactory, Parser};
use yaml_rust2::{Yaml, YamlLoader};

const README: &str = include_str!("../../../README.md");

/// What can be typed of a line: without what stands behind it for the reader or for the shell.
fn typed(line: &str) -> &str {
    let ends = ["  ", " > ", " | ", " || ", " && "];
    let end = ends.iter().filter_map(|end| line.find(end)).min();
    &line[..end.unwrap_or(line.len())]
}

/// Whether the program understands the line, down to the cells that it chooses and the arms that it compares.
fn understood(line: &str) -> Result<(), String> {
    let words = shlex::split(typed(line)).ok_or("a quotation mark is not closed")?;
    let arguments = Arguments::try_parse_from(words).map_err(|error| error.to_string())?;
    let catalog = Catalog::shipped();
    let selection = match &arguments.command {
        Command::Run(run) => &run.selection,
        Command::Plan(plan) => &plan.selection,
        Command::Calibrate(calibrate) => &calibrate.selection,
        Command::Ab(ab) => {
            for arm in [&ab.a, &ab.b].into_iter().filter(|arm| !arm.starts_with("bin:")) {
                Arm::parse("an arm", arm, &catalog).map_err(|error| error.to_string())?;
            }
            &ab.selection
        }
        _ => return Ok(()),
    };
    // A file of the reader's is not here.
    if selection.matrices.iter().any(|name| matrix::shipped(name).is_none()) {
        return Ok(());
    }
    matrices::select(selection, &catalog).map(drop).map_err(|error| error.to_string())
}

#[track_caller]
fn all_understood<'a>(whose: &str, lines: impl Iterator<Item = &'a str>) -> usize {
    lines.map(|line| understood(line).unwrap_or_else(|error| panic!("{whose}: `{line}`: {error}"))).count()
}

#[test]
fn every_help_has_examples_that_can_be_typed() {
    let mut program = Arguments::command();
    program.build();
    let commands = program.get_subcommands().filter(|command| !command.is_hide_set());
    for command in std::iter::once(&program).chain(commands.filter(|command| command.get_name() != "help")) {
        let name = command.get_name();
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let wide = help.lines().find(|line| line.starts_with("  ") && line.chars().count() > 100);
        assert_eq!(wide, None, "{name}: a terminal of 100 columns breaks it in two");
        let lines = help.lines().skip_while(|line| *line != "Examples:");
        let examples =
            lines.filter_map(|line| line.strip_prefix("  ")).filter(|l| l.starts_with("ipcmatrix "));
        assert!(all_understood(name, examples) > 0, "{name}: no example stands below its options");
    }
}

#[test]
fn what_cannot_be_typed_is_seen() {
    assert_eq!(typed("ipcmatrix list  all"), "ipcmatrix list");
    assert_eq!(typed("ipcmatrix list > file  with all"), "ipcmatrix list");
    for (line, expected) in [
        ("ipcmatrix run lokcs --no-such", "--no-such"),
        ("ipcmatrix run locks -f 'mechanism:pip'", "pip"),
        ("ipcmatrix ab --a nodelay=of --b base bandwidth", "of"),
        ("ipcmatrix list 'axes", "quotation"),
    ] {
        let error = understood(line).unwrap_err();
        assert!(error.contains(expected), "{line}: {error}");
    }
}

/// The scripts of all steps.
fn scripts(workflow: &Yaml) -> Vec<String> {
    let jobs = workflow["jobs"].as_hash().expect("a workflow has jobs");
    let steps = jobs.values().flat_map(|job| job["steps"].as_vec().expect("a job has steps"));
    steps
        .inspect(|step| assert!(step["run"].is_badvalue() != step["uses"].is_badvalue(), "{step:?}"))
        .filter_map(|step| step["run"].as_str())
        .map(|script| script.split("\\\n").map(str::trim).collect::<Vec<_>>().join(" "))
        .collect()
}

#[test]
fn the_workflow_in_the_readme_can_be_run() {
    let text = README.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let [workflow] = YamlLoader::load_from_str(text).unwrap().try_into().unwrap();
    assert_eq!(workflow["on"].as_str(), Some("pull_request"));
    let scripts = scripts(&workflow);
    let program = "target/release/ipcmatrix ";
    let lines = scripts.iter().flat_map(|script| script.lines());
    let begins = lines.filter_map(|line| line.trim().strip_prefix(program));
    let commands: Vec<String> = begins.map(|words| format!("ipcmatrix {words}")).collect();
    assert_eq!(all_understood("workflow", commands.iter().map(String::as_str)), 4);
    let compares = scripts.iter().find(|script| script.contains("--fail-on slower,undecided")).unwrap();
    for (code, said) in [(REGRESSED, "::error::"), (UNDECIDED, "::warning::")] {
        assert!(compares.contains(&format!("{code}) echo \"{said}")), "{compares}");
    }
    assert!(scripts.iter().any(|script| script.contains("GITHUB_STEP_SUMMARY")));
}
