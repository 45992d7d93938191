//! Descriptors as a bitmap: what select(2) and pselect(2) share.
//!
//! The bitmap is our own and as long as it has to be. `FD_SET` and the `fd_set` of the C library end at
//! descriptor 1023, and beyond that the first aborts or writes where it should not.

use super::{Patience, Printed, Readiness};
use crate::sys::poll::{WORD_DESCRIPTORS, Word};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// A call that takes a bitmap.
pub trait BitmapCall: 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
    /// How the program of Linux Application Development calls it, where it does.
    const PRINTED: Option<Printed> = None;

    /// How many descriptors up to `highest` can be read; the bitmap keeps those.
    ///
    /// # Errors
    /// The system call's.
    fn call(highest: RawFd, set: &mut [Word], milliseconds: i32) -> io::Result<usize>;
}

/// Watches by a bitmap, which is copied before each call because the call writes its answer into it.
pub struct Bitmap<C> {
    watched: Vec<Word>,
    found: Vec<Word>,
    highest: RawFd,
    call: PhantomData<C>,
}

fn place(descriptor: RawFd) -> (usize, Word) {
    let descriptor = descriptor as usize;
    (descriptor / WORD_DESCRIPTORS, 1 << (descriptor % WORD_DESCRIPTORS))
}

fn holds(set: &[Word], descriptor: RawFd) -> bool {
    let (word, bit) = place(descriptor);
    set.get(word).is_some_and(|word| word & bit != 0)
}

/// The highest descriptor of a bitmap; -1 where it has none.
fn highest(set: &[Word]) -> RawFd {
    let last = set.iter().enumerate().rev().find(|(_, word)| **word != 0);
    last.map_or(-1, |(index, word)| (index * WORD_DESCRIPTORS) as RawFd + word.ilog2() as RawFd)
}

impl<C: BitmapCall> Bitmap<C> {
    /// The bitmap is as long as its highest descriptor needs.
    fn changed(&mut self) {
        self.highest = highest(&self.watched);
        self.watched.truncate((self.highest + 1) as usize / WORD_DESCRIPTORS + 1);
        self.found.clear();
        self.found.resize(self.watched.len(), 0);
    }
}

impl<C: BitmapCall> Readiness for Bitmap<C> {
    const NAME: &'static str = C::NAME;
    const SUMMARY: &'static str = C::SUMMARY;
    const PRINTED: Option<Printed> = C::PRINTED;

    fn open(_most_descriptors: usize) -> io::Result<Bitmap<C>> {
        Ok(Bitmap { watched: vec![0], found: vec![0], highest: -1, call: PhantomData })
    }

    fn watch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let (word, bit) = place(descriptor.as_raw_fd());
        if self.watched.len() <= word {
            self.watched.resize(word + 1, 0);
        }
        self.watched[word] |= bit;
        self.highest = self.highest.max(descriptor.as_raw_fd());
        self.found.resize(self.watched.len(), 0);
        Ok(())
    }

    fn unwatch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        if !holds(&self.watched, descriptor.as_raw_fd()) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (word, bit) = place(descriptor.as_raw_fd());
        self.watched[word] &= !bit;
        if descriptor.as_raw_fd() == self.highest {
            self.changed();
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, patience: Patience) -> io::Result<usize> {
        self.found.copy_from_slice(&self.watched);
        // Without any descriptor the call still gets a bitmap that holds the first.
        C::call(self.highest.max(0), &mut self.found, patience.milliseconds())
    }

    #[inline]
    fn is_ready(&self, descriptor: RawFd) -> bool {
        holds(&self.found, descriptor)
    }

    fn ready(&self, ready: &mut Vec<RawFd>) {
        ready.clear();
        for (index, word) in self.found.iter().enumerate() {
            let mut left = *word;
            while left != 0 {
                ready.push((index * WORD_DESCRIPTORS) as RawFd + left.trailing_zeros() as RawFd);
                left &= left - 1;
            }
        }
    }
}
