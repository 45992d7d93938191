//! The file of a log in the folder for temporary files: without a name, so that nothing can be left of it, and
//! with room for what a cell writes.

use super::check::Check;
use crate::cell::{Axis, Cell, Unavailable};
use crate::sys::leftovers::{self, Leftover};
use crate::workload::{Effective, mismatch};
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statfs::{self, FsType, fstatfs};
use nix::sys::statvfs::statvfs;
use std::env;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// The file of one batch is never larger: 1 GiB.
pub const MOST_FILE_BYTES: u64 = 1 << 30;
/// Lines of each worker that there must be room for: those of a batch of 20 ms, of which the fastest cells write
/// some hundred thousand.
const LEAST_ROOM_LINES: u64 = 400_000;
/// The file is read back in pieces of this size.
const PIECE_BYTES: usize = 256 << 10;

/// A file without a name.
pub struct PrivateFile {
    /// Its offset is shared by all that use this descriptor.
    file: Arc<File>,
    room_bytes: u64,
    file_system: String,
}

/// What helps where a file here has too little room.
pub const ROOM_REMEDY: &str =
    "make room, name another folder in the environment variable TMPDIR, or raise the limit (`ulimit -f`)";

/// Whether the folder for temporary files has room for a cell.
///
/// # Errors
/// How much there is, how much is needed, and how to name another folder.
pub fn has_room(cell: &Cell) -> Result<(), Unavailable> {
    let folder = env::temp_dir();
    let limit = room_bytes(&folder).map(|(room, limit)| (room, limit.what, limit.remedy));
    room_for(cell, limit, MAKE_ROOM).map_err(|(why, remedy)| Unavailable {
        reason: format!("the folder for temporary files, {}: {why}", folder.display()),
        remedy: remedy.into(),
    })
}

/// Whether the folder of a file that another program writes has room for a cell: limits of ours do not count there.
///
/// # Errors
/// How much there is and how much is needed.
pub fn others_have_room(folder: &Path, cell: &Cell) -> Result<(), Unavailable> {
    let limit = disk_bytes(folder).map(|room| (room, DISK, OTHERS_REMEDY));
    room_for(cell, limit, OTHERS_REMEDY).map_err(|(why, remedy)| Unavailable {
        reason: format!("the folder of the log, {}: {why}", folder.display()),
        remedy: remedy.into(),
    })
}

const MAKE_ROOM: &str = "make room there, or name another folder in the environment variable TMPDIR";
const RAISE_SIZE: &str =
    "raise the limit of this process, e.g. `ulimit -f unlimited` or `prlimit --fsize=unlimited`";

const DISK: &str = "the disk";
/// What helps where a file that another program writes has too little room.
pub const OTHERS_REMEDY: &str = "make room on the disk of that file";

/// Whether there is room for a cell, by the bytes that something leaves; why not, and what helps.
fn room_for(
    cell: &Cell,
    limit: io::Result<(u64, &str, &'static str)>,
    otherwise: &'static str,
) -> Result<(), (String, &'static str)> {
    let needs = cell.count(Axis::Workers) * LEAST_ROOM_LINES * cell.count(Axis::MessageBytes);
    match limit {
        Ok((has, _, _)) if has >= needs => Ok(()),
        Ok((has, what, remedy)) => {
            Err((format!("{what} leaves {has} bytes for a file in it, the cell needs {needs}"), remedy))
        }
        Err(error) => Err((format!("it cannot be looked at: {error}"), otherwise)),
    }
}

/// Bytes that the disk of a folder has left for this user.
///
/// # Errors
/// statvfs(3).
pub fn disk_bytes(folder: &Path) -> io::Result<u64> {
    let disk = statvfs(folder)?;
    Ok(disk.fragment_size().saturating_mul(disk.blocks_available()))
}

/// What limits the size of a file, and what helps where that is too little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeLimit {
    what: &'static str,
    remedy: &'static str,
}

/// Bytes that a file there may have, and what says so: the disk, `RLIMIT_FSIZE`, or a limit of ours.
pub fn room_bytes(folder: &Path) -> io::Result<(u64, SizeLimit)> {
    let free = disk_bytes(folder)?;
    let (soft, _) = getrlimit(Resource::RLIMIT_FSIZE)?;
    let disk = (free, SizeLimit { what: DISK, remedy: MAKE_ROOM });
    let process = (soft, SizeLimit { what: "RLIMIT_FSIZE", remedy: RAISE_SIZE });
    let ours = SizeLimit { what: "a limit of ipcmatrix", remedy: "choose shorter lines, or fewer workers" };
    Ok(disk.min(process).min((MOST_FILE_BYTES, ours)))
}

impl PrivateFile {
    /// Makes the file: O_TMPFILE of open(2); where the file system has none, under a name that is removed at once.
    ///
    /// # Errors
    /// open(2), statvfs(3).
    pub fn open() -> io::Result<PrivateFile> {
        let folder = env::temp_dir();
        let file = match nameless(&folder) {
            Err(error) if lacks_nameless(&error) => briefly_named(&folder)?,
            opened => opened?,
        };
        let (room_bytes, _) = room_bytes(&folder)?;
        let file_system = file_system(&file);
        Ok(PrivateFile { file: Arc::new(file), room_bytes, file_system })
    }

