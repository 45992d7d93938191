//! What goes over a connection: 8 bytes, the number of a request; and 8 bytes back, its complement.

use crate::workload::{Tally, mismatch};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv, send};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Bytes of a request, and of a reply.
pub const BYTES: usize = 8;
/// Bits of the number; the client stands above.
const NUMBER_BITS: u32 = 48;

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose it is.
    pub client: usize,
    /// Which of that client's requests, from 0.
    pub number: u64,
}

impl Request {
    /// As it is sent.
    #[inline]
    pub fn word(self) -> u64 {
        (self.client as u64) << NUMBER_BITS | self.number
    }
}

/// The reply to a request: its complement, so that a request that comes back is no reply.
#[inline]
pub fn reply_to(word: u64) -> u64 {
    !word
}

/// Sends a request or a reply.
///
/// # Errors
/// send(2); `WriteZero` where not all of it was taken.
#[inline]
pub fn send_to(connection: BorrowedFd<'_>, word: u64) -> io::Result<()> {
    let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
    let sent = send(connection.as_raw_fd(), &word.to_ne_bytes(), flags)?;
    if sent == BYTES { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Receives a request or a reply; `None` where nothing has come.
///
/// # Errors
/// recv(2); `UnexpectedEof` where the other side is gone; `InvalidData` where something else came. One more
/// byte is asked for than may come, so that a second message is seen, and a descriptor was read empty.
#[inline]
pub fn receive(connection: BorrowedFd<'_>, client: usize) -> io::Result<Option<u64>> {
    let mut buffer = [0; BYTES + 1];
    match recv(connection.as_raw_fd(), &mut buffer, MsgFlags::MSG_DONTWAIT) {
        Ok(BYTES) => {
            let (word, _) = buffer.split_first_chunk().expect("it is longer");
            Ok(Some(u64::from_ne_bytes(*word)))
        }
        Err(Errno::EAGAIN) => Ok(None),
        Ok(0) | Err(Errno::ECONNRESET) => Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            format!("the connection of client {client} was closed in the middle of a batch"),
        )),
        Ok(got) => Err(mismatch(format!(
            "{got} bytes or more came over the connection of client {client}, not {BYTES}"
        ))),
        Err(error) => Err(error.into()),
    }
}

/// What a side moved in that many requests.
pub fn tally(requests: u64) -> Tally {
    Tally::moved(requests * 2 * BYTES as u64, requests * 2)
}
