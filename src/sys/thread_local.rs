//! Thread-local variables that safe Rust does not have: of the program itself at a place that the linker knows, of a
//! shared object that is loaded at run time, and by a key of the threads library. Ulrich Drepper, "ELF Handling For
//! Thread-Local Storage" (2013), chapter 4; pthread_getspecific(3).
#![allow(unsafe_code)]

use super::{check_code, in_full};
use libloading::Library;
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::ffi::c_void;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads the calling thread's variable.
pub type Read = extern "C" fn() -> u64;

/// Whether [`local_exec`] is written for this machine.
pub const HAS_LOCAL_EXEC: bool =
    cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));

// `#[thread_local]` is not stable, so the variable is defined as a C compiler does it for `__thread`.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
std::arch::global_asm!(
    ".pushsection .tbss.ipcmatrix_local_exec,\"awT\",%nobits",
    ".balign 8",
    ".globl ipcmatrix_local_exec",
    ".hidden ipcmatrix_local_exec",
    ".type ipcmatrix_local_exec,%object",
    ".size ipcmatrix_local_exec,8",
    "ipcmatrix_local_exec:",
    ".zero 8",
    ".popsection",
);

/// Sets the calling thread's variable of the program itself (local-exec: a constant distance from a register).
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub fn set_local_exec(value: u64) {
    // SAFETY: the variable has these 8 bytes in every thread, and no other thread gets at them.
    unsafe {
        std::arch::asm!(
            "mov qword ptr fs:[ipcmatrix_local_exec@tpoff], {}",
            in(reg) value,
            options(nostack, preserves_flags),
        );
    }
}

/// Reads it.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[inline(never)]
pub extern "C" fn local_exec() -> u64 {
    let value;
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "mov {}, qword ptr fs:[ipcmatrix_local_exec@tpoff]",
            out(reg) value,
            options(nostack, preserves_flags, readonly),
        );
    }
    value
}

/// Sets the calling thread's variable of the program itself (local-exec: a constant distance from a register).
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
pub fn set_local_exec(value: u64) {
    // SAFETY: the variable has these 8 bytes in every thread, and no other thread gets at them.
    unsafe {
        std::arch::asm!(
            "mrs {place}, tpidr_el0",
            "add {place}, {place}, :tprel_hi12:ipcmatrix_local_exec",
            "add {place}, {place}, :tprel_lo12_nc:ipcmatrix_local_exec",
            "str {value}, [{place}]",
            place = out(reg) _,
            value = in(reg) value,
            options(nostack, preserves_flags),
        );
    }
}

/// Reads it.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
#[inline(never)]
pub extern "C" fn local_exec() -> u64 {
    let value;
    // SAFETY: as above.
    unsafe {
        std::arch::asm!(
            "mrs {value}, tpidr_el0",
            "add {value}, {value}, :tprel_hi12:ipcmatrix_local_exec",
            "add {value}, {value}, :tprel_lo12_nc:ipcmatrix_local_exec",
            "ldr {value}, [{value}]",
            value = out(reg) value,
            options(nostack, preserves_flags, readonly),
        );
    }
    value
}

/// Not written for this machine ([`HAS_LOCAL_EXEC`]).
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn set_local_exec(_value: u64) {}

/// Not written for this machine ([`HAS_LOCAL_EXEC`]).
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub extern "C" fn local_exec() -> u64 {
    0
}

/// The variable of a shared object that was loaded by dlopen(3).
pub struct Loaded {
    /// Sets the calling thread's.
    pub set: extern "C" fn(u64),
    /// Reads it.
    pub read: Read,
}

/// The shared object as it was compiled with the program; empty where that could not be.
const OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/tls_dlopen.so"));

/// Why there is no shared object; `None` where there is one.
pub const fn no_object() -> Option<&'static str> {
    if OBJECT.is_empty() { Some(env!("IPCMATRIX_NO_OBJECT")) } else { None }
}

/// Loads the shared object, once a process; it is never unloaded.
///
/// # Errors
/// Why it cannot be loaded.
pub fn loaded() -> io::Result<&'static Loaded> {
    static LOADED: OnceLock<Result<Loaded, String>> = OnceLock::new();
    LOADED.get_or_init(load).as_ref().map_err(|text| io::Error::other(text.as_str()))
}

/// From a file in memory, as dlopen(3) wants a name: that of the descriptor in /proc. memfd_create(2).
fn load() -> Result<Loaded, String> {
    let file = memfd_create("ipcmatrix_tls_dlopen", MFdFlags::MFD_CLOEXEC)
        .map_err(|error| format!("memfd_create: {error}"))?;
    let mut file = File::from(file);
    file.write_all(OBJECT).map_err(|error| format!("a file in memory: {error}"))?;
    let name = format!("/proc/self/fd/{}", file.as_raw_fd());
    // SAFETY: the object is ours (operation/tls_dlopen.c) and has nothing to initialise.
    let library = unsafe { Library::new(name) }.map_err(|error| in_full(&error))?;
    // Never unloaded: the functions below point into it.
    let library = Box::leak(Box::new(library));
    // SAFETY: both names are functions of that source, with these types; they are safe to call as long as it is loaded.
    unsafe {
        let set = library.get("ipcmatrix_loaded_set").map_err(|error| in_full(&error))?;
        let read = library.get("ipcmatrix_loaded_read").map_err(|error| in_full(&error))?;
        Ok(Loaded { set: *set, read: *read })
    }
}

/// The key of [`getspecific`]; 0 may be a key too, so it counts once [`set_specific`] made it.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Sets the calling thread's value of a key, which is made by the first call.
///
/// # Errors
/// pthread_key_create(3): `EAGAIN`; pthread_setspecific(3): `ENOMEM`.
pub fn set_specific(value: u64) -> io::Result<()> {
    static MADE: OnceLock<Result<(), i32>> = OnceLock::new();
    let made = *MADE.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key is written there; the values are numbers, so nothing is to be freed when a thread ends.
        let code = unsafe { libc::pthread_key_create(&raw mut key, None) };
        KEY.store(key, Ordering::Relaxed);
        if code == 0 { Ok(()) } else { Err(code) }
    });
    made.map_err(io::Error::from_raw_os_error)?;
    // SAFETY: the key was made above and is never deleted; the value is a number that nobody follows.
    check_code(unsafe { libc::pthread_setspecific(KEY.load(Ordering::Relaxed), value as *const c_void) })
}

/// Reads it; 0 before it was set.
#[inline(never)]
pub extern "C" fn getspecific() -> u64 {
    // SAFETY: for a key that was never made the answer is a null pointer, and nobody follows it.
    unsafe { libc::pthread_getspecific(KEY.load(Ordering::Relaxed)) as u64 }
}
