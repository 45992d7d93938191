//! Comparisons of stored runs, on runs that a seeded generator makes: nothing is found where nothing changed, exactly what
//! changed where something did, and what cannot be compared is told. `UPDATE_GOLDEN=1` writes the golden files anew.

mod generated;

use generated::{Plan, cells, write};
use ipcmatrix::cell::{Axis, Cell};
use ipcmatrix::compare::floors::{Floor, Floors};
use ipcmatrix::compare::stored::{Allowed, Comparison, Row, Rules, compare};
use ipcmatrix::measure::stats::distance::Distance;
use ipcmatrix::record::Gate;
use ipcmatrix::report::compared::{self, Compared};
use ipcmatrix::report::gates::{self, State};
use ipcmatrix::report::load::reduce::{Runs, journals_below, read};
use ipcmatrix::report::load::{parse_run, read_run};
use ipcmatrix::report::metric::Metric;
use ipcmatrix::report::{cells::slots, markdown, text};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Comparisons of each kind, each of ten runs.
const TRIALS: u64 = 10;

/// Two sides, written and read back.
struct Sides {
    folder: TempDir,
    runs: Runs,
    base: usize,
}

impl Sides {
    fn of(base: &[Plan], new: &[Plan]) -> Sides {
        let folder = tempfile::tempdir().unwrap();
        let all = |side: &str, plans: &[Plan]| -> Vec<PathBuf> {
            let one = |(at, plan): (usize, &Plan)| write(folder.path(), &format!("{side}-{at}"), plan);
            plans.iter().enumerate().map(one).flat_map(|path| journals_below(&path).unwrap()).collect()
        };
        let paths = [all("base", base), all("new", new)].concat();
        let mut runs = read(&paths).unwrap();
        for run in &mut runs.runs {
            run.name = Path::new(&run.name).file_name().unwrap().to_string_lossy().into_owned();
        }
        Sides { folder, runs, base: base.len() }
    }

    fn compared(&self, rules: &Rules) -> Comparison {
        let (base, new) = self.runs.runs.split_at(self.base);
        compare(&self.runs.known, [base, new], rules, |_| true)
    }
}

/// So many runs like that one, each with a seed of its own.
fn many(count: u64, plan: &Plan) -> Vec<Plan> {
    (0..count).map(|nth| Plan { seed: plan.seed * 1000 + nth, ..plan.clone() }).collect()
}

fn usual(base: &[Plan], new: &[Plan]) -> Comparison {
    Sides::of(base, new).compared(&Rules::default())
}

/// The cells with that word.
fn with_word(comparison: &Comparison, word: &str) -> Vec<usize> {
    let cells = cells();
    let place = |row: &Row| cells.iter().position(|cell| *cell == row.cell).unwrap();
    comparison.rows.iter().filter(|row| row.word() == word).map(place).collect()
}

#[test]
fn where_nothing_changed_nothing_is_found() {
    let mut equal = 0;
    for seed in 0..TRIALS {
        let found = usual(&many(5, &Plan::new(2 * seed + 1)), &many(5, &Plan::new(2 * seed + 2)));
        assert_eq!(found.rows.len(), cells().len());
        for word in ["regression", "improvement"] {
            assert!(
                with_word(&found, word).is_empty(),
                "seed {seed}: {word} in {:?}",
                with_word(&found, word)
            );
        }
        let (mean, over) = found.mean_ratio().unwrap();
        assert!((mean - 1.0).abs() < 0.01 && over == cells().len(), "{mean}");
        equal += with_word(&found, "equal").len();
    }
    assert!(
        equal > TRIALS as usize * cells().len() * 3 / 4,
        "most are told to be equal, not left open: {equal}"
    );
}

