//! select(2) on a bitmap of our own.

use super::Printed;
use super::bitmap::{Bitmap, BitmapCall};
use crate::sys::poll::{self, Word};
use std::io;
use std::os::fd::RawFd;

/// select(2).
pub type Select = Bitmap<SelectCall>;

/// The call.
pub struct SelectCall;

impl BitmapCall for SelectCall {
    const NAME: &'static str = "select";
    const SUMMARY: &'static str =
        "a bitmap of descriptors, ours so that it may go beyond 1023 as Linux allows, select(2)";
    const PRINTED: Option<Printed> = Some(Printed::NoTime);

    #[inline]
    fn call(highest: RawFd, set: &mut [Word], milliseconds: i32) -> io::Result<usize> {
        poll::select(highest, set, milliseconds)
    }
}
