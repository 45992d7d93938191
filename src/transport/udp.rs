//! Two UDP sockets that are connected to each other over the loopback interface. udp(7).
//!
//! Round trip only: one way a datagram that finds the receive buffer full is dropped without a word.

use super::{End, Transport, descriptor};
use crate::cell::Cell;
use crate::workload::Effective;
use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

/// udp(7).
pub struct Udp;

/// One socket.
pub struct Socket(UdpSocket);

/// A datagram that has not come by then is lost; less than the deadline of a visit, so that the loss is told.
/// The timer that each wait then has costs about 0.1 us of a round trip of 5 us.
const LONGEST_WAIT: Duration = Duration::from_secs(4);

impl Transport for Udp {
    const NAME: &'static str = "udp";
    const SUMMARY: &'static str = "two connected UDP sockets over 127.0.0.1, udp(7)";
    const KEEPS_BOUNDARIES: bool = true;
    type End = Socket;

    fn pair(_cell: &Cell) -> io::Result<[Socket; 2]> {
        pair(LONGEST_WAIT)
    }
}

fn pair(longest_wait: Duration) -> io::Result<[Socket; 2]> {
    let bind = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0));
    let (one, two) = (bind()?, bind()?);
    for (socket, peer) in [(&one, &two), (&two, &one)] {
        socket.connect(peer.local_addr()?)?;
        socket.set_read_timeout(Some(longest_wait))?;
    }
    Ok([Socket(one), Socket(two)])
}

impl End for Socket {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.0.send(text)
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.0.recv(text).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => io::Error::new(
                io::ErrorKind::TimedOut,
                "no datagram came in time: one was lost, or the other worker hangs",
            ),
            _ => error,
        })
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        self.0.set_nonblocking(on)
    }

    fn settings(&self) -> io::Result<Effective> {
        let mut settings = descriptor::socket_settings(&self.0)?;
        let wait_ms = self.0.read_timeout()?.map(|wait| wait.as_millis() as u64);
        settings.insert("receive_timeout_ms".into(), wait_ms.into());
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_datagram_ends_in_an_error() {
        let [mut client, mut server] = pair(Duration::from_millis(20)).unwrap();
        client.send(&mut [7]).unwrap();
        let mut byte = [0];
        assert_eq!(server.receive(&mut byte).unwrap(), 1);
        assert_eq!(byte, [7]);
        // The answer is lost: nobody sends it.
        let error = client.receive(&mut byte).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(error.to_string().contains("lost"), "{error}");
    }

    #[test]
    fn a_stranger_is_not_heard() {
        let [mut client, server] = pair(Duration::from_millis(20)).unwrap();
        let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        stranger.send_to(&[9], client.0.local_addr().unwrap()).unwrap();
        assert_eq!(client.receive(&mut [0]).unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(server);
    }
}
