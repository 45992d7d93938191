//! A pair of connected Unix stream sockets. unix(7).

use super::Transport;
use super::descriptor::{self, Stream};
use crate::catalog::Limit;
use crate::cell::{Axis, Cell};
use std::io;
use std::os::unix::net::UnixStream as Socket;

/// unix(7), `SOCK_STREAM`.
pub struct UnixStream;

impl Transport for UnixStream {
    const NAME: &'static str = "unix_stream";
    const SUMMARY: &'static str = "a pair of Unix stream sockets, unix(7)";
    const KEEPS_BOUNDARIES: bool = false;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = Stream;

    fn limits(cell: &Cell) -> Vec<Limit> {
        descriptor::socket_limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[Stream; 2]> {
        let (one, two) = Socket::pair()?;
        descriptor::set_socket_capacity(cell, &one, &two)?;
        Ok(Stream::ends([one, two], |socket| descriptor::socket_settings(socket)))
    }
}
