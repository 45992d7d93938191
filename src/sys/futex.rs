//! Sleeping on a word in memory until somebody wakes. futex(2).
//!
//! Without `FUTEX_PRIVATE_FLAG`, so that the word may lie in memory that processes share.
#![allow(unsafe_code)]

use crate::sys::check;
use std::io;
use std::sync::atomic::AtomicU32;

/// Sleeps until woken, unless the word is not `expected` to begin with. It may also return for nothing (a
/// signal, a late wake-up): look at the word again.
///
/// # Errors
/// futex(2), `FUTEX_WAIT`: what is not a reason to look again, e.g. `ENOSYS`.
pub fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
    let forever = std::ptr::null::<libc::timespec>();
    // SAFETY: the word is aligned and outlives the call; a null pointer sets no timeout.
    let slept = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, forever) };
    match check(slept as libc::c_int) {
        Err(error) if !matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR)) => Err(error),
        _ => Ok(()),
    }
}

/// Wakes at most that many of those who sleep on the word.
///
/// # Errors
/// futex(2), `FUTEX_WAKE`.
pub fn wake(word: &AtomicU32, most: u32) -> io::Result<()> {
    // SAFETY: the kernel takes the address as a name only; the word is aligned and mapped.
    check(unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, most) } as libc::c_int)
        .map(drop)
}
