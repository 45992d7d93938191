//! Descriptors as a list: what poll(2) and ppoll(2) share.

use super::{Patience, Printed, Readiness};
use crate::sys::poll::Polled;
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// A call that takes a list.
pub trait ListCall: 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
    /// How the program of Linux Application Development calls it, where it does.
    const PRINTED: Option<Printed> = None;

    /// How many descriptors of the list are ready.
    ///
    /// # Errors
    /// The system call's.
    fn call(list: &mut [Polled], milliseconds: i32) -> io::Result<usize>;
}

/// Watches by a list, which has an entry for each descriptor.
pub struct List<C> {
    entries: Vec<Polled>,
    /// The place of each descriptor's entry in the list, by its number.
    places: Vec<Option<u32>>,
    call: PhantomData<C>,
}

impl<C: ListCall> List<C> {
    fn place(&self, descriptor: RawFd) -> Option<usize> {
        let place = usize::try_from(descriptor).ok().and_then(|number| self.places.get(number))?;
        place.map(|place| place as usize)
    }
}

/// What poll(2) tells of an entry; an error is told of too, as select(2) does.
fn told(entry: &Polled) -> bool {
    entry.revents & (libc::POLLIN | libc::POLLHUP | libc::POLLERR) != 0
}

impl<C: ListCall> Readiness for List<C> {
    const NAME: &'static str = C::NAME;
    const SUMMARY: &'static str = C::SUMMARY;
    const PRINTED: Option<Printed> = C::PRINTED;

    fn open(most_descriptors: usize) -> io::Result<List<C>> {
        Ok(List { entries: Vec::with_capacity(most_descriptors), places: Vec::new(), call: PhantomData })
    }

    fn watch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let number = descriptor.as_raw_fd() as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, None);
        }
        self.places[number] = Some(self.entries.len() as u32);
        self.entries.push(Polled { fd: descriptor.as_raw_fd(), events: libc::POLLIN, revents: 0 });
        Ok(())
    }

    fn unwatch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        let place = self.place(descriptor.as_raw_fd()).ok_or(io::ErrorKind::NotFound)?;
        self.entries.swap_remove(place);
        self.places[descriptor.as_raw_fd() as usize] = None;
        if let Some(moved) = self.entries.get(place) {
            self.places[moved.fd as usize] = Some(place as u32);
        }
        Ok(())
    }

    #[inline]
    fn wait(&mut self, patience: Patience) -> io::Result<usize> {
        C::call(&mut self.entries, patience.milliseconds())
    }

    #[inline]
    fn is_ready(&self, descriptor: RawFd) -> bool {
        self.place(descriptor).is_some_and(|place| told(&self.entries[place]))
    }

    fn ready(&self, ready: &mut Vec<RawFd>) {
        ready.clear();
        ready.extend(self.entries.iter().filter(|entry| told(entry)).map(|entry| entry.fd));
    }
}
