//! Reports of many runs, on runs that a seeded generator makes: classes apart, runs pooled, hosts that lie apart named.
//! `UPDATE_GOLDEN=1` writes the golden file anew.

mod generated;

use generated::{Plan, cells, write};
use ipcmatrix::cell::{Axis, Measure};
use ipcmatrix::record::Table;
use ipcmatrix::report::document::{Document, Sheet};
use ipcmatrix::report::load::reduce::{Runs, journals_below, read};
use ipcmatrix::report::view::Machines;
use ipcmatrix::report::{fleet, markdown, text};
use std::fs;
use std::path::{Path, PathBuf};

/// Hosts of a class with the factor of their times and their number of runs.
type Hosts<'a> = &'a [(&'a str, &'a str, f64, u64)];

/// Runs in `HOST/run-N` below a folder, read back with names that do not tell the folder.
fn runs(hosts: Hosts, change: impl Fn(Plan) -> Plan) -> Runs {
    let folder = tempfile::tempdir().unwrap();
    for (at, (host, class, factor, count)) in hosts.iter().enumerate() {
        for nth in 0..*count {
            let mut plan = change(Plan::new(1000 * at as u64 + nth));
            plan.machine = (*class).into();
            for cell in 0..plan.cells.len() {
                plan = plan.changed(cell, *factor);
            }
            fs::create_dir_all(folder.path().join(host)).unwrap();
            write(&folder.path().join(host), &format!("run-{nth}"), &plan);
        }
    }
    let journals: Vec<PathBuf> = journals_below(folder.path()).unwrap();
    let mut runs = read(&journals).unwrap();
    for run in &mut runs.runs {
        run.name = Path::new(&run.name).strip_prefix(folder.path()).unwrap().display().to_string();
    }
    runs
}

/// A table of bandwidths of the made cells, by their numbers.
fn table(runs: &Runs) -> Table {
    let of_bandwidth = |number: &usize| runs.known.cells()[*number].measure() == Some(Measure::Bandwidth);
    Table {
        id: "A.2".into(),
        title: "Bandwidth".into(),
        measure: Measure::Bandwidth,
        row: Axis::MessageBytes,
        column: Axis::Mechanism,
        split: vec![Axis::Placement],
        notes: vec!["a note | of `the` <matrix>".into()],
        published: Vec::new(),
        metric: None,
        axes: Vec::new(),
        cells: (0..cells().len()).filter(of_bandwidth).collect(),
    }
}

fn document(runs: &Runs) -> anyhow::Result<Document> {
    fleet::document(runs, &[table(runs)], None)
}

/// The facts with that label.
fn facts(document: &Document, label: &str) -> Vec<String> {
    let own = document.facts.iter().filter(|(own, _)| *own == label);
    own.map(|(_, text)| text.clone()).collect()
}

const FLEET: Hosts = &[
    ("a1", "c1a55000", 1.0, 2),
    ("a2", "c1a55000", 1.0, 1),
    ("a3", "c1a55000", 1.5, 2),
    ("a4", "c1a55000", 1.0, 2),
    ("a5", "c1a55000", 1.0, 1),
    ("b1", "c1a55001", 3.0, 1),
];

#[test]
fn classes_are_apart_and_the_document_is_as_it_was() {
    let runs = runs(FLEET, |plan| plan);
    let first = markdown::render(&document(&runs).unwrap(), false);
    assert_eq!(markdown::render(&document(&runs).unwrap(), false), first, "the same bytes");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/fleet.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, &first).unwrap();
    }
    assert_eq!(first, fs::read_to_string(&path).unwrap_or_default());
    assert_eq!(first.matches("## A.2 Bandwidth (MB/s), machine c1a5500").count(), 2);
}

#[test]
fn hosts_that_lie_apart_are_named_and_no_others() {
    let found = facts(&document(&runs(FLEET, |plan| plan)).unwrap(), "outlier");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("host a3 of class c1a55000 takes 1."), "{found:?}");
    let same: Vec<_> = FLEET.iter().map(|(host, class, _, runs)| (*host, *class, 1.0, *runs)).collect();
    assert_eq!(facts(&document(&runs(&same, |plan| plan)).unwrap(), "outlier"), [""; 0], "all alike");
    assert_eq!(
        facts(&document(&runs(&FLEET[1..], |plan| plan)).unwrap(), "outlier"),
        [""; 0],
        "four are too few"
    );
}

#[test]
fn a_figure_is_the_median_of_the_runs_between_the_least_and_the_greatest() {
    let seven: Vec<_> = ["a", "b", "c"].iter().map(|host| (*host, "c1a55000", 1.0, 3)).collect();
    let document = document(&runs(&seven, |plan| plan)).unwrap();
    for (_, places) in document.sheets[0].panels.iter().flat_map(|panel| &panel.rows) {
        for place in places {
            let numbers: Vec<f64> =
                place.text.split([' ', '[', ']', '-']).filter_map(|word| word.parse().ok()).collect();
            let [figure, least, most] = numbers[..] else { panic!("{}", place.text) };
            assert!(least <= figure && figure <= most && most < 1.2 * least, "{}", place.text);
            assert!(place.text.contains(" ±"), "nine runs have an interval: {}", place.text);
        }
    }
}

