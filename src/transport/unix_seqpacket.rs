//! A pair of connected Unix sequenced-packet sockets, which keep message boundaries. unix(7).

use super::Transport;
use super::unix_packet::{self, Socket};
use crate::catalog::Limit;
use crate::cell::{Axis, Cell};
use nix::sys::socket::SockType;
use std::io;

/// unix(7), `SOCK_SEQPACKET`.
pub struct UnixSeqpacket;

impl Transport for UnixSeqpacket {
    const NAME: &'static str = "unix_seqpacket";
    const SUMMARY: &'static str = "a pair of Unix sequenced-packet sockets, unix(7)";
    const KEEPS_BOUNDARIES: bool = true;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = Socket;

    fn limits(cell: &Cell) -> Vec<Limit> {
        unix_packet::limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[Socket; 2]> {
        unix_packet::pair(cell, SockType::SeqPacket)
    }
}
