//! Whether another thread uses the cores of the workers: a core that runs two threads (simultaneous multithreading) does less for each, and a
//! guest is not told what its host runs there. So this is asked before and after what is measured.

use super::placement::Placement;
use super::refusal::Refusal;
use crate::measure::canary::whole_core_ns;
use crate::sys::affinity::on;

/// Nanoseconds that arithmetic which could use a whole core takes now on the slowest CPU of the workers; `None` where they are not
/// pinned. The workers must be at rest.
///
/// # Errors
/// Those of [`on`].
pub fn ns(placement: &Placement) -> Result<Option<u64>, Refusal> {
    if placement.of(0).is_none() {
        return Ok(None);
    }
    let each: Result<Vec<u64>, _> = placement.cpus().into_iter().map(|cpu| on(cpu, whole_core_ns)).collect();
    each.map(|ns| ns.into_iter().max()).map_err(|error| Refusal::failed("whole core", error))
}
