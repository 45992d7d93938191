//! Sun RPC: ONC RPC version 2 (RFC 5531) with XDR (RFC 4506), a call for each message.
//!
//! The program has the null procedure and a sink that takes `opaque<>`; there is no port mapper: both
//! ends are sockets on the loopback interface that are made together. A message is the argument of one
//! synchronous call: the server replies when it has the whole argument, and only then does the
//! client send the next. No call is ever repeated.

pub mod library;
pub mod message;
pub mod record;

use super::{End, Exchange, Party, Transport};
use crate::catalog::{Limit, LimitName};
use crate::cell::Cell;
use crate::cell::Unavailable;
use crate::workload::{Effective, mismatch};
use message::{Answer, Asked, Call};
use std::io;
use std::marker::PhantomData;
use std::time::Duration;

pub use super::sun_rpc_tcp::SunRpcTcp;
pub use super::sun_rpc_udp::SunRpcUdp;
pub use super::tirpc_tcp::TirpcTcp;
pub use super::tirpc_udp::TirpcUdp;

/// How long an end waits for a datagram, which may be lost, before that is an error.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Bytes in front of an argument: mark, call, length.
const HEAD_BYTES: usize = record::MARK_BYTES + message::CALL_BYTES + message::LENGTH_BYTES;
/// Bytes behind an argument: padding, authentication fields of others where ours are empty, a further mark.
const TAIL_BYTES: usize = 3 + 2 * message::MOST_AUTH_BYTES + record::MARK_BYTES;

/// The largest payload of a UDP datagram over IPv4: 65535 bytes less the headers of IP and UDP. udp(7).
const UDP_PAYLOAD_BYTES: usize = 65535 - 20 - 8;
/// The largest argument of a call in one datagram: what is left behind the call and the length, in whole words.
pub const UDP_ARGUMENT_BYTES: usize =
    (UDP_PAYLOAD_BYTES - message::CALL_BYTES - message::LENGTH_BYTES) / 4 * 4;
/// The figure that Stevens gives (Unix Network Programming, volume 2, appendix A).
const _: () = assert!(UDP_ARGUMENT_BYTES == 65460);

/// The limit of a message over UDP.
pub fn udp_limits(cell: &Cell) -> Vec<Limit> {
    let name = LimitName::Protocol {
        name: "the argument of a call over UDP",
        most: UDP_ARGUMENT_BYTES as u64,
        why: "65507 in a datagram, less 44 before the argument, in whole words of 4",
    };
    vec![Limit { name, needs: cell.message_bytes() as u64 }]
}

/// RPC over one transport protocol.
pub trait Protocol: 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the source.
    const SUMMARY: &'static str;
    /// One end.
    type End: End + Party;

    /// Whether the machine has what it stands on.
    ///
    /// # Errors
    /// What is absent.
    fn present() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Limits of a message.
    fn limits(_cell: &Cell) -> Vec<Limit> {
        Vec::new()
    }

    /// A client and a server for arguments of `message_bytes` (0: the null procedure alone).
    ///
    /// # Errors
    /// The system call that failed.
    fn pair(message_bytes: usize) -> io::Result<[Self::End; 2]>;
}

/// RPC as a transport, by the sink, and as an exchange, by the null procedure.
pub struct Rpc<P>(PhantomData<P>);

impl<P: Protocol> Transport for Rpc<P> {
    const NAME: &'static str = P::NAME;
    const SUMMARY: &'static str = P::SUMMARY;
    const KEEPS_BOUNDARIES: bool = true;
    const SYNCHRONOUS: bool = true;
    type End = P::End;

    fn limits(cell: &Cell) -> Vec<Limit> {
        P::limits(cell)
    }

    fn present() -> Result<(), Unavailable> {
        P::present()
    }

    fn pair(cell: &Cell) -> io::Result<[P::End; 2]> {
        P::pair(cell.message_bytes())
    }
}

impl<P: Protocol> Exchange for Rpc<P> {
    const NAME: &'static str = P::NAME;
    const SUMMARY: &'static str = P::SUMMARY;
    type End = P::End;

    fn present() -> Result<(), Unavailable> {
        P::present()
    }

    fn pair(_cell: &Cell) -> io::Result<[P::End; 2]> {
        P::pair(0)
    }
}

/// A connected socket that carries whole messages.
pub trait Wire: Send {
    /// Sends a message; `record` is its mark and the message.
    ///
    /// # Errors
    /// The system call's.
    fn send(&mut self, record: &[u8]) -> io::Result<()>;

    /// Receives a message and puts it into the room behind a mark; returns the bytes of both, 0 where the
    /// other end has closed.
    ///
    /// # Errors
    /// The system call's; `InvalidData` where the message is too long; `TimedOut` where it was lost.
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize>;

