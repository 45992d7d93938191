//! What the README tells a reader to type works: each line of its console blocks is run, and so is its matrix. What stands
//! below a line is what it prints: every line of it, where `...` stands for what is left out, lines or a part of one.
//! Lines that would measure for minutes are planned instead, which reads the same words.

use crate::program::{Program, as_another_run};
use crate::trial;
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const README: &str = include_str!("../../README.md");

pub fn trials() -> Vec<Trial> {
    vec![
        trial("readme::its_commands_print_what_stands_there", &[], commands_print_that),
        trial("readme::the_comparison_is_strict", &[], comparison_is_strict),
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

/// What stands behind each prompt, and the lines below it.
fn typed() -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for line in blocks("console").iter().flat_map(|block| block.lines()) {
        match (line.strip_prefix("$ "), all.last_mut()) {
            (Some(command), _) => all.push((command.to_owned(), Vec::new())),
            (None, Some((_, shown))) => shown.push(line.to_owned()),
            (None, None) => panic!("{line:?} stands before the first prompt of the README"),
        }
    }
    all
}

/// The folder that the commands are typed in: a matrix, and runs that are kept with the tests, so that their reports are known.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let toml = blocks("toml");
    let [matrix] = toml.as_slice() else { panic!("one matrix stands in the README, not {}", toml.len()) };
    fs::write(folder.path().join("my-matrix.toml"), matrix).unwrap();
    for (run, stored) in [
        ("real-1", &["out", "before", "base-1", "base-2", "base-3"][..]),
        ("real-2", &["after", "new-1", "new-2", "new-3"]),
    ] {
        for (nth, name) in stored.iter().enumerate() {
            let journal = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{run}.jsonl"));
            fs::create_dir(folder.path().join(name)).unwrap();
            let text = match nth {
                0 => fs::read_to_string(journal).unwrap(),
                _ => as_another_run(&journal, nth),
            };
            fs::write(folder.path().join(name).join("records.jsonl"), text).unwrap();
        }
    }
    folder
}

fn commands_print_that() {
    let folder = folder();
    let mut commands = typed();
    commands.retain(|(line, _)| line.starts_with("ipcmatrix "));
    assert!(commands.len() > 5, "{commands:?}");
    let compared = commands.iter().filter(|(_, shown)| !shown.is_empty()).count();
    assert!(compared > 5, "only {compared} commands have what they print below them");
    for (command, shown) in commands {
        understood(&command, &shown, folder.path());
    }
}

fn understood(command: &str, shown: &[String], folder: &Path) {
    let words = command.strip_prefix("ipcmatrix ").unwrap();
    let planned = match words.strip_prefix("run ") {
        Some(rest) => format!("plan {}", rest.split(" -o ").next().unwrap()),
        None => words.to_owned(),
    };
    let is_mistake =
        shown.iter().any(|line| line.starts_with("ipcmatrix: ") && line.contains("did you mean"));
    let ended = Program::shell(&format!("exec \"$1\" {planned}"), [""; 0])
        .env("XDG_DATA_HOME", folder)
        .folder(folder)
        .run();
    let ended = ended.exits(if is_mistake { 2 } else { 0 });
    let printed = if is_mistake { &ended.stderr } else { &ended.stdout };
    assert!(!printed.is_empty(), "{command} printed nothing");
    let printed: Vec<&str> = printed.lines().collect();
    let shown: Vec<&str> = shown.iter().map(String::as_str).collect();
    match words.split(' ').next().unwrap() {
        _ if shown.is_empty() => {}
        "run" => panic!("{command} is planned, so what it prints cannot be compared: leave that out"),
        "doctor" => {
            assert_eq!(stale_findings(&shown, &printed), [""; 0], "{command} prints\n{}", printed.join("\n"))
        }
        // The expected time is an estimate of the program, and no promise.
        "plan" => compare(command, &shapes(&shown), &shapes(&printed)),
        _ => compare(command, &shown, &printed),
    }
}

fn compare<S: AsRef<str>>(command: &str, shown: &[S], printed: &[S]) {
    let [shown, printed] =
        [shown, printed].map(|lines| lines.iter().map(AsRef::as_ref).collect::<Vec<&str>>());
    let told = printed.join("\n");
    assert!(
        is_shown(&shown, &printed),
        "the README is stale: {command} prints\n{told}\nand not\n{}",
        shown.join("\n")
    );
}

