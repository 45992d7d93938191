//! The comparison of stored runs for programs.

use super::Compared;
use crate::compare::stored::{Row, Stored};
use crate::compare::{FALSE_DISCOVERIES, Reason, Verdict};
use crate::measure::stats::Interval;
use crate::report::gates::Checked;
use serde_json::{Map, Value, json};

/// The version that the document carries.
pub const SCHEMA: &str = "ipcmatrix.compare.v1";

/// The comparison as one JSON document. Times are nanoseconds an operation; a ratio is that of times, new over base.
///
/// # Errors
/// Where a number has no JSON form; none of those here lacks one.
pub fn json(compared: &Compared) -> serde_json::Result<String> {
    let mean = compared.comparison.mean_ratio();
    let counts: Map<String, Value> =
        compared.counts().into_iter().map(|(word, count)| (word.replace(' ', "_"), json!(count))).collect();
    let document = json!({
        "schema": SCHEMA,
        "base": compared.base.iter().map(run).collect::<Vec<_>>(),
        "new": compared.new.iter().map(run).collect::<Vec<_>>(),
        "allowed": compared.allowed,
        "false_discoveries": FALSE_DISCOVERIES,
        "floors_from": compared.floors_from,
        "verdicts": counts,
        "mean_ratio": mean.map(|(ratio, _)| ratio),
        "mean_over": mean.map_or(0, |(_, cells)| cells),
        "suspect_machine_change": compared.comparison.suspect().is_some(),
        "cells": compared.comparison.rows.iter().map(cell).collect::<Vec<_>>(),
        "gates": compared.gates.iter().map(Checked::json).collect::<Vec<_>>(),
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn run(run: &Stored) -> Value {
    json!({
        "run": run.name,
        "version": run.version,
        "effort": run.effort,
        "machine_class": run.machine.as_ref().map(|[class, _]| class),
    })
}

fn cell(row: &Row) -> Value {
    let mut cell = Map::new();
    cell.insert("cell".into(), json!(row.cell));
    cell.insert("stratum".into(), json!(row.stratum.map(|stratum| stratum.word())));
    cell.insert("verdict".into(), row.word().replace(' ', "_").into());
    let Ok(found) = &row.found else {
        cell.insert("reason".into(), row.why().into());
        return cell.into();
    };
    let ratios =
        |interval: Option<Interval>| interval.map(|interval| [interval.low.exp(), interval.high.exp()]);
    let needed = match found.judged.verdict {
        Verdict::Undecided(Reason::MoreNeeded(runs)) => Some(runs),
        _ => None,
    };
    let facts = json!({
        "base_ns": found.base.values,
        "new_ns": found.new.values,
        "ratio": found.effect.log_ratio.exp(),
        "ratio_interval_95": ratios(found.effect.interval_95),
        "ratio_interval_90": ratios(found.effect.interval_90),
        "p": found.effect.p,
        "q": found.judged.q,
        "least_ratio": found.margin.least.exp(),
        "floor_ratio": found.margin.floor.map(f64::exp),
        "runs_needed": needed,
        "net": found.net,
        "remarks": found.remarks,
    });
    if let Value::Object(facts) = facts {
        cell.extend(facts);
    }
    cell.into()
}
