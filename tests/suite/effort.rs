//! How much is measured: what `--thorough` and `--strict` change, and what `plan` expects.

use crate::program::Program;
use crate::trial;
use libtest_mimic::Trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("effort::strict_ends_with_5_behind_the_report", &[], strict),
        trial("effort::plan_gives_a_range", &[], plan_gives_a_range),
        trial("effort::thorough_is_no_other_effort", &[], thorough_is_no_other),
    ]
}

/// A run of one cell, to a precision that none reaches.
fn strict() {
    let folder = tempfile::tempdir().unwrap();
    let words = [
        "run",
        "smoke",
        "-q",
        "--quick",
        "--budget",
        "2s",
        "--strict",
        "-o",
        "out",
        "--precision",
        "0.00001%",
    ];
    let filter = ["-f", "measure:bandwidth mechanism:pipe"];
    let ended = Program::ipcmatrix(words.into_iter().chain(filter)).folder(folder.path()).run().exits(5);
    let ended = ended.prints(&["1 measured"]);
    assert!(folder.path().join("out/README.md").exists(), "the report is written all the same");
    assert!(ended.stderr.contains("1 measured cell did not reach"), "{}", ended.stderr);
    // Threads of one process do not exclude each other by it.
    let words = [
        "run",
        "appendix",
        "-q",
        "--strict",
        "-o",
        "none",
        "-f",
        "mechanism:fcntl_lock spawn:threads workers:2",
    ];
    let none = Program::ipcmatrix(words).folder(folder.path()).run().exits(5);
    assert!(none.stderr.contains("no cell was measured, so none is precise"), "{}", none.stderr);
}

fn plan_gives_a_range() {
    let smoke = |effort: &[&str]| Program::ipcmatrix(["plan", "smoke"].iter().chain(effort)).run().exits(0);
    smoke(&["--quick"]).prints(&["(every cell precise after 6 visits) to 60 s"]);
    smoke(&["--budget", "1h"]).prints(&["(every cell precise after 12 visits) to 3600 s"]);
    smoke(&["--budget", "1h", "--thorough"]).prints(&["(every cell precise after 22 visits) to 3600 s"]);
    smoke(&["--thorough"]).prints(&["to 180 s (the budget"]);
    smoke(&["--budget", "1s"]).prints(&["expected time: 1 s (the budget)"]);
}

fn thorough_is_no_other() {
    let ended = Program::ipcmatrix(["run", "--thorough", "--quick"]).run().exits(2);
    assert!(ended.stderr.contains("cannot be used with"), "{}", ended.stderr);
}
