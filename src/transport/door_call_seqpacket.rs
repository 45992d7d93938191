//! A door-style call over a pair of Unix sequenced-packet sockets: the bytes are the argument, the caller
//! waits for the return. The nearest to a door in function where there are none; it is no door. unix(7).

use super::round_trip::{ByteEnd, OneByte};
use super::unix_packet::Socket;
use super::unix_seqpacket::UnixSeqpacket;
use super::{End, Exchange, Transport};
use crate::catalog::Limit;
use crate::cell::Cell;
use crate::workload::{Effective, mismatch};
use std::io;

/// unix(7), `SOCK_SEQPACKET`, one synchronous call a message.
pub struct DoorCallSeqpacket;

/// One end of the calls: the first calls, the second serves.
pub struct CallEnd(Socket);

const NAME: &str = "door_call_seqpacket";
const NOTE: &str = "door_call_seqpacket is a door-style call, not a door: one call a message over Unix sequenced packets, \
     in a round trip the same as unix_seqpacket. Doors are a facility of Solaris and illumos.";
const SUMMARY: &str =
    "a door-style call, not a door: one call a message over Unix sequenced packets, unix(7)";

/// What a call returns: a door's reply may be empty, but an empty packet reads like the end of the channel.
const RETURNED: u8 = 0x0c;

impl Transport for DoorCallSeqpacket {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str = SUMMARY;
    const NOTE: &'static str = NOTE;
    const KEEPS_BOUNDARIES: bool = true;
    const SYNCHRONOUS: bool = true;
    type End = CallEnd;

    fn limits(cell: &Cell) -> Vec<Limit> {
        UnixSeqpacket::limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[CallEnd; 2]> {
        Ok(UnixSeqpacket::pair(cell)?.map(CallEnd))
    }
}

impl End for CallEnd {
    const SYSTEM_CALLS: u64 = 2;
    /// The whole call: two system calls, one of which carries the text.
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        let taken = self.0.send(text)?;
        let mut returned = [0];
        match self.0.receive(&mut returned)? {
            1 if returned == [RETURNED] => Ok(taken),
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Err(mismatch(format!("the call returned {}, not {RETURNED}", returned[0]))),
        }
    }

    /// Takes the argument and returns from the call.
    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        let got = self.0.receive(text)?;
        if got > 0 {
            self.0.send(&mut [RETURNED])?;
        }
        Ok(got)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        self.0.set_nonblocking(on)
    }

    fn settings(&self) -> io::Result<Effective> {
        self.0.settings()
    }
}

/// A byte as the argument and a byte as the reply: over this channel a round trip of `unix_seqpacket`.
impl Exchange for DoorCallSeqpacket {
    const NAME: &'static str = NAME;
    const SUMMARY: &'static str = SUMMARY;
    const NOTE: &'static str = NOTE;
    type End = ByteEnd<Socket>;

    fn pair(cell: &Cell) -> io::Result<[ByteEnd<Socket>; 2]> {
        OneByte::<UnixSeqpacket>::pair(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Axis, Value};
    use std::thread;

    fn pair(message_bytes: u64) -> [CallEnd; 2] {
        let cell = Cell::default().with(Axis::MessageBytes, Value::Count(message_bytes));
        <DoorCallSeqpacket as Transport>::pair(&cell).unwrap()
    }

    #[test]
    fn a_call_returns_when_its_argument_was_taken() {
        let [mut caller, mut server] = pair(5);
        thread::scope(|scope| {
            let calling = scope.spawn(move || caller.send(&mut [1, 2, 3, 4, 5]).unwrap());
            thread::yield_now();
            assert!(!calling.is_finished());
            let mut text = [0; 5];
            assert_eq!(server.receive(&mut text).unwrap(), 5);
            assert_eq!((text, calling.join().unwrap()), ([1, 2, 3, 4, 5], 5));
        });
    }

    #[test]
    fn an_argument_larger_than_the_default_send_buffer_fits() {
        const BYTES: usize = 400_000;
        let [mut caller, mut server] = pair(BYTES as u64);
        thread::scope(|scope| {
            scope.spawn(move || caller.send(&mut vec![7; BYTES]).unwrap());
            let mut text = vec![0; BYTES];
            assert_eq!(server.receive(&mut text).unwrap(), BYTES);
            assert!(text.iter().all(|byte| *byte == 7));
        });
    }

    #[test]
    fn a_server_that_is_gone_and_a_wrong_return_are_errors() {
        let [mut caller, server] = pair(1);
        drop(server);
        assert!(caller.send(&mut [1]).is_err());
        let [mut caller, mut server] = pair(1);
        server.0.send(&mut [RETURNED + 1]).unwrap();
        assert_eq!(caller.send(&mut [1]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
