//! Descriptors that the kernel keeps watch on between calls: what the three triggers of epoll(7) share.

use super::{Patience, Readiness, Rearm};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};

/// When epoll tells of a descriptor.
pub trait Trigger: 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
    /// What is asked for beside `EPOLLIN`.
    const FLAGS: EpollFlags;
    /// What must be done to be told again.
    const REARM: Rearm;
}

/// Watches by an interest list in the kernel.
pub struct Interest<T> {
    list: Epoll,
    found: Vec<EpollEvent>,
    found_count: usize,
    trigger: PhantomData<T>,
}

fn event<T: Trigger>(descriptor: BorrowedFd<'_>) -> EpollEvent {
    EpollEvent::new(EpollFlags::EPOLLIN.union(T::FLAGS), descriptor.as_raw_fd() as u64)
}

impl<T: Trigger> Interest<T> {
    fn told(&self) -> impl Iterator<Item = RawFd> {
        self.found[..self.found_count].iter().map(|event| event.data() as RawFd)
    }
}

impl<T: Trigger> Readiness for Interest<T> {
    const NAME: &'static str = T::NAME;
    const SUMMARY: &'static str = T::SUMMARY;
    const REARM: Rearm = T::REARM;
    const REFUSES_DEVICES: Option<&'static str> = Some(
        "epoll_ctl(2): EPERM: /dev/zero and /dev/null can always be read and have nothing to wait for, so epoll does \
         not take them",
    );

    fn open(most_descriptors: usize) -> io::Result<Interest<T>> {
        Ok(Interest {
            list: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            found: vec![EpollEvent::empty(); most_descriptors.max(1)],
            found_count: 0,
            trigger: PhantomData,
        })
    }

    fn watch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        Ok(self.list.add(descriptor, event::<T>(descriptor))?)
    }

    fn unwatch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        Ok(self.list.delete(descriptor)?)
    }

    /// `EPOLL_CTL_MOD` looks at the file again, so it tells of one that is still ready.
    #[inline]
    fn rearm(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        match T::REARM {
            Rearm::Never => Ok(()),
            Rearm::WhileReady | Rearm::Always => {
                Ok(self.list.modify(descriptor, &mut event::<T>(descriptor))?)
            }
        }
    }

    #[inline]
    fn wait(&mut self, patience: Patience) -> io::Result<usize> {
        let time = match patience {
            Patience::None => EpollTimeout::ZERO,
            Patience::Milliseconds(milliseconds) => EpollTimeout::from(milliseconds),
            Patience::Endless => EpollTimeout::NONE,
        };
        self.found_count = 0;
        self.found_count = self.list.wait(&mut self.found, time)?;
        Ok(self.found_count)
    }

    #[inline]
    fn is_ready(&self, descriptor: RawFd) -> bool {
        self.told().any(|told| told == descriptor)
    }

    fn ready(&self, ready: &mut Vec<RawFd>) {
        ready.clear();
        ready.extend(self.told());
    }
}
