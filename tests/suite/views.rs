//! Projections from the command line: tables, axes and cells that are chosen, and what would be averaged or left out refused.

use crate::program::{Program, as_another_run};
use crate::trial;
use libtest_mimic::Trial;
use std::path::{Path, PathBuf};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("views::every_format_shows_what_was_chosen", &[], every_format),
        trial("views::nothing_is_averaged_and_nothing_left_out_silently", &[], refused),
        trial("views::folders_of_runs_are_one_report", &[], several_runs),
        trial("views::csv_has_the_samples_of_the_chosen_cells", &[], samples),
    ]
}

fn small() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/small.jsonl")
}

fn report(words: &[&str]) -> Program {
    Program::ipcmatrix(["report"]).args([small()]).args(words)
}

fn every_format() {
    let view = ["--table", "A.2", "--row", "mechanism", "-f", "message_bytes:(1K OR 64K)"];
    for format in ["text", "md", "html"] {
        let whole = report(&["--format", format]).run().exits(0).stdout;
        let shown = report(&["--format", format]).args(view).run().exits(0).stdout;
        assert!(whole.contains("A.4 ") && !shown.contains("A.4 "), "{format}: {shown}");
        for words in ["tables A.2; cells that match message_bytes:(1K OR 64K); rows by mechanism", "65536"] {
            assert!(shown.replace("\\", "").contains(words), "{format}: no {words}: {shown}");
        }
        assert_eq!(report(&["--format", format]).args(view).run().exits(0).stdout, shown, "the same bytes");
    }
    let turned = report(&["--table", "A.2", "--col", "message_bytes"]).run().exits(0).stdout;
    assert!(turned.lines().any(|line| line.contains("mechanism") && line.contains("1024")), "{turned}");
    let filtered = report(&["-f", "message_bytes:64K", "--row", "placement", "--split", "mechanism"]);
    filtered.run().exits(2).says(&["mechanism is row or column already"]);
}

fn refused() {
    let cases: &[(&[&str], &str)] = &[
        (&["--table", "A.2", "--row", "placement"], "--split message_bytes"),
        (&["--table", "A.2", "--row", "placement"], "message_bytes has the values "),
        (&["--table", "A.2", "--col", "message_bytes", "--row", "message_bytes"], "row and column"),
        (&["--row", "workers"], "table \"A.2\": no cell of it has the axis workers"),
        (&["--table", "A.2", "--table", "x\u{1b}[2J"], "there is no table \"x\\u{1b}[2J\""),
        (&["--row", "mechanisms"], "unknown axis `mechanisms`; did you mean `mechanism`?"),
        (&["--row", "measure"], "unknown axis `measure`"),
        (&["-f", "mechanism:eventfd"], "no cell of these tables matches"),
        (&["-f", "mechanism:"], "a value is missing"),
        (&["--table", "A.2", "--metric", "fairness"], "there is no fairness"),
        (&["--format", "csv", "--row", "mechanism"], "csv has the raw samples"),
        (&["--check"], "--into"),
    ];
    for (words, message) in cases {
        let ended = report(words).run().exits(2).says(&[message]);
        assert_eq!(ended.stdout, "", "{words:?}");
    }
}

fn samples() {
    let whole = report(&["--format", "csv"]).run().exits(0).stdout;
    let kept = ["--format", "csv", "--table", "A.2", "-f", "mechanism:tcp"];
    let shown = report(&kept).run().exits(0).stdout;
    let wanted = |line: &&str| line.starts_with("measure,") || line.starts_with("bandwidth,tcp,");
    let expected: Vec<&str> = whole.lines().filter(wanted).collect();
    assert!(expected.len() > 3 && expected.len() < whole.lines().count());
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
}

fn several_runs() {
    let folder = tempfile::tempdir().unwrap();
    for (nth, run) in ["h1/a", "h2/a", "h2/deeper/b"].into_iter().enumerate() {
        std::fs::create_dir_all(folder.path().join(run)).unwrap();
        let text = as_another_run(&small(), nth + 1);
        std::fs::write(folder.path().join(run).join("records.jsonl"), text).unwrap();
    }
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    let fleet = |words: &[&str]| Program::ipcmatrix(["report"]).args(words).folder(folder.path());
    let all = fleet(&["."]).run().exits(0).stdout;
    assert!(all.starts_with("ipcmatrix: 3 runs\n") && all.contains("3 runs on 3 hosts"), "{all}");
    assert_eq!(fleet(&["h1", "h2"]).run().exits(0).stdout, all, "the same runs by other words");
    let one = fleet(&[".", "--table", "A.2", "--row", "mechanism", "--format", "md"]).run().exits(0).stdout;
    assert!(
        one.contains("## A.2 ") && !one.contains("## A.4 ") && one.contains("rows by mechanism"),
        "{one}"
    );
    let side = fleet(&[".", "--table", "A.2", "--col", "machine"]).run().exits(0).stdout;
    assert!(
        side.contains("A.2 ") && side.contains(", by machine\n") && side.contains("; mechanism pipe\n"),
        "{side}"
    );
    assert!(side.contains("tables A.2; columns by machine; what stands here"), "{side}");
    let cases: &[(&[&str], &str)] = &[
        (&[".", "--row", "machine", "--col", "machine"], "machine would be row and column"),
        (&["h1", "--row", "machine"], "this is one run, so of one machine"),
        (&["h1", "--row", "machine", "--format", "csv"], "csv has the raw samples"),
        (&[".", "--split", "machine"], "unknown axis `machine`"),
    ];
    for (words, message) in cases {
        fleet(words).run().exits(2).says(&[message]);
    }
    fleet(&["empty"]).run().exits(2).says(&["empty holds no run: expected"]);
    for words in [
        &[".", "--format", "csv"][..],
        &[".", "--format", "svg"],
        &[".", "--metric", "ns_per_op"],
        &[".", "--published"],
        &[".", "--mute", "W003"],
    ] {
        fleet(words).run().exits(2).says(&["these are 3 runs"]);
    }
    std::fs::write(folder.path().join("h1/a/records.jsonl"), "{}\n").unwrap();
    fleet(&["."]).run().exits(2).says(&["h1/a/records.jsonl:1: no schema"]);
}
