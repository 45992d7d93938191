//! What would outlive a process that is killed, and the guard that removes it.
//!
//! System V objects and names in `/dev/shm` and `/dev/mqueue` stay when their maker dies. Inside a
//! private IPC namespace the kernel removes System V objects and queues; for the rest a guard
//! process, which is forked before the first such thing is made and stands in a session of its own,
//! is told of each thing before it is made and removes it when the maker's end of the pipe closes.

use crate::sys::{process, sysv};
use nix::unistd::{pipe2, read, setsid, write};
use nix::{fcntl::OFlag, libc};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

/// A thing that a killed process would leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leftover {
    /// A System V message queue with that key.
    SysvQueue(i32),
    /// A System V semaphore set with that key.
    SysvSemaphore(i32),
    /// A POSIX message queue of that name.
    PosixQueue(String),
    /// A POSIX semaphore of that name.
    PosixSemaphore(String),
    /// A POSIX shared memory object of that name.
    SharedMemory(String),
}

static GUARD: Mutex<Option<OwnedFd>> = Mutex::new(None);
static IPC_IS_PRIVATE: AtomicBool = AtomicBool::new(false);
static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Tells this file that the process entered a private IPC namespace: the kernel cleans up after it.
pub fn ipc_is_private() {
    IPC_IS_PRIVATE.store(true, Ordering::Relaxed);
}

/// A number that no other living process of this program uses at this time: process id and a count.
pub fn serial() -> u32 {
    std::process::id().wrapping_mul(1009).wrapping_add(SERIAL.fetch_add(1, Ordering::Relaxed))
}

impl Leftover {
    fn needs_guard(&self) -> bool {
        // What stands in `/dev/shm` belongs to no namespace.
        matches!(self, Leftover::PosixSemaphore(_) | Leftover::SharedMemory(_))
            || !IPC_IS_PRIVATE.load(Ordering::Relaxed)
    }

    fn line(&self) -> String {
        match self {
            Leftover::SysvQueue(key) => format!("q {key}\n"),
            Leftover::SysvSemaphore(key) => format!("s {key}\n"),
            Leftover::PosixQueue(name) => format!("m {name}\n"),
            Leftover::PosixSemaphore(name) => format!("n {name}\n"),
            Leftover::SharedMemory(name) => format!("h {name}\n"),
        }
    }

    fn parse(line: &str) -> Option<Leftover> {
        let (kind, what) = line.split_once(' ')?;
        match kind {
            "q" => what.parse().ok().map(Leftover::SysvQueue),
            "s" => what.parse().ok().map(Leftover::SysvSemaphore),
            "m" => Some(Leftover::PosixQueue(what.to_owned())),
            "n" => Some(Leftover::PosixSemaphore(what.to_owned())),
            "h" => Some(Leftover::SharedMemory(what.to_owned())),
            _ => None,
        }
    }

    /// Removes it. One that is gone already is what was wanted.
    pub(super) fn remove(&self) {
        match self {
            Leftover::SysvQueue(key) => sysv::remove_queue(*key),
            Leftover::SysvSemaphore(key) => sysv::remove_semaphore(*key),
            Leftover::PosixQueue(name) => {
                let _ = posixmq::remove_queue(name);
            }
            Leftover::PosixSemaphore(name) => crate::sys::semaphore::unlink(name),
            Leftover::SharedMemory(name) => {
                let _ = nix::sys::mman::shm_unlink(name.as_str());
            }
        }
    }
}

/// Says that the thing is about to be made. Call it before making it, in the coordinator, before any worker.
///
/// # Errors
/// pipe(2), fork(2), write(2): the thing must then not be made.
pub fn announce(thing: &Leftover) -> io::Result<()> {
    if !thing.needs_guard() {
        return Ok(());
    }
    let mut guard = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let pipe = match guard.take() {
        Some(pipe) => pipe,
        None => start_guard()?,
    };
    let line = thing.line();
    let written = write(&pipe, line.as_bytes())?;
    *guard = Some(pipe);
    if written == line.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Starts the guard and waits until it stands: a signal to the visit's group would end it before.
fn start_guard() -> io::Result<OwnedFd> {
    let (reader, writer) = pipe2(OFlag::O_CLOEXEC)?;
    let (stands, stand) = pipe2(OFlag::O_CLOEXEC)?;
    process::fork(|| {
        let mut kept = [reader.as_raw_fd(), stand.as_raw_fd()];
        kept.sort_unstable();
        // Out of the visit's process group: whoever kills the group must not kill its guard.
        let _ = setsid();
        process::close_all_but(&kept);
        let _ = write(&stand, &[1]);
        for thing in announced(&reader) {
            thing.remove();
        }
        0
    })?;
    drop(stand);
    match read(&stands, &mut [0]) {
        Ok(1) => Ok(writer),
        Ok(_) => Err(io::Error::other("the guard of names and keys ended before it stood")),
        Err(error) => Err(error.into()),
    }
}

/// Reads until every writer is gone, and gives what was announced.
fn announced(pipe: &OwnedFd) -> Vec<Leftover> {
    let mut text = Vec::new();
    let mut buffer = [0; 512];
    loop {
        match read(pipe, &mut buffer) {
            Ok(0) => break,
            Ok(got) => text.extend_from_slice(&buffer[..got]),
            Err(nix::Error::EINTR) => {}
            Err(_) => break,
        }
    }
    String::from_utf8_lossy(&text).lines().filter_map(Leftover::parse).collect()
}

/// The key that goes with a serial number: never `IPC_PRIVATE`, which is 0.
pub fn key(serial: u32) -> libc::key_t {
    (serial & 0x3fff_ffff) as libc::key_t | 0x4000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_is_what_the_guard_reads() {
        let (reader, writer) = pipe2(OFlag::O_CLOEXEC).unwrap();
        let things = [
            Leftover::SysvQueue(key(5)),
            Leftover::SysvSemaphore(-7),
            Leftover::PosixQueue("/a b".into()),
            Leftover::PosixSemaphore("/c".into()),
            Leftover::SharedMemory("/d".into()),
        ];
        for thing in &things {
            write(&writer, thing.line().as_bytes()).unwrap();
        }
        drop(writer);
        assert_eq!(announced(&reader), things);
    }
}
