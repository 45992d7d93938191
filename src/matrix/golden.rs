//! Bad files and the exact words about them.

use super::tests::{GOOD, refused, with_line};

/// A line of the good file by its beginning, what stands there instead, and what is said of it
/// (without the name of the file).
const BAD_LINES: &[(&str, &str, &[&str])] = &[
    (
        "title = \"T\"",
        "titel = \"T\"",
        &[
            "1:1: the key `title` is missing: expected a string: the heading of the report",
            "2:1: unknown key `titel`; did you mean `title`? Allowed: schema, title, budget, table, exclude, include, gate",
        ],
    ),
    (
        "budget",
        "budget = \"3 fortnights\"",
        &["3:10: `3 fortnights` is no budget: expected a duration from 1s to 24h, such as \"90s\" or \"3m\""],
    ),
    (
        "budget",
        "budget = 90",
        &["3:10: found a whole number: expected a duration from 1s to 24h, such as \"90s\" or \"3m\""],
    ),
    (
        "budget",
        "budget = \"0s\"",
        &["3:10: `0s` is no budget: expected a duration from 1s to 24h, such as \"90s\" or \"3m\""],
    ),
    (
        "id",
        "id = \"../x\"",
        &["6:6: `../x` cannot be an id: expected letters, digits, `.`, `_` and `-`, a letter or digit first"],
    ),
    (
        "row",
        "",
        &[
            "5:1: the key `row` is missing: expected the axis whose values are the rows, such as \"mechanism\"",
        ],
    ),
    (
        "row",
        "row = \"workers\"",
        &[
            "9:7: the row axis `workers` is not an axis of this table. Allowed: mechanism, message_bytes, spawn, placement, capacity_bytes",
        ],
    ),
    (
        "row",
        "row = \"capacity_bytes\"",
        &["9:7: the row axis `capacity_bytes` has no values: name them in [table.axes]"],
    ),
    (
        "row",
        "row = \"measure\"",
        &[
            "9:7: unknown axis `measure`. Allowed: mechanism, message_bytes, workers, spawn, placement, nodelay, capacity_bytes, highest_descriptor, descriptors, ready, file, call, variant, socket, idle_connections, process_state, depth, sender, daemon, log_socket, log_file",
        ],
    ),
    (
        "column",
        "column = \"message_bytes\"",
        &["10:10: the axis `message_bytes` is row and column: expected one of them"],
    ),
    (
        "measure",
        "measure = \"bandwith\"",
        &[
            "8:11: unknown measure `bandwith`; did you mean `bandwidth`? Allowed: bandwidth, round_trip, increment, wait, serve, operation, append",
        ],
    ),
    (
        "measure",
        "measure = \"increment\"",
        &[
            "5:1: the axis `workers` is missing in [table.axes]: expected a whole number from 1 to 64",
            "9:7: the row axis `message_bytes` is not an axis of this table. Allowed: mechanism, workers, spawn, placement",
            "15:1: `pipe` has no measure `increment`. Allowed: mutex, thread_mutex, record_lock",
            "15:1: `queue` has no measure `increment`. Allowed: mutex, thread_mutex, record_lock",
            "16:1: neither increment nor a mechanism of this table has the axis `message_bytes`. Allowed: mechanism, workers, spawn, placement",
        ],
    ),
    (
        "split",
        "split = \"placement\"",
        &["11:9: found a string: expected a list of axes, such as [\"placement\"]"],
    ),
    ("split", "split = []", &["11:9: this list is empty: expected a list of axes, such as [\"placement\"]"]),
    (
        "split",
        "split = [\"placement\", \"placement\"]",
        &["11:23: the axis `placement` stands twice in `split`"],
    ),
    (
        "split",
        "",
        &[
            "17:1: the axis `placement` has several values (same_cpu, cross_cpu) but is neither row, column nor split: add it to `split` or give it one value",
        ],
    ),
    (
        "notes",
        "notes = [\"two\\nlines\"]",
        &["12:10: this text has a line break or another control character: expected one line"],
    ),
    (
        "mechanism",
        "mechanism = [\"pipe\", \"queu\"]",
        &[
            "15:22: unknown mechanism `queu`; did you mean `queue`? Allowed: pipe, queue, tcp, mutex, thread_mutex, record_lock",
        ],
    ),
    (
        "mechanism",
        "mechanism = [\"pipe\", \"mutex\"]",
        &["15:1: `mutex` has no measure `bandwidth`. Allowed: pipe, queue, tcp"],
    ),
    (
        "mechanism",
        "mechanism = [\"pipe\", \"pipe\"]",
        &["15:22: `pipe` stands twice on the axis `mechanism`"],
    ),
    (
        "mechanism",
        "mechanism = []",
        &["15:13: this list is empty: expected one of pipe, queue, tcp, mutex, thread_mutex, record_lock"],
    ),
    (
        "mechanism",
        "",
        &["5:1: the axis `mechanism` is missing in [table.axes]: expected some of pipe, queue, tcp"],
    ),
    (
        "message_bytes",
        "message_bytes = 0",
        &["16:17: `0` is out of bounds: expected a size from 1 to 67108864 bytes, such as 4096 or 4K"],
    ),
    (
        "message_bytes",
        "message_bytes = -1",
        &["16:17: `-1` is not a number: expected a size from 1 to 67108864 bytes, such as 4096 or 4K"],
    ),
    (
        "message_bytes",
        "message_bytes = 0x400",
        &[
            "16:17: `0x400` is not a decimal number: expected a size from 1 to 67108864 bytes, such as 4096 or 4K",
        ],
    ),
    (
        "message_bytes",
        "message_bytes = 1099511627776",
        &[
            "16:17: `1099511627776` is out of bounds: expected a size from 1 to 67108864 bytes, such as 4096 or 4K",
        ],
    ),
    (
        "message_bytes",
        "message_bytes = [1024, \"1K\"]",
        &["16:24: `1024` stands twice on the axis `message_bytes`"],
    ),
    (
        "message_bytes",
        "message_bytes = 1.5",
        &[
            "16:17: found a number with a fraction: expected a size from 1 to 67108864 bytes, such as 4096 or 4K",
        ],
    ),
    (
        "message_bytes",
        "",
        &[
            "5:1: the axis `message_bytes` is missing in [table.axes]: expected a size from 1 to 67108864 bytes, such as 4096 or 4K",
        ],
    ),
    (
        "spawn",
        "spwan = \"threads\"",
        &[
            "18:1: unknown axis `spwan`; did you mean `spawn`? Allowed: mechanism, message_bytes, workers, spawn, placement, nodelay, capacity_bytes, highest_descriptor, descriptors, ready, file, call, variant, socket, idle_connections, process_state, depth, sender, daemon, log_socket, log_file",
        ],
    ),
    (
        "spawn",
        "workers = 2",
        &[
            "18:1: neither bandwidth nor a mechanism of this table has the axis `workers`. Allowed: mechanism, message_bytes, spawn, placement, capacity_bytes",
        ],
    ),
    (
        "spawn",
        "nodelay = \"on\"",
        &[
            "18:1: neither bandwidth nor a mechanism of this table has the axis `nodelay`. Allowed: mechanism, message_bytes, spawn, placement, capacity_bytes",
        ],
    ),
    (
        "spawn",
        "spawn = [\"threads\", \"processes\"]",
        &[
            "18:1: the axis `spawn` has several values (threads, processes) but is neither row, column nor split: add it to `split` or give it one value",
        ],
    ),
    ("spawn", "spawn = true", &["18:9: found true or false: expected one of processes, threads"]),
    (
        "spawn",
        "measure = \"bandwidth\"",
        &[
            "18:1: unknown axis `measure`. Allowed: mechanism, message_bytes, workers, spawn, placement, nodelay, capacity_bytes, highest_descriptor, descriptors, ready, file, call, variant, socket, idle_connections, process_state, depth, sender, daemon, log_socket, log_file",
        ],
    ),
    ("title = \"T\"", "title = \"T", &["2:11: invalid basic string, expected `\"`"]),
    ("title = \"T\"", "title = \"T\"\ntitle = \"U\"", &["3:1: duplicate key (found `title`)"]),
    (
        "schema",
        "schema = 1\nx = 1\ny = 2",
        &[
            "2:1: unknown key `x`. Allowed: schema, title, budget, table, exclude, include, gate",
            "3:1: unknown key `y`. Allowed: schema, title, budget, table, exclude, include, gate",
        ],
    ),
];

