//! `export`: streams, files and mistakes, and the programs that the formats are made for.

use crate::machine::Need;
use crate::program::{Ended, Program};
use crate::schema::root;
use crate::trial;
use libtest_mimic::Trial;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const PROMTOOL: &[Need] = &[Need::Tool("promtool")];
const DUCKDB: &[Need] = &[Need::DuckDb];

pub fn trials() -> Vec<Trial> {
    vec![
        trial("export::a_file_has_what_standard_output_has", &[], files),
        trial("export::a_journal_may_come_on_standard_input", &[], standard_input),
        trial("export::both_lists_go_into_a_folder", &[], both_lists),
        trial("export::an_empty_list_is_told", &[], empty_list),
        trial("export::a_filter_keeps_its_cells", &[], filtered),
        trial("export::what_is_left_out_is_told_beside", &[], left_out_is_told),
        trial("export::mistakes_are_told_and_nothing_is_written", &[], mistakes),
        trial("export::promtool_accepts_the_metrics", PROMTOOL, promtool),
        trial("export::duckdb_reads_csv_and_json_lines", DUCKDB, duckdb),
    ]
}

fn journal(name: &str) -> PathBuf {
    root().join("tests/golden").join(format!("{name}.jsonl"))
}

fn exported(name: &str, arguments: &[&str]) -> Ended {
    Program::ipcmatrix(["export"]).args([journal(name)]).args(arguments).run()
}

fn files() {
    let folder = tempfile::tempdir().unwrap();
    for format in ["json", "jsonl", "csv", "go", "bmf", "openmetrics"] {
        let wanted = exported("small", &["--format", format]).exits(0).stdout;
        let path = folder.path().join(format);
        // Twice: the second time it replaces a file.
        for _ in 0..2 {
            let ended = exported("small", &["--format", format, "-o", path.to_str().unwrap()]).exits(0);
            assert_eq!(ended.stdout, "");
            assert_eq!(fs::read_to_string(&path).unwrap(), wanted, "{format}");
        }
        assert_eq!(exported("small", &["--format", format, "-o", "-"]).exits(0).stdout, wanted);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "nothing else is left");
}

fn standard_input() {
    let wanted = exported("small", &["--format", "go"]).exits(0).stdout;
    let text = fs::read(journal("small")).unwrap();
    let ended = Program::ipcmatrix(["export", "-", "--format", "go"]).input(text).run().exits(0);
    assert_eq!(ended.stdout, wanted);
}

fn list(path: &Path) -> Vec<Value> {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn both_lists() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new");
    exported("small", &["--format", "github-action", "-o", path.to_str().unwrap()]).exits(0);
    for (direction, measure) in [("smaller", "increment"), ("bigger", "bandwidth")] {
        let entries = list(&path.join(format!("{direction}-is-better.json")));
        assert!(!entries.is_empty());
        for entry in &entries {
            assert!(entry["name"].as_str().unwrap().starts_with(measure), "{entry}");
            assert!(entry["value"].is_number() && entry["unit"].is_string(), "{entry}");
        }
        let alone = exported("small", &["--format", "github-action", "--direction", direction]).exits(0);
        assert_eq!(serde_json::from_str::<Vec<Value>>(&alone.stdout).unwrap(), entries);
    }
}

fn empty_list() {
    let bandwidth = ["--format", "github-action", "-f", "measure:bandwidth", "--direction"];
    let ended = exported("small", &[&bandwidth[..], &["smaller"]].concat()).exits(0);
    assert_eq!(ended.stdout, "[]\n");
    ended.says(&["no cell has a figure for smaller-is-better.json", "do not hand it over"]);
    let ended = exported("small", &[&bandwidth[..], &["bigger"]].concat()).exits(0);
    assert!(!ended.stderr.contains("hand it over"), "{}", ended.stderr);
}

fn filtered() {
    let filter = ["--format", "json", "-f", "mechanism:pipe", "-f", "-placement:cross_cpu"];
    let document: Value = serde_json::from_str(&exported("small", &filter).exits(0).stdout).unwrap();
    let cells = document["cells"].as_array().unwrap();
    assert!(!cells.is_empty());
    for cell in cells {
        assert_eq!(
            (&cell["cell"]["mechanism"], &cell["cell"]["placement"]),
            (&"pipe".into(), &"same_cpu".into())
        );
    }
}

