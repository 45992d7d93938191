//! Whether another thread uses the cores of the workers: a core that runs two threads (simultaneous multithreading) does less for each, and a
//! guest is not told what its host runs there. So this is asked before and after what is measured.

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
