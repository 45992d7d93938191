//! Two event counters, one each way: the counter carries the number of the round trip. eventfd(2).
//!
//! A lower bound for a round trip through the kernel: 8 bytes, no buffer, no queue.

use super::{Exchange, Party};
use crate::cell::Cell;
use crate::workload::{Effective, mismatch};
use nix::sys::eventfd::{EfdFlags, EventFd as Counter};
use std::io;
use std::sync::Arc;

/// eventfd(2).
pub struct EventFd;

/// One end: the counter that it adds to, and the one that it reads.
pub struct CounterEnd {
    adds: Arc<Counter>,
    reads: Arc<Counter>,
}

/// The largest value of a counter.
const LARGEST: u64 = u64::MAX - 1;

/// A counter at 0 is an empty one, so requests begin at 1 ...
fn request(number: u64) -> u64 {
    number + 1
}

/// ... and answers come down from the largest value.
fn response(number: u64) -> u64 {
    LARGEST - number
}

impl Exchange for EventFd {
    const NAME: &'static str = "eventfd";
    const SUMMARY: &'static str = "two event counters, a lower bound: no message but the counter, eventfd(2)";
    type End = CounterEnd;

    fn pair(_cell: &Cell) -> io::Result<[CounterEnd; 2]> {
        let counter = || Counter::from_flags(EfdFlags::EFD_CLOEXEC).map(Arc::new);
        let (there, back) = (counter()?, counter()?);
        Ok([
            CounterEnd { adds: Arc::clone(&there), reads: Arc::clone(&back) },
            CounterEnd { adds: back, reads: there },
        ])
    }
}

impl CounterEnd {
    #[inline]
    fn expect(&self, wanted: u64) -> io::Result<()> {
        let came = self.reads.read()?;
        if came == wanted { Ok(()) } else { Err(mismatch(format!("the counter held {came}, not {wanted}"))) }
    }
}

impl Party for CounterEnd {
    fn settings(&self) -> io::Result<Effective> {
        Ok(Effective::new())
    }

    #[inline]
    fn ask(&mut self, number: u64) -> io::Result<()> {
        self.adds.write(request(number))?;
        self.expect(response(number))
    }

    #[inline]
    fn answer(&mut self, number: u64) -> io::Result<()> {
        self.expect(request(number))?;
        self.adds.write(response(number))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_number_than_the_expected_one_is_told() {
        let [client, mut server] = EventFd::pair(&Cell::default()).unwrap();
        client.adds.write(request(4)).unwrap();
        assert_eq!(server.answer(5).unwrap_err().kind(), io::ErrorKind::InvalidData);
        client.adds.write(request(5)).unwrap();
        server.answer(5).unwrap();
        client.expect(response(5)).unwrap();
    }
}
