//! A bounded ring of bytes in named shared memory: one producer, one consumer, both may sleep.
//!
//! Each end counts the bytes that it has moved since the beginning (64 bits never wrap) and publishes the
//! count as its *mark*. The bytes between the two marks are in the ring. An end keeps its own count in memory
//! of its own and reads only the other's mark, which it checks; so whatever the other end writes there, no
//! access leaves the ring. It remembers the mark and reads it again only when what it knows does not suffice:
//! the cache line of a mark moves between CPUs as seldom as that allows.
//!
//! | access | order | why |
//! | --- | --- | --- |
//! | producer publishes its mark | release | the bytes that it copied in are there before the count says so |
//! | consumer reads that mark | acquire | pairs with it: counted bytes are read, not what stood there before |
//! | consumer publishes its mark | release | the bytes were copied out before the count gives their place away |
//! | producer reads that mark | acquire | pairs with it: a place is written again only after it was read |
//! | flag of a sleeper, CPU of an end | relaxed | a flag is ordered by fences (`sleeper.rs`); a CPU is a hint |
//!
//! Before it sleeps an end waits a moment. Where the other end was last seen on the same CPU it offers that
//! CPU (`TURNS`): looking on could change nothing. Where it was seen on another it looks on (`LOOKS`):
//! waking a sleeper across CPUs costs more than the other end usually needs.
//!
//! A producer that sleeps is woken when half the ring is free, as sockets do, and not for each byte; until
//! then the consumer has bytes to go on with, so neither waits for the other. A consumer is woken at once.
#![allow(unsafe_code)]

use crate::sys::memory::Line;
use crate::sys::named_memory::NamedMemory;
use crate::sys::sleeper::Sleeper;
use nix::sched::sched_getcpu;
use std::hint::spin_loop;
use std::io;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::thread::yield_now;

/// The largest ring: 1 GiB.
pub const MOST_CAPACITY_BYTES: usize = 1 << 30;
/// Bytes that are copied before the mark is published, so that the other end works on the first part of a
/// large message while the rest is copied. Messages of 1 MiB through a ring of 1 MiB across two CPUs moved 3
/// to 4 times as fast in pieces of 4 to 64 KiB as whole.
const PIECE_BYTES: usize = 16 << 10;
/// How often an end looks at the mark of one on another CPU before it sleeps: 15 us on a machine where a
/// wake-up across CPUs takes 20 to 80 us. With 100 looks half of the round trips slept there, with 1000 none.
const LOOKS: u32 = 1000;
/// How often an end offers its CPU to one on the same CPU before it sleeps. One more than it needs to be let
/// on where nobody else wants the CPU: then a round trip takes 1.8 us for 2.7 us with a sleep, and 1 KiB
/// messages move 1.7 times as fast.
const TURNS: u32 = 2;

/// Where the bytes begin: a page of its own for marks and flags.
const BYTES_AT: usize = 4096;

/// What one end tells the other.
#[repr(C)]
struct Mark {
    /// Bytes moved since the beginning.
    moved: AtomicU64,
    /// CPU that the end was last seen on, plus 1; 0 before it was seen.
    cpu: AtomicU32,
}

/// All zero bytes are an empty ring with both ends awake. Each value is written by one end mostly, so each
/// has its own cache lines.
#[repr(C)]
struct Header {
    produced: Line<Mark>,
    consumed: Line<Mark>,
    producer: Line<Sleeper>,
    consumer: Line<Sleeper>,
}

/// What tells a producer from a consumer.
trait Role {
    fn own(header: &Header) -> (&Mark, &Sleeper);
    fn other(header: &Header) -> (&Mark, &Sleeper);
    /// Bytes that may be moved, going by both counts; `None` where they cannot both be right.
    fn available(own: u64, other: u64, capacity: u64) -> Option<u64>;
    /// Whether a sleeper on the other side should be woken.
    fn worth_waking(own: u64, other: u64, capacity: u64) -> bool;
}

/// The end that puts bytes in.
pub struct Producing;
/// The end that takes bytes out.
pub struct Consuming;

