//! The only file that reads a clock. clock_gettime(2).

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;

/// Nanoseconds on `CLOCK_MONOTONIC`.
#[inline]
pub fn monotonic_ns() -> u64 {
    read(ClockId::CLOCK_MONOTONIC)
}

/// CPU time of the calling thread, in nanoseconds (`CLOCK_THREAD_CPUTIME_ID`).
#[inline]
pub fn thread_cpu_ns() -> u64 {
    read(ClockId::CLOCK_THREAD_CPUTIME_ID)
}

/// CPU time of all threads of a process, in nanoseconds. `None` where there is no such process.
/// clock_getcpuclockid(3).
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
    let clock = clock_getcpuclockid(Pid::from_raw(pid)).ok()?;
    clock_gettime(clock).ok().map(|at| at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64)
}

/// The date and time now in UTC as RFC 3164, section 4.1.2, has it: `Oct 11 22:14:15`.
pub fn syslog_now() -> String {
    let now = jiff::Timestamp::from_second(read(ClockId::CLOCK_REALTIME) as i64 / 1_000_000_000);
    now.map(|time| time.strftime("%b %e %H:%M:%S").to_string()).unwrap_or_default()
}

/// The date and time now, RFC 3339 in UTC, to the second.
pub fn utc_now() -> String {
    let now = jiff::Timestamp::from_second(read(ClockId::CLOCK_REALTIME) as i64 / 1_000_000_000);
    now.map(|time| time.to_string()).unwrap_or_default()
}

fn read(clock: ClockId) -> u64 {
    // These clocks exist on every kernel that runs this program; 0 would show as a broken figure at once.
    clock_gettime(clock).map(|at| at.tv_sec() as u64 * 1_000_000_000 + at.tv_nsec() as u64).unwrap_or(0)
}

/// A source of time, so that tests can put a scripted one in its place.
pub trait Clock {
    /// Nanoseconds since some fixed moment.
    fn now_ns(&self) -> u64;
}

/// `CLOCK_MONOTONIC`.
pub struct Monotonic;

impl Clock for Monotonic {
    fn now_ns(&self) -> u64 {
        monotonic_ns()
    }
}

/// `CLOCK_MONOTONIC_RAW`: the same, at a rate that no time daemon changes.
pub struct MonotonicRaw;

impl Clock for MonotonicRaw {
    fn now_ns(&self) -> u64 {
        read(ClockId::CLOCK_MONOTONIC_RAW)
    }
}

/// A moment after which waiting is given up.
#[derive(Clone, Copy, Debug)]
pub struct Deadline {
    at_ns: u64,
}

impl Deadline {
    /// That many milliseconds from now.
    pub fn after_ms(ms: u64) -> Deadline {
        Deadline { at_ns: monotonic_ns().saturating_add(ms.saturating_mul(1_000_000)) }
    }

    /// Milliseconds left, rounded up; 0 when it has passed.
    pub fn left_ms(self) -> u64 {
        self.at_ns.saturating_sub(monotonic_ns()).div_ceil(1_000_000)
    }
}
