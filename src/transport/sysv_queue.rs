//! A System V message queue. sysvipc(7), msgop(2).

use super::{End, Transport};
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell};
use crate::sys::sysv::{Queue, TYPE_BYTES};
use crate::workload::Effective;
use std::io;

/// sysvipc(7).
pub struct SysvQueue;

/// Types of the messages of the first end and of the second: one queue serves both ways.
const KINDS: [i64; 2] = [1, 2];

/// One end: both ends use the one queue.
pub struct QueueEnd {
    queue: Queue,
    flags: i32,
    /// Type of what this end sends, and of what it receives.
    kinds: [i64; 2],
}

impl Transport for SysvQueue {
    const NAME: &'static str = "sysv_queue";
    const SUMMARY: &'static str =
        "a System V message queue, msgop(2); the type word is not counted as payload";
    const NOTE: &'static str = "sysv_queue: only the text of a message is counted, not its type (8 bytes); UNIX Network Programming counts both.";
    const ROUND_TRIP_NOTE: &'static str = "";
    const KEEPS_BOUNDARIES: bool = true;
    const PRIVATE_IPC: bool = true;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = QueueEnd;

    fn limits(cell: &Cell) -> Vec<Limit> {
        let message_bytes = cell.message_bytes().max(1) as u64;
        vec![
            Limit { name: LimitName::IpcSysctl("kernel.msgmax"), needs: message_bytes },
            Limit {
                name: LimitName::IpcSysctl("kernel.msgmnb"),
                needs: message_bytes.max(cell.count(Axis::CapacityBytes)),
            },
        ]
    }

    fn pair(cell: &Cell) -> io::Result<[QueueEnd; 2]> {
        let queue = Queue::create()?;
        match cell.count(Axis::CapacityBytes) {
            0 => {}
            bytes => queue.set_capacity_bytes(bytes)?,
        }
        let other = queue.share();
        let [one, two] = KINDS;
        Ok([
            QueueEnd { queue, flags: 0, kinds: [one, two] },
            QueueEnd { queue: other, flags: 0, kinds: [two, one] },
        ])
    }
}

impl End for QueueEnd {
    const HEADROOM: usize = TYPE_BYTES;

    #[inline]
    fn send(&mut self, framed: &mut [u8]) -> io::Result<usize> {
        self.queue.send(self.kinds[0], framed, self.flags)?;
        Ok(framed.len() - TYPE_BYTES)
    }

    #[inline]
    fn receive(&mut self, framed: &mut [u8]) -> io::Result<usize> {
        self.queue.receive(self.kinds[1], framed, self.flags)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        self.flags = if on { nix::libc::IPC_NOWAIT } else { 0 };
        Ok(())
    }

    fn settings(&self) -> io::Result<Effective> {
        Ok(Effective::from([("msg_qbytes".to_owned(), self.queue.capacity_bytes()?.into())]))
    }
}
