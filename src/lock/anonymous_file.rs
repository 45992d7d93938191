//! A file without a name, for the locks that belong to a file. memfd_create(2).

use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

/// A new, empty file.
///
/// # Errors
/// memfd_create(2): `EMFILE`, `ENFILE`, `ENOMEM`.
pub fn create() -> io::Result<File> {
    Ok(memfd_create(c"ipcmatrix", MFdFlags::MFD_CLOEXEC)?.into())
}

/// The same file by an open file description of its own, which a copy by dup(2) or fork(2) would not have.
///
/// # Errors
/// open(2); `NotFound` where /proc is not mounted.
pub fn reopen(file: &File) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}
