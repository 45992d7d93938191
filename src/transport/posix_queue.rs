//! A POSIX message queue of four messages. mq_overview(7).

use super::{End, Transport};
use crate::catalog::{Limit, LimitName};
use crate::cell::Cell;
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

/// One end: both ends have the one queue open.
pub struct QueueEnd {
    queue: PosixMq,
}

impl Transport for PosixQueue {
    const NAME: &'static str = "posix_queue";
    const SUMMARY: &'static str = "a POSIX message queue of 4 messages, mq_overview(7)";
    const KEEPS_BOUNDARIES: bool = true;
    const PRIVATE_IPC: bool = true;
    type End = QueueEnd;

    fn limits(cell: &Cell) -> Vec<Limit> {
        let (messages, message_bytes) = (MESSAGES as u64, cell.message_bytes() as u64);
        vec![
            Limit { name: LimitName::IpcSysctl("fs.mqueue.msgsize_max"), needs: message_bytes },
            Limit { name: LimitName::IpcSysctl("fs.mqueue.msg_max"), needs: messages },
            Limit {
                name: LimitName::RlimitMsgqueue,
                needs: messages * (message_bytes + CHARGED_A_MESSAGE_BYTES),
            },
        ]
    }

    fn pair(cell: &Cell) -> io::Result<[QueueEnd; 2]> {
        let name = format!("/ipcmatrix.{}.{}", std::process::id(), leftovers::serial());
        leftovers::announce(&Leftover::PosixQueue(name.clone()))?;
        let queue = OpenOptions::readwrite()
            .create_new()
            .mode(0o600)
            .capacity(MESSAGES)
            .max_msg_len(cell.message_bytes())
            .open(&name)?;
        posixmq::remove_queue(&name)?;
        let other = queue.try_clone()?;
        Ok([QueueEnd { queue }, QueueEnd { queue: other }])
    }
}

impl End for QueueEnd {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.queue.send(0, text)?;
        Ok(text.len())
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.queue.recv(text).map(|(_priority, bytes)| bytes)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        self.queue.set_nonblocking(on)
    }

    fn settings(&self) -> io::Result<Effective> {
        let attributes = self.queue.attributes()?;
        Ok(Effective::from([
            ("mq_maxmsg".to_owned(), attributes.capacity.into()),
            ("mq_msgsize".to_owned(), attributes.max_msg_len.into()),
        ]))
    }
}
