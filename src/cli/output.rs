//! Where documents go: standard output, and files that appear whole or not at all.

use super::colour::{self, Paint};
use super::usage;
use anyhow::{Context, Result};
use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, open};
use nix::sys::stat::Mode;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

/// The context of an error on standard output.
#[derive(Debug)]
pub struct Stdout;

impl fmt::Display for Stdout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot write to standard output")
    }
}

/// What a complaint begins with.
const COMPLAINS: &str = "ipcmatrix:";

/// Prints a document.
///
/// # Errors
/// What the reader of standard output refuses; a closed pipe ends the program quietly.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context(Stdout)
}

/// Says a line on standard error; what the program complains of begins with its name, which is in colour where that shows
/// colours. Nobody is left to be told where that fails.
pub fn say(line: &str) {
    let _ = match line.strip_prefix(COMPLAINS) {
        Some(rest) => writeln!(io::stderr(), "{}{rest}", Paint::stderr().word(colour::BAD, COMPLAINS)),
        None => writeln!(io::stderr(), "{line}"),
    };
}

/// Writes a file that is there whole or not at all: without a name first, then linked, so that no
/// temporary file is left whatever ends the program. Where the file system cannot, by a rename.
///
/// # Errors
/// What the file system refuses, with the path.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let written = match write_unnamed(path, text) {
        Err(error) if cannot_link(&error) => write_renamed(path, text),
        other => other,
    };
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file at a place that the user named, or below a folder that was.
///
/// # Errors
/// What the file system refuses, with the path: exit code 2, as another place would do.
pub fn write_asked(path: &Path, text: &str) -> Result<()> {
    write(path, text).map_err(|error| usage(format!("{error:#}; name a place that can be written with -o")))
}

fn cannot_link(error: &io::Error) -> bool {
    use nix::libc::{EEXIST, EISDIR, ENOENT, EOPNOTSUPP};
    // ENOENT: /proc is not mounted; a folder that is gone gives it again with the rename.
    matches!(error.raw_os_error(), Some(EEXIST | EISDIR | EOPNOTSUPP | ENOENT))
}

fn write_unnamed(path: &Path, text: &str) -> io::Result<()> {
    let flags = OFlag::O_TMPFILE | OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    let mut file = File::from(open(folder_of(path), flags, Mode::from_bits_truncate(0o644))?);
    file.write_all(text.as_bytes())?;
    file.sync_data()?;
    let ours = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    nix::unistd::linkat(AT_FDCWD, &ours, AT_FDCWD, path, AtFlags::AT_SYMLINK_FOLLOW)?;
    Ok(())
}

fn write_renamed(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = fs::write(&partial, text).and_then(|()| fs::rename(&partial, path));
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Replaces a file that is there by one with the same permissions, whole or not at all.
///
/// # Errors
/// What the file system refuses, with the path.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let partial = path.with_file_name(format!(".{name}.{}.partial", std::process::id()));
    let written = fs::metadata(path).and_then(|found| {
        let mut file = File::create_new(&partial)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(found.permissions())?;
        file.sync_data()?;
        fs::rename(&partial, path)
    });
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn folder_of(path: &Path) -> &Path {
    or_here(path.parent().unwrap_or(path))
}

/// The folder of that name, which is the current one where it has none.
pub fn or_here(folder: &Path) -> &Path {
    if folder == Path::new("") { Path::new(".") } else { folder }
}

/// Makes the folder of a run: the one that was asked for, or `reports/DATE-MACHINE`, with a number behind
/// where that is taken.
///
/// # Errors
/// A folder that holds a run already, or that cannot be made or written: exit code 2, nothing was run.
pub fn run_folder(asked: Option<&Path>, date: &str, machine: &str) -> Result<PathBuf> {
    let folder = match asked {
        Some(folder) => folder.to_path_buf(),
        None => free_name(Path::new("reports"), &format!("{date}-{machine}")),
    };
    let shown = folder.display();
    for taken in ["records.jsonl", "environment.json", "README.md"] {
        if folder.join(taken).symlink_metadata().is_ok() {
            return Err(usage(format!("{shown} holds {taken} already: name another folder with -o")));
        }
    }
    fs::create_dir_all(&folder)
        .map_err(|error| usage(format!("cannot make the folder {shown}: {error}; name another with -o")))?;
    Ok(folder)
}

fn free_name(parent: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|number| parent.join(format!("{name}-{number}")));
    std::iter::once(parent.join(name))
        .chain(numbered)
        .find(|path| path.symlink_metadata().is_err())
        .unwrap_or_else(|| parent.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_appears_whole_and_may_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("README.md");
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_gone_is_told_with_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gone").join("README.md");
        let error = format!("{:#}", write(&path, "x").unwrap_err());
        assert!(error.contains("gone/README.md"), "{error}");
    }

    #[test]
    fn a_run_never_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("records.jsonl"), "").unwrap();
        let error = run_folder(Some(folder.path()), "d", "m").unwrap_err();
        assert!(error.to_string().contains("records.jsonl"), "{error}");
        fs::create_dir(folder.path().join("a")).unwrap();
        assert_eq!(free_name(folder.path(), "a"), folder.path().join("a-2"));
    }
}
