//! The schemas that `schema` prints: real files and documents are valid, wrong ones are not.

use crate::program::Program;
use crate::trial;
use ipcmatrix::matrix::SHIPPED;
use jsonschema::Validator;
use libtest_mimic::Trial;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("schema::records_and_environments_are_valid", &[], records_are_valid),
        trial("schema::exports_are_valid", &[], exports_are_valid),
        trial("schema::shipped_matrices_are_valid_and_name_it", &[], matrices_are_valid),
        trial("schema::wrong_records_are_not_valid", &[], wrong_records),
        trial("schema::wrong_matrices_are_not_valid", &[], wrong_matrices),
        trial("schema::doctor_is_valid", &[], doctor_is_valid),
        trial("schema::the_file_for_editors_is_what_the_program_prints", &[], file_for_editors),
    ]
}

pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn printed(what: &str) -> String {
    let ended = Program::ipcmatrix(["schema", what]).run().exits(0);
    assert_eq!(ended.stderr, "");
    ended.stdout
}

fn schema(what: &str) -> Validator {
    let schema: Value = serde_json::from_str(&printed(what)).unwrap();
    assert_eq!(schema["$schema"], "http://json-schema.org/draft-07/schema#");
    jsonschema::draft7::new(&schema).expect("a schema")
}

#[track_caller]
fn valid(schema: &Validator, document: &Value) {
    let errors: Vec<String> =
        schema.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{}\n{document}", errors.join("\n"));
}

/// Folders of runs that are kept in the repository.
fn published() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("reports")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.join("records.jsonl").exists()).collect()
}

fn json_lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn golden(name: &str) -> PathBuf {
    root().join("tests/golden").join(name)
}

fn records_are_valid() {
    let (record, environment) = (schema("record"), schema("environment"));
    for name in ["small.jsonl", "hostile.jsonl"] {
        json_lines(&golden(name)).iter().for_each(|line| valid(&record, line));
    }
    for folder in published() {
        // The header, the end, and some of many visits that are alike.
        let lines = json_lines(&folder.join("records.jsonl"));
        lines.iter().step_by(40).chain(lines.last()).for_each(|line| valid(&record, line));
        let text = fs::read_to_string(folder.join("environment.json")).unwrap();
        valid(&environment, &serde_json::from_str(&text).unwrap());
    }
}

fn exports_are_valid() {
    let (document, line) = (schema("export"), schema("export-line"));
    for name in ["small", "hostile"] {
        let exported = |arguments: &[&str]| {
            let journal = golden(&format!("{name}.jsonl"));
            Program::ipcmatrix(["export"]).args([journal]).args(arguments).run().exits(0).stdout
        };
        let mut whole: Value = serde_json::from_str(&exported(&["--format", "json"])).unwrap();
        valid(&document, &whole);
        for arguments in [&["--format", "jsonl"][..], &["--format", "jsonl", "--summary"]] {
            let lines = exported(arguments);
            assert!(lines.lines().count() > 1);
            lines.lines().for_each(|text| valid(&line, &serde_json::from_str(text).unwrap()));
        }
        whole["cells"][0]["figure"] = json!("fast");
        assert!(!document.is_valid(&whole));
    }
    assert!(!line.is_valid(&json!({ "kind": "visit" })));
}

fn doctor_is_valid() {
    let ended = Program::ipcmatrix(["doctor", "--format", "json"]).run().exits(0);
    let mut document: Value = serde_json::from_str(&ended.stdout).unwrap();
    valid(&schema("doctor"), &document);
    document["findings"] = json!("none");
    assert!(!schema("doctor").is_valid(&document));
}

fn wrong_records() {
    let record = schema("record");
    let lines = json_lines(&golden("small.jsonl"));
    let (header, visit) = (&lines[0], &lines[1]);
    let wrong = |line: &Value, change: &dyn Fn(&mut Map<String, Value>)| {
        let mut line = line.clone();
        change(line.as_object_mut().unwrap());
        assert!(!record.is_valid(&line), "{line}");
    };
    wrong(header, &|line| line["schema"] = json!("ipcmatrix.record.v9"));
    wrong(header, &|line| line["kind"] = json!("dream"));
    wrong(header, &|line| line["seed"] = json!("seven"));
    wrong(header, &|line| drop(line.remove("cells")));
    wrong(visit, &|line| line["outcome"] = json!("guessed"));
    wrong(visit, &|line| line["cell"]["measures"] = json!("bandwidth"));
    wrong(visit, &|line| line["cell"]["message_bytes"] = json!("1K"));
    wrong(visit, &|line| line["samples"][0]["elapsed_ns"] = json!(-1));
    wrong(visit, &|line| drop(line.remove("floor_ns")));
}

/// A matrix file as what a schema is made for.
fn toml_as_json(text: &str) -> Value {
    fn table(table: &DeTable) -> Value {
        table.iter().map(|(key, value)| (key.get_ref().to_string(), one(value.get_ref()))).collect()
    }
    fn one(value: &DeValue) -> Value {
        match value {
            DeValue::String(text) => json!(text),
            DeValue::Integer(number) => json!(number.as_str().replace('_', "").parse::<i64>().unwrap()),
            DeValue::Boolean(truth) => json!(truth),
            DeValue::Array(values) => values.iter().map(|value| one(value.get_ref())).collect(),
            DeValue::Table(inner) => table(inner),
            other => panic!("no matrix has {other:?}"),
        }
    }
    table(DeTable::parse(text).unwrap().get_ref())
}

fn matrices_are_valid() {
    let matrix = schema("matrix");
    for (name, text) in SHIPPED {
        assert!(text.starts_with("#:schema schema.json\n"), "{name} does not name its schema first");
        valid(&matrix, &toml_as_json(text));
    }
}

const GOOD: &str = r#"
schema = 1
title = "Two"
budget = "90s"
[[table]]
id = "x"
title = "X"
measure = "bandwidth"
row = "message_bytes"
column = "mechanism"
split = ["placement"]
[table.axes]
mechanism = ["pipe", "tcp"]
message_bytes = "pow2(1K, 64K)"
placement = "same_cpu, cross_cpu"
[[exclude]]
filter = "mechanism:tcp"
"#;

fn wrong_matrices() {
    let matrix = schema("matrix");
    valid(&matrix, &toml_as_json(GOOD));
    for (right, wrong) in [
        ("schema = 1", "schema = 2"),
        ("title = \"Two\"", "titel = \"Two\""),
        ("\"bandwidth\"", "\"bandwith\""),
        ("row = \"message_bytes\"", "row = \"bytes\""),
        ("\"tcp\"]", "\"tpc\"]"),
        ("message_bytes = \"pow2(1K, 64K)\"", "message_bytes = 0"),
        ("message_bytes = \"pow2(1K, 64K)\"", "message_bytes = []"),
        ("placement = \"same_cpu, cross_cpu\"", "placement = \"near\""),
        ("placement = \"same_cpu, cross_cpu\"", "place = \"same_cpu\""),
        ("filter = ", "filters = "),
        ("[table.axes]", "metric = \"speed\"\n[table.axes]"),
    ] {
        assert!(GOOD.contains(right));
        assert!(!matrix.is_valid(&toml_as_json(&GOOD.replacen(right, wrong, 1))), "{wrong}");
    }
}

/// Editors read it from the repository; `UPDATE_GOLDEN=1` writes it anew.
fn file_for_editors() {
    let path = root().join("matrices/schema.json");
    let printed = printed("matrix");
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, &printed).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == printed, "matrices/schema.json is not what `ipcmatrix schema matrix` prints");
}
