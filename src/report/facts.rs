//! What stands above the tables of a report: the facts of the run, and how to read what follows.

use super::cells::{Figure, Slot};
use super::digits::counted;
use super::escape::command;
use super::gates;
use super::load::Run;
use super::warnings::{self, Findings, Told};
use crate::cell::{Axis, Measure};
use crate::measure::stats::LEAST_VISITS;
use crate::record::{Outcome, Resumed, Visit};
use serde_json::Value;
use std::collections::BTreeSet;

/// The effort of a run with the book's counts.
const EXACT_EFFORT: &str = "exact";

/// How to read the tables.
pub(super) fn reading(run: &Run) -> Vec<String> {
    if run.header.effort == EXACT_EFFORT {
        return vec![exact(run)];
    }
    vec![
        format!(
            "± is the 95 % interval of the median over visits: its larger side, rounded up. Under {LEAST_VISITS} \
             visits there is none. Each number has the digits that its interval supports."
        ),
        "A visit is one fresh process and counts as one number: its fastest sample where interference can only \
         add time, its median sample elsewhere."
            .into(),
    ]
}

/// The counts of an exact run, of the measures that it has.
fn exact(run: &Run) -> String {
    let cells = || run.header.cells.iter().map(|planned| &planned.cell);
    let has = |measure: &&Measure| cells().any(|cell| cell.measure() == Some(**measure));
    let counts: Vec<String> =
        Measure::ALL.iter().filter(has).map(|measure| format!("of {}", exact_counts(*measure))).collect();
    let counts = match counts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "of the counts that were published".into(),
    };
    let alone = cells().any(|cell| matches!(cell.word(Axis::Call), "first" | "second"));
    let alone = if alone { " A first or second call is timed alone, once." } else { "" };
    format!(
        "Exact: the counts and the statistic that were published. Each figure is the mean {counts}, in one visit; there is \
         no interval.{alone}"
    )
}

/// What a visit of an exact run does for that measure.
pub fn exact_counts(measure: Measure) -> &'static str {
    match measure {
        Measure::Bandwidth => "5 loops of 10 MiB",
        Measure::RoundTrip => "3 runs of 10,000 round trips",
        Measure::Increment => "3 runs of 1,000,000 increments a worker",
        Measure::Wait => "3 runs of 100,000 calls",
        Measure::Serve => "3 runs of 40,000 requests",
        Measure::Operation => "3 runs of 1,000,000 operations a worker",
        Measure::Append => "1 run of 1,000,000 lines a worker",
    }
}

/// What was run and what came of it: label and text.
pub(super) fn facts(run: &Run, slots: &[Slot]) -> Vec<(&'static str, String)> {
    let header = &run.header;
    let mut facts = vec![
        ("command", command(&header.command)),
        ("begun", header.started.clone()),
        ("version", header.version.clone()),
        ("effort", header.effort.clone()),
        ("seed", header.seed.to_string()),
        ("cells", cells_fact(slots)),
        ("precision", precision_fact(slots, header.precision)),
        ("visits", visits_fact(run)),
        ("ended", ended_fact(run, slots)),
    ];
    // The text of the machine is escaped like any other by who renders it; older journals have none.
    facts.extend(
        header.machine_class.iter().map(|[class, line]| ("machine", format!("class {class}: {line}"))),
    );
    facts.extend(gates::fact(&gates::of_run(run, slots)).map(|text| ("gates", text)));
    facts.extend(log_fact(run).map(|text| ("log", text)));
    if !run.resumed.is_empty() {
        facts.push(("resumed", resumed_fact(&run.resumed)));
    }
    facts
}

/// When, on what machine, and how far the figures can be trusted.
pub(super) fn brief_facts(run: &Run, findings: &Findings, slots: &[Slot]) -> Vec<(&'static str, String)> {
    let verdict = warnings::facts(&mut Told::nothing(findings), slots);
    let wanted = |label: &str| matches!(label, "begun" | "machine" | "verdict" | "muted");
    let all = facts(run, slots).into_iter().chain(verdict);
    all.filter(|(label, _)| wanted(label)).collect()
}

