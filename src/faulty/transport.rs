//! Pipes that do not carry what was sent.

use crate::cell::Cell;
use crate::transport::{End, Pipe, PipeEnd, Transport};
use crate::workload::Effective;
use std::io;

/// The fault is in this send of an end, counted from 1: in the untimed pass, which checks every byte.
const FAULTY_SEND: u64 = 2;

/// A pipe whose sends pass through a fault.
pub struct FaultyEnd {
    end: PipeEnd,
    sends: u64,
    fault: fn(&mut PipeEnd, &mut [u8]) -> io::Result<usize>,
}

impl End for FaultyEnd {
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.sends += 1;
        if self.sends == FAULTY_SEND { (self.fault)(&mut self.end, text) } else { self.end.send(text) }
    }

    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.end.receive(text)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        self.end.set_nonblocking(on)
    }

    fn settings(&self) -> io::Result<Effective> {
        self.end.settings()
    }
}

fn alters(end: &mut PipeEnd, text: &mut [u8]) -> io::Result<usize> {
    let middle = text.len() / 2;
    text[middle] ^= 1;
    let taken = end.send(text);
    text[middle] ^= 1;
    taken
}

fn drops(end: &mut PipeEnd, text: &mut [u8]) -> io::Result<usize> {
    end.send(&mut text[1..]).map(|taken| taken + 1)
}

macro_rules! faulty_pipe {
    ($name:ident, $word:literal, $summary:literal, $fault:ident) => {
        #[doc = $summary]
        pub struct $name;

        impl Transport for $name {
            const NAME: &'static str = $word;
            const SUMMARY: &'static str = $summary;
            const KEEPS_BOUNDARIES: bool = Pipe::KEEPS_BOUNDARIES;
            type End = FaultyEnd;

            fn pair(cell: &Cell) -> io::Result<[FaultyEnd; 2]> {
                Ok(Pipe::pair(cell)?.map(|end| FaultyEnd { end, sends: 0, fault: $fault }))
            }
        }
    };
}

faulty_pipe!(
    AltersAByte,
    "alters_a_byte",
    "Faulty on purpose: a pipe that alters one bit of one byte.",
    alters
);
faulty_pipe!(DropsAByte, "drops_a_byte", "Faulty on purpose: a pipe that swallows one byte.", drops);
