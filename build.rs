//! Hands the compiler's version and the build's settings to the program, which records them, and makes the shared object
//! whose thread-local variable `tls_dlopen` reads.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

const OBJECT_SOURCE: &str = "src/operation/tls_dlopen.c";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC");
    println!("cargo::rustc-env=IPCMATRIX_RUSTC={}", rustc_version());
    for name in ["TARGET", "PROFILE", "OPT_LEVEL"] {
        println!("cargo::rustc-env=IPCMATRIX_{name}={}", env::var(name).unwrap_or_default());
    }
    shared_object();
}

/// The first line of `rustc --version`; empty where the compiler does not say.
fn rustc_version() -> String {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let Ok(output) = Command::new(rustc).arg("--version").output() else { return String::new() };
    String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string()
}

/// Makes `tls_dlopen.so` in `OUT_DIR`. Without a C compiler the build goes on with an empty file and the reason, which
/// the program shows.
fn shared_object() {
    println!("cargo::rerun-if-changed={OBJECT_SOURCE}");
    println!("cargo::rerun-if-env-changed=CC");
    let object = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join("tls_dlopen.so");
    let made = compile(&object);
    if made.is_err() {
        fs::write(&object, b"").expect("OUT_DIR can be written");
    }
    println!("cargo::rustc-env=IPCMATRIX_NO_OBJECT={}", made.err().unwrap_or_default());
}

/// Compiles by the program that `CC` names, with its arguments where it has some, else by `cc`.
fn compile(object: &std::path::Path) -> Result<(), String> {
    let given = env::var("CC").ok().filter(|words| !words.trim().is_empty());
    let (host, target) = (env::var("HOST").ok(), env::var("TARGET").ok());
    if given.is_none() && host != target {
        return Err("it was built for another machine, and CC named no C compiler for that".into());
    }
    let given = given.unwrap_or_else(|| "cc".into());
    let mut words = given.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    command.args(words).args(["-O2", "-fPIC", "-shared", "-o"]).arg(object).arg(OBJECT_SOURCE);
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "the C compiler `{given}` failed: {}",
                said.lines().next().unwrap_or("it does not say why")
            ))
        }
        Err(error) => Err(format!("there was no C compiler `{given}`: {error}")),
    }
}
