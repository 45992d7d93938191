use super::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const CASES: u64 = 100_000;

/// Gives a stream out in pieces of random sizes, and counts what was taken.
struct Pieces<'a> {
    rest: &'a [u8],
    random: ChaCha8Rng,
    most: usize,
    reads: usize,
}

impl<'a> Pieces<'a> {
    fn of(rest: &'a [u8], seed: u64, most: usize) -> Pieces<'a> {
        Pieces { rest, random: ChaCha8Rng::seed_from_u64(seed), most, reads: 0 }
    }
}

impl Read for Pieces<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        assert!(!room.is_empty(), "the reader always has room for what it waits for");
        self.reads += 1;
        if self.random.random_range(0..16) == 0 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let bytes = self.random.random_range(1..=self.most).min(self.rest.len()).min(room.len());
        room[..bytes].copy_from_slice(&self.rest[..bytes]);
        self.rest = &self.rest[bytes..];
        Ok(bytes)
    }
}

/// Repeats the same bytes for ever.
struct Endless<'a>(std::iter::Cycle<std::slice::Iter<'a, u8>>, u64);

impl Read for Endless<'_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        room.iter_mut().zip(&mut self.0).for_each(|(place, byte)| *place = *byte);
        self.1 += room.len() as u64;
        Ok(room.len())
    }
}

fn mark(last: bool, bytes: usize) -> [u8; 4] {
    ((bytes as u32) | if last { LAST } else { 0 }).to_be_bytes()
}

/// The message in fragments of random sizes, empty ones among them.
fn fragmented(message: &[u8], random: &mut ChaCha8Rng) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut rest = message;
    loop {
        let bytes = match random.random_range(0..4) {
            0 => 0,
            1 => rest.len(),
            _ => random.random_range(0..=rest.len()),
        };
        let last = bytes == rest.len() && random.random();
        stream.extend(mark(last, bytes));
        stream.extend(&rest[..bytes]);
        rest = &rest[bytes..];
        if last {
            return stream;
        }
    }
}

fn bytes(random: &mut ChaCha8Rng, most: usize) -> Vec<u8> {
    let count = random.random_range(0..=most);
    (0..count).map(|_| random.random()).collect()
}

/// Reads once from the bytes into a room that takes messages of `most`.
fn once(mut stream: &[u8], most: usize) -> io::Result<Vec<u8>> {
    let mut room = vec![0; most + 2 * MARK_BYTES];
    let end = read(&mut stream, &mut room)?;
    room.truncate(end);
    Ok(room)
}

#[test]
fn a_message_comes_back_however_it_is_cut_and_read() {
    for seed in 0..CASES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let message = bytes(&mut random, 200);
        let stream = fragmented(&message, &mut random);
        let most_a_read = *[1, 3, 7, 64, 1000].get(seed as usize % 5).unwrap();
        let mut pieces = Pieces::of(&stream, seed, most_a_read);
        // The room is exactly what the message needs.
        let mut room = vec![0xee; message.len() + 2 * MARK_BYTES];
        let end = read(&mut pieces, &mut room).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(end, MARK_BYTES + message.len(), "seed {seed}");
        assert_eq!(room[..MARK_BYTES], mark(true, message.len()), "seed {seed}");
        assert_eq!(room[MARK_BYTES..end], message, "seed {seed}");
        assert!(pieces.rest.is_empty(), "seed {seed}: nothing of the record is left");
    }
}

#[test]
fn noise_ends_in_a_record_or_an_error_within_the_room() {
    for seed in 0..CASES {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut stream = if random.random() {
            bytes(&mut random, 120)
        } else {
            let message = bytes(&mut random, 60);
            fragmented(&message, &mut random)
        };
        for _ in 0..random.random_range(0..4) {
            if !stream.is_empty() {
                let place = random.random_range(0..stream.len());
                stream[place] = if random.random() { random.random() } else { 0 };
            }
        }
        let mut room = vec![0; random.random_range(0..80)];
        let room_bytes = room.len();
        let mut pieces = Pieces::of(&stream, seed, 40);
        if room_bytes < 2 * MARK_BYTES {
            continue;
        }
        match read(&mut pieces, &mut room) {
            Ok(end) => assert!(end <= room_bytes - MARK_BYTES, "seed {seed}"),
            Err(error) => assert!(
                matches!(error.kind(), io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof),
                "seed {seed}: {error}"
            ),
        }
        assert!(pieces.reads <= 4 * (stream.len() + 8) + 64, "seed {seed}: {} reads", pieces.reads);
    }
}

