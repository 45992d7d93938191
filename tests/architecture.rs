//! The rooms of `src` and the arrows between them, as ARCHITECTURE.md has them: what a room may use, what
//! stands in one file only, and what stands nowhere. The rules are tried on made-up sources first.

use ipcmatrix::catalog::Catalog;
use std::fs;
use std::path::Path;

/// What each room may use of the others. A path stands for itself and what is below it.
const ARROWS: &[(&str, &[&str])] = &[
    (
        "catalog",
        &[
            "cell",
            "workload",
            "transport::DRIVERS",
            "lock::DRIVERS",
            "readiness::DRIVERS",
            "operation::DRIVERS",
            "log::DRIVERS",
        ],
    ),
    ("cell", &[]),
    (
        "cli",
        &[
            "catalog",
            "cell",
            "compare",
            "doctor",
            "environment",
            "export",
            "faulty::DRIVERS",
            "matrix",
            "measure::clock",
            "measure::stats",
            "record",
            "report",
            "runner",
            "selfcheck",
            "visit",
        ],
    ),
    ("compare", &["cell", "measure::stats", "record", "strata"]),
    ("doctor", &["environment"]),
    ("environment", &[]),
    ("export", &["cell", "measure::stats", "record", "report"]),
    ("faulty", &["catalog", "cell", "lock", "log", "transport", "workload"]),
    ("lib", &[]),
    ("lock", FAMILY),
    ("log", LOG),
    ("main", &[]),
    ("matrix", &["catalog", "cell", "published", "record"]),
    ("measure", &[]),
    ("operation", OPERATION),
    ("published", &["cell"]),
    ("readiness", READINESS),
    ("record", &["cell", "workload"]),
    ("report", &["cell", "compare", "measure::stats", "published", "record", "strata", "workload"]),
    ("runner", &["cell", "environment::counters", "measure", "record", "strata", "sys::signal"]),
    ("selfcheck", &["cell", "compare", "measure", "record", "runner"]),
    ("strata", &["cell", "measure::stats", "record"]),
    ("sys", &["measure::clock::monotonic_ns"]),
    ("transport", FAMILY),
    ("visit", &["catalog", "cell", "environment::proximity", "measure", "record", "sys", "workload"]),
    ("workload", &[]),
];
const FAMILY: &[&str] = &["catalog", "cell", "sys", "workload"];
/// The clients of a server time each request: beside the mechanism, which never reads a clock.
const READINESS: &[&str] =
    &["catalog", "cell", "measure::clock::monotonic_ns", "measure::histogram", "sys", "workload"];
/// One of the operations is to read the clock; beside that, a second thread is watched by it before each batch.
const OPERATION: &[&str] = &["catalog", "cell", "measure::clock::monotonic_ns", "sys", "workload"];

/// Lines for a daemon have a date, and a daemon that keeps a limit reads the clock: beside whoever logs.
const LOG: &[&str] =
    &["catalog", "cell", "measure::clock::monotonic_ns", "measure::clock::syslog_now", "sys", "workload"];

/// Words that stand in these files or folders only.
const PLACES: &[(&str, &[&str])] = &[
    ("Instant::now", &["measure/clock.rs"]),
    ("SystemTime", &["measure/clock.rs"]),
    ("UNIX_EPOCH", &["measure/clock.rs"]),
    ("clock_gettime", &["measure/clock.rs"]),
    ("Timestamp::now", &["measure/clock.rs"]),
    ("sleep", &[]),
    ("nanosleep", &[]),
    ("fork", &["sys/process.rs"]),
    ("vfork", &[]),
    ("unsafe", &["sys/"]),
    ("allow(unsafe_code)", &["sys/"]),
    ("println!", &[]),
    ("print!", &[]),
    ("eprintln!", &[]),
    ("eprint!", &[]),
    ("dbg!", &[]),
    ("todo!", &[]),
];

/// A word that contains one of the above and is allowed everywhere.
const HARMLESS: &[&str] = &["process::fork"];

/// Rooms that know no mechanism by its name.
const NAMELESS: &[&str] = &["runner", "visit", "report", "measure"];

const MOST_LINES: usize = 400;

/// A file without what is compiled for tests only.
struct Source {
    /// Below `src`.
    path: String,
    /// Every line with its number.
    lines: Vec<(usize, String)>,
}

