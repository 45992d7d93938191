//! Small, documented wrappers of what the libraries leave to us. Here stands the `unsafe` of the
//! program; each file allows it for itself and gives the reason at each block.

pub mod affinity;
pub mod descriptor;
#[cfg(any(target_os = "illumos", target_os = "solaris", ipcmatrix_check_doors))]
pub mod door;
pub mod failing_close;
pub mod futex;
pub mod leftovers;
pub mod memory;
pub mod passing;
pub mod poll;
pub mod ports;
pub mod process;
pub mod pthread;
pub mod ring;
pub mod seccomp;
mod atomics {
    //! What `sleeper.rs` is built on; its model test puts the model's own in their place.
    pub use std::sync::atomic::{AtomicU32, Ordering, fence};
}
pub mod named_memory;
pub mod semaphore;
pub mod signal;
mod sleeper;
pub mod sysv;
pub mod thread_local;
pub mod tirpc;
pub mod uring;

use std::error::Error;
use std::io;

/// The error that a C library function left in `errno` when it returned -1; else the value.
#[inline]
fn check(returned: libc::c_int) -> io::Result<libc::c_int> {
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

/// The error that a pthread function returned, which leaves `errno` alone.
fn check_code(code: libc::c_int) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code)) }
}

/// The error with what the loader said, which stands in its source.
fn in_full(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"))
}