/// One run in hundreds of such a spread has so many spikes in a cell that its median moves: that hides a change at times.
#[test]
fn exactly_the_touched_cells_are_found() {
    let (mut exact, mut found, mut wrong) = (0, 0, 0);
    for seed in 0..TRIALS {
        let changed =
            Plan::new(900 + seed).changed(1, 1.10).changed(4, 1.15).changed(9, 0.85).changed(14, 1.3);
        let comparison = usual(&many(5, &Plan::new(700 + seed)), &many(5, &changed));
        let slower = with_word(&comparison, "regression");
        let faster = with_word(&comparison, "improvement");
        exact += usize::from(slower == [1, 4, 14] && faster == [9]);
        let right = |cells: &[usize], own: &[usize]| cells.iter().filter(|cell| own.contains(cell)).count();
        let hits = right(&slower, &[1, 4, 14]) + right(&faster, &[9]);
        found += hits;
        wrong += slower.len() + faster.len() - hits;
        assert!(comparison.suspect().is_none());
    }
    assert_eq!(wrong, 0, "no untouched cell has a verdict");
    assert!(found >= 38 && exact >= 8, "{found} of 40 changes, {exact} of {TRIALS} comparisons exactly");
}

#[test]
fn one_run_against_one_decides_nothing_without_a_floor() {
    let sides = Sides::of(&[Plan::new(1)], &[Plan::new(2).changed(3, 1.5)]);
    let found = sides.compared(&Rules::default());
    assert_eq!(with_word(&found, "inconclusive").len(), cells().len());
    assert!(found.found().all(|found| found.judged.q.is_none() && found.effect.interval_95.is_none()));
    let two = usual(&many(2, &Plan::new(1)), &many(2, &Plan::new(2).changed(3, 1.5)));
    assert_eq!(with_word(&two, "inconclusive").len(), cells().len(), "two a side are not tested either");
    let found = sides.compared(&Rules { floors: Some(floors(0.1)), ..Rules::default() });
    assert_eq!(with_word(&found, "regression"), [3]);
    assert_eq!(with_word(&found, "inconclusive").len(), cells().len() - 1);
}

/// The same floor in every cell.
fn floors(single: f64) -> Floors {
    let mut floors = Floors::new("0.1.0", Default::default());
    for cell in cells() {
        floors.put(Floor { cell, calibrated: String::new(), rounds: 20, paired: single, single });
    }
    floors
}

#[test]
fn runs_that_are_tested_need_no_floor() {
    let sides = Sides::of(&many(5, &Plan::new(1)), &many(5, &Plan::new(2).changed(3, 1.2)));
    let found = sides.compared(&Rules { floors: Some(floors(0.5)), ..Rules::default() });
    assert_eq!(with_word(&found, "regression"), [3]);
}

#[test]
fn the_least_effect_may_be_another() {
    let sides = Sides::of(&many(6, &Plan::new(1)), &many(6, &Plan::new(2).changed(0, 1.2)));
    assert_eq!(with_word(&sides.compared(&Rules::default()), "regression"), [0]);
    let wide = Rules { least: Some(0.5), ..Rules::default() };
    assert_eq!(with_word(&sides.compared(&wide), "equal").len(), cells().len());
}

/// The reasons for which the cells of both runs are refused, with and without leave.
fn refusals(new: Plan, allowed: Allowed) -> Vec<String> {
    let sides = Sides::of(&[Plan::new(1)], &[new]);
    let refused = sides.compared(&Rules::default());
    assert_eq!(with_word(&refused, "refused").len(), cells().len());
    assert!(refused.mean_ratio().is_none() && refused.rows.iter().all(Row::is_undecided));
    let found = sides.compared(&Rules { allowed, ..Rules::default() });
    assert!(with_word(&found, "refused").is_empty(), "allowed");
    let mut reasons: Vec<String> = refused.rows.iter().map(Row::why).collect();
    reasons.dedup();
    reasons
}