impl Role for Producing {
    fn own(header: &Header) -> (&Mark, &Sleeper) {
        (&header.produced.0, &header.producer.0)
    }

    fn other(header: &Header) -> (&Mark, &Sleeper) {
        (&header.consumed.0, &header.consumer.0)
    }

    #[inline]
    fn available(own: u64, other: u64, capacity: u64) -> Option<u64> {
        capacity.checked_sub(own.checked_sub(other)?)
    }

    fn worth_waking(_own: u64, _other: u64, _capacity: u64) -> bool {
        true
    }
}

impl Role for Consuming {
    fn own(header: &Header) -> (&Mark, &Sleeper) {
        (&header.consumed.0, &header.consumer.0)
    }

    fn other(header: &Header) -> (&Mark, &Sleeper) {
        (&header.produced.0, &header.producer.0)
    }

    #[inline]
    fn available(own: u64, other: u64, capacity: u64) -> Option<u64> {
        other.checked_sub(own).filter(|bytes| *bytes <= capacity)
    }

    /// A producer's mark that was read too long ago makes the ring look emptier than it is, never fuller:
    /// it may be woken early, and is not left asleep.
    fn worth_waking(own: u64, other: u64, capacity: u64) -> bool {
        other.saturating_sub(own) <= capacity / 2
    }
}

/// One end.
struct Side<R> {
    memory: NamedMemory,
    capacity: usize,
    /// Bytes that this end has moved.
    moved: u64,
    /// The place in the ring that comes next: `moved` modulo the capacity.
    place: usize,
    /// The other's mark when it was last read.
    other: u64,
    introduced: bool,
    nonblocking: bool,
    role: PhantomData<R>,
}

/// The end that puts bytes in.
pub struct Producer(Side<Producing>);
/// The end that takes bytes out.
pub struct Consumer(Side<Consuming>);

/// Makes a ring of exactly that many bytes. Its name is gone when this returns.
///
/// # Errors
/// As [`NamedMemory::both_ends`]; `InvalidInput` for a capacity of 0 or above [`MOST_CAPACITY_BYTES`].
pub fn ring(capacity_bytes: usize) -> io::Result<(Producer, Consumer)> {
    if !(1..=MOST_CAPACITY_BYTES).contains(&capacity_bytes) {
        let text = format!("a ring has 1 to {MOST_CAPACITY_BYTES} bytes, not {capacity_bytes}");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(ring_in(NamedMemory::both_ends(BYTES_AT + capacity_bytes)?, capacity_bytes))
}

/// A ring in memory that is all zero and has `BYTES_AT` + capacity bytes.
fn ring_in([one, two]: [NamedMemory; 2], capacity_bytes: usize) -> (Producer, Consumer) {
    (Producer(Side::new(one, capacity_bytes)), Consumer(Side::new(two, capacity_bytes)))
}

impl Producer {
    /// Copies as many of the bytes as find room, one at least where there are any, and returns how many.
    /// Waits only while the ring is full.
    ///
    /// # Errors
    /// `WouldBlock` where the ring is full and this end does not wait; `InvalidData` where the consumer's
    /// mark cannot be; futex(2).
    #[inline]
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let from = bytes.as_ptr();
        self.0.move_bytes(bytes.len(), |ring, done, count| {
            // SAFETY: `move_bytes` gives `count` bytes of the ring that are this end's alone, and
            // `done + count` is at most the length it was given, which is that of `bytes`.
            unsafe { ptr::copy_nonoverlapping(from.add(done), ring, count) }
        })
    }
}

impl Consumer {
    /// Copies out the bytes that are there, as many as find room in `bytes`, and returns how many.
    /// Waits only while the ring is empty.
    ///
    /// # Errors
    /// `WouldBlock` where the ring is empty and this end does not wait; `InvalidData` where the producer's
    /// mark cannot be; futex(2).
    #[inline]
    pub fn receive(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let to = bytes.as_mut_ptr();
        self.0.move_bytes(bytes.len(), |ring, done, count| {
            // SAFETY: as in `send`; the ring and `bytes` are different mappings.
            unsafe { ptr::copy_nonoverlapping(ring.cast_const(), to.add(done), count) }
        })
    }
}

