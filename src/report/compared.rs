//! The comparison of stored runs in words, and as one JSON document.

mod json;
mod tables;

pub use json::{SCHEMA, json};

use super::digits::counted;
use super::document::Document;
use super::gates::{self, Checked};
use crate::cell::Axis;
use crate::compare::FALSE_DISCOVERIES;
use crate::compare::stored::{Comparison, LEAST_RUNS, SUSPECT_FROM, Stored};
use std::collections::BTreeSet;

/// A comparison with what it was made of.
pub struct Compared<'a> {
    /// The runs that are compared with.
    pub base: &'a [Stored],
    /// The runs that are compared.
    pub new: &'a [Stored],
    /// What came of it.
    pub comparison: &'a Comparison,
    /// The limits of the gates, judged.
    pub gates: &'a [Checked],
    /// What was let pass: `machine`, `effort`, `effective`.
    pub allowed: Vec<&'static str>,
    /// Where noise floors come from, and what came of it.
    pub floors_from: String,
}

/// The words for what came of a row, in the order in which they are counted.
const WORDS: &[&str] = &[
    "regression",
    "improvement",
    "equal",
    "inconclusive",
    "failed",
    "refused",
    "unavailable",
    "not measured",
    "only in base",
    "only in new",
];

/// No more runs of a side than this are named.
const MOST_NAMED: usize = 6;

impl Compared<'_> {
    /// How many rows have each word; the first four are always told.
    fn counts(&self) -> Vec<(&'static str, usize)> {
        let count = |word: &str| self.comparison.rows.iter().filter(|row| row.word() == word).count();
        let all = WORDS.iter().enumerate().map(|(place, word)| (place, *word, count(word)));
        all.filter(|(place, _, count)| *place < 4 || *count > 0)
            .map(|(_, word, count)| (word, count))
            .collect()
    }

    fn runs(&self) -> impl Iterator<Item = &Stored> {
        self.base.iter().chain(self.new)
    }
}

/// The comparison as a document: a row a cell, or cells by a row and a column axis.
pub fn document(compared: &Compared, axes: Option<(Axis, Axis)>) -> Document {
    let mut sheets = tables::sheets(compared, axes);
    sheets.extend(gates::sheet(compared.gates));
    Document {
        title: "ipcmatrix: stored runs compared".into(),
        facts: facts(compared),
        reading: reading(),
        sheets,
    }
}

fn facts(compared: &Compared) -> Vec<(&'static str, String)> {
    let distinct = |of: fn(&Stored) -> String| {
        let all: BTreeSet<String> = compared.runs().map(of).collect();
        all.into_iter().collect::<Vec<_>>().join("; ")
    };
    let counts: Vec<String> =
        compared.counts().iter().map(|(word, count)| format!("{count} {word}")).collect();
    let mut facts = vec![
        ("base", named(compared.base)),
        ("new", named(compared.new)),
        ("verdicts", format!("{}: {}", counted(compared.comparison.rows.len(), "cell"), counts.join(", "))),
    ];
    facts.extend(compared.comparison.mean_ratio().map(|(ratio, cells)| {
        let cells = counted(cells, "cell");
        (
            "mean",
            format!(
                "new takes {ratio:.3} times the time of base: geometric mean over {cells} that both have"
            ),
        )
    }));
    facts.extend(compared.comparison.suspect().map(|count| ("suspect", suspicion(count))));
    if !compared.gates.is_empty() {
        facts.push(("gates", gates::counts(compared.gates)));
    }
    facts.extend([
        ("floors", compared.floors_from.clone()),
        ("effort", distinct(|run| run.effort.clone())),
        ("version", distinct(|run| run.version.clone())),
        (
            "machine",
            distinct(|run| {
                run.machine
                    .as_ref()
                    .map_or("class unknown".into(), |[class, line]| format!("class {class}: {line}"))
            }),
        ),
    ]);
    if !compared.allowed.is_empty() {
        facts.push(("allowed", format!("may differ: {}", compared.allowed.join(", "))));
    }
    facts
}

fn suspicion(count: usize) -> String {
    format!(
        "machine change: all {count} differences have one direction ({SUSPECT_FROM} or more are suspect). Look at cells that \
         the change cannot touch, and measure both sides interleaved (`ipcmatrix ab`)"
    )
}

fn named(runs: &[Stored]) -> String {
    let mut names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
    if names.len() > MOST_NAMED {
        names.splice(MOST_NAMED - 2..names.len() - 1, ["..."]);
    }
    format!("{}: {}", counted(runs.len(), "run"), names.join(", "))
}

fn reading() -> Vec<String> {
    vec![
        format!(
            "The ratio is that of times, new over base, so above 1 new is slower, also where the figures are rates. With \
             {LEAST_RUNS} runs a side or more it has its 95 % interval and is tested: one number a run, Welch's t on \
             logarithms. With fewer the shift from run to run cannot be told from a change: it is inconclusive unless it is \
             above the calibrated noise floor of the cell."
        ),
        format!(
            "Equal: the 90 % interval lies within the least effect of interest (5 % where only additional time disturbs, else \
             10 %, or --least). Regression, improvement: q, which is p after Benjamini and Hochberg over all cells, is at most \
             {FALSE_DISCOVERIES}, and the effect is above the noise floor where one is known. Figures are the median over \
             runs, or that of the one run with its 95 % interval."
        ),
    ]
}
