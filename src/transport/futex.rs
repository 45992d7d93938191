//! Two words in shared memory, one each way, and the sleep until one changes. futex(2).
//!
//! A lower bound for a round trip that sleeps and wakes through the kernel. Neither side spins before
//! it sleeps: it is the sleep and the wake-up that are measured.

use super::{Exchange, Party};
use crate::cell::Cell;
use crate::sys::futex;
use crate::sys::memory::SharedPair;
use crate::workload::{Effective, mismatch};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// futex(2).
pub struct Futex;

/// One end: both ends share the words, the first for requests, the second for answers.
pub struct WordEnd(Arc<SharedPair<AtomicU32, AtomicU32>>);

/// What the first word holds after request `number`; before the first request it is 0.
fn request(number: u64) -> u32 {
    number.wrapping_add(1) as u32
}

/// What the second word holds after answer `number`.
fn response(number: u64) -> u32 {
    !request(number)
}

/// What each word holds before number 0.
const BEFORE: [u32; 2] = [0, !0];

impl Exchange for Futex {
    const NAME: &'static str = "futex";
    const SUMMARY: &'static str =
        "two words in shared memory, a lower bound: sleep and wake-up, no spinning, futex(2)";
    type End = WordEnd;

    fn pair(_cell: &Cell) -> io::Result<[WordEnd; 2]> {
        let build = |place: &mut std::mem::MaybeUninit<AtomicU32>| {
            place.write(AtomicU32::new(BEFORE[0]));
            Ok(())
        };
        let words = Arc::new(SharedPair::build(build, AtomicU32::new(BEFORE[1]))?);
        Ok([WordEnd(Arc::clone(&words)), WordEnd(words)])
    }
}

/// Stores what the word shall hold and wakes the other side.
#[inline]
fn tell(word: &AtomicU32, value: u32) -> io::Result<()> {
    word.store(value, Ordering::Release);
    futex::wake(word, 1).map(drop)
}

/// Sleeps while the word is as it was before.
#[inline]
fn expect(word: &AtomicU32, before: u32, wanted: u32) -> io::Result<()> {
    loop {
        match word.load(Ordering::Acquire) {
            came if came == wanted => return Ok(()),
            came if came == before => futex::wait(word, before)?,
            came => return Err(mismatch(format!("the word held {came}, not {wanted}"))),
        }
    }
}

impl Party for WordEnd {
    fn settings(&self) -> io::Result<Effective> {
        Ok(Effective::new())
    }

    #[inline]
    fn ask(&mut self, number: u64) -> io::Result<()> {
        tell(self.0.first(), request(number))?;
        expect(self.0.second(), !(number as u32), response(number))
    }

    #[inline]
    fn answer(&mut self, number: u64) -> io::Result<()> {
        expect(self.0.first(), number as u32, request(number))?;
        tell(self.0.second(), response(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_go_on_where_the_number_outgrows_the_word() {
        let [mut client, mut server] = Futex::pair(&Cell::default()).unwrap();
        let first = u64::from(u32::MAX) - 500;
        client.0.first().store(first as u32, Ordering::Relaxed);
        client.0.second().store(!(first as u32), Ordering::Relaxed);
        std::thread::scope(|scope| {
            scope.spawn(|| (first..first + 1000).for_each(|number| server.answer(number).unwrap()));
            (first..first + 1000).for_each(|number| client.ask(number).unwrap());
        });
    }

    #[test]
    fn another_number_than_the_expected_one_is_told() {
        let [client, mut server] = Futex::pair(&Cell::default()).unwrap();
        client.0.first().store(7, Ordering::Relaxed);
        assert_eq!(server.answer(0).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
