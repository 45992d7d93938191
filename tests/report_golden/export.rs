//! Exports: every format against a file that was read by eye, and against the grammar of whoever reads it.

use super::{first_cell, run, same_as, wait_cell, waits};
use ipcmatrix::cell::{Axis, Cell, Value};
use ipcmatrix::export::{self, Direction, Export, Place, left_out};
use ipcmatrix::record::Outcome;
use ipcmatrix::report::load::Run;
use ipcmatrix::report::warnings::Codes;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// A format: the ending of its golden file, and how it is made.
type Format = (&'static str, fn(&Export) -> String);

const FORMATS: &[Format] = &[
    ("export.json", |export| export::json(export).unwrap()),
    ("visits.jsonl", |export| export::visit_lines(export).unwrap()),
    ("cells.jsonl", |export| export::cell_lines(export).unwrap()),
    ("cells.csv", export::summary_csv),
    ("go.txt", export::go),
    ("bmf.json", |export| export::bmf(export).unwrap()),
    ("smaller.json", |export| export::github_action(export, Direction::Smaller).unwrap()),
    ("bigger.json", |export| export::github_action(export, Direction::Bigger).unwrap()),
    ("prom", export::openmetrics),
];

/// A run in the format whose golden file ends so.
pub fn made(run: &Run, ending: &str) -> String {
    let (_, make) = FORMATS.iter().find(|(own, _)| *own == ending).unwrap();
    make(&Export::of(run, Codes::default()).unwrap())
}

/// A run whose one cell has two modes.
fn two_modes() -> Run {
    let times =
        [1000.0, 1010.0, 3000.0, 990.0, 1000.0, 3030.0, 1020.0, 1005.0, 2970.0, 1000.0, 995.0, 3010.0];
    let figures: Vec<(Cell, f64)> = times.iter().map(|ns| (wait_cell("poll", 1), *ns)).collect();
    let mut run = waits(None, &[], &[], &figures);
    run.header.cells.truncate(1);
    run.visits.iter_mut().for_each(|visit| visit.cell_index = 0);
    run
}

#[test]
fn every_format_is_as_it_was() {
    for name in ["small", "hostile"] {
        for (ending, _) in FORMATS {
            same_as(&format!("export/{name}.{ending}"), &made(&run(name), ending));
        }
    }
}

#[test]
fn json_is_json_and_has_every_cell_and_visit() {
    for name in ["small", "hostile"] {
        let run = run(name);
        let document: Json = serde_json::from_str(&made(&run, "export.json")).unwrap();
        let cells = document["cells"].as_array().unwrap();
        assert_eq!(cells.len(), run.header.cells.len());
        for (cell, planned) in cells.iter().zip(&run.header.cells) {
            assert_eq!(cell["cell"], serde_json::to_value(&planned.cell).unwrap(), "unaltered");
        }
        let lines = made(&run, "visits.jsonl");
        let lines: Vec<Json> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let visits = lines.iter().filter(|line| line["kind"] == "visit").count();
        assert_eq!(visits, run.visits.len());
        let told: BTreeSet<String> = lines.iter().map(|line| line["cell"].to_string()).collect();
        assert_eq!(told.len(), run.header.cells.len(), "no cell is missing");
    }
}

#[test]
fn figures_are_those_of_the_tables() {
    let document: Json = serde_json::from_str(&made(&run("small"), "export.json")).unwrap();
    let first = &document["cells"][0];
    assert_eq!(
        (first["figure"]["value"].as_f64(), first["unit"].as_str()),
        (Some(1024e3 / 450.0), Some("MB/s"))
    );
    assert_eq!((first["grade"].as_str(), first["visits"].as_u64()), (Some("A"), Some(7)));
    let refused = document["cells"].as_array().unwrap().iter().find(|cell| cell["outcome"] == "unavailable");
    let reason = refused.unwrap()["unavailable"]["reason"].as_str().unwrap();
    assert!(reason.starts_with("fs.mqueue.msgsize_max is 8192"), "{reason}");
}

#[test]
fn two_modes_have_no_one_number() {
    let run = two_modes();
    let document: Json = serde_json::from_str(&made(&run, "export.json")).unwrap();
    let cell = &document["cells"][0];
    assert_eq!(
        (&cell["figure"], &cell["ns_per_op"], &cell["grade"]),
        (&Json::Null, &Json::Null, &"U".into())
    );
    let modes: Vec<f64> = cell["modes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mode| mode["ns_per_op"]["value"].as_f64().unwrap())
        .collect();
    assert_eq!(modes, [1000.0, 3005.0]);
    assert_eq!(made(&run, "bmf.json"), "{}\n");
    assert_eq!(made(&run, "smaller.json"), "[]\n");
    assert!(
        made(&run, "cells.csv")
            .lines()
            .last()
            .unwrap()
            .contains(",1,0.6666666666666666,,3.005,0.3333333333333333,,")
    );
    let metrics = made(&run, "prom");
    assert!(
        !metrics.contains("ipcmatrix_operation_seconds{") && metrics.contains(",mode=\"2\"} 3.005e-6\n"),
        "{metrics}"
    );
    assert_eq!(made(&run, "go.txt").matches("BenchmarkWait/").count(), 12, "single visits may stand");
    let told = |place| left_out(&Export::of(&run, Codes::default()).unwrap(), place);
    assert!(told(Place::OneNumber)[0].contains("two modes"));
    assert!(told(Place::Visits).is_empty() && told(Place::Everything).is_empty());
}

#[test]
fn two_conditions_have_no_one_number_either_and_are_named() {
    let mut run = two_modes();
    for measured in first_cell(&mut run) {
        measured.ping_pong_ns = Some([if measured.floor_ns < 2000.0 { 50.0 } else { 200.0 }; 2]);
    }
    let document: Json = serde_json::from_str(&made(&run, "export.json")).unwrap();
    let cell = &document["cells"][0];
    assert_eq!((&cell["figure"], &cell["ns_per_op"]), (&Json::Null, &Json::Null));
    let modes: Vec<(f64, &str)> = (cell["modes"].as_array().unwrap().iter())
        .map(|mode| (mode["ns_per_op"]["value"].as_f64().unwrap(), mode["condition"].as_str().unwrap()))
        .collect();
    assert_eq!(modes, [(1000.0, "near"), (3005.0, "far")]);
    assert!(made(&run, "cells.csv").contains(",1,0.6666666666666666,near,3.005,0.3333333333333333,far,"));
    assert!(made(&run, "prom").contains(",mode=\"2\",condition=\"far\"} 3.005e-6\n"));
    let told = left_out(&Export::of(&run, Codes::default()).unwrap(), Place::OneNumber);
    assert!(told[0].contains("were made under two conditions"), "{told:?}");
}

#[test]
fn the_modes_of_a_rate_are_those_of_its_times() {
    let mut run = run("small");
    let pattern = [1.0, 3.0, 1.0, 3.0];
    let whole: Vec<_> = run.visits.iter().filter(|visit| visit.cell_index == 0).cloned().collect();
    run.visits.extend(whole);
    for (index, measured) in first_cell(&mut run).into_iter().enumerate() {
        measured.floor_ns = 500.0 * pattern[index % 4] + index as f64;
    }
    let document: Json = serde_json::from_str(&made(&run, "export.json")).unwrap();
    let modes = document["cells"][0]["modes"].as_array().unwrap();
    assert_eq!(modes.len(), 2);
    for mode in modes {
        let (rate, ns) =
            (mode["figure"]["value"].as_f64().unwrap(), mode["ns_per_op"]["value"].as_f64().unwrap());
        assert!((rate * ns - 1024e3).abs() < 1.0, "{mode}");
    }
}

#[test]
fn what_a_format_has_no_place_for_is_told() {
    let run = run("small");
    let export = Export::of(&run, Codes::default()).unwrap();
    assert!(left_out(&export, Place::Everything).is_empty());
    let told = left_out(&export, Place::Visits).join("\n");
    for reason in ["unavailable: fs.mqueue", "failed: sample: message 400", "ended before it was visited"] {
        assert!(told.contains(reason), "{told}");
    }
    let mut test = run.clone();
    test.header.effort = "test".into();
    assert!(
        left_out(&Export::of(&test, Codes::default()).unwrap(), Place::OneNumber)
            .join("")
            .contains("a test run shows no figure")
    );
    assert!(!made(&test, "go.txt").contains("\nBenchmark"), "no figure of a test is shown");
    assert!(!made(&test, "bmf.json").contains("value"));
}

#[test]
fn a_cell_that_stands_twice_is_refused() {
    let mut run = run("small");
    run.header.cells[1] = run.header.cells[0].clone();
    let error = Export::of(&run, Codes::default()).err().unwrap().to_string();
    assert!(error.contains("stands twice in the header"), "{error}");
}

/// A benchmark line: name, iterations, and values with their units.
type Benchmark<'a> = (&'a str, u64, Vec<(f64, &'a str)>);

/// Reads a line by the published grammar of the Go benchmark data format; `None` for a configuration or unit line.
fn benchmark(line: &str) -> Option<Benchmark<'_>> {
    if line.starts_with("Benchmark") {
        let fields: Vec<&str> = line.split_whitespace().collect();
        assert!(fields.len() >= 4 && fields.len().is_multiple_of(2), "name, iterations, pairs: {line}");
        let first = fields[0]["Benchmark".len()..].chars().next();
        assert!(first.is_some_and(|letter| !letter.is_lowercase()), "{line}");
        let iterations: u64 = fields[1].parse().unwrap();
        assert!(iterations > 0 && iterations < 1 << 63);
        let pairs = fields[2..].chunks(2).map(|pair| (pair[0].parse::<f64>().unwrap(), pair[1]));
        return Some((fields[0], iterations, pairs.collect()));
    }
    if let Some(unit) = line.strip_prefix("Unit ") {
        let fields: Vec<&str> = unit.split(' ').collect();
        assert!(
            fields.len() == 2 && fields[1].split_once('=').is_some_and(|(key, _)| key == "better"),
            "{line}"
        );
        return None;
    }
    let (key, value) = line.split_once(':').unwrap_or_else(|| panic!("neither benchmark nor fact: {line:?}"));
    assert!(key.starts_with(|letter: char| letter.is_lowercase()), "{line:?}");
    assert!(!key.contains(|letter: char| letter.is_whitespace() || letter.is_uppercase()), "{line:?}");
    assert!(value.starts_with([' ', '\t']), "{line:?}");
    None
}

/// The cell that a name stands for, by its axes.
fn named(name: &str) -> Vec<(String, String)> {
    assert!(
        !name.rsplit('-').next().is_some_and(|end| name.contains('-') && end.parse::<u64>().is_ok()),
        "{name}"
    );
    let axis = |part: &str| {
        let (axis, value) = part.split_once('=').unwrap();
        let mut bytes = Vec::new();
        let mut rest = value.bytes();
        while let Some(byte) = rest.next() {
            let hex = |byte: u8| char::from(byte).to_digit(16).unwrap() as u8;
            bytes.push(if byte == b'%' {
                16 * hex(rest.next().unwrap()) + hex(rest.next().unwrap())
            } else {
                byte
            });
        }
        (axis.to_owned(), String::from_utf8(bytes).unwrap())
    };
    name.split('/').skip(1).map(axis).collect()
}

#[test]
fn the_go_format_reads_back_by_its_grammar() {
    let mut hostile = run("hostile");
    hostile.header.machine_class = Some(["1\n2".into(), "an\nevil: \u{202e}machine".into()]);
    let value = Value::word("/tmp/a b-4 %\n\"é");
    for planned in &mut hostile.header.cells {
        planned.cell.set(Axis::LogFile, value.clone());
    }
    hostile.visits.iter_mut().for_each(|visit| visit.cell.set(Axis::LogFile, value.clone()));
    for run in [run("small"), hostile] {
        let text = made(&run, "go.txt");
        let found: Vec<Benchmark> = text.lines().filter_map(benchmark).collect();
        let export = Export::of(&run, Codes::default()).unwrap();
        let counts = |index: usize| export.cells[index].figure.is_some();
        let visits = run.visits.iter().filter(|visit| counts(visit.cell_index));
        let visits: Vec<_> = visits.filter(|visit| matches!(visit.outcome, Outcome::Measured(_))).collect();
        assert_eq!(found.len(), visits.len());
        for ((name, iterations, values), visit) in found.iter().zip(visits) {
            let Outcome::Measured(measured) = &visit.outcome else { panic!("{visit:?}") };
            let axes = visit.cell.axes().skip(1).map(|(axis, value)| (axis.to_string(), value.to_string()));
            assert_eq!(named(name), axes.collect::<Vec<_>>());
            assert_eq!((*iterations, values[0]), (measured.ops, (measured.lead_ns(), "ns/op")));
            let units: BTreeSet<&str> = values.iter().map(|(_, unit)| *unit).collect();
            assert_eq!(units.len(), values.len(), "each unit once");
        }
    }
}

#[test]
fn metrics_have_help_and_type_once_and_end_in_a_line_feed() {
    for name in ["small", "hostile"] {
        let text = made(&run(name), "prom");
        assert!(text.ends_with('\n') && !text.contains("\n\n"));
        let mut names = BTreeSet::new();
        let mut current = "";
        for line in text.split_terminator('\n') {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                current = rest.split(' ').next().unwrap();
                assert!(names.insert(current), "{current} comes twice");
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                assert_eq!(rest, format!("{current} gauge"));
            } else {
                assert_eq!(line.split(['{', ' ']).next(), Some(current));
                assert!(line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "no time behind: {line}");
            }
        }
    }
}

#[test]
fn a_summary_has_a_row_a_cell_whatever_stands_in_it() {
    for name in ["small", "hostile"] {
        let run = run(name);
        let text = made(&run, "cells.csv");
        assert_eq!(text.lines().count(), 1 + run.header.cells.len());
        let commas = |line: &str| {
            let outside = line.split('"').step_by(2).collect::<String>();
            outside.matches(',').count()
        };
        let head = commas(text.lines().next().unwrap());
        assert!(text.lines().all(|line| commas(line) == head), "{text}");
        assert!(!text.contains(super::steers));
    }
}
