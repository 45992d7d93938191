//! Sleeping on a word of memory that processes share. futex(2).
#![allow(unsafe_code)]

use std::io;
use std::ptr;
use std::sync::atomic::AtomicU32;

/// Sleeps while the word is `expected`, until somebody wakes it. futex(2), `FUTEX_WAIT`.
///
/// It may also return early: when the word was something else already (`EAGAIN`), when a signal came
/// (`EINTR`), or for no reason. The caller looks again.
///
/// # Errors
/// futex(2), but for those two.
pub fn wait(word: &AtomicU32, expected: u32) -> io::Result<()> {
    let forever = ptr::null::<libc::timespec>();
    // SAFETY: the word is an aligned 32-bit integer that lives for the whole call, the kernel only reads it,
    // and without a timeout no other pointer is followed. Not private: other processes map the same page.
    let returned =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, forever) };
    if returned == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EAGAIN | libc::EINTR) => Ok(()),
        _ => Err(error),
    }
}

/// Wakes up to `count` of those who sleep on the word, and returns how many. futex(2), `FUTEX_WAKE`.
///
/// # Errors
/// futex(2).
pub fn wake(word: &AtomicU32, count: i32) -> io::Result<usize> {
    // SAFETY: the kernel takes the address as a name and does not touch what stands there.
    let returned = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, count) };
    usize::try_from(returned).map_err(|_| io::Error::last_os_error())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering;

    #[test]
    fn a_word_that_changed_is_not_slept_on() {
        wait(&AtomicU32::new(1), 0).unwrap();
    }

    #[test]
    fn a_sleeper_is_woken_and_nobody_else_is_counted() {
        let word = AtomicU32::new(0);
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| {
                while word.load(Ordering::Acquire) == 0 {
                    wait(&word, 0).unwrap();
                }
            });
            word.store(1, Ordering::Release);
            assert!(wake(&word, 1).unwrap() <= 1);
            sleeper.join().unwrap();
        });
        assert_eq!(wake(&word, 1).unwrap(), 0);
    }
}
