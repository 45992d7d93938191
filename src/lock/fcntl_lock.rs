//! An advisory record lock on a file without a name. fcntl(2), `F_SETLKW`.
//!
//! The lock belongs to the process: threads of one process do not exclude each other.

use super::Lock;
use crate::catalog::Reach;
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

/// fcntl(2), `F_SETLKW`.
pub struct FcntlLock {
    file: OwnedFd,
}

impl FcntlLock {
    #[inline]
    fn set(&self, kind: libc::c_int) -> io::Result<()> {
        let record = libc::flock {
            l_type: kind as libc::c_short,
            l_whence: libc::SEEK_SET as libc::c_short,
            l_start: 0,
            l_len: 1,
            l_pid: 0,
        };
        fcntl(&self.file, FcntlArg::F_SETLKW(&record))?;
        Ok(())
    }
}

impl Lock for FcntlLock {
    const NAME: &'static str = "fcntl_lock";
    const SUMMARY: &'static str = "a record lock on one byte of an anonymous file (memfd), fcntl(2)";
    const REACH: Reach = Reach::Processes;

    fn init(at: &mut MaybeUninit<FcntlLock>) -> io::Result<()> {
        let file = memfd_create(c"ipcmatrix", MFdFlags::MFD_CLOEXEC)?;
        at.write(FcntlLock { file });
        Ok(())
    }

    #[inline]
    fn exclusive(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.set(libc::F_WRLCK)?;
        critical();
        self.set(libc::F_UNLCK)
    }
}
