//! `doctor` on the machine of the test: standard output alone, exit code 0 whatever it finds.

use crate::program::Program;
use crate::trial;
use libtest_mimic::Trial;
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("doctor::both_shapes_say_the_same", &[], both_shapes_say_the_same),
        trial("doctor::a_low_limit_is_told_with_its_remedy", &[], a_low_limit_is_told),
        trial("doctor::a_run_names_the_same_class", &[], a_run_names_the_same_class),
        trial("doctor::an_unknown_shape_is_a_mistake", &[], || {
            Program::ipcmatrix(["doctor", "--format", "csv"]).run().exits(2);
        }),
    ]
}

fn json(program: Program) -> Value {
    let ended = program.run().exits(0);
    assert_eq!(ended.stderr, "");
    serde_json::from_str(&ended.stdout).expect("one JSON document")
}

fn both_shapes_say_the_same() {
    let document = json(Program::ipcmatrix(["doctor", "--format", "json"]));
    assert_eq!(document["schema"], "ipcmatrix.doctor.v1");
    assert!(document["shipped_cells"].as_u64().expect("a number") > 1000);
    let text = Program::ipcmatrix(["doctor"]).run().exits(0);
    assert_eq!(text.stderr, "");
    let class = document["machine_class"].as_str().expect("a word");
    assert!(text.stdout.starts_with(&format!("machine class {class}\n")), "{}", text.stdout);
    // What comes and goes with other programs is left out.
    let passing = ["load", "other_runs", "steal", "interrupts"];
    for finding in document["findings"].as_array().expect("a list") {
        let name = finding["name"].as_str().expect("a word");
        let line = format!("  {} {name}: ", finding["severity"].as_str().expect("a word"));
        assert!(passing.contains(&name) || text.stdout.contains(&line), "{line}\n{}", text.stdout);
    }
}

fn a_run_names_the_same_class() {
    let document = json(Program::ipcmatrix(["doctor", "--format", "json"]));
    let folder = tempfile::tempdir().unwrap();
    let words = ["run", "smoke", "--test", "-q", "-f", "measure:round_trip mechanism:pipe", "-o", "out"];
    Program::ipcmatrix(words).folder(folder.path()).run().exits(0);
    let read = |file: &str| std::fs::read_to_string(folder.path().join("out").join(file)).unwrap();
    let journal = read("records.jsonl");
    let header: Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
    let environment: Value = serde_json::from_str(&read("environment.json")).unwrap();
    let class = document["machine_class"].as_str().unwrap();
    assert_eq!(header["machine_class"][0], class);
    assert_eq!(header["machine_class"], environment["machine_class"]);
    assert!(read("README.md").contains(&format!("class {class}: ")), "{}", read("README.md"));
}

fn a_low_limit_is_told() {
    let script = "ulimit -n 256 && exec \"$1\" doctor --format json";
    let document = json(Program::shell(script, [""; 0]));
    let limits = document["limits"].as_array().expect("a list");
    let low =
        limits.iter().find(|limit| limit["reason"].as_str().is_some_and(|why| why.contains("RLIMIT_NOFILE")));
    let low = low.unwrap_or_else(|| panic!("no limit of descriptors in {limits:#?}"));
    assert!(low["cells"].as_u64().expect("a number") > 0);
    assert!(!low["remedy"].as_str().expect("a text").is_empty());
}
