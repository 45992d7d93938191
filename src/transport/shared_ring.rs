//! Two rings of bytes in named shared memory, one each way. shm_overview(7), futex(2).
//!
//! The object is made by the crate `shared_memory`; what stands in it and how its ends sleep is in
//! `sys/ring.rs`. A stream: `send` copies what finds room and waits only while the ring is full, `receive`
//! copies what is there and waits only while it is empty.

use super::{End, Transport};
use crate::cell::{Axis, Cell};
use crate::sys::ring::{Consumer, Producer, ring};
use crate::workload::Effective;
use std::io;

/// Bytes that each ring holds where the cell asks for none: 1 MiB. Of 64 KiB to 4 MiB this was the best on one
/// CPU with a second-level cache of 2 MiB; across CPUs less than 512 KiB was worse and more hardly better.
pub(super) const CAPACITY_BYTES: usize = 1 << 20;

/// shm_overview(7).
pub struct SharedRing;

/// The end of one ring that takes bytes out, and the end of the other that puts bytes in.
pub struct RingEnd {
    receiver: Consumer,
    sender: Producer,
}

impl Transport for SharedRing {
    const NAME: &'static str = "shared_ring";
    const SUMMARY: &'static str =
        "a ring of bytes in named shared memory each way, shm_overview(7), futex(2)";
    const KEEPS_BOUNDARIES: bool = false;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = RingEnd;

    fn pair(cell: &Cell) -> io::Result<[RingEnd; 2]> {
        let capacity_bytes = match cell.count(Axis::CapacityBytes) {
            0 => CAPACITY_BYTES,
            asked => usize::try_from(asked).map_err(|_| io::ErrorKind::InvalidInput)?,
        };
        let ((one_sends, two_receives), (two_sends, one_receives)) =
            (ring(capacity_bytes)?, ring(capacity_bytes)?);
        Ok([
            RingEnd { receiver: one_receives, sender: one_sends },
            RingEnd { receiver: two_receives, sender: two_sends },
        ])
    }
}

impl End for RingEnd {
    const SYSTEM_CALLS: u64 = 0;
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.sender.send(text)
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.receiver.receive(text)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        self.sender.set_nonblocking(on);
        Ok(())
    }

    fn settings(&self) -> io::Result<Effective> {
        Ok(Effective::from([("ring_bytes".to_owned(), self.sender.capacity_bytes().into())]))
    }
}
