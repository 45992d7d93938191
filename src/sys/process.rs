//! Processes: the only file that forks. fork(2), prctl(2), _exit(2).
#![allow(unsafe_code)]

use nix::sys::signal::Signal;
use nix::unistd::{ForkResult, Pid};
use std::io;

/// Forks a child that runs `child` and leaves by `_exit` with what it returns.
///
/// Call it only in a process that never had a second thread: the child has just the calling thread,
/// and a lock that another held would stay locked for ever. A panic in the child ends it with 101.
///
/// # Errors
/// fork(2): `EAGAIN` (RLIMIT_NPROC, pids cgroup), `ENOMEM`; `Other` when the process has threads.
pub fn fork(child: impl FnOnce() -> i32) -> io::Result<Pid> {
    let threads = threads().unwrap_or(1);
    if threads > 1 {
        return Err(io::Error::other(format!("will not fork: this process has {threads} threads")));
    }
    // SAFETY: the process has one thread (checked above), so the child may use all of the library.
    match unsafe { nix::unistd::fork() }? {
        ForkResult::Parent { child } => Ok(child),
        ForkResult::Child => {
            let status = std::panic::catch_unwind(std::panic::AssertUnwindSafe(child)).unwrap_or(101);
            exit_now(status)
        }
    }
}

/// How many threads this process has. proc(5), /proc/pid/task.
///
/// # Errors
/// What reading that folder says.
pub fn threads() -> io::Result<usize> {
    std::fs::read_dir("/proc/self/task").map(Iterator::count)
}

/// Ends the process at once: no destructor, no `atexit` handler, no flush.
pub fn exit_now(status: i32) -> ! {
    // SAFETY: _exit(2) does not return and touches no memory of ours.
    unsafe { libc::_exit(status) }
}

/// Lets the kernel kill this process when the thread that started it ends. prctl(2), PR_SET_PDEATHSIG.
/// The kernel forgets this when credentials change, so call it after entering a user namespace.
///
/// # Errors
/// prctl(2); `Other` when the parent is no longer `parent`: it was gone before the call.
pub fn die_with(parent: Pid) -> io::Result<()> {
    nix::sys::prctl::set_pdeathsig(Signal::SIGKILL)?;
    if nix::unistd::getppid() == parent {
        Ok(())
    } else {
        Err(io::Error::other("the process that started this one is gone"))
    }
}

/// Closes every descriptor but those given (sorted). close_range(2); where the kernel lacks it, one by one.
pub fn close_all_but(kept: &[i32]) {
    let mut from: libc::c_uint = 0;
    for keep in kept.iter().map(|descriptor| *descriptor as libc::c_uint).chain([u32::MAX]) {
        if keep > from {
            // SAFETY: the callers own the descriptor table, and no owner of a closed one runs again.
            unsafe { libc::syscall(libc::SYS_close_range, from, keep.saturating_sub(1), 0) };
        }
        from = keep.saturating_add(1);
    }
}
