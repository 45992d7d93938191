//! Multishot polls of io_uring(7): asked for once, told each time something comes.

use super::{Patience, Readiness, Rearm};
use crate::cell::Unavailable;
use crate::sys::ring::PollRing;
use nix::errno::Errno;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// io_uring(7), `IORING_POLL_ADD_MULTI`.
pub struct IoUringPoll {
    ring: PollRing,
    /// Told by the last call.
    found: Vec<RawFd>,
    /// What the kernel has stopped to poll: asked for again by the next call.
    stopped: Vec<RawFd>,
}

/// 0: anybody, 1: a group, 2: nobody may make rings. Not there before Linux 6.6.
const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

/// Why a ring could not be made, and what would help.
fn refusal(error: &io::Error, disabled: Option<&str>) -> Unavailable {
    let errno = Errno::from_raw(error.raw_os_error().unwrap_or(0));
    let (reason, remedy) = match (errno, disabled) {
        (Errno::EPERM, Some(value @ ("1" | "2"))) => (
            format!("kernel.io_uring_disabled is {value}: the kernel forbids io_uring"),
            "allow it as root: `sysctl -w kernel.io_uring_disabled=0`",
        ),
        (Errno::ENOSYS, _) => (
            "io_uring_setup(2): ENOSYS: the kernel was built without io_uring, or a filter of system calls hides it".into(),
            "use a kernel with CONFIG_IO_URING, or a container whose seccomp profile allows io_uring",
        ),
        (Errno::EPERM | Errno::EACCES, _) => (
            format!("io_uring_setup(2): {error}: a filter of system calls (seccomp) forbids io_uring"),
            "run outside the container, or with a seccomp profile that allows io_uring",
        ),
        (Errno::EINVAL, _) => (
            format!("io_uring_setup(2): {error}: the kernel has no IORING_SETUP_DEFER_TASKRUN"),
            "use Linux 6.1 or newer",
        ),
        _ => (format!("io_uring_setup(2): {error}"), "see io_uring_setup(2) for this error"),
    };
    Unavailable { reason, remedy: remedy.into() }
}

impl Readiness for IoUringPoll {
    const NAME: &'static str = "io_uring_poll";
    const SUMMARY: &'static str = "multishot polls, told each time something comes, io_uring(7)";
    const REARM: Rearm = Rearm::WhileReady;
    const REFUSES_DEVICES: Option<&'static str> = Some(
        "io_uring ends a multishot poll of /dev/zero and /dev/null with its first event: they can always be read and \
         have nothing to wait for",
    );
    const TELLS_OF_THE_PAST: bool = true;
    const REARMS_IN_CALL: bool = true;

    fn present() -> Result<(), Unavailable> {
        let refused = |error| {
            let disabled = std::fs::read_to_string(DISABLED).ok();
            refusal(&error, disabled.as_deref().map(str::trim))
        };
        PollRing::new(1).map(drop).map_err(refused)
    }

    fn open(most_descriptors: usize) -> io::Result<IoUringPoll> {
        // More than one event of a descriptor may wait to be taken.
        let room = 4 * most_descriptors.max(1);
        Ok(IoUringPoll {
            ring: PollRing::new(most_descriptors)?,
            found: Vec::with_capacity(room),
            stopped: Vec::with_capacity(room),
        })
    }

    fn watch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.ring.poll(descriptor.as_raw_fd())
    }

    fn unwatch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.stopped.retain(|stopped| *stopped != descriptor.as_raw_fd());
        self.ring.forget(descriptor.as_raw_fd())?;
        // At once: the ring holds the file open for as long as it polls it.
        self.ring.submit()
    }

    /// Polled no more and polled again: the second looks at the file, so it tells of one that is still ready.
    /// Both are handed over by the next call.
    #[inline]
    fn rearm(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.ring.forget(descriptor.as_raw_fd())?;
        self.ring.poll(descriptor.as_raw_fd())
    }

    #[inline]
    fn wait(&mut self, patience: Patience) -> io::Result<usize> {
        let IoUringPoll { ring, found, stopped } = self;
        for descriptor in stopped.drain(..) {
            ring.poll(descriptor)?;
        }
        found.clear();
        ring.enter(patience.milliseconds())?;
        ring.take(|descriptor, goes_on| {
            found.push(descriptor);
            if !goes_on {
                stopped.push(descriptor);
            }
        })?;
        Ok(found.len())
    }

    #[inline]
    fn is_ready(&self, descriptor: RawFd) -> bool {
        self.found.contains(&descriptor)
    }

    fn ready(&self, ready: &mut Vec<RawFd>) {
        ready.clear();
        ready.extend_from_slice(&self.found);
    }
}

#[cfg(test)]
mod tests {
    use super::refusal;
    use std::io;

    fn reason(errno: i32, disabled: Option<&str>) -> String {
        refusal(&io::Error::from_raw_os_error(errno), disabled).reason
    }

    #[test]
    fn what_forbids_it_is_named() {
        assert_eq!(
            reason(libc::EPERM, Some("2")),
            "kernel.io_uring_disabled is 2: the kernel forbids io_uring"
        );
        assert!(reason(libc::EPERM, Some("0")).contains("seccomp"));
        assert!(reason(libc::EPERM, None).contains("seccomp"));
        assert!(reason(libc::ENOSYS, Some("0")).contains("ENOSYS"));
        assert!(reason(libc::EINVAL, Some("0")).contains("IORING_SETUP_DEFER_TASKRUN"));
        assert!(
            reason(libc::ENOMEM, None).contains("ENOMEM") || reason(libc::ENOMEM, None).contains("memory")
        );
    }
}