impl Source {
    fn of(path: &str, text: &str) -> Source {
        let mut lines = Vec::new();
        // The indentation of a test item whose end has not come yet.
        let mut skipped: Option<usize> = None;
        for (index, line) in text.lines().enumerate() {
            let indentation = line.len() - line.trim_start().len();
            match skipped {
                Some(at) if ends_item(line, indentation, at) => skipped = None,
                Some(_) => {}
                None if line.trim_start().starts_with("#[cfg(test)]") => skipped = Some(indentation),
                None => lines.push((index + 1, line.to_owned())),
            }
        }
        Source { path: path.to_owned(), lines }
    }

    /// The room: the folder, or the file at the top.
    fn room(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    /// Lines without comments and without the text of strings.
    fn code(&self) -> impl Iterator<Item = (usize, String)> {
        self.lines.iter().map(|(number, line)| (*number, parts(line).0))
    }

    /// The text of strings.
    fn strings(&self) -> impl Iterator<Item = (usize, String)> {
        self.lines.iter().map(|(number, line)| (*number, parts(line).1))
    }

    fn complaint(&self, number: usize, text: &str) -> String {
        format!("src/{}:{number}: {text}", self.path)
    }
}

/// Whether the line ends an item that begins at that indentation, in formatted code.
fn ends_item(line: &str, indentation: usize, at: usize) -> bool {
    indentation == at
        && (line.trim_end().ends_with(';') || line.trim() == "}" || line.trim_end().ends_with("{}"))
}

/// Code and text of a line. A string that spans lines counts as code where it goes on: strict enough.
fn parts(line: &str) -> (String, String) {
    let (mut code, mut text) = (String::new(), String::new());
    let (mut inside, mut escaped) = (false, false);
    let letters: Vec<char> = line.chars().collect();
    for (index, letter) in letters.iter().enumerate() {
        let quoted_mark = *letter == '"' && index > 0 && letters[index - 1] == '\'';
        match letter {
            '/' if !inside && letters.get(index + 1) == Some(&'/') => break,
            '"' if !escaped && !quoted_mark => {
                inside = !inside;
                text.push(' ');
                code.push('"');
            }
            _ if inside => text.push(*letter),
            _ => code.push(*letter),
        }
        escaped = inside && *letter == '\\' && !escaped;
    }
    (code, text)
}

fn in_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// Where the word stands by itself.
fn places(text: &str, word: &str) -> Vec<usize> {
    let alone = |at: &usize| {
        let before = text[..*at].chars().next_back().is_some_and(in_word);
        let after = text[at + word.len()..].chars().next().is_some_and(in_word);
        !(before || after && word.ends_with(in_word))
    };
    text.match_indices(word).map(|(at, _)| at).filter(alone).collect()
}

/// What the code uses of the crate, path by path.
fn used(source: &Source) -> Vec<(usize, String)> {
    let mut all = Vec::new();
    // A use that spans lines is one: its lines are put together.
    let mut code = source.code().peekable();
    while let Some((number, mut line)) = code.next() {
        while line.contains("crate::{") && !line.contains('}') && code.peek().is_some() {
            line.push_str(code.next().unwrap_or_default().1.trim());
        }
        for at in places(&line, "crate::") {
            let rest = &line[at + "crate::".len()..];
            let paths: Vec<&str> = match rest.strip_prefix('{').and_then(|list| list.split_once('}')) {
                Some((list, _)) => list.split(',').map(str::trim).collect(),
                None => vec![rest],
            };
            let path = |text: &str| text.chars().take_while(|c| in_word(*c) || *c == ':').collect::<String>();
            all.extend(
                paths.into_iter().map(path).filter(|path| !path.is_empty()).map(|path| (number, path)),
            );
        }
    }
    all
}

fn wrong_arrows(source: &Source) -> Vec<String> {
    let room = source.room();
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == room) else {
        return vec![source.complaint(1, &format!("the room {room} has no arrows yet"))];
    };
    let inside =
        |path: &str, of: &str| path == of || path.strip_prefix(of).is_some_and(|rest| rest.starts_with("::"));
    let wrong = |path: &String| !inside(path, room) && !allowed.iter().any(|one| inside(path, one));
    let used = used(source).into_iter().filter(|(_, path)| wrong(path));
    let mut all: Vec<String> =
        used.map(|(number, path)| source.complaint(number, &format!("{room} may not use {path}"))).collect();
    let up = source.code().filter(|(_, line)| line.contains("super::super"));
    all.extend(up.map(|(number, _)| source.complaint(number, "name the room: super::super hides it")));
    all
}

