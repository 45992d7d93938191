//! libtirpc, the Sun RPC library of Linux, loaded at run time. rpc(3t), rpc_clnt_create(3t), rpc_svc_create(3t).
//!
//! A client and a server of one program whose procedure 0 takes nothing and whose procedure 1 takes
//! `opaque<>`; neither returns anything. Sockets are made by the caller and already connected, so no
//! port mapper and no `/etc/netconfig` take part.
//!
//! The library keeps its transports in a table that it guards with a lock, and its programs in a list that
//! it does not guard: one program is registered here, once, under a lock of ours and before any call
//! is served, so a client and a server may be threads of one process.
#![allow(unsafe_code)]

mod abi;

use abi::{Api, BUFFER_BYTES, Bool, ClntHandle, Coder, DIED, Netbuf, SUCCESS, SvcReq, SvcXprt, api};
pub use abi::{FILE, load};

use nix::sys::socket::{MsgFlags, Shutdown, recv, shutdown};
use std::cell::Cell;
use std::ffi::{CStr, c_int, c_uint, c_void};
use std::io;
use std::net::SocketAddrV4;
use std::os::fd::{AsRawFd, IntoRawFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Held while a server is made.
static MAKING: Mutex<()> = Mutex::new(());

/// Over what the calls go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A TCP connection.
    Stream,
    /// A UDP socket.
    Datagrams,
}

/// The program that is called and served.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// Its number.
    pub number: u32,
    /// Its version.
    pub version: u32,
}

/// The largest buffers of the library where an argument needs them.
fn buffer_bytes(argument_bytes: usize) -> c_uint {
    const HEADERS: usize = 1024;
    (argument_bytes + HEADERS).clamp(BUFFER_BYTES.0, BUFFER_BYTES.1) as c_uint
}

/// An opaque that is coded in place.
struct Opaque {
    at: *mut u8,
    bytes: c_uint,
    most: c_uint,
}

/// The coder of `opaque<>`: an [`Opaque`] by `xdr_bytes`, which decodes into memory that it is given.
unsafe extern "C" fn xdr_opaque(stream: *mut c_void, opaque: *mut c_void) -> Bool {
    let Ok(api) = api() else { return 0 };
    let opaque = opaque.cast::<Opaque>();
    // SAFETY: the library hands on the pointer that it was given with this coder, which is that of an
    // `Opaque` whose memory has `most` bytes; `xdr_bytes` refuses to decode more.
    unsafe { (api.xdr_bytes)(stream, &raw mut (*opaque).at, &raw mut (*opaque).bytes, (*opaque).most) }
}

/// A client of the library.
pub struct Client {
    handle: NonNull<ClntHandle>,
    api: &'static Api,
    patience: libc::timeval,
    /// Outlives the handle, which uses it and does not close it.
    socket: OwnedFd,
}

// SAFETY: a handle is not tied to the thread that made it; `&mut self` lets one thread at a time call.
unsafe impl Send for Client {}

impl Client {
    /// A client over a socket that is connected to `server`. A call without a reply fails after `patience`; the
    /// library repeats calls over UDP after 15 s, so less than that keeps it from repeating any.
    ///
    /// # Errors
    /// `NotFound` without the library, `Other` where it makes no handle.
    pub fn over(
        socket: OwnedFd,
        kind: Kind,
        server: SocketAddrV4,
        program: Program,
        argument_bytes: usize,
        patience: Duration,
    ) -> io::Result<Client> {
        let api = api()?;
        let descriptor = api.number(&socket)?;
        let mut address = internet(server);
        let bytes = size_of::<libc::sockaddr_in>() as c_uint;
        let netbuf = Netbuf { most: bytes, bytes, at: (&raw mut address).cast() };
        let create = match kind {
            Kind::Stream => api.clnt_vc_create,
            Kind::Datagrams => api.clnt_dg_create,
        };
        let buffer = buffer_bytes(argument_bytes);
        // SAFETY: the descriptor is open, and the address, which the library copies, lives through the call.
        let handle =
            unsafe { create(descriptor, &raw const netbuf, program.number, program.version, buffer, buffer) };
        let handle = NonNull::new(handle).ok_or_else(|| io::Error::other("libtirpc makes no client"))?;
        let patience = libc::timeval { tv_sec: patience.as_secs() as libc::time_t, tv_usec: 0 };
        Ok(Client { handle, api, patience, socket })
    }

