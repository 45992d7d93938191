//! The report of two arms in every format that it has.

use crate::{run, same_as};
use ipcmatrix::record::{Outcome, Visit};
use ipcmatrix::report::comparison;
use ipcmatrix::report::load::Run;
use ipcmatrix::report::warnings::{Code, Codes};
use serde_json::{Value, json};

fn parsed(run: &Run) -> Value {
    serde_json::from_str(&comparison::json(run, Codes::default()).unwrap()).unwrap()
}

#[test]
fn json_is_as_it_was() {
    same_as("ab.json", &comparison::json(&run("ab"), Codes::default()).unwrap());
}

#[test]
fn muted_codes_are_named_and_left_out() {
    let run = run("ab");
    let with =
        |muted: Codes| -> Value { serde_json::from_str(&comparison::json(&run, muted).unwrap()).unwrap() };
    let all = with(Codes::default());
    let codes = |document: &Value| document["cells"].to_string().matches("\"code\"").count();
    let told = all["cells"].to_string();
    let code = Code::all().find(|code| told.contains(code.detector().code)).expect("the run was disturbed");
    let muted = with([code].into_iter().collect());
    assert_eq!(muted["muted"], json!([code.detector().code]));
    assert!(codes(&muted) < codes(&all) && !muted["cells"].to_string().contains(code.detector().code));
}

#[test]
fn every_format_is_as_it_was() {
    let run = run("ab");
    same_as("ab.txt", &crate::text(&run).unwrap());
    same_as("ab.md", &crate::markdown(&run).unwrap());
    same_as("ab.page.txt", &read_aloud(&crate::html(&run)));
    same_as("ab.csv", &crate::csv(&run));
    assert!(crate::plots(&run).is_empty(), "pairs have no picture");
}

/// What stands in a page, a line each with its element: its style and script are those of any other.
fn read_aloud(page: &str) -> String {
    let tree = roxmltree::Document::parse_with_options(
        page,
        roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() },
    );
    let tree = tree.unwrap();
    let main = tree.descendants().find(|node| node.has_tag_name("main")).unwrap();
    let texts = main.descendants().filter(|node| node.is_text());
    let said = texts.filter_map(|node| Some((node.parent()?.tag_name().name(), node.text()?.trim())));
    said.filter(|(_, text)| !text.is_empty()).map(|(name, text)| format!("{name}: {text}\n")).collect()
}

/// What a gate found is an error of the system at times, and stands in a table.
#[test]
fn words_of_an_error_break_no_table() {
    let markdown = crate::markdown(&run("ab")).unwrap();
    let gates: Vec<&str> = markdown.split("## gates").nth(1).unwrap().lines().skip(4).collect();
    assert!(gates.len() == 9 && gates.iter().any(|line| line.contains("&lt;b&gt;")), "{gates:?}");
    assert!(gates.iter().all(|line| crate::bars(line) == 5), "{gates:?}");
}

/// What programs are told of disturbances is what readers are told.
#[test]
fn the_verdict_and_the_codes_are_those_of_the_text() {
    let run = run("ab");
    let (document, text) = (parsed(&run), crate::text(&run).unwrap());
    let verdict = &document["verdict"];
    let word = verdict["word"].as_str().unwrap();
    let line = format!("verdict    {word}: {} of {} visits", verdict["disturbed"], verdict["visits"]);
    assert!(text.contains(&line), "{line}\n{text}");
    let grades = ["A", "B", "C", "D", "U"].map(|grade| format!("{grade} {}", verdict["grades"][grade]));
    let grades = format!("grades {}, without interval {}", grades.join(", "), verdict["grades"]["none"]);
    assert!(text.contains(&grades), "{grades}\n{text}");
    let of = |code: &str| {
        let arms = document["cells"].as_array().unwrap().iter().flat_map(|cell| {
            ["a", "b"].into_iter().flat_map(|arm| cell["warnings"][arm].as_array().unwrap())
        });
        arms.filter(|one| one["code"] == code).map(|one| one["visits"].as_u64().unwrap()).sum::<u64>()
    };
    let causes = verdict["causes"].as_array().unwrap();
    assert_eq!(causes.len(), 3);
    for cause in causes {
        let (code, name) = (cause["code"].as_str().unwrap(), cause["name"].as_str().unwrap());
        assert!(text.contains(&format!("cause      {code} {name}, ")), "{cause}\n{text}");
        assert!(text.contains(&format!("({} of {} visits)", cause["visits"], verdict["visits"])), "{text}");
        assert_eq!(
            of(code),
            cause["visits"].as_u64().unwrap(),
            "the visits of {code} are those of the pairs"
        );
    }
}

