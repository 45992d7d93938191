//! `init`: a matrix to begin with.

use super::{WELL, output, usage};
use anyhow::{Context, Result};
use clap::Args;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;

/// The matrix, with what each line is for.
const MATRIX: &str = include_str!("init.toml");

const EXAMPLES: &str = "\
Examples:
  ipcmatrix init                         writes my-matrix.toml
  ipcmatrix plan my-matrix.toml          what it would run here
  ipcmatrix run my-matrix.toml -o out    runs it
  ipcmatrix init - | less";

#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file, which must not be there yet; - for standard output
    #[arg(value_name = "FILE", default_value = "my-matrix.toml")]
    file: PathBuf,
}

/// Writes the matrix.
///
/// # Errors
/// A file that is there already, or that cannot be made.
pub fn init(arguments: &Arguments) -> Result<u8> {
    let shown = arguments.file.display();
    if arguments.file.as_os_str() == "-" {
        output::print(MATRIX)?;
        return Ok(WELL);
    }
    let mut file = File::create_new(&arguments.file).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            usage(format!("{shown} is there already and is left as it is: name another file"))
        }
        _ => usage(format!("cannot make {shown}: {error}; name another file")),
    })?;
    file.write_all(MATRIX.as_bytes()).with_context(|| format!("cannot write {shown}"))?;
    output::say(&format!("{shown}: a matrix to begin with. Next: ipcmatrix plan {shown}"));
    Ok(WELL)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;
    use crate::matrix;

    #[test]
    fn the_matrix_is_one() {
        let read = matrix::parse("init", MATRIX, &Catalog::shipped()).unwrap();
        assert_eq!(read.tables.len(), 2);
        assert!(read.cells.len() > 10 && read.budget.is_some());
    }

    #[test]
    fn every_line_that_is_only_shown_works_too() {
        let shown = MATRIX.lines().map(|line| line.strip_prefix("#- ").unwrap_or(line));
        let text: String = shown.map(|line| format!("{line}\n")).collect();
        assert_ne!(text, MATRIX);
        let catalog = Catalog::shipped();
        let all = matrix::parse("init", &text, &catalog).unwrap();
        assert!(all.cells.len() > matrix::parse("init", MATRIX, &catalog).unwrap().cells.len());
    }
}
