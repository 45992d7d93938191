//! What is done to a visit on purpose, to see that the program notices.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is done to a visit on purpose. `selfcheck` asks for it; no option of the command line does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tampering {
    /// Nanoseconds of arithmetic for each operation of a timed worker, behind the operations of a batch and before its
    /// clock stops. It proves what is done with the time of a batch: clock, counts, statistics, verdicts. It proves nothing
    /// about the loop of a mechanism, which does not know of it: that is what linearity and the yardstick are for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected_ns_per_op: Option<f64>,
    /// Whether the mechanism is one of those that are faulty on purpose and stand in no list.
    #[serde(default, skip_serializing_if = "is_false")]
    pub faulty: bool,
}

/// The name in [`crate::workload::Effective`] of the nanoseconds that were added to each operation.
pub const INJECTED: &str = "injected_ns_per_op";

/// The flag of a visit whose operations were made longer on purpose.
pub const INJECTED_FLAG: &str = "injected";

fn is_false(value: &bool) -> bool {
    !value
}
