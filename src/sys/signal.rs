//! Handlers of signals that do more than set a flag. signal-safety(7).
#![allow(unsafe_code)]

use crate::measure::clock::monotonic_ns;
use signal_hook::low_level;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// When the first of some signals came, in nanoseconds of `CLOCK_MONOTONIC`; 0 before that.
#[derive(Clone, Debug, Default)]
pub struct First(Arc<AtomicU64>);

/// Ends the program with that exit code at once when the signal comes, if `first` came `apart_ns` ago or more; else notes it as
/// the first where there was none. One that follows sooner is the same request: timeout(1) and some shells send a signal to a
/// process and at once to its group.
///
/// # Errors
/// sigaction(2).
pub fn end_on_second(signal: i32, exit_code: i32, first: &First, apart_ns: u64) -> io::Result<()> {
    let First(came_ns) = first.clone();
    let handler = move || {
        let now_ns = monotonic_ns();
        let before = came_ns.compare_exchange(0, now_ns, Ordering::Relaxed, Ordering::Relaxed);
        if before.is_err_and(|came_ns| now_ns.saturating_sub(came_ns) >= apart_ns) {
            low_level::exit(exit_code);
        }
    };
    // SAFETY: the handler reads a clock, uses one atomic number and leaves by _exit(2): clock_gettime(2) and _exit(2) are
    // async-signal-safe, and it neither allocates, locks, panics nor changes errno, as its clock always exists.
    unsafe { low_level::register(signal, handler) }.map(drop)
}
