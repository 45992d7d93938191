//! What sends the lines of one worker to a daemon: one datagram a line.

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;

/// A connected socket, and whether it waits for a daemon that is behind.
pub struct Sender {
    socket: Arc<UnixDatagram>,
    line_flags: MsgFlags,
}

impl Sender {
    /// Sends by that socket; `policy` is the word of the axis `sender`.
    pub fn new(socket: Arc<UnixDatagram>, policy: &str) -> Sender {
        let waits = if policy == "non_blocking" { MsgFlags::MSG_DONTWAIT } else { MsgFlags::empty() };
        Sender { socket, line_flags: MsgFlags::MSG_NOSIGNAL | waits }
    }

    /// Sends a line. `false`: it would have meant to wait, and was dropped.
    ///
    /// # Errors
    /// send(2); that the daemon is gone.
    #[inline]
    pub fn send_line(&self, line: &[u8]) -> io::Result<bool> {
        match send(self.socket.as_raw_fd(), line, self.line_flags) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN) if self.line_flags.contains(MsgFlags::MSG_DONTWAIT) => Ok(false),
            Err(error) => Err(gone_or(error)),
        }
    }

    /// Sends what must arrive, and waits for that.
    ///
    /// # Errors
    /// As [`Sender::send_line`].
    pub fn send_surely(&self, message: &[u8]) -> io::Result<()> {
        send(self.socket.as_raw_fd(), message, MsgFlags::MSG_NOSIGNAL).map(drop).map_err(gone_or)
    }
}

#[cold]
fn gone_or(error: Errno) -> io::Error {
    match error {
        Errno::ECONNREFUSED | Errno::ENOTCONN | Errno::ECONNRESET | Errno::EPIPE => gone(),
        error => error.into(),
    }
}

/// That nobody listens any more.
pub fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, "the log daemon is gone before it had every line")
}
