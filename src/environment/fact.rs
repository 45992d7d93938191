//! A value that was read, or why it was not.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a reader returns: the value, or the reason for its absence in plain words.
pub(super) type Found<T> = Result<T, String>;

/// A value, or null with a reason. In JSON the value stands as itself; an unknown one is
/// `{"value": null, "reason": "..."}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Fact<T> {
    /// It could not be read.
    Unknown(Unknown),
    /// It was read.
    Known(T),
}

/// Why a value is not known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unknown {
    /// Always null: what tells this from a value.
    pub value: (),
    /// The file and what was wrong with it, in plain words.
    pub reason: String,
}

impl<T> Fact<T> {
    /// A value that is not known, and why.
    pub fn unknown(reason: impl Into<String>) -> Fact<T> {
        Fact::Unknown(Unknown { value: (), reason: reason.into() })
    }

    /// The value where it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Fact::Known(value) => Some(value),
            Fact::Unknown(_) => None,
        }
    }

    /// The reason where the value is not known.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Fact::Known(_) => None,
            Fact::Unknown(unknown) => Some(&unknown.reason),
        }
    }

    /// Forgets a value that is known; an unknown one keeps its own reason.
    pub(super) fn leave_out(&mut self, reason: &str) {
        if self.known().is_some() {
            *self = Fact::unknown(reason);
        }
    }
}

impl<T> From<Found<T>> for Fact<T> {
    fn from(found: Found<T>) -> Fact<T> {
        match found {
            Ok(value) => Fact::Known(value),
            Err(reason) => Fact::unknown(reason),
        }
    }
}

/// A setting as the kernel prints it: a whole number, several, or a word such as `unlimited`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Amount {
    /// One whole number.
    Count(u64),
    /// Several, as in `kernel.sem`.
    Counts(Vec<u64>),
    /// Anything else, word for word.
    Word(String),
}

impl Amount {
    /// Reads what the kernel printed.
    pub fn parse(text: &str) -> Amount {
        let counts: Result<Vec<u64>, _> = text.split_whitespace().map(str::parse).collect();
        match counts.as_deref() {
            Ok([count]) => Amount::Count(*count),
            Ok(counts) if !counts.is_empty() => Amount::Counts(counts.to_vec()),
            _ => Amount::Word(text.to_string()),
        }
    }

    /// The number where it is a single one.
    pub fn count(&self) -> Option<u64> {
        match self {
            Amount::Count(count) => Some(*count),
            _ => None,
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Amount::Count(count) => write!(f, "{count}"),
            Amount::Counts(counts) => {
                let words: Vec<String> = counts.iter().map(u64::to_string).collect();
                f.write_str(&words.join(" "))
            }
            Amount::Word(word) => f.write_str(word),
        }
    }
}
