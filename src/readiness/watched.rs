//! The files that are watched: opened, put at their numbers, made ready and read empty.

use crate::sys::descriptor::duplicate_to;
use crate::workload::mismatch;
use nix::fcntl::OFlag;
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::unistd::{pipe2, read, write};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// What is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A device that can always be read, by its path.
    Device(&'static str),
    /// eventfd(2).
    EventFd,
    /// pipe(2), its end for reading.
    Pipe,
}

impl Kind {
    /// The kind of that name, as the axis `file` has it.
    pub fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "dev_zero" => Kind::Device("/dev/zero"),
            "dev_null" => Kind::Device("/dev/null"),
            "eventfd" => Kind::EventFd,
            "pipe" => Kind::Pipe,
            _ => return None,
        })
    }

    /// Whether it can be read always, whatever is done to it.
    pub fn is_always_ready(self) -> bool {
        matches!(self, Kind::Device(_))
    }

    /// Descriptors of the process that one of them takes.
    pub fn descriptors_each(self) -> u64 {
        if self == Kind::Pipe { 2 } else { 1 }
    }
}

/// What makes a file ready, and what is read to empty it.
const EVENT: [u8; 8] = 1u64.to_ne_bytes();

/// One of them.
pub struct Watched {
    watched: OwnedFd,
    /// Where it is written; `None` where that is the same descriptor.
    writer: Option<OwnedFd>,
}

impl Watched {
    /// Opens one, at that number where one is given; not ready yet, unless it always is.
    ///
    /// # Errors
    /// The system call that failed, `EMFILE` included.
    pub fn open(kind: Kind, number: Option<RawFd>) -> io::Result<Watched> {
        let (opened, writer) = match kind {
            Kind::Device(path) => (OwnedFd::from(File::open(path)?), None),
            Kind::EventFd => {
                let flags = EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK;
                (OwnedFd::from(EventFd::from_flags(flags)?), None)
            }
            Kind::Pipe => {
                let (reader, writer) = pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
                (reader, Some(writer))
            }
        };
        let watched = match number {
            Some(number) if number != opened.as_raw_fd() => duplicate_to(opened.as_fd(), number)?,
            _ => opened,
        };
        Ok(Watched { watched, writer })
    }

    /// Makes it ready, by one write(2).
    ///
    /// # Errors
    /// write(2).
    #[inline]
    pub fn make_ready(&self) -> io::Result<()> {
        let written = write(self.writer.as_ref().unwrap_or(&self.watched), &EVENT)?;
        if written == EVENT.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// Reads it empty, by one read(2).
    ///
    /// # Errors
    /// read(2); `InvalidData` where something else came than was written.
    #[inline]
    pub fn empty(&self) -> io::Result<()> {
        let mut event = [0; EVENT.len()];
        let got = read(&self.watched, &mut event)?;
        if got == EVENT.len() && event == EVENT {
            return Ok(());
        }
        Err(mismatch(format!("{got} bytes came, {event:?}, not the {} that were written", EVENT.len())))
    }

    /// Its number.
    #[inline]
    pub fn number(&self) -> RawFd {
        self.watched.as_raw_fd()
    }
}

impl AsFd for Watched {
    #[inline]
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watched.as_fd()
    }
}

/// The numbers up to `highest` at which `count` descriptors lie evenly; the lowest are left to what the process
/// has open already. `None` for each where the highest is 0: wherever the system puts them.
///
/// # Errors
/// `InvalidInput` where they do not fit below.
pub fn numbers(count: u64, highest: u64) -> io::Result<Vec<Option<RawFd>>> {
    if highest == 0 {
        return Ok(vec![None; count as usize]);
    }
    let step = if count > 1 { highest.saturating_sub(FIRST_NUMBER) / (count - 1) } else { 1 };
    if step == 0 {
        let text = format!(
            "{count} descriptors do not fit between {FIRST_NUMBER}, below which are our own, and {highest}"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let number = |index: u64| RawFd::try_from(highest - (count - 1 - index) * step).ok();
    Ok((0..count).map(number).collect())
}

/// The lowest number at which one of several is put.
const FIRST_NUMBER: u64 = 64;

/// What the process has open beside the files that are watched, at the most: the standard streams, its channel to the
/// coordinator, what a mechanism opens, and some room.
pub const OWN_DESCRIPTORS: u64 = 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_lie_evenly_below_the_highest() {
        assert_eq!(numbers(2, 0).unwrap(), [None, None]);
        assert_eq!(numbers(1, 2).unwrap(), [Some(2)]);
        assert_eq!(numbers(3, 1064).unwrap(), [Some(64), Some(564), Some(1064)]);
        assert_eq!(numbers(2, 64).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn each_kind_is_ready_when_it_was_made_so() {
        for kind in [Kind::EventFd, Kind::Pipe] {
            let watched = Watched::open(kind, Some(901)).unwrap();
            assert_eq!(watched.number(), 901);
            assert!(watched.empty().is_err(), "{kind:?}: nothing there yet");
            watched.make_ready().unwrap();
            watched.empty().unwrap();
        }
        assert!(Watched::open(Kind::Device("/dev/zero"), None).unwrap().number() > 2);
    }
}