/// Whether the lines are those that are shown, `...` for any.
fn is_shown(shown: &[&str], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((&"...", rest)) => (0..=printed.len()).any(|left_out| is_shown(rest, &printed[left_out..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(own, others)| is_alike(line, own) && is_shown(rest, others))
        }
    }
}

/// Whether a line is the one that is shown, `...` in it for any text.
fn is_alike(shown: &str, printed: &str) -> bool {
    let Some((begin, rest)) = shown.split_once("...") else { return shown == printed };
    let Some(printed) = printed.strip_prefix(begin) else { return false };
    let places = (0..=printed.len()).filter(|at| printed.is_char_boundary(*at));
    places.into_iter().any(|at| is_alike(rest, &printed[at..]))
}

/// The lines with `#` for each number: what a machine or a moment makes otherwise.
fn shapes(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| shape(line)).collect()
}

fn shape(line: &str) -> String {
    let mut shape = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter.is_ascii_digit() {
            // 0-1 and 2.5 are one number each; what ends a sentence is none of it.
            let mut rest = letters.clone();
            while let Some(next) = rest.next() {
                let goes_on =
                    matches!(next, '.' | ',' | '-') && rest.peek().is_some_and(char::is_ascii_digit);
                if !next.is_ascii_digit() && !goes_on {
                    break;
                }
                letters.next();
            }
            shape.push('#');
        } else {
            shape.push(letter);
        }
    }
    shape
}

/// Of findings apart by `...`, those that are told of this machine too, but in other words. At least the last one is told on
/// every machine, as a protocol fixes its limit.
fn stale_findings(shown: &[&str], printed: &[&str]) -> Vec<String> {
    let printed = shapes(printed);
    let printed: Vec<&str> = printed.iter().map(String::as_str).collect();
    let is_there = |finding: &[&str]| printed.windows(finding.len()).any(|lines| is_shown(finding, lines));
    let mut stale = Vec::new();
    let findings: Vec<&[&str]> =
        shown.split(|line| *line == "...").filter(|lines| !lines.is_empty()).collect();
    for finding in &findings {
        let shape = shapes(finding);
        let finding: Vec<&str> = shape.iter().map(String::as_str).collect();
        let name = finding[0].split_inclusive(':').next().unwrap();
        if printed.iter().any(|line| line.starts_with(name)) && !is_there(&finding) {
            stale.push(finding.join("\n"));
        }
    }
    let last = findings.last().map(|finding| shapes(finding)).unwrap_or_default();
    let last: Vec<&str> = last.iter().map(String::as_str).collect();
    if !last.is_empty() && !is_there(&last) {
        stale.push(last.join("\n"));
    }
    stale.dedup();
    stale
}

/// The comparison itself can fail.
fn comparison_is_strict() {
    let printed = ["a 1", "b 2.5 s", "c"];
    for shown in
        [&["a 1", "b 2.5 s", "c"][..], &["...", "c"], &["a 1", "...", "c", "..."], &["a ...", "b ... s", "c"]]
    {
        assert!(is_shown(shown, &printed), "{shown:?}");
    }
    for shown in [&["a 1", "c"][..], &["a 1", "b 2.5 s"], &["a 2", "..."], &["...", "b ... m", "c"], &[]] {
        assert!(!is_shown(shown, &printed), "{shown:?}");
    }
    assert_eq!(shape("CPU 0-1, 2.5 s of 10."), "CPU #, # s of #.");
    let doctor = ["  warning few: CPU 0-1 only", "    remedy: more", "  8 of udp: at most 65460"];
    let stale = |shown: &[&str]| stale_findings(shown, &doctor).len();
    assert_eq!(
        stale(&["  warning few: CPU 0-7 only", "    remedy: more", "...", "  9 of udp: at most 65460"]),
        0
    );
    assert_eq!(
        stale(&["  warning few: CPU 0-7 only", "    remedy: less", "...", "  9 of udp: at most 65460"]),
        1
    );
    assert_eq!(stale(&["  warning other: not told here", "...", "  9 of udp: at most 65460"]), 0);
    assert_eq!(stale(&["  9 of tcp: at most 65460"]), 1, "the last must be told");
}

fn targets_exist() {
    let makefile = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Makefile")).unwrap();
    let targets: Vec<String> =
        typed().iter().filter_map(|(line, _)| line.strip_prefix("make ").map(String::from)).collect();
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
