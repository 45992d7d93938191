//! `schema`: the JSON Schema of each file and document, draft 7 as editors read it.

use super::doctor::Document as DoctorDocument;
use super::{WELL, output};
use crate::catalog::Catalog;
use crate::environment::Environment;
use crate::export::{Document, Line};
use crate::matrix;
use crate::record::Versioned;
use anyhow::Result;
use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

const EXAMPLES: &str = "\
Examples:
  ipcmatrix schema matrix > matrix.schema.json    named by `#:schema FILE` in a matrix
  ipcmatrix schema record                         what a line of records.jsonl is";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Of what
    what: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A matrix file, which is TOML
    Matrix,
    /// A line of records.jsonl
    Record,
    /// environment.json
    Environment,
    /// The document of `export --format json`
    Export,
    /// A line of `export --format jsonl`
    ExportLine,
    /// The document of `doctor --format json`
    Doctor,
}

/// Prints the schema.
///
/// # Errors
/// What the reader of standard output refuses.
pub fn schema(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let schema = match arguments.what {
        Kind::Matrix => matrix::schema(catalog),
        Kind::Record => written::<Versioned>(SchemaSettings::draft07()),
        Kind::Environment => written::<Environment>(SchemaSettings::draft07()),
        Kind::Export => written::<Document>(SchemaSettings::draft07().for_serialize()),
        Kind::ExportLine => written::<Line>(SchemaSettings::draft07().for_serialize()),
        Kind::Doctor => written::<DoctorDocument>(SchemaSettings::draft07().for_serialize()),
    };
    output::print(&(serde_json::to_string_pretty(&schema)? + "\n"))?;
    Ok(WELL)
}

/// The schema of what the type is written as.
fn written<T: JsonSchema>(settings: SchemaSettings) -> Value {
    settings.into_generator().into_root_schema_for::<T>().to_value()
}
