//! epoll(7), level-triggered.

use super::Rearm;
use super::interest::{Interest, Trigger};
use nix::sys::epoll::EpollFlags;

/// epoll_wait(2), level-triggered.
pub type Epoll = Interest<Level>;

/// When it tells of a descriptor.
pub struct Level;

impl Trigger for Level {
    const NAME: &'static str = "epoll";
    const SUMMARY: &'static str = "the kernel keeps the list; told for as long as it is ready, epoll(7)";
    const FLAGS: EpollFlags = EpollFlags::empty();
    const REARM: Rearm = Rearm::Never;
}
