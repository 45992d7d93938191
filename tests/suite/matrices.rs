//! Mistakes in matrices and on the command line: told with their place, exit code 2, nothing written.

use crate::program::Program;
use crate::trial;
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("matrices::odd_sizes_and_one_byte_are_accepted", &[], odd_sizes_are_accepted),
        trial("matrices::a_folder", &[], || {
            not_a_matrix(
                |path| fs::create_dir(path).unwrap(),
                "cannot read the matrix m.toml: Is a directory",
            )
        }),
        trial("matrices::an_empty_file", &[], || {
            not_a_matrix(
                |path| fs::write(path, "").unwrap(),
                "m.toml:1:1: the key `schema` is missing: expected `schema = 1`",
            )
        }),
        trial("matrices::a_binary_file", &[], || {
            not_a_matrix(
                |path| fs::write(path, b"\x7fELF\n\xff\xfe\0").unwrap(),
                "m.toml:2:1: the file is not text: byte 6 (0xFF) is not UTF-8",
            )
        }),
        trial("matrices::a_file_without_an_end", &[], endless_file),
        trial("matrices::several_mistakes_are_told_at_once", &[], several_mistakes),
        trial("matrices::shipped_matrices_can_be_planned", &[], shipped_matrices_can_be_planned),
        trial("matrices::a_matrix_needs_no_file_beside_the_program", &[], embedded),
        trial("matrices::help_names_no_hidden_subcommand", &[], hidden_is_not_offered),
    ];
    for (name, mistake, message) in FILES {
        trials.push(trial(format!("matrices::file::{name}"), &[], move || {
            mistake_in_a_file(*mistake, message)
        }));
    }
    for (name, arguments, messages) in ARGUMENTS {
        trials.push(trial(format!("matrices::arguments::{name}"), &[], move || {
            mistake_typed(arguments, messages)
        }));
    }
    trials
}

/// What stands on a line of the good matrix, and what replaces it; then the message.
type Mistake = (&'static str, &'static str);

const SIZE: &str = "message_bytes = 4096";
const SIZES: &str = "expected a size from 1 to 67108864 bytes, such as 4096 or 4K";

const FILES: &[(&str, Mistake, &str)] = &[
    (
        "unknown_mechanism",
        ("\"pipe\"", "\"pip\""),
        "m.toml:10:14: unknown mechanism `pip`; did you mean `pipe`? Allowed: pipe, ",
    ),
    (
        "unknown_axis",
        (SIZE, "mesage_bytes = 4096"),
        "m.toml:11:1: unknown axis `mesage_bytes`; did you mean `message_bytes`? Allowed: ",
    ),
    (
        "unknown_key",
        ("column =", "colunm ="),
        "m.toml:8:1: unknown key `colunm`; did you mean `column`? Allowed: id, title, ",
    ),
    ("unknown_placement", ("\"same_cpu\"", "\"samecpu\""), "did you mean `same_cpu`?"),
    ("unknown_spawn", ("\"threads\"", "\"thread\""), "did you mean `threads`?"),
    ("size_0", (SIZE, "message_bytes = 0"), SIZES),
    ("size_0_by_place", (SIZE, "message_bytes = 0"), "m.toml:11:17: `0` is out of bounds: "),
    (
        "size_2_to_the_40",
        (SIZE, "message_bytes = 1099511627776"),
        "m.toml:11:17: `1099511627776` is out of bounds: ",
    ),
    ("size_with_a_sign", (SIZE, "message_bytes = -1"), "m.toml:11:17: `-1` is not a number: "),
    ("size_with_a_fraction", (SIZE, "message_bytes = 1.5"), "m.toml:11:17: found a number with a fraction: "),
    ("size_beyond_64_bits", (SIZE, "message_bytes = \"99999999999999999999T\""), "m.toml:11:17: "),
    ("no_values", (SIZE, "message_bytes = []"), "m.toml:11:17: "),
    ("schema_of_the_future", ("schema = 1", "schema = 2"), "m.toml:1:10: "),
    ("not_toml", ("[[table]]", "[[table"), "m.toml:3:"),
];

