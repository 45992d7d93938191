//! Whole files: what becomes of good ones, and the exact words about bad ones.

use super::sample::catalog;
use super::*;
use crate::cell::{Axis, Value};

/// A good file of one table; the tests change a line of it.
pub(super) const GOOD: &str = r#"schema = 1
title = "T"
budget = "90s"

[[table]]
id = "A.2"
title = "Bandwidth"
measure = "bandwidth"
row = "message_bytes"
column = "mechanism"
split = ["placement"]
notes = ["A note."]

[table.axes]
mechanism = ["pipe", "queue"]
message_bytes = ["1K", 2048]
placement = ["same_cpu", "cross_cpu"]
spawn = "processes"
"#;

/// The good file with one line, found by its beginning, replaced.
pub(super) fn with_line(begin: &str, line: &str) -> String {
    assert_eq!(GOOD.lines().filter(|old| old.starts_with(begin)).count(), 1, "{begin}");
    let lines = GOOD.lines().map(|old| if old.starts_with(begin) { line } else { old });
    lines.collect::<Vec<_>>().join("\n")
}

fn good(text: &str) -> Matrix {
    parse("m.toml", text, &catalog()).unwrap_or_else(|mistakes| panic!("{mistakes}"))
}

pub(super) fn refused(text: &str) -> String {
    parse("m.toml", text, &catalog()).expect_err("this file has a mistake").to_string()
}

fn change(text: &str) -> Override {
    Override::parse(text, &catalog()).unwrap_or_else(|message| panic!("{text}: {message}"))
}

fn with_changes(text: &str, changes: &[&str]) -> Result<Matrix, String> {
    let changes: Vec<Override> = changes.iter().map(|text| change(text)).collect();
    parse_with("m.toml", text, &catalog(), &changes).map_err(|mistakes| mistakes.to_string())
}

/// The cells of a table as text, in its order.
fn cells_of(matrix: &Matrix, table: usize) -> Vec<String> {
    matrix.tables[table].cells.iter().map(|position| matrix.cells[*position].cell.to_string()).collect()
}

fn values_of(matrix: &Matrix, table: usize, axis: Axis) -> Vec<String> {
    let axes = &matrix.tables[table].axes;
    let values = axes.iter().find(|(own, _)| *own == axis).map(|(_, values)| values.as_slice());
    values.unwrap_or_default().iter().map(Value::to_string).collect()
}

fn filter(text: &str) -> Filter {
    Filter::parse(text, &catalog()).unwrap()
}

/// A table of increments by two workers.
fn increments(id: &str, mechanisms: &str, spawn: &str) -> String {
    format!(
        "[[table]]\nid = \"{id}\"\ntitle = \"I\"\nmeasure = \"increment\"\nrow = \"workers\"\n\
         column = \"mechanism\"\n[table.axes]\nmechanism = {mechanisms}\nworkers = [1, 2]\n\
         placement = \"same_cpu\"\nspawn = \"{spawn}\"\n"
    )
}

const HEAD: &str = "schema = 1\ntitle = \"T\"\n";

#[test]
fn a_good_file_becomes_cells_in_the_order_of_its_table() {
    let matrix = good(GOOD);
    assert_eq!((matrix.title.as_str(), matrix.budget), ("T", Some(Duration::from_secs(90))));
    let table = &matrix.tables[0];
    assert_eq!((table.id.as_str(), table.title.as_str()), ("A.2", "Bandwidth"));
    assert_eq!(
        (table.row, table.column, table.split.as_slice()),
        (Axis::MessageBytes, Axis::Mechanism, &[Axis::Placement][..])
    );
    assert_eq!(table.notes, ["A note."]);
    assert_eq!(values_of(&matrix, 0, Axis::MessageBytes), ["1024", "2048"]);
    let cells = cells_of(&matrix, 0);
    assert_eq!(cells.len(), 8);
    let first = [
        "bandwidth pipe message_bytes=1024 spawn=processes placement=same_cpu capacity_bytes=0",
        "bandwidth queue message_bytes=1024 spawn=processes placement=same_cpu",
        "bandwidth pipe message_bytes=2048 spawn=processes placement=same_cpu capacity_bytes=0",
    ];
    assert_eq!(cells[..3], first, "splits change last, then rows, then columns");
    assert_eq!(matrix, good(GOOD), "the same text gives the same cells");
}

