//! An io_uring that polls descriptors again and again (multishot). io_uring(7), io_uring_enter(2).
//!
//! The events are made in io_uring_enter(2) only (`IORING_SETUP_DEFER_TASKRUN`, Linux 6.1), as those of the
//! other mechanisms are made in their call, and not at the end of whatever call comes first.
#![allow(unsafe_code)]

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fd, SubmitArgs, Timespec};
use io_uring::{EnterFlags, IoUring, cqueue, opcode};
use std::io;
use std::os::fd::RawFd;
use std::time::Duration;

/// What marks the event of a request to poll no more; no descriptor is that large.
const REMOVAL: u64 = u64::MAX;
/// Requests for each descriptor at once: to poll no more, and to poll again.
const REQUESTS_EACH: usize = 2;

/// A ring for polling.
pub struct PollRing(IoUring);

impl PollRing {
    /// A ring for that many descriptors at once. The thread that makes it must be the one that uses it.
    ///
    /// # Errors
    /// io_uring_setup(2): `EPERM` and `ENOSYS` where it is forbidden, `EINVAL` before Linux 6.1.
    pub fn new(descriptors: usize) -> io::Result<PollRing> {
        let too_many = |_| io::Error::from_raw_os_error(libc::EINVAL);
        let requests = u32::try_from(descriptors.max(1) * REQUESTS_EACH).map_err(too_many)?;
        IoUring::builder()
            .dontfork()
            .setup_clamp()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_taskrun_flag()
            .setup_cqsize(requests.next_power_of_two().saturating_mul(2))
            .build(requests.next_power_of_two())
            .map(PollRing)
    }

    /// Asks, with the next call, to be told whenever the descriptor becomes readable, at once where it is.
    ///
    /// # Errors
    /// io_uring_enter(2), where the queue is full and had to be handed over first.
    pub fn poll(&mut self, descriptor: RawFd) -> io::Result<()> {
        let request = opcode::PollAdd::new(Fd(descriptor), libc::POLLIN as u32).multi(true).build();
        self.push(request.user_data(descriptor as u64))
    }

    /// Hands over what was asked for and waits for nothing.
    ///
    /// # Errors
    /// io_uring_enter(2).
    pub fn submit(&mut self) -> io::Result<()> {
        self.0.submit().map(drop)
    }

    /// Asks, with the next call, not to be told of the descriptor any more.
    ///
    /// # Errors
    /// As [`PollRing::poll`].
    pub fn forget(&mut self, descriptor: RawFd) -> io::Result<()> {
        let request = opcode::PollRemove::new(descriptor as u64).build();
        self.push(request.user_data(REMOVAL).flags(Flags::SKIP_SUCCESS))
    }

    fn push(&mut self, request: Entry) -> io::Result<()> {
        // SAFETY: a request to poll holds a number and no pointer, so nothing has to outlive it.
        while unsafe { self.0.submission().push(&request) }.is_err() {
            self.0.submit()?;
        }
        Ok(())
    }

    /// Hands over what was asked and makes events, waiting for the first of them for that many milliseconds at
    /// the most; a negative number waits without end. One io_uring_enter(2), and one more for every 20 events,
    /// which is what the kernel makes in one.
    ///
    /// # Errors
    /// io_uring_enter(2).
    #[inline]
    pub fn enter(&mut self, milliseconds: i32) -> io::Result<()> {
        let entered = match milliseconds {
            0 => self.make_events(),
            ..0 => self.0.submit_and_wait(1),
            _ => {
                let time = Timespec::from(Duration::from_millis(milliseconds as u64));
                self.0.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        };
        match entered {
            Err(error) if error.raw_os_error() == Some(libc::ETIME) => {}
            entered => drop(entered?),
        }
        // The flag that work is left may stay when none is: another CPU sets it after it has handed the work over,
        // and that work may have been done in between. So a call that makes no event is the last.
        let mut events = self.0.completion().len();
        while self.0.submission().taskrun() {
            self.make_events()?;
            let events_now = self.0.completion().len();
            if events_now == events {
                break;
            }
            events = events_now;
        }
        Ok(())
    }

    #[inline]
    fn make_events(&mut self) -> io::Result<usize> {
        let requests = self.0.submission().len() as u32;
        // SAFETY: the requests are those in the queue, and there is no argument.
        unsafe { self.0.submitter().enter::<()>(requests, 0, EnterFlags::GETEVENTS.bits(), None) }
    }

    /// Takes the events that are there: which descriptor, and whether the kernel goes on polling it.
    ///
    /// # Errors
    /// The error of a request, with its descriptor; one that was called off is none.
    #[inline]
    pub fn take(&mut self, mut event: impl FnMut(RawFd, bool)) -> io::Result<()> {
        for entry in self.0.completion() {
            match (entry.user_data(), entry.result()) {
                (REMOVAL, _) => {}
                (_, result) if result == -libc::ECANCELED => {}
                (_, result) if result < 0 => return Err(io::Error::from_raw_os_error(-result)),
                (descriptor, _) => event(descriptor as RawFd, cqueue::more(entry.flags())),
            }
        }
        Ok(())
    }
}
