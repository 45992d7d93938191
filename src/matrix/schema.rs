//! The JSON Schema of matrix files, for editors: what keys there are, what they mean, and which values they take.
//!
//! It is as strict as one can be without a look at other keys; the rest is for `ipcmatrix plan`.

use super::{METRIC_NAMES, SCHEMA, table, value};
use crate::catalog::Catalog;
use crate::cell::{AXES, Axis, AxisSpec, Kind, Measure};
use crate::published;
use serde_json::{Map, Value as Json, json};

/// The schema of a matrix file with the mechanisms of that catalog.
pub fn schema(catalog: &Catalog) -> Json {
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Matrix of ipcmatrix",
        "description": "Tables of benchmark cells: `ipcmatrix plan FILE` shows the cells, `ipcmatrix run FILE` measures them.",
        "type": "object",
        "properties": {
            "schema": { "description": "The version of the file.", "const": SCHEMA },
            "title": text("The heading of the report.", table::LONGEST_TITLE),
            "budget": {
                "description": "How long sampling may take, from 1s to 24h.",
                "type": "string",
                "examples": ["90s", "3m"]
            },
            "table": list("A table: rows and columns of cells.", one_table(catalog)),
            "exclude": list("Cells that are left out.", exclude()),
            "include": list("The tables of a matrix that the program carries.", include()),
            "gate": list("What must hold of some cells; `run` ends with exit code 3 where it does not.", one_gate())
        },
        "required": ["schema", "title"],
        "anyOf": [{ "required": ["table"] }, { "required": ["include"] }],
        "additionalProperties": false
    })
}

fn text(description: &str, longest: usize) -> Json {
    json!({ "description": description, "type": "string", "minLength": 1, "maxLength": longest })
}

fn list(description: &str, items: Json) -> Json {
    json!({ "description": description, "type": "array", "items": items })
}

/// Names with a line of documentation each, as the language server of TOML shows them.
fn named(description: &str, names: &[(&str, String)]) -> Json {
    let (names, docs): (Vec<&str>, Vec<&str>) =
        names.iter().map(|(name, help)| (*name, help.as_str())).unzip();
    json!({ "description": description, "enum": names, "x-taplo": { "docs": { "enumValues": docs } } })
}

fn one_table(catalog: &Catalog) -> Json {
    let axes: Vec<(&str, String)> = table_axes().map(|spec| (spec.name, spec.help.to_owned())).collect();
    let axis = |description: &str| named(description, &axes);
    let tables: Vec<String> = published::tables().into_iter().map(|(table, _)| table).collect();
    let measures: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
    json!({
        "type": "object",
        "properties": {
            "id": text("Its short name, such as A.2.", table::LONGEST_TITLE),
            "title": text("Its heading.", table::LONGEST_TITLE),
            "measure": { "description": Axis::Measure.spec().help, "enum": measures },
            "row": axis("The axis whose values are the rows."),
            "column": axis("The axis whose values are the columns."),
            "split": list(
                "Axes for each of whose values the table is printed apart.",
                axis("An axis with several values that is neither row nor column.")
            ),
            "notes": list("Lines below the table.", text("A line.", table::LONGEST_NOTE)),
            "published": list("Published tables that may stand beside it.", json!({ "enum": tables })),
            "metric": {
                "description": "What it shows in place of the figure of the measure: `ipcmatrix list metrics`.",
                "enum": METRIC_NAMES
            },
            "axes": axes_of_table(catalog)
        },
        "required": ["id", "title", "measure", "row", "column", "axes"],
        "additionalProperties": false
    })
}

fn one_gate() -> Json {
    let limit = |description: &str, examples: [&str; 2]| json!({ "description": description, "type": "string", "examples": examples });
    json!({
        "type": "object",
        "properties": {
            "filter": text("The cells, e.g. mechanism:pipe placement:same_cpu.", super::filter::LONGEST),
            "max": limit("The most that the figure may be, in the unit of the measure.", ["10us", "500ms"]),
            "min": limit("The least that the figure may be, in the unit of the measure.", ["500MB/s", "2GB/s"]),
            "max_regression": limit("By how much more time it may take than in the runs that it is compared with.", ["5%", "10%"])
        },
        "required": ["filter"],
        "anyOf": [{ "required": ["max"] }, { "required": ["min"] }, { "required": ["max_regression"] }],
        "additionalProperties": false
    })
}

