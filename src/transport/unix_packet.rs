//! What Unix sockets that keep message boundaries share: they differ in the type of socket only. unix(7).

use super::{End, Transport, descriptor};
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell};
use crate::workload::Effective;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, getsockopt, recv, send, setsockopt, socketpair, sockopt,
};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, OwnedFd};

/// The kernel's default send buffer where `net.core.wmem_default` was not changed; a lower bound is enough
/// here, since the buffer in force is looked at when the pair is made.
const DEFAULT_SEND_BUFFER_BYTES: u64 = 212_992;

/// A type of socket and how it is called.
pub trait Kind: 'static {
    /// Its name as a mechanism.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
    /// The type.
    const SOCKET: SockType;
}

/// A pair of connected Unix sockets of that type.
pub struct UnixPacket<K>(PhantomData<K>);

/// One socket.
pub struct Socket(OwnedFd);

impl<K: Kind> Transport for UnixPacket<K> {
    const NAME: &'static str = K::NAME;
    const SUMMARY: &'static str = K::SUMMARY;
    const KEEPS_BOUNDARIES: bool = true;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = Socket;

    fn limits(cell: &Cell) -> Vec<Limit> {
        let mut limits = descriptor::socket_limits(cell);
        let message_bytes = cell.message_bytes() as u64;
        if let Some(needs) = descriptor::send_buffer_for(message_bytes, DEFAULT_SEND_BUFFER_BYTES) {
            limits.push(Limit { name: LimitName::Sysctl("net.core.wmem_max"), needs });
        }
        limits
    }

    fn pair(cell: &Cell) -> io::Result<[Socket; 2]> {
        let (one, two) = socketpair(AddressFamily::Unix, K::SOCKET, None, SockFlag::SOCK_CLOEXEC)?;
        descriptor::set_socket_capacity(cell, &one, &two)?;
        let in_force = getsockopt(&one, sockopt::SndBuf)? as u64;
        if let Some(bytes) = descriptor::send_buffer_for(cell.message_bytes() as u64, in_force) {
            setsockopt(&one, sockopt::SndBuf, &(bytes as usize))?;
        }
        Ok([Socket(one), Socket(two)])
    }
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
