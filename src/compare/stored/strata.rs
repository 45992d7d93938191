//! Both sides by the distance of the CPUs of their visits: they are compared within their stratum, so that a host that moves the
//! CPUs of its guests is not taken for a change.

use super::{Reduced, Side};
use crate::measure::stats::Estimate;
use crate::measure::stats::distance::{Distance, Limit};

/// Visits in one stratum from which on a run has a figure there.
const LEAST_VISITS: usize = 3;

/// Both sides in one stratum.
pub(super) struct Part {
    pub stratum: Distance,
    pub sides: [Side; 2],
    /// On visits that count in none.
    pub remark: Option<String>,
}

/// Both sides in each stratum that has a figure, with a remark on visits that count in none; `None` where the visits do not
/// fall into two distances, or not all know theirs.
pub(super) fn of(base: &[&Reduced], new: &[&Reduced], net: bool) -> Option<Vec<Part>> {
    if base.iter().chain(new).any(|run| run.visits.is_empty()) {
        return None;
    }
    let all = || base.iter().chain(new).flat_map(|run| &run.visits);
    let ways: Vec<[f64; 2]> = all().map(|visit| visit.ping_pong_ns).collect();
    let limit = Limit::of(&ways)?;
    let moved = ways.iter().filter(|way| limit.side(**way).is_none()).count();
    let remark =
        (moved > 0).then(|| format!("{moved} visits whose CPUs were moved meanwhile count in no stratum"));
    let of = |wanted: Distance| {
        let side = |runs: &[&Reduced]| {
            let own: Vec<Estimate> = runs.iter().filter_map(|run| within(run, wanted, limit, net)).collect();
            Side::of_estimates(&own)
        };
        Part { stratum: wanted, sides: [side(base), side(new)], remark: remark.clone() }
    };
    let has_figure = |part: &Part| part.sides.iter().any(|side| !side.values.is_empty());
    Some([Distance::Near, Distance::Far].map(of).into_iter().filter(has_figure).collect())
}

/// The figure of a run in a stratum, where it has visits enough there.
fn within(run: &Reduced, wanted: Distance, limit: Limit, net: bool) -> Option<Estimate> {
    let own = run.visits.iter().filter(|visit| limit.side(visit.ping_pong_ns) == Some(wanted));
    let ns: Vec<f64> = own.map(|visit| visit.raw_ns - if net { visit.loop_ns } else { 0.0 }).collect();
    if ns.len() < LEAST_VISITS { None } else { Estimate::of(&ns) }
}
