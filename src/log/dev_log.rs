//! The machine's own log daemon, through its socket; its file is read back. syslog(3), logger(1).
//!
//! Which daemon that is, which file it writes and what it does to a line on the way is the machine's business: lines are
//! known by a tag with our process id. Another daemon, on a socket of its own, is measured through the axes.

use super::check::Check;
use super::private_file::{OTHERS_REMEDY, disk_bytes, file_system, others_have_room, read_from};
use super::sender::Sender;
use super::syslog_daemon::header;
use super::tail::{Tail, pause};
use super::{Framing, LogSink, Promise, Writer, listener};
use crate::cell::{Axis, Cell, Unavailable};
use crate::sys::leftovers::serial;
use crate::workload::{Drained, Effective, mismatch};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Files into which daemons write what programs log with facility user.
const USUAL_FILES: &[&str] = &["/var/log/syslog", "/var/log/messages", "/var/log/user.log"];
/// The file is looked at every millisecond: so often until the first line of ours must be there,
const LOOKS_FOR_FIRST: u32 = 3_000;
/// and so often without a change until nothing more is expected of a daemon that swallows lines.
const LOOKS_WHILE_QUIET: u32 = 1_500;
/// So often without a change until the file is read back: a daemon of several threads may write our mark early.
const LOOKS_TO_SETTLE: u32 = 20;
/// Batches are short: what is measured here stays in the machine's log.
const LONGEST_BATCH_NS: u64 = 5_000_000;
/// More than its socket holds; every line stays in the log of the machine.
const LEAST_LINES: u64 = 1_000;

/// The daemon of the machine.
pub struct DevLog {
    socket: PathBuf,
    path: PathBuf,
    file: File,
    /// Where the next batch begins in the file.
    from: Mutex<u64>,
    policy: String,
    daemon: Option<i32>,
    tag: String,
    prefix: String,
}

fn files(cell: &Cell) -> Vec<PathBuf> {
    match cell.word(Axis::LogFile) {
        "looked_for" => USUAL_FILES.iter().map(PathBuf::from).collect(),
        named => vec![PathBuf::from(named)],
    }
}

/// Connects to the socket that the cell names.
fn connected(socket: &Path) -> Result<Arc<UnixDatagram>, Unavailable> {
    let connect = || -> io::Result<Arc<UnixDatagram>> {
        let sender = UnixDatagram::unbound()?;
        sender.connect(socket)?;
        Ok(Arc::new(sender))
    };
    connect().map_err(|error| Unavailable {
        reason: format!("no log daemon listens at {}: {error}", socket.display()),
        remedy: "start one, such as rsyslogd, or name the socket of another: -a log_socket=/path".into(),
    })
}

const NAME_THE_FILE: &str = "name the file into which the daemon writes: -a log_file=/path";

/// Whether one of the files can be read. One that is named may come with its first line.
fn readable(cell: &Cell) -> Result<(), Unavailable> {
    let files = files(cell);
    let mut why = Vec::new();
    for path in &files {
        match File::open(path) {
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound && files.len() == 1 => return Ok(()),
            Err(error) => why.push(format!("{}: {error}", path.display())),
        }
    }
    Err(Unavailable {
        reason: format!("no file of the log can be read: {}", why.join(", ")),
        remedy: NAME_THE_FILE.into(),
    })
}

/// A line that is none of those that are counted, to be looked for.
fn mark(worker: usize) -> (String, String) {
    let mark = format!("mark {}.{worker}.{}", std::process::id(), serial());
    (header(&format!("ipcmatrix-mark: {mark}.")), format!("{mark}."))
}

/// Logs a line and looks for it in each file, from where that ended before.
fn find_file(cell: &Cell, sender: &Sender) -> io::Result<(PathBuf, File)> {
    let ends: Vec<(PathBuf, u64)> = files(cell)
        .into_iter()
        .map(|path| (path.clone(), std::fs::metadata(path).map_or(0, |data| data.len())))
        .collect();
    let (line, text) = mark(0);
    sender.send_surely(line.as_bytes())?;
    for _ in 0..LOOKS_FOR_FIRST {
        for (path, end) in &ends {
            if let Ok(file) = File::open(path)
                && Tail::new(file.try_clone()?, *end).has(text.as_bytes())?
            {
                return Ok((path.clone(), file));
            }
        }
        pause()?;
    }
    let names: Vec<String> = ends.iter().map(|(path, _)| path.display().to_string()).collect();
    let reason = format!("a line that was logged did not come to {} within 3 s", names.join(" or "));
    Err(io::Error::other(Unavailable { reason, remedy: NAME_THE_FILE.into() }))
}