/// What the lines of logs went through, as the system told it in the visits.
fn log_fact(run: &Run) -> Option<String> {
    const TOLD: [(&str, &str); 2] =
        [("file_system", "files on"), ("net.unix.max_dgram_qlen", "datagrams that a socket queues:")];
    let told = |(name, words): &(&str, &str)| {
        let values = run.visits.iter().filter_map(|visit| match &visit.outcome {
            Outcome::Measured(measured) => measured.effective.get(*name),
            _ => None,
        });
        let shown = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let values: Vec<String> = values.map(shown).collect::<BTreeSet<_>>().into_iter().collect();
        (!values.is_empty()).then(|| format!("{words} {}", values.join(", ")))
    };
    let all: Vec<String> = TOLD.iter().filter_map(told).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Where the run was interrupted and went on.
fn resumed_fact(breaks: &[Resumed]) -> String {
    let one = |resumed: &Resumed| {
        let dropped =
            if resumed.dropped_bytes > 0 { ", with a last line that was cut off and is dropped" } else { "" };
        format!("{} after {}{dropped}", resumed.resumed, counted(resumed.visits as usize, "visit"))
    };
    let all: Vec<String> = breaks.iter().map(one).collect();
    format!("{}; the time of a break does not count", all.join("; "))
}

fn cells_fact(slots: &[Slot]) -> String {
    let count = |word: &str| slots.iter().filter(|slot| slot.word() == word).count();
    let mut text = format!(
        "{}: {} measured, {} unavailable, {} failed",
        slots.len(),
        count("measured"),
        count("unavailable"),
        count("failed")
    );
    if count("not_visited") > 0 {
        text += &format!(", {} not visited", count("not_visited"));
    }
    text
}

/// How many measured cells reached the precision, by nanoseconds an operation as the runner decides.
fn precision_fact(slots: &[Slot], precision: f64) -> String {
    if slots.contains(&Slot::Works) {
        return "no figure is shown: a test only sees that every cell works".into();
    }
    let figures: Vec<&Figure> = slots.iter().filter_map(Slot::figure).collect();
    if figures.iter().any(|figure| figure.exact) {
        return "no interval: one visit a cell, as in the book".into();
    }
    let reached = figures.iter().filter(|figure| figure.reaches(precision)).count();
    let below = below_resolution(slots);
    let text = format!(
        "±{}% reached by {reached} of {}",
        (precision * 1e6).round() / 1e4,
        counted(figures.len() + below, "measured cell")
    );
    if below > 0 { format!("{text}; {below} below resolution, with no interval") } else { text }
}

fn below_resolution(slots: &[Slot]) -> usize {
    slots.iter().filter(|slot| matches!(slot, Slot::BelowResolution { .. })).count()
}

pub(super) fn visits_fact(run: &Run) -> String {
    let visits = run.visits.len();
    let last_end = |visit: &Visit| visit.begin_ns.saturating_add(visit.duration_ns);
    let seconds = match &run.end {
        Some(end) => end.elapsed_s,
        None => run.visits.iter().map(last_end).max().unwrap_or(0) as f64 / 1e9,
    };
    format!("{visits} in {seconds:.1} s")
}

pub(super) fn ended_fact(run: &Run, slots: &[Slot]) -> String {
    let reason = run.end.as_ref().map(|end| end.reason.as_str());
    let text = match reason {
        Some("done") => done(slots, run.header.precision),
        Some("budget") => "the time budget was spent".into(),
        Some("rounds") => "every round was made".into(),
        Some(reason @ ("interrupted" | "terminated")) => format!("partial: {reason} by a signal"),
        Some(other) => other.into(),
        None => "partial: the journal has no end, so the run was killed or still goes on".to_string(),
    };
    if run.torn_line { format!("{text}; its last line was cut off and is dropped") } else { text }
}

/// Why no cell wanted another visit: all are precise enough, or another one would have given nothing.
fn done(slots: &[Slot], precision: f64) -> String {
    let mut figures = slots.iter().filter_map(Slot::figure).peekable();
    let failed = slots.iter().filter(|slot| matches!(slot, Slot::Failed(_))).count();
    let any = figures.peek().is_some() && below_resolution(slots) == 0;
    let all_reached = any && figures.all(|figure| figure.reaches(precision));
    let reached =
        if all_reached { "every measured cell reached the precision" } else { "no cell was left to measure" };
    let failed = if failed > 0 { format!("; {} failed", counted(failed, "cell")) } else { String::new() };
    format!("done: {reached}{failed}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::load::parse_run;

    #[test]
    fn a_cell_below_resolution_did_not_reach_the_precision() {
        let journal = include_bytes!("../../tests/golden/small.jsonl");
        let run = parse_run(journal, "j.jsonl").unwrap();
        let slots = crate::report::cells::slots(&run, crate::report::metric::Metric::Figure);
        let measured = slots.iter().filter(|slot| slot.figure().is_some()).count();
        let below = Slot::BelowResolution { raw_ns: 1.0, twin_ns: 1.0 };
        let with_it = [slots, vec![below.clone()]].concat();
        let fact = precision_fact(&with_it, 0.03);
        assert!(
            fact.ends_with(&format!(
                "of {} measured cells; 1 below resolution, with no interval",
                measured + 1
            )),
            "{fact}"
        );
        let precise: Vec<Slot> = with_it
            .iter()
            .filter(|slot| slot.figure().is_some_and(|figure| figure.reaches(9.0)))
            .cloned()
            .collect();
        assert!(done(&precise, 9.0).contains("every measured cell"));
        assert!(done(&[precise, vec![below]].concat(), 9.0).contains("no cell was left"));
    }

    #[test]
    fn a_break_is_a_fact() {
        let journal = include_bytes!("../../tests/golden/small.jsonl");
        let mut run = parse_run(journal, "j.jsonl").unwrap();
        let fact = |run: &Run| facts(run, &[]).into_iter().find(|(label, _)| *label == "resumed");
        assert_eq!(fact(&run), None);
        let resumed =
            |visits, dropped_bytes| Resumed { resumed: format!("day {visits}"), visits, dropped_bytes };
        run.resumed = vec![resumed(1, 0), resumed(3, 9)];
        let expected = "day 1 after 1 visit; day 3 after 3 visits, with a last line that was cut off and is dropped; the \
                        time of a break does not count";
        assert_eq!(fact(&run), Some(("resumed", expected.to_owned())));
    }
}
