//! The lines that are logged, and how they are known again.
//!
//! `TT NNNNNNNNNN letters NNNNNNNNNN TT`: thread and number stand at both ends, and the letters between begin elsewhere
//! in the alphabet for each number. So a line that was cut, or put together of two, is no line any more.

use crate::workload::mismatch;
use std::io;

/// The longest line, newline included: a packet of RFC 3164 (section 4.1) is no longer.
pub const MOST_LINE_BYTES: usize = 1024;

/// The shortest line: what stands in front of the text for a daemon, both ends of the text, and letters between.
pub const LEAST_LINE_BYTES: usize = 72;

/// Digits of a thread and of a number.
const THREAD_DIGITS: usize = 2;
const NUMBER_DIGITS: usize = 10;
/// `TT NNNNNNNNNN `, and the same from behind.
const END_BYTES: usize = THREAD_DIGITS + 1 + NUMBER_DIGITS + 1;

const ALPHABET: u64 = 26;
/// The alphabet over and over, so that the letters of any line are one piece of it.
static LETTERS: [u8; MOST_LINE_BYTES + ALPHABET as usize] = letters();

const fn letters() -> [u8; MOST_LINE_BYTES + ALPHABET as usize] {
    let mut letters = [0; MOST_LINE_BYTES + ALPHABET as usize];
    let mut place = 0;
    while place < letters.len() {
        letters[place] = b'a' + (place % ALPHABET as usize) as u8;
        place += 1;
    }
    letters
}

/// Room for a line, on the stack of whoever builds one.
pub type Buffer = [u8; MOST_LINE_BYTES];

/// Builds the lines of one worker.
pub struct Line {
    prefix: Vec<u8>,
    text_bytes: usize,
    thread: [u8; THREAD_DIGITS],
    worker: u64,
    newline: bool,
}

impl Line {
    /// Lines of that many bytes with `prefix` in front. A newline, which counts, ends each; where `newline` is
    /// false whoever takes the line puts it there.
    ///
    /// # Errors
    /// `InvalidInput` where a line would be too long, or too short for its two ends.
    pub fn new(prefix: &str, line_bytes: usize, worker: usize, newline: bool) -> io::Result<Line> {
        let text_bytes = line_bytes.checked_sub(prefix.len() + 1).filter(|bytes| *bytes > 2 * END_BYTES);
        let (Some(text_bytes), true, true) = (text_bytes, line_bytes <= MOST_LINE_BYTES, worker < 100) else {
            let text = format!("a line of {line_bytes} bytes of worker {worker} with {prefix:?} in front");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        };
        let mut thread = [0; THREAD_DIGITS];
        put_digits(&mut thread, worker as u64);
        Ok(Line { prefix: prefix.as_bytes().to_vec(), text_bytes, thread, worker: worker as u64, newline })
    }

    /// Bytes between the prefix and the newline.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// The line of that number, as it is handed over. Everything is written anew.
    #[inline]
    pub fn build<'b>(&self, buffer: &'b mut Buffer, number: u64) -> &'b [u8] {
        let (begin, end) = (self.prefix.len(), self.prefix.len() + self.text_bytes);
        buffer[..begin].copy_from_slice(&self.prefix);
        put_text(&mut buffer[begin..end], self.thread, self.worker, number);
        buffer[end] = b'\n';
        &buffer[..end + usize::from(self.newline)]
    }
}

/// Writes the text of a line.
#[inline]
fn put_text(text: &mut [u8], thread: [u8; THREAD_DIGITS], worker: u64, number: u64) {
    let mut digits = [0; NUMBER_DIGITS];
    put_digits(&mut digits, number);
    let (head, rest) = text.split_at_mut(END_BYTES);
    let (middle, tail) = rest.split_at_mut(rest.len() - END_BYTES);
    head[..2].copy_from_slice(&thread);
    head[2] = b' ';
    head[3..13].copy_from_slice(&digits);
    head[13] = b' ';
    let from = ((number + 7 * worker) % ALPHABET) as usize;
    middle.copy_from_slice(&LETTERS[from..from + middle.len()]);
    tail[0] = b' ';
    tail[1..11].copy_from_slice(&digits);
    tail[11] = b' ';
    tail[12..].copy_from_slice(&thread);
}

