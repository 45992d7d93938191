//! The log daemon of ours: takes datagrams of RFC 3164, reads their priority and writes a line for each into the file.

use super::line::{MOST_LINE_BYTES, behind_priority};
use super::private_file::write_whole;
use crate::measure::clock::monotonic_ns;
use nix::sys::socket::{MsgFlags, send};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// A limited daemon writes that many lines of an interval, and drops the others. rsyslog had 200 in 5 s for its socket
/// (`$SystemLogRateLimitBurst`, `$SystemLogRateLimitInterval`): a fifth of the lines in a five-thousandth of the time, so
/// that even a short batch has many intervals.
pub const LIMIT_LINES: u64 = 40;
/// Nanoseconds of an interval.
pub const LIMIT_INTERVAL_NS: u64 = 1_000_000;

/// In front of the number of a worker who wants to know that all it sent has been dealt with.
const MARK: u8 = 0;

/// What a worker sends to be told when everything before has been dealt with.
pub fn mark(worker: usize) -> [u8; 2] {
    [MARK, worker as u8]
}

/// What the daemon counts, in memory that it shares with the coordinator.
#[derive(Default)]
pub struct Counters {
    /// Lines that came.
    pub received: AtomicU64,
    /// Lines that were dropped to keep the limit.
    pub limited: AtomicU64,
    /// Lines that were written.
    pub written: AtomicU64,
    /// The error of the system call that ended it, or 0.
    pub error: AtomicI32,
}

/// Everything that the daemon has.
pub struct Daemon<'a> {
    /// Where the lines come.
    pub socket: &'a UnixDatagram,
    /// Where they go.
    pub file: &'a File,
    /// Whether it keeps a limit.
    pub limited: bool,
    /// What it counts.
    pub counters: &'a Counters,
    /// Where each worker waits for the answer to its mark.
    pub replies: &'a [OwnedFd],
}

impl Daemon<'_> {
    /// Serves until it is killed.
    ///
    /// # Errors
    /// recv(2), write(2); `InvalidData` for a message without a priority.
    pub fn serve(&self) -> io::Result<()> {
        let mut buffer = [0; MOST_LINE_BYTES + 1];
        let (mut limiter, mut marks) = (Limiter::default(), 0);
        loop {
            let got = self.socket.recv(&mut buffer[..MOST_LINE_BYTES])?;
            if buffer[0] == MARK && got == mark(0).len() {
                // A batch is over when every worker has marked its end; until then the limit holds.
                marks += 1;
                if marks % self.replies.len() == 0 {
                    limiter = Limiter::default();
                }
                self.answer(usize::from(buffer[1]))?;
                continue;
            }
            add(&self.counters.received);
            let (_priority, begin) = behind_priority(&buffer[..got])?;
            if self.limited && !limiter.lets_pass(monotonic_ns()) {
                add(&self.counters.limited);
                continue;
            }
            buffer[got] = b'\n';
            write_whole(self.file, &buffer[begin..=got])?;
            add(&self.counters.written);
        }
    }

    fn answer(&self, worker: usize) -> io::Result<()> {
        let to = self.replies.get(worker).ok_or(io::ErrorKind::InvalidData)?;
        send(to.as_raw_fd(), &[MARK], MsgFlags::MSG_NOSIGNAL)?;
        Ok(())
    }
}

/// Only the daemon counts, so no two add at once.
fn add(counter: &AtomicU64) {
    counter.store(counter.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

/// So many lines of an interval, which begins with the first line after the last one ended.
#[derive(Default)]
struct Limiter {
    begin_ns: Option<u64>,
    lines: u64,
}

impl Limiter {
    fn lets_pass(&mut self, now_ns: u64) -> bool {
        if self.begin_ns.is_none_or(|begin| now_ns - begin >= LIMIT_INTERVAL_NS) {
            *self = Limiter { begin_ns: Some(now_ns), lines: 0 };
        }
        self.lines += 1;
        self.lines <= LIMIT_LINES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_one_of_each_interval() {
        let mut limiter = Limiter::default();
        let mut passed = |at: u64, lines: u64| (0..lines).filter(|_| limiter.lets_pass(at)).count() as u64;
        assert_eq!(passed(5, 30), 30);
        assert_eq!(passed(LIMIT_INTERVAL_NS, 30), 10, "the interval began at 5");
        assert_eq!(passed(LIMIT_INTERVAL_NS + 5, 100), LIMIT_LINES, "a new one");
        assert_eq!(passed(9 * LIMIT_INTERVAL_NS, 3), 3);
    }
}
