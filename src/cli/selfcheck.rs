//! `selfcheck`: proof that the program is right on this machine, as a table.

use super::arguments::{Selfcheck as Arguments, TextOrJson};
use super::colour::{self, Paint};
use super::run::alone;
use super::{FAILED, UNDECIDED, WELL, output};
use crate::measure::clock::{Clock, Monotonic, MonotonicRaw};
use crate::record::Effort;
use crate::report::digits::counted;
use crate::report::escape;
use crate::runner::process::Processes;
use crate::runner::schedule;
use crate::runner::signals::Signals;
use crate::selfcheck::{Checked, Kind, Outcome, Row, Settings, selfcheck as check};
use anyhow::{Context, Result};
use serde::Serialize;
use std::fmt::Write;

/// The version that the JSON document carries.
const SCHEMA: &str = "ipcmatrix.selfcheck.v1";
const ROUNDS: u32 = 20;
/// The fewest with which a difference in one cell among many can be told from chance.
const QUICK_ROUNDS: u32 = 8;
/// All is over in three minutes.
const BUDGET_NS: u64 = 175 * 1_000_000_000;
/// Nothing stands in a column beyond so many letters; JSON has all of it.
const WIDEST: usize = 96;

/// The document.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    passed: bool,
    /// The signal that ended it, in a word.
    ended: Option<&'static str>,
    seed: u64,
    rounds: u32,
    rounds_wanted: u32,
    elapsed_s: f64,
    checks: &'a [Row],
}

/// Makes the checks, prints them, and returns the exit code.
///
/// # Errors
/// Another run that measures; what the reader of standard output refuses.
pub fn selfcheck(arguments: &Arguments) -> Result<u8> {
    let _held = alone(arguments.no_lock)?;
    let signals = Signals::watch().context("cannot watch for signals")?;
    let settings = settings(arguments);
    let mut begun = |round: u32| {
        if arguments.talk.tells_round(round) {
            output::say(&format!("round {round} of {}", settings.rounds));
        }
    };
    let checked = check(&settings, &mut Processes::new(&signals), [&Monotonic, &MonotonicRaw], &mut begun);
    output::print(&match arguments.format {
        TextOrJson::Text => text(&checked, &settings, Paint::stdout()),
        TextOrJson::Json => serde_json::to_string_pretty(&document(&checked, &settings))? + "\n",
    })?;
    Ok(match checked.caught {
        Some(caught) => caught.exit_code(),
        None if checked.is_well() && checked.is_undecided() => UNDECIDED,
        None if checked.is_well() => WELL,
        None => FAILED,
    })
}

fn settings(arguments: &Arguments) -> Settings {
    let usual = if arguments.quick { QUICK_ROUNDS } else { ROUNDS };
    let mixed_in = Monotonic.now_ns() ^ u64::from(std::process::id()).rotate_left(32);
    Settings {
        effort: if arguments.quick { Effort::QUICK } else { Effort::DEFAULT },
        rounds: arguments.rounds.unwrap_or(usual),
        budget_ns: BUDGET_NS,
        deadline_ms: arguments.deadline.as_millis() as u64,
        seed: arguments.seed.unwrap_or_else(|| schedule::fresh_seed(mixed_in)),
    }
}

fn document<'a>(checked: &'a Checked, settings: &Settings) -> Document<'a> {
    Document {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        passed: checked.is_well() && !checked.is_undecided() && checked.caught.is_none(),
        ended: checked.caught.map(|caught| caught.reason()),
        seed: settings.seed,
        rounds: checked.rounds,
        rounds_wanted: settings.rounds,
        elapsed_s: checked.elapsed_ns as f64 / 1e9,
        checks: &checked.rows,
    }
}

fn text(checked: &Checked, settings: &Settings, paint: Paint) -> String {
    let elapsed_s = checked.elapsed_ns as f64 / 1e9;
    let rounds = counted(checked.rounds as usize, "round");
    let seed = settings.seed;
    let mut text =
        format!("selfcheck: {rounds} in {elapsed_s:.0} s, seed {seed}; ranges are 95 % intervals\n");
    if let Some(caught) = checked.caught {
        let _ = writeln!(text, "{}: what follows is what was there until then", caught.reason());
    }
    if checked.rounds < settings.rounds && checked.caught.is_none() {
        let _ = writeln!(text, "no more of the {} rounds fitted into the time", settings.rounds);
    }
    text.push('\n');
    table(&mut text, &checked.rows, paint);
    let with = |outcome| checked.rows.iter().filter(|row| row.outcome == outcome).count();
    let _ = writeln!(
        text,
        "\n{} passed, {} failed, {} undecided, {} told, {} not tried",
        with(Outcome::Pass),
        with(Outcome::Fail),
        with(Outcome::Undecided),
        with(Outcome::Told),
        with(Outcome::NotTried)
    );
    advice(&mut text, &checked.rows);
    text
}

