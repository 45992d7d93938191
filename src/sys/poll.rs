//! poll(2) and ppoll(2) on an array that the caller keeps, and select(2) and pselect(2) on a bitmap of any length.
#![allow(unsafe_code)]

use super::check;
use std::io;
use std::os::fd::RawFd;
use std::ptr;

/// A descriptor, what is asked of it, and what was found. poll(2).
pub type Polled = libc::pollfd;

/// A word of a bitmap of descriptors, as select(2) has it: bit n of the bitmap is bit n modulo the
/// length of a word in word n divided by it.
pub type Word = libc::c_ulong;

/// Descriptors in a [`Word`].
pub const WORD_DESCRIPTORS: usize = Word::BITS as usize;

/// How many of the descriptors are ready, after `milliseconds` at the most; a negative number waits without end.
///
/// # Errors
/// poll(2).
#[inline]
pub fn poll(descriptors: &mut [Polled], milliseconds: i32) -> io::Result<usize> {
    // SAFETY: the array is valid for its length, and the kernel writes into it during the call only.
    let found =
        unsafe { libc::poll(descriptors.as_mut_ptr(), descriptors.len() as libc::nfds_t, milliseconds) };
    check(found).map(|found| found as usize)
}

/// As [`poll`], by ppoll(2) with the signal mask left alone.
///
/// # Errors
/// ppoll(2).
#[inline]
pub fn ppoll(descriptors: &mut [Polled], milliseconds: i32) -> io::Result<usize> {
    let time = libc::timespec {
        tv_sec: libc::time_t::from(milliseconds / 1000),
        tv_nsec: libc::c_long::from(milliseconds % 1000) * 1_000_000,
    };
    let time = if milliseconds < 0 { ptr::null() } else { &raw const time };
    let count = descriptors.len() as libc::nfds_t;
    // SAFETY: as above; the time lives until the call returns, and a null signal mask leaves the mask alone.
    let found = unsafe { libc::ppoll(descriptors.as_mut_ptr(), count, time, ptr::null()) };
    check(found).map(|found| found as usize)
}

/// How many of the descriptors in the bitmap can be read, after `milliseconds` at the most; a negative number
/// waits without end. The bitmap keeps those. It may be longer than the `fd_set` of the C library, which
/// ends at descriptor 1023: the kernel of Linux takes any length.
///
/// # Errors
/// select(2); `InvalidInput` where the bitmap does not reach to `highest`.
#[inline]
pub fn select(highest: RawFd, set: &mut [Word], milliseconds: i32) -> io::Result<usize> {
    let count = count(highest, set)?;
    let mut time = libc::timeval {
        tv_sec: libc::time_t::from(milliseconds / 1000),
        tv_usec: libc::suseconds_t::from(milliseconds % 1000) * 1000,
    };
    let time = if milliseconds < 0 { ptr::null_mut() } else { &raw mut time };
    let none = ptr::null_mut();
    // SAFETY: the kernel reads and writes the first `count` bits of the bitmap, in whole words, and `count`
    // looked whether they are there; null sets are not looked at; the time lives until the call returns.
    let found = unsafe { libc::select(count, set.as_mut_ptr().cast(), none, none, time) };
    check(found).map(|found| found as usize)
}

/// As [`select`], by pselect(2) with the signal mask left alone.
///
/// # Errors
/// As [`select`].
#[inline]
pub fn pselect(highest: RawFd, set: &mut [Word], milliseconds: i32) -> io::Result<usize> {
    let count = count(highest, set)?;
    let time = libc::timespec {
        tv_sec: libc::time_t::from(milliseconds / 1000),
        tv_nsec: libc::c_long::from(milliseconds % 1000) * 1_000_000,
    };
    let time = if milliseconds < 0 { ptr::null() } else { &raw const time };
    let none = ptr::null_mut();
    // SAFETY: as above; a null signal mask leaves the mask alone.
    let found = unsafe { libc::pselect(count, set.as_mut_ptr().cast(), none, none, time, ptr::null()) };
    check(found).map(|found| found as usize)
}

/// The first argument of select(2): one more than the highest descriptor.
#[inline]
fn count(highest: RawFd, set: &[Word]) -> io::Result<libc::c_int> {
    let there = set.len() * WORD_DESCRIPTORS;
    if usize::try_from(highest).is_ok_and(|highest| highest < there) {
        Ok(highest + 1)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "the bitmap does not reach to the descriptor"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bitmap_that_is_too_short_is_refused() {
        for (highest, words) in [(0, 0), (64, 1), (-1, 1)] {
            let error = select(highest, &mut vec![0; words], 0).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{highest} in {words} words");
        }
        assert_eq!(select(63, &mut [0], 0).unwrap(), 0);
    }

    #[test]
    fn nothing_watched_is_nothing_ready() {
        assert_eq!(poll(&mut [], 0).unwrap(), 0);
        assert_eq!(ppoll(&mut [], 1).unwrap(), 0);
        assert_eq!(pselect(1000, &mut [0; 16], 1).unwrap(), 0);
    }
}