#[test]
fn unlike_runs_are_refused_with_the_reason_unless_that_is_allowed() {
    let machine = refusals(
        Plan { machine: "0ther000".into(), ..Plan::new(2) },
        Allowed { machine: true, ..Allowed::default() },
    );
    assert_eq!(machine, ["the class of the machine differs: 0ther000, c1a55000"]);
    let effort = refusals(
        Plan { effort: "quick".into(), ..Plan::new(2) },
        Allowed { effort: true, ..Allowed::default() },
    );
    assert_eq!(effort, ["the effort differs: default, quick"]);
    let effective = json!({ "cpus": [3], "pipe_bytes": 4096, "limit": { "was": 1, "raised_to": 5 } });
    let effective =
        refusals(Plan { effective, ..Plan::new(2) }, Allowed { effective: true, ..Allowed::default() });
    assert_eq!(
        effective,
        ["limit differs: 5, none; pipe_bytes differs: 4096, 65536"],
        "which CPU is no matter"
    );
}

/// The order is that of the visit, which is drawn; which mechanisms there are is a setting.
#[test]
fn connections_are_shared_by_a_set() {
    let run = |seed: u64, names: [&str; 3]| Plan {
        effective: json!({ "connections_shared_by": names }),
        ..Plan::new(seed)
    };
    let refused = |new: Plan| {
        let found = Sides::of(&[run(1, ["poll", "epoll", "select"])], &[new]).compared(&Rules::default());
        with_word(&found, "refused").len()
    };
    assert_eq!(refused(run(2, ["select", "poll", "epoll"])), 0);
    assert_eq!(refused(run(2, ["select", "poll", "io_uring_poll"])), cells().len());
}

#[test]
fn the_figures_of_a_test_are_never_compared() {
    let test = Plan { effort: "test".into(), ..Plan::new(1) };
    let allowed = Allowed { machine: true, effort: true, effective: true };
    let sides = Sides::of(std::slice::from_ref(&test), &[Plan { seed: 2, ..test.clone() }]);
    let found = sides.compared(&Rules { allowed, ..Rules::default() });
    assert_eq!(with_word(&found, "refused").len(), cells().len());
}

#[test]
fn a_parameter_that_changes_from_visit_to_visit_is_a_result() {
    let folder = tempfile::tempdir().unwrap();
    let run = |name: &str, seed: u64, bytes: &str| {
        let path = write(folder.path(), name, &Plan::new(seed)).join("records.jsonl");
        let text = fs::read_to_string(&path).unwrap();
        let (head, rest) = text.split_once('\n').unwrap();
        let (first, rest) = rest.split_at(rest.len() / 2);
        fs::write(&path, format!("{head}\n{first}{}", rest.replace("65536}", bytes))).unwrap();
        path
    };
    let paths = [run("a", 1, "65536}"), run("b", 2, "4096}")];
    let runs = read(&paths).unwrap();
    let found = compare(&runs.known, [&runs.runs[..1], &runs.runs[1..]], &Rules::default(), |_| true);
    assert!(with_word(&found, "refused").is_empty());
}

#[test]
fn what_one_side_lacks_is_told() {
    let mut fewer = Plan { failing: vec![2], ..Plan::new(2) };
    fewer.cells.truncate(20);
    let found = usual(&many(3, &Plan::new(1)), &many(3, &fewer));
    assert_eq!(with_word(&found, "only in base"), [20, 21, 22, 23]);
    assert_eq!(with_word(&found, "failed"), [2]);
    let failed = found.rows.iter().find(|row| row.word() == "failed").unwrap();
    assert!(failed.is_regression() && !failed.is_undecided(), "it worked before");
    assert_eq!(failed.why(), "new: failed in phase open: no such thing; base measured it");
    assert_eq!(found.mean_ratio().unwrap().1, 19);
    let turned = usual(&many(3, &fewer), &many(3, &Plan::new(1)));
    assert_eq!(with_word(&turned, "only in new"), [20, 21, 22, 23]);
    assert!(!turned.rows.iter().find(|row| row.word() == "failed").unwrap().is_regression());
    let once = [many(2, &Plan::new(2)), vec![Plan { failing: vec![2], ..Plan::new(3) }]].concat();
    let found = usual(&many(3, &Plan::new(1)), &once);
    let remarks = &found.rows[2].found.as_ref().unwrap().remarks;
    assert_eq!(remarks, &["1 of 3 runs of new have no figure"]);
}