impl LogSink for DevLog {
    const NAME: &'static str = "dev_log";
    const SUMMARY: &'static str = "a datagram of RFC 3164 a line to the machine's own log daemon, syslog(3)";
    const NOTE: &'static str = "dev_log is the log daemon that the machine has, with its own format, limits and file: its lines stay in the machine's log. Drained is when its file had the last line, looked at each millisecond.";
    const EXTRA_AXES: &'static [(Axis, &'static str)] =
        &[(Axis::Sender, "blocking"), (Axis::LogSocket, "/dev/log"), (Axis::LogFile, "looked_for")];
    const LEAST_LINES: u64 = LEAST_LINES;
    const LONGEST_BATCH_NS: u64 = LONGEST_BATCH_NS;
    type Writer = ToLog;

    fn usable(cell: &Cell) -> Result<(), Unavailable> {
        connected(Path::new(cell.word(Axis::LogSocket)))?;
        readable(cell)
    }

    fn open(cell: &Cell) -> io::Result<DevLog> {
        let socket = PathBuf::from(cell.word(Axis::LogSocket));
        let policy = cell.word(Axis::Sender).to_owned();
        let sender = Sender::new(connected(&socket).map_err(io::Error::other)?, &policy);
        let (path, file) = find_file(cell, &sender)?;
        others_have_room(path.parent().unwrap_or(&path), cell).map_err(io::Error::other)?;
        let tag = format!("ipcmatrix[{}]: ", std::process::id());
        let (from, prefix) = (Mutex::new(file.metadata()?.len()), header(&tag));
        let daemon = listener::of(&socket);
        Ok(DevLog { socket, path, file, from, policy, daemon, tag, prefix })
    }

    fn framing(&self) -> Framing {
        Framing { prefix: self.prefix.clone(), tag: self.tag.clone(), has_strangers: true }
    }

    fn promise(&self) -> Promise {
        Promise::Nothing
    }

    fn writer(&self, worker: usize) -> io::Result<ToLog> {
        let socket = connected(&self.socket).map_err(io::Error::other)?;
        let end = self.file.metadata()?.len();
        let tail = Tail::new(self.file.try_clone()?, end);
        Ok(ToLog { sender: Sender::new(socket, &self.policy), tail, worker })
    }

    fn read_back(&self, check: &mut Check) -> io::Result<()> {
        let mut from = self.from.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tail = Tail::new(self.file.try_clone()?, *from);
        tail.settle(LOOKS_TO_SETTLE)?;
        self.is_the_same_file()?;
        if self.file.metadata()?.len() < *from {
            return Err(mismatch(format!("{} became shorter in the middle of a batch", self.path.display())));
        }
        *from = read_from(&self.file, *from, check)?;
        Ok(())
    }

    fn room_bytes(&self) -> u64 {
        // What cannot be looked at now gives no room, and an error that says so.
        disk_bytes(self.path.parent().unwrap_or(&self.path)).unwrap_or(0)
    }

    fn room_remedy(&self) -> &'static str {
        OTHERS_REMEDY
    }

    fn daemon(&self) -> Option<i32> {
        self.daemon
    }

    fn effective(&self) -> Effective {
        let comm =
            self.daemon.map(|pid| std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default());
        Effective::from([
            ("log_file".to_owned(), self.path.display().to_string().into()),
            ("file_system".to_owned(), file_system(&self.file).into()),
            ("daemon".to_owned(), comm.map(|name| name.trim().to_owned()).into()),
        ])
    }
}

impl DevLog {
    /// A log that is rotated gets another file by its name, and what is sent then comes there.
    fn is_the_same_file(&self) -> io::Result<()> {
        let (named, open) = (std::fs::metadata(&self.path)?, self.file.metadata()?);
        if (named.dev(), named.ino()) == (open.dev(), open.ino()) {
            return Ok(());
        }
        Err(mismatch(format!(
            "{} became another file in the middle of a batch: it was rotated",
            self.path.display()
        )))
    }
}

/// One worker's way to the daemon, and its look at the file.
pub struct ToLog {
    sender: Sender,
    tail: Tail,
    worker: usize,
}

impl Writer for ToLog {
    #[inline]
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        self.sender.send_line(line)
    }

    /// Logs a mark behind its lines and looks for it. Where the daemon swallows that too, the file falls silent.
    fn drain(&mut self) -> io::Result<Drained> {
        let (line, text) = mark(self.worker);
        self.sender.send_surely(line.as_bytes())?;
        let seen = self.tail.awaits(text.as_bytes(), LOOKS_WHILE_QUIET)?;
        Ok(if seen { Drained::Now } else { Drained::Unknown })
    }
}
