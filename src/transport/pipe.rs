//! Two pipes, one each way. pipe(7).

use super::{End, Transport, descriptor};
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell};
use crate::workload::Effective;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{pipe2, read, write};
use std::io;
use std::os::fd::OwnedFd;

/// pipe(7).
pub struct Pipe;

/// The read end of one pipe and the write end of the other.
pub struct PipeEnd {
    receiver: OwnedFd,
    sender: OwnedFd,
}

impl Transport for Pipe {
    const NAME: &'static str = "pipe";
    const SUMMARY: &'static str = "a pipe each way, pipe(7)";
    const KEEPS_BOUNDARIES: bool = false;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::CapacityBytes, "0")];
    type End = PipeEnd;

    fn limits(cell: &Cell) -> Vec<Limit> {
        match cell.count(Axis::CapacityBytes) {
            0 => Vec::new(),
            needs => vec![Limit { name: LimitName::Sysctl("fs.pipe-max-size"), needs }],
        }
    }

    fn pair(cell: &Cell) -> io::Result<[PipeEnd; 2]> {
        let one_way = || -> io::Result<(OwnedFd, OwnedFd)> {
            let (receiver, sender) = pipe2(OFlag::O_CLOEXEC)?;
            let asked = cell.count(Axis::CapacityBytes);
            if asked > 0 {
                let bytes = i32::try_from(asked).map_err(|_| io::ErrorKind::InvalidInput)?;
                fcntl(&sender, FcntlArg::F_SETPIPE_SZ(bytes))?;
            }
            Ok((receiver, sender))
        };
        let (there, back) = (one_way()?, one_way()?);
        Ok([PipeEnd { receiver: back.0, sender: there.1 }, PipeEnd { receiver: there.0, sender: back.1 }])
    }
}

impl End for PipeEnd {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(write(&self.sender, text)?)
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(read(&self.receiver, text)?)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        descriptor::set_nonblocking(&self.sender, on)
    }

    fn settings(&self) -> io::Result<Effective> {
        let bytes = fcntl(&self.sender, FcntlArg::F_GETPIPE_SZ)?;
        Ok(Effective::from([("pipe_bytes".to_owned(), bytes.into())]))
    }
}