/// The axes that a table may name: its measure is fixed.
fn table_axes() -> impl Iterator<Item = &'static AxisSpec> {
    AXES.iter().filter(|spec| spec.axis != Axis::Measure)
}

fn axes_of_table(catalog: &Catalog) -> Json {
    let axes: Map<String, Json> =
        table_axes().map(|spec| (spec.name.to_owned(), values(spec, catalog))).collect();
    json!({
        "description": "A line for each axis, with its values.",
        "type": "object",
        "properties": axes,
        "required": [Axis::Mechanism.name()],
        "additionalProperties": false
    })
}

/// One value, a string with several, or a list.
fn values(spec: &AxisSpec, catalog: &Catalog) -> Json {
    let one = item(spec, catalog);
    let mut forms = vec![one.clone(), json!({ "type": "array", "items": one, "minItems": 1 })];
    if matches!(spec.kind, Kind::Words(_) | Kind::Mechanism) {
        forms.insert(
            1,
            json!({ "description": "Several words with commas.", "type": "string", "pattern": "," }),
        );
    }
    let expected = value::expected(spec.axis, catalog);
    let description = match spec.axis {
        Axis::Mechanism => spec.help.to_owned(),
        _ => format!("{}: {expected}", spec.help),
    };
    json!({ "description": description, "anyOf": forms })
}

fn item(spec: &AxisSpec, catalog: &Catalog) -> Json {
    match spec.kind {
        Kind::Words(words) => json!({ "enum": words }),
        Kind::Mechanism => named("A mechanism.", &mechanisms(catalog)),
        Kind::Count(least, most) => json!({ "anyOf": [
            { "type": "integer", "minimum": least, "maximum": most },
            { "type": "string", "pattern": "[0-9]", "examples": ["1..=5", "pow2(1, 64)"] }
        ] }),
        Kind::Bytes(least, most) => json!({ "anyOf": [
            { "type": "integer", "minimum": least, "maximum": most },
            { "type": "string", "pattern": "[0-9]", "examples": ["4K", "pow2(1K, 64K)"] }
        ] }),
        Kind::Path(words) => {
            json!({ "anyOf": [{ "type": "string", "pattern": "^/" }, { "enum": words }] })
        }
    }
}

/// Every mechanism once, with what it is.
fn mechanisms(catalog: &Catalog) -> Vec<(&'static str, String)> {
    let mut all: Vec<(&'static str, String)> = Vec::new();
    for driver in catalog.drivers() {
        let measure = driver.measure.name();
        match all.iter_mut().find(|(name, _)| *name == driver.mechanism) {
            Some((_, help)) => *help = format!("{help}, {measure}"),
            None => all.push((driver.mechanism, format!("{}. Measures: {measure}", driver.summary))),
        }
    }
    all
}

fn exclude() -> Json {
    json!({
        "type": "object",
        "properties": {
            "filter": {
                "description": "Which cells, such as workers:1 placement:cross_cpu",
                "type": "string",
                "minLength": 1
            },
            "tables": list("The tables that it holds for; every table without it.", json!({ "type": "string" }))
        },
        "required": ["filter"],
        "additionalProperties": false
    })
}

fn include() -> Json {
    let names: Vec<&str> = super::SHIPPED.iter().map(|(name, _)| *name).collect();
    json!({
        "type": "object",
        "properties": { "matrix": { "description": "Its name.", "enum": names } },
        "required": ["matrix"],
        "additionalProperties": false
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::file;

    fn keys(schema: &Json) -> Vec<&str> {
        schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn the_keys_are_those_that_the_parser_knows() {
        let schema = schema(&Catalog::shipped());
        assert_eq!(keys(&schema), file::KEYS);
        let table = &schema["properties"]["table"]["items"];
        assert_eq!(keys(table), table::KEYS);
        let axes = keys(&table["properties"]["axes"]);
        assert_eq!(axes, table_axes().map(|spec| spec.name).collect::<Vec<_>>());
    }
}
