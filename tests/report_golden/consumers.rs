//! Exports by the published shapes of their readers, strictly: what a reader does not know is as wrong as what it misses.
//!
//! Neither reader can be had from a registry of packages. github-action-benchmark 1.22.0 read the lists of `small` and of the
//! published run by hand, every entry of them.

use super::export::made;
use super::run;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

const RUNS: [&str; 2] = ["small", "hostile"];

/// A metric of the Bencher Metric Format: <https://bencher.dev/docs/reference/bencher-metric-format>.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Metric {
    value: f64,
    lower_value: Option<f64>,
    upper_value: Option<f64>,
}

/// The names and values of a document, or what is wrong with it.
fn bmf(text: &str) -> Result<BTreeMap<String, BTreeMap<String, Metric>>, String> {
    let document: BTreeMap<String, BTreeMap<String, Metric>> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    for (benchmark, measures) in &document {
        // The lengths stand in the same page; that ending would mute alerts.
        let fits = !benchmark.trim().is_empty() && benchmark.chars().count() <= 1024;
        if !fits || benchmark.ends_with("bencher-ignore") || measures.is_empty() {
            return Err(format!("benchmark {benchmark:?}"));
        }
        for (measure, metric) in measures {
            let letters =
                |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
            let slug = (1..=64).contains(&measure.len()) && measure.chars().all(letters);
            let low = metric.lower_value.is_none_or(|low| low <= metric.value);
            let high = metric.upper_value.is_none_or(|high| metric.value <= high);
            if !(slug && low && high) {
                return Err(format!("measure {measure:?} of {benchmark:?}"));
            }
        }
    }
    Ok(document)
}

/// An entry of `customSmallerIsBetter` and `customBiggerIsBetter`: the README of
/// <https://github.com/benchmark-action/github-action-benchmark>.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    range: Option<String>,
    extra: Option<String>,
}

/// The entries of a list, or what is wrong with it.
fn github_action(text: &str) -> Result<Vec<Entry>, String> {
    let entries: Vec<Entry> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let mut names = BTreeSet::new();
    for entry in &entries {
        let number = |range: &String| {
            range.strip_prefix("± ").and_then(|side| side.parse::<f64>().ok()).is_some_and(|side| side >= 0.0)
        };
        let texts = !entry.name.is_empty() && !entry.unit.is_empty() && entry.extra.as_deref() != Some("");
        // An entry is compared with the first one of its name in an earlier list.
        if !texts || !entry.range.as_ref().is_none_or(number) || !names.insert(&entry.name) {
            return Err(format!("{:?}, range {:?}, value {}", entry.name, entry.range, entry.value));
        }
    }
    Ok(entries)
}

#[test]
fn bencher_is_given_what_it_reads() {
    for name in RUNS {
        let document = bmf(&made(&run(name), "bmf.json")).unwrap();
        assert!(!document.is_empty(), "{name}");
        for (benchmark, measures) in document {
            let wanted: &[&str] = if benchmark.starts_with("bandwidth/") {
                &["bytes-per-second", "latency"]
            } else {
                &["latency"]
            };
            assert!(measures.keys().eq(wanted), "{benchmark}: {:?}", measures.keys());
        }
    }
}

#[test]
fn github_action_benchmark_is_given_what_it_reads() {
    for name in RUNS {
        let [smaller, bigger] = ["smaller.json", "bigger.json"].map(|list| {
            github_action(&made(&run(name), list)).unwrap_or_else(|wrong| panic!("{list}: {wrong}"))
        });
        let names: BTreeSet<&String> = smaller.iter().chain(&bigger).map(|entry| &entry.name).collect();
        assert_eq!(names.len(), smaller.len() + bigger.len(), "a figure stands in one list");
        let document = bmf(&made(&run(name), "bmf.json")).unwrap();
        assert!(names.into_iter().eq(document.keys()), "{name}: the same cells by the same names");
    }
}

#[test]
fn other_shapes_are_refused() {
    for wrong in [
        "[]",
        r#"{"a": {}}"#,
        r#"{"a": {"latency": {"lower_value": 1.0}}}"#,
        r#"{"a": {"latency": {"value": "1"}}}"#,
        r#"{"a": {"latency": {"value": 1, "upper_value": 0.5}}}"#,
        r#"{"a": {"latency": {"value": 1, "unit": "ns"}}}"#,
        r#"{"a": {"Latency (ns)": {"value": 1}}}"#,
    ] {
        assert!(bmf(wrong).is_err(), "{wrong}");
    }
    for wrong in [
        "{}",
        r#"[{"name": "a", "value": 1}]"#,
        r#"[{"name": "a", "unit": "s", "value": null}]"#,
        r#"[{"name": "a", "unit": "s", "value": 1, "range": 0.1}]"#,
        r#"[{"name": "a", "unit": "s", "value": 1, "range": "0.1"}]"#,
        r#"[{"name": "a", "unit": "s", "value": 1, "low": 0.1}]"#,
        r#"[{"name": "a", "unit": "s", "value": 1}, {"name": "a", "unit": "s", "value": 2}]"#,
    ] {
        assert!(github_action(wrong).is_err(), "{wrong}");
    }
}
