//! `ab` and `calibrate`, as a user has them.

use crate::program::{IPCMATRIX, Program};
use crate::trial;
use libtest_mimic::Trial;
use serde_json::Value;
use std::path::Path;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("ab::axes_are_arms_and_the_journal_has_both", &[], axes_are_arms),
        trial("ab::variables_and_programs_are_arms", &[], variables_and_programs_are_arms),
        trial("ab::a_cell_that_an_arm_cannot_have_is_told", &[], a_cell_that_an_arm_cannot_have_is_told),
        trial("ab::undecided_cells_end_with_4_behind_the_report", &[], undecided_cells_end_with_4),
        trial("ab::bad_arms_are_mistakes", &[], bad_arms_are_mistakes),
        trial("ab::calibrated_floors_are_used", &[], calibrated_floors_are_used),
        trial("ab::gates_are_held_against_arm_b", &[], gates_are_held_against_arm_b),
        trial("ab::gates_without_a_figure_end_with_4", &[], gates_without_a_figure_end_with_4),
        trial("ab::nothing_compared_ends_with_4", &[], nothing_compared_ends_with_4),
    ]
}

const PIPE: [&str; 2] = ["-f", "measure:round_trip mechanism:pipe placement:same_cpu"];

/// Six rounds of `smoke` in that folder, beside other trials.
fn ab(folder: &Path, a: &str, b: &str, more: &[&str]) -> Program {
    let words = ["ab", "--no-lock", "-q", "smoke", "--rounds", "6", "--a", a, "--b", b];
    Program::ipcmatrix(words.iter().chain(more)).folder(folder)
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("one JSON document: {error}\n{text}"))
}

fn axes_are_arms() {
    let folder = tempfile::tempdir().unwrap();
    let more = [
        "-f",
        "measure:bandwidth mechanism:(tcp OR pipe) placement:same_cpu",
        "-o",
        "out",
        "--format",
        "json",
    ];
    let ended = ab(folder.path(), "nodelay=off", "nodelay=on", &more).run().exits(0);
    let document = json(&ended.stdout);
    assert_eq!(document["schema"], "ipcmatrix.ab.v1");
    let cells = document["cells"].as_array().unwrap();
    assert_eq!((cells.len(), &cells[0]["rounds"]), (1, &Value::from(6)));
    assert_eq!((&cells[0]["a"]["nodelay"], &cells[0]["b"]["nodelay"]), (&"off".into(), &"on".into()));
    assert!(cells[0]["ratio"].as_f64().unwrap() > 0.0 && cells[0]["p"].as_f64().unwrap() <= 1.0);
    let verdict = &document["verdict"];
    assert_eq!(verdict["visits"], 12, "of both arms: {verdict}");
    assert!(cells[0]["warnings"]["a"].is_array() && cells[0]["warnings"]["b"].is_array(), "{document:#}");
    let left_out = document["arms"]["left_out"].as_array().unwrap();
    assert!(left_out.len() == 1 && left_out[0][0].as_str().unwrap().contains("pipe"), "{left_out:?}");

    let read = |file: &str| std::fs::read_to_string(folder.path().join("out").join(file)).unwrap();
    let visits: Vec<Value> =
        read("records.jsonl").lines().map(json).filter(|line| line["kind"] == "visit").collect();
    let of = |arm: &str| visits.iter().filter(|visit| visit["arm"] == arm).collect::<Vec<_>>();
    assert_eq!((of("a").len(), of("b").len()), (6, 6));
    let why = if verdict["by_grades"].as_bool().unwrap() { " by its grades" } else { "" };
    let word = format!("{}{why}", verdict["word"].as_str().unwrap());
    assert!(
        read("README.md").contains(&format!("{word}: {} of 12 visits", verdict["disturbed"])),
        "{verdict}"
    );
    assert_eq!(visits[0]["arm"], "a", "it chooses how many operations a batch has");
    assert!(visits.iter().all(|visit| visit["ops"] == visits[0]["ops"]), "for both");
    assert!(visits.chunks(2).all(|both| both[0]["round"] == both[1]["round"]));
    let again = Program::ipcmatrix(["report", "out", "--format", "md"]).folder(folder.path()).run().exits(0);
    assert_eq!(again.stdout, read("README.md"), "the journal says it all");
    let metric = ["report", "out", "--metric", "ns_per_op"];
    Program::ipcmatrix(metric).folder(folder.path()).run().exits(0).prints(&["arm a", "arm b"]);
}

