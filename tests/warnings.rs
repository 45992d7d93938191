//! What disturbed a run reaches every format of the report: verdict, causes, footnotes, columns; and what is muted does not.

use ipcmatrix::record::{Measured, Noise, Outcome, Visit};
use ipcmatrix::report::load::{Run, parse_run};
use ipcmatrix::report::warnings::{Code, Codes};
use ipcmatrix::report::{Options, csv, markdown, text};

/// The small run: twelve measured cells, six or seven visits each.
fn small() -> Run {
    parse_run(include_bytes!("golden/small.jsonl"), "small").unwrap()
}

fn measured(visit: &mut Visit) -> Option<&mut Measured> {
    match &mut visit.outcome {
        Outcome::Measured(measured) => Some(measured),
        _ => None,
    }
}

/// The small run with foreign CPU in the visits that are picked, and without what else disturbs it.
fn disturbed(picked: impl Fn(&Visit) -> bool) -> Run {
    let mut run = small();
    for visit in &mut run.visits {
        let foreign_share = Some(if picked(visit) { 0.4 } else { 0.0 });
        visit.noise = Some(Noise { foreign_share, ..Noise::default() });
        if let Some(measured) = measured(visit) {
            measured.flags.clear();
            measured.samples.iter_mut().for_each(|sample| sample.elapsed_ns = 900_000);
        }
    }
    run
}

fn muted(codes: &[&str]) -> Options {
    let muted = codes.iter().filter_map(|code| Code::named(code)).collect();
    Options { muted, ..Options::default() }
}

fn documents(run: &Run, options: Options) -> [String; 2] {
    [text::text(run, options).unwrap(), markdown::markdown(run, options).unwrap()]
}

/// The fields of the column in the rows of the visits that are picked.
fn column(document: &str, name: &str, position: u32) -> Vec<String> {
    let head: Vec<&str> = document.lines().next().unwrap().split(',').collect();
    let at = |name: &str| head.iter().position(|own| *own == name).unwrap();
    let rows = document.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let own = rows.filter(|row| row[at("position")] == position.to_string());
    own.map(|row| row[at(name)].to_owned()).collect()
}

#[test]
fn a_disturbed_visit_reaches_every_format() {
    let run = disturbed(|visit| visit.position == 1);
    for document in documents(&run, Options::default()) {
        let lines: Vec<&str> = document.lines().collect();
        let verdict = lines.iter().position(|line| line.contains("verdict")).unwrap();
        assert!(
            lines[2].contains("verdict") && lines[2].contains("quiet: 1 of 85 visits disturbed (1 %)"),
            "{document}"
        );
        assert!(lines[verdict + 1].contains("cause"), "{document}");
        let advice = "See with top(1) who it is and run again when that has ended.";
        assert_eq!(document.matches(advice).count(), 1, "once a report: {document}");
        let footnotes: Vec<&&str> =
            lines.iter().filter(|line| line.contains("¹ W003 foreign CPU, over 5 %")).collect();
        assert_eq!(footnotes.len(), 1, "{document}");
        assert!(footnotes[0].contains("W003 foreign CPU, over 5 %: 1 of 52 visits"), "{document}");
        let row = lines.iter().find(|line| line.contains("2280 ±2%")).unwrap();
        assert!(row.contains("2280 ±2%¹"), "the pipe's first visit: {row}");
    }
    let document = csv::csv(&run, Codes::default());
    assert!(document.lines().next().unwrap().ends_with(",warnings,modes"));
    assert!(column(&document, "warnings", 1).iter().all(|codes| codes == "W003"));
    assert!(column(&document, "warnings", 2).iter().all(String::is_empty));
    assert_eq!(column(&document, "warnings", 1).len(), 3, "a row for each sample");
}

#[test]
fn what_concerns_most_of_a_table_marks_no_place() {
    for document in documents(&disturbed(|_| true), Options::default()) {
        assert_eq!(
            document.matches("W003 foreign CPU").count(),
            3,
            "a cause, and a line a table: {document}"
        );
        assert!(
            document.contains("W003 foreign CPU, over 5 %: 52 of 52 visits, in most cells"),
            "{document}"
        );
        assert!(document.contains("noisy: 85 of 85 visits disturbed (100 %)"), "{document}");
        let row = document.lines().find(|line| line.contains("2280 ±2%")).unwrap();
        assert!(!row.contains('¹'), "{row}");
        let row = document.lines().find(|line| line.contains("0.096 ±6%")).unwrap();
        assert!(row.contains("±6%¹"), "the second table is small: {row}");
    }
}

#[test]
fn what_is_muted_does_not_show_and_is_named() {
    let run = disturbed(|visit| visit.position % 2 == 1);
    for document in documents(&run, muted(&["W003", "W016"])) {
        assert!(
            document.contains("muted") && document.contains("W003 foreign CPU, W016 oversubscribed"),
            "{document}"
        );
        assert_eq!(document.matches("W003").count(), 1, "{document}");
        assert!(document.contains(": 0 of 85 visits disturbed (0 %)"), "{document}");
    }
    let document = csv::csv(&run, muted(&["W003"]).muted);
    assert!(!document.contains("W003") && document.contains("W016"), "{document}");
}

#[test]
fn every_code_of_a_run_reaches_the_report() {
    let mut run = disturbed(|_| false);
    let first = &mut run.visits[0];
    first.thrifty = true;
    first.noise = Some(Noise {
        foreign_share: Some(0.5),
        steal_share: Some(0.5),
        throttled: Some(2),
        canary_ns: Some(200),
        waited_ns: Some(1),
        ..Noise::default()
    });
    let later = run.visits.iter_mut().find(|visit| visit.round == 2).unwrap();
    later.noise = Some(Noise { canary_ns: Some(100), ..Noise::default() });
    let measured = measured(&mut run.visits[0]).unwrap();
    measured.flags = vec!["n_drift".into()];
    measured.samples.iter_mut().for_each(|sample| sample.elapsed_ns = 90_000_000);
    for document in documents(&run, Options::default()) {
        for code in ["W001", "W003", "W004", "W005", "W010", "W014", "W015", "W016", "W017"] {
            assert!(document.contains(code), "{code} is lost: {document}");
        }
    }
    let document = csv::csv(&run, Codes::default());
    assert_eq!(column(&document, "warnings", 1)[0], "W001 W003 W004 W005 W010 W014 W015 W017");
}

#[test]
fn csv_has_the_modes_of_a_cell_that_has_two() {
    let mut run = disturbed(|_| false);
    let cell = run.visits[0].cell_index;
    let mut visits: Vec<Visit> =
        run.visits.iter().filter(|visit| visit.cell_index == cell).cloned().collect();
    visits.extend(visits.clone());
    for (place, visit) in visits.iter_mut().enumerate() {
        visit.position = place as u32 + 1;
        measured(visit).unwrap().floor_ns = if place % 3 == 0 { 1024.0 } else { 512.0 };
    }
    run.visits = visits;
    let document = csv::csv(&run, Codes::default());
    let modes = column(&document, "modes", 1);
    assert_eq!(modes[0], "1000:0.35714285714285715 2000:0.6428571428571429");
    assert_eq!(column(&document, "unit", 1)[0], "MB/s");
    assert!(column(&document, "warnings", 1)[0].contains("W013"));
}