#[test]
fn a_record_that_comes_whole_is_one_read() {
    let message = [7; 5000];
    let mut stream = mark(true, message.len()).to_vec();
    stream.extend(message);
    let mut room = vec![0; message.len() + 100];
    struct Counted<'a>(&'a [u8], usize);
    impl Read for Counted<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            self.0.read(room)
        }
    }
    let mut counted = Counted(&stream, 0);
    assert_eq!(read(&mut counted, &mut room).unwrap(), MARK_BYTES + message.len());
    assert_eq!(counted.1, 1);
}

#[test]
fn what_a_mark_claims_is_refused_before_it_is_read() {
    // A fragment of 2 GiB less one, the most that a mark can claim, last and not; and one byte too many.
    for (last, claimed) in [(true, 0x7fff_ffff), (false, 0x7fff_ffff), (true, 101)] {
        let claim = mark(last, claimed);
        let mut stream = Endless(claim.iter().cycle(), 0);
        let mut room = vec![0; 100 + 2 * MARK_BYTES];
        let error = read(&mut stream, &mut room).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(stream.1 <= room.len() as u64, "no more than one read");
        assert_eq!(
            error.to_string(),
            format!("a record of over 100 bytes: fragment 0 announces {claimed} bytes")
        );
    }
    // The high bit is no part of the length: this one is not last, and claims nothing.
    let error = once(&0x0000_0000_u32.to_be_bytes(), 100).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
}

#[test]
fn fragments_that_add_up_to_too_much_are_refused() {
    let mut stream = Vec::new();
    for last in [false, false, true] {
        stream.extend(mark(last, 40));
        stream.extend([1; 40]);
    }
    assert_eq!(once(&stream, 120).unwrap().len(), MARK_BYTES + 120);
    let error = once(&stream, 119).unwrap_err();
    assert_eq!(error.to_string(), "a record of over 119 bytes: fragment 2 announces 40 bytes");
}

#[test]
fn endless_fragments_are_refused() {
    let empty = mark(false, 0);
    let mut stream = Endless(empty.iter().cycle(), 0);
    let mut room = [0; 64];
    let error = read(&mut stream, &mut room).unwrap_err();
    assert_eq!(error.to_string(), "a record of over 4096 fragments");
    assert!(stream.1 < 64 + (MOST_FRAGMENTS * MARK_BYTES) as u64 + 64);

    let one = [0, 0, 0, 1, 9];
    let mut stream = Endless(one.iter().cycle(), 0);
    let error = read(&mut stream, &mut room).unwrap_err();
    assert_eq!(error.to_string(), "a record of over 56 bytes: fragment 56 announces 1 bytes");
}

#[test]
fn a_stream_ends_between_records_or_not() {
    assert!(once(&[], 100).unwrap().is_empty());
    let mut whole = mark(false, 2).to_vec();
    whole.extend([1, 2]);
    whole.extend(mark(true, 3));
    whole.extend([3, 4, 5]);
    assert_eq!(once(&whole, 100).unwrap()[MARK_BYTES..], [1, 2, 3, 4, 5]);
    for cut in 1..whole.len() {
        let error = once(&whole[..cut], 100).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "cut at {cut}");
    }
}

#[test]
fn what_comes_behind_a_record_is_refused() {
    let mut stream = mark(true, 2).to_vec();
    stream.extend([1, 2, 3]);
    let error = once(&stream, 100).unwrap_err();
    assert_eq!(error.to_string(), "1 bytes came behind a record before it was answered");
}

#[test]
fn marks_hold_31_bits() {
    assert_eq!(whole(0), Some([0x80, 0, 0, 0]));
    assert_eq!(whole(0x7fff_ffff), Some([0xff; 4]));
    assert_eq!(whole(0x8000_0000), None);
}
