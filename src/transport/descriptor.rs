//! What pipes and sockets share: they are descriptors.

use super::End;
use crate::catalog::{Limit, LimitName};
use crate::cell::{Axis, Cell};
use crate::workload::Effective;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{getsockopt, setsockopt, sockopt};
use nix::unistd::{read, write};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

/// Bytes of a socket buffer that the kernel keeps for itself when it decides whether a message fits.
const MESSAGE_OVERHEAD_BYTES: u64 = 32;

/// One end of a connection that carries bytes without boundaries. read(2), write(2).
pub struct Stream {
    socket: OwnedFd,
    settings: fn(&OwnedFd) -> io::Result<Effective>,
}

impl Stream {
    /// Two connected sockets as ends, and what asks one of them for its settings.
    pub fn ends(
        sockets: [impl Into<OwnedFd>; 2],
        settings: fn(&OwnedFd) -> io::Result<Effective>,
    ) -> [Stream; 2] {
        sockets.map(|socket| Stream { socket: socket.into(), settings })
    }
}

impl End for Stream {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(write(&self.socket, text)?)
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(read(&self.socket, text)?)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        set_nonblocking(&self.socket, on)
    }

    fn settings(&self) -> io::Result<Effective> {
        (self.settings)(&self.socket)
    }
}

/// Sets or clears `O_NONBLOCK`. fcntl(2).
///
/// # Errors
/// fcntl(2).
pub fn set_nonblocking(descriptor: impl AsFd, on: bool) -> io::Result<()> {
    let mut flags = OFlag::from_bits_retain(fcntl(&descriptor, FcntlArg::F_GETFL)?);
    flags.set(OFlag::O_NONBLOCK, on);
    fcntl(&descriptor, FcntlArg::F_SETFL(flags))?;
    Ok(())
}

/// The socket buffers in force, as the kernel counts them (twice what was set). socket(7).
///
/// # Errors
/// getsockopt(2).
pub fn socket_settings(socket: impl AsFd) -> io::Result<Effective> {
    let mut settings = Effective::new();
    settings.insert("send_buffer_bytes".into(), getsockopt(&socket, sockopt::SndBuf)?.into());
    settings.insert("receive_buffer_bytes".into(), getsockopt(&socket, sockopt::RcvBuf)?.into());
    Ok(settings)
}

/// Sets the send buffer of `sender` and the receive buffer of `receiver` when the cell asks for a capacity.
/// The kernel clamps to `net.core.wmem_max` and `rmem_max`; [`socket_limits`] has it refused before.
///
/// # Errors
/// setsockopt(2); `InvalidInput` where less was given than asked.
pub fn set_socket_capacity(cell: &Cell, sender: impl AsFd, receiver: impl AsFd) -> io::Result<()> {
    let asked = cell.count(Axis::CapacityBytes);
    if asked == 0 {
        return Ok(());
    }
    let bytes = usize::try_from(asked).map_err(|_| io::ErrorKind::InvalidInput)?;
    setsockopt(&sender, sockopt::SndBuf, &bytes)?;
    setsockopt(&receiver, sockopt::RcvBuf, &bytes)?;
    for given in [getsockopt(&sender, sockopt::SndBuf)?, getsockopt(&receiver, sockopt::RcvBuf)?] {
        if given < bytes {
            let text = format!("a socket buffer of {bytes} bytes was asked for, {given} were given");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
    }
    Ok(())
}

/// The limits of a cell that asks for socket buffers.
pub fn socket_limits(cell: &Cell) -> Vec<Limit> {
    match cell.count(Axis::CapacityBytes) {
        0 => Vec::new(),
        needs => ["net.core.wmem_max", "net.core.rmem_max"]
            .map(|name| Limit { name: LimitName::Sysctl(name), needs })
            .to_vec(),
    }
}

/// The bytes to ask `SO_SNDBUF` for so that one whole message fits into a send buffer of `default_bytes`;
/// `None` where it fits as it is. The kernel doubles what is asked. unix(7).
pub fn send_buffer_for(message_bytes: u64, default_bytes: u64) -> Option<u64> {
    let needed = message_bytes + MESSAGE_OVERHEAD_BYTES;
    (needed > default_bytes).then(|| needed.div_ceil(2))
}
