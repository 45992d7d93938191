//! Our ends against each other and against peers that break the rules, over real sockets.

use super::message::{PROGRAM, REPLY_ROOM, SINK};
use super::*;
use crate::transport::{sun_rpc_tcp, sun_rpc_udp};
use std::io::{ErrorKind, Write};
use std::thread;

/// A buffer for a message of that many bytes, its text set by `fill`.
fn framed(message_bytes: usize, fill: impl Fn(usize) -> u8) -> Vec<u8> {
    let mut buffer = vec![0xee; HEAD_BYTES + message_bytes + TAIL_BYTES];
    for (place, byte) in buffer[HEAD_BYTES..HEAD_BYTES + message_bytes].iter_mut().enumerate() {
        *byte = fill(place);
    }
    buffer
}

fn text(buffer: &[u8]) -> &[u8] {
    &buffer[HEAD_BYTES..buffer.len() - TAIL_BYTES]
}

/// Sends messages of each size from one end to the other and compares every byte.
fn carries<W: Wire>([mut client, mut server]: [RpcEnd<W>; 2], sizes: &[usize]) {
    thread::scope(|scope| {
        scope.spawn(move || {
            for size in sizes {
                let mut message = framed(*size, |place| (place * 7 + size) as u8);
                assert_eq!(client.send(&mut message).unwrap(), *size);
            }
        });
        for size in sizes {
            let mut message = framed(*size, |_| 0);
            assert_eq!(server.receive(&mut message).unwrap(), *size);
            assert!(text(&message) == text(&framed(*size, |place| (place * 7 + size) as u8)), "{size} bytes");
        }
        let mut message = framed(1, |_| 0);
        assert!(matches!(server.receive(&mut message), Ok(0) | Err(_)), "the client is gone");
    });
}

#[test]
fn arguments_of_any_length_arrive_over_tcp() {
    let ends = sun_rpc_tcp::connected().unwrap().map(RpcEnd::over);
    carries(ends, &[0, 1, 2, 3, 4, 5, 8899, 65460, 65536, 1_000_001]);
}

#[test]
fn arguments_up_to_the_limit_arrive_over_udp() {
    let ends = sun_rpc_udp::connected().unwrap().map(RpcEnd::over);
    carries(ends, &[0, 1, 2, 3, 4, 5, 8899, UDP_ARGUMENT_BYTES]);
}

/// The limit is that of the kernel, byte for byte.
#[test]
fn one_byte_more_than_the_limit_is_refused_by_udp() {
    let [mut client, _server] = sun_rpc_udp::connected().unwrap().map(RpcEnd::over);
    let error = client.send(&mut framed(UDP_ARGUMENT_BYTES + 1, |_| 0)).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(nix::libc::EMSGSIZE));
}

#[test]
fn null_calls_are_numbered() {
    let [mut client, mut server] = sun_rpc_tcp::connected().unwrap().map(RpcEnd::over);
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in u64::from(u32::MAX) - 2..u64::from(u32::MAX) + 3 {
                client.ask(number).unwrap();
            }
            client.ask(8).unwrap_err()
        });
        for number in u64::from(u32::MAX) - 2..u64::from(u32::MAX) + 3 {
            server.answer(number).unwrap();
        }
        let error = server.answer(7).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        drop(server);
    });
}

/// What a client of ours says to a server that answers with those bytes.
fn answered_with(answer: &[u8]) -> io::Error {
    let [client, mut server] = sun_rpc_tcp::connected().unwrap();
    server.write_all(answer).unwrap();
    server.shutdown(std::net::Shutdown::Write).unwrap();
    RpcEnd::over(client).call_null(5).unwrap_err()
}