fn left_out_is_told() {
    let ended = exported("hostile", &["--format", "bmf"]).exits(0);
    assert!(serde_json::from_str::<Value>(&ended.stdout).unwrap().is_object());
    assert_eq!(ended.stderr.lines().count(), 3, "{}", ended.stderr);
    assert!(ended.stderr.lines().all(|line| line.starts_with("ipcmatrix: left out: ")), "{}", ended.stderr);
    assert!(!ended.stderr.contains(['\u{1b}', '\u{202e}']), "{}", ended.stderr);
    assert_eq!(exported("hostile", &["--format", "json"]).exits(0).stderr, "", "it has a place for all");
}

fn mistakes() {
    let cases: &[(&[&str], &str)] = &[
        (&["--format", "github-action"], "--direction smaller or bigger"),
        (&["--format", "json", "--summary"], "--summary is for csv and jsonl"),
        (&["--format", "go", "--direction", "bigger"], "--direction is for github-action"),
        (&["--format", "xml"], "openmetrics"),
        (&["--format", "json", "-f", "mechanism:pip"], "did you mean `pipe`?"),
        (&["--format", "json", "-f", "mechanism:poll"], "no cell of"),
    ];
    for (arguments, message) in cases {
        let ended = exported("small", arguments).exits(2);
        assert_eq!(ended.stdout, "", "{arguments:?}");
        assert!(ended.stderr.contains(message), "{arguments:?}: {}", ended.stderr);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.json");
    let ended =
        Program::ipcmatrix(["export", "/dev/null", "--format", "json", "-o"]).args([&path]).run().exits(2);
    assert!(ended.stdout.is_empty() && !path.exists(), "{}", ended.stderr);
}

fn promtool() {
    for name in ["small", "hostile"] {
        let text = exported(name, &["--format", "openmetrics"]).exits(0).stdout;
        let ended = Program::new("promtool").args(["check", "metrics"]).input(text).run().exits(0);
        assert_eq!((ended.stdout.as_str(), ended.stderr.as_str()), ("", ""));
    }
    let wrong = "# TYPE a gauge\na{b=\"c} 1\n";
    Program::new("promtool").args(["check", "metrics"]).input(wrong).run().exits(1);
}

const QUERIES: &str = "
import duckdb, sys
for query in sys.argv[1:]:
    print(*duckdb.sql(query).fetchall()[0])
";

fn duckdb() {
    let folder = tempfile::tempdir().unwrap();
    let file = |arguments: &[&str], name: &str| {
        let path = folder.path().join(name);
        let journal = if name.starts_with("hostile") { "hostile" } else { "small" };
        exported(journal, &[arguments, &["-o", path.to_str().unwrap()]].concat()).exits(0);
    };
    file(&["--format", "csv"], "samples.csv");
    file(&["--format", "csv", "--summary"], "cells.csv");
    file(&["--format", "csv", "--summary"], "hostile.csv");
    file(&["--format", "jsonl"], "visits.jsonl");
    file(&["--format", "jsonl", "--summary"], "cells.jsonl");
    file(&["--format", "jsonl"], "hostile.jsonl");
    let queries = [
        (
            "SELECT count(*), count(DISTINCT mechanism), sum(message_bytes) > 0 FROM 'samples.csv'",
            "262 5 True",
        ),
        ("SELECT count(*), count(value), count(grade) FROM 'cells.csv'", "18 12 11"),
        ("SELECT count(*), count(value) FROM 'hostile.csv'", "4 1"),
        ("SELECT count(*), count(DISTINCT cell.mechanism), count(ns_per_op) FROM 'visits.jsonl'", "92 5 85"),
        ("SELECT count(*), count(figure.value), max(cell.message_bytes) FROM 'cells.jsonl'", "18 12 65536"),
        ("SELECT count(*), count(ns_per_op) FROM 'hostile.jsonl'", "4 1"),
    ];
    let ended = Program::new("python3")
        .args(["-c", QUERIES])
        .args(queries.map(|(query, _)| query))
        .folder(folder.path())
        .run()
        .exits(0);
    let answers: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(answers, queries.map(|(_, answer)| answer));
}
