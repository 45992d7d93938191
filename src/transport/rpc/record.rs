//! Record marking: how messages are told apart on a stream. RFC 5531, section 11.
//!
//! A record is one or more fragments. Each has a mark of four bytes in front: the high bit tells the
//! last fragment of the record, the other 31 the bytes of the fragment. The reader joins fragments in
//! the room it is given and allocates nothing, so what a mark claims costs nothing but its four bytes.

use std::io::{self, Read};

/// Bytes of a mark.
pub const MARK_BYTES: usize = 4;
/// Records in more fragments than this are refused, empty fragments included. 64 MiB in 16 KiB each.
pub const MOST_FRAGMENTS: usize = 4096;

const LAST: u32 = 1 << 31;

/// The mark of a record that is one fragment of `bytes`; `None` where 31 bits do not hold that.
pub fn whole(bytes: usize) -> Option<[u8; MARK_BYTES]> {
    let bytes = u32::try_from(bytes).ok().filter(|bytes| bytes & LAST == 0)?;
    Some((bytes | LAST).to_be_bytes())
}

/// Reads one record, joins its fragments and returns the bytes of the room that it takes: the mark of
/// a single fragment, then the message. 0 means that the stream ended where a record might begin.
///
/// The message may have as many bytes as the room, less two marks: its own, and one for the mark of
/// a further fragment. It is one read where the record comes whole. Nothing of a further record may come
/// with it: both sides wait for each other.
///
/// # Errors
/// The stream's; `UnexpectedEof` inside a record; `InvalidData` where a record is longer than the room
/// takes, has more than [`MOST_FRAGMENTS`], or is followed by something.
pub fn read(stream: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    let most = room.len().saturating_sub(2 * MARK_BYTES);
    let mut join = Join { room, joined: MARK_BYTES, next: 0, end: 0 };
    for fragment in 0..MOST_FRAGMENTS {
        if !join.fetch_mark(stream)? {
            if fragment == 0 && join.end == 0 {
                return Ok(0);
            }
            return Err(cut_off());
        }
        let (last, bytes) = join.take_mark();
        if bytes > most - (join.joined - MARK_BYTES) {
            return Err(invalid(format!(
                "a record of over {most} bytes: fragment {fragment} announces {bytes} bytes"
            )));
        }
        join.take_fragment(stream, bytes)?;
        if last {
            return join.finish();
        }
    }
    Err(invalid(format!("a record of over {MOST_FRAGMENTS} fragments")))
}

/// The room while fragments are joined in it: `..joined` is done, `next..end` was read and is not
/// yet looked at, and `joined <= next` from the first mark on.
struct Join<'a> {
    room: &'a mut [u8],
    joined: usize,
    next: usize,
    end: usize,
}

impl Join<'_> {
    /// Reads until a mark is there; false where the stream ends before.
    fn fetch_mark(&mut self, stream: &mut impl Read) -> io::Result<bool> {
        while self.end - self.next < MARK_BYTES {
            if self.next > self.joined {
                self.room.copy_within(self.next..self.end, self.joined);
                self.end -= self.next - self.joined;
                self.next = self.joined;
            }
            let got = some(stream, &mut self.room[self.end..])?;
            if got == 0 {
                return Ok(false);
            }
            self.end += got;
        }
        Ok(true)
    }

    fn take_mark(&mut self) -> (bool, usize) {
        let mut mark = [0; MARK_BYTES];
        mark.copy_from_slice(&self.room[self.next..self.next + MARK_BYTES]);
        self.next += MARK_BYTES;
        let mark = u32::from_be_bytes(mark);
        (mark & LAST != 0, (mark & !LAST) as usize)
    }

    /// Joins the next `bytes` to what is done. The room has place for them.
    fn take_fragment(&mut self, stream: &mut impl Read, bytes: usize) -> io::Result<()> {
        let here = bytes.min(self.end - self.next);
        if self.next > self.joined {
            self.room.copy_within(self.next..self.next + here, self.joined);
        }
        self.joined += here;
        self.next += here;
        let mut missing = bytes - here;
        while missing > 0 {
            let got = some(stream, &mut self.room[self.joined..])?;
            if got == 0 {
                return Err(cut_off());
            }
            let ours = got.min(missing);
            self.next = self.joined + ours;
            self.end = self.joined + got;
            self.joined += ours;
            missing -= ours;
        }
        Ok(())
    }

    fn finish(self) -> io::Result<usize> {
        if self.end > self.next {
            let more = self.end - self.next;
            return Err(invalid(format!("{more} bytes came behind a record before it was answered")));
        }
        let mark = whole(self.joined - MARK_BYTES).ok_or(io::ErrorKind::InvalidData)?;
        self.room[..MARK_BYTES].copy_from_slice(&mark);
        Ok(self.joined)
    }
}

/// One read that was not interrupted by a signal.
fn some(stream: &mut impl Read, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match stream.read(room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

fn cut_off() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the stream ended inside a record")
}

fn invalid(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

#[cfg(test)]
mod tests;
