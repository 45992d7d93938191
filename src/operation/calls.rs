//! Calls of the system and of the C library, each of which does as little as it can.

use super::Operation;
use super::variables::unwritten;
use crate::cell::Unavailable;
use crate::measure::clock::monotonic_ns;
use crate::sys::failing_close;
use crate::workload::mismatch;
use std::io;
use std::os::unix::process::parent_id;

/// A system call that succeeds and does nothing.
pub struct Getppid {
    parent: u32,
}

impl Operation for Getppid {
    const NAME: &'static str = "getppid";
    const SUMMARY: &'static str = "getppid(2): a system call that does nothing";

    fn enter(_depth: u64) -> io::Result<Getppid> {
        Ok(Getppid { parent: parent_id() })
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        let said = parent_id();
        if said == self.parent { Ok(()) } else { Err(wrong(Self::NAME, i64::from(said), self.parent.into())) }
    }
}

#[cold]
fn wrong(name: &str, found: i64, expected: i64) -> io::Error {
    mismatch(format!("{name} returned {found}, not {expected}"))
}

/// The number of the error that the kernel has for a descriptor that is not open.
const BAD_DESCRIPTOR: i32 = nix::libc::EBADF;

/// A system call that fails, by the C library.
pub struct FailingClose;

impl Operation for FailingClose {
    const NAME: &'static str = "failing_close";
    const SUMMARY: &'static str =
        "close(2) of a descriptor that is not open, by the C library: -1, and EBADF in errno";

    fn enter(_depth: u64) -> io::Result<FailingClose> {
        Ok(FailingClose)
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        match failing_close::by_library() {
            Err(error) if error.raw_os_error() == Some(BAD_DESCRIPTOR) => Ok(()),
            Err(error) => Err(error),
            Ok(returned) => Err(wrong(Self::NAME, returned.into(), -1)),
        }
    }
}

/// The same without the C library.
pub struct FailingCloseRaw;

impl Operation for FailingCloseRaw {
    const NAME: &'static str = "failing_close_raw";
    const SUMMARY: &'static str =
        "close(2) of a descriptor that is not open, by the instruction alone: no errno, syscall(2)";

    fn present() -> Result<(), Unavailable> {
        if failing_close::HAS_RAW { Ok(()) } else { Err(unwritten()) }
    }

    fn enter(_depth: u64) -> io::Result<FailingCloseRaw> {
        Ok(FailingCloseRaw)
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        match failing_close::raw() {
            returned if returned == -(BAD_DESCRIPTOR as isize) => Ok(()),
            returned => Err(wrong(Self::NAME, returned as i64, -i64::from(BAD_DESCRIPTOR))),
        }
    }
}

/// A call that the kernel answers in the process itself.
pub struct ClockGettime {
    last_ns: u64,
    /// Readings since the last check that differed from the one before.
    moved: u64,
}

impl Operation for ClockGettime {
    const NAME: &'static str = "clock_gettime";
    const SUMMARY: &'static str =
        "clock_gettime(2) of CLOCK_MONOTONIC, by the vDSO where there is one: vdso(7)";
    const NOTE: &'static str = "clock_gettime includes making one number of seconds and nanoseconds, and a look whether it went back and whether it moved on.";

    fn enter(_depth: u64) -> io::Result<ClockGettime> {
        Ok(ClockGettime { last_ns: monotonic_ns(), moved: 0 })
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        let now_ns = monotonic_ns();
        if now_ns < self.last_ns || now_ns == 0 {
            return Err(went_back(self.last_ns, now_ns));
        }
        self.moved += u64::from(now_ns != self.last_ns);
        self.last_ns = now_ns;
        Ok(())
    }

    /// One reading that served all would have moved once.
    fn check(&mut self, ops: u64) -> io::Result<()> {
        match std::mem::take(&mut self.moved) {
            0 | 1 if ops >= MANY_READINGS => Err(stood_still(ops)),
            _ => Ok(()),
        }
    }
}

/// So many readings take longer than the clock takes to move on.
const MANY_READINGS: u64 = 100_000;

#[cold]
fn stood_still(ops: u64) -> io::Error {
    mismatch(format!("clock_gettime told at most two different times in {ops} calls"))
}

#[cold]
fn went_back(last_ns: u64, now_ns: u64) -> io::Error {
    mismatch(format!("clock_gettime went back from {last_ns} ns to {now_ns} ns"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_read_once_for_all_is_seen() {
        let mut clock = ClockGettime::enter(0).unwrap();
        for _ in 0..MANY_READINGS {
            clock.once().unwrap();
        }
        clock.check(MANY_READINGS).unwrap();
        clock.once().unwrap();
        let error = clock.check(MANY_READINGS).unwrap_err().to_string();
        assert_eq!(error, "clock_gettime told at most two different times in 100000 calls");
    }
}
