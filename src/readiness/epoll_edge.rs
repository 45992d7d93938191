//! epoll(7), edge-triggered.

use super::Rearm;
use super::interest::{Interest, Trigger};
use nix::sys::epoll::EpollFlags;

/// epoll_wait(2), edge-triggered.
pub type EpollEdge = Interest<Edge>;

/// When it tells of a descriptor.
pub struct Edge;

impl Trigger for Edge {
    const NAME: &'static str = "epoll_edge";
    const SUMMARY: &'static str = "epoll that tells once each time something comes (EPOLLET), epoll(7)";
    const FLAGS: EpollFlags = EpollFlags::EPOLLET;
    const REARM: Rearm = Rearm::WhileReady;
}