/// Files with other mistakes, and what is said of them.
fn bad_files() -> Vec<(String, &'static [&'static str])> {
    vec![
        (
            String::new(),
            &[
                "1:1: the key `schema` is missing: expected `schema = 1`, the only one that this program reads",
            ],
        ),
        (
            "schema = 2\nsurprise = true\n".to_owned(),
            &["1:10: the schema is 2: expected `schema = 1`, the only one that this program reads"],
        ),
        (
            "schema = \"1\"\n".to_owned(),
            &["1:10: found a string: expected `schema = 1`, the only one that this program reads"],
        ),
        (
            "schema = 1\ntitle = \"T\"\n".to_owned(),
            &["1:1: the matrix shows nothing: expected at least one [[table]] or [[include]]"],
        ),
        (
            "schema = 1\ntitle = \"T\"\ntable = 3\n".to_owned(),
            &["3:9: found a whole number: expected [[table]] and its keys below it"],
        ),
        (
            GOOD.replace("[table.axes]", "[table.axis]"),
            &[
                "5:1: the key `axes` is missing: expected [table.axes] with a line for each axis",
                "14:8: unknown key `axis`; did you mean `axes`? Allowed: id, title, measure, row, column, split, notes, published, metric, axes",
            ],
        ),
    ]
}

