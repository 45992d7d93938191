//! Append: every worker logs `ops` lines. Each is built on the stack, with its thread and its number, and handed over.
//!
//! After each batch, outside the clock, the log is read back: every line is looked for, and the sums must add up.

use super::check::{Check, Form, Found};
use super::line::{Line, MOST_LINE_BYTES};
use super::{Counted, LogSink, Promise, Writer};
use crate::cell::{Axis, Cell, Unavailable};
use crate::workload::{Batch, Body, Delivery, Drained, Effective, Tally, Workload, mismatch};
use std::io;
use std::sync::{Mutex, PoisonError};

/// Lines appended to one log.
pub struct Append<S> {
    sink: S,
    workers: usize,
    line_bytes: usize,
    form: Form,
    /// Of the last batch that verified.
    delivery: Mutex<Option<Delivery>>,
}

impl<S: LogSink> Append<S> {
    /// Opens the log.
    ///
    /// # Errors
    /// What the log needs; `InvalidInput` for lines that cannot be.
    pub fn open(cell: &Cell) -> io::Result<Append<S>> {
        let sink = S::open(cell)?;
        let (workers, line_bytes) = (cell.count(Axis::Workers) as usize, cell.message_bytes());
        let framing = sink.framing();
        let line = Line::new(&framing.prefix, line_bytes, 0, true)?;
        let form = Form {
            tag: framing.tag.into_bytes(),
            text_bytes: line.text_bytes(),
            has_strangers: framing.has_strangers,
        };
        Ok(Append { sink, workers, line_bytes, form, delivery: Mutex::new(None) })
    }

    /// Lines of each worker for which there is room.
    fn most_ops(&self) -> u64 {
        self.sink.room_bytes() / (self.workers * self.line_bytes) as u64
    }
}

/// One worker.
struct Logger<W> {
    writer: W,
    line: Line,
    /// The number of its next line.
    next: u64,
    most_ops: u64,
    room_remedy: &'static str,
}

impl<W: Writer> Body for Logger<W> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        if ops > self.most_ops {
            return Err(no_room(ops, self.most_ops, self.room_remedy));
        }
        let mut buffer = [0; MOST_LINE_BYTES];
        let mut refused = 0;
        for number in self.next..self.next + ops {
            let line = self.line.build(&mut buffer, number);
            refused += u64::from(!self.writer.append(line)?);
        }
        self.writer.flush()?;
        self.next += ops;
        Ok(Tally { refused: Some(refused), ..Tally::default() })
    }

    fn drain(&mut self) -> io::Result<Drained> {
        self.writer.drain()
    }
}

#[cold]
fn no_room(ops: u64, most: u64, remedy: &str) -> io::Error {
    let why = Unavailable {
        reason: format!(
            "a batch of {ops} lines a worker has no room: the file may have {most} of each (what the disk has left; for a \
             file of ours also RLIMIT_FSIZE, and 1 GiB in any case)"
        ),
        remedy: remedy.into(),
    };
    io::Error::new(io::ErrorKind::StorageFull, why)
}

