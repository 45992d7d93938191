//! The program.

fn main() {
    ipcmatrix::visit::main(&ipcmatrix::catalog::Catalog::shipped())
}
