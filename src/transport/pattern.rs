//! What messages hold, so that a lost, doubled, reordered or altered byte is seen.
//!
//! In the timed pass the first eight bytes of a message (all of them where it is shorter) are its
//! number. In the untimed pass every byte depends on the message's number and on its place.

use crate::workload::mismatch;
use std::io;

/// Bytes of a message that carry its number.
pub const NUMBER_BYTES: usize = 8;

/// Writes the number into the head of the text.
#[inline]
pub fn number(text: &mut [u8], number: u64) {
    let bytes = number.to_le_bytes();
    if text.len() >= NUMBER_BYTES {
        text[..NUMBER_BYTES].copy_from_slice(&bytes);
    } else {
        text.copy_from_slice(&bytes[..text.len()]);
    }
}

/// Fills the text with the pattern of that message: different words in each place and message.
pub fn fill(text: &mut [u8], number: u64) {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x6970_636d_6174_7278;
    for chunk in text.chunks_mut(8) {
        // xorshift64: a bijection without a fixed point but 0, so words of one message differ.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]);
    }
}

/// Follows a stream of messages and checks the number in the head of each, wherever reads cut it.
#[derive(Debug)]
pub struct Follower {
    message_bytes: usize,
    /// Number of the message that the next byte belongs to.
    number: u64,
    /// Place of the next byte in its message.
    place: usize,
}

impl Follower {
    /// A follower at the head of message 0.
    pub fn new(message_bytes: usize) -> Follower {
        Follower { message_bytes, number: 0, place: 0 }
    }

    /// Checks the bytes that came next.
    ///
    /// # Errors
    /// `InvalidData` naming the message whose number is wrong.
    #[inline]
    pub fn follow(&mut self, got: &[u8]) -> io::Result<()> {
        let mut rest = got;
        while !rest.is_empty() {
            let here = rest.len().min(self.message_bytes - self.place);
            if self.place < NUMBER_BYTES {
                self.check_head(&rest[..here])?;
            }
            self.place += here;
            if self.place == self.message_bytes {
                self.place = 0;
                self.number += 1;
            }
            rest = &rest[here..];
        }
        Ok(())
    }

    #[inline]
    fn check_head(&self, bytes: &[u8]) -> io::Result<()> {
        let expected = self.number.to_le_bytes();
        let right = match bytes.first_chunk::<NUMBER_BYTES>() {
            Some(head) if self.place == 0 => *head == expected,
            _ => bytes.iter().zip(&expected[self.place..]).all(|(got, wanted)| got == wanted),
        };
        if right {
            Ok(())
        } else {
            Err(mismatch(format!(
                "message {} does not begin with its number: a message was lost, doubled, reordered or altered",
                self.number
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(message_bytes: usize, messages: u64) -> Vec<u8> {
        let mut all = Vec::new();
        for i in 0..messages {
            let mut text = vec![0xee; message_bytes];
            number(&mut text, i);
            all.extend(text);
        }
        all
    }

    #[test]
    fn a_stream_is_followed_however_it_is_cut() {
        for message_bytes in [1, 3, 8, 9, 1000] {
            let all = stream(message_bytes, 300);
            for cut in [1, 2, 7, 8, 13, 999, 1000, 4096] {
                let mut follower = Follower::new(message_bytes);
                for piece in all.chunks(cut) {
                    follower.follow(piece).unwrap();
                }
                assert_eq!((follower.number, follower.place), (300, 0), "{message_bytes} by {cut}");
            }
        }
    }

    #[test]
    fn a_lost_doubled_or_altered_message_is_seen() {
        let all = stream(16, 10);
        let mut lost = all.clone();
        lost.drain(32..48);
        let mut doubled = all.clone();
        doubled.splice(32..32, all[16..32].iter().copied());
        let mut altered = all;
        altered[64 + 7] ^= 1;
        for bad in [lost, doubled, altered] {
            for cut in [5, 16, 1000] {
                let mut follower = Follower::new(16);
                let error = bad.chunks(cut).try_for_each(|piece| follower.follow(piece)).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidData);
            }
        }
    }

    #[test]
    fn patterns_differ_by_message_and_by_place() {
        let (mut one, mut two) = (vec![0; 4096], vec![0; 4096]);
        fill(&mut one, 0);
        fill(&mut two, 1);
        assert!(one.chunks(8).zip(two.chunks(8)).all(|(a, b)| a != b));
        let mut words: Vec<_> = one.chunks(8).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), 512);
    }
}
