//! Logs: what keeps the lines of several threads, in a file or by way of a daemon.
//!
//! A mechanism implements `FileWriter` where it writes the file itself, else [`LogSink`], in a file of its own, and
//! gets a line in [`DRIVERS`]. Whoever logs never reads a clock, prints or forks; the daemon of ours, which is another
//! program but for its text, is forked by `sys/process.rs` and reads the clock to keep its limit.

mod append;
mod buffered_writer;
mod check;
mod daemon;
mod dev_log;
mod direct_append;
mod direct_write;
mod in_file;
mod line;
mod listener;
mod private_file;
mod private_socket;
mod sender;
mod syslog_daemon;
mod tail;
mod writev_batch;

pub use direct_append::DirectAppend;
pub use in_file::{FileWriter, InFile};
pub use private_file::PrivateFile;

use crate::catalog::{Driver, Family, Limit, LimitName, alone};
use crate::cell::{Axis, Cell, Measure, Unavailable};
use crate::workload::{Drained, Effective};
use append::Append;
use check::Check;
use line::{LEAST_LINE_BYTES, MOST_LINE_BYTES};
use std::io;

/// Keeps lines.
pub trait LogSink: Sync + Sized + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page or source.
    const SUMMARY: &'static str;
    /// What a reader of a table with it must know, or nothing.
    const NOTE: &'static str = "";
    /// Axes of its own.
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[];
    /// The fewest lines of a batch of each worker: workers that begin some milliseconds apart, and what a socket holds,
    /// must not show.
    const LEAST_LINES: u64 = 10_000;
    /// Nanoseconds that a batch need not exceed: there is room for the lines of so much time.
    const LONGEST_BATCH_NS: u64 = 20_000_000;
    /// What one worker logs with.
    type Writer: Writer;

    /// Whether this machine has what the cell needs; it changes nothing.
    ///
    /// # Errors
    /// What is missing, and what would help.
    fn usable(cell: &Cell) -> Result<(), Unavailable>;

    /// Opens it, in the coordinator, before any worker starts.
    ///
    /// # Errors
    /// The system call that failed; an [`Unavailable`] inside where only the opening shows that something is missing.
    fn open(cell: &Cell) -> io::Result<Self>;

    /// What stands in front of the text of each line, and whether the newline is handed over with it.
    fn framing(&self) -> Framing;

    /// What may happen to lines on their way.
    fn promise(&self) -> Promise;

    /// In the worker, before any clock.
    ///
    /// # Errors
    /// The system call that failed.
    fn writer(&self, worker: usize) -> io::Result<Self::Writer>;

    /// In the coordinator, after a batch has drained: gives every line of it to the check.
    ///
    /// # Errors
    /// The system call that failed.
    fn read_back(&self, check: &mut Check) -> io::Result<()>;

    /// Bytes that a batch may write.
    fn room_bytes(&self) -> u64;

    /// What helps where that is too little.
    fn room_remedy(&self) -> &'static str {
        private_file::ROOM_REMEDY
    }

    /// Its daemon, where it has one whose CPU time can be read.
    fn daemon(&self) -> Option<i32> {
        None
    }

    /// In the coordinator, after a batch has drained: what its daemon counted since the last time, where it counts.
    ///
    /// # Errors
    /// That the daemon failed.
    fn counted(&self) -> io::Result<Option<Counted>> {
        Ok(None)
    }

    /// Parameters in force.
    fn effective(&self) -> Effective;
}

/// What one worker logs with.
pub trait Writer {
    /// Logs one line. Not taken (`false`) is a line that would have meant to wait, where that is not wanted.
    ///
    /// # Errors
    /// The system call that failed.
    fn append(&mut self, line: &[u8]) -> io::Result<bool>;

    /// At the end of a batch, its clock still running: hands over what is kept back.
    ///
    /// # Errors
    /// The system call that failed.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Outside the clock: waits until all that was handed over is in the file.
    ///
    /// # Errors
    /// The system call that failed, or that the daemon is gone.
    fn drain(&mut self) -> io::Result<Drained> {
        Ok(Drained::AtOnce)
    }
}

/// How a line is dressed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// In front of the text; empty where the text is the whole line.
    pub prefix: String,
    /// The last part of the prefix, by which lines are known in the file; empty likewise.
    pub tag: String,
    /// Whether others write into the file too.
    pub has_strangers: bool,
}

/// What may happen to lines on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Nothing: each is in the file once and whole.
    Everything,
    /// Some are refused or limited, and those are counted: no other is missing.
    Accounted,
    /// Some are lost, and only the file tells which.
    Nothing,
}

/// What a daemon counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Lines that came.
    pub received: u64,
    /// Of these, lines that were dropped to keep a limit.
    pub limited: u64,
    /// Of these, lines that were written.
    pub written: u64,
}

/// The driver that measures lines appended to `S`.
pub const fn append<S: LogSink>() -> Driver {
    Driver {
        note: S::NOTE,
        extra_axes: S::EXTRA_AXES,
        usable: S::usable,
        limits,
        rough_op_ns,
        ..Driver::plain(Family::Log, Measure::Append, S::NAME, S::SUMMARY, |cells| {
            Ok(Box::new(Append::<S>::open(alone(cells)?)?))
        })
    }
}

/// Lines that RFC 3164 knows, and that have room for what proves them.
fn limits(cell: &Cell) -> Vec<Limit> {
    let needs = cell.count(Axis::MessageBytes);
    let most = LimitName::Protocol {
        name: "a line of a log",
        most: MOST_LINE_BYTES as u64,
        why: "a packet of RFC 3164 is no longer",
    };
    let short = LimitName::Refused {
        reason: "a line of a log has a date, a thread and a number twice, so it has 72 bytes at least",
        remedy: "choose message_bytes from 72 to 1024",
    };
    let too_short = (needs < LEAST_LINE_BYTES as u64).then_some(Limit { name: short, needs });
    too_short.into_iter().chain([Limit { name: most, needs }]).collect()
}

fn rough_op_ns(cell: &Cell) -> u64 {
    3_000 * cell.count(Axis::Workers)
}

/// Every measure of every log.
pub const DRIVERS: &[Driver] = &[
    append::<InFile<direct_write::DirectWrite>>(),
    append::<InFile<direct_append::DirectAppend>>(),
    append::<InFile<buffered_writer::BufferedWriter>>(),
    append::<InFile<writev_batch::WritevBatch>>(),
    append::<syslog_daemon::SyslogDaemon>(),
    append::<dev_log::DevLog>(),
];

#[cfg(test)]
mod tests;
