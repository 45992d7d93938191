//! A journal in pieces of whole lines, so that several threads can read it.

use super::line::parse_line;
use super::lines;
use crate::record::Line;
use anyhow::Result;
use std::io::{self, BufRead, Read};

/// So much of a journal is read by one thread at a time: about a hundred visits.
pub const PIECE_BYTES: usize = 1 << 18;

/// Cuts a journal behind the first newline after each so many bytes; one piece at least. None comes behind one that could not
/// be read.
pub struct Pieces<R> {
    journal: R,
    piece_bytes: usize,
    /// The number of the next line, from 1; `None` behind the last.
    next: Option<usize>,
}

/// Some lines of a journal.
pub struct Piece {
    bytes: Vec<u8>,
    /// The number of the first, from 1.
    pub first: usize,
}

/// The lines of a piece in their order, up to the first that cannot be read.
pub struct Lines {
    /// The lines.
    pub lines: Vec<Line>,
    /// Whether a last line was dropped, or why a line cannot be read.
    pub torn_line: Result<bool>,
}

impl<R: BufRead> Pieces<R> {
    /// The pieces of a journal.
    pub fn of(journal: R, piece_bytes: usize) -> Pieces<R> {
        Pieces { journal, piece_bytes, next: Some(1) }
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        // Most lines end within the half that is added, so that they need not be moved.
        let mut bytes = Vec::with_capacity(self.piece_bytes.saturating_add(self.piece_bytes / 2));
        (&mut self.journal).take(self.piece_bytes as u64).read_to_end(&mut bytes)?;
        if bytes.last().is_some_and(|last| *last != b'\n') {
            self.journal.read_until(b'\n', &mut bytes)?;
        }
        Ok(bytes)
    }
}

impl<R: BufRead> Iterator for Pieces<R> {
    type Item = io::Result<Piece>;

    fn next(&mut self) -> Option<io::Result<Piece>> {
        let first = self.next.take()?;
        let bytes = match self.bytes() {
            Ok(bytes) if bytes.is_empty() && first > 1 => return None,
            Ok(bytes) => bytes,
            Err(error) => return Some(Err(error)),
        };
        self.next = Some(first + newlines(&bytes)).filter(|_| bytes.ends_with(b"\n"));
        Some(Ok(Piece { bytes, first }))
    }
}

/// Counted in bytes first, which a CPU does many of at a time.
fn newlines(bytes: &[u8]) -> usize {
    let few = |bytes: &[u8]| bytes.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|bytes| usize::from(few(bytes))).sum()
}

impl Piece {
    /// Reads it; `name` is what errors call the journal.
    pub fn lines(&self, name: &str) -> Lines {
        let mut read = Vec::new();
        let torn_line = lines(&self.bytes[..], self.first, name, |text, _| {
            read.push(parse_line(text)?);
            Ok(())
        });
        Lines { lines: read, torn_line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_and_know_their_number() {
        let cut = |text: &str, piece_bytes| {
            let pieces = Pieces::of(text.as_bytes(), piece_bytes).map(Result::unwrap);
            pieces.map(|piece| (piece.first, String::from_utf8(piece.bytes).unwrap())).collect::<Vec<_>>()
        };
        let of = |pieces: &[(usize, &str)]| {
            pieces.iter().map(|(first, text)| (*first, (*text).to_owned())).collect::<Vec<_>>()
        };
        assert_eq!(cut("", 3), of(&[(1, "")]), "one at least, whose reader says what is missing");
        assert_eq!(cut("a\nb\n\nlong line\nc\n", 3), of(&[(1, "a\nb\n"), (3, "\nlong line\n"), (5, "c\n")]));
        assert_eq!(cut("a\nb\ncut", 4), of(&[(1, "a\nb\n"), (3, "cut")]));
        assert_eq!(cut("a\nb", 100), of(&[(1, "a\nb")]));
        let many = "\n".repeat(1000);
        assert_eq!(cut(&many, 600).iter().map(|(first, _)| *first).collect::<Vec<_>>(), [1, 601]);
    }

    #[test]
    fn what_cannot_be_read_is_told_once() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StaleNetworkFileHandle.into())
            }
        }
        let journal = io::BufReader::new("a\nb\n".as_bytes().chain(Broken));
        let found: Vec<_> = Pieces::of(journal, 4).map(|piece| piece.map(|piece| piece.first)).collect();
        assert!(matches!(found[..], [Ok(1), Err(_)]), "{found:?}");
    }
}
