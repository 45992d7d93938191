//! Pictures from the command line: one to standard output, all into a folder, and those that a run leaves.

use crate::program::Program;
use crate::trial;
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("plots::one_is_printed_and_all_are_written", &[], one_or_all),
        trial("plots::what_cannot_be_drawn_is_refused", &[], refused),
        trial("plots::a_run_leaves_them_beside_its_report", &[], a_run_leaves_them),
    ]
}

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// `report` on a stored run, in a folder of its own.
fn report(folder: &TempDir, run: &str, words: &[&str]) -> Program {
    Program::ipcmatrix(["report"]).args([golden(run)]).args(words).folder(folder.path())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

fn one_or_all() {
    let folder = tempfile::tempdir().unwrap();
    let printed =
        report(&folder, "small.jsonl", &["--format", "svg", "--table", "A.4"]).run().exits(0).stdout;
    assert_eq!(printed, fs::read_to_string(golden("small-A.4.svg")).unwrap());
    let ended = report(&folder, "small.jsonl", &["--format", "svg", "-o", "new/plots"]).run().exits(0);
    assert_eq!(ended.stdout, "");
    assert_eq!(names(&folder.path().join("new/plots")), ["A.2.svg", "A.4.svg"]);
    assert_eq!(fs::read_to_string(folder.path().join("new/plots/A.4.svg")).unwrap(), printed);
    report(&folder, "small.jsonl", &["--format", "svg", "--table", "A.2", "-o", "one"]).run().exits(0);
    assert_eq!(names(&folder.path().join("one")), ["A.2.svg"]);
}

fn refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let cases: &[(&[&str], &str)] = &[
        (
            &["--format", "svg"],
            "this is of \"A.2\", \"A.4\": name one with --table, or a folder for all with -o",
        ),
        (&["--format", "svg", "--table", "A.9"], "there is no table \"A.9\", but \"A.2\", \"A.4\""),
        (&["--format", "svg", "-o", "file"], "cannot make the folder file"),
        (&["--format", "svg", "--published", "--table", "A.2"], "leave out --published"),
        (&["--format", "html", "-o", "x"], "use it with --format svg"),
        (&["--format", "svg", "again"], "cannot read again: expected the folder of a run"),
    ];
    for (words, message) in cases {
        let ended = report(&folder, "small.jsonl", words).run().exits(2).says(&[message]);
        assert_eq!(ended.stdout, "", "{words:?}");
    }
    report(&folder, "hostile.jsonl", &["--format", "svg"])
        .run()
        .exits(2)
        .says(&["no table of this run has a plot: a table has one where its rows are numbers"]);
    assert_eq!(names(folder.path()), ["file"], "nothing is left behind");
    fs::write(folder.path().join("environment.json"), "{").unwrap();
    fs::copy(golden("small.jsonl"), folder.path().join("records.jsonl")).unwrap();
    Program::ipcmatrix(["report", ".", "--format", "html"])
        .folder(folder.path())
        .run()
        .exits(2)
        .says(&["environment.json is no JSON"]);
}

fn a_run_leaves_them() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["run", "bandwidth", "--quick", "--budget", "1s", "-q", "-o", "out"];
    let cells = ["-f", "mechanism:pipe placement:same_cpu spawn:processes", "-a", "message_bytes=1K,4K"];
    Program::ipcmatrix(words).args(cells).folder(folder.path()).run().exits(0);
    let out = folder.path().join("out");
    let wanted = ["README.md", "bandwidth-processes.svg", "environment.json", "records.jsonl"];
    assert_eq!(names(&out), wanted);
    let readme = fs::read_to_string(out.join("README.md")).unwrap();
    assert!(readme.contains("(MB/s)](bandwidth-processes.svg)\n"), "{readme}");
    let again = Program::ipcmatrix(["report", "out", "--format", "svg"]).folder(folder.path()).run().exits(0);
    assert_eq!(again.stdout, fs::read_to_string(out.join("bandwidth-processes.svg")).unwrap());
    let page = Program::ipcmatrix(["report", "out", "--format", "html"]).folder(folder.path()).run().exits(0);
    page.prints(&["<th scope=\"row\">libc_version</th>", "<svg "]);
}
