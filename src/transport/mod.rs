//! Transports: what carries messages between two workers.
//!
//! A mechanism implements [`Transport`] and its [`End`] in a file of its own and gets a line in
//! [`DRIVERS`]. It never reads a clock, prints or forks.

mod bandwidth;
mod descriptor;
#[cfg(any(target_os = "illumos", target_os = "solaris", ipcmatrix_check_doors))]
mod door;
mod door_call_seccomp;
mod door_call_seqpacket;
mod eventfd;
mod futex;
mod memory_copy;
mod pattern;
mod pipe;
mod posix_queue;
mod round_trip;
pub mod rpc;
mod shared_ring;
mod sun_rpc_tcp;
mod sun_rpc_udp;
mod sysv_queue;
mod tcp;
mod text;
mod tirpc_tcp;
mod tirpc_udp;
mod udp;
mod unix_datagram;
mod unix_packet;
mod unix_seqpacket;
mod unix_stream;

pub use pipe::{Pipe, PipeEnd};

use crate::catalog::{Driver, Family, Limit, Reach, alone};
use crate::cell::Unavailable;
use crate::cell::{Axis, Cell, Measure};
use crate::workload::Effective;
use round_trip::OneByte;
use rpc::Rpc;
use std::io;

/// One end of a channel between two workers.
///
/// Buffers given to an end are longer than the message by [`End::HEADROOM`] bytes in front and
/// [`End::TAILROOM`] behind.
pub trait End: Send {
    /// Bytes in front of the text that the system call wants in the same buffer (System V type word).
    const HEADROOM: usize = 0;
    /// Bytes behind the text that the system call wants in the same buffer (padding of XDR).
    const TAILROOM: usize = 0;

    /// System calls that move a message at this end each time that `send` or `receive` is called: two for a call that
    /// waits for its reply; none for memory; none, too, where a library makes them and does not tell.
    const SYSTEM_CALLS: u64 = 1;

    /// Sends by one system call and returns the bytes of text that were taken.
    ///
    /// # Errors
    /// The system call's, `WouldBlock` when non-blocking and full.
    fn send(&mut self, framed: &mut [u8]) -> io::Result<usize>;

    /// Receives by one system call and returns the bytes of text that came; 0 is the end of the stream.
    ///
    /// # Errors
    /// The system call's.
    fn receive(&mut self, framed: &mut [u8]) -> io::Result<usize>;

    /// Makes `send` fail with `WouldBlock` where it would wait, or wait again.
    ///
    /// # Errors
    /// The system call's.
    fn set_nonblocking(&mut self, on: bool) -> io::Result<()>;

    /// Settings of this end as the system reports them.
    ///
    /// # Errors
    /// The system call's.
    fn settings(&self) -> io::Result<Effective>;
}

/// A way to carry messages between two workers.
pub trait Transport: 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
    /// What a reader of a table with it must know, or nothing.
    const NOTE: &'static str = "";
    /// Whether one `send` is one `receive`.
    const KEEPS_BOUNDARIES: bool;
    /// Axes that only some transports have, with their default.
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[];
    /// Whether its objects live in an IPC namespace.
    const PRIVATE_IPC: bool = false;
    /// One end.
    type End: End;

    /// The note of a round trip, where it differs from that of bandwidth.
    const ROUND_TRIP_NOTE: &'static str = Self::NOTE;
    /// Axes of a round trip, where they differ from those of bandwidth.
    const ROUND_TRIP_AXES: &'static [(Axis, &'static str)] = Self::EXTRA_AXES;
    /// Whether `send` returns only when the other end has taken the message (a call): such a channel holds one.
    const SYNCHRONOUS: bool = false;

    /// Whether this machine has what it is made of.
    ///
    /// # Errors
    /// Why not, and what would help.
    fn present() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Limits of the kernel that the cell needs.
    fn limits(_cell: &Cell) -> Vec<Limit> {
        Vec::new()
    }

    /// Two connected ends: what one sends the other receives.
    ///
    /// # Errors
    /// The system call that failed.
    fn pair(cell: &Cell) -> io::Result<[Self::End; 2]>;
}

/// The driver that measures the bandwidth of `T`.
pub const fn bandwidth<T: Transport>() -> Driver {
    Driver {
        family: Family::Transport,
        measure: Measure::Bandwidth,
        mechanism: T::NAME,
        summary: T::SUMMARY,
        note: T::NOTE,
        reach: Reach::Both,
        extra_axes: T::EXTRA_AXES,
        private_ipc: T::PRIVATE_IPC,
        present: T::present,
        usable: |_| Ok(()),
        limits: T::limits,
        rough_op_ns: |cell| 2_000 + 2 * cell.count(Axis::MessageBytes),
        open: |cells| Ok(Box::new(bandwidth::Bandwidth::<T>::open(alone(cells)?)?)),
    }
}

