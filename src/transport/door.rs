//! Doors of Solaris and illumos, bandwidth and round trip. door_create(3C), door_call(3C).
//!
//! Compiled, not run: the rest of the program is not ported to these systems yet, and Linux has no doors and
//! no row of this name. There only `--cfg ipcmatrix_check_doors` compiles this file (`make check` does).
//!
//! A door is served by a thread of the C library's, not by the worker that made it, so doors fit neither
//! [`super::End`] nor [`super::Party`], and have a workload of their own. The server worker makes the door
//! when it enters (a door belongs to the process that made it), hands it over, and sleeps during a batch.

use super::bandwidth::all_moved;
use super::pattern::{self, Follower};
use crate::catalog::{Driver, Family, Reach, alone};
use crate::cell::{Axis, Cell, Measure};
use crate::sys::door::{self, Procedure};
use crate::sys::memory::PageBuffer;
use crate::sys::passing;
use crate::workload::{Batch, Body, Proof, Tally, Workload, mismatch};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::unistd::{read, write};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

const CLIENT: usize = 0;
/// Calls of the untimed pass.
const PROOF_CALLS: u64 = 256;

/// The driver of that measure, bandwidth or round trip.
pub const fn driver(measure: Measure) -> Driver {
    Driver {
        family: Family::Transport,
        measure,
        mechanism: "door",
        note: "",
        summary: "a door: the argument is the message, the reply is empty (round trip: a byte), door_call(3C)",
        reach: Reach::Both,
        extra_axes: &[],
        private_ipc: false,
        present: || Ok(()),
        limits: |_| Vec::new(),
        rough_op_ns: |cell| 20_000 + 2 * cell.count(Axis::MessageBytes),
        usable: |_| Ok(()),
        open: |cells| Ok(Box::new(Door::open(alone(cells)?)?)),
    }
}

/// Calls of one door. Bandwidth: the server asks for a number of calls and is timed. Round trip: the client is.
struct Door {
    message_bytes: usize,
    replies: bool,
    /// Carries the door to the client, then the requests for calls.
    sockets: [Mutex<Option<OwnedFd>>; 2],
}

impl Door {
    fn open(cell: &Cell) -> io::Result<Door> {
        let (one, two) = socketpair(AddressFamily::Unix, SockType::Stream, None, SockFlag::SOCK_CLOEXEC)?;
        Ok(Door {
            message_bytes: cell.message_bytes().max(1),
            replies: cell.measure() == Some(Measure::RoundTrip),
            sockets: [Mutex::new(Some(one)), Mutex::new(Some(two))],
        })
    }

    fn client(&self, socket: OwnedFd) -> io::Result<Client> {
        let door = passing::take_over(&socket)?;
        let text = PageBuffer::touched(self.message_bytes)?;
        Ok(Client { door, socket, text, number: 0, replies: self.replies })
    }

    fn server(&self, socket: OwnedFd) -> io::Result<Server> {
        // The threads of the door may outlive the workload, so this is never given back.
        let served: &'static Served = Box::leak(Box::new(Served {
            replies: self.replies,
            progress: Mutex::new(Progress {
                follower: Follower::new(self.message_bytes),
                wanted: None,
                crc: crc32fast::Hasher::new(),
                served: 0,
                awaited: 0,
                wrong: None,
            }),
            done: Condvar::new(),
        }));
        passing::hand_over(&socket, door::create(served)?)?;
        Ok(Server { served, socket, message_bytes: self.message_bytes })
    }
}

struct Client {
    door: OwnedFd,
    socket: OwnedFd,
    text: PageBuffer,
    number: u64,
    replies: bool,
}

impl Client {
    /// Waits until the server asks for the calls.
    fn await_request(&self, calls: u64) -> io::Result<()> {
        let mut asked = [0; 8];
        if read(&self.socket, &mut asked)? == 8 && u64::from_le_bytes(asked) == calls {
            return Ok(());
        }
        Err(mismatch(format!("the server did not ask for {calls} calls")))
    }

    #[inline]
    fn call(&mut self) -> io::Result<()> {
        let mut reply = [0];
        let wanted = usize::from(self.replies);
        let got = door::call(&self.door, &self.text, &mut reply)?;
        if got == wanted && (!self.replies || reply[0] == !self.text[0]) {
            return Ok(());
        }
        Err(mismatch(format!("the door replied {got} bytes beginning with {}, not {wanted}", reply[0])))
    }
}

