//! One copy of the same bytes by one worker: what a transport that copies is measured against. memcpy(3).
//!
//! An operation copies one message from a source to a destination. Both are as large as `shared_ring` is (or
//! as `capacity_bytes` says) and are walked message by message, because that is what bytes do that go through
//! a ring: a place is used again when the whole ring has passed. How fast a copy is depends on the caches that
//! hold both areas more than on anything else. `capacity_bytes` equal to the message gives one hot buffer each,
//! which no stream of bytes has; 64M gives the copy from memory, or from a very large last cache.

use super::pattern::{self, Follower};
use super::shared_ring;
use crate::catalog::{Driver, Family, Reach, alone};
use crate::cell::{Axis, Cell, MEMORY_COPY, Measure};
use crate::sys::memory::PageBuffer;
use crate::workload::{Batch, Body, Effective, Proof, Tally, Workload, mismatch};
use std::hint::black_box;
use std::io;
use std::ops::Range;

/// The untimed pass walks over the areas this often.
const WALKS_OF_PROOF: u64 = 4;

/// The driver that measures it.
pub const DRIVER: Driver = Driver {
    family: Family::Transport,
    measure: Measure::Bandwidth,
    mechanism: MEMORY_COPY,
    note: "memory_copy is one copy by one worker between two areas as large as shared_ring: it has no other CPU to cross to.",
    summary: "one copy of the same bytes by one worker, between areas as large as shared_ring, memcpy(3)",
    reach: Reach::Both,
    extra_axes: &[(Axis::CapacityBytes, "0")],
    private_ipc: false,
    present: || Ok(()),
    usable: |_| Ok(()),
    limits: |_| Vec::new(),
    rough_op_ns: |cell| 100 + cell.count(Axis::MessageBytes),
    open: |cells| Ok(Box::new(MemoryCopy::of(alone(cells)?))),
};

/// Copies of messages of that size, so many of which fill an area.
#[derive(Clone, Copy)]
struct MemoryCopy {
    message_bytes: usize,
    messages: usize,
}

impl MemoryCopy {
    fn of(cell: &Cell) -> MemoryCopy {
        let message_bytes = cell.message_bytes().max(1);
        let area_bytes = match cell.count(Axis::CapacityBytes) as usize {
            0 => shared_ring::CAPACITY_BYTES,
            asked => asked,
        };
        MemoryCopy { message_bytes, messages: (area_bytes / message_bytes).max(1) }
    }

    fn area_bytes(&self) -> usize {
        self.messages * self.message_bytes
    }

    /// Bytes of the message that stands there in an area.
    fn place(&self, position: usize) -> Range<usize> {
        position * self.message_bytes..(position + 1) * self.message_bytes
    }
}

struct Copier {
    sizes: MemoryCopy,
    from: PageBuffer,
    to: PageBuffer,
    /// Position of the next message.
    position: usize,
    number: u64,
    follower: Follower,
}

impl Copier {
    fn of(sizes: MemoryCopy) -> io::Result<Copier> {
        Ok(Copier {
            sizes,
            from: PageBuffer::touched(sizes.area_bytes())?,
            to: PageBuffer::touched(sizes.area_bytes())?,
            position: 0,
            number: 0,
            follower: Follower::new(sizes.message_bytes),
        })
    }

    /// Copies that message. The compiler must take it that somebody else looks at all of it.
    #[inline]
    fn copy(&mut self, place: Range<usize>) {
        self.to[place.clone()].copy_from_slice(black_box(&self.from[place.clone()]));
        black_box(&mut self.to[place]);
    }

    #[inline]
    fn next_place(&mut self) -> Range<usize> {
        let place = self.sizes.place(self.position);
        self.position += 1;
        if self.position == self.sizes.messages {
            self.position = 0;
        }
        place
    }
}

impl Body for Copier {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        for _ in 0..ops {
            let place = self.next_place();
            pattern::number(&mut self.from[place.clone()], self.number);
            self.number += 1;
            self.copy(place.clone());
            self.follower.follow(&self.to[place])?;
        }
        Ok(Tally::moved(ops * self.sizes.message_bytes as u64, 0))
    }

    fn prove(&mut self) -> io::Result<Proof> {
        let (mut crc, mut bytes) = (crc32fast::Hasher::new(), 0);
        let mut number = 0;
        for _ in 0..WALKS_OF_PROOF {
            for position in 0..self.sizes.messages {
                let place = self.sizes.place(position);
                pattern::fill(&mut self.from[place.clone()], number);
                number += 1;
                self.copy(place);
            }
            // Not message by message: one that was copied to a wrong place would look right.
            crc.update(&self.to);
            bytes += self.to.len() as u64;
        }
        Ok(Proof { bytes, crc32: crc.finalize() })
    }
}

