//! The text format that Prometheus and OpenMetrics share, for the textfile collector of the node exporter: base units,
//! help and type once a name, no timestamps.
//!
//! Source: prometheus.io/docs/instrumenting/exposition_formats. Every metric is a gauge. Without the `# EOF` that
//! OpenMetrics ends with, as the textfile collector would read no other file's metrics behind it.

use super::Export;
use super::bmf::bytes_per_second;
use super::summary::{Number, Summary, Warning};
use crate::cell::{Axis, Measure};
use std::fmt::Write;

/// What stands above the values of one name.
fn head(name: &str, help: &str) -> String {
    format!("# HELP {name} {help}\n# TYPE {name} gauge\n")
}

/// Every cell, whatever came of it.
pub fn openmetrics(export: &Export) -> String {
    let mut text = run(export);
    text += &family("ipcmatrix_cell_info", "What came of a cell; always 1.", export, |cell| {
        vec![(told(cell), 1.0)]
    });
    text += &family("ipcmatrix_cell_visits", "Visits made of a cell.", export, |cell| {
        vec![(Vec::new(), cell.visits as f64)]
    });
    let help = "Visits that a warning is about: all measured ones where it is about their figure.";
    text += &family("ipcmatrix_cell_warning_visits", help, export, warnings);
    let seconds = |cell: &Summary| cell.ns_per_op.map(Number::seconds);
    text += &numbers(export, "operation", "seconds", "elapsed time an operation of a worker", &seconds);
    let bandwidth = |cell: &Summary| {
        let ns = cell.ns_per_op.filter(|_| cell.measure() == Some(Measure::Bandwidth))?;
        Some(bytes_per_second(ns, cell.cell.count(Axis::MessageBytes)))
    };
    text += &numbers(export, "bandwidth", "bytes_per_second", "payload moved", &bandwidth);
    let help = "Elapsed time an operation, by each of two modes or conditions into which the visits fall.";
    text += &family("ipcmatrix_mode_seconds", help, export, |cell| {
        modes(cell, |mode| mode.ns_per_op.seconds().value)
    });
    text += &family("ipcmatrix_mode_ratio", "The part of the visits that is in the mode.", export, |cell| {
        modes(cell, |mode| mode.share)
    });
    text
}

type Labels = Vec<(&'static str, String)>;

fn modes(cell: &Summary, value: impl Fn(&super::summary::Mode) -> f64) -> Vec<(Labels, f64)> {
    let labels = |index: usize, mode: &super::summary::Mode| {
        let condition = mode.condition.map(|condition| ("condition", condition.to_owned()));
        std::iter::once(("mode", (index + 1).to_string())).chain(condition).collect()
    };
    cell.modes.iter().enumerate().map(|(index, mode)| (labels(index, mode), value(mode))).collect()
}

fn warnings(cell: &Summary) -> Vec<(Labels, f64)> {
    let one = |warning: &Warning| {
        (vec![("code", warning.code.to_owned())], warning.visits.unwrap_or(cell.measured_visits()) as f64)
    };
    cell.warnings.iter().map(one).collect()
}

/// What came of a cell, in words.
fn told(cell: &Summary) -> Labels {
    let mut labels = vec![("outcome", cell.outcome.to_owned())];
    labels.extend(cell.grade.iter().map(|grade| ("grade", grade.clone())));
    if let Some(why) = &cell.unavailable {
        labels.push(("reason", why.reason.clone()));
    }
    if let Some(failure) = &cell.failure {
        labels.push(("reason", format!("{}: {}", failure.phase, failure.error)));
    }
    labels
}

/// The median and the ends of its interval, a name each.
fn numbers(
    export: &Export,
    what: &str,
    unit: &str,
    help: &str,
    of: &dyn Fn(&Summary) -> Option<Number>,
) -> String {
    let one = |name: String, help: String, part: fn(Number) -> Option<f64>| {
        family(&name, &help, export, |cell| {
            of(cell).and_then(part).map(|value| (Vec::new(), value)).into_iter().collect()
        })
    };
    let capital = |text: String| text[..1].to_uppercase() + &text[1..];
    one(format!("ipcmatrix_{what}_{unit}"), capital(format!("{help}, median over the visits.")), |number| {
        Some(number.value)
    }) + &one(
        format!("ipcmatrix_{what}_low_{unit}"),
        format!("The lower end of its 95 % interval: {help}."),
        |number| number.low,
    ) + &one(
        format!("ipcmatrix_{what}_high_{unit}"),
        format!("The upper end of its 95 % interval: {help}."),
        |number| number.high,
    )
}

/// A name with its values; nothing where it has none.
fn family(
    name: &str,
    help: &str,
    export: &Export,
    values: impl Fn(&Summary) -> Vec<(Labels, f64)>,
) -> String {
    let mut text = head(name, help);
    let before = text.len();
    for cell in &export.cells {
        for (labels, value) in values(cell) {
            let axes = cell.cell.axes().map(|(axis, value)| (axis.name(), value.to_string()));
            push(&mut text, name, axes.chain(labels), value);
        }
    }
    if text.len() > before { text } else { String::new() }
}

/// The run itself.
fn run(export: &Export) -> String {
    let header = &export.run.header;
    let name = "ipcmatrix_run_info";
    let mut text = head(name, "What was run; always 1.");
    let class = header.machine_class.as_ref().map(|[class, _]| ("machine_class", class.clone()));
    let ended = export.run.end.as_ref().map(|end| ("ended", end.reason.clone()));
    let labels = [
        ("version", header.version.clone()),
        ("matrices", header.matrices.join(" ")),
        ("effort", header.effort.clone()),
    ];
    push(&mut text, name, labels.into_iter().chain(class).chain(ended), 1.0);
    if let Ok(started) = header.started.parse::<jiff::Timestamp>() {
        let name = "ipcmatrix_run_start_timestamp_seconds";
        text += &head(name, "When the run began, seconds since 1970.");
        push(&mut text, name, std::iter::empty(), started.as_second() as f64);
    }
    text
}

fn push(text: &mut String, name: &str, labels: impl Iterator<Item = (&'static str, String)>, value: f64) {
    let labels: Vec<String> =
        labels.map(|(label, value)| format!("{label}=\"{}\"", escaped(&value))).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    let _infallible = writeln!(text, "{name}{labels} {value:?}");
}

/// A label's value: backslash, quote and line feed are the three that have to be escaped.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
