//! Hosts of a class of machine that lie apart from the others.
//!
//! A host's place is the median, over the cells that it shares with others, of the logarithm of its time over the median of all
//! hosts. It lies apart where that is more than [`DEVIATIONS`] times 1.4826 times the median absolute deviation of all hosts
//! away from their median, and more than [`LEAST_APART`]. Iglewicz & Hoaglin 1993 have 3.5 for this score.

use super::{ByCell, figures};
use crate::compare::stored::Stored;
use crate::measure::stats::median;
use crate::report::digits::counted;
use std::collections::BTreeMap;
use std::path::Path;

/// Hosts of a class from which on one of them can lie apart.
pub const LEAST_HOSTS: usize = 5;
/// Deviations from which on it does.
pub const DEVIATIONS: f64 = 3.5;
/// The least difference that is told, as a part.
pub const LEAST_APART: f64 = 0.05;

/// How to read what is said of hosts.
pub const READING: &str = "The host of a run is the folder in which the run's folder stands. With five hosts of a class or more, one is an outlier where \
                           its times, in the median over cells, lie over 3.5 robust deviations (1.4826 x MAD) and over 5 % from the median host.";

/// The host of a run: the folder that the run's own folder stands in, as names of machines are not recorded.
pub fn host(run: &str) -> String {
    let parent = Path::new(run).parent().and_then(Path::file_name);
    parent.map_or_else(|| ".".into(), |name| name.to_string_lossy().into_owned())
}

/// What is to be said of the hosts of a class: those that lie apart, and by how much.
pub fn facts(class: &str, runs: &[&Stored], cells: &ByCell) -> Vec<(&'static str, String)> {
    let names: Vec<String> = runs.iter().map(|run| host(&run.name)).collect();
    let places = places(&names, cells);
    let scores: Vec<f64> = places.iter().map(|(_, (score, _))| *score).collect();
    let Some((middle, limit)) = limit(&scores) else { return Vec::new() };
    let apart = places.iter().filter(|(_, (score, _))| (score - middle).abs() > limit);
    let mut facts = Vec::new();
    for (name, (score, cells)) in apart {
        let times = (score - middle).exp();
        let cells = counted(*cells, "cell");
        facts.push(("outlier", format!("host {name} of class {class} takes {times:.2} times the time of the median host, in the median over {cells}")));
    }
    facts
}

/// The median of the scores, and how far from it one lies apart; `None` with too few hosts.
fn limit(scores: &[f64]) -> Option<(f64, f64)> {
    let middle = median(scores).filter(|_| scores.len() >= LEAST_HOSTS)?;
    let deviations: Vec<f64> = scores.iter().map(|score| (score - middle).abs()).collect();
    let robust = DEVIATIONS * 1.4826 * median(&deviations)?;
    Some((middle, robust.max((1.0 + LEAST_APART).ln())))
}

/// The place of each host, and the number of cells that it is of.
fn places<'a>(names: &'a [String], cells: &ByCell) -> BTreeMap<&'a str, (f64, usize)> {
    let mut logs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for had in cells {
        let mut of_hosts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for (at, estimate) in figures(had) {
            of_hosts.entry(&names[at]).or_default().push(estimate.value);
        }
        let medians: Vec<(&str, f64)> =
            of_hosts.iter().filter_map(|(name, values)| Some((*name, median(values)?))).collect();
        let values: Vec<f64> = medians.iter().map(|(_, value)| *value).collect();
        let Some(middle) = median(&values).filter(|middle| *middle > 0.0 && values.len() > 1) else {
            continue;
        };
        for (name, value) in medians.into_iter().filter(|(_, value)| *value > 0.0) {
            logs.entry(name).or_default().push((value / middle).ln());
        }
    }
    logs.into_iter().filter_map(|(name, logs)| Some((name, (median(&logs)?, logs.len())))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_the_folder_above_that_of_the_run() {
        assert_eq!(["fleet/h1/run-3", "h1/run", "run", "/a/b"].map(host), ["h1", "h1", ".", "a"]);
    }

    #[test]
    fn one_host_of_five_lies_apart_by_both_rules() {
        let outliers = |scores: &[f64]| {
            let Some((middle, limit)) = limit(scores) else { return Vec::new() };
            (0..scores.len()).filter(|at| (scores[*at] - middle).abs() > limit).collect::<Vec<_>>()
        };
        assert_eq!(outliers(&[0.0, 0.01, -0.01, 0.005, 0.3]), [4]);
        assert!(outliers(&[0.0, 0.01, -0.01, 0.3]).is_empty(), "four are too few to tell");
        assert!(outliers(&[0.0, 0.0, 0.0, 0.0, 0.04]).is_empty(), "under 5 % nobody cares");
        assert!(outliers(&[-0.3, -0.2, 0.0, 0.2, 0.3]).is_empty(), "all lie apart, so none does");
        assert_eq!(outliers(&[0.0, 0.01, -0.01, 0.005, 0.3, -0.4]), [4, 5]);
    }
}
