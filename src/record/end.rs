//! The lines of a journal that are no visits: its end, and breaks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct End {
    /// `done` (no cell wants another visit: precise enough, failed or unavailable), `budget`, `rounds`, `interrupted` or `terminated`.
    pub reason: String,
    /// Seconds of sampling, those before a break included.
    pub elapsed_s: f64,
    /// Visits made.
    pub visits: u32,
    /// When the run ended, RFC 3339 in UTC.
    pub ended: String,
}

/// A break in the run, written when it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Resumed {
    /// When it went on, RFC 3339 in UTC.
    pub resumed: String,
    /// Visits that were made before.
    pub visits: u32,
    /// Bytes of a last line that was cut off in the middle, and dropped.
    #[serde(default)]
    pub dropped_bytes: u64,
}
