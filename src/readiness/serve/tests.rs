//! A server and its clients in two threads of the test, and what must not go unseen.

use super::clients::Clients;
use super::connections::{Doors, connections_of, position_of};
use super::server::Server;
use super::{CLIENTS, limits, listeners_of, request};
use crate::cell::{Axis, Cell, Measure, Value};
use crate::readiness::epoll::Epoll;
use crate::readiness::{Patience, Readiness};
use crate::workload::{Body, Tally};
use nix::sys::socket::{Shutdown, shutdown};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::thread;

const SOCKETS: [&str; 2] = ["tcp", "unix"];
/// An idle connection: the clients of a cell with these have every second one.
const IDLE: u64 = 10;
const IDLE_POSITION: usize = 3;

fn cell(socket: &str, idle: u64) -> Cell {
    Cell::new(Measure::Serve, "x")
        .with(Axis::Socket, Value::word(socket))
        .with(Axis::IdleConnections, Value::Count(idle))
        .with(Axis::Spawn, Value::word("processes"))
}

/// Both ends of every connection, the server's first.
fn ends(socket: &str, idle: u64) -> [Vec<OwnedFd>; 2] {
    let doors = Doors::open(&cell(socket, idle)).unwrap();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| doors.accept_all().unwrap());
        let connected = doors.connect_all().unwrap();
        [accepted.join().unwrap(), connected]
    })
}

fn both<R: Readiness>(socket: &str, idle: u64) -> (Server<R>, Clients) {
    let [accepted, connected] = ends(socket, idle);
    (Server::new(accepted.into()).unwrap(), Clients::new(connected.into()).unwrap())
}

/// One batch of both.
fn batch(server: &mut Server<Epoll>, clients: &mut Clients, ops: u64) -> [Tally; 2] {
    thread::scope(|scope| {
        let asked = scope.spawn(|| clients.run(ops).unwrap());
        [server.run(ops).unwrap(), asked.join().unwrap()]
    })
}

fn say(end: &OwnedFd, text: &[u8]) {
    assert_eq!(nix::unistd::write(end, text).unwrap(), text.len());
}

fn hang_up(end: &OwnedFd) {
    shutdown(end.as_raw_fd(), Shutdown::Both).unwrap();
}

fn said(result: io::Result<impl Sized>) -> String {
    result.err().expect("it must not pass").to_string()
}

#[test]
fn every_request_is_answered_in_batches_of_any_size() {
    for socket in SOCKETS {
        let (mut server, mut clients) = both::<Epoll>(socket, 33);
        for ops in [1, 3, 10, 11, 1000] {
            let [served, asked] = batch(&mut server, &mut clients, ops);
            assert_eq!((served.bytes, asked.bytes), (16 * ops, 16 * ops), "{socket}");
            assert!((1..=ops).contains(&served.waits.unwrap()), "{socket}");
            let [half, most] = [asked.request_p50_ns, asked.request_p99_ns].map(Option::unwrap);
            assert!(0 < half && half <= most, "{half} {most}");
        }
        server.conclude().unwrap();
        clients.conclude().unwrap();
    }
}

#[test]
fn the_connections_of_the_clients_are_spread_over_all() {
    for idle in [0, 1, 7, 160, 10_240] {
        let all = CLIENTS + idle;
        let positions: Vec<usize> = (0..CLIENTS).map(|client| position_of(client, all)).collect();
        assert!(positions.windows(2).all(|pair| pair[0] < pair[1]), "{positions:?}");
        assert_eq!(positions[0], 0);
        assert!(positions[CLIENTS - 1] < all && positions[CLIENTS - 1] >= all * 9 / 10, "{positions:?}");
    }
}

#[test]
fn an_idle_connection_that_speaks_or_closes_is_caught_in_a_batch() {
    for socket in SOCKETS {
        let (mut server, clients) = both::<Epoll>(socket, IDLE);
        say(&clients.connections[IDLE_POSITION], b"!");
        let text = said(server.run(1));
        assert!(text.contains("something came over connection 3"), "{socket}: {text}");

        let (mut server, clients) = both::<Epoll>(socket, IDLE);
        hang_up(&clients.connections[IDLE_POSITION]);
        let text = said(server.run(1));
        assert!(text.contains("connection 3 was closed"), "{socket}: {text}");
    }
}