fn wrong_places(source: &Source) -> Vec<String> {
    let mut all = Vec::new();
    for (number, line) in source.code() {
        let line = HARMLESS.iter().fold(line, |line, harmless| line.replace(harmless, ""));
        for (word, allowed) in PLACES {
            let here = allowed.iter().any(|place| source.path.starts_with(place));
            if !here && !places(&line, word).is_empty() {
                all.push(source.complaint(number, &format!("{word} may stand in {allowed:?} only")));
            }
        }
    }
    all
}

/// Whether the line is code of a statement that goes on in the next line.
fn goes_on(line: &str) -> bool {
    let code = parts(line).0;
    !code.trim().is_empty() && !code.trim_end().ends_with([';', '{', '}', ','])
}

/// Every block or implementation that is unsafe has its reason directly above its statement.
fn unsafe_without_reason(source: &Source) -> Vec<String> {
    let is_comment = |line: &str| line.trim_start().starts_with("//");
    let mut all = Vec::new();
    for (index, (number, line)) in source.lines.iter().enumerate() {
        let code = parts(line).0;
        let opens = ["unsafe {", "unsafe impl"].iter().any(|word| !places(&code, word).is_empty());
        let before = source.lines[..index].iter().rev().skip_while(|(_, line)| goes_on(line));
        let above = before.take_while(|(_, line)| is_comment(line));
        if opens && !above.map(|(_, line)| line).any(|line| line.contains("SAFETY:")) {
            all.push(source.complaint(*number, "unsafe without a SAFETY comment directly above"));
        }
    }
    all
}

fn named_mechanisms(source: &Source, mechanisms: &[&str]) -> Vec<String> {
    if !NAMELESS.contains(&source.room()) {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (number, text) in source.strings() {
        for name in mechanisms.iter().filter(|name| !places(&text, name).is_empty()) {
            all.push(source.complaint(number, &format!("{} knows the mechanism {name}", source.room())));
        }
    }
    all
}

fn too_long(source: &Source) -> Vec<String> {
    let lines = source.lines.len();
    let text = format!("{lines} lines beside tests, more than {MOST_LINES}");
    if lines > MOST_LINES { vec![source.complaint(lines, &text)] } else { Vec::new() }
}

/// Every file of `src`, except those that are modules for tests only.
fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let (mut texts, mut for_tests) = (Vec::new(), Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                for_tests.extend(
                    test_modules(&text).into_iter().map(|name| folder.join(name).with_extension("rs")),
                );
                texts.push((path, text));
            }
        }
    }
    texts.retain(|(path, _)| !for_tests.contains(path));
    let below = |path: &Path| path.strip_prefix(&root).unwrap().display().to_string();
    texts.iter().map(|(path, text)| Source::of(&below(path), text)).collect()
}

/// Modules in files of their own that are compiled for tests only.
fn test_modules(text: &str) -> Vec<String> {
    let after = text.split("#[cfg(test)]\nmod ").skip(1);
    after.filter_map(|rest| rest.lines().next()?.strip_suffix(';').map(str::to_owned)).collect()
}

#[track_caller]
fn none(complaints: impl Iterator<Item = String>) {
    let all: Vec<String> = complaints.collect();
    assert!(all.is_empty(), "\n{}", all.join("\n"));
}

#[test]
fn every_room_is_found() {
    let all = sources();
    for (room, _) in ARROWS {
        assert!(all.iter().any(|source| source.room() == *room), "no file of the room {room}");
    }
}

#[test]
fn arrows_point_one_way() {
    none(sources().iter().flat_map(wrong_arrows));
}

#[test]
fn things_stand_where_they_belong() {
    none(sources().iter().flat_map(wrong_places));
}

#[test]
fn unsafe_code_has_its_reason() {
    none(sources().iter().flat_map(unsafe_without_reason));
}

#[test]
fn the_engine_names_no_mechanism() {
    let mechanisms: Vec<&str> = Catalog::shipped().drivers().map(|driver| driver.mechanism).collect();
    assert!(mechanisms.len() > 10);
    none(sources().iter().flat_map(|source| named_mechanisms(source, &mechanisms)));
}