#[test]
fn an_axis_that_is_not_named_has_its_default() {
    let matrix = good(&with_line("placement", ""));
    assert_eq!(values_of(&matrix, 0, Axis::Placement), ["same_cpu", "cross_cpu"]);
    let matrix = good(&with_line("message_bytes", "message_bytes = 12345"));
    assert_eq!(values_of(&matrix, 0, Axis::MessageBytes), ["12345"]);
}

#[test]
fn an_axis_that_a_mechanism_lacks_is_left_out_of_its_cells() {
    let text = with_line("split", "split = [\"placement\", \"capacity_bytes\"]");
    let matrix = good(&text.replace("spawn =", "capacity_bytes = [0, \"64K\"]\nspawn ="));
    let pipes = matrix.cells.iter().filter(|planned| planned.cell.mechanism() == "pipe");
    assert_eq!(pipes.count(), 8, "two capacities");
    let queues: Vec<_> = matrix.cells.iter().filter(|planned| planned.cell.mechanism() == "queue").collect();
    assert_eq!(queues.len(), 4, "each once");
    assert!(queues.iter().all(|planned| planned.cell.get(Axis::CapacityBytes).is_none()));
    let as_row = text.replace("\"placement\", \"capacity_bytes\"", "\"placement\", \"message_bytes\"");
    let as_row = as_row.replace("row = \"message_bytes\"", "row = \"capacity_bytes\"");
    let message = refused(&as_row.replace("spawn =", "capacity_bytes = [0, \"64K\"]\nspawn ="));
    assert!(message.contains("the row axis `capacity_bytes`, but `queue` has no such axis"), "{message}");
}

#[test]
fn cells_out_of_reach_are_planned_with_reason_and_remedy() {
    let all = "[\"mutex\", \"thread_mutex\", \"record_lock\"]";
    let told = |spawn| {
        let matrix = good(&format!("{HEAD}{}", increments("I", all, spawn)));
        let told = matrix.cells.into_iter().filter_map(|planned| {
            let workers = planned.cell.count(Axis::Workers);
            planned.unavailable.map(|why| (workers, why.reason, why.remedy))
        });
        told.collect::<Vec<_>>()
    };
    let reason =
        "thread_mutex between processes: it works between the threads of one process only".to_owned();
    let remedy = "spawn = \"threads\"".to_owned();
    assert_eq!(told("processes"), [(1, reason.clone(), remedy.clone()), (2, reason, remedy)]);
    let reason = "record_lock between threads: it belongs to the process, so the threads of one process do not \
                  exclude each other";
    assert_eq!(told("threads"), [(2, reason.to_owned(), "spawn = \"processes\" or workers = 1".to_owned())]);
}

#[test]
fn tables_share_equal_cells() {
    let one = increments("one", "[\"mutex\"]", "threads");
    let two = increments("two", "[\"mutex\", \"thread_mutex\"]", "threads");
    let matrix = good(&format!("{HEAD}{one}{two}"));
    assert_eq!(matrix.cells.len(), 4);
    assert_eq!(matrix.tables[0].cells, [0, 1]);
    assert_eq!(matrix.tables[1].cells, [0, 2, 1, 3]);
}

#[test]
fn an_exclude_holds_for_its_tables_only() {
    let tables = ["one", "two"].map(|id| increments(id, "[\"mutex\"]", "threads")).join("");
    let text = format!("{HEAD}{tables}[[exclude]]\nfilter = \"workers:2\"\n");
    assert_eq!(good(&text).cells.len(), 1);
    let matrix = good(&(text + "tables = [\"two\"]\n"));
    assert_eq!(matrix.tables.iter().map(|table| table.cells.len()).collect::<Vec<_>>(), [2, 1]);
    assert_eq!(values_of(&matrix, 1, Axis::Workers), ["1"], "a value without cells is no row");
}

#[test]
fn more_cells_than_allowed_are_refused_before_they_are_made() {
    let many = "message_bytes = \"1..=1024\"";
    assert_eq!(good(&with_line("message_bytes", many)).cells.len(), MOST_CELLS);
    let text = with_line("message_bytes", many).replace("\"queue\"]", "\"queue\", \"tcp\"]");
    assert_eq!(
        refused(&text),
        "m.toml:5:1: with table `A.2` the matrix has more than 4096 cells, the most allowed"
    );
    let two = with_line("message_bytes", many)
        + &with_line("message_bytes", "message_bytes = \"2K\"")
            .replace("A.2", "A.3")
            .split_off(GOOD.find("[[table]]").unwrap_or_default() - 1);
    assert!(
        refused(&two).contains("with table `A.3` the matrix has more than 4096 cells"),
        "{}",
        refused(&two)
    );
}

