//! Lines are gathered and written together: writev(2) of 64, to a descriptor of each worker's own with O_APPEND.

use super::Writer;
use super::in_file::FileWriter;
use super::private_file::{PrivateFile, cut, explained};
use std::array::from_fn;
use std::fs::File;
use std::io::{self, IoSlice, Write};

/// Lines of one call.
const LINES_A_CALL: usize = 64;

/// What is gathered, and the worker's own descriptor.
pub struct WritevBatch {
    file: File,
    line_bytes: usize,
    gathered: Vec<u8>,
}

impl FileWriter for WritevBatch {
    const NAME: &'static str = "writev_batch";
    const SUMMARY: &'static str =
        "one writev(2) for 64 lines, to a descriptor of the worker's own with O_APPEND";
    const NOTE: &'static str =
        "writev_batch keeps up to 64 lines a worker in memory, which are lost if the program is killed.";

    fn open(file: &PrivateFile, line_bytes: usize) -> io::Result<WritevBatch> {
        let gathered = Vec::with_capacity(LINES_A_CALL * line_bytes);
        Ok(WritevBatch { file: file.appending()?, line_bytes, gathered })
    }
}

impl Writer for WritevBatch {
    #[inline]
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        self.gathered.extend_from_slice(line);
        if self.gathered.len() == LINES_A_CALL * self.line_bytes {
            self.flush()?;
        }
        Ok(true)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut lines = self.gathered.chunks(self.line_bytes);
        let slices: [IoSlice; LINES_A_CALL] = from_fn(|_| IoSlice::new(lines.next().unwrap_or_default()));
        let used = self.gathered.len().div_ceil(self.line_bytes);
        match (&self.file).write_vectored(&slices[..used]) {
            Ok(written) if written == self.gathered.len() => {}
            Ok(written) => return Err(explained(cut(&self.file, &self.gathered, written))),
            Err(error) => return Err(explained(error)),
        }
        self.gathered.clear();
        Ok(())
    }
}
