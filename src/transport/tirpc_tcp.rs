//! Sun RPC over a TCP connection on the loopback interface by the C library. rpc(3t).

use super::rpc::Protocol;
use super::rpc::library::{self, LibraryEnd};
use super::sun_rpc_tcp::connected;
use crate::cell::Unavailable;
use crate::sys::tirpc::Kind;
use std::io;

/// rpc(3t).
pub struct TirpcTcp;

impl Protocol for TirpcTcp {
    const NAME: &'static str = "tirpc_tcp";
    const SUMMARY: &'static str = "a Sun RPC call over TCP (TCP_NODELAY on) by libtirpc, rpc(3t)";
    type End = LibraryEnd;

    fn present() -> Result<(), Unavailable> {
        library::present()
    }

    fn pair(message_bytes: usize) -> io::Result<[LibraryEnd; 2]> {
        library::ends(connected()?, Kind::Stream, message_bytes)
    }
}
