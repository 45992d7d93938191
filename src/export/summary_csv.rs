//! Tidy CSV with one row a cell; that with one row a sample is the report's.

use super::Export;
use super::summary::{Mode, Number, Summary};
use crate::report::rows::{Fields, Rows};

/// The columns after the axes, named as in the JSON document: `value` is the figure in `unit`, with its 95 % interval
/// from `low` to `high`. Where visits fall into two modes, or were made under two conditions, these are empty, and each mode has its own.
const COLUMNS: &[&str] = &[
    "outcome",
    "value",
    "low",
    "high",
    "unit",
    "more_is_better",
    "ns_per_op",
    "ns_per_op_low",
    "ns_per_op_high",
    "grade",
    "visits",
    "effective_visits",
    "full_range",
    "mode_1_value",
    "mode_1_share",
    "mode_1_condition",
    "mode_2_value",
    "mode_2_share",
    "mode_2_condition",
    "least_ops",
    "most_ops",
    "oversubscribed",
    "net",
    "exact",
    "lost_share",
    "lost_lines_share",
    "flags",
    "warnings",
    "phase",
    "reason",
    "remedy",
];

/// One row a cell, in the order of the header.
pub fn summary_csv(export: &Export) -> String {
    let mut rows = Rows::new(COLUMNS);
    for cell in &export.cells {
        rows.push(&cell.cell, &[&fields(cell)]);
    }
    rows.text
}

fn fields(cell: &Summary) -> Fields {
    let mut fields: Fields = vec![
        ("outcome", cell.outcome.to_owned()),
        ("unit", cell.unit.clone().unwrap_or_default()),
        ("more_is_better", known(cell.more_is_better)),
        ("grade", cell.grade.clone().unwrap_or_default()),
        ("visits", cell.visits.to_string()),
        ("effective_visits", known(cell.effective_visits)),
        ("full_range", known(cell.full_range)),
        ("least_ops", known(cell.least_ops)),
        ("most_ops", known(cell.most_ops)),
        ("oversubscribed", known(cell.oversubscribed)),
        ("net", known(cell.net)),
        ("exact", known(cell.exact)),
        ("lost_share", known(cell.lost_share)),
        ("lost_lines_share", known(cell.lost_lines_share)),
        ("flags", cell.flags.join(" ")),
        ("warnings", cell.codes()),
    ];
    fields.extend(number(["value", "low", "high"], cell.figure));
    fields.extend(number(["ns_per_op", "ns_per_op_low", "ns_per_op_high"], cell.ns_per_op));
    let names = [
        ["mode_1_value", "mode_1_share", "mode_1_condition"],
        ["mode_2_value", "mode_2_share", "mode_2_condition"],
    ];
    fields.extend(names.into_iter().zip(&cell.modes).flat_map(|(names, own)| mode(names, own)));
    fields.extend(reasons(cell));
    fields
}

fn known(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn number([value, low, high]: [&'static str; 3], number: Option<Number>) -> Fields {
    vec![
        (value, known(number.map(|number| number.value))),
        (low, known(number.and_then(|number| number.low))),
        (high, known(number.and_then(|number| number.high))),
    ]
}

fn mode([value, share, condition]: [&'static str; 3], mode: &Mode) -> Fields {
    let named = mode.condition.unwrap_or_default().to_owned();
    vec![(value, mode.figure.value.to_string()), (share, mode.share.to_string()), (condition, named)]
}

/// Why there is no figure, or why some visits have none.
fn reasons(cell: &Summary) -> Fields {
    if let Some(failure) = &cell.failure {
        return vec![("phase", failure.phase.clone()), ("reason", failure.error.clone())];
    }
    let refused = cell.refused.as_ref().map(|refused| &refused.why);
    match cell.unavailable.as_ref().or(refused) {
        Some(why) => vec![("reason", why.reason.clone()), ("remedy", why.remedy.clone())],
        None => Vec::new(),
    }
}
