//! ppoll(2), with the signal mask left alone.

use super::list::{List, ListCall};
use crate::sys::poll::{self, Polled};
use std::io;

/// ppoll(2).
pub type Ppoll = List<PpollCall>;

/// The call.
pub struct PpollCall;

impl ListCall for PpollCall {
    const NAME: &'static str = "ppoll";
    const SUMMARY: &'static str = "poll with a time in nanoseconds and a signal mask (none here), ppoll(2)";

    #[inline]
    fn call(list: &mut [Polled], milliseconds: i32) -> io::Result<usize> {
        poll::ppoll(list, milliseconds)
    }
}
