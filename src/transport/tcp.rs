//! A TCP connection over the loopback interface. tcp(7).

use super::Transport;
use super::descriptor::{self, Stream};
use crate::catalog::Limit;
use crate::cell::{Axis, Cell};
use crate::workload::Effective;
use nix::sys::socket::{getsockopt, sockopt};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;

/// tcp(7).
pub struct Tcp;

impl Transport for Tcp {
    const NAME: &'static str = "tcp";
    const SUMMARY: &'static str = "a TCP connection over 127.0.0.1, tcp(7)";
    const KEEPS_BOUNDARIES: bool = false;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::Nodelay, "off"), (Axis::CapacityBytes, "0")];
    const ROUND_TRIP_AXES: &'static [(Axis, &'static str)] =
        &[(Axis::Nodelay, "on"), (Axis::CapacityBytes, "0")];
    type End = Stream;

    fn limits(cell: &Cell) -> Vec<Limit> {
        descriptor::socket_limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[Stream; 2]> {
        let [client, server] = connected(cell.word(Axis::Nodelay) == "on")?;
        descriptor::set_socket_capacity(cell, &client, &server)?;
        Ok(Stream::ends([client, server], |socket| settings(socket)))
    }
}

/// Both ends of a connection over 127.0.0.1, with `TCP_NODELAY` on or off.
///
/// # Errors
/// socket(7), tcp(7); `Other` where somebody else connected first.
pub fn connected(nodelay: bool) -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let client = TcpStream::connect(listener.local_addr()?)?;
    let (server, peer) = listener.accept()?;
    if peer != client.local_addr()? {
        return Err(io::Error::other(format!("a stranger at {peer} connected first")));
    }
    client.set_nodelay(nodelay)?;
    server.set_nodelay(nodelay)?;
    Ok([client, server])
}

/// The buffers in force and whether `TCP_NODELAY` is on.
///
/// # Errors
/// getsockopt(2).
pub fn settings(socket: impl AsFd) -> io::Result<Effective> {
    let mut settings = descriptor::socket_settings(&socket)?;
    let on = getsockopt(&socket, sockopt::TcpNoDelay)?;
    settings.insert("nodelay".into(), if on { "on" } else { "off" }.into());
    Ok(settings)
}