impl Workload for MemoryCopy {
    fn workers(&self) -> usize {
        1
    }

    fn enter(&self, _worker: usize) -> io::Result<Box<dyn Body + '_>> {
        Ok(Box::new(Copier::of(*self)?))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    /// A batch walks over the whole areas at least once.
    fn least_ops(&self) -> u64 {
        self.messages as u64
    }

    fn verify(&self, batch: &Batch) -> io::Result<()> {
        let expected = batch.ops * self.message_bytes as u64;
        match batch.tallies {
            [tally] if tally.bytes == expected => Ok(()),
            other => Err(mismatch(format!("{other:?} is not one worker that copied {expected} bytes"))),
        }
    }

    /// The coordinator makes the same messages again and compares what came of them.
    fn verify_proof(&self, proofs: &[Proof]) -> io::Result<()> {
        let messages = WALKS_OF_PROOF * self.messages as u64;
        let mut message = PageBuffer::touched(self.message_bytes)?;
        let mut crc = crc32fast::Hasher::new();
        for number in 0..messages {
            pattern::fill(&mut message, number);
            crc.update(&message);
        }
        let wanted = Proof { bytes: messages * self.message_bytes as u64, crc32: crc.finalize() };
        if proofs == [wanted] {
            return Ok(());
        }
        Err(mismatch(format!("the untimed pass gave {proofs:?}, not one {wanted:?}")))
    }

    fn effective(&self) -> Effective {
        Effective::from([
            ("capacity_bytes".to_owned(), self.area_bytes().into()),
            ("messages_that_fit".to_owned(), self.messages.into()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Value;

    fn of(message_bytes: u64, area_bytes: u64) -> MemoryCopy {
        let cell = Cell::new(Measure::Bandwidth, "memory_copy");
        let cell = cell.with(Axis::MessageBytes, Value::Count(message_bytes));
        MemoryCopy::of(&cell.with(Axis::CapacityBytes, Value::Count(area_bytes)))
    }

    #[test]
    fn areas_hold_whole_messages_one_at_least() {
        let counts = |copy: MemoryCopy| (copy.messages, copy.area_bytes());
        assert_eq!(counts(of(1000, 4096)), (4, 4000));
        assert_eq!(counts(of(5000, 4096)), (1, 5000));
        assert_eq!(counts(of(1024, 0)), (shared_ring::CAPACITY_BYTES / 1024, shared_ring::CAPACITY_BYTES));
    }

    #[test]
    fn every_byte_of_every_message_is_copied_and_proved() {
        for copy in [of(1, 10), of(7, 64), of(4096, 1 << 16), of(12_345, 0)] {
            let mut body = copy.enter(0).unwrap();
            let proof = body.prove().unwrap();
            copy.verify_proof(&[proof]).unwrap();
            let tally = body.run(1000).unwrap();
            assert_eq!(tally.bytes, 1000 * copy.message_bytes as u64);
            copy.verify(&Batch { ops: 1000, total_ops: 1000, tallies: &[tally] }).unwrap();
        }
    }

    #[test]
    fn work_that_was_not_done_is_seen() {
        let copy = of(100, 1000);
        let proof = copy.enter(0).unwrap().prove().unwrap();
        let altered = Proof { crc32: proof.crc32 ^ 1, ..proof };
        let short = Proof { bytes: proof.bytes - 1, ..proof };
        for bad in [&[altered][..], &[short], &[], &[proof, proof]] {
            assert_eq!(copy.verify_proof(bad).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        let tally = Tally::moved(999, 10);
        for bad in [&[tally][..], &[], &[Tally::moved(1000, 10); 2]] {
            let batch = Batch { ops: 10, total_ops: 10, tallies: bad };
            assert_eq!(copy.verify(&batch).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }

    #[test]
    fn a_copy_that_is_left_out_is_seen_in_the_timed_pass() {
        let mut copier = Copier::of(of(100, 1000)).unwrap();
        copier.run(10).unwrap();
        copier.number += 1;
        assert_eq!(copier.run(1).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
