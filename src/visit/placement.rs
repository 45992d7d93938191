//! Where workers may run. sched_setaffinity(2).

use super::refusal::Refusal;
use crate::sys::affinity::{allowed_cpus, pin};
use std::io;

/// The CPU of each worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// `None` leaves the choice to the kernel.
    pinned: Option<Vec<usize>>,
    allowed: Vec<usize>,
}

/// Places `workers` on the CPUs that this process may use.
///
/// # Errors
/// Unavailable where there are too few CPUs or workers for the placement.
pub fn place(placement: &str, workers: usize) -> Result<Placement, Refusal> {
    let allowed = allowed_cpus().map_err(|error| Refusal::failed("start", error))?;
    place_on(placement, workers, allowed)
}

fn place_on(placement: &str, workers: usize, allowed: Vec<usize>) -> Result<Placement, Refusal> {
    // The last CPUs first: CPU 0 serves most interrupts, so it is taken only when there is no choice.
    let order: Vec<usize> = allowed.iter().rev().copied().collect();
    let pinned = match placement {
        "free" => None,
        "same_cpu" => Some(vec![order[0]; workers]),
        "cross_cpu" if workers < 2 => {
            return Err(Refusal::unavailable(
                "cross_cpu needs two workers, the cell has one",
                "use same_cpu for one worker",
            ));
        }
        "cross_cpu" if order.len() < 2 => {
            return Err(Refusal::unavailable(
                format!("cross_cpu needs two CPUs, the process may run on CPU {} only (affinity)", order[0]),
                "run with more CPUs allowed, e.g. `taskset -c 0,1 ipcmatrix run ...`",
            ));
        }
        "cross_cpu" => Some(order.iter().copied().cycle().take(workers).collect()),
        other => return Err(Refusal::failed("start", format!("there is no placement \"{other}\""))),
    };
    Ok(Placement { pinned, allowed })
}

impl Placement {
    /// The CPU that worker must be on, if it is pinned.
    pub fn of(&self, worker: usize) -> Option<usize> {
        self.pinned.as_ref().map(|pinned| pinned[worker])
    }

    /// The CPUs that the workers may use.
    pub fn cpus(&self) -> Vec<usize> {
        let mut cpus = self.pinned.clone().unwrap_or_else(|| self.allowed.clone());
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// Puts the coordinator on a CPU that no worker uses, where there is one, so that its waking up
    /// after a batch disturbs nobody.
    ///
    /// # Errors
    /// sched_setaffinity(2).
    pub fn step_aside(&self) -> io::Result<()> {
        let used = self.cpus();
        match self.allowed.iter().find(|cpu| !used.contains(cpu)) {
            Some(free) => pin(*free),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(placement: &str, workers: usize, allowed: &[usize]) -> Option<Vec<usize>> {
        place_on(placement, workers, allowed.to_vec()).unwrap().pinned
    }

    #[test]
    fn workers_share_a_cpu_or_spread_over_all_and_leave_cpu_0_for_last() {
        assert_eq!(pinned("same_cpu", 3, &[0, 1, 5]), Some(vec![5, 5, 5]));
        assert_eq!(pinned("cross_cpu", 2, &[0, 1, 5]), Some(vec![5, 1]));
        assert_eq!(pinned("cross_cpu", 5, &[0, 1]), Some(vec![1, 0, 1, 0, 1]));
        assert_eq!(pinned("free", 2, &[0, 1]), None);
    }

    #[test]
    fn what_cannot_be_crossed_is_unavailable_with_the_cpu_named() {
        let Err(Refusal::Unavailable(one_cpu)) = place_on("cross_cpu", 2, vec![3]) else {
            panic!("one CPU must not do")
        };
        assert!(one_cpu.reason.contains("CPU 3"), "{}", one_cpu.reason);
        assert!(matches!(place_on("cross_cpu", 1, vec![0, 1]), Err(Refusal::Unavailable(_))));
    }
}
