//! Doors of Solaris and illumos: a thread of the server runs a procedure for the caller's. door_create(3C),
//! door_call(3C), door_return(3C).
//!
//! Compiled, not run: on other systems only `--cfg ipcmatrix_check_doors` compiles this file, so that it
//! does not rot, and nothing links it.
#![allow(unsafe_code)]

use super::check;
use libc::{c_char, c_int, c_uint, c_void, size_t};
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::slice;

/// `door_arg_t`: argument of a call, and its result afterwards. door_call(3C).
#[repr(C)]
struct DoorArg {
    data_ptr: *mut c_char,
    data_size: size_t,
    /// Descriptors (`door_desc_t`), which are never passed here.
    desc_ptr: *mut c_void,
    desc_num: c_uint,
    /// Where the result is to be put; another mapping where it did not fit.
    rbuf: *mut c_char,
    rsize: size_t,
}

/// `door_server_procedure_t`. door_create(3C).
type ServerProcedure = extern "C" fn(
    cookie: *mut c_void,
    argument: *mut c_char,
    argument_bytes: size_t,
    descriptors: *mut c_void,
    descriptor_count: c_uint,
);

unsafe extern "C" {
    fn door_create(procedure: ServerProcedure, cookie: *mut c_void, attributes: c_uint) -> c_int;
    fn door_call(door: c_int, argument: *mut DoorArg) -> c_int;
    fn door_return(data: *mut c_char, bytes: size_t, descriptors: *mut c_void, count: c_uint) -> c_int;
}

/// What runs when a door is called, in a thread that the C library keeps for it.
pub trait Procedure: Sync {
    /// Looks at the argument and gives the reply: one byte, or `None` for an empty one. A panic ends the process.
    fn serve(&self, argument: &[u8]) -> Option<u8>;
}

/// Opens a door of the calling process: a fork(2) later its child could not serve it.
///
/// # Errors
/// door_create(3C): `EMFILE`.
pub fn create<P: Procedure>(procedure: &'static P) -> io::Result<OwnedFd> {
    let cookie = ptr::from_ref(procedure).cast_mut().cast();
    // SAFETY: `enter::<P>` takes the cookie for what it is, and the procedure lives as long as the process.
    let door = check(unsafe { door_create(enter::<P>, cookie, 0) })?;
    // SAFETY: the call has just made this descriptor, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(door) })
}

/// Calls the door and waits for its reply, which is written into `reply`. Returns the bytes of the reply.
///
/// # Errors
/// door_call(3C): `EBADF` where the server is gone, `EAGAIN`, `EINTR`; `InvalidData` where the reply
/// was longer than `reply`.
#[inline]
pub fn call(door: impl AsFd, argument: &[u8], reply: &mut [u8]) -> io::Result<usize> {
    let place = reply.as_mut_ptr().cast();
    let mut both = DoorArg {
        data_ptr: argument.as_ptr().cast_mut().cast(),
        data_size: argument.len(),
        desc_ptr: ptr::null_mut(),
        desc_num: 0,
        rbuf: place,
        rsize: reply.len(),
    };
    // SAFETY: the argument is only read, and the result area is `reply`, which is borrowed for the call.
    check(unsafe { door_call(door.as_fd().as_raw_fd(), &raw mut both) })?;
    if both.rbuf == place && (both.data_size == 0 || both.data_ptr == place) {
        return Ok(both.data_size);
    }
    // SAFETY: the call mapped this area for a result that did not fit, and left it to the caller.
    unsafe { libc::munmap(both.rbuf.cast(), both.rsize) };
    Err(io::Error::new(io::ErrorKind::InvalidData, "the reply of the door was too long"))
}

/// The server procedure. It ends by door_return(3C), which does not come back: nothing here has a destructor.
extern "C" fn enter<P: Procedure>(
    cookie: *mut c_void,
    argument: *mut c_char,
    argument_bytes: size_t,
    _descriptors: *mut c_void,
    _descriptor_count: c_uint,
) {
    // SAFETY: `create` passed a reference to a `P` that lives for ever, and `P` is `Sync`.
    let procedure = unsafe { &*cookie.cast::<P>() };
    let argument = match argument_bytes {
        0 => &[],
        // SAFETY: the argument lies on this thread's stack until door_return(3C).
        bytes => unsafe { slice::from_raw_parts(argument.cast::<u8>(), bytes) },
    };
    let reply = procedure.serve(argument);
    let mut byte = reply.unwrap_or(0);
    // SAFETY: the byte is copied to the caller before this thread's stack is used again.
    unsafe { door_return((&raw mut byte).cast(), size_t::from(reply.is_some()), ptr::null_mut(), 0) };
    // It came back, so the reply was refused: an empty one frees the caller, who will miss it.
    // SAFETY: an empty reply refers to no memory.
    unsafe { door_return(ptr::null_mut(), 0, ptr::null_mut(), 0) };
}
