//! The program.

use std::process::ExitCode;

fn main() -> ExitCode {
    ipcmatrix::cli::main(&ipcmatrix::catalog::Catalog::shipped())
}
