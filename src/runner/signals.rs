//! Signals that end a run, SIGINT, SIGTERM and SIGHUP: the first drops the running visit and lets what is there be saved, the second ends
//! the program at once. One that follows the first within 100 ms is the same request. signal(7).

use crate::measure::clock::Deadline;
use crate::sys::signal::{First, end_on_second};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level::pipe};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Milliseconds from which on a signal is a second request.
const APART_MS: u64 = 100;

/// The signal that ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caught {
    /// SIGINT, Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
    /// SIGHUP: the terminal is gone.
    HangUp,
}

impl Caught {
    /// The exit code: 128 and the number of the signal.
    pub fn exit_code(self) -> u8 {
        match self {
            Caught::Interrupt => 130,
            Caught::Terminate => 143,
            Caught::HangUp => 129,
        }
    }

    /// The word in the journal.
    pub fn reason(self) -> &'static str {
        match self {
            Caught::Interrupt => "interrupted",
            Caught::Terminate | Caught::HangUp => "terminated",
        }
    }
}

/// Watches SIGINT, SIGTERM and SIGHUP.
pub struct Signals {
    /// Readable once a signal came, so that waiting for a visit ends without a race.
    woken: UnixStream,
    interrupt: Arc<AtomicBool>,
    terminate: Arc<AtomicBool>,
    hang_up: Arc<AtomicBool>,
}

impl Signals {
    /// Takes over the three signals for the rest of the program.
    ///
    /// # Errors
    /// sigaction(2), socketpair(2).
    pub fn watch() -> io::Result<Signals> {
        let (woken, wake) = UnixStream::pair()?;
        let signals =
            Signals { woken, interrupt: Arc::default(), terminate: Arc::default(), hang_up: Arc::default() };
        let each = [
            (SIGINT, &signals.interrupt, Caught::Interrupt),
            (SIGTERM, &signals.terminate, Caught::Terminate),
            (SIGHUP, &signals.hang_up, Caught::HangUp),
        ];
        // One for both: whoever asks a second time may ask in another way. A terminal that goes away may say so beside another
        // signal and is no second one to that.
        let (asked, gone) = (First::default(), First::default());
        for (signal, came, caught) in each {
            let first = if signal == SIGHUP { &gone } else { &asked };
            end_on_second(signal, caught.exit_code().into(), first, APART_MS * 1_000_000)?;
            flag::register(signal, Arc::clone(came))?;
            pipe::register(signal, wake.try_clone()?)?;
        }
        Ok(signals)
    }

    /// The signal that came, if one did.
    pub fn caught(&self) -> Option<Caught> {
        if self.interrupt.load(Ordering::Relaxed) {
            Some(Caught::Interrupt)
        } else if self.terminate.load(Ordering::Relaxed) {
            Some(Caught::Terminate)
        } else if self.hang_up.load(Ordering::Relaxed) {
            Some(Caught::HangUp)
        } else {
            None
        }
    }

    /// Sleeps for so many milliseconds, or until a signal comes. poll(2).
    ///
    /// # Errors
    /// The signal that came.
    pub fn rest(&self, ms: u64) -> Result<(), Caught> {
        let deadline = Deadline::after_ms(ms);
        loop {
            if let Some(caught) = self.caught() {
                return Err(caught);
            }
            let left = i32::try_from(deadline.left_ms()).unwrap_or(i32::MAX);
            if left == 0 {
                return Ok(());
            }
            let mut polled = [PollFd::new(self.woken.as_fd(), PollFlags::POLLIN)];
            // Whatever ends it, the next turn looks whether a signal came and whether time is left.
            let _ = poll(&mut polled, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX));
        }
    }

    /// A descriptor that is readable once a signal came.
    pub fn woken(&self) -> impl AsFd + '_ {
        &self.woken
    }
}
