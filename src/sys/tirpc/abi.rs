//! The types and functions of libtirpc that are called here, as its headers declare them.
#![allow(unsafe_code)]

use crate::sys::in_full;
use libloading::Library;
use nix::sys::resource::{Resource, getrlimit};
use std::ffi::{c_char, c_int, c_uint, c_ulong, c_void};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::OnceLock;

/// The library's file name.
pub const FILE: &str = "libtirpc.so.3";

/// `bool_t`.
pub type Bool = c_int;
/// `xdrproc_t`, which C declares with variable arguments; all are called with these two.
pub type Coder = unsafe extern "C" fn(*mut c_void, *mut c_void) -> Bool;
pub type Dispatch = unsafe extern "C" fn(*const SvcReq, *mut SvcXprt);

/// `struct netbuf`.
#[repr(C)]
pub struct Netbuf {
    pub most: c_uint,
    pub bytes: c_uint,
    pub at: *mut c_void,
}

/// The head of `CLIENT`.
#[repr(C)]
pub struct ClntHandle {
    _auth: *mut c_void,
    pub ops: *const ClntOps,
}

/// `struct clnt_ops`.
#[repr(C)]
pub struct ClntOps {
    pub call: unsafe extern "C" fn(
        *mut ClntHandle,
        u32,
        Coder,
        *mut c_void,
        Coder,
        *mut c_void,
        libc::timeval,
    ) -> c_uint,
    _abort: *const c_void,
    _geterr: *const c_void,
    _freeres: *const c_void,
    pub destroy: unsafe extern "C" fn(*mut ClntHandle),
}

/// The head of `SVCXPRT`.
#[repr(C)]
pub struct SvcXprt {
    _descriptor: c_int,
    _port: u16,
    pub ops: *const SvcOps,
}

/// The head of `struct xp_ops`.
#[repr(C)]
pub struct SvcOps {
    _recv: *const c_void,
    pub stat: unsafe extern "C" fn(*mut SvcXprt) -> c_uint,
    pub getargs: unsafe extern "C" fn(*mut SvcXprt, Coder, *mut c_void) -> Bool,
}

/// The head of `struct svc_req`.
#[repr(C)]
pub struct SvcReq {
    _program: u32,
    _version: u32,
    pub procedure: u32,
}

/// `XPRT_DIED` of `enum xprt_stat`.
pub const DIED: c_uint = 0;
/// `RPC_SUCCESS` of `enum clnt_stat`.
pub const SUCCESS: c_uint = 0;

/// Descriptors from here on are refused: the library indexes its table with them, unchecked.
pub const MOST_DESCRIPTORS: u64 = 1024;
/// The library caps its buffers at this many bytes and takes 64 KiB for streams unless told otherwise.
pub const BUFFER_BYTES: (usize, usize) = (64 << 10, 256 << 10);

/// What is called of the library.
pub struct Api {
    pub clnt_vc_create:
        unsafe extern "C" fn(c_int, *const Netbuf, u32, u32, c_uint, c_uint) -> *mut ClntHandle,
    pub clnt_dg_create:
        unsafe extern "C" fn(c_int, *const Netbuf, u32, u32, c_uint, c_uint) -> *mut ClntHandle,
    pub clnt_sperrno: unsafe extern "C" fn(c_uint) -> *const c_char,
    pub svc_fd_create: unsafe extern "C" fn(c_int, c_uint, c_uint) -> *mut SvcXprt,
    pub svc_dg_create: unsafe extern "C" fn(c_int, c_uint, c_uint) -> *mut SvcXprt,
    pub svc_register: unsafe extern "C" fn(*mut SvcXprt, c_ulong, c_ulong, Dispatch, c_int) -> Bool,
    pub svc_getreq_common: unsafe extern "C" fn(c_int),
    pub svc_sendreply: unsafe extern "C" fn(*mut SvcXprt, Coder, *mut c_void) -> Bool,
    pub svcerr_decode: unsafe extern "C" fn(*mut SvcXprt),
    pub svcerr_noproc: unsafe extern "C" fn(*mut SvcXprt),
    pub xdr_bytes: unsafe extern "C" fn(*mut c_void, *mut *mut u8, *mut c_uint, c_uint) -> Bool,
    pub xdr_void: Coder,
    /// Descriptors must be below this.
    pub descriptors: u64,
}

static API: OnceLock<Result<Api, String>> = OnceLock::new();

/// Loads the library, once, and for good.
///
/// # Errors
/// `NotFound` with what the loader says.
pub fn load() -> io::Result<()> {
    api().map(drop)
}

pub fn api() -> io::Result<&'static Api> {
    let loaded = API.get_or_init(|| {
        // SAFETY: loading runs the initialisers of a system library, which ask nothing of its user.
        let library = unsafe { Library::new(FILE) }.map_err(|error| in_full(&error))?;
        // Never unloaded: handles and the functions below point into it.
        Api::of(Box::leak(Box::new(library))).map_err(|error| in_full(&error))
    });
    loaded.as_ref().map_err(|error| io::Error::new(io::ErrorKind::NotFound, error.as_str()))
}

impl Api {
    fn of(library: &'static Library) -> Result<Api, libloading::Error> {
        let soft = getrlimit(Resource::RLIMIT_NOFILE).map_or(0, |(soft, _)| soft);
        // SAFETY: each name is a function of the library's public headers, and has the type that they
        // declare (`rpc/clnt.h`, `rpc/svc.h`, `rpc/svc_soc.h`, `rpc/xdr.h`).
        unsafe {
            Ok(Api {
                clnt_vc_create: *library.get("clnt_vc_create")?,
                clnt_dg_create: *library.get("clnt_dg_create")?,
                clnt_sperrno: *library.get("clnt_sperrno")?,
                svc_fd_create: *library.get("svc_fd_create")?,
                svc_dg_create: *library.get("svc_dg_create")?,
                svc_register: *library.get("svc_register")?,
                svc_getreq_common: *library.get("svc_getreq_common")?,
                svc_sendreply: *library.get("svc_sendreply")?,
                svcerr_decode: *library.get("svcerr_decode")?,
                svcerr_noproc: *library.get("svcerr_noproc")?,
                xdr_bytes: *library.get("xdr_bytes")?,
                xdr_void: *library.get("xdr_void")?,
                descriptors: soft.min(MOST_DESCRIPTORS),
            })
        }
    }

    /// The descriptor's number, where the library's table has a place for it.
    pub fn number(&self, socket: &OwnedFd) -> io::Result<c_int> {
        let number = socket.as_raw_fd();
        if (number as u64) < self.descriptors {
            return Ok(number);
        }
        Err(io::Error::other(format!("libtirpc takes descriptors below {}, not {number}", self.descriptors)))
    }
}