#[test]
fn bytes_that_are_not_text_are_named_by_their_place() {
    let mut bytes = GOOD.as_bytes().to_vec();
    assert_eq!(parse_bytes("m.toml", &bytes, &catalog(), &[]), Ok(good(GOOD)));
    bytes[13] = 0xFF;
    let mistakes = parse_bytes("m.toml", &bytes, &catalog(), &[]).unwrap_err();
    assert_eq!(mistakes.to_string(), "m.toml:2:3: the file is not text: byte 14 (0xFF) is not UTF-8");
}

#[test]
fn hostile_files_end_in_a_few_mistakes() {
    let large = refused(&" ".repeat(LARGEST_FILE_BYTES + 1));
    assert_eq!(large, "m.toml:1:1: the file has 1048577 bytes, more than 1048576");
    let unknown: String = (0..20_000).map(|number| format!("key{number} = 1\n")).collect();
    let hostile = [
        "x = [".repeat(10_000),
        "[".repeat(100_000),
        "\"".repeat(100_000),
        format!("{HEAD}{unknown}"),
        format!("{HEAD}{}", "[[table]]\n".repeat(20_000)),
        with_line("message_bytes", &format!("message_bytes = [{}]", "1,".repeat(100_000))),
        with_line("message_bytes", &format!("message_bytes = \"{}\"", "1,".repeat(100_000))),
    ];
    for text in hostile {
        let Err(Mistakes(mistakes)) = parse("m.toml", &text, &catalog()) else { panic!("{text}") };
        assert!((1..=MOST_MISTAKES + 1).contains(&mistakes.len()), "{mistakes:?}");
    }
}

#[test]
fn an_override_replaces_values_and_splits_by_what_the_table_does_not_show() {
    let matrix = with_changes(GOOD, &["message_bytes=pow2(4K, 8K),100"]).unwrap();
    assert_eq!(values_of(&matrix, 0, Axis::MessageBytes), ["4096", "8192", "100"]);
    assert_eq!(matrix.tables[0].split, [Axis::Placement]);
    let matrix = with_changes(GOOD, &["spawn=threads,processes"]).unwrap();
    assert_eq!(matrix.tables[0].split, [Axis::Placement, Axis::Spawn]);
    assert_eq!(matrix.cells.len(), 16);
    let matrix = with_changes(GOOD, &["spawn=threads"]).unwrap();
    assert_eq!(matrix.tables[0].split, [Axis::Placement], "one value needs no split");
}

#[test]
fn overridden_mechanisms_decide_first_which_axes_there_are() {
    for changes in [["mechanism=tcp", "nodelay=on"], ["nodelay=on", "mechanism=tcp"]] {
        let matrix = with_changes(GOOD, &changes).unwrap();
        assert!(matrix.cells.iter().all(|planned| planned.cell.word(Axis::Nodelay) == "on"));
        assert_eq!(matrix.cells.len(), 4);
    }
    let both = format!("{GOOD}{}", increments("A.4", "[\"mutex\"]", "threads"));
    let matrix = with_changes(&both, &["mechanism=thread_mutex,tcp"]).unwrap();
    assert_eq!(values_of(&matrix, 0, Axis::Mechanism), ["tcp"]);
    assert_eq!(values_of(&matrix, 1, Axis::Mechanism), ["thread_mutex"]);
    let matrix = with_changes(&both, &["mechanism=tcp"]).unwrap();
    assert_eq!(matrix.tables.len(), 1, "no mechanism is left in A.4");
}

#[test]
fn an_override_may_leave_an_exclude_idle_but_not_the_matrix_empty() {
    let text =
        format!("{HEAD}{}[[exclude]]\nfilter = \"workers:2\"\n", increments("I", "[\"mutex\"]", "threads"));
    assert_eq!(with_changes(&text, &["workers=3"]).unwrap().cells.len(), 1);
    assert_eq!(with_changes(&text, &["workers=2"]).unwrap_err(), "m.toml: no cell is left to measure");
}

#[test]
fn an_override_that_does_nothing_is_refused() {
    let cases = [
        (&["workers=2"][..], "-a workers=2: no table of this matrix has the axis `workers`"),
        (&["nodelay=on"], "-a nodelay=on: no table of this matrix has the axis `nodelay`"),
        (
            &["mechanism=pipe,mutex"],
            "-a mechanism=pipe,mutex: `mutex` measures nothing that a table of this matrix shows",
        ),
        (&["spawn=threads", "spawn=processes"], "-a spawn=processes: the axis `spawn` is given twice"),
    ];
    for (changes, message) in cases {
        assert_eq!(with_changes(GOOD, changes).unwrap_err(), message);
    }
}

