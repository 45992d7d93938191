//! A TCP connection over the loopback interface. tcp(7).

use super::{End, Transport, descriptor};
use crate::catalog::Limit;
use crate::cell::{Axis, Cell};
use crate::workload::Effective;
use nix::unistd::{read, write};
use std::io;
use std::net::{Ipv4Addr, TcpListener, TcpStream};

/// tcp(7).
pub struct Tcp;

impl Transport for Tcp {
    const NAME: &'static str = "tcp";
    const SUMMARY: &'static str = "a TCP connection over 127.0.0.1, tcp(7)";
    const KEEPS_BOUNDARIES: bool = false;
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[(Axis::Nodelay, "off"), (Axis::CapacityBytes, "0")];
    const ROUND_TRIP_AXES: &'static [(Axis, &'static str)] =
        &[(Axis::Nodelay, "on"), (Axis::CapacityBytes, "0")];
    type End = TcpStream;

    fn limits(cell: &Cell) -> Vec<Limit> {
        descriptor::socket_limits(cell)
    }

    fn pair(cell: &Cell) -> io::Result<[TcpStream; 2]> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let client = TcpStream::connect(listener.local_addr()?)?;
        let (server, peer) = listener.accept()?;
        if peer != client.local_addr()? {
            return Err(io::Error::other(format!("a stranger at {peer} connected first")));
        }
        let nodelay = cell.word(Axis::Nodelay) == "on";
        client.set_nodelay(nodelay)?;
        server.set_nodelay(nodelay)?;
        descriptor::set_socket_capacity(cell, &client, &server)?;
        Ok([client, server])
    }
}

impl End for TcpStream {
    #[inline]
    fn send(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(write(&*self, text)?)
    }

    #[inline]
    fn receive(&mut self, text: &mut [u8]) -> io::Result<usize> {
        Ok(read(&*self, text)?)
    }

    fn set_nonblocking(&mut self, on: bool) -> io::Result<()> {
        TcpStream::set_nonblocking(self, on)
    }

    fn settings(&self) -> io::Result<Effective> {
        let mut settings = descriptor::socket_settings(self)?;
        settings.insert("nodelay".into(), if self.nodelay()? { "on" } else { "off" }.into());
        Ok(settings)
    }
}
