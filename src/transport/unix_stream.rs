//! A pair of connected Unix stream sockets. unix(7).

use super::{End, Transport, descriptor};
use crate::catalog::Limit;
use crate::cell::{Axis, Cell};
use crate::workload::Effective;
use nix::unistd::{read, write};
use std::io;
use std::os::unix::net::UnixStream as Socket;

/// unix(7), `SOCK_STREAM`.
pub struct UnixStream;

impl Transport for UnixStream {
    const NAME: &'static str = "unix_stream";
    const SUMMARY: &'static str = "a pair of Unix stream sockets, unix(7)";
    const KEEPS_BOUNDARIES: bool = false;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = Socket;

    fn limits(cell: &Cell) -> Vec<Limit> {
        descriptor::socket_limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[Socket; 2]> {
        let (one, two) = Socket::pair()?;
        descriptor::set_socket_capacity(cell, &one, &two)?;
        Ok([one, two])
    }
}

impl End for Socket {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(write(&*self, text)?)
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(read(&*self, text)?)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        Socket::set_nonblocking(self, on)
    }

    fn settings(&self) -> io::Result<Effective> {
        descriptor::socket_settings(self)
    }
}
