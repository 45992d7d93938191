//! Descriptors with a number of one's choice. fcntl(2), dup(2).
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// Duplicates a descriptor to that number, closed on exec(2). Standard error (2) is replaced; any other number
/// that is in use is left alone.
///
/// # Errors
/// `AddrInUse` where the number is in use, `EMFILE` or `EINVAL` where it lies beyond `RLIMIT_NOFILE`.
pub fn duplicate_to(descriptor: BorrowedFd<'_>, number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the calls take numbers only; what they open is new, or standard error, which nobody owns.
    let opened = unsafe {
        match number {
            libc::STDERR_FILENO => libc::dup2(descriptor.as_raw_fd(), number),
            _ => libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, number),
        }
    };
    // SAFETY: the descriptor was opened here, and nobody else knows it.
    let opened = unsafe { OwnedFd::from_raw_fd(check(opened)?) };
    match opened.as_raw_fd() == number {
        true => Ok(opened),
        false => {
            let text = format!("the number {number} is in use by another descriptor of this process");
            Err(io::Error::new(io::ErrorKind::AddrInUse, text))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::AsFd;

    #[test]
    fn a_number_is_taken_once() {
        let file = File::open("/dev/null").unwrap();
        let first = duplicate_to(file.as_fd(), 801).unwrap();
        assert_eq!(first.as_raw_fd(), 801);
        assert_eq!(duplicate_to(file.as_fd(), 801).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(first);
        drop(duplicate_to(file.as_fd(), 801).unwrap());
        assert!(duplicate_to(file.as_fd(), RawFd::MAX).is_err());
    }
}
