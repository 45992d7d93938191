//! Descriptors handed from one worker to another over a Unix socket. unix(7), `SCM_RIGHTS`.
#![allow(unsafe_code)]

use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

/// Hands a copy of the descriptor over; the sender keeps its own.
///
/// # Errors
/// sendmsg(2).
pub fn hand_over(socket: impl AsFd, descriptor: impl AsFd) -> io::Result<()> {
    let descriptors = [descriptor.as_fd().as_raw_fd()];
    let rights = [ControlMessage::ScmRights(&descriptors)];
    sendmsg::<()>(socket.as_fd().as_raw_fd(), &[IoSlice::new(&[0])], &rights, MsgFlags::MSG_NOSIGNAL, None)?;
    Ok(())
}

/// Waits for one descriptor; it is closed when another program is started.
///
/// # Errors
/// recvmsg(2); `InvalidData` where a message without exactly one descriptor came, or none.
pub fn take_over(socket: impl AsFd) -> io::Result<OwnedFd> {
    let mut byte = [0];
    let mut buffers = [IoSliceMut::new(&mut byte)];
    let mut space = nix::cmsg_space!(RawFd);
    let socket = socket.as_fd().as_raw_fd();
    let message = recvmsg::<()>(socket, &mut buffers, Some(&mut space), MsgFlags::MSG_CMSG_CLOEXEC)?;
    let mut taken = Vec::new();
    for control in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(descriptors) = control {
            // SAFETY: the kernel made these descriptors for this message, and nobody else knows them.
            taken.extend(descriptors.into_iter().map(|raw| unsafe { OwnedFd::from_raw_fd(raw) }));
        }
    }
    match (taken.pop(), taken.is_empty()) {
        (Some(descriptor), true) => Ok(descriptor),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "no descriptor was handed over")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_descriptor_arrives_as_another_one_of_the_same_thing() {
        let (here, there) = UnixStream::pair().unwrap();
        let (mut kept, handed) = UnixStream::pair().unwrap();
        hand_over(&here, &handed).unwrap();
        let mut came = UnixStream::from(take_over(&there).unwrap());
        assert_ne!(came.as_raw_fd(), handed.as_raw_fd());
        came.write_all(b"x").unwrap();
        let mut byte = [0];
        kept.read_exact(&mut byte).unwrap();
        assert_eq!(&byte, b"x");
    }

    #[test]
    fn a_message_without_a_descriptor_and_an_end_are_told() {
        let (mut here, there) = UnixStream::pair().unwrap();
        here.write_all(b"x").unwrap();
        assert_eq!(take_over(&there).unwrap_err().kind(), io::ErrorKind::InvalidData);
        drop(here);
        assert_eq!(take_over(&there).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
