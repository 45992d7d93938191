//! The journal of a run: one JSON line a visit, appended, synced between rounds.

use crate::record::{End, Header, Line, SCHEMA, Versioned, Visit};
use std::fs::{File, OpenOptions, metadata};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// An open journal; without a file it keeps nothing (`run --test`).
pub struct Journal {
    file: Option<(PathBuf, File)>,
}

impl Journal {
    /// Creates the journal, which must not exist, and writes its header.
    ///
    /// # Errors
    /// `AlreadyExists`, or what the file system refuses.
    pub fn create(path: &Path, header: &Header) -> io::Result<Journal> {
        let file = OpenOptions::new().append(true).create_new(true).open(path)?;
        let mut journal = Journal { file: Some((path.to_path_buf(), file)) };
        journal.append(Line::Header(Box::new(header.clone())))?;
        journal.sync()?;
        Ok(journal)
    }

    /// A journal that keeps nothing.
    pub fn nowhere() -> Journal {
        Journal { file: None }
    }

    /// Appends one visit.
    ///
    /// # Errors
    /// What the file system refuses, e.g. `StorageFull`.
    pub fn visit(&mut self, visit: &Visit) -> io::Result<()> {
        self.append(Line::Visit(Box::new(visit.clone())))
    }

    /// Appends the end.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn end(&mut self, end: &End) -> io::Result<()> {
        self.append(Line::End(end.clone()))?;
        self.sync()
    }

    /// Makes the lines outlast a power cut, and checks that the journal still stands where it was made.
    ///
    /// # Errors
    /// `NotFound` when somebody removed or replaced it; else what the file system refuses.
    pub fn sync(&mut self) -> io::Result<()> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        file.sync_data()?;
        let (there, ours) = (metadata(path)?, file.metadata()?);
        if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::NotFound, "another file stands in its place"))
    }

    fn append(&mut self, line: Line) -> io::Result<()> {
        let Some((_, file)) = &mut self.file else { return Ok(()) };
        let mut text = serde_json::to_vec(&Versioned { schema: SCHEMA.to_owned(), line })?;
        text.push(b'\n');
        file.write_all(&text)
    }
}
