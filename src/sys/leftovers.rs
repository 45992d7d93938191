//! What would outlive a process that is killed, and the guard that removes it.
//!
//! System V objects and names in `/dev/shm` and `/dev/mqueue` stay when their maker dies. Inside a
//! private IPC namespace the kernel removes System V objects and queues; for the rest a guard
//! process, which is forked before the first such thing is made and stands in a session of its own,
//! is told of each thing before it is made and removes it when the maker's end of the pipe closes.

use crate::sys::{process, semaphore, sysv};
use nix::unistd::{pipe2, read, setsid, write};
use nix::{fcntl::OFlag, libc};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
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
    /// A file or a socket of that path.
    File(String),
    /// A folder of that path, which must be empty by then: what is in it is announced before it.
    Folder(String),
}

/// The coordinator's ends: one tells the guard, the other has its answers.
struct Guard {
    tell: OwnedFd,
    answers: OwnedFd,
}

static GUARD: Mutex<Option<Guard>> = Mutex::new(None);
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
        // What stands in a file system, `/dev/shm` included, belongs to no namespace of IPC.
        let of_ipc =
            matches!(self, Leftover::SysvQueue(_) | Leftover::SysvSemaphore(_) | Leftover::PosixQueue(_));
        !of_ipc || !IPC_IS_PRIVATE.load(Ordering::Relaxed)
    }

    fn line(&self) -> String {
        match self {
            Leftover::SysvQueue(key) => format!("q {key}\n"),
            Leftover::SysvSemaphore(key) => format!("s {key}\n"),
            Leftover::PosixQueue(name) => format!("m {name}\n"),
            Leftover::PosixSemaphore(name) => format!("n {name}\n"),
            Leftover::SharedMemory(name) => format!("h {name}\n"),
            Leftover::File(path) => format!("f {path}\n"),
            Leftover::Folder(path) => format!("d {path}\n"),
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
            "f" => Some(Leftover::File(what.to_owned())),
            "d" => Some(Leftover::Folder(what.to_owned())),
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
            Leftover::File(path) => {
                let _ = std::fs::remove_file(path);
            }
            Leftover::Folder(path) => {
                let _ = std::fs::remove_dir(path);
            }
        }
    }
}

/// Says that the thing is about to be made. Call it before making it, in the coordinator, before any worker.
///
/// # Errors
/// pipe(2), fork(2), write(2), `InvalidInput` for a path with a line end: the thing must then not be made.
pub fn announce(thing: &Leftover) -> io::Result<()> {
    if !thing.needs_guard() {
        return Ok(());
    }
    let line = thing.line();
    if line.matches('\n').count() > 1 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path of a temporary file has a line end",
        ));
    }
    tell(&line, |_| Ok(()))
}

/// Lets the guard make a named semaphore with that value. sem_open(3) makes it under a name of its own choice
/// first, which nobody could remove if this process were killed then; the guard stands apart and is not.
///
/// # Errors
/// As [`announce`], and what sem_open(3) refuses.
pub fn make_semaphore(name: &str, value: u32) -> io::Result<()> {
    tell(&format!("c {value} {name}\n"), |guard| {
        let mut code = [0; 4];
        match read(&guard.answers, &mut code)? {
            4 if code == [0; 4] => Ok(()),
            4 => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(code))),
            _ => Err(io::Error::other("the guard process is gone")),
        }
    })
}

/// Tells the guard, which is started where there is none yet, and takes its answer.
fn tell(line: &str, answer: impl FnOnce(&Guard) -> io::Result<()>) -> io::Result<()> {
    let mut kept = GUARD.lock().unwrap_or_else(PoisonError::into_inner);
    let guard = match kept.take() {
        Some(guard) => guard,
        None => start_guard()?,
    };
    let guard = kept.insert(guard);
    if write(&guard.tell, line.as_bytes())? != line.len() {
        return Err(io::ErrorKind::WriteZero.into());
    }
    answer(guard)
}

/// The guard's first answer: from here on a signal to the visit's process group does not reach it.
const STANDS: [u8; 4] = [0; 4];

/// Starts the guard and waits until it stands: a signal to the visit's group would end it before.
fn start_guard() -> io::Result<Guard> {
    let (told, tell) = pipe2(OFlag::O_CLOEXEC)?;
    let (answers, answer) = pipe2(OFlag::O_CLOEXEC)?;
    process::fork(|| {
        let mut kept = [told.as_raw_fd(), answer.as_raw_fd()];
        kept.sort_unstable();
        // Out of the visit's process group: whoever kills the group must not kill its guard.
        let _ = setsid();
        process::close_all_but(&kept);
        let _ = write(&answer, &STANDS);
        for thing in serve(told, &answer) {
            thing.remove();
        }
        0
    })?;
    drop(answer);
    match read(&answers, &mut [0; STANDS.len()])? {
        got if got == STANDS.len() => Ok(Guard { tell, answers }),
        _ => Err(io::Error::other("the guard of names and keys ended before it stood")),
    }
}

/// Does what it is told until every teller is gone, and gives what is to be removed then.
fn serve(told: OwnedFd, answer: &OwnedFd) -> Vec<Leftover> {
    let mut things = Vec::new();
    for line in BufReader::new(File::from(told)).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        let Some((value, name)) = line.strip_prefix("c ").and_then(|rest| rest.split_once(' ')) else {
            things.extend(Leftover::parse(&line));
            continue;
        };
        things.push(Leftover::PosixSemaphore(name.to_owned()));
        let made = semaphore::make(name, value.parse().unwrap_or(0));
        let code = made.map_or_else(|error| error.raw_os_error().unwrap_or(libc::EIO), |()| 0);
        // Whoever asked may be gone: then the end of the pipe comes next.
        let _ = write(answer, &code.to_ne_bytes());
    }
    things
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
        let (answers, answer) = pipe2(OFlag::O_CLOEXEC).unwrap();
        let things = [
            Leftover::SysvQueue(key(5)),
            Leftover::SysvSemaphore(-7),
            Leftover::PosixQueue("/a b".into()),
            Leftover::PosixSemaphore("/c".into()),
            Leftover::SharedMemory("/d".into()),
            Leftover::File("/e f".into()),
            Leftover::Folder("/g".into()),
        ];
        for thing in &things {
            write(&writer, thing.line().as_bytes()).unwrap();
        }
        let name = format!("/ipcmatrix.test.{}", serial());
        write(&writer, format!("c 1 {name}\nc 1 {name}\n").as_bytes()).unwrap();
        drop(writer);
        let told = serve(reader, &answer);
        assert_eq!(told[..7], things);
        assert_eq!(told[7..], [Leftover::PosixSemaphore(name.clone()), Leftover::PosixSemaphore(name)]);
        told[7].remove();
        let mut codes = [0; 8];
        assert_eq!(read(&answers, &mut codes), Ok(8));
        let taken = libc::EEXIST.to_ne_bytes();
        assert_eq!(
            (&codes[..4], &codes[4..]),
            (&[0; 4][..], &taken[..]),
            "made once, and refused the second time"
        );
    }
}
