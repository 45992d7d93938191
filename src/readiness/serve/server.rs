//! The server: it waits by the mechanism under test, reads the request of each connection that is ready, and
//! replies.

use super::connections::{is_silent, position_of};
use super::request::{self, Request};
use super::{CLIENTS, Ends, PROOF_REQUESTS};
use crate::readiness::{Patience, Readiness, Rearm};
use crate::workload::{Body, Proof, Tally, mismatch};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

/// Who is at the other end of a descriptor, and what is awaited.
#[derive(Clone, Copy)]
enum Peer {
    /// It is no connection.
    Nobody,
    /// An idle connection.
    Idle { position: usize },
    /// A client, and the number of its next request.
    Client { client: usize, number: u64, position: usize },
}

/// The worker that serves.
pub struct Server<R> {
    readiness: R,
    pub(super) connections: Ends,
    /// By descriptor.
    peers: Vec<Peer>,
    ready: Vec<RawFd>,
    /// Calls of the mechanism that were made.
    waits: u64,
}

impl<R: Readiness> Server<R> {
    /// Watches every connection.
    ///
    /// # Errors
    /// The system call that failed.
    pub fn new(connections: Ends) -> io::Result<Server<R>> {
        let mut readiness = R::open(connections.len())?;
        for connection in connections.iter() {
            readiness.watch(connection.as_fd())?;
        }
        let peers = peers(&connections);
        let ready = Vec::with_capacity(connections.len());
        Ok(Server { readiness, connections, peers, ready, waits: 0 })
    }

    /// One call of the mechanism; how many replies were sent.
    fn serve_ready(&mut self) -> io::Result<u64> {
        self.waits += 1;
        match self.readiness.wait(Patience::Endless) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(0),
            told => told?,
        };
        self.readiness.ready(&mut self.ready);
        let mut replies = 0;
        for index in 0..self.ready.len() {
            replies += u64::from(self.serve(self.ready[index])?);
        }
        Ok(replies)
    }

    /// Reads the request and replies; whether there was one.
    fn serve(&mut self, descriptor: RawFd) -> io::Result<bool> {
        let peer = self.peers.get_mut(descriptor as usize);
        let Some(Peer::Client { client, number, position }) = peer else {
            return Err(self.unexpected(descriptor));
        };
        let connection = self.connections[*position].as_fd();
        // All of these mechanisms may tell of a descriptor for nothing. A request that is read leaves the
        // connection empty: a client sends none before it has the reply.
        let came = request::receive(connection, *client)?;
        if let Some(came) = came {
            let expected = Request { client: *client, number: *number };
            if came != expected.word() {
                return Err(mismatch(format!("request {came:x} came, not {:x}", expected.word())));
            }
            *number += 1;
            request::send_to(connection, request::reply_to(came))?;
        }
        if R::REARM == Rearm::Always {
            self.readiness.rearm(connection)?;
        }
        Ok(came.is_some())
    }

    /// Why nothing should have been told of that descriptor.
    fn unexpected(&self, descriptor: RawFd) -> io::Error {
        let Some(Peer::Idle { position }) = self.peers.get(descriptor as usize).copied() else {
            return mismatch(format!("descriptor {descriptor} is ready, which is not watched"));
        };
        let told_for_nothing =
            || mismatch(format!("connection {position} is idle, and yet it was told to be ready"));
        is_silent(position, &self.connections[position]).err().unwrap_or_else(told_for_nothing)
    }
}

/// By descriptor, who is at its other end.
fn peers(connections: &[OwnedFd]) -> Vec<Peer> {
    let highest = connections.iter().map(AsRawFd::as_raw_fd).max().unwrap_or(0);
    let mut peers = vec![Peer::Nobody; highest as usize + 1];
    for (position, connection) in connections.iter().enumerate() {
        peers[connection.as_raw_fd() as usize] = Peer::Idle { position };
    }
    for client in 0..CLIENTS {
        let position = position_of(client, connections.len());
        peers[connections[position].as_raw_fd() as usize] = Peer::Client { client, number: 0, position };
    }
    peers
}

impl<R: Readiness> Body for Server<R> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        let waits_before = self.waits;
        let mut replies = 0;
        while replies < ops {
            replies += self.serve_ready()?;
        }
        if replies > ops {
            return Err(mismatch(format!("{replies} requests came in a batch of {ops}")));
        }
        Ok(Tally { waits: Some(self.waits - waits_before), ..request::tally(ops) })
    }

    fn prove(&mut self) -> io::Result<Proof> {
        self.run(PROOF_REQUESTS).map(|_| Proof::default())
    }

    fn conclude(&mut self) -> io::Result<()> {
        self.connections.iter().enumerate().try_for_each(|(position, end)| is_silent(position, end))
    }
}
