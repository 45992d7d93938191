//! A system call that fails: close(2) of a descriptor that is not open, by the C library and without it.
#![allow(unsafe_code)]

use super::check;
use std::io;

/// No descriptor has this number, so nothing that somebody owns is closed. Others that are not open could be
/// opened by somebody in between.
const NOT_OPEN: libc::c_int = -1;

/// By the C library, which leaves the reason in `errno`; what it returns where it does not fail.
///
/// # Errors
/// `EBADF`, always.
#[inline]
pub fn by_library() -> io::Result<libc::c_int> {
    // SAFETY: close(2) of a number that no descriptor has touches nothing.
    check(unsafe { libc::close(NOT_OPEN) })
}

/// Whether [`raw`] is written for this machine.
pub const HAS_RAW: bool =
    cfg!(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")));

/// By the instruction alone: what the kernel returned, `-EBADF`. syscall(2) has the registers.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[inline(never)]
pub fn raw() -> isize {
    let returned;
    // SAFETY: close(2) of a number that no descriptor has touches nothing; the kernel changes rax, rcx and r11 alone.
    unsafe {
        std::arch::asm!(
            "syscall",
            inlateout("rax") libc::SYS_close as isize => returned,
            in("rdi") NOT_OPEN as isize,
            out("rcx") _,
            out("r11") _,
            options(nostack),
        );
    }
    returned
}

/// By the instruction alone: what the kernel returned, `-EBADF`. syscall(2) has the registers.
#[cfg(all(target_os = "linux", target_arch = "aarch64"))]
#[inline(never)]
pub fn raw() -> isize {
    let returned;
    // SAFETY: close(2) of a number that no descriptor has touches nothing; the kernel changes x0 alone.
    unsafe {
        std::arch::asm!(
            "svc 0",
            in("x8") libc::SYS_close as isize,
            inlateout("x0") NOT_OPEN as isize => returned,
            options(nostack),
        );
    }
    returned
}

/// Not written for this machine ([`HAS_RAW`]): what the kernel says of a call that it does not have.
#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
pub fn raw() -> isize {
    -(libc::ENOSYS as isize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_say_that_there_is_no_such_descriptor() {
        assert_eq!(by_library().unwrap_err().raw_os_error(), Some(libc::EBADF));
        let expected = if HAS_RAW { libc::EBADF } else { libc::ENOSYS };
        assert_eq!(raw(), -(expected as isize));
    }
}
