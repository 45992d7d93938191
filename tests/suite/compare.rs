//! `compare` and gates as a user meets them: exit codes, files, and what is said of mistakes.

#[path = "../generated/mod.rs"]
mod generated;

use crate::program::{Ended, Program};
use crate::trial;
use generated::{Plan, write};
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("compare::exit_codes_follow_the_verdicts", &[], exit_codes_follow_the_verdicts),
        trial("compare::the_verdict_is_written_before_the_exit", &[], verdict_is_written),
        trial("compare::what_does_not_fit_is_refused", &[], what_does_not_fit_is_refused),
        trial("compare::floors_that_nobody_named_may_be_unreadable", &[], unreadable_floors),
        trial("compare::a_run_counts_once", &[], a_run_counts_once),
        trial("compare::gates_of_a_file_are_judged", &[], gates_of_a_file_are_judged),
        trial("compare::a_run_judges_its_gates", &[], run_judges_its_gates),
        trial("compare::two_real_runs_of_one_machine_differ_in_nothing", &[], real_runs),
    ]
}

/// Three runs a side: in `slow` one cell takes longer, in `bad` one fails.
fn folders() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for nth in 0..3 {
        let name = |side: &str| format!("{side}/{nth}");
        write(folder.path(), &name("base"), &Plan::new(10 + nth));
        write(folder.path(), &name("same"), &Plan::new(20 + nth));
        write(folder.path(), &name("slow"), &Plan::new(30 + nth).changed(3, 1.5));
        write(folder.path(), &name("bad"), &Plan { failing: vec![5], ..Plan::new(40 + nth) });
    }
    folder
}

fn compare(folder: &Path, words: &str) -> Ended {
    let floors_nowhere = folder.join("none");
    Program::ipcmatrix(["compare"])
        .args(words.split(' '))
        .env("XDG_DATA_HOME", floors_nowhere)
        .folder(folder)
        .run()
}

fn exit_codes_follow_the_verdicts() {
    let folder = folders();
    let with = |words: &str| compare(folder.path(), words);
    with("base slow").exits(0).prints(&["1 regression", "0 improvement", "none are known for machine class"]);
    with("slow base").exits(0).prints(&["0 regression", "1 improvement"]);
    with("--fail-on regression base slow").exits(3);
    with("--fail-on regression base same").exits(0);
    with("--fail-on regression base bad").exits(3).prints(&["1 failed", "base measured it"]);
    write(folder.path(), "other", &Plan { machine: "0ther000".into(), ..Plan::new(50) });
    let nothing = with("--fail-on regression base/0 other").exits(4).prints(&["24 refused"]);
    nothing.says(&["no cell could be compared"]);
    with("base/0 other").exits(0);
    with("--fail-on regression --allow machine base/0 other").exits(0);
    write(folder.path(), "fewer", &Plan { cells: generated::cells()[..1].into(), ..Plan::new(51) });
    write(folder.path(), "others", &Plan { cells: generated::cells()[1..].into(), ..Plan::new(52) });
    with("--fail-on regression fewer others").exits(4).prints(&["1 only in base, 23 only in new"]);
    with("--fail-on inconclusive base/0 same/0").exits(4).prints(&["24 inconclusive"]);
    with("--fail-on regression,inconclusive base slow").exits(3);
    with("--fail-on regression base/0 base/1 base/2 -- slow/0 slow/1 slow/2/records.jsonl").exits(3);
    with("--format json -f placement:same_cpu base same")
        .exits(0)
        .prints(&["\"schema\": \"ipcmatrix.compare.v1\""]);
    with("--row message_bytes --col mechanism base same").exits(0).prints(&["message_bytes |"]);
}

fn verdict_is_written() {
    let folder = folders();
    compare(folder.path(), "--fail-on regression -o out/verdict base slow").exits(3);
    let read = |name: &str| fs::read_to_string(folder.path().join("out/verdict").join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("compare.json")).unwrap();
    assert_eq!(json["verdicts"]["regression"], 1);
    assert!(read("compare.md").contains("**regression**"));
    compare(folder.path(), "-o base/0/records.jsonl/x base slow").exits(2).says(&["name another with -o"]);
}

