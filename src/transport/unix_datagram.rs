//! A pair of connected Unix datagram sockets: none is lost, they come in order, and a sender waits. unix(7).

use super::unix_packet::{Kind, UnixPacket};
use nix::sys::socket::SockType;

/// unix(7), `SOCK_DGRAM`.
pub type UnixDatagram = UnixPacket<Datagram>;

/// The type of socket.
pub struct Datagram;

impl Kind for Datagram {
    const NAME: &'static str = "unix_datagram";
    const SUMMARY: &'static str = "a pair of Unix datagram sockets, unix(7)";
    const SOCKET: SockType = SockType::Datagram;
}
