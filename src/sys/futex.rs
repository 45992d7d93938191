//! Futexes: sleep until a word in memory changes. futex(2).
//!
//! Both calls leave the private flag out, so that the word may lie in memory that processes share.
#![allow(unsafe_code)]

use std::io;
use std::ptr;
use std::sync::atomic::AtomicU32;

/// Sleeps while the word holds `expected`, until somebody wakes it. `FUTEX_WAIT`, without a time-out.
///
/// It may also return early: when the word held something else, or after a signal. The caller looks again.
///
/// # Errors
/// futex(2), but for `EAGAIN` and `EINTR`.
#[inline]
pub fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
    let no_time_out = ptr::null::<libc::timespec>();
    // SAFETY: the word is valid and aligned for the whole call, and a null time-out is allowed.
    let returned =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, no_time_out) };
    if returned == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

/// Wakes at most `count` of those who sleep on the word, and returns how many. `FUTEX_WAKE`.
///
/// # Errors
/// futex(2).
#[inline]
pub fn wake(word: &AtomicU32, count: i32) -> io::Result<usize> {
    // SAFETY: the word is valid and aligned; the kernel uses its address only.
    let woken = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, count) };
    usize::try_from(woken).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_word_that_changed_already_is_not_waited_for() {
        wait(&AtomicU32::new(1), 0).unwrap();
    }

    #[test]
    fn a_sleeper_is_woken_and_counted() {
        let word = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                while word.load(Ordering::Acquire) == 0 {
                    wait(&word, 0).unwrap();
                }
            });
            // Nobody changes the word yet, so a sleeper that is woken looks and sleeps again.
            while wake(&word, i32::MAX).unwrap() == 0 {
                std::thread::yield_now();
            }
            assert!(!sleeper.is_finished());
            word.store(1, Ordering::Release);
            wake(&word, 1).unwrap();
        });
        assert_eq!(wake(&word, 1).unwrap(), 0);
    }
}