#[test]
fn a_bad_override_says_what_was_expected() {
    let cases = [
        ("workers", "expected AXIS=VALUE,VALUE, such as message_bytes=1K,64K"),
        ("measure=bandwidth", "each table has one measure of its own: choose tables with -f measure:..."),
        (
            "worker=1",
            "unknown axis `worker`; did you mean `workers`? Allowed: mechanism, message_bytes, workers, spawn, \
             placement, nodelay, capacity_bytes, highest_descriptor, descriptors, ready, file, call, variant, socket, idle_connections, process_state, depth, sender, daemon, log_socket, log_file",
        ),
        ("workers=0", "`0` is out of bounds: expected a whole number from 1 to 64"),
        ("workers=", "a value is missing: expected a whole number from 1 to 64"),
        ("workers=1,1", "`1` stands twice on the axis `workers`"),
    ];
    for (text, message) in cases {
        assert_eq!(Override::parse(text, &catalog()), Err(message.to_owned()));
    }
}

#[test]
fn filtered_cells_leave_with_their_tables_and_values() {
    let mut matrix = good(&format!("{GOOD}{}", increments("A.4", "[\"mutex\"]", "threads")));
    assert_eq!(matrix.cells.len(), 10);
    matrix.retain(&filter("workers:2 OR mechanism:queue"));
    assert_eq!(matrix.cells.len(), 5);
    assert_eq!(values_of(&matrix, 0, Axis::Mechanism), ["queue"]);
    assert!(cells_of(&matrix, 0).iter().all(|cell| cell.contains("queue")));
    assert_eq!(cells_of(&matrix, 1), ["increment mutex workers=2 spawn=threads placement=same_cpu"]);
    matrix.retain(&filter("mechanism:mutex"));
    assert_eq!(matrix.tables.iter().map(|table| table.id.as_str()).collect::<Vec<_>>(), ["A.4"]);
    assert_eq!(matrix.tables[0].cells, [0]);
    matrix.retain(&filter("-*"));
    assert!(matrix.tables.is_empty() && matrix.cells.is_empty());
}

#[test]
fn merged_matrices_share_cells_and_keep_their_tables_apart() {
    let read = |name: &str, tables: &str, budget: &str| {
        let text = format!("schema = 1\ntitle = \"{name}\"\n{budget}{tables}");
        parse(&format!("dir/{name}.toml"), &text, &catalog()).unwrap()
    };
    let first = read("first", &increments("I", "[\"mutex\"]", "threads"), "budget = \"1m\"\n");
    let second =
        read("second", &increments("I", "[\"mutex\", \"thread_mutex\"]", "threads"), "budget = \"2m\"\n");
    let merged = merge(vec![first.clone(), second.clone(), first.clone(), second]);
    let ids: Vec<&str> = merged.tables.iter().map(|table| table.id.as_str()).collect();
    assert_eq!(ids, ["I", "second-I"]);
    assert_eq!(merged.tables[1].cells, [0, 2, 1, 3]);
    assert_eq!((merged.cells.len(), merged.title.as_str()), (4, "first + second"));
    assert_eq!(merged.budget, Some(Duration::from_secs(180)));
    assert_eq!(merge(vec![first.clone()]), first);
    assert_eq!(merge(Vec::new()), Matrix::default());
}

#[test]
fn included_tables_bring_their_excludes_and_obey_those_of_the_file() {
    let exclude = "[[exclude]]\nfilter = \"workers:2\"\n";
    let two = increments("two", "[\"mutex\", \"thread_mutex\"]", "threads");
    let library_text = format!("{HEAD}{two}{exclude}");
    let library = [("lib", library_text.as_str())];
    let own = increments("own", "[\"mutex\"]", "threads");
    let include = "[[include]]\nmatrix = \"lib\"\n";
    let text = format!("{HEAD}{own}{include}[[exclude]]\nfilter = \"mechanism:thread_mutex\"\n");
    let matrix = parse_from(&library, "m", &text, &catalog(), &[]).unwrap();
    assert_eq!(cells_of(&matrix, 0).len(), 2, "the exclude of the included file is not the file's own");
    assert_eq!(cells_of(&matrix, 1), ["increment mutex workers=1 spawn=threads placement=same_cpu"]);
    let clash = format!("{HEAD}{}{include}", increments("two", "[\"mutex\"]", "threads"));
    let mistakes = parse_from(&library, "m", &clash, &catalog(), &[]).unwrap_err();
    assert_eq!(mistakes.to_string(), "lib:3:1: two tables have the id `two`: the other one is at m:3");
}

