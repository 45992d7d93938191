//! Sun RPC over UDP on the loopback interface: a datagram is a call or a reply. RFC 5531, udp(7).

use super::descriptor;
use super::rpc::record::{self, MARK_BYTES};
use super::rpc::{PATIENCE, Protocol, RpcEnd, Wire, udp_limits};
use crate::catalog::Limit;
use crate::cell::Cell;
use crate::workload::{Effective, mismatch};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsRawFd;

/// RFC 5531.
pub struct SunRpcUdp;

impl Protocol for SunRpcUdp {
    const NAME: &'static str = "sun_rpc_udp";
    const SUMMARY: &'static str = "a Sun RPC call over UDP, RFC 5531";
    type End = RpcEnd<UdpSocket>;

    fn limits(cell: &Cell) -> Vec<Limit> {
        udp_limits(cell)
    }

    fn pair(_message_bytes: usize) -> io::Result<[RpcEnd<UdpSocket>; 2]> {
        Ok(connected()?.map(RpcEnd::over))
    }
}

/// Two sockets on 127.0.0.1, each of which hears the other alone and waits [`PATIENCE`] for it.
pub fn connected() -> io::Result<[UdpSocket; 2]> {
    let (one, two) = (UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
    one.connect(two.local_addr()?)?;
    two.connect(one.local_addr()?)?;
    one.set_read_timeout(Some(PATIENCE))?;
    two.set_read_timeout(Some(PATIENCE))?;
    Ok([one, two])
}

impl Wire for UdpSocket {
    #[inline]
    fn send(&mut self, record: &[u8]) -> io::Result<()> {
        let message = &record[MARK_BYTES..];
        match UdpSocket::send(self, message)? {
            sent if sent == message.len() => Ok(()),
            sent => Err(mismatch(format!("{sent} bytes of a datagram of {} were sent", message.len()))),
        }
    }

    #[inline]
    fn receive(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let most = room.len() - MARK_BYTES;
        // With MSG_TRUNC the length is that of the datagram, even where the room is shorter. udp(7).
        let bytes = match recv(self.as_raw_fd(), &mut room[MARK_BYTES..], MsgFlags::MSG_TRUNC) {
            Ok(bytes) => bytes,
            Err(Errno::EAGAIN) => return Err(lost()),
            Err(error) => return Err(error.into()),
        };
        if bytes > most {
            return Err(mismatch(format!(
                "a datagram of {bytes} bytes came, over the {most} that a message has"
            )));
        }
        room[..MARK_BYTES].copy_from_slice(&record::whole(bytes).ok_or(io::ErrorKind::InvalidData)?);
        Ok(MARK_BYTES + bytes)
    }

    fn settings(&self) -> io::Result<Effective> {
        descriptor::socket_settings(self)
    }
}

fn lost() -> io::Error {
    let text = format!("no datagram came for {} s: one was lost, and none is sent again", PATIENCE.as_secs());
    io::Error::new(io::ErrorKind::TimedOut, text)
}
