//! A pair of connected Unix datagram sockets: reliable, in order, and a sender waits. unix(7).

use super::Transport;
use super::unix_packet::{self, Socket};
use crate::catalog::Limit;
use crate::cell::{Axis, Cell};
use nix::sys::socket::SockType;
use std::io;

/// unix(7), `SOCK_DGRAM`.
pub struct UnixDatagram;

impl Transport for UnixDatagram {
    const NAME: &'static str = "unix_datagram";
    const SUMMARY: &'static str = "a pair of Unix datagram sockets, unix(7)";
    const KEEPS_BOUNDARIES: bool = true;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = Socket;

    fn limits(cell: &Cell) -> Vec<Limit> {
        unix_packet::limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[Socket; 2]> {
        unix_packet::pair(cell, SockType::Datagram)
    }
}
