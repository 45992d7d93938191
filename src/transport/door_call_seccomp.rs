//! A door-style call by seccomp user notification: the client's system call waits while the server runs,
//! and both wake each other on their CPU. The nearest to a door in mechanism; it is no door.
//! seccomp_unotify(2).
//!
//! The call is getppid(2) with a mark in an argument it does not have (`sys/seccomp.rs`). The client
//! installs the filter for itself alone when it enters, and hands the listener to the server.

use super::{Exchange, Party};
use crate::cell::Cell;
use crate::cell::Unavailable;
use crate::sys::passing;
use crate::sys::seccomp::{self, Listener, Refused};
use crate::workload::{Effective, mismatch};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use std::io;
use std::os::fd::OwnedFd;

/// seccomp_unotify(2).
pub struct DoorCallSeccomp;

/// One end, before the handshake and after.
pub enum CallEnd {
    /// Makes the calls; hands its listener over by this socket.
    Client(OwnedFd),
    /// Is to be given the listener by this socket.
    Server(OwnedFd),
    /// Answers the calls.
    Serving(Listener),
}

/// The answer to a number: its complement, less the highest bit, so that the client's libc reads no error in it.
fn response(number: u64) -> i64 {
    (!number & i64::MAX as u64) as i64
}

impl Exchange for DoorCallSeccomp {
    const NAME: &'static str = "door_call_seccomp";
    const SUMMARY: &'static str =
        "a door-style call, not a door: seccomp user notification, synchronous wake-up, seccomp_unotify(2)";
    const NOTE: &'static str = "door_call_seccomp is a door-style call, not a door: a system call that waits while the server answers \
         it, by seccomp user notification with the synchronous wake-up.";
    type End = CallEnd;

    fn present() -> Result<(), Unavailable> {
        seccomp::try_in_a_child().map_err(|refused| unavailable(&refused))
    }

    fn pair(_cell: &Cell) -> io::Result<[CallEnd; 2]> {
        let (one, two) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)?;
        Ok([CallEnd::Client(one), CallEnd::Server(two)])
    }
}

fn unavailable(refused: &Refused) -> Unavailable {
    let (reason, remedy) = match refused {
        Refused::Listener(error) if error.raw_os_error() == Some(nix::libc::EBUSY) => (
            format!(
                "the sandbox that this runs in has the one seccomp listener that a process may have: {error}"
            ),
            "run it outside of that container or sandbox",
        ),
        Refused::Listener(error) => (
            format!("the kernel or a sandbox refuses a seccomp filter with a listener: {error}"),
            "Linux 5.0 or later with CONFIG_SECCOMP_FILTER, and a container that allows seccomp(2)",
        ),
        Refused::SynchronousWakeUp(error) => (
            format!("the kernel has no synchronous wake-up for seccomp notifications: {error}"),
            "Linux 6.6 or later",
        ),
    };
    Unavailable { reason, remedy: remedy.to_owned() }
}

impl Party for CallEnd {
    fn prepare(&mut self) -> io::Result<()> {
        match self {
            CallEnd::Client(socket) => {
                let listener = Listener::install()?;
                listener.wake_synchronously()?;
                // The copy here closes: when the server ends, calls must fail, not wait for ever.
                passing::hand_over(socket, listener)
            }
            CallEnd::Server(socket) => {
                *self = CallEnd::Serving(passing::take_over(socket)?.into());
                Ok(())
            }
            CallEnd::Serving(_) => Ok(()),
        }
    }

    /// `prepare` fails where the flag is not taken.
    fn settings(&self) -> io::Result<Effective> {
        Ok(Effective::from([("synchronous_wake_up".to_owned(), true.into())]))
    }

    #[inline]
    fn ask(&mut self, number: u64) -> io::Result<()> {
        let came = seccomp::call(number)?;
        if came == response(number) {
            return Ok(());
        }
        Err(mismatch(format!("call {number} returned {came}, not {}", response(number))))
    }

    #[inline]
    fn answer(&mut self, number: u64) -> io::Result<()> {
        let CallEnd::Serving(listener) = self else {
            return Err(io::Error::other("this end was not given a listener"));
        };
        let call = listener.receive()?;
        if call.number != number {
            return Err(mismatch(format!("call {} came, not {number}", call.number)));
        }
        listener.answer(&call, response(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_looks_like_an_error_of_the_system_call() {
        for number in [0, 1, 4095, u64::from(u32::MAX), i64::MAX as u64, u64::MAX] {
            assert!(response(number) >= 0, "{number}");
        }
    }

    #[test]
    fn each_refusal_has_its_reason_and_remedy() {
        let told = |refused| unavailable(&refused);
        let errno = io::Error::from_raw_os_error;
        let old = told(Refused::SynchronousWakeUp(errno(nix::libc::EINVAL)));
        assert_eq!(old.remedy, "Linux 6.6 or later");
        assert!(told(Refused::Listener(errno(nix::libc::EBUSY))).reason.contains("the one seccomp listener"));
        let refused = told(Refused::Listener(errno(nix::libc::EPERM)));
        assert!(refused.reason.ends_with("Operation not permitted (os error 1)"), "{}", refused.reason);
    }

    #[test]
    fn a_client_whose_filter_is_not_there_is_not_answered_by_chance() {
        let [mut client, mut server] = DoorCallSeccomp::pair(&Cell::default()).unwrap();
        assert_eq!(client.ask(0).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(server.answer(0).unwrap_err().to_string().contains("not given"));
    }
}
