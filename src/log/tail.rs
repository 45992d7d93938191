//! Looks at what others append to a file. Only the size tells that something came, so it is looked at every millisecond.

use nix::errno::Errno;
use nix::poll::{PollTimeout, poll};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// A look lasts this long, in milliseconds.
const LOOK_MS: u8 = 1;
const PIECE_BYTES: usize = 64 << 10;

/// Waits for the next look.
///
/// # Errors
/// poll(2).
pub fn pause() -> io::Result<()> {
    match poll(&mut [], PollTimeout::from(LOOK_MS)) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The end of a file.
pub struct Tail {
    file: File,
    /// What is before that is known.
    at: u64,
    /// The last known bytes: what is looked for may begin there.
    kept: Vec<u8>,
    piece: Vec<u8>,
}

impl Tail {
    /// From that byte of the file on.
    pub fn new(file: File, at: u64) -> Tail {
        Tail { file, at, kept: Vec::new(), piece: vec![0; PIECE_BYTES] }
    }

    /// Whether the text is in what came since the last look.
    ///
    /// # Errors
    /// pread(2).
    pub fn has(&mut self, text: &[u8]) -> io::Result<bool> {
        let mut found = false;
        loop {
            let got = self.file.read_at(&mut self.piece, self.at)?;
            if got == 0 {
                return Ok(found);
            }
            self.at += got as u64;
            self.kept.extend_from_slice(&self.piece[..got]);
            found |= self.kept.windows(text.len()).any(|window| window == text);
            let known = self.kept.len().saturating_sub(text.len());
            self.kept.drain(..known);
        }
    }

    /// Looks until the text is there. `false` where nothing came for that many looks.
    ///
    /// # Errors
    /// pread(2), poll(2).
    pub fn awaits(&mut self, text: &[u8], quiet_looks: u32) -> io::Result<bool> {
        let mut quiet = 0;
        while quiet < quiet_looks {
            let before = self.at;
            if self.has(text)? {
                return Ok(true);
            }
            quiet = if self.at == before { quiet + 1 } else { 0 };
            pause()?;
        }
        Ok(false)
    }

    /// Looks until nothing came for that many looks.
    ///
    /// # Errors
    /// fstat(2), poll(2).
    pub fn settle(&mut self, quiet_looks: u32) -> io::Result<()> {
        let mut quiet = 0;
        while quiet < quiet_looks {
            let now = self.file.metadata()?.len();
            quiet = if now == self.at { quiet + 1 } else { 0 };
            self.at = now;
            pause()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_text_is_found_once_it_is_there_also_in_two_pieces() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"needle before").unwrap();
        let mut tail = Tail::new(file.try_clone().unwrap(), 13);
        assert!(!tail.has(b"needle").unwrap(), "what is before does not count");
        file.write_all(b"xxneed").unwrap();
        assert!(!tail.has(b"needle").unwrap());
        file.write_all(b"lexx").unwrap();
        assert!(tail.has(b"needle").unwrap());
        assert!(!tail.has(b"needle").unwrap(), "only once");
        file.write_all(&vec![b'y'; 3 * PIECE_BYTES]).unwrap();
        file.write_all(b"needle").unwrap();
        assert!(tail.awaits(b"needle", 1).unwrap());
        assert!(!tail.awaits(b"needle", 3).unwrap(), "silence ends it");
        tail.settle(2).unwrap();
    }
}
