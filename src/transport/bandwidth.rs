//! Bandwidth: one worker writes, the other asks for a number of messages, reads them all and is timed.
//!
//! The reader's clock starts just before it asks, with the channel empty, and stops when it has the
//! last byte, with the channel empty again: nothing is credited for filling it.

use super::pattern::{self, Follower};
use super::text::Text;
use super::{End, Transport};
use crate::cell::Cell;
use crate::workload::{Batch, Body, Effective, Proof, Tally, Workload, mismatch};
use nix::fcntl::OFlag;
use nix::unistd::{pipe2, read, write};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};

/// A batch moves this many channel capacities at least, so that filling the channel is not the result ...
const CAPACITIES_A_BATCH: u64 = 100;
/// ... or this many bytes where that is less (a TCP send buffer holds 4 MB): with the channel empty at
/// both ends of the clock there is no credit to dilute, only the start of the pipeline.
const ENOUGH_BYTES_A_BATCH: u64 = 32 << 20;
/// ... or this many messages: a stream takes half a minute to move 32 MiB by single bytes.
const ENOUGH_MESSAGES_A_BATCH: u64 = 1 << 17;
/// Short messages of a stream are moved together in the untimed pass, which is about bytes, not messages.
const PIECE_OF_PROOF_BYTES: usize = 64 << 10;
/// The untimed pass moves this many channel capacities at least.
const CAPACITIES_OF_PROOF: u64 = 4;
/// A channel that takes more than this without a reader is not bounded as a channel should be.
const MOST_CAPACITY_BYTES: u64 = 1 << 30;

const WRITER: usize = 0;
const READER: usize = 1;

/// What a channel takes before a writer waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Capacity {
    bytes: u64,
    messages: u64,
}

/// The untimed pass: so many pieces of that length, each a message or, of a stream, several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pass {
    piece_bytes: usize,
    pieces: u64,
}

/// The bandwidth of a transport.
pub struct Bandwidth<T: Transport> {
    message_bytes: usize,
    capacity: Capacity,
    effective: Effective,
    ends: [Mutex<Option<T::End>>; 2],
    /// The control channel on which the reader asks for messages.
    request: [OwnedFd; 2],
}

impl<T: Transport> Bandwidth<T> {
    /// Opens the channel, and measures on another one how much it takes before a writer waits.
    ///
    /// # Errors
    /// The system call that failed.
    pub fn open(cell: &Cell) -> io::Result<Bandwidth<T>> {
        let message_bytes = cell.message_bytes();
        let capacity = match T::SYNCHRONOUS {
            true => Capacity { bytes: message_bytes as u64, messages: 1 },
            false => capacity(T::pair(cell)?, message_bytes)?,
        };
        let [writer, reader] = T::pair(cell)?;
        let mut effective = writer.settings()?;
        effective.insert("capacity_bytes".into(), capacity.bytes.into());
        effective.insert("messages_that_fit".into(), capacity.messages.into());
        let (asked, ask) = pipe2(OFlag::O_CLOEXEC)?;
        Ok(Bandwidth {
            message_bytes,
            capacity,
            effective,
            ends: [Mutex::new(Some(writer)), Mutex::new(Some(reader))],
            request: [asked, ask],
        })
    }

    fn proof(&self) -> Pass {
        let messages =
            if T::KEEPS_BOUNDARIES { 1 } else { (PIECE_OF_PROOF_BYTES / self.message_bytes).max(1) };
        let piece_bytes = self.message_bytes * messages;
        let pieces = (CAPACITIES_OF_PROOF * self.capacity.bytes).div_ceil(piece_bytes as u64);
        Pass { piece_bytes, pieces: pieces.max(CAPACITIES_OF_PROOF) }
    }