/// What both ends have.
macro_rules! settings {
    ($end:ty) => {
        impl $end {
            /// Whether it fails with `WouldBlock` where it would wait.
            pub fn set_nonblocking(&mut self, on: bool) {
                self.0.nonblocking = on;
            }

            /// Bytes that the ring holds.
            pub fn capacity_bytes(&self) -> usize {
                self.0.capacity
            }
        }
    };
}
settings!(Producer);
settings!(Consumer);

impl<R: Role> Side<R> {
    fn new(memory: NamedMemory, capacity: usize) -> Side<R> {
        Side {
            memory,
            capacity,
            moved: 0,
            place: 0,
            other: 0,
            introduced: false,
            nonblocking: false,
            role: PhantomData,
        }
    }

    fn header(&self) -> &Header {
        const { assert!(size_of::<Header>() <= BYTES_AT && align_of::<Header>() <= BYTES_AT) };
        // SAFETY: the mapping is page-aligned, longer than a header and lives as long as `self`. Zero bytes
        // are a valid header, and so are all others: it consists of atomic integers only.
        unsafe { self.memory.start().cast().as_ref() }
    }

    /// Moves up to `wanted` bytes by `copy(ring, done, count)`, which copies `count` bytes at `ring`, after
    /// `done` others.
    #[inline]
    fn move_bytes(&mut self, wanted: usize, copy: impl Fn(*mut u8, usize, usize)) -> io::Result<usize> {
        if !self.introduced {
            self.introduce()?;
        }
        let mut available = self.await_any(wanted)?;
        let mut done = 0;
        while done < wanted && available > 0 {
            let count = (wanted - done).min(available).min(PIECE_BYTES).min(self.capacity - self.place);
            // SAFETY: `place` is below the capacity and `place + count` at most the capacity, so this stays
            // within the mapping, which has `BYTES_AT` + capacity bytes. The `count` bytes from there on are
            // this end's alone until it publishes its mark: the other end's mark, read with acquire, says so.
            // A hostile other end may change them meanwhile; then bytes are wrong, but no access is.
            copy(unsafe { self.memory.start().as_ptr().add(BYTES_AT + self.place) }, done, count);
            done += count;
            self.publish(count)?;
            available = self.available(wanted - done)?;
        }
        Ok(done)
    }

    /// Bytes that may be moved now. Looks at the other's mark when fewer than `wanted` are known of.
    #[inline]
    fn available(&mut self, wanted: usize) -> io::Result<usize> {
        let capacity = self.capacity as u64;
        match R::available(self.moved, self.other, capacity) {
            Some(known) if known >= wanted as u64 => Ok(known as usize),
            _ => self.look(),
        }
    }

    /// Reads the other's mark, and checks it.
    #[inline]
    fn look(&mut self) -> io::Result<usize> {
        let other = R::other(self.header()).0.moved.load(Ordering::Acquire);
        match R::available(self.moved, other, self.capacity as u64) {
            Some(bytes) if other >= self.other => {
                self.other = other;
                Ok(bytes as usize)
            }
            _ => Err(self.nonsense(other)),
        }
    }

    #[cold]
    fn nonsense(&self, other: u64) -> io::Error {
        let text = format!(
            "the other end of the ring says that it moved {other} bytes, after {}; this one moved {}, the ring \
             holds {}",
            self.other, self.moved, self.capacity
        );
        io::Error::new(io::ErrorKind::InvalidData, text)
    }

    /// Counts the bytes, says so, and wakes the other end where that is worth it.
    #[inline]
    fn publish(&mut self, count: usize) -> io::Result<()> {
        self.moved += count as u64;
        self.place += count;
        if self.place == self.capacity {
            self.place = 0;
        }
        let header = self.header();
        R::own(header).0.moved.store(self.moved, Ordering::Release);
        R::other(header).1.wake_if(|| R::worth_waking(self.moved, self.other, self.capacity as u64))
    }

