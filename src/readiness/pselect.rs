//! pselect(2) on a bitmap of our own, with the signal mask left alone.

use super::bitmap::{Bitmap, BitmapCall};
use crate::sys::poll::{self, Word};
use std::io;
use std::os::fd::RawFd;

/// pselect(2).
pub type Pselect = Bitmap<PselectCall>;

/// The call.
pub struct PselectCall;

impl BitmapCall for PselectCall {
    const NAME: &'static str = "pselect";
    const SUMMARY: &'static str =
        "select with a time in nanoseconds and a signal mask (none here), pselect(2)";

    #[inline]
    fn call(highest: RawFd, set: &mut [Word], milliseconds: i32) -> io::Result<usize> {
        poll::pselect(highest, set, milliseconds)
    }
}
