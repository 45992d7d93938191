//! One write(2) a line, to one descriptor that all workers share.

use super::Writer;
use super::in_file::FileWriter;
use super::private_file::{PrivateFile, explained, write_whole};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// The descriptor that all share.
pub struct DirectWrite(Arc<File>);

impl FileWriter for DirectWrite {
    const NAME: &'static str = "direct_write";
    const SUMMARY: &'static str = "one write(2) a line, to one descriptor that all workers share";

    fn open(file: &PrivateFile, _line_bytes: usize) -> io::Result<DirectWrite> {
        Ok(DirectWrite(file.shared()))
    }
}

impl Writer for DirectWrite {
    #[inline]
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        write_whole(&self.0, line).map(|()| true).map_err(explained)
    }
}