fn what_does_not_fit_is_refused() {
    let folder = folders();
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (words, said) in [
        ("base", "expected BASE and NEW"),
        ("base same slow", "expected BASE and NEW"),
        ("base base/1", "base/1/records.jsonl stands for two runs"),
        ("base empty", "holds no run"),
        ("base gone", "expected the folder of a run"),
        ("-f message_bytes:7 base same", "no cell of these runs matches"),
        ("-f mechanism:pip base same", "did you mean `pipe`?"),
        ("--row workers --col mechanism base same", "no cell of these runs has the axis workers"),
        ("--row message_bytes base same", "--col"),
        ("--format json --row message_bytes --col mechanism base same", "--row and --col are for tables"),
        ("base -- same --format md", "cannot read --format: expected the folder of a run"),
        ("base -- same --format md", "options go before --"),
        ("--row size --col mechanism base same", "expected one of measure, mechanism"),
        ("--fail-on sorrow base same", "regression, inconclusive"),
        ("--allow anything base same", "machine, effort, effective"),
        ("--least 0% base same", "such as"),
        ("--gates smoke base same", "has no [[gate]]"),
        ("--floors gone.json base same", "there is no file gone.json"),
    ] {
        let ended = compare(folder.path(), words).exits(2).says(&[said]);
        assert_eq!(ended.stdout, "", "{words}");
    }
}

/// Named twice, below a folder that is named too, by another path, as a copy, as a part of a copy.
fn a_run_counts_once() {
    let folder = folders();
    let at = |path: &str| folder.path().join(path);
    fs::create_dir_all(at("copies/whole")).unwrap();
    fs::create_dir_all(at("parts/part")).unwrap();
    fs::copy(at("base/0/records.jsonl"), at("copies/whole/records.jsonl")).unwrap();
    let text = fs::read_to_string(at("base/0/records.jsonl")).unwrap();
    let part: String = text.split_inclusive('\n').take(9).collect();
    fs::write(at("parts/part/records.jsonl"), part).unwrap();
    let once = "name each run once";
    for (words, other) in [
        ("base base/2 -- same", "base/2/records.jsonl stands for two runs"),
        ("same base/1 -- base/1 slow", "base/1/records.jsonl stands for two runs"),
        ("base ./base/1 -- same", "base/1/records.jsonl and ./base/1/records.jsonl are the same run"),
        ("base copies -- same", "base/0/records.jsonl and copies/whole/records.jsonl are the same run"),
        ("same base -- slow parts", "base/0/records.jsonl and parts/part/records.jsonl are the same run"),
    ] {
        let ended = compare(folder.path(), words).exits(2).says(&[other, once]);
        assert_eq!(ended.stdout, "", "{words}");
    }
    let report = |runs: &[&str]| Program::ipcmatrix(["report"]).args(runs).folder(folder.path()).run();
    report(&["base", "copies"]).exits(2).says(&["copies/whole/records.jsonl are the same run", once]);
    report(&["base", "base/1"]).exits(2).says(&["base/1/records.jsonl stands for two runs", once]);
}

/// A data folder that is a file: neither root nor anybody else can read what would be in it.
fn unreadable_floors() {
    let folder = folders();
    fs::write(folder.path().join("none"), "").unwrap();
    let ended = compare(folder.path(), "base slow").exits(0);
    ended.prints(&["none are used, as those in the user's data folder are not readable: Not a directory"]);
    compare(folder.path(), "--floors none/floors.json base slow").exits(2).says(&["cannot read the floors"]);
}

const TABLE: &str = "schema = 1\ntitle = \"Gates\"\nbudget = \"5s\"\n[[table]]\nid = \"a\"\ntitle = \"A\"\nmeasure = \"round_trip\"\n\
                     row = \"mechanism\"\ncolumn = \"placement\"\naxes.mechanism = [\"pipe\", \"unix_stream\"]\naxes.placement = [\"same_cpu\"]\n";