    /// Calls procedure 0 and waits for its reply.
    ///
    /// # Errors
    /// What the library says of the call; `TimedOut` without a reply.
    pub fn null(&mut self) -> io::Result<()> {
        self.call(0, self.api.xdr_void, ptr::null_mut())
    }

    /// Calls procedure 1 with that argument and waits for its reply.
    ///
    /// # Errors
    /// As [`Client::null`]; `InvalidInput` where the argument is over 4 GiB.
    pub fn sink(&mut self, argument: &mut [u8]) -> io::Result<()> {
        let bytes = c_uint::try_from(argument.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mut opaque = Opaque { at: argument.as_mut_ptr(), bytes, most: bytes };
        self.call(1, xdr_opaque, (&raw mut opaque).cast())
    }

    fn call(&mut self, procedure: u32, coder: Coder, argument: *mut c_void) -> io::Result<()> {
        let handle = self.handle.as_ptr();
        // SAFETY: the handle is valid until `drop`; the coder fits the argument, which lives through the call.
        let status = unsafe {
            let call = (*(*handle).ops).call;
            call(handle, procedure, coder, argument, self.api.xdr_void, ptr::null_mut(), self.patience)
        };
        if status == SUCCESS { Ok(()) } else { Err(self.failed(status)) }
    }

    #[cold]
    fn failed(&self, status: c_uint) -> io::Error {
        /// `RPC_TIMEDOUT` of `enum clnt_stat`.
        const TIMED_OUT: c_uint = 5;
        // SAFETY: it returns a constant string for every status, known or not.
        let text = unsafe { CStr::from_ptr((self.api.clnt_sperrno)(status)) }.to_string_lossy();
        let kind = if status == TIMED_OUT { io::ErrorKind::TimedOut } else { io::ErrorKind::Other };
        io::Error::new(kind, format!("libtirpc: {text}"))
    }

    /// The socket.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let handle = self.handle.as_ptr();
        // SAFETY: the handle is valid and is not used again; it does not close the socket, which `self` owns.
        unsafe { ((*(*handle).ops).destroy)(handle) };
    }
}

/// What a call was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    /// Procedure 0.
    Null,
    /// Procedure 1 with an argument of that many bytes.
    Sink(usize),
    /// The client has closed.
    Gone,
}

/// A server of the library over one socket.
///
/// The library frees its handle and closes its descriptor by itself when a connection ends and does not
/// say so. Therefore it gets a descriptor of its own, and the handle is never freed here: it goes with
/// the process, which ends with its cell.
pub struct Server {
    api: &'static Api,
    kind: Kind,
    /// The library's descriptor; `None` once the connection is over.
    descriptor: Option<c_int>,
    socket: OwnedFd,
}

/// The call that a thread serves: room for its argument, and what it was.
struct Incoming {
    opaque: Opaque,
    served: Option<Result<Served, &'static str>>,
    died: bool,
}

thread_local! {
    static INCOMING: Cell<*mut Incoming> = const { Cell::new(ptr::null_mut()) };
}

/// Serves one call; the library calls it inside `svc_getreq_common`, in the thread that serves.
unsafe extern "C" fn dispatch(request: *const SvcReq, transport: *mut SvcXprt) {
    let (Ok(api), incoming) = (api(), INCOMING.get()) else { return };
    // SAFETY: request and transport are valid during this call, and [`Server::serve`] has set the cell to
    // an `Incoming` of its own, or to null; nobody else uses that meanwhile.
    unsafe {
        let Some(incoming) = incoming.as_mut() else { return };
        let ops = (*transport).ops;
        let served = match (*request).procedure {
            0 => Ok(Served::Null),
            1 if ((*ops).getargs)(transport, xdr_opaque, (&raw mut incoming.opaque).cast()) != 0 => {
                Ok(Served::Sink(incoming.opaque.bytes as usize))
            }
            1 => Err("libtirpc: the argument cannot be decoded, or is too long"),
            _ => Err("libtirpc: no such procedure"),
        };
        let replied = match ((*request).procedure, served) {
            (_, Ok(_)) => (api.svc_sendreply)(transport, api.xdr_void, ptr::null_mut()) != 0,
            (1, Err(_)) => {
                (api.svcerr_decode)(transport);
                true
            }
            (_, Err(_)) => {
                (api.svcerr_noproc)(transport);
                true
            }
        };
        incoming.served = Some(if replied { served } else { Err("libtirpc: the reply could not be sent") });
        // The library looks at this next, and then frees the transport.
        incoming.died = ((*ops).stat)(transport) == DIED;
    }
}

