//! The report of two arms in every format that it has.

use crate::{run, same_as};
use ipcmatrix::report::comparison;
use ipcmatrix::report::load::Run;
use serde_json::Value;

fn json(run: &Run) -> Value {
    serde_json::from_str(&comparison::json(run).unwrap()).unwrap()
}

#[test]
fn json_is_as_it_was() {
    same_as("ab.json", &comparison::json(&run("ab")).unwrap());
}

/// What programs are told of disturbances is what readers are told.
#[test]
fn the_verdict_and_the_codes_are_those_of_the_text() {
    let run = run("ab");
    let (document, text) = (json(&run), crate::text(&run).unwrap());
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
