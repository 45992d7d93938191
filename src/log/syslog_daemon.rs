//! A log daemon of ours on a Unix datagram socket, as syslogd has one at /dev/log.
//!
//! The daemon is a process that is forked before any worker starts. It dies with the visit, and is ended and reaped by it.
//! It may run on any CPU, as a daemon does.

use super::check::Check;
use super::daemon::{Counters, Daemon, LIMIT_INTERVAL_NS, LIMIT_LINES, mark};
use super::private_file::{PrivateFile, explained, has_room};
use super::private_socket::receiver_and_senders;
use super::sender::{Sender, gone};
use super::{Counted, Framing, LogSink, Promise, Writer};
use crate::cell::{Axis, Cell, Unavailable};
use crate::measure::clock::syslog_now;
use crate::sys::memory::SharedPair;
use crate::sys::process;
use crate::workload::{Drained, Effective};
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, socketpair};
use nix::sys::wait::waitpid;
use nix::unistd::{Pid, getpid};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// In front of the text; RFC 3164, section 4.1.3.
const TAG: &str = "ipcmatrix: ";
/// Facility user (1) and severity notice (5); RFC 3164, section 4.1.1.
const PRIORITY: &str = "<13>";

/// Counters and nothing, in shared memory.
type Shared = Arc<SharedPair<Counters, ()>>;

/// The daemon, and the sockets of all workers.
pub struct SyslogDaemon {
    file: PrivateFile,
    senders: Vec<Arc<UnixDatagram>>,
    answers: Vec<Arc<OwnedFd>>,
    shared: Shared,
    daemon: Pid,
    sender_policy: String,
    limited: bool,
    prefix: String,
    /// What the daemon had counted when a batch was last read back.
    before: Mutex<Counted>,
}

/// Priority, date, host and tag: what stands in front of a message of RFC 3164.
pub fn header(host_and_tag: &str) -> String {
    format!("{PRIORITY}{} {host_and_tag}", syslog_now())
}

impl SyslogDaemon {
    fn total(&self) -> Counted {
        let counters = self.shared.first();
        let of = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            received: of(&counters.received),
            limited: of(&counters.limited),
            written: of(&counters.written),
        }
    }
}

/// In the daemon's process: serves, and leaves the error behind that ended it.
fn be_daemon(daemon: &Daemon, parent: Pid) -> i32 {
    let ended = process::die_with(parent).and_then(|()| daemon.serve());
    let code = ended.err().and_then(|error| error.raw_os_error()).unwrap_or(Errno::EPROTO as i32);
    daemon.counters.error.store(code, Ordering::Relaxed);
    1
}

/// Forks the daemon; it keeps its own descriptors only, so that an end of either side shows at the other.
fn start(
    receiver: UnixDatagram,
    file: File,
    replies: Vec<OwnedFd>,
    shared: &Shared,
    limited: bool,
) -> io::Result<Pid> {
    let parent = getpid();
    process::fork(|| {
        let mut kept: Vec<i32> = replies.iter().map(AsRawFd::as_raw_fd).collect();
        kept.extend([receiver.as_raw_fd(), file.as_raw_fd()]);
        kept.sort_unstable();
        process::close_all_but(&kept);
        let counters = shared.first();
        be_daemon(&Daemon { socket: &receiver, file: &file, limited, counters, replies: &replies }, parent)
    })
}