#[test]
fn files_are_short() {
    none(sources().iter().flat_map(too_long));
}

/// The lines that are complained about.
fn lines(complaints: &[String]) -> Vec<usize> {
    complaints.iter().map(|text| text.split(':').nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn a_wrong_arrow_is_seen_however_it_is_written() {
    let text = "use crate::runner::Ran;\nuse crate::{cell, report::text};\nlet a = crate::runner::run();\n\
                use crate::record::Line;\nuse crate::visit::x;\n// crate::runner in a comment\nuse crate::{\n    cell,\n    cli,\n};\n";
    assert_eq!(lines(&wrong_arrows(&Source::of("visit/mod.rs", text))), [1, 2, 3, 7]);
    let stats = "use crate::measure::stats::median;\nuse crate::measure::clock::Clock;\n";
    assert_eq!(lines(&wrong_arrows(&Source::of("report/x.rs", stats))), [2]);
    assert_eq!(lines(&wrong_arrows(&Source::of("measure/x.rs", "use crate::cell::Cell;"))), [1]);
    assert_eq!(lines(&wrong_arrows(&Source::of("matrix/x.rs", "use super::super::runner;"))), [1]);
    assert_eq!(lines(&wrong_arrows(&Source::of("cellar/x.rs", ""))), [1], "a room without arrows");
    assert!(wrong_arrows(&Source::of("lock/a.rs", "use crate::sys::sysv::Semaphore;")).is_empty());
    assert_eq!(lines(&wrong_arrows(&Source::of("lock/a.rs", "use crate::system::x;"))), [1]);
}

#[test]
fn a_thing_in_a_wrong_place_is_seen() {
    let text = "let now = Instant::now();\nstd::thread::sleep(time);\nlet t = SystemTime::now();\nfork();\n\
                process::fork(|| 0);\nprintln!(\"x\");\n// println! in a comment\nlet s = \"unsafe fork\";\nforked();\n\
                let asleep = 1;\n";
    assert_eq!(lines(&wrong_places(&Source::of("runner/x.rs", text))), [1, 2, 3, 4, 6]);
    assert_eq!(lines(&wrong_places(&Source::of("cli/x.rs", "unsafe { x() };"))), [1]);
    assert!(wrong_places(&Source::of("measure/clock.rs", "clock_gettime(id)")).is_empty());
    let tests = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn x() {\n        sleep();\n    }\n}\nsleep();\n";
    assert_eq!(
        lines(&wrong_places(&Source::of("runner/x.rs", tests))),
        [8],
        "tests may, what follows may not"
    );
}

#[test]
fn unsafe_without_a_reason_is_seen() {
    let text = "// SAFETY: it is.\nunsafe { good() };\nlet x = unsafe { bad() };\n// SAFETY: far away.\nlet y = 1;\n\
                unsafe { bad() };\n// no reason\nunsafe impl Sync for X {}\n// SAFETY: two\n// lines.\nunsafe impl Send for X {}\n\
                // SAFETY: of the whole statement.\nlet z =\n    unsafe { good() };\nlet z =\n    unsafe { bad() };\n";
    assert_eq!(lines(&unsafe_without_reason(&Source::of("sys/x.rs", text))), [3, 6, 8, 16]);
}

#[test]
fn a_mechanism_that_is_named_is_seen() {
    let text =
        "let a = \"pipe\";\nlet pipe = 1;\nlet b = \"piped\";\nif name == \"a pipe or so\" {}\n// \"pipe\"\n";
    assert_eq!(lines(&named_mechanisms(&Source::of("runner/x.rs", text), &["pipe"])), [1, 4]);
    assert!(named_mechanisms(&Source::of("transport/pipe.rs", text), &["pipe"]).is_empty());
}

#[test]
fn a_long_file_is_seen() {
    let long = "let x = 1;\n".repeat(MOST_LINES + 1);
    assert_eq!(too_long(&Source::of("cli/x.rs", &long)).len(), 1);
    let tested = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", &long[11..], long.replace("let", "    let"));
    assert!(too_long(&Source::of("cli/x.rs", &tested)).is_empty());
    assert_eq!(test_modules("#[cfg(test)]\nmod golden;\n#[cfg(test)]\nmod tests {\n}\n"), ["golden"]);
}
