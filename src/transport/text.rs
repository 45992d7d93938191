//! The buffer of one message.

use super::End;
use crate::sys::memory::PageBuffer;
use std::io;

/// Bytes before the text, so that the text is page-aligned with any headroom in front.
const PAGE: usize = 4096;

/// A page-aligned message with the headroom of its end in front and its tailroom behind.
pub struct Text {
    buffer: PageBuffer,
    headroom: usize,
    message_bytes: usize,
    tailroom: usize,
}

impl Text {
    pub fn touched<E: End>(message_bytes: usize) -> io::Result<Text> {
        let headroom = E::HEADROOM.min(PAGE);
        let tailroom = E::TAILROOM;
        let buffer = PageBuffer::touched(PAGE + message_bytes + tailroom)?;
        Ok(Text { buffer, headroom, message_bytes, tailroom })
    }

    /// Headroom, text and tailroom.
    #[inline]
    pub fn framed(&mut self) -> &mut [u8] {
        &mut self.buffer[PAGE - self.headroom..]
    }

    /// Headroom, the text from `done` to `until`, tailroom. For streams, which have neither room, or all of it.
    #[inline]
    pub fn part(&mut self, done: usize, until: usize) -> &mut [u8] {
        &mut self.buffer[PAGE - self.headroom + done..PAGE + until + self.tailroom]
    }

    #[inline]
    pub fn text(&mut self) -> &mut [u8] {
        &mut self.buffer[PAGE..PAGE + self.message_bytes]
    }
}