impl LogSink for SyslogDaemon {
    const NAME: &'static str = "syslog_daemon";
    const SUMMARY: &'static str =
        "a datagram of RFC 3164 a line to a daemon of ours, which writes the file, unix(7)";
    const NOTE: &'static str = "syslog_daemon is a small daemon of ours that may run on any CPU: one write(2) a line, no sync to the disk. The date of its lines is that of their worker's begin.";
    const EXTRA_AXES: &'static [(Axis, &'static str)] =
        &[(Axis::Sender, "blocking"), (Axis::Daemon, "plain")];
    type Writer = ToDaemon;

    fn usable(cell: &Cell) -> Result<(), Unavailable> {
        has_room(cell)
    }

    fn open(cell: &Cell) -> io::Result<SyslogDaemon> {
        let workers = cell.count(Axis::Workers) as usize;
        let file = PrivateFile::open()?;
        let (receiver, senders) = receiver_and_senders(workers)?;
        let pair = |_| socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC);
        let pairs: Vec<(OwnedFd, OwnedFd)> = (0..workers).map(pair).collect::<nix::Result<_>>()?;
        let (answers, replies): (Vec<OwnedFd>, Vec<OwnedFd>) = pairs.into_iter().unzip();
        let build = |place: &mut std::mem::MaybeUninit<Counters>| {
            place.write(Counters::default());
            Ok(())
        };
        let shared: Shared = Arc::new(SharedPair::build(build, ())?);
        let limited = cell.word(Axis::Daemon) == "rate_limited";
        let daemon = start(receiver, file.appending()?, replies, &shared, limited)?;
        let prefix = header(&format!("localhost {TAG}"));
        let (sender_policy, before) = (cell.word(Axis::Sender).to_owned(), Mutex::default());
        let senders = senders.into_iter().map(Arc::new).collect();
        let answers = answers.into_iter().map(Arc::new).collect();
        Ok(SyslogDaemon { file, senders, answers, shared, daemon, sender_policy, limited, prefix, before })
    }

    fn framing(&self) -> Framing {
        Framing { prefix: self.prefix.clone(), tag: TAG.to_owned(), has_strangers: false }
    }

    fn promise(&self) -> Promise {
        match self.sender_policy == "blocking" && !self.limited {
            true => Promise::Everything,
            false => Promise::Accounted,
        }
    }

    fn writer(&self, worker: usize) -> io::Result<ToDaemon> {
        let sender = Sender::new(self.senders[worker].clone(), &self.sender_policy);
        let answers = self.answers[worker].clone();
        Ok(ToDaemon { sender, answers, worker, shared: self.shared.clone() })
    }

    fn read_back(&self, check: &mut Check) -> io::Result<()> {
        self.file.read_back(check)
    }

    fn room_bytes(&self) -> u64 {
        self.file.room_bytes()
    }

    fn daemon(&self) -> Option<i32> {
        Some(self.daemon.as_raw())
    }

    fn counted(&self) -> io::Result<Option<Counted>> {
        let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let total = self.total();
        let last = std::mem::replace(&mut *before, total);
        Ok(Some(Counted {
            received: total.received - last.received,
            limited: total.limited - last.limited,
            written: total.written - last.written,
        }))
    }

    fn effective(&self) -> Effective {
        let mut effective = self.file.effective();
        let queue = std::fs::read_to_string("/proc/sys/net/unix/max_dgram_qlen").unwrap_or_default();
        effective.insert("net.unix.max_dgram_qlen".into(), queue.trim().parse::<u64>().ok().into());
        if self.limited {
            let limit = format!("{LIMIT_LINES} lines in {} us", LIMIT_INTERVAL_NS / 1000);
            effective.insert("daemon_limit".into(), limit.into());
        }
        effective
    }
}

impl Drop for SyslogDaemon {
    fn drop(&mut self) {
        // It keeps nothing back: every line that it took is in the file or counted.
        let _ = kill(self.daemon, Signal::SIGKILL);
        while waitpid(self.daemon, None) == Err(Errno::EINTR) {}
    }
}

/// One worker's way to the daemon.
pub struct ToDaemon {
    sender: Sender,
    answers: Arc<OwnedFd>,
    worker: usize,
    shared: Shared,
}

impl ToDaemon {
    /// Why the daemon is gone, where it said so.
    fn explained(&self, error: io::Error) -> io::Error {
        match self.shared.first().error.load(Ordering::Relaxed) {
            0 => error,
            code => {
                let own = explained(io::Error::from_raw_os_error(code));
                io::Error::new(own.kind(), format!("{error}: it ended with: {own}"))
            }
        }
    }
}

impl Writer for ToDaemon {
    #[inline]
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        self.sender.send_line(line).map_err(|error| self.explained(error))
    }

    fn drain(&mut self) -> io::Result<Drained> {
        self.sender.send_surely(&mark(self.worker)).map_err(|error| self.explained(error))?;
        match recv(self.answers.as_raw_fd(), &mut [0], MsgFlags::empty())? {
            0 => Err(self.explained(gone())),
            _ => Ok(Drained::Now),
        }
    }
}
