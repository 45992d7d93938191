//! How busy the machine was at the start.

use super::fact::{Fact, Found};
use super::tree::{Tree, unreadable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How busy the machine was at the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Activity {
    /// Mean number of runnable tasks over 1, 5 and 15 minutes (proc_loadavg(5)).
    pub load_average: Fact<[f64; 3]>,
    /// Pressure stall information of `cpu`, `io` and `memory`: the lines `some` and `full`.
    pub pressure: BTreeMap<String, Fact<BTreeMap<String, Pressure>>>,
}

/// The share of time in which tasks waited for a resource, in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pressure {
    /// Over the last 10 seconds, in percent.
    pub avg10: f64,
    /// Over the last 60 seconds, in percent.
    pub avg60: f64,
    /// Over the last 300 seconds, in percent.
    pub avg300: f64,
    /// Microseconds waited since boot.
    pub total_us: u64,
}

impl Activity {
    pub(super) fn read(tree: &Tree) -> Activity {
        let pressure = |name: &str| (name.to_string(), pressure(tree, name).into());
        Activity {
            load_average: load_average(tree).into(),
            pressure: ["cpu", "io", "memory"].into_iter().map(pressure).collect(),
        }
    }
}

fn load_average(tree: &Tree) -> Found<[f64; 3]> {
    let path = "/proc/loadavg";
    let text = tree.word(path)?;
    let loads: Vec<f64> = text.split_whitespace().take(3).filter_map(finite).collect();
    loads.try_into().map_err(|_| unreadable(path, &text))
}

fn pressure(tree: &Tree, name: &str) -> Found<BTreeMap<String, Pressure>> {
    let path = format!("/proc/pressure/{name}");
    let text = tree.word(&path)?;
    let lines: Option<_> = text.lines().map(pressure_line).collect();
    lines.ok_or_else(|| unreadable(&path, &text))
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`
fn pressure_line(line: &str) -> Option<(String, Pressure)> {
    let (kind, rest) = line.split_once(' ')?;
    let fields: BTreeMap<&str, &str> =
        rest.split_whitespace().filter_map(|word| word.split_once('=')).collect();
    let share = |name| fields.get(name).copied().and_then(finite);
    let total_us = fields.get("total")?.parse().ok()?;
    let pressure =
        Pressure { avg10: share("avg10")?, avg60: share("avg60")?, avg300: share("avg300")?, total_us };
    Some((kind.to_string(), pressure))
}

fn finite(word: &str) -> Option<f64> {
    word.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pressure_line_is_read_whole_or_not_at_all() {
        let (kind, pressure) =
            pressure_line("full avg10=1.50 avg60=0.20 avg300=0.01 total=42").expect("a line");
        assert_eq!(kind, "full");
        assert_eq!(pressure, Pressure { avg10: 1.5, avg60: 0.2, avg300: 0.01, total_us: 42 });
        assert!(pressure_line("some avg10=NaN avg60=0 avg300=0 total=1").is_none());
        assert!(pressure_line("some avg10=1").is_none());
    }
}
