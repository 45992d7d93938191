//! The clients: one worker drives all of them. Each sends a request, awaits its reply, and goes on.
//!
//! Replies are awaited by epoll(7), whatever mechanism the server uses, and by the connections of the clients
//! alone, so that the clients cost the same in every cell.

use super::connections::{is_silent, position_of};
use super::request::{self, Request};
use super::{CLIENTS, Ends, PROOF_REQUESTS};
use crate::measure::clock::monotonic_ns;
use crate::measure::histogram::Histogram;
use crate::workload::{Body, Proof, Tally, mismatch};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::io;
use std::os::fd::AsFd;

/// One client.
#[derive(Clone, Copy, Default)]
struct Client {
    position: usize,
    /// Its next request.
    number: u64,
    /// When the request was sent whose reply it awaits.
    sent_ns: u64,
}

/// The worker that drives the clients, and holds the idle connections.
pub struct Clients {
    pub(super) connections: Ends,
    clients: [Client; CLIENTS],
    replies: Epoll,
    times: Histogram,
}

impl Clients {
    /// Makes a client of each connection that is one's, and leaves the others alone.
    ///
    /// # Errors
    /// epoll_create1(2), epoll_ctl(2).
    pub fn new(connections: Ends) -> io::Result<Clients> {
        let replies = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let mut clients = [Client::default(); CLIENTS];
        for (client, state) in clients.iter_mut().enumerate() {
            state.position = position_of(client, connections.len());
            let event = EpollEvent::new(EpollFlags::EPOLLIN, client as u64);
            replies.add(&connections[state.position], event)?;
        }
        Ok(Clients { connections, clients, replies, times: Histogram::default() })
    }

    fn ask(&mut self, client: usize, now_ns: u64) -> io::Result<()> {
        let state = &mut self.clients[client];
        state.sent_ns = now_ns;
        let request = Request { client, number: state.number };
        request::send_to(self.connections[state.position].as_fd(), request.word())
    }

    /// Takes the reply, if it has come, and adds the time that it took. The clock is read once: the moment at
    /// which a reply is here is the one before the next request is sent.
    fn take_reply(&mut self, client: usize) -> io::Result<Option<u64>> {
        let state = &mut self.clients[client];
        let connection = self.connections[state.position].as_fd();
        let Some(came) = request::receive(connection, client)? else { return Ok(None) };
        let expected = request::reply_to(Request { client, number: state.number }.word());
        if came != expected {
            return Err(mismatch(format!("reply {came:x} came, not {expected:x}")));
        }
        state.number += 1;
        let now_ns = monotonic_ns();
        self.times.add(now_ns - state.sent_ns);
        Ok(Some(now_ns))
    }
}

impl Body for Clients {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        self.times.clear();
        let mut unsent = ops;
        for client in 0..CLIENTS.min(usize::try_from(ops).unwrap_or(CLIENTS)) {
            self.ask(client, monotonic_ns())?;
            unsent -= 1;
        }
        let mut awaited = ops;
        let mut events = [EpollEvent::empty(); CLIENTS];
        while awaited > 0 {
            let told = match self.replies.wait(&mut events, EpollTimeout::NONE) {
                Err(Errno::EINTR) => continue,
                told => told?,
            };
            for event in &events[..told] {
                let client = event.data() as usize;
                let Some(now_ns) = self.take_reply(client)? else { continue };
                awaited -= 1;
                if unsent > 0 {
                    unsent -= 1;
                    self.ask(client, now_ns)?;
                }
            }
        }
        let [request_p50_ns, request_p99_ns] = [0.5, 0.99].map(|share| self.times.percentile(share));
        Ok(Tally { request_p50_ns, request_p99_ns, ..request::tally(ops) })
    }

    fn prove(&mut self) -> io::Result<Proof> {
        self.run(PROOF_REQUESTS).map(|_| Proof::default())
    }

    fn conclude(&mut self) -> io::Result<()> {
        self.connections.iter().enumerate().try_for_each(|(position, end)| is_silent(position, end))
    }
}
