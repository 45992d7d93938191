//! What Unix sockets that keep message boundaries share. unix(7).

use super::{End, descriptor};
use crate::catalog::{Limit, LimitName};
use crate::cell::Cell;
use crate::workload::Effective;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, getsockopt, recv, send, setsockopt, socketpair, sockopt,
};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kernel's default send buffer where `net.core.wmem_default` was not changed; a lower bound is enough
/// here, since the buffer in force is looked at when the pair is made.
const DEFAULT_SEND_BUFFER_BYTES: u64 = 212_992;

/// One socket.
pub struct Socket(OwnedFd);

/// What the cell needs so that one whole message fits into a send buffer.
pub fn limits(cell: &Cell) -> Vec<Limit> {
    let mut limits = descriptor::socket_limits(cell);
    let message_bytes = cell.message_bytes() as u64;
    if let Some(needs) = descriptor::send_buffer_for(message_bytes, DEFAULT_SEND_BUFFER_BYTES) {
        limits.push(Limit { name: LimitName::Sysctl("net.core.wmem_max"), needs });
    }
    limits
}

/// Two connected sockets; the first one's send buffer takes a whole message of the cell.
///
/// # Errors
/// socketpair(2), setsockopt(2).
pub fn pair(cell: &Cell, kind: SockType) -> io::Result<[Socket; 2]> {
    let (one, two) = socketpair(AddressFamily::Unix, kind, None, SockFlag::SOCK_CLOEXEC)?;
    descriptor::set_socket_capacity(cell, &one, &two)?;
    let in_force = getsockopt(&one, sockopt::SndBuf)? as u64;
    if let Some(bytes) = descriptor::send_buffer_for(cell.message_bytes() as u64, in_force) {
        setsockopt(&one, sockopt::SndBuf, &(bytes as usize))?;
    }
    Ok([Socket(one), Socket(two)])
}

impl End for Socket {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(send(self.0.as_raw_fd(), text, MsgFlags::MSG_NOSIGNAL)?)
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(recv(self.0.as_raw_fd(), text, MsgFlags::empty())?)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        descriptor::set_nonblocking(&self.0, on)
    }

    fn settings(&self) -> io::Result<Effective> {
        descriptor::socket_settings(&self.0)
    }
}