#[test]
fn many_differences_in_one_direction_are_suspect() {
    let slower = |cells: std::ops::Range<usize>, factor| {
        cells.fold(Plan::new(2), |plan, cell| plan.changed(cell, factor))
    };
    let found = usual(&many(5, &Plan::new(1)), &many(5, &slower(0..12, 1.4)));
    assert_eq!(found.suspect(), Some(12));
    let both_ways = slower(0..12, 1.4).changed(15, 0.6);
    assert_eq!(usual(&many(5, &Plan::new(1)), &many(5, &both_ways)).suspect(), None);
    assert_eq!(usual(&many(5, &Plan::new(1)), &many(5, &slower(0..9, 1.4))).suspect(), None, "nine are not");
}

/// Near in three visits of four.
fn mostly_near(visit: usize) -> [f64; 2] {
    if visit.is_multiple_of(4) { [300.0; 2] } else { [50.0; 2] }
}

/// Far in three visits of four; one in eight is moved meanwhile.
fn mostly_far(visit: usize) -> [f64; 2] {
    [if visit % 4 == 1 { 52.0 } else { 290.0 }, if visit % 8 < 2 { 52.0 } else { 290.0 }]
}

#[test]
fn near_and_far_are_compared_within_their_stratum() {
    let base = Plan { ping_pong: Some(mostly_near), visits: 30, ..Plan::new(1) };
    let new = Plan { ping_pong: Some(mostly_far), visits: 30, ..Plan::new(2) };
    let found = usual(&many(3, &base), &many(3, &new));
    let strata = |row: &&Row| row.cell.word(Axis::Placement) == "cross_cpu";
    let crossing: Vec<&Row> = found.rows.iter().filter(strata).collect();
    assert_eq!(crossing.len(), 24, "twelve cells in two strata");
    assert_eq!(found.mean_ratio().unwrap().1, cells().len(), "each cell counts once");
    assert!(
        crossing.chunks(2).all(|pair| {
            (pair[0].stratum, pair[1].stratum) == (Some(Distance::Near), Some(Distance::Far))
        })
    );
    let remarks = &crossing[0].found.as_ref().unwrap().remarks;
    assert!(remarks[0].ends_with("whose CPUs were moved meanwhile count in no stratum"), "{remarks:?}");
    assert!(found.rows.iter().filter(|row| !strata(row)).all(|row| row.stratum.is_none()));
    let still = usual(&many(3, &Plan { ping_pong: Some(|_| [50.0; 2]), ..Plan::new(1) }), &many(3, &new));
    assert_eq!(still.rows.iter().filter(|row| row.stratum.is_some()).count(), 24);
    let blind = usual(&many(3, &Plan::new(1)), &many(3, &new));
    assert!(blind.rows.iter().all(|row| row.stratum.is_none()), "base knows no distance");
}

#[test]
fn runs_of_unlike_cores_say_so() {
    let alone = Plan { whole_core: Some(|_| [1000, 1050]), ..Plan::new(1) };
    // Before or after, in three visits of four.
    let shared = Plan {
        whole_core: Some(|visit| {
            [if visit % 4 == 1 { 1200 } else { 1000 }, if visit % 4 > 1 { 1200 } else { 1000 }]
        }),
        ..Plan::new(2)
    };
    let told = |base: &Plan, new: &Plan| {
        let found = usual(&many(3, base), &many(3, new));
        let remarks = found.found().flat_map(|found| found.remarks.clone());
        remarks.filter(|remark| remark.contains("W019")).collect::<BTreeSet<_>>()
    };
    let wanted = "another thread used the core in 0 % of the visits of base, 75 % of new (W019): a part of the difference may be its";
    assert_eq!(told(&alone, &shared), BTreeSet::from([wanted.to_owned()]));
    let again = Plan { seed: 3, ..shared.clone() };
    assert!(told(&again, &shared).is_empty(), "both alike");
    assert!(told(&Plan::new(1), &shared).is_empty(), "base does not tell");
}