/// Good files with a bad end, and what is said of them.
fn bad_ends() -> Vec<(String, &'static [&'static str])> {
    vec![
        (
            format!("{GOOD}[[gate]]\nfilter = \"*\"\n"),
            &["19:1: this gate limits nothing: expected `max`, `min` or `max_regression`"],
        ),
        (
            format!("{GOOD}{}", &GOOD[GOOD.find("[[table]]").unwrap()..]),
            &["19:1: two tables have the id `A.2`: the other one is at m.toml:5"],
        ),
        (
            format!("{GOOD}[[exclude]]\nfilter = \"mechanism:pip\"\n"),
            &[
                "20:10: filter `mechanism:pip`, character 1: unknown mechanism `pip`; did you mean `pipe`? Allowed: pipe, queue, tcp, mutex, thread_mutex, record_lock",
            ],
        ),
        (
            format!("{GOOD}[[exclude]]\nfilter = \"mechanism:pipe\"\ntables = [\"A.3\"]\n"),
            &["21:11: unknown table `A.3`; did you mean `A.2`? Allowed: A.2"],
        ),
        (
            format!("{GOOD}[[exclude]]\ntables = [\"A.2\"]\n"),
            &[
                "19:1: the key `filter` is missing: expected a filter, such as \"workers:1 placement:cross_cpu\"",
            ],
        ),
        (
            format!("{GOOD}[[exclude]]\nfilter = \"mechanism:tcp\"\n"),
            &["20:10: this exclude leaves out nothing: no cell matches its filter"],
        ),
        (
            format!("{GOOD}[[exclude]]\nfilter = \"*\"\n"),
            &["5:1: nothing is left of table `A.2`: every cell is excluded"],
        ),
        (
            format!("{GOOD}[[include]]\nmatrix = \"appendx\"\n"),
            &[
                "20:10: unknown matrix `appendx`; did you mean `appendix`? Allowed: all, appendix, bandwidth, locks, log, operations, readiness, serve, smoke, transports",
            ],
        ),
        (
            "\0\u{1}\u{2}".to_owned(),
            &[
                "1:1: invalid unquoted key, expected letters, numbers, `-`, `_` (found `\\u{0}\\u{1}\\u{2}`)",
                "1:4: key with no value, expected `=`",
            ],
        ),
    ]
}

fn expect(text: &str, messages: &[&str]) {
    let whole: Vec<String> = messages.iter().map(|message| format!("m.toml:{message}")).collect();
    assert_eq!(refused(text), whole.join("\n"), "about\n{text}");
}

#[test]
fn a_bad_line_is_named_with_its_place_and_what_was_expected() {
    for (begin, line, messages) in BAD_LINES {
        expect(&with_line(begin, line), messages);
    }
}

#[test]
fn a_bad_file_is_named_with_its_place_and_what_was_expected() {
    for (text, messages) in bad_files().into_iter().chain(bad_ends()) {
        expect(&text, messages);
    }
}