    /// As [`Side::available`], but waits until there is one byte at least where some are wanted.
    #[inline]
    fn await_any(&mut self, wanted: usize) -> io::Result<usize> {
        match self.available(wanted)? {
            0 if wanted == 0 => Ok(0),
            0 if self.nonblocking => Err(io::ErrorKind::WouldBlock.into()),
            0 => self.wait(),
            bytes => Ok(bytes),
        }
    }

    #[cold]
    fn wait(&mut self) -> io::Result<usize> {
        self.introduce()?;
        let (own, other) = (R::own(self.header()).0, R::other(self.header()).0);
        let together = own.cpu.load(Ordering::Relaxed) == other.cpu.load(Ordering::Relaxed);
        let (moments, pass): (u32, fn()) = if together { (TURNS, yield_now) } else { (LOOKS, spin_loop) };
        for _ in 0..moments {
            pass();
            let bytes = self.look()?;
            if bytes > 0 {
                return Ok(bytes);
            }
        }
        self.fall_asleep()
    }

    fn fall_asleep(&mut self) -> io::Result<usize> {
        loop {
            let (_, sleeper) = R::own(self.header());
            sleeper.sleep_unless(|| self.peek())?;
            let bytes = self.look()?;
            if bytes > 0 {
                return Ok(bytes);
            }
        }
    }

    /// Whether the other's mark is not the one that was read last.
    fn peek(&self) -> io::Result<bool> {
        Ok(R::other(self.header()).0.moved.load(Ordering::Acquire) != self.other)
    }