impl<S: LogSink> Workload for Append<S> {
    fn workers(&self) -> usize {
        self.workers
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        let framing = self.sink.framing();
        let newline = framing.prefix.is_empty();
        let line = Line::new(&framing.prefix, self.line_bytes, worker, newline)?;
        let (writer, room_remedy) = (self.sink.writer(worker)?, self.sink.room_remedy());
        Ok(Box::new(Logger { writer, line, next: 0, most_ops: self.most_ops(), room_remedy }))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    fn contended(&self) -> bool {
        self.workers > 1
    }

    fn least_ops(&self) -> u64 {
        S::LEAST_LINES
    }

    fn longest_batch_ns(&self) -> u64 {
        S::LONGEST_BATCH_NS
    }

    fn has_room(&self, ops: u64) -> io::Result<()> {
        let most = self.most_ops();
        if ops > most { Err(no_room(ops, most, self.sink.room_remedy())) } else { Ok(()) }
    }

    fn verify(&self, batch: &Batch) -> io::Result<()> {
        let mut check = Check::new(&self.form, self.workers, batch.total_ops - batch.ops, batch.ops);
        self.sink.read_back(&mut check)?;
        let attempted = batch.ops * self.workers as u64;
        let refused = batch.tallies.iter().filter_map(|tally| tally.refused).sum();
        let delivery = reckon(self.sink.promise(), attempted, refused, self.sink.counted()?, check.end())?;
        *self.delivery.lock().unwrap_or_else(PoisonError::into_inner) = Some(delivery);
        Ok(())
    }

    fn daemon(&self) -> Option<i32> {
        self.sink.daemon()
    }

    fn delivery(&self) -> Option<Delivery> {
        *self.delivery.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn effective(&self) -> Effective {
        self.sink.effective()
    }
}

/// What came of the lines, if the sums add up and the promise is kept.
///
/// # Errors
/// `InvalidData` with the sum that does not, or with what is lost, doubled or torn where nothing may be.
pub fn reckon(
    promise: Promise,
    attempted: u64,
    refused: u64,
    counted: Option<Counted>,
    found: Found,
) -> io::Result<Delivery> {
    let wrong = |what: String| Err(mismatch(format!("the lines do not add up: {what} ({found:?})")));
    let Some(accepted) = attempted.checked_sub(refused) else {
        return wrong(format!("{refused} of {attempted} were refused"));
    };
    let limited = counted.map_or(0, |counted| counted.limited);
    if let Some(Counted { received, limited, written }) = counted {
        if received != accepted {
            return wrong(format!("{accepted} were handed over, the daemon received {received}"));
        }
        if received != written + limited {
            return wrong(format!(
                "{received} came, {written} were written and {limited} dropped by the limit"
            ));
        }
        if written != found.lines {
            return wrong(format!("{written} were written, {} stand in the file", found.lines));
        }
    }
    if found.whole > accepted {
        return wrong(format!("{accepted} were handed over, {} are there", found.whole));
    }
    let lost = attempted - found.whole;
    let allowed = match promise {
        Promise::Everything => Some(0),
        Promise::Accounted => Some(refused + limited),
        Promise::Nothing => None,
    };
    if let Some(allowed) = allowed
        && (lost, found.doubled, found.late, found.torn) != (allowed, 0, 0, 0)
    {
        return Err(mismatch(format!(
            "of {attempted} lines {lost} are lost where {allowed} were dropped, {} are doubled, {} late and {} torn",
            found.doubled, found.late, found.torn
        )));
    }
    Ok(Delivery {
        attempted,
        refused,
        received: counted.map(|counted| counted.received),
        limited: counted.map(|counted| counted.limited),
        lost,
        doubled: found.doubled,
        late: Some(found.late).filter(|late| *late > 0),
        reordered: found.reordered,
        torn: found.torn,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: Found = Found { lines: 100, whole: 100, doubled: 0, late: 0, reordered: 0, torn: 0 };

    fn refused(promise: Promise, refused: u64, counted: Option<Counted>, found: Found) -> String {
        reckon(promise, 100, refused, counted, found).expect_err("it does not add up").to_string()
    }

    #[test]
    fn whoever_promises_everything_may_lose_double_or_tear_nothing() {
        assert_eq!(reckon(Promise::Everything, 100, 0, None, GOOD).unwrap().lost, 0);
        let reordered = Found { reordered: 9, ..GOOD };
        assert_eq!(
            reckon(Promise::Everything, 100, 0, None, reordered).unwrap().reordered,
            9,
            "it is counted"
        );
        for found in [
            Found { lines: 99, whole: 99, ..GOOD },
            Found { lines: 101, doubled: 1, ..GOOD },
            Found { lines: 101, torn: 1, ..GOOD },
            Found { lines: 101, late: 1, ..GOOD },
        ] {
            assert!(refused(Promise::Everything, 0, None, found).starts_with("of 100 lines"));
        }
        assert!(refused(Promise::Everything, 1, None, GOOD).contains("99 were handed over, 100 are there"));
    }

    #[test]
    fn dropped_lines_are_accounted_for_to_the_last() {
        let counted = Counted { received: 90, limited: 30, written: 60 };
        let found = Found { lines: 60, whole: 60, ..GOOD };
        let delivery = reckon(Promise::Accounted, 100, 10, Some(counted), found).unwrap();
        assert_eq!((delivery.lost, delivery.received, delivery.limited), (40, Some(90), Some(30)));
        let wrong = |refusals, counted, found| refused(Promise::Accounted, refusals, Some(counted), found);
        assert!(wrong(11, counted, found).contains("89 were handed over, the daemon received 90"));
        assert!(wrong(10, Counted { limited: 29, ..counted }, found).contains("29 dropped by the limit"));
        let one_less = Found { lines: 59, whole: 59, ..GOOD };
        assert!(wrong(10, counted, one_less).contains("60 were written, 59 stand in the file"));
        let torn = Found { whole: 59, torn: 1, ..found };
        assert!(
            wrong(10, counted, torn)
                .contains("41 are lost where 40 were dropped, 0 are doubled, 0 late and 1 torn")
        );
        assert!(wrong(101, counted, found).contains("101 of 100 were refused"));
    }

    #[test]
    fn where_only_the_file_tells_the_loss_is_the_result() {
        let found = Found { lines: 80, whole: 70, doubled: 8, reordered: 3, torn: 2, late: 4 };
        let delivery = reckon(Promise::Nothing, 100, 5, None, found).unwrap();
        let wanted = Delivery {
            attempted: 100,
            refused: 5,
            lost: 30,
            doubled: 8,
            late: Some(4),
            reordered: 3,
            torn: 2,
            ..delivery
        };
        assert_eq!((delivery, delivery.received), (wanted, None));
        let too_many = Found { lines: 101, whole: 101, ..GOOD };
        assert!(refused(Promise::Nothing, 0, None, too_many).contains("100 were handed over, 101 are there"));
    }
}