/// A request and its answer between two workers. Every [`Transport`] is one, by a byte each way
/// (`round_trip::OneByte`); what carries no bytes implements it itself.
pub trait Exchange: 'static {
    /// Its one name.
    const NAME: &'static str;
    /// One line with the manual page.
    const SUMMARY: &'static str;
    /// What a reader of a table with it must know, or nothing.
    const NOTE: &'static str = "";
    /// Axes that only some have, with their default.
    const EXTRA_AXES: &'static [(Axis, &'static str)] = &[];
    /// Whether its objects live in an IPC namespace.
    const PRIVATE_IPC: bool = false;
    /// Whom it can serve.
    const REACH: Reach = Reach::Both;
    /// One end.
    type End: Party;

    /// Whether this machine has what it is made of.
    ///
    /// # Errors
    /// Why not, and what would help.
    fn present() -> Result<(), Unavailable> {
        Ok(())
    }

    /// Limits of the kernel that the cell needs.
    fn limits(_cell: &Cell) -> Vec<Limit> {
        Vec::new()
    }

    /// Two connected ends: the first asks, the second answers.
    ///
    /// # Errors
    /// The system call that failed.
    fn pair(cell: &Cell) -> io::Result<[Self::End; 2]>;
}

/// One end of an [`Exchange`]. Both know the number of the round trip, and check it.
pub trait Party: Send {
    /// In the worker, before any clock: what cannot be done before there is a worker.
    ///
    /// # Errors
    /// The system call's.
    fn prepare(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Settings of this end as the system reports them. Asked before there are workers.
    ///
    /// # Errors
    /// The system call's.
    fn settings(&self) -> io::Result<Effective>;

    /// Sends request `number` and waits for its answer.
    ///
    /// # Errors
    /// The system call's; `InvalidData` where the answer is not that of this request.
    fn ask(&mut self, number: u64) -> io::Result<()>;

    /// Waits for request `number` and answers it.
    ///
    /// # Errors
    /// The system call's; `InvalidData` where another request came.
    fn answer(&mut self, number: u64) -> io::Result<()>;
}

/// The driver that measures round trips over `X`.
const fn round_trip<X: Exchange>() -> Driver {
    Driver {
        family: Family::Transport,
        measure: Measure::RoundTrip,
        mechanism: X::NAME,
        summary: X::SUMMARY,
        note: X::NOTE,
        reach: X::REACH,
        extra_axes: X::EXTRA_AXES,
        private_ipc: X::PRIVATE_IPC,
        present: X::present,
        usable: |_| Ok(()),
        limits: X::limits,
        rough_op_ns: |_| 100_000,
        open: |cells| Ok(Box::new(round_trip::RoundTrip::<X>::open(alone(cells)?)?)),
    }
}

/// Every measure of every transport.
pub const DRIVERS: &[Driver] = &[
    bandwidth::<pipe::Pipe>(),
    bandwidth::<posix_queue::PosixQueue>(),
    bandwidth::<sysv_queue::SysvQueue>(),
    bandwidth::<tcp::Tcp>(),
    bandwidth::<unix_stream::UnixStream>(),
    bandwidth::<unix_seqpacket::UnixSeqpacket>(),
    bandwidth::<unix_datagram::UnixDatagram>(),
    bandwidth::<door_call_seqpacket::DoorCallSeqpacket>(),
    bandwidth::<Rpc<sun_rpc_tcp::SunRpcTcp>>(),
    bandwidth::<Rpc<sun_rpc_udp::SunRpcUdp>>(),
    bandwidth::<Rpc<tirpc_tcp::TirpcTcp>>(),
    bandwidth::<Rpc<tirpc_udp::TirpcUdp>>(),
    bandwidth::<shared_ring::SharedRing>(),
    memory_copy::DRIVER,
    round_trip::<OneByte<pipe::Pipe>>(),
    round_trip::<OneByte<posix_queue::PosixQueue>>(),
    round_trip::<OneByte<sysv_queue::SysvQueue>>(),
    round_trip::<OneByte<tcp::Tcp>>(),
    round_trip::<OneByte<unix_stream::UnixStream>>(),
    round_trip::<OneByte<unix_seqpacket::UnixSeqpacket>>(),
    round_trip::<OneByte<unix_datagram::UnixDatagram>>(),
    round_trip::<OneByte<udp::Udp>>(),
    round_trip::<door_call_seqpacket::DoorCallSeqpacket>(),
    round_trip::<door_call_seccomp::DoorCallSeccomp>(),
    round_trip::<eventfd::EventFd>(),
    round_trip::<futex::Futex>(),
    #[cfg(any(target_os = "illumos", target_os = "solaris"))]
    door::driver(Measure::Bandwidth),
    #[cfg(any(target_os = "illumos", target_os = "solaris"))]
    door::driver(Measure::RoundTrip),
    round_trip::<Rpc<sun_rpc_tcp::SunRpcTcp>>(),
    round_trip::<Rpc<sun_rpc_udp::SunRpcUdp>>(),
    round_trip::<Rpc<tirpc_tcp::TirpcTcp>>(),
    round_trip::<Rpc<tirpc_udp::TirpcUdp>>(),
    round_trip::<OneByte<shared_ring::SharedRing>>(),
];

/// Where there are no doors they are compiled by this alone, and never linked or listed.
#[cfg(ipcmatrix_check_doors)]
const _: [Driver; 2] = [door::driver(Measure::Bandwidth), door::driver(Measure::RoundTrip)];