impl Body for Client {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        if !self.replies {
            self.await_request(ops)?;
        }
        for _ in 0..ops {
            pattern::number(&mut self.text, self.number);
            self.number += 1;
            self.call()?;
        }
        Ok(Tally::moved(ops * self.text.len() as u64, ops))
    }

    fn prove(&mut self) -> io::Result<Proof> {
        self.await_request(PROOF_CALLS)?;
        let mut crc = crc32fast::Hasher::new();
        for number in 0..PROOF_CALLS {
            pattern::fill(&mut self.text, number);
            crc.update(&self.text);
            self.call()?;
        }
        Ok(Proof { bytes: PROOF_CALLS * self.text.len() as u64, crc32: crc.finalize() })
    }
}

/// What the door's thread and the server worker share.
struct Served {
    replies: bool,
    progress: Mutex<Progress>,
    done: Condvar,
}

struct Progress {
    follower: Follower,
    /// The untimed pass: a buffer for the expected bytes, and the number of the message that comes next.
    wanted: Option<(Vec<u8>, u64)>,
    crc: crc32fast::Hasher,
    /// Calls served since the door was made, and those that the server sleeps for. A round trip begins
    /// without a request, so calls may come before the server has said how many it awaits.
    served: u64,
    awaited: u64,
    wrong: Option<String>,
}

impl Progress {
    fn take(&mut self, argument: &[u8]) -> io::Result<()> {
        self.served += 1;
        let Some((wanted, number)) = &mut self.wanted else { return self.follower.follow(argument) };
        pattern::fill(wanted, *number);
        *number += 1;
        self.crc.update(argument);
        if argument == wanted { Ok(()) } else { Err(mismatch(format!("call {} came altered", *number - 1))) }
    }
}

impl Served {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Procedure for Served {
    fn serve(&self, argument: &[u8]) -> Option<u8> {
        let mut progress = self.lock();
        if let Err(error) = progress.take(argument) {
            progress.wrong.get_or_insert(error.to_string());
        }
        if progress.served == progress.awaited || progress.wrong.is_some() {
            self.done.notify_one();
        }
        self.replies.then(|| !argument.first().copied().unwrap_or_default())
    }
}

struct Server {
    served: &'static Served,
    socket: OwnedFd,
    message_bytes: usize,
}

impl Server {
    /// Asks the client for that many calls.
    fn request(&self, calls: u64) -> io::Result<()> {
        if write(&self.socket, &calls.to_le_bytes())? == 8 {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }

    /// Sleeps until that many calls more have been served.
    fn await_calls(&self, calls: u64) -> io::Result<MutexGuard<'_, Progress>> {
        let mut progress = self.served.lock();
        progress.awaited += calls;
        while progress.served < progress.awaited && progress.wrong.is_none() {
            progress = self.served.done.wait(progress).unwrap_or_else(PoisonError::into_inner);
        }
        match progress.wrong.take() {
            Some(wrong) => Err(mismatch(wrong)),
            None => Ok(progress),
        }
    }
}

impl Body for Server {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        if !self.served.replies {
            self.request(ops)?;
        }
        drop(self.await_calls(ops)?);
        Ok(Tally::moved(ops * self.message_bytes as u64, ops))
    }

    fn prove(&mut self) -> io::Result<Proof> {
        self.served.lock().wanted = Some((vec![0; self.message_bytes], 0));
        self.request(PROOF_CALLS)?;
        let mut progress = self.await_calls(PROOF_CALLS)?;
        progress.wanted = None;
        let crc32 = std::mem::take(&mut progress.crc).finalize();
        Ok(Proof { bytes: PROOF_CALLS * self.message_bytes as u64, crc32 })
    }
}

impl Workload for Door {
    fn workers(&self) -> usize {
        self.sockets.len()
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        let mut slot = self.sockets[worker].lock().unwrap_or_else(PoisonError::into_inner);
        let socket = slot.take().ok_or_else(|| io::Error::other("this end was entered before"))?;
        match worker {
            CLIENT => Ok(Box::new(self.client(socket)?)),
            _ => Ok(Box::new(self.server(socket)?)),
        }
    }

    fn timed(&self, worker: usize) -> bool {
        (worker == CLIENT) == self.replies
    }

    fn verify(&self, batch: &Batch) -> io::Result<()> {
        all_moved(batch, self.message_bytes)
    }

    fn verify_proof(&self, proofs: &[Proof]) -> io::Result<()> {
        match proofs {
            [client, server] if client == server => Ok(()),
            _ => Err(mismatch(format!("the two sides saw other bytes: {proofs:?}"))),
        }
    }
}
