//! The visits of two arms as pairs of one round.

use super::{Effect, LEAST_ADDITIVE, LEAST_INTERACTING, Margin, log_of};
use crate::cell::{Axis, Cell, Measure};
use crate::measure::stats::distance::Limit;
use crate::measure::stats::{Estimate, LEAST_VISITS, loop_counts};
use crate::record::{Arms, Header, Measured, Outcome, PlannedCell, Visit};
use crate::strata::cores::Cores;
use std::collections::BTreeMap;

/// A cell of both arms, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair<'a> {
    /// The cell of arm a.
    pub a: &'a Cell,
    /// The cell of arm b.
    pub b: &'a Cell,
    /// What came of it, or why there is nothing to compare.
    pub found: Result<Found, Missing>,
}

/// What the rounds in which both arms were measured give.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Nanoseconds an operation of arm a, over all its visits.
    pub a_ns: Estimate,
    /// Nanoseconds an operation of arm b.
    pub b_ns: Estimate,
    /// Nanoseconds an operation of arm a and of arm b, a pair a round, as they are compared.
    pub both_ns: Vec<[f64; 2]>,
    /// The logarithms of the ratio of times, arm b over arm a, one a round.
    pub log_ratios: Vec<f64>,
    /// What they say together.
    pub effect: Effect,
    /// What matters in this cell.
    pub margin: Margin,
    /// Whether the time of the loop around the operations was taken off both arms.
    pub net: bool,
    /// Operations of a batch of arm a and of arm b.
    pub ops: [u64; 2],
    /// Visits whose partner is missing, or was in another place: on another CPU where both should be on one, or
    /// with its CPUs near where they were far.
    pub alone: usize,
}

/// Why there is nothing to compare.
#[derive(Clone, Debug, PartialEq)]
pub enum Missing {
    /// The machine or the kernel refuses an arm: which, why and what would help.
    Unavailable(String),
    /// A visit failed.
    Failed {
        /// What failed, and in which arm.
        reason: String,
        /// Whether arm a was measured: then it is arm b that is broken.
        newly: bool,
    },
    /// What is left without the loop around the operations is not above 0 in some visit.
    BelowResolution,
    /// No round has both.
    NotVisited,
}

/// Every pair of the run, in the order of the header. The header has arms.
pub fn pairs<'a>(header: &'a Header, arms: &Arms, visits: &[Visit]) -> Vec<Pair<'a>> {
    let (of_a, of_b) = header.cells.split_at(header.cells.len() / 2);
    let mut by_cell: Vec<Vec<&Visit>> = vec![Vec::new(); header.cells.len()];
    for visit in visits {
        by_cell[visit.cell_index].push(visit);
    }
    let (visits_a, visits_b) = by_cell.split_at(of_a.len());
    // Another program may time its arithmetic otherwise.
    let cores = match &arms.program_crc32 {
        Some(_) => [visits_a, visits_b].map(|arm| Cores::of(arm.iter().flatten().copied())),
        None => {
            let both = Cores::of(visits);
            [both.clone(), both]
        }
    };
    let one = |index: usize| {
        let planned = [&of_a[index], &of_b[index]];
        let margin = Margin {
            least: log_of(
                arms.least.unwrap_or_else(|| least(&of_a[index].cell).max(least(&of_b[index].cell))),
            ),
            floor: arms.floors.get(index).copied().flatten(),
        };
        let found = find(planned, [&visits_a[index], &visits_b[index]], (margin, arms.rounds), &cores);
        Pair { a: &of_a[index].cell, b: &of_b[index].cell, found }
    };
    (0..of_a.len()).map(one).collect()
}

/// The least effect of interest of a cell, as a part, by its kind: whether only additional time disturbs it.
pub fn least(cell: &Cell) -> f64 {
    let contended = cell.measure().is_some_and(Measure::counts_each_worker) && cell.count(Axis::Workers) > 1;
    let additive = !contended && cell.word(Axis::Placement) == "same_cpu";
    if additive { LEAST_ADDITIVE } else { LEAST_INTERACTING }
}

