//! Sun RPC by the C library libtirpc: what its ends over TCP and over UDP share.

use super::PATIENCE;
use super::message::{PROGRAM, VERSION};
use crate::cell::Unavailable;
use crate::sys::tirpc::{self, Client, Kind, Program, Served, Server};
use crate::transport::{End, Party, descriptor, tcp};
use crate::workload::{Effective, mismatch};
use nix::sys::socket::{SockaddrStorage, getpeername};
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, OwnedFd};

const OURS: Program = Program { number: PROGRAM, version: VERSION };

/// Whether the library is there.
///
/// # Errors
/// What the loader says, and the package that has it.
pub fn present() -> Result<(), Unavailable> {
    tirpc::load().map_err(|error| Unavailable {
        reason: format!("{} cannot be loaded: {error}", tirpc::FILE),
        remedy: "install it: `apt install libtirpc3` on Debian, `libtirpc` elsewhere".into(),
    })
}

/// Two ends of the library's.
///
/// # Errors
/// What the sockets return.
pub fn ends(
    sockets: [impl Into<OwnedFd>; 2],
    kind: Kind,
    argument_bytes: usize,
) -> io::Result<[LibraryEnd; 2]> {
    tirpc::load()?;
    Ok(sockets.map(|socket| LibraryEnd { role: Role::Open(socket.into()), kind, argument_bytes }))
}

/// One end: the library's client or its server, made at the first call of either.
pub struct LibraryEnd {
    role: Role,
    kind: Kind,
    argument_bytes: usize,
}

enum Role {
    /// A connected socket, not yet the library's.
    Open(OwnedFd),
    Client(Client),
    Server(Server),
    /// The library took the socket and made nothing of it.
    Lost,
}

impl LibraryEnd {
    #[inline]
    fn client(&mut self) -> io::Result<&mut Client> {
        if let Role::Open(_) = self.role {
            let socket = self.take()?;
            let server = peer(&socket)?;
            let client = Client::over(socket, self.kind, server, OURS, self.argument_bytes, PATIENCE)?;
            self.role = Role::Client(client);
        }
        match &mut self.role {
            Role::Client(client) => Ok(client),
            _ => Err(io::Error::other("this end is a server: it cannot call")),
        }
    }

    #[inline]
    fn server(&mut self) -> io::Result<&mut Server> {
        if let Role::Open(_) = self.role {
            let socket = self.take()?;
            self.role = Role::Server(Server::over(socket, self.kind, OURS, self.argument_bytes)?);
        }
        match &mut self.role {
            Role::Server(server) => Ok(server),
            _ => Err(io::Error::other("this end is a client: it cannot serve")),
        }
    }

    fn take(&mut self) -> io::Result<OwnedFd> {
        match std::mem::replace(&mut self.role, Role::Lost) {
            Role::Open(socket) => Ok(socket),
            _ => Err(io::Error::other("libtirpc made nothing of this end's socket")),
        }
    }
}

fn peer(socket: &OwnedFd) -> io::Result<SocketAddrV4> {
    let address: SockaddrStorage = getpeername(socket.as_raw_fd())?;
    let address = address.as_sockaddr_in().ok_or(io::ErrorKind::AddrNotAvailable)?;
    Ok(SocketAddrV4::new(address.ip(), address.port()))
}

impl End for LibraryEnd {
    const SYSTEM_CALLS: u64 = 0;
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        self.client()?.sink(text)?;
        Ok(text.len())
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        match self.server()?.serve(text)? {
            Served::Sink(bytes) => Ok(bytes),
            Served::Gone => Ok(0),
            Served::Null => Err(mismatch("the null procedure was called, not the sink".into())),
        }
    }

    fn set_nonblocking(&mut self, _on: bool) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "a call always waits for its reply"))
    }

    fn settings(&self) -> io::Result<Effective> {
        let socket = match &self.role {
            Role::Open(socket) => socket,
            Role::Client(client) => client.socket(),
            Role::Server(server) => server.socket(),
            Role::Lost => return Ok(Effective::new()),
        };
        match self.kind {
            Kind::Stream => tcp::settings(socket),
            Kind::Datagrams => descriptor::socket_settings(socket),
        }
    }
}

/// The library numbers and checks its calls itself, so a round trip is checked by its order alone.
impl Party for LibraryEnd {
    #[inline]
    fn ask(&mut self, _number: u64) -> io::Result<()> {
        self.client()?.null()
    }

    #[inline]
    fn answer(&mut self, number: u64) -> io::Result<()> {
        match self.server()?.serve(&mut [])? {
            Served::Null => Ok(()),
            other => Err(mismatch(format!("{other:?} came, not call {number} of the null procedure"))),
        }
    }

    fn settings(&self) -> io::Result<Effective> {
        End::settings(self)
    }
}