fn variables_and_programs_are_arms() {
    let folder = tempfile::tempdir().unwrap();
    let other = format!("env:IPCMATRIX_X=1,bin:{IPCMATRIX}");
    let ended = ab(folder.path(), "base", &other, &PIPE).args(["-o", "out", "--anonymous"]).run().exits(0);
    let ended = ended.prints(&[
        "arm a      base",
        "arm b is another program, CRC-32 ",
        "round_trip (us per round trip)",
    ]);
    assert!(!ended.stdout.contains("target/"), "a path names nobody: {}", ended.stdout);
    let export =
        Program::ipcmatrix(["export", "out", "--format", "json"]).folder(folder.path()).run().exits(2);
    let export =
        export.says(&["stands for both arms of this run", "`ipcmatrix report` prints their comparison"]);
    assert!(!export.stderr.contains("damaged"), "{}", export.stderr);
    let same = ab(folder.path(), "base", "base", &PIPE).args(["-o", "same"]).run().exits(0);
    same.prints(&["both are the same"]);
}

fn a_cell_that_an_arm_cannot_have_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let filter =
        ["-f", "mechanism:eventfd OR (measure:round_trip mechanism:pipe placement:same_cpu)", "-o", "out"];
    let ended = ab(folder.path(), "base", "spawn=threads,workers=2", &filter).run();
    let ended = ended.exits(0);
    assert!(ended.stdout.contains("verdicts"), "{}", ended.stdout);
    let nothing = ab(folder.path(), "nodelay=off", "nodelay=on", &PIPE).run().exits(2);
    assert!(
        nothing.stderr.contains("both arms give the same cell, as nodelay makes no difference"),
        "{}",
        nothing.stderr
    );
    let other = ab(folder.path(), "base", "mechanism=pthread_mutex", &PIPE).run().exits(2);
    assert!(other.stderr.contains("pthread_mutex has no measure round_trip"), "{}", other.stderr);
}

/// No interval lies within a ten-thousandth of a percent, and no difference is above this floor.
fn undecided_cells_end_with_4() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--least", "0.0001%", "--fail-on", "undecided", "-o", "out", "--floors", "floors.json"];
    calibrate(folder.path()).args(["-o", "floors.json"]).run().exits(0);
    let path = folder.path().join("floors.json");
    // A floor that no difference passes.
    let mut floors = json(&std::fs::read_to_string(&path).unwrap());
    floors["cells"][0]["paired"] = 9.0.into();
    std::fs::write(&path, floors.to_string()).unwrap();
    let ended = ab(folder.path(), "base", "base", &PIPE).args(words).run().exits(4);
    assert!(ended.stderr.contains("--fail-on"), "{}", ended.stderr);
    assert!(folder.path().join("out/README.md").exists());
}

fn bad_arms_are_mistakes() {
    let folder = tempfile::tempdir().unwrap();
    for (arm, expected) in [
        ("nodelay", "expected `base`"),
        ("nodelay=maybe", "off, on"),
        ("bin:/no/such/program", "bin:PATH"),
        ("bin:/bin/true", "must be an ipcmatrix"),
    ] {
        let ended = ab(folder.path(), "base", arm, &PIPE).args(["-o", "out"]).run().exits(2);
        assert!(ended.stderr.contains(expected) && ended.stdout.is_empty(), "{arm}: {}", ended.stderr);
    }
    assert!(!folder.path().join("out").exists(), "nothing was run");
}

fn calibrate(folder: &Path) -> Program {
    let words = ["calibrate", "--no-lock", "-q", "smoke", "--rounds", "6"];
    Program::ipcmatrix(words.iter().chain(&PIPE)).folder(folder)
}

fn calibrated_floors_are_used() {
    let folder = tempfile::tempdir().unwrap();
    let into = ["-o", "floors.json"];
    calibrate(folder.path()).args(into).run().exits(0).prints(&["1 of 1 cell have a noise floor"]);
    let there: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(there, ["floors.json"], "nothing else is written");
    let floors = json(&std::fs::read_to_string(folder.path().join("floors.json")).unwrap());
    assert_eq!(
        (&floors["schema"], floors["cells"].as_array().unwrap().len()),
        (&"ipcmatrix.floors.v1".into(), 1)
    );
    let with = |floors: &str, out: &str| {
        ab(folder.path(), "base", "env:X=1", &PIPE)
            .args(["--format", "json", "-o", out, "--floors", floors])
            .run()
    };
    let document = json(&with("floors.json", "one").exits(0).stdout);
    let floor = floors["cells"][0]["paired"].as_f64().unwrap().exp();
    assert!((document["cells"][0]["floor_ratio"].as_f64().unwrap() - floor).abs() < 1e-9, "{document:#}");
    let other = floors.to_string().replace(floors["machine_class"][0].as_str().unwrap(), "00000000");
    std::fs::write(folder.path().join("other.json"), other).unwrap();
    let refused = with("other.json", "two").exits(2);
    assert!(refused.stderr.contains("it is of machine class 00000000"), "{}", refused.stderr);
    assert!(with("none.json", "two").exits(2).stderr.contains("there is no file none.json"));
    for (place, why) in [(".", "it is a folder"), ("floors.json/deep/er.json", "floors.json is no folder")] {
        let refused = calibrate(folder.path()).args(["-o", place]).run().exits(2);
        assert!(refused.stderr.contains(why) && refused.stdout.is_empty(), "{}", refused.stderr);
    }
    // The user's own folder, where nothing was named.
    let home = folder.path().join("data");
    let words = ["calibrate", "--no-lock", "-q", "smoke", "--rounds", "6"];
    Program::ipcmatrix(words.iter().chain(&PIPE)).env("XDG_DATA_HOME", &home).run().exits(0);
    let found = ab(folder.path(), "base", "env:X=1", &PIPE).args(["-o", "two"]).env("XDG_DATA_HOME", &home);
    found.run().exits(0).prints(&["calibrated for machine class"]);
}