/// A pair that something disturbed is marked with it, and no other.
#[test]
fn the_pair_that_was_disturbed_is_marked() {
    let text = crate::text(&run("ab")).unwrap();
    let note = text.lines().find(|line| line.contains("W004 steal") && !line.starts_with("cause")).unwrap();
    let mark = note.split(' ').next().unwrap();
    let table = text.split("round_trip (").nth(1).unwrap();
    let marked: Vec<&str> = table.lines().filter(|line| line.contains('|') && line.contains(mark)).collect();
    assert!(matches!(marked[..], [line] if line.starts_with(" pipe ")), "{mark}: {marked:?}");
}

/// Limits are held against arm b; slow-downs are those of arm b against arm a.
#[test]
fn gates_are_judged_by_the_new_side() {
    let run = run("ab");
    let document = parsed(&run);
    let states: Vec<(&str, &str, &str)> = document["gates"].as_array().unwrap().iter().map(told).collect();
    let expected = [
        ("pipe", "max 10us", "holds"),
        ("pipe", "min 4.4GB/s", "holds"),
        ("tcp", "min 4.4GB/s", "undecided"),
        ("posix_queue", "max 50us", "unmeasured"),
        ("pipe", "max_regression 5%", "broken"),
        ("tcp", "max_regression 5%", "holds"),
        ("unix_stream", "max_regression 5%", "broken"),
    ];
    assert_eq!(states, expected);
    let text = crate::text(&run).unwrap();
    assert!(text.contains("gates      7 limits: 3 hold, 2 broken, 1 undecided, 1 unmeasured\n"), "{text}");
    assert_eq!(document["gates_not_judged"], json!(["mechanism:eventfd"]));
    assert!(text.contains("not judged, as no cell of arm b matches: mechanism:eventfd\n"), "{text}");
}

fn told(gate: &Value) -> (&str, &str, &str) {
    let word = |value: &'static str| gate[value].as_str().unwrap();
    (gate["cell"]["mechanism"].as_str().unwrap(), word("limit"), word("state"))
}

/// A figure of arm a beyond a limit of arm b is what the change is to mend.
#[test]
fn arm_a_may_be_beyond_a_limit() {
    let state = |gib: f64| {
        let mut run = run("ab");
        let limit = &mut run.header.gates[1];
        limit.cells.truncate(1);
        limit.min.as_mut().unwrap().value = gib;
        run.header.gates = vec![limit.clone()];
        parsed(&run)["gates"][0]["state"].as_str().unwrap().to_owned()
    };
    // The pipe has 5.46 GB/s in arm a and 6.83 in arm b.
    assert_eq!([5e9, 6e9, 7.5e9].map(state), ["holds", "holds", "broken"]);
}

/// What fails in both arms is no change for the worse, and what arm a cannot do nothing that arm b is held to.
#[test]
fn a_cell_that_arm_a_has_no_figure_of_breaks_no_gate() {
    let state = |change: &dyn Fn(&mut Run)| {
        let mut run = run("ab");
        change(&mut run);
        parsed(&run)["gates"][6]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&|_| ()), "broken");
    let of_a = |visit: &Visit| visit.cell_index == 5;
    let failed = Outcome::Failed { phase: "prove".into(), error: "lost".into() };
    let fails = |run: &mut Run| {
        run.visits.iter_mut().filter(|visit| of_a(visit)).for_each(|visit| visit.outcome = failed.clone());
    };
    assert_eq!(state(&fails), "unmeasured");
    assert_eq!(state(&|run| run.visits.retain(|visit| !of_a(visit))), "unmeasured");
}
