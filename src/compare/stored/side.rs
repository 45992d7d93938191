//! One side of a comparison: the runs that have a figure of a cell.

use super::{Apart, Had, Reduced, Stored};
use crate::measure::stats::{Estimate, median};
use std::collections::BTreeSet;

/// The figures of the runs of a side.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// Nanoseconds an operation, one number a run.
    pub values: Vec<f64>,
    /// The figure that is shown: that of the run where it is one, else the median over the runs. Nanoseconds an operation.
    pub shown: Option<Estimate>,
}

impl Side {
    /// Of whole runs.
    pub(super) fn of(runs: &[&Reduced], net: bool) -> Side {
        let estimates: Vec<Estimate> = runs.iter().map(|run| ns(run, net)).collect();
        Side::of_estimates(&estimates)
    }

    /// Of one estimate a run.
    pub(super) fn of_estimates(estimates: &[Estimate]) -> Side {
        let values: Vec<f64> = estimates.iter().map(|estimate| estimate.value).collect();
        let shown = if let [only] = estimates { Some(*only) } else { Estimate::of(&values) };
        Side { values, shown }
    }
}

/// Nanoseconds an operation, less the loop where that is taken off and was timed.
fn ns(run: &Reduced, net: bool) -> Estimate {
    run.net_ns.filter(|_| net).unwrap_or(run.raw_ns)
}

/// The runs of both sides that have a figure, or why a side has none.
pub(super) fn measured<'a>(sides: [&[&'a Had]; 2]) -> Result<[Vec<&'a Reduced>; 2], Apart> {
    match sides {
        [_, []] => return Err(Apart::OnlyBase),
        [[], _] => return Err(Apart::OnlyNew),
        _ => {}
    }
    let figures = sides.map(|side| side.iter().filter_map(|had| figure(had)).collect::<Vec<&Reduced>>());
    for ((name, side), own) in ["base", "new"].into_iter().zip(sides).zip(&figures) {
        if own.is_empty() {
            return Err(without(name, side, name == "new" && !figures[0].is_empty()));
        }
    }
    Ok(figures)
}

fn figure<'a>(had: &&'a Had) -> Option<&'a Reduced> {
    match had {
        Had::Measured(reduced) => Some(reduced),
        _ => None,
    }
}

/// The figure of a cell over some runs, nanoseconds an operation, the loop taken off where it counts.
///
/// # Errors
/// Why there is none.
pub fn figure_of(runs: &[Stored], number: usize) -> Result<Estimate, String> {
    let own = runs.iter().flat_map(|run| &run.cells).filter(|(cell, _)| *cell == number);
    let side: Vec<&Had> = own.map(|(_, had)| had).collect();
    let figures: Vec<&Reduced> = side.iter().filter_map(figure).collect();
    let net = figures.iter().any(|reduced| reduced.loop_counts);
    Side::of(&figures, net).shown.ok_or_else(|| match without("new", &side, false) {
        Apart::Failed { reason, .. } => reason,
        Apart::Unavailable(why) => format!("unavailable in {why}"),
        _ => "not measured in new".into(),
    })
}

/// Why a side has no figure: what failed comes first, then what was refused.
fn without(name: &'static str, side: &[&Had], newly: bool) -> Apart {
    let failed = side.iter().find_map(|had| if let Had::Failed(why) = had { Some(why) } else { None });
    let refused = side.iter().find_map(|had| if let Had::Unavailable(why) = had { Some(why) } else { None });
    match (failed, refused) {
        (Some(why), _) => Apart::Failed { reason: format!("{name}: {why}"), newly },
        (None, Some(why)) => Apart::Unavailable(format!("{name}: {why}")),
        (None, None) => Apart::NotMeasured(name),
    }
}

/// That not the same number of a visit leads in all runs.
pub(super) fn other_lead(base: &[&Reduced], new: &[&Reduced]) -> Option<String> {
    let leads: BTreeSet<String> =
        base.iter().chain(new).map(|reduced| format!("{:?}", reduced.lead).to_lowercase()).collect();
    let leads: Vec<String> = leads.into_iter().collect();
    (leads.len() > 1).then(|| format!("another number of a visit leads: {}", leads.join(", ")))
}

/// What a reader should know of the runs behind a row.
pub(super) fn remarks(sides: [&[&Had]; 2], figures: [&[&Reduced]; 2]) -> Vec<String> {
    let mut remarks = Vec::new();
    for ((name, side), own) in ["base", "new"].into_iter().zip(sides).zip(figures) {
        if own.len() < side.len() {
            let missing = side.len() - own.len();
            remarks.push(format!("{missing} of {} runs of {name} have no figure", side.len()));
        }
        let two_modes = own.iter().filter(|reduced| reduced.two_modes).count();
        if two_modes > 0 {
            remarks
                .push(format!("grade U: visits of two modes in {two_modes} of {} runs of {name}", own.len()));
        }
    }
    let [base, new] = figures.map(thrifty_share);
    if (base - new).abs() > 0.25 {
        remarks.push(format!(
            "fewer samples a visit, for want of time: {:.0} % of the visits of base, {:.0} % of new",
            100.0 * base,
            100.0 * new
        ));
    }
    if let [Some(base), Some(new)] = figures.map(shared_core)
        && (base - new).abs() > 0.25
    {
        remarks.push(format!(
            "another thread used the core in {:.0} % of the visits of base, {:.0} % of new (W019): a part of the difference may be its",
            100.0 * base,
            100.0 * new
        ));
    }
    remarks
}

/// The median over the runs that tell.
fn shared_core(runs: &[&Reduced]) -> Option<f64> {
    median(&runs.iter().filter_map(|run| run.shared_core).collect::<Vec<_>>())
}

fn thrifty_share(runs: &[&Reduced]) -> f64 {
    let visits: usize = runs.iter().map(|run| run.raw_ns.visits).sum();
    runs.iter().map(|run| run.thrifty).sum::<usize>() as f64 / visits.max(1) as f64
}
