//! An advisory lock on a whole file, which belongs to an open file description. flock(2).
//!
//! Each worker opens the file again, so that threads exclude each other too, and so do forked children.

use super::{Lock, anonymous_file};
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;

/// flock(2), by way of [`File::lock`].
pub struct Flock {
    file: File,
}

impl Lock for Flock {
    const NAME: &'static str = "flock";
    const SUMMARY: &'static str =
        "an advisory lock on an anonymous file (memfd), which each worker opens for itself, flock(2)";

    fn init(at: &mut MaybeUninit<Flock>) -> io::Result<()> {
        at.write(Flock { file: anonymous_file::create()? });
        Ok(())
    }

    fn own_handle(&self) -> io::Result<Option<Flock>> {
        Ok(Some(Flock { file: anonymous_file::reopen(&self.file)? }))
    }

    #[inline]
    fn hold(&self, critical: impl FnOnce()) -> io::Result<()> {
        self.file.lock()?;
        critical();
        self.file.unlock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::TryLockError;

    #[test]
    fn one_process_excludes_itself_by_a_second_handle() {
        let lock = Flock { file: anonymous_file::create().unwrap() };
        let [one, other] = [(); 2].map(|()| lock.own_handle().unwrap().unwrap());
        one.hold(|| {
            assert!(one.file.try_lock().is_ok(), "a handle does not exclude itself");
            assert!(matches!(other.file.try_lock(), Err(TryLockError::WouldBlock)));
        })
        .unwrap();
        assert!(other.file.try_lock().is_ok());
    }
}