    fn writer(&self, end: T::End) -> io::Result<Writer<'_, T::End>> {
        let buffer = Text::touched::<T::End>(self.message_bytes)?;
        let proof = self.proof();
        Ok(Writer { end, buffer, number: 0, proof, asked: &self.request[0] })
    }

    fn reader(&self, end: T::End) -> io::Result<Reader<'_, T::End>> {
        Ok(Reader {
            end,
            buffer: Text::touched::<T::End>(self.message_bytes)?,
            wanted: Text::touched::<T::End>(self.proof().piece_bytes)?,
            keeps_boundaries: T::KEEPS_BOUNDARIES,
            follower: Follower::new(self.message_bytes),
            proof: self.proof(),
            ask: &self.request[1],
        })
    }
}

/// Checks that each worker moved every byte of the batch.
///
/// # Errors
/// `InvalidData` with what was expected and what was found.
pub fn all_moved(batch: &Batch, message_bytes: usize) -> io::Result<()> {
    let expected = batch.ops * message_bytes as u64;
    match batch.tallies.iter().find(|tally| tally.bytes != expected) {
        Some(tally) => Err(mismatch(format!("{} bytes were moved, not {expected}", tally.bytes))),
        None => Ok(()),
    }
}

/// Sends until the channel is full, with nobody receiving.
fn capacity<E: End>(ends: [E; 2], message_bytes: usize) -> io::Result<Capacity> {
    let [mut sender, _kept_open] = ends;
    let mut text = Text::touched::<E>(message_bytes)?;
    sender.set_nonblocking(true)?;
    let mut bytes = 0;
    while bytes < MOST_CAPACITY_BYTES {
        match sender.send(text.framed()) {
            Ok(taken) => bytes += taken as u64,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Ok(Capacity { bytes, messages: bytes / message_bytes as u64 });
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("the channel took {bytes} bytes and was still not full")))
}

struct Writer<'a, E> {
    end: E,
    buffer: Text,
    number: u64,
    proof: Pass,
    asked: &'a OwnedFd,
}

impl<E: End> Writer<'_, E> {
    /// Waits until the reader asks; both know the count.
    fn await_request(&self, messages: u64) -> io::Result<()> {
        let mut request = [0; 8];
        let got = read(self.asked, &mut request)?;
        let asked = u64::from_le_bytes(request);
        if got == request.len() && asked == messages {
            return Ok(());
        }
        Err(mismatch(format!("the reader asked for {asked} messages ({got} bytes), not for {messages}")))
    }

    /// Sends the whole message and returns the system calls that took. Always inlined, as `receive`.
    #[inline(always)]
    fn send(&mut self) -> io::Result<u64> {
        let message_bytes = self.buffer.text().len();
        let (mut sent, mut calls) = (0, 0);
        while sent < message_bytes {
            sent += self.end.send(self.buffer.part(sent, message_bytes))?;
            calls += 1;
        }
        Ok(calls)
    }
}

impl<E: End> Body for Writer<'_, E> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        self.await_request(ops)?;
        let mut calls = 0;
        for _ in 0..ops {
            pattern::number(self.buffer.text(), self.number);
            self.number += 1;
            calls += self.send()?;
        }
        Ok(Tally::moved(ops * self.buffer.text().len() as u64, calls * E::SYSTEM_CALLS))
    }

    fn prove(&mut self) -> io::Result<Proof> {
        let message = std::mem::replace(&mut self.buffer, Text::touched::<E>(self.proof.piece_bytes)?);
        self.await_request(self.proof.pieces)?;
        let mut crc = crc32fast::Hasher::new();
        let mut bytes = 0;
        for number in 0..self.proof.pieces {
            pattern::fill(self.buffer.text(), number);
            crc.update(self.buffer.text());
            self.send()?;
            bytes += self.buffer.text().len() as u64;
        }
        self.buffer = message;
        Ok(Proof { bytes, crc32: crc.finalize() })
    }
}

struct Reader<'a, E> {
    end: E,
    buffer: Text,
    wanted: Text,
    keeps_boundaries: bool,
    follower: Follower,
    proof: Pass,
    ask: &'a OwnedFd,
}

/// What is wrong with a receive of `got` bytes. Apart, so that the loop stays small.
#[cold]
fn cut_short(got: usize, until: usize) -> io::Error {
    if got == 0 {
        io::Error::new(io::ErrorKind::UnexpectedEof, "the channel ended before the last byte")
    } else {
        mismatch(format!("a message of {got} bytes came, not of {until}"))
    }
}