fn find(
    planned: [&PlannedCell; 2],
    visits: [&[&Visit]; 2],
    (margin, rounds): (Margin, u32),
    cores: &[Cores; 2],
) -> Result<Found, Missing> {
    let [by_round_a, by_round_b] = visits.map(by_round);
    missing("a", planned[0], visits[0], false)?;
    missing("b", planned[1], visits[1], !by_round_a.is_empty())?;
    let in_round = by_round_a.iter().filter_map(|(round, a)| Some((*a, *by_round_b.get(round)?)));
    // Another program as an arm may not know which CPU to avoid.
    let one_cpu = planned.map(|planned| planned.cell.word(Axis::Placement)) == ["same_cpu"; 2];
    let near_or_far = parted(by_round_a.values().chain(by_round_b.values()).copied());
    let same_place = |(a, b): &(&Measured, &Measured)| {
        (!one_cpu || a.one_cpu() == b.one_cpu())
            && near_or_far.is_none_or(|limit| {
                let [a, b] = [a, b].map(|arm| arm.ping_pong_ns.and_then(|way| limit.side(way)));
                a.is_some() && a == b
            })
    };
    let both = on_like_cores(in_round.filter(same_place).collect(), cores);
    let alone = by_round_a.len() + by_round_b.len() - 2 * both.len();
    let (Some((first_a, first_b)), net) = (both.first(), loops_count(&both)) else {
        return Err(Missing::NotVisited);
    };
    let ops = [first_a.ops, first_b.ops];
    let of = |measured: &Measured| match measured.overhead {
        Some(overhead) if net => measured.lead_ns() - overhead.twin_ns,
        _ => measured.lead_ns(),
    };
    let both_ns: Vec<[f64; 2]> = both.iter().map(|(a, b)| [of(a), of(b)]).collect();
    if both_ns.as_flattened().iter().any(|ns| *ns <= 0.0) {
        return Err(Missing::BelowResolution);
    }
    let log_ratios: Vec<f64> = both_ns.iter().map(|[a, b]| (b / a).ln()).collect();
    let arm = |arm: usize| Estimate::of(&both_ns.iter().map(|pair| pair[arm]).collect::<Vec<f64>>());
    let estimates = (arm(0), arm(1), Effect::of_pairs(&log_ratios));
    let (Some(a_ns), Some(b_ns), Some(effect)) = estimates else { return Err(Missing::BelowResolution) };
    // The floor is that of the rounds that were planned: the run may have ended before, and pairs may be missing.
    let fewer = (f64::from(rounds) / both.len() as f64).max(1.0).sqrt();
    let margin = Margin { floor: margin.floor.map(|floor| floor * fewer), ..margin };
    Ok(Found { a_ns, b_ns, both_ns, log_ratios, effect, margin, net, ops, alone })
}

/// Those of the pairs that had their cores both alone or both shared, where that is known and half of them are left, and enough for an
/// interval; else all. Which it was is no matter of the figures, so this takes no side.
fn on_like_cores<'a>(
    both: Vec<(&'a Measured, &'a Measured)>,
    cores: &[Cores; 2],
) -> Vec<(&'a Measured, &'a Measured)> {
    let alike = |(a, b): &&(&Measured, &Measured)| {
        let side = cores[0].side(a);
        side.is_some() && side == cores[1].side(b)
    };
    let kept: Vec<(&Measured, &Measured)> = both.iter().filter(alike).copied().collect();
    if kept.len() < LEAST_VISITS.max(both.len().div_ceil(2)) { both } else { kept }
}

/// What parts visits whose CPUs were near from those whose were far, where a host moved them.
fn parted<'a>(visits: impl Iterator<Item = &'a Measured>) -> Option<Limit> {
    let ways: Vec<[f64; 2]> = visits.map(|measured| measured.ping_pong_ns).collect::<Option<_>>()?;
    Limit::of(&ways)
}

/// A failed visit of an arm, or that it is refused. `newly`: whether the other one was measured.
fn missing(arm: &str, planned: &PlannedCell, visits: &[&Visit], newly: bool) -> Result<(), Missing> {
    let refusal = visits.iter().find_map(|visit| match &visit.outcome {
        Outcome::Unavailable(unavailable) => Some(unavailable),
        _ => None,
    });
    let failure = visits.iter().find_map(|visit| match &visit.outcome {
        Outcome::Failed { phase, error } => Some(format!("arm {arm} failed ({phase}): {error}")),
        _ => None,
    });
    match (failure, refusal.or(planned.unavailable.as_ref())) {
        (Some(reason), _) => Err(Missing::Failed { reason, newly }),
        (None, Some(why)) => Err(Missing::Unavailable(format!(
            "arm {arm}: {}; to make it available: {}",
            why.reason, why.remedy
        ))),
        (None, None) => Ok(()),
    }
}

fn by_round<'a>(visits: &[&'a Visit]) -> BTreeMap<u32, &'a Measured> {
    let measured = |visit: &&'a Visit| match &visit.outcome {
        Outcome::Measured(measured) => Some((visit.round, &**measured)),
        _ => None,
    };
    visits.iter().filter_map(measured).collect()
}

/// Whether the loop around the operations is more than a negligible part of an arm; it then counts in neither.
fn loops_count(both: &[(&Measured, &Measured)]) -> bool {
    let count = |of: fn(&(&Measured, &Measured)) -> f64, twin: fn(&(&Measured, &Measured)) -> Option<f64>| {
        let raw: Vec<f64> = both.iter().map(of).collect();
        let loops: Option<Vec<f64>> = both.iter().map(twin).collect();
        loops.map(|loops| loop_counts(&raw, &loops))
    };
    let a = count(|(a, _)| a.lead_ns(), |(a, _)| a.overhead.map(|overhead| overhead.twin_ns));
    let b = count(|(_, b)| b.lead_ns(), |(_, b)| b.overhead.map(|overhead| overhead.twin_ns));
    a.zip(b).is_some_and(|(a, b)| a || b)
}
