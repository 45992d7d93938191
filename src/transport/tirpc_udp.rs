//! Sun RPC over UDP on the loopback interface by the C library. rpc(3t).

use super::rpc::library::{self, LibraryEnd};
use super::rpc::{Protocol, udp_limits};
use super::sun_rpc_udp::connected;
use crate::catalog::Limit;
use crate::cell::Cell;
use crate::cell::Unavailable;
use crate::sys::tirpc::Kind;
use std::io;

/// rpc(3t).
pub struct TirpcUdp;

impl Protocol for TirpcUdp {
    const NAME: &'static str = "tirpc_udp";
    const SUMMARY: &'static str = "a Sun RPC call over UDP by libtirpc, rpc(3t)";
    type End = LibraryEnd;

    fn present() -> Result<(), Unavailable> {
        library::present()
    }

    fn limits(cell: &Cell) -> Vec<Limit> {
        udp_limits(cell)
    }

    fn pair(message_bytes: usize) -> io::Result<[LibraryEnd; 2]> {
        library::ends(connected()?, Kind::Datagrams, message_bytes)
    }
}