/// The comparison of the golden files: three runs a side, one cell slower, one failing, one apart.
fn example(gates: serde_json::Value) -> Sides {
    let mut new = Plan { failing: vec![2], gates, ..Plan::new(2) }.changed(1, 1.25);
    new.cells.truncate(23);
    Sides::of(&many(3, &Plan::new(1)), &many(3, &new))
}

/// What a user sees of it.
fn shown<T>(sides: &Sides, show: impl FnOnce(&Compared) -> T) -> T {
    let comparison = sides.compared(&Rules::default());
    let (base, new) = sides.runs.runs.split_at(sides.base);
    let cells = sides.runs.known.cells();
    let of_new = &sides.runs.gates[sides.base];
    let figure = |number: usize| (cells[number].clone(), ipcmatrix::compare::stored::figure_of(new, number));
    let mut checked = gates::absolute(of_new, figure);
    checked.extend(gates::relative(of_new, |number| cells[number].clone(), &comparison));
    show(&Compared {
        base,
        new,
        comparison: &comparison,
        gates: &checked,
        allowed: vec!["effort"],
        floors_from: "none known".into(),
    })
}

/// Gates that hold, are broken, and have nothing to judge.
fn some_gates() -> serde_json::Value {
    let limit = |text: &str, value: f64| json!({ "text": text, "value": value });
    json!([
        { "filter": "mechanism:pipe measure:bandwidth", "cells": [0, 1, 2], "min": limit("3 GB/s", 3e9), "max_regression": 0.05 },
        { "filter": "measure:round_trip", "cells": [3], "max": limit("10us", 1e4) },
    ])
}

fn same_as(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    assert!(
        differs.is_none() && expected == found,
        "{name} differs from line {differs:?} (counted from 0):\n{found}"
    );
}

#[test]
fn text_markdown_and_json_are_as_they_were() {
    let sides = example(some_gates());
    same_as("compare.txt", &shown(&sides, |compared| text::render(&compared::document(compared, None))));
    same_as(
        "compare.md",
        &shown(&sides, |compared| markdown::render(&compared::document(compared, None), false)),
    );
    same_as("compare.json", &shown(&sides, |compared| compared::json(compared).unwrap()));
    let axes = Some((Axis::MessageBytes, Axis::Mechanism));
    same_as("compare-grid.txt", &shown(&sides, |compared| text::render(&compared::document(compared, axes))));
}

#[test]
fn gates_hold_break_or_have_nothing_to_judge() {
    let states = shown(&example(some_gates()), |compared| {
        compared.gates.iter().map(|one| (one.limit.clone(), one.state)).collect::<Vec<_>>()
    });
    let expected = [
        ("min 3 GB/s", State::Broken),
        ("min 3 GB/s", State::Holds),
        ("min 3 GB/s", State::Unmeasured),
        ("max 10us", State::Holds),
        ("max_regression 5%", State::Holds),
        ("max_regression 5%", State::Broken),
        ("max_regression 5%", State::Broken),
    ];
    let found: Vec<(&str, State)> = states.iter().map(|(limit, state)| (limit.as_str(), *state)).collect();
    assert_eq!(found, expected);
}