#[test]
fn a_circle_of_includes_is_refused_and_a_common_one_is_read_once() {
    let include = |name: &str| format!("[[include]]\nmatrix = \"{name}\"\n");
    let a = format!("{HEAD}{}", include("b"));
    let b = format!("{HEAD}{}", include("a"));
    let library = [("a", a.as_str()), ("b", b.as_str())];
    let mistakes = parse_from(&library, "m", &a, &catalog(), &[]).unwrap_err();
    let circle = "a:4:10: matrices include each other in a circle: m includes b includes a includes b";
    assert_eq!(mistakes.to_string(), circle);

    let leaf = format!("{HEAD}{}", increments("leaf", "[\"mutex\"]", "threads"));
    let (left, right) = (format!("{HEAD}{}", include("leaf")), format!("{HEAD}{}", include("leaf")));
    let library = [("leaf", leaf.as_str()), ("left", left.as_str()), ("right", right.as_str())];
    let top = format!("{HEAD}{}{}", include("left"), include("right"));
    assert_eq!(parse_from(&library, "m", &top, &catalog(), &[]).unwrap().tables.len(), 1);
}

#[test]
fn every_shipped_matrix_is_read_by_the_shipped_catalog() {
    let catalog = Catalog::shipped();
    let mut sizes = Vec::new();
    for (name, text) in SHIPPED {
        assert_eq!(shipped(name), Some(*text));
        match parse(name, text, &catalog) {
            Ok(matrix) => sizes.push((*name, matrix.tables.len(), matrix.cells.len())),
            Err(mistakes) => panic!("{mistakes}"),
        }
    }
    let expected = [
        ("all", 40, 22 + 112 + 63 + 63 + 188 + 240 + 105 + 18),
        ("appendix", 4, 22 + 112 + 63 + 63),
        ("bandwidth", 2, 105 + 105),
        ("locks", 2, 207 + 162),
        ("log", 13, 18),
        ("operations", 5, 42 + 18 + 45),
        ("readiness", 18, 188 + 240),
        ("serve", 8, 240),
        ("smoke", 8, Catalog::shipped().drivers().count()),
        ("transports", 2, 68 + 364 + 14),
    ];
    assert_eq!(sizes, expected);
    assert_eq!(shipped("nothing"), None);
}

#[test]
fn shipped_matrices_go_together() {
    let catalog = Catalog::shipped();
    let include = |(name, _): &(&str, &str)| format!("[[include]]\nmatrix = \"{name}\"\n");
    let text = format!("{HEAD}{}", SHIPPED.iter().map(include).collect::<String>());
    let matrix = parse("all.toml", &text, &catalog).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!(matrix.tables.len(), 54, "no two have one id");
    let read = SHIPPED.iter().map(|(name, text)| parse(name, text, &catalog).unwrap());
    let merged = merge(read.collect());
    assert_eq!((merged.tables, merged.cells), (matrix.tables, matrix.cells));
}

#[test]
fn the_example_in_the_documentation_is_a_good_file() {
    let lines = include_str!("mod.rs").lines().skip_while(|line| *line != "//! ```toml").skip(1);
    let example =
        lines.take_while(|line| *line != "//! ```").map(|line| line.trim_start_matches("//!").trim_start());
    let text = example.collect::<Vec<_>>().join("\n");
    let matrix = parse("example", &text, &Catalog::shipped()).unwrap_or_else(|mistakes| panic!("{mistakes}"));
    assert_eq!(matrix.tables.len(), 3, "its own table and two of `locks`");
}

#[test]
fn the_smoke_matrix_has_each_driver_once_and_all_within_reach() {
    let catalog = Catalog::shipped();
    let matrix = parse("smoke", shipped("smoke").unwrap_or_default(), &catalog).unwrap();
    let named =
        |planned: &PlannedCell| (planned.cell.measure().unwrap(), planned.cell.mechanism().to_owned());
    let mut mechanisms: Vec<_> = matrix.cells.iter().map(named).collect();
    let mut known: Vec<_> =
        catalog.drivers().map(|driver| (driver.measure, driver.mechanism.to_owned())).collect();
    mechanisms.sort_unstable();
    known.sort_unstable();
    assert_eq!(mechanisms, known);
    assert!(matrix.cells.iter().all(|planned| planned.unavailable.is_none()));
}
