//! What disturbed a visit, as far as the machine tells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the runner saw of the machine around one process of a visit. Shares are of the time of all CPUs that the
/// program may use, from 0 to 1. `None` where the machine does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// CPU time that other programs used (proc_stat(5), less what the run used itself; without interrupts). The counters move
    /// in hundredths of a second, so this is over the time of the visit and what came before it, a second at least. `None`
    /// too in the first second of a run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign_share: Option<f64>,
    /// Time that the host gave to others while a CPU here was ready (proc_stat(5)), over the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steal_share: Option<f64>,
    /// Time in which some task waited for a CPU (`/proc/pressure/cpu`), over the time of the visit. Workers that share a CPU
    /// wait for each other, which counts here too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pressure_share: Option<f64>,
    /// How often the quota of the control group stopped it (`nr_throttled` of `cpu.stat`) during the visit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled: Option<u64>,
    /// What fixed arithmetic took right before the visit, the fastest of four times, in nanoseconds; with the first visit of
    /// each round.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canary_ns: Option<u64>,
    /// How long the run waited before this visit for the machine to become quieter, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ns: Option<u64>,
}