impl<E: End> Reader<'_, E> {
    fn request(&self, messages: u64) -> io::Result<()> {
        if write(self.ask, &messages.to_le_bytes())? == 8 {
            Ok(())
        } else {
            Err(io::ErrorKind::WriteZero.into())
        }
    }

    /// One receive into the text from `done`, never past a message. Always inlined: a return from a
    /// function of our own right after a system call is mispredicted, which cost a pipe 3 % at 4 KiB.
    #[inline(always)]
    fn receive(&mut self, done: usize, until: usize) -> io::Result<usize> {
        let got = self.end.receive(self.buffer.part(done, until))?;
        if got == 0 || self.keeps_boundaries && got != until {
            return Err(cut_short(got, until));
        }
        Ok(got)
    }
}

impl<E: End> Body for Reader<'_, E> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        self.request(ops)?;
        let message_bytes = self.buffer.text().len();
        let bytes = ops * message_bytes as u64;
        let (mut left, mut calls) = (bytes, 0);
        while left > 0 {
            let until = message_bytes.min(usize::try_from(left).unwrap_or(message_bytes));
            let got = self.receive(0, until)?;
            self.follower.follow(&self.buffer.text()[..got])?;
            left -= got as u64;
            calls += 1;
        }
        Ok(Tally::moved(bytes, calls * E::SYSTEM_CALLS))
    }

    fn prove(&mut self) -> io::Result<Proof> {
        let piece_bytes = self.proof.piece_bytes;
        let message = std::mem::replace(&mut self.buffer, Text::touched::<E>(piece_bytes)?);
        self.request(self.proof.pieces)?;
        let mut crc = crc32fast::Hasher::new();
        let mut bytes = 0;
        for number in 0..self.proof.pieces {
            let mut done = 0;
            while done < piece_bytes {
                done += self.receive(done, piece_bytes)?;
            }
            pattern::fill(self.wanted.text(), number);
            if self.buffer.text() != self.wanted.text() {
                return Err(mismatch(format!("piece {number} of the untimed pass came altered")));
            }
            crc.update(self.buffer.text());
            bytes += piece_bytes as u64;
        }
        self.buffer = message;
        Ok(Proof { bytes, crc32: crc.finalize() })
    }
}

impl<T: Transport> Workload for Bandwidth<T> {
    fn workers(&self) -> usize {
        self.ends.len()
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        let mut slot = self.ends[worker].lock().unwrap_or_else(PoisonError::into_inner);
        let end = slot.take().ok_or_else(|| io::Error::other("this end was entered before"))?;
        Ok(if worker == WRITER { Box::new(self.writer(end)?) } else { Box::new(self.reader(end)?) })
    }

    fn timed(&self, worker: usize) -> bool {
        worker == READER
    }

    fn least_ops(&self) -> u64 {
        let bytes = (CAPACITIES_A_BATCH * self.capacity.bytes).min(ENOUGH_BYTES_A_BATCH);
        bytes.div_ceil(self.message_bytes as u64).clamp(1, ENOUGH_MESSAGES_A_BATCH)
    }

    fn verify(&self, batch: &Batch) -> io::Result<()> {
        all_moved(batch, self.message_bytes)
    }

    fn verify_proof(&self, proofs: &[Proof]) -> io::Result<()> {
        let Pass { piece_bytes, pieces } = self.proof();
        let expected = pieces * piece_bytes as u64;
        let [writer, reader] = proofs else {
            return Err(mismatch(format!("{} workers proved, not 2", proofs.len())));
        };
        if writer == reader && reader.bytes == expected {
            return Ok(());
        }
        Err(mismatch(format!(
            "the untimed pass should move {expected} bytes; written {} with CRC-32 {:08x}, read {} with {:08x}",
            writer.bytes, writer.crc32, reader.bytes, reader.crc32
        )))
    }

    fn effective(&self) -> Effective {
        self.effective.clone()
    }
}
