//! Round trip: one worker asks and is timed, the other answers. Never halved; the book prints it as latency.

use super::text::Text;
use super::{End, Exchange, Party, Transport};
use crate::catalog::Limit;
use crate::cell::Unavailable;
use crate::cell::{Axis, Cell};
use crate::workload::{Batch, Body, Effective, Proof, Tally, Workload, mismatch};
use std::io;
use std::marker::PhantomData;
use std::sync::{Mutex, PoisonError};

const CLIENT: usize = 0;
/// Round trips of the untimed pass: every value of a byte.
const PROOF_TRIPS: u64 = 256;

/// Round trips over an exchange.
pub struct RoundTrip<X: Exchange> {
    effective: Effective,
    ends: [Mutex<Option<X::End>>; 2],
}

impl<X: Exchange> RoundTrip<X> {
    /// Opens the exchange.
    ///
    /// # Errors
    /// The system call that failed.
    pub fn open(cell: &Cell) -> io::Result<RoundTrip<X>> {
        let ends = X::pair(cell)?;
        let effective = ends[CLIENT].settings()?;
        Ok(RoundTrip { effective, ends: ends.map(|end| Mutex::new(Some(end))) })
    }
}

struct Client<P> {
    party: P,
    number: u64,
}

struct Server<P> {
    party: P,
    number: u64,
}

impl<P: Party> Body for Client<P> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        for _ in 0..ops {
            self.party.ask(self.number)?;
            self.number += 1;
        }
        Ok(Tally::default())
    }

    fn prove(&mut self) -> io::Result<Proof> {
        self.run(PROOF_TRIPS).map(|_| Proof::default())
    }
}

impl<P: Party> Body for Server<P> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        for _ in 0..ops {
            self.party.answer(self.number)?;
            self.number += 1;
        }
        Ok(Tally::default())
    }

    fn prove(&mut self) -> io::Result<Proof> {
        self.run(PROOF_TRIPS).map(|_| Proof::default())
    }
}

impl<X: Exchange> Workload for RoundTrip<X> {
    fn workers(&self) -> usize {
        self.ends.len()
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        let mut slot = self.ends[worker].lock().unwrap_or_else(PoisonError::into_inner);
        let mut party = slot.take().ok_or_else(|| io::Error::other("this end was entered before"))?;
        party.prepare()?;
        Ok(match worker {
            CLIENT => Box::new(Client { party, number: 0 }),
            _ => Box::new(Server { party, number: 0 }),
        })
    }

    fn timed(&self, worker: usize) -> bool {
        worker == CLIENT
    }

    fn meets(&self) -> bool {
        true
    }

    /// Each round trip was checked at both ends when it was made.
    fn verify(&self, _batch: &Batch) -> io::Result<()> {
        Ok(())
    }

    fn effective(&self) -> Effective {
        self.effective.clone()
    }
}

/// A transport as an exchange: a byte that tells the number of the request, and its complement back.
pub struct OneByte<T>(PhantomData<T>);

/// One end of a transport with a buffer of one byte.
pub struct ByteEnd<E> {
    end: E,
    byte: Text,
}

impl<E: End> ByteEnd<E> {
    #[inline]
    fn send(&mut self, byte: u8) -> io::Result<()> {
        self.byte.text()[0] = byte;
        let sent = self.end.send(self.byte.framed())?;
        if sent == 1 { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> io::Result<()> {
        let got = self.end.receive(self.byte.framed())?;
        let came = self.byte.text()[0];
        match got {
            1 if came == byte => Ok(()),
            0 => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the channel ended before the answer")),
            _ => Err(mismatch(format!("{got} bytes came, beginning with {came}, not the one byte {byte}"))),
        }
    }
}

impl<E: End> Party for ByteEnd<E> {
    fn settings(&self) -> io::Result<Effective> {
        self.end.settings()
    }

    #[inline]
    fn ask(&mut self, number: u64) -> io::Result<()> {
        self.send(number as u8)?;
        self.expect(!(number as u8))
    }

    #[inline]
    fn answer(&mut self, number: u64) -> io::Result<()> {
        self.expect(number as u8)?;
        self.send(!(number as u8))
    }
}

impl<T: Transport> Exchange for OneByte<T> {
    const NAME: &'static str = T::NAME;
    const SUMMARY: &'static str = T::SUMMARY;
    const NOTE: &'static str = T::ROUND_TRIP_NOTE;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = T::ROUND_TRIP_AXES;
    const PRIVATE_IPC: bool = T::PRIVATE_IPC;
    type End = ByteEnd<T::End>;

    fn present() -> Result<(), Unavailable> {
        T::present()
    }

    fn limits(cell: &Cell) -> Vec<Limit> {
        T::limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[ByteEnd<T::End>; 2]> {
        let [client, server] = T::pair(cell)?;
        let with_byte =
            |end| -> io::Result<ByteEnd<T::End>> { Ok(ByteEnd { end, byte: Text::touched::<T::End>(1)? }) };
        Ok([with_byte(client)?, with_byte(server)?])
    }
}
