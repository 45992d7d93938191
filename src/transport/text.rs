//! The buffer of one message.

use super::End;
use crate::sys::memory::PageBuffer;
use std::io;

/// Bytes before the text, so that the text is page-aligned with any headroom in front.
const PAGE: usize = 4096;

/// A page-aligned message with the headroom of its end in front.
pub struct Text {
    buffer: PageBuffer,
    headroom: usize,
}

impl Text {
    pub fn touched<E: End>(message_bytes: usize) -> io::Result<Text> {
        let headroom = E::HEADROOM.min(PAGE);
        Ok(Text { buffer: PageBuffer::touched(PAGE + message_bytes)?, headroom })
    }

    /// Headroom and text.
    #[inline]
    pub fn framed(&mut self) -> &mut [u8] {
        &mut self.buffer[PAGE - self.headroom..]
    }

    /// Headroom and the text from `done` to `until`. For streams, which have no headroom, or all of it.
    #[inline]
    pub fn part(&mut self, done: usize, until: usize) -> &mut [u8] {
        &mut self.buffer[PAGE - self.headroom + done..PAGE + until]
    }

    #[inline]
    pub fn text(&mut self) -> &mut [u8] {
        &mut self.buffer[PAGE..]
    }
}
