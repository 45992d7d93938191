//! The comparison of two arms for programs.

use super::{Row, remarks, rows, unwatched, word_of};
use crate::compare::{Reason, Verdict};
use crate::measure::stats::Interval;
use crate::report::cells::{Slot, slots};
use crate::report::gates::{self, Checked};
use crate::report::load::Run;
use crate::report::metric::Metric;
use crate::report::warnings::{Code, Codes, Findings, verdict};
use serde_json::{Map, Value, json};

/// The version that the document carries.
pub const SCHEMA: &str = "ipcmatrix.ab.v1";

/// The comparison as one JSON document. Times are nanoseconds an operation; a ratio is that of times, arm b over arm a.
///
/// # Errors
/// Where a number has no JSON form; none of those here lacks one.
pub fn json(run: &Run, muted: Codes) -> serde_json::Result<String> {
    let header = &run.header;
    let slots = slots(run, Metric::Figure);
    let findings = Findings::of(run, muted);
    let rows = rows(run);
    let document = json!({
        "schema": SCHEMA,
        "version": header.version,
        "command": header.command,
        "matrices": header.matrices,
        "started": header.started,
        "ended": run.end.as_ref().map(|end| end.reason.as_str()),
        "machine_class": header.machine_class,
        "seed": header.seed,
        "arms": header.arms,
        "muted": muted.iter().map(|code| code.detector().code).collect::<Vec<_>>(),
        "verdict": verdict(&findings, &slots).map(|verdict| verdict.json()),
        "gates": gates::of_run(run, &slots).iter().map(Checked::json).collect::<Vec<_>>(),
        "gates_not_judged": unwatched(&header.gates).collect::<Vec<_>>(),
        "cells": rows.iter().map(|row| cell(row, &findings, &slots)).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

/// The codes of an arm of a pair: a number of visits each, or none where a code is about the figure.
fn warnings(cell: usize, findings: &Findings, slots: &[Slot]) -> Vec<Value> {
    let one =
        |(code, visits): (Code, Option<usize>)| json!({ "code": code.detector().code, "visits": visits });
    findings.told_of(cell, slots[cell].figure()).into_iter().map(one).collect()
}

fn cell(row: &Row, findings: &Findings, slots: &[Slot]) -> Value {
    let mut cell = Map::new();
    cell.insert("a".into(), json!(row.pair.a));
    cell.insert("b".into(), json!(row.pair.b));
    cell.insert("verdict".into(), word_of(row).into());
    cell.insert("remarks".into(), remarks(row).into());
    let [a, b] = row.cells.map(|cell| warnings(cell, findings, slots));
    cell.insert("warnings".into(), json!({ "a": a, "b": b }));
    let Ok(found) = &row.pair.found else { return cell.into() };
    let ends = |interval: Option<Interval>| interval.map(|interval| [interval.low, interval.high]);
    let ratios =
        |interval: Option<Interval>| interval.map(|interval| [interval.low.exp(), interval.high.exp()]);
    let needed = match row.judged.map(|judged| judged.verdict) {
        Some(Verdict::Undecided(Reason::MoreNeeded(rounds))) => Some(rounds),
        _ => None,
    };
    let facts = json!({
        "a_ns": found.a_ns.value,
        "a_ns_interval_95": ends(found.a_ns.interval),
        "b_ns": found.b_ns.value,
        "b_ns_interval_95": ends(found.b_ns.interval),
        "rounds": found.log_ratios.len(),
        "ratio": found.effect.log_ratio.exp(),
        "ratio_interval_95": ratios(found.effect.interval_95),
        "ratio_interval_90": ratios(found.effect.interval_90),
        "p": found.effect.p,
        "q": row.judged.and_then(|judged| judged.q),
        "least_ratio": found.margin.least.exp(),
        "floor_ratio": found.margin.floor.map(f64::exp),
        "rounds_needed": needed,
    });
    if let Value::Object(facts) = facts {
        cell.extend(facts);
    }
    cell.into()
}
