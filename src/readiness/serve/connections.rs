//! The connections between server and clients: where the server listens, how both ends are opened, and that
//! nothing ever came over an idle one. accept(2), connect(2), tcp(7), unix(7).
//!
//! Both ends number the connections in the order in which they are made. Those of the clients are spread evenly
//! over all of them, so that no mechanism finds them at the beginning or the end of what it looks through.

use super::CLIENTS;
use crate::cell::{Axis, Cell};
use crate::sys::ports::{RANGE, local_ports, local_range};
use crate::workload::{Effective, mismatch};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, Shutdown, SockFlag, SockType, UnixAddr, bind, listen, recv, send,
    setsockopt, shutdown, socket, sockopt,
};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::net::{SocketAddr as UnixSocketAddr, UnixListener, UnixStream};

/// The client waits after this many connections until the server has accepted them, so that none is
/// dropped for want of room in the queue of the listening socket.
const BURST: usize = 64;
/// One listening socket takes at most this part of the range of ports: finding one that is free takes the
/// kernel longer the more are taken.
const PART_OF_PORTS: u64 = 4;
/// Closes at once, without a state that keeps the port for a minute.
const NO_LINGER: libc::linger = libc::linger { l_onoff: 1, l_linger: 0 };

/// How many connections the cell has.
pub fn connections_of(cell: &Cell) -> usize {
    CLIENTS + cell.count(Axis::IdleConnections) as usize
}

/// The connection of that client, where there are so many.
pub fn position_of(client: usize, connections: usize) -> usize {
    client * connections / CLIENTS
}

/// Listening sockets that a cell needs.
pub fn listeners_of(cell: &Cell) -> usize {
    match cell.word(Axis::Socket) {
        "unix" => 1,
        _ => connections_of(cell).div_ceil(connections_a_port()),
    }
}

/// One listening port is a connection's other end: each source port can be had once for it.
fn connections_a_port() -> usize {
    ((local_ports() / PART_OF_PORTS) as usize).max(1)
}

/// The fewest ports of the machine's range with which the cell's connections can be made: listening sockets, each
/// with its part of the range, take half of it at most.
pub fn ports_needed(cell: &Cell) -> u64 {
    match cell.word(Axis::Socket) {
        "unix" => 0,
        _ => (2 * PART_OF_PORTS * connections_of(cell) as u64).isqrt() + PART_OF_PORTS,
    }
}

/// A listening socket.
enum Listener {
    Tcp(TcpListener, SocketAddr),
    Unix(UnixListener, UnixSocketAddr),
}

impl Listener {
    /// On 127.0.0.1, at a port that the kernel chooses. What is accepted has its settings.
    fn tcp() -> io::Result<Listener> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(out_of_ports)?;
        setsockopt(&socket, sockopt::Linger, &NO_LINGER)?;
        let address = socket.local_addr()?;
        Ok(Listener::Tcp(socket, address))
    }

    /// At an abstract name that the kernel chooses: nothing is left in a file system.
    fn unix() -> io::Result<Listener> {
        let socket = socket(AddressFamily::Unix, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
        bind(socket.as_raw_fd(), &UnixAddr::new_unnamed())?;
        listen(&socket, Backlog::MAXCONN)?;
        let socket = UnixListener::from(socket);
        let address = socket.local_addr()?;
        Ok(Listener::Unix(socket, address))
    }

    fn accept(&self) -> io::Result<OwnedFd> {
        Ok(match self {
            Listener::Tcp(socket, _) => socket.accept()?.0.into(),
            Listener::Unix(socket, _) => socket.accept()?.0.into(),
        })
    }

    fn connect(&self) -> io::Result<OwnedFd> {
        match self {
            Listener::Tcp(_, address) => {
                let stream = TcpStream::connect(address).map_err(out_of_ports)?;
                setsockopt(&stream, sockopt::Linger, &NO_LINGER)?;
                Ok(stream.into())
            }
            Listener::Unix(_, address) => Ok(UnixStream::connect_addr(address)?.into()),
        }
    }

    /// Nobody can connect any more, whoever still holds the listening socket.
    fn end(&self) -> io::Result<()> {
        let socket = match self {
            Listener::Tcp(socket, _) => socket.as_raw_fd(),
            Listener::Unix(socket, _) => socket.as_raw_fd(),
        };
        Ok(shutdown(socket, Shutdown::Both)?)
    }
}

