//! An advisory record lock on a file without a name. fcntl(2), `F_SETLKW`.
//!
//! The lock belongs to the process: threads of one process do not exclude each other.

use super::{Lock, anonymous_file};
use crate::catalog::Reach;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

/// fcntl(2), `F_SETLKW`.
pub struct FcntlLock {
    file: File,
}

impl FcntlLock {
    #[inline]
    fn set(&self, kind: libc::c_int) -> io::Result<()> {
        fcntl(&self.file, FcntlArg::F_SETLKW(&first_byte(kind)))?;
        Ok(())
    }
}

impl Lock for FcntlLock {
    const NAME: &'static str = "fcntl_lock";
    const SUMMARY: &'static str = "a record lock on one byte of an anonymous file (memfd), fcntl(2)";
    const REACH: Reach = Reach::Processes;

    fn init(at: &mut MaybeUninit<FcntlLock>) -> io::Result<()> {
        at.write(FcntlLock { file: anonymous_file::create()? });
        Ok(())
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.set(libc::F_WRLCK)?;
        critical();
        self.set(libc::F_UNLCK)
    }
}

/// What fcntl(2) is to do with the first byte of a file: `F_WRLCK` or `F_UNLCK`. The process id must be 0 for
/// locks of open file descriptions and is not read for the others.
#[inline]
pub fn first_byte(kind: libc::c_int) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 1,
        l_pid: 0,
    }
}