impl Server {
    /// A server over a connected socket.
    ///
    /// # Errors
    /// `NotFound` without the library, `Other` where it makes no handle or does not take the program.
    pub fn over(socket: OwnedFd, kind: Kind, program: Program, argument_bytes: usize) -> io::Result<Server> {
        let api = api()?;
        let theirs = socket.try_clone()?;
        let descriptor = api.number(&theirs)?;
        let buffer = buffer_bytes(argument_bytes);
        let _making = MAKING.lock().unwrap_or_else(PoisonError::into_inner);
        let create = match kind {
            Kind::Stream => api.svc_fd_create,
            Kind::Datagrams => api.svc_dg_create,
        };
        // SAFETY: the descriptor is open and from here on the library's.
        let transport = unsafe { create(descriptor, buffer, buffer) };
        if transport.is_null() {
            return Err(io::Error::other("libtirpc makes no server"));
        }
        let _ = theirs.into_raw_fd();
        // SAFETY: the transport was just made; protocol 0 keeps the port mapper out of it.
        let registered = unsafe {
            (api.svc_register)(transport, program.number.into(), program.version.into(), dispatch, 0)
        };
        if registered == 0 {
            return Err(io::Error::other("libtirpc does not take the program"));
        }
        Ok(Server { api, kind, descriptor: Some(descriptor), socket })
    }

    /// Waits for a call, puts the argument of procedure 1 into `room` and replies.
    ///
    /// # Errors
    /// `TimedOut` where the socket has a receive timeout and nothing came; `InvalidData` where the
    /// call was not one of ours (the library has told the client).
    pub fn serve(&mut self, room: &mut [u8]) -> io::Result<Served> {
        let Some(descriptor) = self.descriptor else { return Ok(Served::Gone) };
        let most = c_uint::try_from(room.len()).unwrap_or(c_uint::MAX);
        let mut incoming =
            Incoming { opaque: Opaque { at: room.as_mut_ptr(), bytes: 0, most }, served: None, died: false };
        INCOMING.set(&raw mut incoming);
        // SAFETY: the descriptor was below the size of the library's table when it was registered. What
        // the library calls back gets at `incoming` by the cell, which is cleared before that goes.
        unsafe { (self.api.svc_getreq_common)(descriptor) };
        INCOMING.set(ptr::null_mut());
        if incoming.died || incoming.served.is_none() && self.kind == Kind::Stream {
            self.descriptor = None;
        }
        match incoming.served {
            Some(served) => served.map_err(|text| io::Error::new(io::ErrorKind::InvalidData, text)),
            None => self.nothing_served(),
        }
    }

    /// Why the library came back without having called us.
    #[cold]
    fn nothing_served(&self) -> io::Result<Served> {
        let peek = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        match (self.kind, recv(self.socket.as_raw_fd(), &mut [0], peek)) {
            (Kind::Stream, Ok(0)) => Ok(Served::Gone),
            (Kind::Datagrams, Err(nix::Error::EAGAIN)) => Err(io::Error::new(
                io::ErrorKind::TimedOut,
                "no call came in time, or one that is not for our program",
            )),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "what came is no call for our program")),
        }
    }

    /// The socket.
    pub fn socket(&self) -> &OwnedFd {
        &self.socket
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The library's descriptor may stay open: the client must see an end all the same.
        let _ = shutdown(self.socket.as_raw_fd(), Shutdown::Both);
    }
}

fn internet(address: SocketAddrV4) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(address.ip().octets()) },
        sin_zero: [0; 8],
    }
}
