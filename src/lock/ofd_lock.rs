//! An advisory record lock that belongs to an open file description. fcntl(2), `F_OFD_SETLKW`.
//!
//! Each worker opens the file again, so that threads exclude each other too.

use super::fcntl_lock::first_byte;
use super::{Lock, anonymous_file};
use nix::fcntl::{FcntlArg, fcntl};
use nix::libc;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

/// fcntl(2), `F_OFD_SETLKW`.
pub struct OfdLock {
    file: File,
}

impl OfdLock {
    #[inline]
    fn set(&self, kind: libc::c_int) -> io::Result<()> {
        fcntl(&self.file, FcntlArg::F_OFD_SETLKW(&first_byte(kind)))?;
        Ok(())
    }
}

impl Lock for OfdLock {
    const NAME: &'static str = "ofd_lock";
    const SUMMARY: &'static str =
        "a record lock of an open file description, one a worker, on one byte of a memfd, fcntl(2)";

    fn init(at: &mut MaybeUninit<OfdLock>) -> io::Result<()> {
        at.write(OfdLock { file: anonymous_file::create()? });
        Ok(())
    }

    fn own_handle(&self) -> io::Result<Option<OfdLock>> {
        Ok(Some(OfdLock { file: anonymous_file::reopen(&self.file)? }))
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.set(libc::F_WRLCK)?;
        critical();
        self.set(libc::F_UNLCK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::errno::Errno;

    #[test]
    fn one_process_excludes_itself_by_a_second_handle() {
        let lock = OfdLock { file: anonymous_file::create().unwrap() };
        let [one, other] = [(); 2].map(|()| lock.own_handle().unwrap().unwrap());
        let attempt = |handle: &OfdLock| {
            fcntl(&handle.file, FcntlArg::F_OFD_SETLK(&first_byte(libc::F_WRLCK))).map(drop)
        };
        one.hold(|| {
            assert_eq!(attempt(&one), Ok(()), "a handle does not exclude itself");
            assert_eq!(attempt(&other), Err(Errno::EAGAIN));
        })
        .unwrap();
        assert_eq!(attempt(&other), Ok(()));
    }
}
