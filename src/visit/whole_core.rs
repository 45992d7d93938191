//! Whether another thread uses the cores of the workers: a core that runs two threads (simultaneous multithreading) does less for each, and a
//! guest is not told what its host runs there. So this is asked before and after what is measured, and where workers share a CPU they take
//! one that has its core for itself, where there is one.

use super::placement::Placement;
use super::refusal::Refusal;
use crate::measure::canary::WholeCore;
use crate::sys::affinity::on;

/// What the CPU of the workers that has the least of its core has of it now; `None` where they are not pinned. The workers must be at rest.
///
/// # Errors
/// Those of [`on`].
pub fn now(placement: &Placement) -> Result<Option<WholeCore>, Refusal> {
    if placement.of(0).is_none() {
        return Ok(None);
    }
    let each: Result<Vec<WholeCore>, _> =
        placement.cpus().into_iter().map(|cpu| on(cpu, WholeCore::now)).collect();
    let each = each.map_err(|error| Refusal::failed("whole core", error))?;
    Ok(each.into_iter().max_by(|one, other| one.ratio().total_cmp(&other.ratio())))
}

/// The first CPU is left for one that has more of its core where arithmetic takes so many times as long there: less is no other thread.
const WORTH_MOVING: f64 = 1.1;

/// The placement with workers that share a CPU on the one whose core is freest now, of those that are as good for them.
///
/// # Errors
/// Those of [`on`].
pub fn settle(placement: Placement) -> Result<Placement, Refusal> {
    if placement.as_good().len() < 2 {
        return Ok(placement);
    }
    let looked: Result<Vec<(usize, f64)>, _> =
        placement.as_good().iter().map(|cpu| on(*cpu, || (*cpu, WholeCore::now().ratio()))).collect();
    let looked = looked.map_err(|error| Refusal::failed("whole core", error))?;
    Ok(match freest(&looked) {
        Some(cpu) => placement.on(cpu),
        None => placement,
    })
}

/// The CPU with the least ratio of arithmetic; the first where that is hardly worse.
fn freest(looked: &[(usize, f64)]) -> Option<usize> {
    let (first, least) = (looked.first()?, looked.iter().min_by(|one, other| one.1.total_cmp(&other.1))?);
    Some(if first.1 > WORTH_MOVING * least.1 { least.0 } else { first.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_cpu_is_left_only_where_another_has_more_of_its_core() {
        assert_eq!(freest(&[(3, 2.0), (2, 2.5), (1, 1.95)]), Some(3));
        assert_eq!(freest(&[(3, 2.3), (2, 2.5), (1, 2.0), (0, 2.01)]), Some(1));
        assert_eq!(freest(&[(3, 2.5)]), Some(3));
        assert_eq!(freest(&[]), None);
    }
}
