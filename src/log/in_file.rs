//! Logs that the application writes itself, into a file without a name.

use super::check::Check;
use super::private_file::{PrivateFile, has_room};
use super::{Framing, LogSink, Promise, Writer};
use crate::cell::{Cell, Unavailable};
use crate::workload::Effective;
use std::io;
use std::marker::PhantomData;

/// How one worker writes into the file.
pub trait FileWriter: Writer + 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page or source.
    const SUMMARY: &'static str;
    /// What a reader of a table with it must know, or nothing.
    const NOTE: &'static str = "";

    /// In the worker, before any clock; lines have that many bytes.
    ///
    /// # Errors
    /// open(2).
    fn open(file: &PrivateFile, line_bytes: usize) -> io::Result<Self>
    where
        Self: Sized;
}

/// The file that `W` writes into.
pub struct InFile<W> {
    file: PrivateFile,
    line_bytes: usize,
    writes: PhantomData<fn() -> W>,
}

impl<W: FileWriter> LogSink for InFile<W> {
    const NAME: &'static str = W::NAME;
    const SUMMARY: &'static str = W::SUMMARY;
    const NOTE: &'static str = W::NOTE;
    const LEAST_LINES: u64 = 20_000;
    type Writer = W;

    fn usable(cell: &Cell) -> Result<(), Unavailable> {
        has_room(cell)
    }

    fn open(cell: &Cell) -> io::Result<InFile<W>> {
        Ok(InFile { file: PrivateFile::open()?, line_bytes: cell.message_bytes(), writes: PhantomData })
    }

    fn framing(&self) -> Framing {
        Framing::default()
    }

    fn promise(&self) -> Promise {
        Promise::Everything
    }

    fn writer(&self, _worker: usize) -> io::Result<W> {
        W::open(&self.file, self.line_bytes)
    }

    fn read_back(&self, check: &mut Check) -> io::Result<()> {
        self.file.read_back(check)
    }

    fn room_bytes(&self) -> u64 {
        self.file.room_bytes()
    }

    fn effective(&self) -> Effective {
        self.file.effective()
    }
}
