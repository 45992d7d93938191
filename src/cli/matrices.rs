//! From what was typed to one matrix.

use super::arguments::Selection;
use super::usage;
use crate::catalog::Catalog;
use crate::matrix::{self, Filter, LARGEST_FILE_BYTES, Matrix, Override, SHIPPED};
use anyhow::Result;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Reads the matrices that were named, with the overrides and filters of the command line.
///
/// # Errors
/// All of them the user's: unknown names, unreadable files, mistakes in them, and filters that leave nothing.
pub fn select(selection: &Selection, catalog: &Catalog) -> Result<Matrix> {
    let overrides = selection
        .axis
        .iter()
        .map(|text| Override::parse(text, catalog).map_err(|error| mistake("-a", text, &error)))
        .collect::<Result<Vec<_>>>()?;
    let filters = filters(&selection.filter, catalog)?;
    let read = |name: &String| read(name, catalog, &overrides);
    let mut matrix = matrix::merge(selection.matrices.iter().map(read).collect::<Result<_>>()?);
    for filter in &filters {
        matrix.retain(filter);
    }
    if matrix.cells.is_empty() {
        let all = selection.matrices.join(" ");
        return Err(usage(format!(
            "no cell of {all} matches; `ipcmatrix plan {all} --cells` names them all"
        )));
    }
    Ok(matrix)
}

/// The filters of `-f`.
///
/// # Errors
/// Where one of them is none: the user's.
pub fn filters(texts: &[String], catalog: &Catalog) -> Result<Vec<Filter>> {
    let parse = |text: &String| Filter::parse(text, catalog).map_err(|error| mistake("-f", text, &error));
    texts.iter().map(parse).collect()
}

fn mistake(option: &str, text: &str, error: &str) -> anyhow::Error {
    usage(format!("{option} '{text}': {error}"))
}

/// Reads one matrix by its name or from its file.
///
/// # Errors
/// The user's: an unknown name, an unreadable file, mistakes in it.
pub fn read(name: &str, catalog: &Catalog, overrides: &[Override]) -> Result<Matrix> {
    let mistakes = |error: matrix::Mistakes| usage(error.to_string());
    if let Some(text) = matrix::shipped(name) {
        return matrix::parse_with(name, text, catalog, overrides).map_err(mistakes);
    }
    let bytes = read_file(name)?;
    matrix::parse_bytes(name, &bytes, catalog, overrides).map_err(mistakes)
}

/// Reads a matrix file, one byte more than is allowed at most, so that the parser can say that it is too large.
fn read_file(name: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read =
        File::open(name).and_then(|file| file.take(LARGEST_FILE_BYTES as u64 + 1).read_to_end(&mut bytes));
    match read {
        Ok(_) => Ok(bytes),
        Err(error) if Path::new(name).exists() => {
            Err(usage(format!("cannot read the matrix {name}: {error}")))
        }
        Err(_) => Err(usage(unknown(name))),
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    let near = names
        .iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .filter(|(distance, known)| *distance <= known.len() / 3)
        .min();
    let meant = near.map_or(".".to_owned(), |(_, known)| format!("; did you mean {known}?"));
    format!("there is no matrix or file {name}{meant} Built in: {}", names.join(", "))
}