/// Cell 3 is the round trip over a pipe on one CPU: 1.6 us in base.
fn gates_of_a_file_are_judged() {
    let folder = folders();
    let with = |gate: &str, words: &str| {
        let file = format!("{TABLE}[[gate]]\nfilter = \"mechanism:pipe\"\n{gate}\n");
        fs::write(folder.path().join("gates.toml"), file).unwrap();
        compare(folder.path(), &format!("--gates gates.toml {words}"))
    };
    with("max = \"20us\"", "base same").exits(0).prints(&["2 limits: 2 hold"]);
    with("max = \"2us\"", "-f placement:same_cpu base same").exits(0).prints(&["1 limit: 1 hold"]);
    with("max = \"2us\"", "-f placement:same_cpu base slow").exits(3).prints(&["1 broken"]);
    with("max_regression = \"10%\"", "base slow").exits(3).prints(&["max_regression 10%"]);
    with("max_regression = \"60%\"", "base slow").exits(0);
    let untested = with("max_regression = \"60%\"", "base/0 same/0").exits(4);
    untested.prints(&["0 hold, 2 undecided", "no interval, as nothing tells how much is chance"]);
    with("max = \"2us\"", "-f mechanism:tcp base slow").exits(2).says(&["watch no cell of these runs"]);
    with("max = \"2MB/s\"", "base slow").exits(2).says(&["gates.toml:12:", "expected a time"]);
}

fn run_judges_its_gates() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, gates: &str, more: &str| {
        fs::write(folder.path().join(format!("{name}.toml")), format!("{TABLE}{gates}")).unwrap();
        let words = format!("run {name}.toml -q -o {name} {more}");
        Program::ipcmatrix(words.trim().split(' ')).folder(folder.path()).run()
    };
    let report = |name: &str| Program::ipcmatrix(["report", "--gate", name]).folder(folder.path()).run();
    let gate = |limit: &str| format!("[[gate]]\nfilter = \"mechanism:pipe\"\n{limit}\n");
    run("wide", &gate("max = \"10s\""), "--quick --budget 2s").exits(0).prints(&["1 limit: 1 hold"]);
    report("wide").exits(0);
    run("narrow", &gate("max = \"1ns\""), "--quick --budget 2s").exits(3).says(&["gate broken: max 1ns"]);
    report("narrow").exits(3).prints(&["broken (max 1ns)"]);
    let both =
        Program::ipcmatrix(["report", "--gate", "wide", "narrow"]).folder(folder.path()).run().exits(3);
    both.says(&["ipcmatrix: narrow/records.jsonl: gate broken: max 1ns"]);
    let filtered = |words: &[&str]| {
        Program::ipcmatrix(["report", "--gate", "narrow"]).args(words).folder(folder.path()).run()
    };
    filtered(&["-f", "mechanism:pipe"]).exits(3).prints(&["1 limit: 0 hold, 1 broken"]);
    filtered(&["-f", "mechanism:unix_stream"]).exits(2).says(&["for a cell that matches", "leave out -f"]);
    let others = gate("max = \"1ns\"").replace("pipe", "unix_stream") + &gate("max = \"10s\"");
    run("two", &others, "--quick --budget 2s").exits(3);
    let two = Program::ipcmatrix(["report", "--gate", "two", "-f", "mechanism:pipe"]).folder(folder.path());
    assert!(
        two.run().exits(0).prints(&["1 limit: 1 hold"]).stdout.lines().all(|line| !line.contains("broken"))
    );
    run("tested", &gate("max = \"1ns\""), "--test").exits(0);
    report("tested").exits(4);
    run("relative", &gate("max_regression = \"5%\""), "--quick --budget 2s").exits(0);
    report("relative").exits(2).says(&["by `ipcmatrix compare`"]);
    let ended = Program::ipcmatrix(["compare", "wide", "narrow"]).folder(folder.path()).run();
    ended.exits(3).prints(&["max 1ns"]);
}

/// Two short runs of one machine, one after the other.
fn real_runs() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let words = ["compare", "--fail-on", "regression", "real-1.jsonl", "real-2.jsonl"];
    let folder = tempfile::tempdir().unwrap();
    let ended = Program::ipcmatrix(words).env("XDG_DATA_HOME", folder.path()).folder(&golden).run().exits(0);
    ended.prints(&["0 regression, 0 improvement, 0 equal, 5 inconclusive", "geometric mean over 5 cells"]);
}