    /// Says which CPU this end is on.
    fn introduce(&mut self) -> io::Result<()> {
        let cpu = u32::try_from(sched_getcpu()?).map_or(0, |cpu| cpu.wrapping_add(1));
        R::own(self.header()).0.cpu.store(cpu, Ordering::Relaxed);
        self.introduced = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use std::io::ErrorKind;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    /// A ring whose name no guard knows: a test process has threads, so it cannot fork one.
    fn small(capacity_bytes: usize) -> (Producer, Consumer) {
        static SERIAL: AtomicUsize = AtomicUsize::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("/ipcmatrix.test.{}.ring.{serial}", std::process::id());
        ring_in(NamedMemory::both_ends_of(&name, BYTES_AT + capacity_bytes).unwrap(), capacity_bytes)
    }

    /// The byte at that place of the stream; 251 divides no power of two, so wrapped places differ.
    fn byte(place: usize) -> u8 {
        (place % 251) as u8
    }

    /// Moves `total` bytes in pieces of 1 to `most` bytes between two threads, and checks each.
    fn stream(capacity_bytes: usize, total: usize, most: usize, seed: u64) {
        let (mut producer, mut consumer) = small(capacity_bytes);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let mut sent = 0;
                while sent < total {
                    let wanted = random.random_range(1..=most).min(total - sent);
                    let piece: Vec<u8> = (sent..sent + wanted).map(byte).collect();
                    let taken = producer.send(&piece).unwrap();
                    assert!((1..=wanted).contains(&taken));
                    sent += taken;
                }
            });
            let mut random = ChaCha8Rng::seed_from_u64(seed + 1);
            let mut buffer = vec![0; most];
            let mut came = 0;
            while came < total {
                let wanted = random.random_range(1..=most).min(total - came);
                let got = consumer.receive(&mut buffer[..wanted]).unwrap();
                assert!((1..=wanted).contains(&got));
                let wrong = buffer[..got].iter().zip(came..).find(|(got, place)| **got != byte(*place));
                assert_eq!(wrong, None, "capacity {capacity_bytes}, seed {seed}");
                came += got;
            }
            assert_eq!(consumer.0.look().unwrap(), 0);
        });
    }

    #[test]
    fn millions_of_bytes_arrive_unaltered_and_in_order() {
        for (capacity_bytes, seed) in [(1000, 1), (4096, 2), (65_537, 3), (1 << 18, 4)] {
            stream(capacity_bytes, 3_000_000, 3 * capacity_bytes, seed);
        }
    }

    #[test]
    fn the_smallest_rings_carry_though_both_ends_sleep_all_the_time() {
        for capacity_bytes in [1, 2, 3, 7, 8, 63, 64] {
            for most in [1, capacity_bytes + 1, 200] {
                stream(capacity_bytes, 20_000, most, (capacity_bytes + most) as u64);
            }
        }
    }

    #[test]
    fn one_end_that_is_slower_makes_the_other_sleep_and_no_wake_up_is_lost() {
        // Without a moment of looking on, each byte is a sleep and a wake-up.
        let (mut producer, mut consumer) = small(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                for place in 0..5000 {
                    producer.send(&[byte(place)]).unwrap();
                }
            });
            for place in 0..5000 {
                let mut one = [0];
                if consumer.0.look().unwrap() == 0 {
                    assert!(consumer.0.fall_asleep().unwrap() > 0);
                }
                consumer.receive(&mut one).unwrap();
                assert_eq!(one[0], byte(place));
            }
        });
    }

    #[test]
    fn a_full_ring_takes_nothing_and_says_so() {
        let (mut producer, mut consumer) = small(100);
        producer.set_nonblocking(true);
        consumer.set_nonblocking(true);
        let mut buffer = [0; 200];
        assert_eq!(consumer.receive(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(producer.send(&[1; 60]).unwrap(), 60);
        assert_eq!(producer.send(&[2; 60]).unwrap(), 40, "what finds room");
        assert_eq!(producer.send(&[3; 60]).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(producer.send(&[]).unwrap(), 0, "nothing always finds room");
        assert_eq!(consumer.receive(&mut buffer[..50]).unwrap(), 50);
        assert_eq!(producer.send(&[4; 60]).unwrap(), 50, "over the end of the ring");
        assert_eq!(consumer.receive(&mut buffer).unwrap(), 100, "what is there");
        let expected = [[1; 10].as_slice(), &[2; 40], &[4; 50]].concat();
        assert_eq!(buffer[..100], expected[..]);
        assert_eq!(producer.capacity_bytes(), 100);
    }

    #[test]
    fn marks_that_cannot_be_are_refused_and_nothing_is_touched() {
        for mark in [1, 99, 101, 151, 1 << 31, 1 << 32, u64::MAX, u64::MAX - 99] {
            let (mut producer, mut consumer) = small(100);
            producer.send(&[1; 50]).unwrap();
            consumer.0.header().consumed.0.moved.store(mark, Ordering::Relaxed);
            match producer.send(&[2; 100]) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidData),
                Ok(_) => assert!(mark <= 50, "consumed {mark} of 50 bytes"),
            }
            producer.0.header().produced.0.moved.store(mark, Ordering::Relaxed);
            match consumer.receive(&mut [0; 200]) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::InvalidData),
                Ok(got) => assert!(mark <= 100 && got as u64 == mark, "{got} of {mark}"),
            }
        }
    }

    #[test]
    fn a_mark_that_goes_back_is_refused() {
        let (mut producer, mut consumer) = small(100);
        producer.send(&[1; 50]).unwrap();
        consumer.receive(&mut [0; 50]).unwrap();
        assert_eq!(producer.0.look().unwrap(), 100);
        consumer.0.header().consumed.0.moved.store(49, Ordering::Relaxed);
        assert_eq!(producer.0.look().unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn an_end_that_would_sleep_looks_at_the_mark_of_a_hostile_one_too() {
        let (_producer, mut consumer) = small(100);
        consumer.0.header().produced.0.moved.store(101, Ordering::Relaxed);
        assert_eq!(consumer.0.fall_asleep().unwrap_err().kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn a_capacity_out_of_bounds_is_refused() {
        for capacity_bytes in [0, MOST_CAPACITY_BYTES + 1, usize::MAX] {
            assert_eq!(ring(capacity_bytes).err().unwrap().kind(), ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn marks_and_flags_stand_on_lines_of_their_own() {
        assert_eq!(size_of::<Header>(), 4 * 128);
    }
}