/// Decimal digits, as many as there is room for.
#[inline]
fn put_digits<const DIGITS: usize>(room: &mut [u8; DIGITS], mut number: u64) {
    for digit in room.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The worker and the number of a text of that length; `None` where it is not exactly what that worker wrote.
pub fn read_text(text: &[u8], text_bytes: usize) -> Option<(usize, u64)> {
    if text.len() != text_bytes {
        return None;
    }
    let thread: [u8; THREAD_DIGITS] = text.get(..THREAD_DIGITS)?.try_into().ok()?;
    let (worker, number) =
        (digits(&thread)?, digits(text.get(THREAD_DIGITS + 1..THREAD_DIGITS + 1 + NUMBER_DIGITS)?)?);
    let mut wanted = [0; MOST_LINE_BYTES];
    let wanted = wanted.get_mut(..text_bytes)?;
    put_text(wanted, thread, worker, number);
    (*wanted == *text).then_some((worker as usize, number))
}

fn digits(text: &[u8]) -> Option<u64> {
    text.iter()
        .try_fold(0_u64, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}

/// The bytes of a message behind its priority (RFC 3164, section 4.1.1): `<` one to three digits `>`, facility times
/// 8 plus severity, at most 191.
///
/// # Errors
/// `InvalidData` where it does not begin with a priority.
pub fn behind_priority(message: &[u8]) -> io::Result<(u8, usize)> {
    let bad = || mismatch("a message without a priority of RFC 3164 came".to_owned());
    let end = message.iter().take(5).position(|byte| *byte == b'>').ok_or_else(bad)?;
    let inside =
        message.get(1..end).filter(|inside| message[0] == b'<' && !inside.is_empty()).ok_or_else(bad)?;
    match digits(inside) {
        Some(priority @ 0..=191) => Ok((priority as u8, end + 1)),
        _ => Err(bad()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_length_and_is_known_again() {
        for (prefix, bytes, worker, number) in
            [("", 80, 0, 0), ("", 1024, 63, 9_999_999_999), ("<13>Oct 11 22:14:15 x: ", 80, 1, 41)]
        {
            let line = Line::new(prefix, bytes, worker, true).unwrap();
            let mut buffer = [0; MOST_LINE_BYTES];
            let built = line.build(&mut buffer, number);
            assert_eq!((built.len(), built.last()), (bytes, Some(&b'\n')));
            let text = &built[prefix.len()..bytes - 1];
            assert_eq!(read_text(text, line.text_bytes()), Some((worker, number)));
            for place in 0..text.len() {
                let mut altered = text.to_vec();
                altered[place] ^= 1;
                assert_eq!(read_text(&altered, line.text_bytes()), None, "byte {place}");
            }
            assert_eq!(read_text(&text[1..], line.text_bytes()), None);
        }
        let line = Line::new("", 80, 3, true).unwrap();
        let letters = "mnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijk";
        let text = format!("03 0000000017 {letters} 0000000017 03\n");
        assert_eq!(line.build(&mut [0; MOST_LINE_BYTES], 17), text.as_bytes());
    }

    #[test]
    fn two_lines_in_one_are_none() {
        let build = |number| {
            let mut buffer = [0; MOST_LINE_BYTES];
            Line::new("", 80, 0, true).unwrap().build(&mut buffer, number)[..79].to_vec()
        };
        let (one, other) = (build(5), build(31));
        for cut in 1..79 {
            let both = [&one[..cut], &other[cut..]].concat();
            let whole = [&one, &other].into_iter().any(|line| **line == both[..]);
            assert_eq!(read_text(&both, 79).is_some(), whole, "cut at {cut}");
        }
    }

    #[test]
    fn lines_that_cannot_be_are_refused() {
        for (prefix, bytes, worker) in
            [("", 29, 0), ("", 1025, 0), ("a prefix of twenty-4 ", 50, 0), ("", 80, 100)]
        {
            let refused = Line::new(prefix, bytes, worker, true).err().map(|error| error.kind());
            assert_eq!(refused, Some(io::ErrorKind::InvalidInput), "{prefix:?} {bytes} {worker}");
        }
        assert!(Line::new("", 30, 0, true).is_ok());
    }

    #[test]
    fn a_priority_is_read_as_the_rfc_has_it() {
        assert_eq!(behind_priority(b"<13>x").unwrap(), (13, 4));
        assert_eq!(behind_priority(b"<0>").unwrap(), (0, 3));
        assert_eq!(behind_priority(b"<191>x").unwrap(), (191, 5));
        for bad in [&b"<192>x"[..], b"13>x", b"<>x", b"<13x", b"", b"<1x>", b"<0013>", b">", b"<"] {
            assert!(behind_priority(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }
}