/// Names the setting behind `EADDRNOTAVAIL` of connect(2) and `EADDRINUSE` of bind(2).
fn out_of_ports(error: io::Error) -> io::Error {
    let (first, last) = local_range();
    match error.kind() {
        io::ErrorKind::AddrNotAvailable | io::ErrorKind::AddrInUse => {
            io::Error::new(error.kind(), format!("no port is free ({RANGE} is {first} {last}): {error}"))
        }
        _ => error,
    }
}

/// Where the server listens: made before there are workers, so that both know it.
pub struct Doors {
    listeners: Vec<Listener>,
    connections: usize,
}

impl Doors {
    /// Listens.
    ///
    /// # Errors
    /// socket(2), bind(2), listen(2).
    pub fn open(cell: &Cell) -> io::Result<Doors> {
        let one = if cell.word(Axis::Socket) == "unix" { Listener::unix } else { Listener::tcp };
        let listeners = (0..listeners_of(cell)).map(|_| one()).collect::<io::Result<_>>()?;
        Ok(Doors { listeners, connections: connections_of(cell) })
    }

    /// What is in force, for the record.
    pub fn settings(&self) -> Effective {
        let mut settings = Effective::new();
        settings.insert("connections".into(), self.connections.into());
        settings.insert("active_connections".into(), CLIENTS.into());
        if matches!(self.listeners[..], [Listener::Tcp(..), ..]) {
            let (first, last) = local_range();
            settings.insert("listening_ports".into(), self.listeners.len().into());
            settings.insert(RANGE.into(), format!("{first} {last}").into());
            settings.insert("nodelay".into(), "on".into());
        }
        settings
    }

    /// The listening socket of a connection: each has its part of them, in order.
    fn listener(&self, position: usize) -> &Listener {
        &self.listeners[position * self.listeners.len() / self.connections]
    }

    /// The server's ends of all connections, in order. Nobody can connect after that.
    ///
    /// # Errors
    /// accept(2): `EMFILE`; what reading and writing return when the clients are gone.
    pub fn accept_all(&self) -> io::Result<Vec<OwnedFd>> {
        let mut accepted: Vec<OwnedFd> = Vec::with_capacity(self.connections);
        for position in 0..self.connections {
            accepted.push(self.listener(position).accept()?);
            if self.ends_burst(position) {
                send(accepted[0].as_raw_fd(), b"+", MsgFlags::MSG_NOSIGNAL)?;
            }
        }
        self.listeners.iter().try_for_each(Listener::end)?;
        self.set_up(accepted)
    }

    /// The clients' ends of all connections, in order.
    ///
    /// # Errors
    /// connect(2): `EMFILE`, `EADDRNOTAVAIL`; `UnexpectedEof` when the server is gone.
    pub fn connect_all(&self) -> io::Result<Vec<OwnedFd>> {
        let mut made: Vec<OwnedFd> = Vec::with_capacity(self.connections);
        for position in 0..self.connections {
            made.push(self.listener(position).connect()?);
            if self.ends_burst(position) && recv(made[0].as_raw_fd(), &mut [0], MsgFlags::empty())? == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server is gone"));
            }
        }
        self.set_up(made)
    }

    fn ends_burst(&self, position: usize) -> bool {
        (position + 1).is_multiple_of(BURST) || position + 1 == self.connections
    }

    /// Small requests and replies are sent at once.
    fn set_up(&self, ends: Vec<OwnedFd>) -> io::Result<Vec<OwnedFd>> {
        for client in 0..CLIENTS {
            if let Listener::Tcp(..) = self.listeners[0] {
                setsockopt(&ends[position_of(client, ends.len())], sockopt::TcpNoDelay, &true)?;
            }
        }
        Ok(ends)
    }
}

/// Sees whether the connection is open and nothing has come over it. Looks, and takes nothing away.
///
/// # Errors
/// `InvalidData` with what was found; recv(2).
pub fn is_silent(position: usize, end: impl AsFd) -> io::Result<()> {
    let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
    match recv(end.as_fd().as_raw_fd(), &mut [0], flags) {
        Err(Errno::EAGAIN) => Ok(()),
        Ok(0) | Err(Errno::ECONNRESET) => {
            Err(mismatch(format!("connection {position} was closed, it must stay open")))
        }
        Ok(_) => {
            Err(mismatch(format!("something came over connection {position}, which has nothing to say")))
        }
        Err(error) => Err(error.into()),
    }
}
