//! What the machine was, as the run recorded it: every leaf of the JSON with its path.

use crate::report::escape::line;
use maud::{Markup, html};
use serde_json::{Map, Value};

/// The environment, folded; a line that says so where there is none.
pub fn environment(environment: Option<&Value>) -> Markup {
    let parts = environment.and_then(Value::as_object);
    html! {
        "\n\n" section id="environment" aria-labelledby="environment-heading" {
            "\n" h2 id="environment-heading" { "Environment" }
            @if let Some(parts) = parts {
                "\n" details {
                    "\n" summary { "What the machine was when the run began" }
                    @for (name, part) in parts { (group(name, part)) }
                }
            } @else {
                "\n" p { "No environment.json stands beside the journal." }
            }
        }
    }
}

fn group(name: &str, part: &Value) -> Markup {
    let mut leaves = Vec::new();
    collect("", part, &mut leaves);
    html! {
        "\n" div class="wide" role="group" aria-label={ "Environment: " (line(name)) } tabindex="0" {
            table class="words" {
                "\n" caption { (line(name)) }
                tbody {
                    @for (path, text) in leaves {
                        "\n" tr { th scope="row" { (line(if path.is_empty() { name } else { &path })) } td { (line(&text)) } }
                    }
                }
            }
        }
    }
}

/// Every leaf below a value, with its path.
fn collect(path: &str, value: &Value, leaves: &mut Vec<(String, String)>) {
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::Object(fields) => match unknown(fields).or_else(|| short(fields)) {
            Some(text) => leaves.push((path.into(), text)),
            None => fields.iter().for_each(|(name, value)| collect(&below(name), value, leaves)),
        },
        Value::Array(values) if values.iter().any(|value| value.is_array() || value.is_object()) => {
            values.iter().enumerate().for_each(|(at, value)| collect(&below(&at.to_string()), value, leaves));
        }
        Value::Array(values) => {
            leaves.push((path.into(), values.iter().map(scalar).collect::<Vec<_>>().join(", ")));
        }
        leaf => leaves.push((path.into(), scalar(leaf))),
    }
}

/// `unknown: no such file`, for what could not be read.
fn unknown(fields: &Map<String, Value>) -> Option<String> {
    let reason = fields.get("reason")?.as_str()?;
    (fields.len() == 2 && fields.get("value")?.is_null()).then(|| format!("unknown: {reason}"))
}

/// A few scalars in one line: `soft 0, hard unlimited`.
fn short(fields: &Map<String, Value>) -> Option<String> {
    let simple = |value: &Value| !(value.is_array() || value.is_object());
    let pair = |(name, value): (&String, &Value)| format!("{name} {}", scalar(value));
    (fields.len() <= 5 && fields.values().all(simple))
        .then(|| fields.iter().map(pair).collect::<Vec<_>>().join(", "))
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "unknown".into(),
        other => other.to_string(),
    }
}
