//! The machine around a run, as the runner sees it between visits.

use super::signals::Caught;
use crate::environment::counters::Counters;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// What the machine and this program have used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// What the kernel has counted.
    pub counters: Counters,
    /// CPU time of this program and of every process of it that has ended, in nanoseconds.
    pub own_cpu_ns: u64,
}

/// Sees the machine, and lets time pass. The program's own reads what the kernel counts; tests script one. As it stands
/// here it tells nothing.
pub trait Machine {
    /// A look at the machine. `None` where it tells nothing.
    fn look(&mut self) -> Option<Look> {
        None
    }

    /// What fixed arithmetic takes now, in nanoseconds.
    fn canary_ns(&mut self) -> Option<u64> {
        None
    }

    /// Sleeps for so many milliseconds.
    ///
    /// # Errors
    /// The signal that came meanwhile.
    fn rest(&mut self, _ms: u64) -> Result<(), Caught> {
        Ok(())
    }
}

/// CPU time of this process and of its children that were waited for, theirs included. getrusage(2).
pub fn own_cpu_ns() -> Option<u64> {
    let of = |who| getrusage(who).ok().map(|usage: Usage| usage.user_time() + usage.system_time());
    let all = of(UsageWho::RUSAGE_SELF)? + of(UsageWho::RUSAGE_CHILDREN)?;
    u64::try_from(all.num_nanoseconds()).ok()
}
