//! Visits whose two CPUs were near, and visits whose CPUs were far apart: a host moves the CPUs of its guests, and a ping-pong
//! around each visit tells. They are compared within their stratum, so that such a move is not taken for a change.

use super::{Distant, Reduced, Side};
use crate::measure::stats::Estimate;
use crate::measure::stats::modes::Modes;

/// How far apart the CPUs of a visit were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stratum {
    /// The nearer of two distances.
    Near,
    /// The farther.
    Far,
}

/// How many times as long a ping-pong must take, at least, to be far.
pub const FAR_RATIO: f64 = 1.5;

/// Visits in one stratum from which on a run has a figure there.
const LEAST_VISITS: usize = 3;

impl Stratum {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Stratum::Near => "near",
            Stratum::Far => "far",
        }
    }
}

/// Both sides in one stratum.
pub(super) struct Part {
    pub stratum: Stratum,
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
    let limit = limit(all())?;
    let moved = all().filter(|visit| stratum(visit, limit).is_none()).count();
    let remark =
        (moved > 0).then(|| format!("{moved} visits whose CPUs were moved meanwhile count in no stratum"));
    let of = |wanted: Stratum| {
        let side = |runs: &[&Reduced]| {
            let own: Vec<Estimate> = runs.iter().filter_map(|run| within(run, wanted, limit, net)).collect();
            Side::of_estimates(&own)
        };
        Part { stratum: wanted, sides: [side(base), side(new)], remark: remark.clone() }
    };
    let has_figure = |part: &Part| part.sides.iter().any(|side| !side.values.is_empty());
    Some([Stratum::Near, Stratum::Far].map(of).into_iter().filter(has_figure).collect())
}

/// The distance in nanoseconds that parts near from far: the geometric middle of two modes, where there are two.
fn limit<'a>(visits: impl Iterator<Item = &'a Distant>) -> Option<f64> {
    let distances: Vec<f64> = visits.flat_map(|visit| visit.ping_pong_ns).collect();
    let [near, far] = Modes::of(&distances)?.0.map(|mode| mode.estimate.value);
    (far >= FAR_RATIO * near).then(|| (near * far).sqrt())
}

/// Where a visit belongs; `None` where its CPUs were moved between its begin and its end.
fn stratum(visit: &Distant, limit: f64) -> Option<Stratum> {
    let far = visit.ping_pong_ns.map(|ns| ns > limit);
    (far[0] == far[1]).then_some(if far[0] { Stratum::Far } else { Stratum::Near })
}

/// The figure of a run in a stratum, where it has visits enough there.
fn within(run: &Reduced, wanted: Stratum, limit: f64, net: bool) -> Option<Estimate> {
    let own = run.visits.iter().filter(|visit| stratum(visit, limit) == Some(wanted));
    let ns: Vec<f64> = own.map(|visit| visit.raw_ns - if net { visit.loop_ns } else { 0.0 }).collect();
    if ns.len() < LEAST_VISITS { None } else { Estimate::of(&ns) }
}
