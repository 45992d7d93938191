//! One run at a time on a host: two that measure at once would disturb each other.
//!
//! The lock is the name of an abstract Unix socket (unix(7)). Every user can try for it, nothing is written anywhere, and
//! the kernel takes the name away with the process that holds it, whatever ended that; it also tells who that is
//! (SO_PEERCRED). It holds within a network namespace: containers with one of their own do not see each other, as they
//! would not see each other's files either.

use nix::sys::socket::{AddressFamily, SockFlag, SockType, UnixAddr, connect, getsockopt, socket, sockopt};
use nix::unistd::{SysconfVar, Uid, User, sysconf};
use std::fmt;
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

const NAME: &str = "ipcmatrix.run";

/// Held until it is dropped, or the process ends.
#[derive(Debug)]
pub struct HostLock {
    _listener: UnixListener,
}

/// Who holds the lock, as far as that can be seen from here.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Its process, where it can be seen from here.
    pub pid: Option<i32>,
    /// The name of its user, else the number.
    pub user: Option<String>,
    /// When it was started, RFC 3339 in UTC.
    pub since: Option<String>,
    /// Its command line.
    pub command: Option<String>,
}

/// Takes the lock, or tells who has it.
///
/// # Errors
/// socket(2), bind(2), but for the name being taken.
pub fn take() -> io::Result<Result<HostLock, Holder>> {
    take_named(NAME)
}

fn take_named(name: &str) -> io::Result<Result<HostLock, Holder>> {
    match UnixListener::bind_addr(&SocketAddr::from_abstract_name(name)?) {
        Ok(listener) => Ok(Ok(HostLock { _listener: listener })),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(Err(Holder::of(name))),
        Err(error) => Err(error),
    }
}

impl Holder {
    /// Nothing is known of one that ended meanwhile.
    fn of(name: &str) -> Holder {
        let Ok((pid, uid)) = peer(name) else { return Holder::default() };
        let uid = Uid::from_raw(uid);
        let user = User::from_uid(uid).ok().flatten().map_or_else(|| uid.to_string(), |user| user.name);
        // 0: it is in another process namespace.
        let pid = Some(pid).filter(|pid| *pid > 0);
        Holder { pid, user: Some(user), since: pid.and_then(since), command: pid.and_then(command) }
    }
}

/// Process and user of whoever listens. Nobody answers there, so nothing is awaited.
fn peer(name: &str) -> nix::Result<(i32, u32)> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let asking = socket(AddressFamily::Unix, SockType::Stream, flags, None)?;
    connect(asking.as_raw_fd(), &UnixAddr::new_abstract(name.as_bytes())?)?;
    let peer = getsockopt(&asking, sockopt::PeerCredentials)?;
    Ok((peer.pid(), peer.uid()))
}

/// proc_pid_cmdline(5).
fn command(pid: i32) -> Option<String> {
    let words = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = String::from_utf8_lossy(words.strip_suffix(b"\0")?).replace('\0', " ");
    // It comes from another user, and goes to a terminal.
    Some(words.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect())
}

/// The start of a process in ticks since boot (proc_pid_stat(5)), and the boot (proc_stat(5)).
fn since(pid: i32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let ticks: i64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let boot: i64 = machine.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    let second = boot + ticks / sysconf(SysconfVar::CLK_TCK).ok()??;
    jiff::Timestamp::from_second(second).ok().map(|time| time.to_string())
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => write!(f, "a process that cannot be seen from here")?,
        }
        if let Some(user) = &self.user {
            write!(f, " of {user}")?;
        }
        if let Some(since) = &self.since {
            write!(f, ", since {since}")?;
        }
        match &self.command {
            Some(command) => write!(f, ": {command}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_holds_it() {
        let name = format!("ipcmatrix.test.{}", std::process::id());
        let held = take_named(&name).unwrap().unwrap();
        let holder = take_named(&name).unwrap().unwrap_err();
        assert_eq!(holder.pid, Some(std::process::id() as i32));
        assert!(holder.since.as_ref().unwrap().ends_with('Z'), "{holder:?}");
        assert!(holder.command.is_some() && holder.user.is_some(), "{holder:?}");
        drop(held);
        assert!(take_named(&name).unwrap().is_ok());
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        assert_eq!(Holder::default().to_string(), "a process that cannot be seen from here");
        let known =
            Holder { pid: Some(7), user: Some("ann".into()), since: None, command: Some("a b".into()) };
        assert_eq!(known.to_string(), "process 7 of ann: a b");
    }
}
