//! A log that does not keep what it was given.

use crate::log::{DirectAppend, FileWriter, PrivateFile, Writer};
use std::io;

/// The line of a worker that is lost, counted from 1.
const LOST_LINE: u64 = 1000;

/// Says of one line that it was written, and does not write it.
pub struct LosesALine {
    writer: DirectAppend,
    lines: u64,
}

impl FileWriter for LosesALine {
    const NAME: &'static str = "loses_a_line";
    const SUMMARY: &'static str = "faulty on purpose: does not write one of the lines";

    fn open(file: &PrivateFile, line_bytes: usize) -> io::Result<LosesALine> {
        Ok(LosesALine { writer: DirectAppend::open(file, line_bytes)?, lines: 0 })
    }
}

impl Writer for LosesALine {
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        self.lines += 1;
        if self.lines == LOST_LINE { Ok(true) } else { self.writer.append(line) }
    }
}