#[test]
fn an_idle_connection_that_spoke_or_closed_is_caught_at_the_end() {
    for socket in SOCKETS {
        let (mut server, mut clients) = both::<Epoll>(socket, IDLE);
        say(&server.connections[IDLE_POSITION], b"!");
        assert!(said(clients.conclude()).contains("something came over connection 3"), "{socket}");
        server.conclude().unwrap();
        drop(clients);
        assert!(said(server.conclude()).contains("connection 0 was closed"), "{socket}");
    }
}

#[test]
fn clients_that_are_gone_end_the_batch() {
    for socket in SOCKETS {
        let (mut server, clients) = both::<Epoll>(socket, 0);
        drop(clients);
        let error = server.run(1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{socket}: {error}");
        let (server, mut clients) = both::<Epoll>(socket, 0);
        drop(server);
        assert!(clients.run(1).is_err(), "{socket}");
    }
}

#[test]
fn requests_and_replies_of_another_number_are_refused() {
    let (mut server, mut clients) = both::<Epoll>("unix", 0);
    say(&clients.connections[0], &1u64.to_ne_bytes());
    assert!(said(server.run(1)).contains("request 1 came, not 0"));

    say(&server.connections[0], &request::reply_to(7).to_ne_bytes());
    assert!(said(clients.run(1)).contains("came, not ffffffffffffffff"));

    let (mut server, clients) = both::<Epoll>("unix", 0);
    say(&clients.connections[0], &[0; 16]);
    assert!(said(server.run(1)).contains("9 bytes or more came over the connection of client 0"));
}

#[test]
fn more_requests_than_the_batch_has_are_refused() {
    let (mut server, clients) = both::<Epoll>("unix", 0);
    for (client, connection) in clients.connections.iter().enumerate() {
        say(connection, &request::Request { client, number: 0 }.word().to_ne_bytes());
    }
    assert!(said(server.run(9)).contains("10 requests came in a batch of 9"));
}

#[test]
fn nobody_else_can_connect_once_all_are_there() {
    for socket in SOCKETS {
        let doors = Doors::open(&cell(socket, 0)).unwrap();
        thread::scope(|scope| {
            let _accepted = scope.spawn(|| doors.accept_all().unwrap());
            let _connected = doors.connect_all().unwrap();
        });
        assert!(doors.connect_all().is_err(), "{socket}");
    }
}

#[test]
fn descriptors_are_counted_in_the_process_that_has_most() {
    let needs = |cell: &Cell| limits(cell)[0].needs;
    let unix = cell("unix", 10_240);
    assert_eq!(needs(&unix), 10_250 + 1 + 32);
    assert_eq!(needs(&unix.with(Axis::Spawn, Value::word("threads"))), 20_500 + 1 + 32);
    let tcp = cell("tcp", 10_240);
    assert_eq!(connections_of(&tcp), 10_250);
    assert_eq!(needs(&tcp), 10_250 + listeners_of(&tcp) as u64 + 32);
    assert_eq!(listeners_of(&cell("unix", 10_240)), 1);
}

/// Tells of everything that it watches, whatever is there.
struct Liar(Vec<RawFd>);

impl Readiness for Liar {
    const NAME: &'static str = "liar";
    const SUMMARY: &'static str = "tells of everything";

    fn open(_most_descriptors: usize) -> io::Result<Liar> {
        Ok(Liar(Vec::new()))
    }

    fn watch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.0.push(descriptor.as_fd().as_raw_fd());
        Ok(())
    }

    fn unwatch(&mut self, _descriptor: BorrowedFd<'_>) -> io::Result<()> {
        Ok(())
    }

    fn wait(&mut self, _patience: Patience) -> io::Result<usize> {
        Ok(self.0.len())
    }

    fn is_ready(&self, _descriptor: RawFd) -> bool {
        true
    }

    fn ready(&self, ready: &mut Vec<RawFd>) {
        ready.clone_from(&self.0);
    }
}

#[test]
fn a_mechanism_that_tells_of_an_idle_connection_for_nothing_is_caught() {
    let (mut server, _clients) = both::<Liar>("unix", IDLE);
    assert!(said(server.run(1)).contains("connection 1 is idle, and yet it was told to be ready"));
}