    /// The descriptor that all share.
    pub fn shared(&self) -> Arc<File> {
        self.file.clone()
    }

    /// A descriptor of its own, of a description of its own, that writes to the end (`O_APPEND`).
    ///
    /// # Errors
    /// open(2); /proc must be mounted.
    pub fn appending(&self) -> io::Result<File> {
        OpenOptions::new().append(true).open(format!("/proc/self/fd/{}", self.file.as_raw_fd()))
    }

    /// Bytes that the file may have.
    pub fn room_bytes(&self) -> u64 {
        self.room_bytes
    }

    /// Reads the whole file and empties it.
    ///
    /// # Errors
    /// pread(2), ftruncate(2), lseek(2).
    pub fn read_back(&self, check: &mut Check) -> io::Result<()> {
        read_from(&self.file, 0, check)?;
        self.file.set_len(0)?;
        (&*self.file).rewind()
    }

    /// What a reader of the figures must know of it.
    pub fn effective(&self) -> Effective {
        Effective::from([
            ("file_system".to_owned(), self.file_system.clone().into()),
            ("file_bytes_at_most".to_owned(), self.room_bytes.into()),
        ])
    }
}

/// Reads a file from that byte on to its end; gives where that was.
///
/// # Errors
/// pread(2).
pub fn read_from(file: &File, from: u64, check: &mut Check) -> io::Result<u64> {
    let (mut at, mut piece) = (from, vec![0; PIECE_BYTES]);
    loop {
        let got = file.read_at(&mut piece, at)?;
        if got == 0 {
            return Ok(at);
        }
        check.feed(&piece[..got]);
        at += got as u64;
    }
}

fn nameless(folder: &Path) -> io::Result<File> {
    let flags = nix::libc::O_TMPFILE;
    OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(flags).open(folder)
}

/// open(2): EISDIR where the kernel does not know the flag, EOPNOTSUPP where the file system does not.
fn lacks_nameless(error: &io::Error) -> bool {
    let code = error.raw_os_error().map(Errno::from_raw);
    matches!(code, Some(Errno::EISDIR | Errno::EOPNOTSUPP | Errno::ENOENT))
}

fn briefly_named(folder: &Path) -> io::Result<File> {
    let path = folder.join(format!("ipcmatrix.{}.{}.log", std::process::id(), leftovers::serial()));
    leftovers::announce(&Leftover::File(path.to_string_lossy().into_owned()))?;
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

/// Its name as statfs(2) has it; the number where that is not a usual one.
pub fn file_system(file: &File) -> String {
    const KNOWN: &[(FsType, &str)] = &[
        (statfs::EXT4_SUPER_MAGIC, "ext2, ext3 or ext4"),
        (statfs::TMPFS_MAGIC, "tmpfs"),
        (statfs::XFS_SUPER_MAGIC, "xfs"),
        (statfs::BTRFS_SUPER_MAGIC, "btrfs"),
        (statfs::OVERLAYFS_SUPER_MAGIC, "overlayfs"),
        (statfs::NFS_SUPER_MAGIC, "nfs"),
        (FsType(0x2fc1_2fc1), "zfs"),
        (FsType(0xf2f5_2010), "f2fs"),
    ];
    let Ok(found) = fstatfs(file) else { return "unknown".into() };
    let number = found.filesystem_type();
    let named = KNOWN.iter().find(|(known, _)| *known == number);
    named.map_or_else(|| format!("{:#x}", number.0), |(_, name)| (*name).to_owned())
}

/// One write(2) of the whole line.
///
/// # Errors
/// The system call's; where it took a part only, the error of the rest.
#[inline]
pub fn write_whole(mut file: &File, line: &[u8]) -> io::Result<()> {
    match file.write(line) {
        Ok(written) if written == line.len() => Ok(()),
        Ok(written) => Err(cut(file, line, written)),
        Err(error) => Err(error),
    }
}

/// Why the rest of a line was not written: the kernel tells when it is asked to go on.
#[cold]
pub fn cut(mut file: &File, line: &[u8], written: usize) -> io::Error {
    let rest = file.write_all(&line[written..]);
    rest.err().unwrap_or_else(|| mismatch(format!("a write of {} bytes wrote {written}", line.len())))
}

/// A full disk and a limit that is reached, in words.
#[cold]
pub fn explained(error: io::Error) -> io::Error {
    let (why, remedy) = match error.kind() {
        io::ErrorKind::StorageFull => ("the disk of the log is full", MAKE_ROOM),
        io::ErrorKind::QuotaExceeded => ("the quota of the user is used up", MAKE_ROOM),
        io::ErrorKind::FileTooLarge => {
            ("the file of the log is as large as it may be (RLIMIT_FSIZE)", RAISE_SIZE)
        }
        _ => return error,
    };
    io::Error::new(error.kind(), format!("{why}: {error}; {remedy}"))
}
