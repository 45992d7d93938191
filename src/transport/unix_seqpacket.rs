//! A pair of connected Unix sequenced-packet sockets, which keep message boundaries. unix(7).

use super::unix_packet::{Kind, UnixPacket};
use nix::sys::socket::SockType;

/// unix(7), `SOCK_SEQPACKET`.
pub type UnixSeqpacket = UnixPacket<Seqpacket>;

/// The type of socket.
pub struct Seqpacket;

impl Kind for Seqpacket {
    const NAME: &'static str = "unix_seqpacket";
    const SUMMARY: &'static str = "a pair of Unix sequenced-packet sockets, unix(7)";
    const SOCKET: SockType = SockType::SeqPacket;
}