    /// Settings as the system reports them.
    ///
    /// # Errors
    /// The system call's.
    fn settings(&self) -> io::Result<Effective>;
}

/// One end of ours: the one that sends is the client, the one that receives the server.
pub struct RpcEnd<W> {
    wire: W,
    /// Number of the next call.
    xid: u32,
    /// Where short messages are written and read.
    small: [u8; message::REPLY_ROOM],
}

impl<W: Wire> RpcEnd<W> {
    /// An end over a connected socket.
    pub fn over(wire: W) -> RpcEnd<W> {
        RpcEnd { wire, xid: 0, small: [0; message::REPLY_ROOM] }
    }

    /// Waits for the reply to call `xid`.
    #[inline]
    fn await_reply(&mut self, xid: u32) -> io::Result<()> {
        match self.wire.receive(&mut self.small)? {
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server is gone before it replied")),
            bytes => message::read_reply(&self.small[..bytes], xid),
        }
    }

    /// Calls the null procedure and waits for its reply.
    ///
    /// # Errors
    /// The system call's; `InvalidData` where the reply is not the one to this call, or does not tell success.
    #[inline]
    pub fn call_null(&mut self, xid: u32) -> io::Result<()> {
        let bytes = message::write_null(xid, &mut self.small)?;
        self.wire.send(&self.small[..bytes])?;
        self.await_reply(xid)
    }

    /// Takes one call and refuses it where it is not one of ours; `None` where the client has closed.
    /// The caller accepts it.
    ///
    /// # Errors
    /// The system call's; `InvalidData` with what is wrong with the call, which the client was told too.
    #[inline]
    pub fn take(&mut self, room: &mut [u8]) -> io::Result<Option<Call>> {
        let bytes = self.wire.receive(room)?;
        if bytes == 0 {
            return Ok(None);
        }
        match message::read_call(&room[..bytes]) {
            Ok(call) => Ok(Some(call)),
            Err(refused) => {
                if let Some((xid, answer)) = refused.reply {
                    self.reply(xid, answer)?;
                }
                Err(refused.error)
            }
        }
    }

    /// Replies to a call that was taken.
    ///
    /// # Errors
    /// The system call's.
    #[inline]
    pub fn reply(&mut self, xid: u32, answer: Answer) -> io::Result<()> {
        let bytes = message::write_reply(xid, answer, &mut self.small)?;
        self.wire.send(&self.small[..bytes])
    }
}

impl<W: Wire> End for RpcEnd<W> {
    const SYSTEM_CALLS: u64 = 2;
    const HEADROOM: usize = HEAD_BYTES;
    const TAILROOM: usize = TAIL_BYTES;

    /// Calls the sink: one system call sends, one receives the reply.
    #[inline]
    fn send(&mut self, framed: &mut [u8]) -> io::Result<usize> {
        let argument_bytes = framed.len() - HEAD_BYTES - TAIL_BYTES;
        let xid = self.xid;
        self.xid = xid.wrapping_add(1);
        let bytes = message::write_sink(xid, argument_bytes, framed)?;
        self.wire.send(&framed[..bytes])?;
        self.await_reply(xid)?;
        Ok(argument_bytes)
    }

    /// Takes one call of the sink: one system call receives where the record comes whole, one replies.
    #[inline]
    fn receive(&mut self, framed: &mut [u8]) -> io::Result<usize> {
        let Some(call) = self.take(framed)? else { return Ok(0) };
        let Asked::Sink(argument) = call.asked else {
            return Err(mismatch("the null procedure was called, not the sink".into()));
        };
        let bytes = argument.len();
        // Calls like ours have their argument where it belongs; others carry longer authentication fields.
        if argument.start != HEAD_BYTES {
            framed.copy_within(argument, HEAD_BYTES);
        }
        self.reply(call.xid, Answer::Success)?;
        Ok(bytes)
    }

    fn set_nonblocking(&mut self, _on: bool) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a call always waits for its reply"))
    }

    fn settings(&self) -> io::Result<Effective> {
        self.wire.settings()
    }
}

impl<W: Wire> Party for RpcEnd<W> {
    #[inline]
    fn ask(&mut self, number: u64) -> io::Result<()> {
        self.call_null(number as u32)
    }

    #[inline]
    fn answer(&mut self, number: u64) -> io::Result<()> {
        let mut room = [0; HEAD_BYTES + TAIL_BYTES];
        match self.take(&mut room)? {
            Some(Call { xid, asked: Asked::Null }) if xid == number as u32 => {
                self.reply(xid, Answer::Success)
            }
            Some(call) => Err(mismatch(format!("{call:?} came, not call {number} of the null procedure"))),
            None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the client closed before it called")),
        }
    }

    fn settings(&self) -> io::Result<Effective> {
        End::settings(self)
    }
}

#[cfg(test)]
mod tests;
