//! The journal of a run: one JSON line a visit, appended, synced between rounds.

use crate::record::{End, Header, Line, Resumed, SCHEMA, Versioned, Visit};
use std::fs::{File, OpenOptions, TryLockError, metadata};
use std::io::{self, Read, Write};
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
        let mut journal = Journal::of(path, file)?;
        journal.begin(header)?;
        Ok(journal)
    }

    /// Opens a journal that is there, and changes nothing in it.
    ///
    /// # Errors
    /// `ResourceBusy` when a run is writing it; else what the file system refuses, e.g. `NotFound`.
    pub fn reopen(path: &Path) -> io::Result<Journal> {
        if !metadata(path)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
        }
        Journal::of(path, OpenOptions::new().read(true).append(true).open(path)?)
    }

    /// A journal is written by one run, even where runs beside each other are allowed: flock(2).
    fn of(path: &Path, file: File) -> io::Result<Journal> {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(io::ErrorKind::ResourceBusy, "another run is writing it"));
            }
            // A file system without such locks: the lock of the host has to do.
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {}
            Err(TryLockError::Error(error)) => return Err(error),
        }
        Ok(Journal { file: Some((path.to_path_buf(), file)) })
    }

    /// What it holds.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some((_, file)) = &mut self.file {
            file.read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }

    /// Writes the header of a journal in which no whole line stands.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.cut(0)?;
        self.append(Line::Header(Box::new(header.clone())))?;
        self.sync()
    }

    /// Tells that the run goes on: drops what stands behind the first `whole` bytes, which must be the beginning of a
    /// line that was cut off, and ends a last line that lacks nothing but its newline.
    ///
    /// # Errors
    /// What the file system refuses.
    pub fn resume(&mut self, whole: u64, newline: bool, resumed: &Resumed) -> io::Result<()> {
        self.cut(whole)?;
        if let (false, Some((_, file))) = (newline, &mut self.file) {
            file.write_all(b"\n")?;
        }
        self.append(Line::Resumed(resumed.clone()))?;
        self.sync()
    }

    fn cut(&mut self, bytes: u64) -> io::Result<()> {
        let Some((_, file)) = &mut self.file else { return Ok(()) };
        if file.metadata()?.len() > bytes { file.set_len(bytes) } else { Ok(()) }
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