/// By how much cell 3 may be slower, and whether it is: with the 95 % interval, with the floor in its place, with neither.
#[test]
fn a_slow_down_is_judged_by_its_whole_interval() {
    let state = |sides: &Sides, rules: &Rules, log_limit: f64| {
        let comparison = sides.compared(rules);
        let gate = Gate {
            filter: "*".into(),
            cells: vec![3],
            max: None,
            min: None,
            max_regression: Some(log_limit.exp_m1()),
        };
        gates::relative(&[gate], |number| cells()[number].clone(), &comparison)[0].state
    };
    let row = |sides: &Sides, rules: &Rules| {
        let comparison = sides.compared(rules);
        let row = comparison.rows.iter().find(|row| row.cell == cells()[3]).unwrap();
        row.found.as_ref().unwrap().effect
    };
    let usual = Rules::default();
    let tested = Sides::of(&many(5, &Plan::new(1)), &many(5, &Plan::new(2).changed(3, 1.2)));
    let effect = row(&tested, &usual);
    let interval = effect.interval_95.unwrap();
    assert_eq!(state(&tested, &usual, interval.high + 1e-6), State::Holds);
    assert_eq!(state(&tested, &usual, (effect.log_ratio + interval.high) / 2.0), State::Undecided);
    assert_eq!(state(&tested, &usual, (effect.log_ratio + interval.low) / 2.0), State::Undecided);
    assert_eq!(state(&tested, &usual, interval.low - 1e-6), State::Broken);

    let single = Sides::of(&[Plan::new(1)], &[Plan::new(2).changed(3, 1.5)]);
    for limit in [0.01, 0.3, 2.0] {
        assert_eq!(state(&single, &usual, limit), State::Undecided, "one run against one is no evidence");
    }
    let with_floor = Rules { floors: Some(floors(0.1)), ..Rules::default() };
    let ratio = row(&single, &with_floor).log_ratio;
    // It is wider where many cells are compared than for one.
    let floor = floors(0.1).single(&cells()[3], cells().len()).unwrap();
    assert!(floor > 0.1, "{floor}");
    let found = [1.1, 0.9, -0.9, -1.1].map(|times| state(&single, &with_floor, ratio + times * floor));
    assert_eq!(found, [State::Holds, State::Undecided, State::Undecided, State::Broken]);
}

#[test]
fn a_limit_between_figure_and_interval_is_undecided() {
    let run = |limit: f64| {
        let max = json!({ "text": "limit", "value": limit });
        let gates = json!([{ "filter": "*", "cells": [3], "max": max }]);
        let text = generated::journal(&Plan { gates, ..Plan::new(1) });
        let run = parse_run(text.as_bytes(), "made").unwrap();
        let slots = slots(&run, Metric::Figure);
        let figure = slots[3].figure().unwrap().ns;
        (gates::of_run(&run, &slots)[0].state, figure)
    };
    let (_, figure) = run(1.0);
    let interval = figure.interval.unwrap();
    let between = (interval.low + figure.value) / 2.0;
    assert_eq!(run(interval.high * 1.1).0, State::Holds);
    assert_eq!(run((interval.high + figure.value) / 2.0).0, State::Holds, "the figure keeps it");
    assert_eq!(run(between).0, State::Undecided);
    assert_eq!(run(interval.low * 0.9).0, State::Broken);
}

/// The reader that keeps little finds what the one that keeps all does.
#[test]
fn reduced_runs_have_the_figures_of_the_report() {
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/small.jsonl");
    let reduced = read(std::slice::from_ref(&small)).unwrap();
    let run = read_run(&small).unwrap();
    let slots = slots(&run, Metric::Figure);
    let mut figures = 0;
    for (index, (number, _)) in reduced.runs[0].cells.iter().enumerate() {
        assert_eq!(reduced.known.cells()[*number], run.header.cells[index].cell);
        let own = ipcmatrix::compare::stored::figure_of(&reduced.runs, *number);
        assert_eq!(
            own.ok(),
            slots[index].figure().map(|figure| figure.ns),
            "{}",
            run.header.cells[index].cell
        );
        figures += usize::from(slots[index].figure().is_some());
    }
    assert!(figures > 10, "{figures}");
}

