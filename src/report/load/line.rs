//! One line of a journal, and why it is none.

use super::JOURNAL;
use crate::record::{Line, SCHEMA, Versioned, written_line};
use anyhow::{Context, Result, anyhow};

/// A line as text.
pub fn text_of(line: &[u8]) -> Result<&str> {
    let text = std::str::from_utf8(line).ok().filter(|text| !text.contains('\0'));
    text.with_context(|| format!("not text: expected one JSON object a line; is this a journal ({JOURNAL})?"))
}

/// Whether the text stops before its JSON is complete.
pub fn cut_off(line: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(line).is_err()
}

/// One line, without its newline.
pub fn parse_line(text: &str) -> Result<Line> {
    if let Some(line) = written_line(text) {
        return Ok(line);
    }
    match serde_json::from_str::<Versioned>(text) {
        Ok(versioned) if versioned.schema == SCHEMA => Ok(versioned.line),
        Ok(versioned) => Err(wrong_version(&versioned.schema)),
        Err(error) => Err(explain(text, &error)),
    }
}

/// Why a line is not one of ours: another version, no version, or a damaged line.
pub fn explain(text: &str, error: &serde_json::Error) -> anyhow::Error {
    let object = serde_json::from_str::<serde_json::Value>(text);
    match object.as_ref().map(|object| object.get("schema").and_then(|schema| schema.as_str())) {
        Ok(Some(schema)) if schema != SCHEMA => wrong_version(schema),
        Ok(None) => {
            anyhow!("no schema: expected a line with \"schema\":\"{SCHEMA}\"; is this a journal ({JOURNAL})?")
        }
        _ => {
            let error = error.to_string().replace(" at line 1 column ", " at column ");
            anyhow!("expected a header, visit or end of {SCHEMA}: {error}; remove the line if it is damaged")
        }
    }
}

fn wrong_version(schema: &str) -> anyhow::Error {
    anyhow!(
        "schema {schema:?}: this program reads {SCHEMA:?}; use the version of ipcmatrix that wrote the journal"
    )
}
