//! Hands the compiler's version and the build's settings to the program, which records them.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    println!("cargo::rustc-env=IPCMATRIX_RUSTC={}", rustc_version());
    for name in ["TARGET", "PROFILE", "OPT_LEVEL"] {
        println!("cargo::rustc-env=IPCMATRIX_{name}={}", env::var(name).unwrap_or_default());
    }
}

/// The first line of `rustc --version`; empty where the compiler does not say.
fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(output) = Command::new(rustc).arg("--version").output() else { return String::new() };
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string()
}
