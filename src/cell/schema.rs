//! The JSON Schema of a cell in records and exports: an object with an axis a key.

use super::{AXES, Axis, AxisSpec, Cell, Kind, Measure};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;

impl JsonSchema for Cell {
    fn schema_name() -> Cow<'static, str> {
        "Cell".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let axes: Map<String, Json> =
            AXES.iter().map(|spec| (spec.name.to_owned(), recorded_value(spec))).collect();
        json_schema!({
            "description": "One measure of one mechanism at one value on each axis that applies to it.",
            "type": "object",
            "properties": axes,
            "required": [Axis::Measure.name(), Axis::Mechanism.name()],
            "additionalProperties": false
        })
    }
}

/// What a record has on an axis. Its words are not limited to those of this version, so that journals stay valid.
fn recorded_value(spec: &AxisSpec) -> Json {
    match spec.kind {
        Kind::Words(_) if spec.axis == Axis::Measure => {
            let names: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
            json!({ "description": spec.help, "enum": names })
        }
        Kind::Count(..) | Kind::Bytes(..) => {
            json!({ "description": spec.help, "type": "integer", "minimum": 0 })
        }
        Kind::Words(words) | Kind::Path(words) => {
            json!({ "description": spec.help, "type": "string", "examples": words })
        }
        Kind::Mechanism => json!({ "description": spec.help, "type": "string" }),
    }
}
