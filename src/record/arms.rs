//! Two arms of a comparison, measured in the same rounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// The first: what the other is compared with.
    A,
    /// The second.
    B,
}

/// What a run of two arms compares. The first half of the header's cells belongs to arm a; the partner of each stands as far
/// into the second half, which belongs to arm b.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Arms {
    /// Arm a, as it was typed.
    pub a: String,
    /// Arm b.
    pub b: String,
    /// CRC-32 of the programs that made the visits of arm a and of arm b, in hexadecimal, where they are not the one that
    /// made the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program_crc32: Option<[Option<String>; 2]>,
    /// Rounds that were asked for.
    pub rounds: u32,
    /// The least effect of interest in every cell, as a part; `None` for what each kind of cell has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<f64>,
    /// Where noise floors were looked for, and what came of it.
    #[serde(default)]
    pub floors_from: String,
    /// The noise floor of each pair, as the logarithm of a ratio; empty where none are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floors: Vec<Option<f64>>,
    /// Cells of the matrix that are not compared, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<[String; 2]>,
}

impl Arms {
    /// The arm of a cell of a header with so many cells.
    pub fn arm_of(cell_index: usize, cells: usize) -> Arm {
        if cell_index < cells / 2 { Arm::A } else { Arm::B }
    }
}
