//! poll(2).

use super::Printed;
use super::list::{List, ListCall};
use crate::sys::poll::{self, Polled};
use std::io;

/// poll(2).
pub type Poll = List<PollCall>;

/// The call.
pub struct PollCall;

impl ListCall for PollCall {
    const NAME: &'static str = "poll";
    const SUMMARY: &'static str = "a list of descriptors, poll(2)";
    const PRINTED: Option<Printed> = Some(Printed::NoDescriptor);

    #[inline]
    fn call(list: &mut [Polled], milliseconds: i32) -> io::Result<usize> {
        poll::poll(list, milliseconds)
    }
}