const ARGUMENTS: &[(&str, &[&str], &[&str])] = &[
    (
        "no_such_matrix",
        &["run", "smok"],
        &[
            "there is no matrix or file smok; did you mean smoke?",
            "Built in: all, appendix, bandwidth, locks, log, operations, readiness, serve, smoke",
        ],
    ),
    (
        "no_such_file",
        &["run", "missing.toml"],
        &["there is no matrix or file missing.toml. Built in: all, appendix"],
    ),
    (
        "size_0",
        &["run", "smoke", "-a", "message_bytes=0"],
        &["-a 'message_bytes=0': `0` is out of bounds", SIZES],
    ),
    (
        "workers_0",
        &["run", "smoke", "-a", "workers=0"],
        &["-a 'workers=0': `0` is out of bounds: expected a whole number from 1 to 64"],
    ),
    (
        "workers_1000",
        &["run", "smoke", "-a", "workers=1000"],
        &["-a 'workers=1000': `1000` is out of bounds: expected a whole number from 1 to 64"],
    ),
    (
        "unknown_axis",
        &["run", "smoke", "-a", "worker=2"],
        &["unknown axis `worker`; did you mean `workers`?"],
    ),
    (
        "unknown_mechanism",
        &["run", "smoke", "-a", "mechanism=pip"],
        &["unknown mechanism `pip`; did you mean `pipe`?"],
    ),
    (
        "filter_of_an_unknown_mechanism",
        &["run", "smoke", "-f", "mechanism:pip"],
        &["-f 'mechanism:pip'", "did you mean `pipe`?"],
    ),
    (
        "filter_of_an_unknown_axis",
        &["run", "smoke", "-f", "mecanism:pipe"],
        &["unknown axis `mecanism`; did you mean `mechanism`?"],
    ),
    ("filter_without_a_term", &["run", "smoke", "-f", "("], &["a term is missing"]),
    (
        "filter_that_leaves_nothing",
        &["run", "smoke", "-f", "mechanism:pipe", "-f", "mechanism:tcp"],
        &["no cell of smoke matches", "plan smoke --cells"],
    ),
    (
        "budget_of_nothing",
        &["run", "smoke", "--budget", "0s"],
        &["'0s' for '--budget", "such as 500ms, 90s or 6m"],
    ),
    (
        "precision_of_nothing",
        &["run", "smoke", "--precision", "0%"],
        &["'0%' for '--precision", "such as 3% or 0.5%"],
    ),
    (
        "mute_of_what_is_no_code",
        &["run", "smoke", "--mute", "W003,W0033"],
        &["'W0033' for '--mute", "did you mean `W003`?", "Allowed: W001, W002,"],
    ),
    (
        "deadline_of_a_moment",
        &["run", "smoke", "--deadline", "1ms"],
        &["'1ms' for '--deadline", "such as 500ms"],
    ),
    ("quick_and_test", &["run", "smoke", "--quick", "--test"], &["'--quick' cannot be used with '--test'"]),
    ("unknown_flag", &["run", "smoke", "--nonsense"], &["unexpected argument '--nonsense'"]),
    ("unknown_command", &["frob"], &["unrecognized subcommand 'frob'"]),
    ("unknown_format", &["report", "out", "--format", "pdf"], &["invalid value 'pdf'", "text, md, csv"]),
    ("seed_that_is_no_number", &["run", "smoke", "--seed", "x"], &["invalid value 'x' for '--seed"]),
    ("report_of_nothing", &["report"], &["<RUN>"]),
];

const GOOD: &str = r#"schema = 1
title = "t"
[[table]]
id = "t"
title = "t"
measure = "bandwidth"
row = "message_bytes"
column = "mechanism"
[table.axes]
mechanism = ["pipe"]
message_bytes = 4096
placement = ["same_cpu"]
spawn = ["threads"]
"#;

/// Runs the command in an empty folder with `m.toml` as made, and expects a refusal before anything is written.
fn refused(make: impl FnOnce(&Path), arguments: &[&str], messages: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    make(&folder.path().join("m.toml"));
    let before = fs::read_dir(folder.path()).unwrap().count();
    let ended = Program::ipcmatrix(arguments).folder(folder.path()).run().exits(2).says(messages);
    assert_eq!(ended.stdout, "", "nothing is printed");
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), before, "nothing is written");
}

fn not_a_matrix(make: fn(&Path), message: &str) {
    refused(make, &["run", "m.toml"], &[message]);
    refused(make, &["plan", "m.toml"], &[message]);
}

fn mistake_in_a_file((good, bad): Mistake, message: &str) {
    assert_eq!(GOOD.matches(good).count(), 1);
    let text = GOOD.replace(good, bad);
    refused(|path| fs::write(path, text).unwrap(), &["run", "m.toml", "-o", "out"], &[message]);
}

fn mistake_typed(arguments: &[&str], messages: &[&str]) {
    refused(|_| (), arguments, messages);
}

fn endless_file() {
    refused(|_| (), &["run", "/dev/zero"], &["/dev/zero:1:1: the file has 1048577 bytes, more than 1048576"]);
}

fn several_mistakes() {
    let text = GOOD.replace("\"pipe\"", "\"pip\"").replace("4096", "0").replace("\"threads\"", "\"thread\"");
    let messages = ["m.toml:10:14: ", "m.toml:11:17: ", "m.toml:13:"];
    refused(|path| fs::write(path, text).unwrap(), &["run", "m.toml"], &messages);
}

fn odd_sizes_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let text = GOOD.replace("4096", "[1, 7, 12345]");
    fs::write(folder.path().join("m.toml"), text).unwrap();
    let ended = Program::ipcmatrix(["run", "m.toml", "--test"]).folder(folder.path()).run().exits(0);
    ended.prints(&["3 measured, 0 unavailable, 0 failed", " 12345 | works"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "a test writes nothing");
}

fn shipped_matrices_can_be_planned() {
    for (name, _) in ipcmatrix::matrix::SHIPPED {
        Program::ipcmatrix(["plan", name, "--cells"]).run().exits(0).prints(&[
            "cells",
            "one round: about",
            "budget: ",
        ]);
    }
}

/// A copy of the program alone in a folder runs a shipped matrix.
fn embedded() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("alone");
    fs::copy(crate::program::IPCMATRIX, &copy).unwrap();
    let run = Program::new(&copy)
        .args(["run", "smoke", "--test", "-f", "measure:bandwidth mechanism:pipe"])
        .folder(folder.path());
    run.run().exits(0).prints(&["1 measured, 0 unavailable, 0 failed"]);
}

fn hidden_is_not_offered() {
    let help = Program::ipcmatrix(["--help"]).run().exits(0);
    assert!(!help.stdout.contains("probe") && !help.stdout.contains("cell  "), "{}", help.stdout);
}