const TABLE: &str = "schema = 1\ntitle = \"Gates\"\n[[table]]\nid = \"t\"\ntitle = \"T\"\nmeasure = \"bandwidth\"\nrow = \"mechanism\"\n\
                     column = \"placement\"\naxes = { mechanism = [\"pipe\", \"sun_rpc_udp\"], placement = \"same_cpu\", message_bytes = \"1K\" }\n";

/// Six rounds of that table with a gate: a message of 128 KiB against one of 1 KiB, which none by UDP is. Into the folder `out`.
fn gated(folder: &Path, gate: &str, b: &str) -> Program {
    std::fs::write(folder.join("gated.toml"), format!("{TABLE}[[gate]]\n{gate}\n")).unwrap();
    let words =
        ["ab", "gated.toml", "--no-lock", "-q", "--rounds", "6", "-o", "out", "--a", "base", "--b", b];
    Program::ipcmatrix(words).folder(folder)
}

fn gates_are_held_against_arm_b() {
    let folder = tempfile::tempdir().unwrap();
    let only = ["-f", "mechanism:pipe"];
    let gate = "filter = \"mechanism:pipe\"\nmax = \"1B/s\"\nmax_regression = \"5%\"";
    let ended = gated(folder.path(), gate, "message_bytes=128K").args(only).args(["--format", "json"]).run();
    let ended = ended.exits(3).says(&["gate broken: max 1B/s of ", "gate broken: max_regression 5% of "]);
    let document = json(&ended.stdout);
    let gates = document["gates"].as_array().unwrap();
    assert!(gates.len() == 2 && gates.iter().all(|gate| gate["state"] == "broken"), "{gates:?}");
    assert!(gates.iter().all(|gate| gate["cell"]["message_bytes"] == 131_072), "arm b: {gates:?}");
    let readme = std::fs::read_to_string(folder.path().join("out/README.md")).unwrap();
    assert!(readme.contains("2 limits: 0 hold, 2 broken"), "{readme}");
    let later = Program::ipcmatrix(["report", "--gate", "out"]).folder(folder.path()).run().exits(3);
    later.prints(&["2 limits: 0 hold, 2 broken"]);

    let folder = tempfile::tempdir().unwrap();
    let gate = "filter = \"mechanism:pipe\"\nmin = \"1B/s\"\nmax_regression = \"1000%\"";
    gated(folder.path(), gate, "base").args(only).run().exits(0).prints(&["2 limits: 2 hold"]);
}

/// Where nothing was compared, nothing tells that no arm is slower.
fn nothing_compared_ends_with_4() {
    let folder = tempfile::tempdir().unwrap();
    let ended = gated(folder.path(), "filter = \"mechanism:pipe\"\nmax = \"1B/s\"", "message_bytes=128K");
    let ended = ended.args(["-f", "mechanism:sun_rpc_udp", "--fail-on", "slower"]).run().exits(4);
    ended.says(&["no cell could be compared"]);
}

/// A difference that was asked for is told all the same.
fn gates_without_a_figure_end_with_4() {
    for (more, code) in [(&[][..], 4), (&["--fail-on", "slower"], 3)] {
        let folder = tempfile::tempdir().unwrap();
        let gate = "filter = \"mechanism:sun_rpc_udp\"\nmin = \"1B/s\"";
        let ended = gated(folder.path(), gate, "message_bytes=128K").args(more).run().exits(code);
        ended.prints(&["1 limit: 0 hold, 1 unmeasured"]).says(&["gate unmeasured: min 1B/s of "]);
    }
}
