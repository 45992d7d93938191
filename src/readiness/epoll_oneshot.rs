//! epoll(7), one shot a descriptor.

use super::Rearm;
use super::interest::{Interest, Trigger};
use nix::sys::epoll::EpollFlags;

/// epoll_wait(2), one shot a descriptor.
pub type EpollOneshot = Interest<Oneshot>;

/// When it tells of a descriptor.
pub struct Oneshot;

impl Trigger for Oneshot {
    const NAME: &'static str = "epoll_oneshot";
    const SUMMARY: &'static str =
        "epoll that tells once and then has to be armed again (EPOLLONESHOT), epoll(7)";
    const FLAGS: EpollFlags = EpollFlags::EPOLLONESHOT;
    const REARM: Rearm = Rearm::Always;
}
