//! Sun RPC over a TCP connection on the loopback interface. RFC 5531; record marking: section 11.

use super::rpc::{Protocol, RpcEnd, Wire, record};
use super::tcp;
use crate::workload::Effective;
use std::io::{self, Write};
use std::net::TcpStream;

/// RFC 5531.
pub struct SunRpcTcp;

impl Protocol for SunRpcTcp {
    const NAME: &'static str = "sun_rpc_tcp";
    const SUMMARY: &'static str = "a Sun RPC call over TCP (TCP_NODELAY on), RFC 5531";
    type End = RpcEnd<TcpStream>;

    fn pair(_message_bytes: usize) -> io::Result<[RpcEnd<TcpStream>; 2]> {
        Ok(connected()?.map(RpcEnd::over))
    }
}

/// Both ends of a connection. `TCP_NODELAY` is on: each message waits for its answer, so waiting for more to
/// send could only ever delay it.
pub fn connected() -> io::Result<[TcpStream; 2]> {
    tcp::connected(true)
}

impl Wire for TcpStream {
    #[inline]
    fn send(&mut self, record: &[u8]) -> io::Result<()> {
        self.write_all(record)
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        record::read(self, room)
    }

    fn settings(&self) -> io::Result<Effective> {
        tcp::settings(self)
    }
}
