//! Reads a value on an axis: serde would keep each first and then try one kind after the other.

use super::Value;
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(Kinds)
    }
}

struct Kinds;

impl Visitor<'_> for Kinds {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a word, or a whole number from 0")
    }

    fn visit_u64<E: Error>(self, count: u64) -> Result<Value, E> {
        Ok(Value::Count(count))
    }

    fn visit_i64<E: Error>(self, count: i64) -> Result<Value, E> {
        count.try_into().map(Value::Count).map_err(|_| E::invalid_value(Unexpected::Signed(count), &self))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<Value, E> {
        Ok(Value::word(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_word_or_a_number_from_0() {
        for value in [Value::Count(0), Value::Count(u64::MAX), Value::word("\"\u{e9}\n"), Value::word("")] {
            let text = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        }
        for text in ["-1", "1.5", "1e3", "18446744073709551616", "true", "null", "[1]", "{}"] {
            let error = serde_json::from_str::<Value>(text).unwrap_err().to_string();
            assert!(error.contains("expected a word, or a whole number from 0"), "{text}: {error}");
        }
    }
}