#[test]
fn bad_replies_are_errors_of_the_call() {
    let reply = |xid, answer| {
        let mut room = [0; REPLY_ROOM];
        let end = message::write_reply(xid, answer, &mut room).unwrap();
        room[..end].to_vec()
    };
    let wrong_xid = answered_with(&reply(6, Answer::Success));
    assert_eq!(wrong_xid.to_string(), "the reply is to call 6, not to call 5");
    assert!(answered_with(&reply(5, Answer::RpcMismatch)).to_string().starts_with("the call was denied"));
    assert_eq!(answered_with(&[]).kind(), ErrorKind::UnexpectedEof);
    assert_eq!(answered_with(&reply(5, Answer::Success)[..9]).kind(), ErrorKind::UnexpectedEof);
    let huge = answered_with(&[0xff; 4]);
    assert_eq!(huge.to_string(), "a record of over 432 bytes: fragment 0 announces 2147483647 bytes");
    let endless = answered_with(&[0; 4 * 5000]);
    assert_eq!(endless.to_string(), "a record of over 4096 fragments");
}

/// What a server of ours says to those bytes, and what it replies.
fn called_with(call: &[u8]) -> (io::Error, Vec<u8>) {
    let [mut client, server] = sun_rpc_tcp::connected().unwrap();
    client.write_all(call).unwrap();
    client.shutdown(std::net::Shutdown::Write).unwrap();
    let error = RpcEnd::over(server).receive(&mut framed(100, |_| 0)).unwrap_err();
    let mut replied = Vec::new();
    let _ = io::Read::read_to_end(&mut client, &mut replied);
    (error, replied)
}

#[test]
fn bad_calls_are_refused_and_the_client_is_told() {
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_be_bytes()).collect::<Vec<u8>>();
    let mismatch = [0x8000_0028, 5, 0, 3, PROGRAM, 1, 0, 0, 0, 0, 0];
    let (error, replied) = called_with(&words(&mismatch));
    assert_eq!(error.to_string(), "not a call: invalid rpc version 3");
    assert_eq!(replied, words(&[0x8000_0018, 5, 1, 1, 0, 2, 2]));

    let too_long = [0x8000_002c, 5, 0, 2, PROGRAM, 1, SINK, 0, 0, 0, 0, 1 << 31];
    let (error, replied) = called_with(&words(&too_long));
    assert_eq!(error.to_string(), "an opaque of 2147483648 bytes, but 0 are there");
    assert_eq!(replied, words(&[0x8000_0018, 5, 1, 0, 0, 0, 4]));

    let (error, replied) = called_with(&[0xff; 4]);
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(replied.is_empty());
    // A message over the room of this cell.
    let (error, _) = called_with(&0x8000_4000_u32.to_be_bytes());
    assert!(error.to_string().ends_with("fragment 0 announces 16384 bytes"), "{error}");
}

#[test]
fn a_datagram_over_the_room_is_an_error_not_a_shorter_message() {
    let [mut client, mut server] = sun_rpc_udp::connected().unwrap();
    Wire::send(&mut client, &[1; MARK + 101]).unwrap();
    let error = Wire::receive(&mut server, &mut [0; MARK + 100]).unwrap_err();
    assert_eq!(error.to_string(), "a datagram of 101 bytes came, over the 100 that a message has");
}

const MARK: usize = record::MARK_BYTES;

#[test]
fn a_lost_datagram_is_an_error_that_names_it() {
    let [client, server] = sun_rpc_udp::connected().unwrap();
    client.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let error = RpcEnd::over(client).call_null(1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    // It was sent once, and not again.
    let mut server = RpcEnd::over(server);
    let mut room = [0; 200];
    assert_eq!(server.take(&mut room).unwrap().unwrap(), Call { xid: 1, asked: Asked::Null });
    nix::sys::socket::setsockopt(
        &server.wire,
        nix::sys::socket::sockopt::ReceiveTimeout,
        &nix::sys::time::TimeVal::new(0, 50_000),
    )
    .unwrap();
    let error = server.take(&mut room).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::ConnectionRefused), "{error}");
}