/// Every journal that one reader refuses the other refuses with the same words, but for what is skipped.
#[test]
fn damaged_journals_are_refused_alike() {
    let folder = tempfile::tempdir().unwrap();
    let whole = generated::journal(&Plan::new(1));
    let lines: Vec<&str> = whole.lines().collect();
    let other_cell = lines[1].replacen("\"message_bytes\":1024", "\"message_bytes\":7", 1);
    let wrong = [
        String::new(),
        "# notes\n".into(),
        "{}\n".into(),
        format!("{}\n", lines[1]),
        format!("{0}\n{0}\n", lines[0]),
        format!("{}\n\n", lines[0]),
        format!("{}\n{other_cell}\n", lines[0]),
        format!("{}\n{}\n", lines[0], lines[1].replacen("\"cell_index\":0", "\"cell_index\":900", 1)),
        whole.replacen("record.v1\",\"kind\":\"visit", "record.v9\",\"kind\":\"visit", 1),
        whole.replacen("\"kind\":\"visit\"", "\"kind\":\"dream\"", 1),
        format!("{}\n{}\n{}\n", lines[0], &lines[1][..80], lines[2]),
    ];
    for (at, text) in wrong.iter().enumerate() {
        let path = folder.path().join(format!("{at}.jsonl"));
        fs::write(&path, text).unwrap();
        let strict = format!("{:#}", read_run(&path).unwrap_err());
        let lean = format!("{:#}", read(std::slice::from_ref(&path)).unwrap_err());
        let before_serde = |text: &str| text.split(": missing field").next().unwrap().to_owned();
        assert_eq!(before_serde(&lean), before_serde(&strict), "case {at}");
    }
    let torn = folder.path().join("torn.jsonl");
    fs::write(&torn, &whole[..whole.len() - 400]).unwrap();
    assert_eq!(read(&[torn]).unwrap().runs[0].cells.len(), cells().len(), "a torn last line is dropped");
}

#[test]
fn a_folder_stands_for_every_run_below_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["b/2", "b/1", "a"] {
        write(folder.path(), name, &Plan::new(1));
    }
    let found = journals_below(folder.path()).unwrap();
    let names: Vec<String> =
        found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().display().to_string()).collect();
    assert_eq!(names, ["a/records.jsonl", "b/1/records.jsonl", "b/2/records.jsonl"]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    let error = journals_below(&folder.path().join("empty")).unwrap_err().to_string();
    assert!(error.contains("holds no run: expected the folder of a run"), "{error}");
    assert!(journals_below(&folder.path().join("gone")).is_err());
}

#[test]
fn the_order_in_which_threads_read_shows_nowhere() {
    let sides = example(some_gates());
    let paths = journals_below(sides.folder.path()).unwrap();
    let page = |runs: &Runs| {
        let (base, new) = runs.runs.split_at(3);
        let comparison = compare(&runs.known, [base, new], &Rules::default(), |_| true);
        let floors_from = String::new();
        compared::json(&Compared {
            base,
            new,
            comparison: &comparison,
            gates: &[],
            allowed: vec![],
            floors_from,
        })
        .unwrap()
    };
    let first = page(&read(&paths).unwrap());
    for _ in 0..10 {
        assert!(page(&read(&paths).unwrap()) == first);
    }
}

/// Makes the runs of many machines in the folder that `IPCMATRIX_MANY` names: 1,000 of 300 cells, for measuring.
#[test]
#[ignore = "makes hundreds of megabytes in the folder that IPCMATRIX_MANY names"]
fn many_runs() {
    let folder = PathBuf::from(std::env::var_os("IPCMATRIX_MANY").expect("IPCMATRIX_MANY names a folder"));
    let number = |name: &str, usual: usize| {
        std::env::var(name).map_or(usual, |text| text.parse().expect("a whole number"))
    };
    let (runs, visits, samples) =
        (number("IPCMATRIX_RUNS", 1000), number("IPCMATRIX_VISITS", 1), number("IPCMATRIX_SAMPLES", 5));
    let sized = |size: u64| {
        let with = |cell: &Cell| cell.clone().with(Axis::MessageBytes, ipcmatrix::cell::Value::Count(size));
        cells().iter().filter(|cell| cell.get(Axis::MessageBytes).is_some()).map(with).collect::<Vec<Cell>>()
    };
    let mut plan = Plan { visits, samples, ping_pong: Some(mostly_near), ..Plan::new(1) };
    plan.cells = (1..).flat_map(|size| sized(64 * size)).take(900).collect();
    plan.cells.sort();
    plan.cells.dedup();
    plan.cells.truncate(300);
    for nth in 0..runs {
        let side = if nth < runs / 2 { "base" } else { "new" };
        write(&folder.join(side), &format!("{nth:04}"), &Plan { seed: nth as u64, ..plan.clone() });
    }
}
