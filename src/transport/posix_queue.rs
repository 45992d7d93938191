//! A POSIX message queue of four messages. mq_overview(7).

use super::{End, Transport};
use crate::catalog::{Limit, LimitName};
use crate::cell::{Cell, Measure};
use crate::sys::leftovers::{self, Leftover};
use crate::workload::Effective;
use posixmq::{OpenOptions, PosixMq};
use std::io;

/// mq_overview(7).
pub struct PosixQueue;

/// Messages that the queue holds, as in the book.
const MESSAGES: usize = 4;
/// What the kernel charges to `RLIMIT_MSGQUEUE` for each message beside its bytes, rounded up: a pointer's
/// worth of bookkeeping each and one tree node for each priority. getrlimit(2).
const CHARGED_A_MESSAGE_BYTES: u64 = 128;

/// One end. One way the two ends share a queue; for a round trip there is one each way.
pub struct QueueEnd {
    sends: PosixMq,
    receives: PosixMq,
}

/// Bytes of the largest message of the cell; a round trip has no such axis, its messages have one byte.
fn message_bytes(cell: &Cell) -> usize {
    cell.message_bytes().max(1)
}

/// Queues that the cell has.
fn queues(cell: &Cell) -> u64 {
    if cell.measure() == Some(Measure::RoundTrip) { 2 } else { 1 }
}

fn create(cell: &Cell) -> io::Result<PosixMq> {
    let name = format!("/ipcmatrix.{}.{}", std::process::id(), leftovers::serial());
    leftovers::announce(&Leftover::PosixQueue(name.clone()))?;
    let queue = OpenOptions::readwrite()
        .create_new()
        .mode(0o600)
        .capacity(MESSAGES)
        .max_msg_len(message_bytes(cell))
        .open(&name)?;
    posixmq::remove_queue(&name)?;
    Ok(queue)
}

impl Transport for PosixQueue {
    const NAME: &'static str = "posix_queue";
    const SUMMARY: &'static str = "a POSIX message queue of 4 messages, mq_overview(7)";
    const KEEPS_BOUNDARIES: bool = true;
    const PRIVATE_IPC: bool = true;
    type End = QueueEnd;

    fn limits(cell: &Cell) -> Vec<Limit> {
        let (messages, message_bytes) = (MESSAGES as u64, message_bytes(cell) as u64);
        vec![
            Limit { name: LimitName::IpcSysctl("fs.mqueue.msgsize_max"), needs: message_bytes },
            Limit { name: LimitName::IpcSysctl("fs.mqueue.msg_max"), needs: messages },
            Limit {
                name: LimitName::RlimitMsgqueue,
                needs: queues(cell) * messages * (message_bytes + CHARGED_A_MESSAGE_BYTES),
            },
        ]
    }

    fn pair(cell: &Cell) -> io::Result<[QueueEnd; 2]> {
        let there = create(cell)?;
        let back = if queues(cell) == 2 { create(cell)? } else { there.try_clone()? };
        let other = QueueEnd { sends: back.try_clone()?, receives: there.try_clone()? };
        Ok([QueueEnd { sends: there, receives: back }, other])
    }
}

impl End for QueueEnd {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.sends.send(0, text)?;
        Ok(text.len())
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.receives.recv(text).map(|(_priority, bytes)| bytes)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        self.sends.set_nonblocking(on)
    }

    fn settings(&self) -> io::Result<Effective> {
        let attributes = self.sends.attributes()?;
        Ok(Effective::from([
            ("mq_maxmsg".to_owned(), attributes.capacity.into()),
            ("mq_msgsize".to_owned(), attributes.max_msg_len.into()),
        ]))
    }
}