fn table(text: &mut String, rows: &[Row], paint: Paint) {
    let lines = rows.iter().map(|row| {
        [
            row.outcome.word().into(),
            row.check.word().into(),
            row.of.clone(),
            shown(&row.found),
            row.expected.clone(),
        ]
    });
    let head = ["outcome", "check", "of", "found", "expected"].map(String::from);
    let lines: Vec<[String; 5]> = std::iter::once(head).chain(lines).collect();
    let widths: [usize; 5] = std::array::from_fn(|column| {
        lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)
    });
    for line in &lines {
        let padded = line.iter().zip(widths).map(|(word, width)| format!("{word:<width$}"));
        let plain = padded.collect::<Vec<_>>().join("  ");
        let word = line[0].as_str();
        let rest = plain.trim_end().strip_prefix(word).unwrap_or_default();
        let _ = writeln!(text, "{}{rest}", coloured(word, paint));
    }
}

/// The word of an outcome, in its colour where it has one.
fn coloured(word: &str, paint: Paint) -> String {
    let style = [(Outcome::Pass, colour::GOOD), (Outcome::Fail, colour::BAD)];
    match style.into_iter().find(|(outcome, _)| outcome.word() == word) {
        Some((_, style)) => paint.word(style, word),
        None => word.to_owned(),
    }
}

/// What was found, in a line of a table.
fn shown(found: &str) -> String {
    let line = escape::line(found);
    match line.chars().count() > WIDEST {
        true => line.chars().take(WIDEST - 3).chain("...".chars()).collect(),
        false => line,
    }
}

/// What to do where something failed, each kind once, and where something stays open.
fn advice(text: &mut String, rows: &[Row]) {
    if rows.iter().any(|row| row.outcome == Outcome::Undecided) {
        let _ = writeln!(
            text,
            "undecided: the interval reaches into what is expected, and is too wide to tell: repeat it on a quieter machine or with more --rounds"
        );
    }
    let mut told: Vec<Kind> = Vec::new();
    for row in rows.iter().filter(|row| row.outcome == Outcome::Fail) {
        if !told.contains(&row.check) {
            told.push(row.check);
            let _ = writeln!(text, "{}: {}", row.check.word(), row.check.advice());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(check: Kind, outcome: Outcome, found: &str) -> Row {
        let (of, expected) = ("a cell".to_owned(), "all well".to_owned());
        Row { check, of, outcome, found: found.to_owned(), expected, figure: None, injected: None }
    }

    #[test]
    fn each_check_has_a_word_and_what_failed_has_advice_once() {
        let rows = vec![
            row(Kind::Same, Outcome::Pass, "+0.1 %"),
            row(Kind::Linear, Outcome::Fail, "2.1"),
            row(Kind::Linear, Outcome::Fail, &"x".repeat(200)),
            row(Kind::Fault, Outcome::NotTried, "an \u{1b}[31mescape"),
        ];
        let settings = Settings { effort: Effort::QUICK, rounds: 2, budget_ns: 0, deadline_ms: 1, seed: 7 };
        let text = text(
            &Checked { rounds: 1, elapsed_ns: 3_000_000_000, rows, caught: None },
            &settings,
            Paint::plain(),
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "selfcheck: 1 round in 3 s, seed 7; ranges are 95 % intervals");
        assert_eq!(lines[1], "no more of the 2 rounds fitted into the time");
        assert!(lines[3].starts_with("outcome    check   of      found"), "{text}");
        assert!(lines[4].starts_with("pass       a/a     a cell  +0.1 %"), "{text}");
        assert!(lines[6].contains("xxx...  all well"), "{text}");
        assert!(lines[7].starts_with("not tried  fault") && !text.contains('\u{1b}'), "{text}");
        assert_eq!(lines[9], "1 passed, 2 failed, 0 undecided, 0 told, 1 not tried");
        assert!(lines.len() == 11 && lines[10].starts_with("linear: batches of twice the length"), "{text}");
    }
}
