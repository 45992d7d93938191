//! What the README tells a reader to type works: each line of its console blocks is run, and so is its matrix.
//! Lines that would measure for minutes are planned instead, which reads the same words.

use crate::program::Program;
use crate::trial;
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;

const README: &str = include_str!("../../README.md");

pub fn trials() -> Vec<Trial> {
    vec![
        trial("readme::its_commands_are_understood", &[], commands_are_understood),
        trial("readme::its_make_targets_exist", &[], targets_exist),
        trial("readme::its_blocks_are_what_the_published_run_says", &[], blocks_are_true),
    ]
}

/// The text of each fenced block in that language.
fn blocks(language: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut inside = None;
    for line in README.lines() {
        match (&mut inside, line) {
            (None, fence) if fence == format!("```{language}") => inside = Some(String::new()),
            (Some(_), "```") => blocks.extend(inside.take()),
            (Some(text), line) => *text += &format!("{line}\n"),
            (None, _) => {}
        }
    }
    blocks
}

/// What stands behind the prompt.
fn typed() -> Vec<String> {
    let blocks = blocks("console");
    blocks
        .iter()
        .flat_map(|block| block.lines())
        .filter_map(|line| line.strip_prefix("$ "))
        .map(String::from)
        .collect()
}

fn commands_are_understood() {
    let folder = tempfile::tempdir().unwrap();
    let toml = blocks("toml");
    let [matrix] = toml.as_slice() else { panic!("one matrix stands in the README, not {}", toml.len()) };
    fs::write(folder.path().join("my-matrix.toml"), matrix).unwrap();
    let small = ["run", "smoke", "--test", "-q", "-f", "measure:bandwidth mechanism:pipe", "-o", "out"];
    Program::ipcmatrix(small).folder(folder.path()).run().exits(0);
    for stored in ["before", "after", "base-1", "base-2", "base-3", "new-1", "new-2", "new-3"] {
        fs::create_dir(folder.path().join(stored)).unwrap();
        let journal = |run: &str| folder.path().join(run).join("records.jsonl");
        fs::copy(journal("out"), journal(stored)).unwrap();
    }
    let commands: Vec<String> = typed().into_iter().filter(|line| line.starts_with("ipcmatrix ")).collect();
    assert!(commands.len() > 5, "{commands:?}");
    for command in commands {
        understood(&command, folder.path());
    }
}

fn understood(command: &str, folder: &Path) {
    let words = command.strip_prefix("ipcmatrix ").unwrap();
    let planned = match words.strip_prefix("run ") {
        Some(rest) => format!("plan {}", rest.split(" -o ").next().unwrap()),
        None => words.to_owned(),
    };
    let ended = Program::shell(&format!("exec \"$1\" {planned}"), [""; 0]).folder(folder).run().exits(0);
    assert!(!ended.stdout.is_empty(), "{command} printed nothing");
}

fn targets_exist() {
    let makefile = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Makefile")).unwrap();
    let targets: Vec<String> =
        typed().iter().filter_map(|line| line.strip_prefix("make ").map(String::from)).collect();
    assert!(targets.iter().any(|target| target == "report") && targets.iter().any(|target| target == "test"));
    for target in targets {
        assert!(makefile.lines().any(|line| line.starts_with(&format!("{target}:"))), "make {target}");
    }
}

fn blocks_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for block in ["best", "plot"] {
        assert!(
            README.contains(&format!("\n<!-- ipcmatrix:begin {block} -")),
            "the README has a block {block}"
        );
    }
    let ended = Program::ipcmatrix(["report", "--into", "README.md", "--check"]).folder(root).run().exits(0);
    assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
}
