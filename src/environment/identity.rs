//! Which program this is and how it was built.

use super::fact::{Fact, Found};
use super::tree::Tree;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which program this is and how it was built.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Identity {
    /// Version of the program.
    pub version: String,
    /// Cargo's profile: `release` or `debug`.
    pub profile: Fact<String>,
    /// The compiler's optimisation level, `0` to `3`, `s` or `z`.
    pub opt_level: Fact<String>,
    /// Whether the extra checks of a debug build are in.
    pub debug_assertions: bool,
    /// What `rustc --version` said.
    pub rustc: Fact<String>,
    /// The target triple.
    pub target: Fact<String>,
    /// The C library's name: `glibc` or `musl`.
    pub libc: Fact<String>,
    /// The C library's version.
    pub libc_version: Fact<String>,
    /// The command line, word by word.
    pub command: Fact<Vec<String>>,
}

impl Identity {
    pub(super) fn read(tree: &Tree) -> Identity {
        Identity {
            version: env!("CARGO_PKG_VERSION").to_string(),
            profile: built(option_env!("IPCMATRIX_PROFILE")),
            opt_level: built(option_env!("IPCMATRIX_OPT_LEVEL")),
            debug_assertions: cfg!(debug_assertions),
            rustc: built(option_env!("IPCMATRIX_RUSTC")),
            target: built(option_env!("IPCMATRIX_TARGET")),
            libc: libc_name(),
            libc_version: libc_version(tree).into(),
            command: command(tree).into(),
        }
    }
}

fn built(value: Option<&str>) -> Fact<String> {
    match value {
        Some(value) if !value.is_empty() => Fact::Known(value.to_string()),
        _ => Fact::unknown("the build did not say"),
    }
}

fn libc_name() -> Fact<String> {
    if cfg!(target_env = "gnu") {
        Fact::Known("glibc".to_string())
    } else if cfg!(target_env = "musl") {
        Fact::Known("musl".to_string())
    } else {
        Fact::unknown("built for another C library")
    }
}

/// The version of the GNU C library that this process has mapped, from the banner in its file
/// (libc(7), proc_pid_maps(5)). Asking the library itself would need a call outside safe Rust.
fn libc_version(tree: &Tree) -> Found<String> {
    let maps = tree.text("/proc/self/maps")?;
    let path = maps.lines().filter_map(mapped_file).find(|path| is_glibc(path));
    let path = path.ok_or("/proc/self/maps: no libc.so.6 (linked statically, or not glibc)")?;
    let image = tree.bytes(path, 16 << 20)?;
    banner_version(&image).ok_or_else(|| "libc.so.6: no banner of the GNU C Library".to_string())
}

fn mapped_file(line: &str) -> Option<&str> {
    line.find('/').map(|at| &line[at..])
}

fn is_glibc(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name == "libc.so.6" || (name.starts_with("libc-2.") && name.ends_with(".so"))
}

/// `2.39` from `GNU C Library (...) stable release version 2.39.`
fn banner_version(image: &[u8]) -> Option<String> {
    let start = b"GNU C Library (";
    let at = image.windows(start.len()).position(|window| window == start)?;
    let banner = String::from_utf8_lossy(&image[at..image.len().min(at + 200)]);
    let (_, rest) = banner.split_once("release version ")?;
    let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    let version = version.trim_end_matches('.');
    if version.is_empty() { None } else { Some(version.to_string()) }
}

/// Each word ends with a zero byte (proc_pid_cmdline(5)).
fn command(tree: &Tree) -> Found<Vec<String>> {
    let path = "/proc/self/cmdline";
    let bytes = tree.bytes(path, 1 << 20)?;
    let words = bytes.strip_suffix(b"\0").ok_or_else(|| format!("{path}: empty or cut short"))?;
    Ok(words.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_banner_gives_the_version() {
        let image = b"\x7fELF\0\0GNU C Library (Some GLIBC 2.39-0) stable release version 2.39.\nCopyright";
        assert_eq!(banner_version(image).as_deref(), Some("2.39"));
        let image = b"GNU C Library (GNU libc) development release version 2.41.9000.\n";
        assert_eq!(banner_version(image).as_deref(), Some("2.41.9000"));
        assert_eq!(banner_version(b"GNU C Library ("), None);
        assert_eq!(banner_version(b""), None);
    }

    #[test]
    fn only_the_c_library_counts() {
        assert!(is_glibc("/usr/lib/libc.so.6") && is_glibc("/lib/libc-2.31.so"));
        assert!(!is_glibc("/lib/libcap.so.2") && !is_glibc("/lib/libc-client.so"));
        assert_eq!(mapped_file("7f00-7f01 r--p 00 00:00 1    /lib/libc.so.6"), Some("/lib/libc.so.6"));
        assert_eq!(mapped_file("7f00-7f01 rw-p 00 00:00 0    [heap]"), None);
    }
}
