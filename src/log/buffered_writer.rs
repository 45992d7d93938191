//! The standard library's BufWriter, one for each worker, over a descriptor with O_APPEND.
//!
//! A line is never cut by the end of the buffer: `BufWriter::write_all` keeps what fits, and where a line does not fit
//! it first writes what it has, which is whole lines, and then keeps the new one. So each write(2) is of whole lines, and
//! O_APPEND puts it behind the others in one piece. The check of every batch sees whether that holds.

use super::Writer;
use super::in_file::FileWriter;
use super::private_file::{PrivateFile, explained};
use std::fs::File;
use std::io::{self, BufWriter, Write};

/// What BufWriter has by default, named here so that a figure does not change with it.
const BUFFER_BYTES: usize = 8 << 10;

/// The worker's own buffer and descriptor.
pub struct BufferedWriter(BufWriter<File>);

impl FileWriter for BufferedWriter {
    const NAME: &'static str = "buffered_writer";
    const SUMMARY: &'static str =
        "std::io::BufWriter of 8 KiB for each worker, flushed at the end of a batch";
    const NOTE: &'static str = "buffered_writer keeps up to 8 KiB of whole lines a worker in memory, which are lost if the program is killed.";

    fn open(file: &PrivateFile, _line_bytes: usize) -> io::Result<BufferedWriter> {
        Ok(BufferedWriter(BufWriter::with_capacity(BUFFER_BYTES, file.appending()?)))
    }
}

impl Writer for BufferedWriter {
    #[inline]
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        self.0.write_all(line).map(|()| true).map_err(explained)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(explained)
    }
}