#[test]
fn what_some_runs_lack_is_told_below_the_table() {
    let seed = std::cell::Cell::new(0);
    let made = runs(&FLEET[..2], |plan| {
        seed.set(seed.get() + 1);
        Plan { failing: if seed.get() == 1 { vec![0] } else { Vec::new() }, ..plan }
    });
    let text = text::render(&document(&made).unwrap());
    assert!(
        text.contains("1 of 3 runs have no figure; the first: failed in phase open: no such thing"),
        "{text}"
    );
    let all = runs(&FLEET[..2], |plan| Plan { failing: vec![0], ..plan });
    let text = text::render(&document(&all).unwrap());
    assert!(text.contains("failed¹") && text.contains("no such thing (3 of 3 runs)"), "{text}");
}

#[test]
fn what_cannot_be_pooled_is_refused() {
    let refused = |effort: &str| {
        let nth = std::cell::Cell::new(0);
        let made = runs(&FLEET[..1], |plan| {
            nth.set(nth.get() + 1);
            Plan { effort: if nth.get() == 1 { effort.into() } else { "default".into() }, ..plan }
        });
        document(&made).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused("exact").contains("report them apart"));
    assert!(refused("test").starts_with("a1/run-0 is a test and has no figures"));
    let made = runs(&FLEET[..1], |plan| plan);
    let other = Table { metric: Some("ns_per_op".into()), ..table(&made) };
    let error =
        fleet::document(&made, std::slice::from_ref(&other), None).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("report them one at a time"), "{error}");
    let both = fleet::document(&made, &[table(&made), other], None).unwrap();
    let [told] = &facts(&both, "left out")[..] else { panic!("told, not silent") };
    assert!(
        told.starts_with("A.2: shows ns_per_op, ") && told.contains("`ipcmatrix report RUN --table A.2`"),
        "{told}"
    );
}

/// Every place of a table: split values, row, column, text.
fn places(sheet: &Sheet) -> Vec<[String; 4]> {
    let mut all = Vec::new();
    for panel in &sheet.panels {
        for (row, places) in &panel.rows {
            for (column, place) in panel.head[1..].iter().zip(places) {
                all.push([panel.heading.clone(), row.clone(), column.clone(), place.text.clone()]);
            }
        }
    }
    all
}

#[test]
fn machines_stand_side_by_side_and_nothing_is_lost() {
    let runs = runs(FLEET, |plan| plan);
    let apart = document(&runs).unwrap();
    let by = |machines| fleet::document(&runs, &[table(&runs)], Some(machines)).unwrap();
    let (rows, columns) = (by(Machines::Rows), by(Machines::Columns));
    assert_eq!([rows.sheets.len(), columns.sheets.len(), apart.sheets.len()], [1, 1, 2]);
    assert_eq!(rows.sheets[0].heading, "A.2 Bandwidth (MB/s), by machine");
    let mut wanted: Vec<[String; 5]> = Vec::new();
    for (sheet, machine) in apart.sheets.iter().zip(["c1a55000", "c1a55001"]) {
        assert!(sheet.heading.ends_with(machine), "{}", sheet.heading);
        let with = |[split, row, column, text]: [String; 4]| [split, row, column, machine.into(), text];
        wanted.extend(places(sheet).into_iter().map(with));
    }
    wanted.sort();
    let found = |document: &Document, part: &dyn Fn([String; 4]) -> [String; 5]| {
        let mut found: Vec<[String; 5]> = places(&document.sheets[0]).into_iter().map(part).collect();
        found.sort();
        found
    };
    let split = |heading: &str, axis: &str| {
        let (split, value) = heading.split_once(&format!("; {axis} ")).unwrap();
        [split.to_owned(), value.to_owned()]
    };
    let of_rows = found(&rows, &|[heading, machine, column, text]| {
        let [split, row] = split(&heading, "message_bytes");
        [split, row, column, machine, text]
    });
    let of_columns = found(&columns, &|[heading, row, machine, text]| {
        let [split, column] = split(&heading, "mechanism");
        [split, row, column, machine, text]
    });
    assert_eq!(of_rows, wanted);
    assert_eq!(of_columns, wanted);
}

#[test]
fn each_class_has_its_grades() {
    let grades = facts(&document(&runs(FLEET, |plan| plan)).unwrap(), "grades");
    assert_eq!(grades.len(), 2);
    assert!(
        grades[0].starts_with("class c1a55000: A ") && grades[1].starts_with("class c1a55001: A "),
        "{grades:?}"
    );
}
