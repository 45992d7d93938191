//! One write(2) a line, to a descriptor of each worker's own, which writes to the end: O_APPEND of open(2).

use super::Writer;
use super::in_file::FileWriter;
use super::private_file::{PrivateFile, explained, write_whole};
use std::fs::File;
use std::io;

/// The worker's own descriptor.
pub struct DirectAppend(File);

impl FileWriter for DirectAppend {
    const NAME: &'static str = "direct_append";
    const SUMMARY: &'static str =
        "one write(2) a line, to a descriptor of the worker's own with O_APPEND, open(2)";

    fn open(file: &PrivateFile, _line_bytes: usize) -> io::Result<DirectAppend> {
        file.appending().map(DirectAppend)
    }
}

impl Writer for DirectAppend {
    #[inline]
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        write_whole(&self.0, line).map(|()| true).map_err(explained)
    }
}
