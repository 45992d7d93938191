//! Seccomp user notification: a system call of one thread is answered by whoever holds its listener.
//! seccomp(2), seccomp_unotify(2).
#![allow(unsafe_code)]

use crate::sys::process;
use nix::sys::wait::{WaitStatus, waitpid};
use std::io;
use std::mem::{offset_of, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// The call that is answered elsewhere: getppid(2), which takes no arguments, with [`MARK`] as its second.
/// Sandboxes let it through, which they do not with a number that was never assigned; without the mark it
/// stays what it is.
const CALL: libc::c_long = libc::SYS_getppid;
const MARK: u32 = 0x6970_6d78;
/// Places of the call's arguments: the number of the request, then the mark.
const REQUEST_PLACE: usize = 0;
const MARK_PLACE: usize = 1;

/// linux/seccomp.h: the two sides wake each other on the CPU they are on. Since Linux 6.6.
const SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP: libc::c_ulong = 1;

/// Exit status of the child that tries: the errno, and this where the filter was taken but the flag was not.
const FLAG_REFUSED: i32 = 0x80;

/// What the kernel refused.
#[derive(Debug)]
pub enum Refused {
    /// To install a filter with a listener, or the sandbox killed who tried.
    Listener(io::Error),
    /// To wake synchronously.
    SynchronousWakeUp(io::Error),
}

/// The end that answers.
#[derive(Debug)]
pub struct Listener(OwnedFd);

/// A call that waits for its answer.
#[derive(Debug)]
pub struct Call {
    id: u64,
    /// The number that the caller passed.
    pub number: u64,
}

/// Makes the call with that number and returns the answer, which is what the filter of this thread gives it;
/// without one it is the parent's process id.
///
/// # Errors
/// `ENOSYS` where the listener is gone.
#[inline]
pub fn call(number: u64) -> io::Result<i64> {
    // SAFETY: getppid(2) looks at no argument, and the filter's answer is a number.
    let returned = unsafe { libc::syscall(CALL, number, u64::from(MARK)) };
    if returned == -1 { Err(io::Error::last_os_error()) } else { Ok(returned) }
}

impl Listener {
    /// Installs the filter for the calling thread, for ever, and returns its listener. The thread gives
    /// up gaining privileges by execve(2) (`PR_SET_NO_NEW_PRIVS`), which an unprivileged one must.
    ///
    /// # Errors
    /// seccomp(2): `ENOSYS` and `EINVAL` where the kernel has no such facility, `EACCES` and `EPERM`
    /// where a sandbox forbids it, `EBUSY` where a filter of a sandbox has a listener already.
    pub fn install() -> io::Result<Listener> {
        nix::sys::prctl::set_no_new_privs()?;
        let mut filter = program();
        let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
        let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
        // SAFETY: the program is valid for the whole call, which copies it.
        let returned = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
        };
        match i32::try_from(returned) {
            // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
            Ok(raw) if raw >= 0 => Ok(Listener(unsafe { OwnedFd::from_raw_fd(raw) })),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Has the two sides wake each other on the CPU they are on, since each sleeps when it has woken the other.
    ///
    /// # Errors
    /// `EINVAL` before Linux 6.6.
    pub fn wake_synchronously(&self) -> io::Result<()> {
        let flags = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
        // SAFETY: this request takes its flags by value.
        let returned = unsafe { libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags) };
        super::check(returned).map(drop)
    }

    /// Waits for a call.
    ///
    /// # Errors
    /// `ENOENT` where the caller died meanwhile, `EINTR`.
    #[inline]
    pub fn receive(&self) -> io::Result<Call> {
        // SAFETY: all zeros is a valid value of a structure of integers; the kernel demands it.
        let mut notification: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the number of the request holds the size of the structure, so the kernel writes no more.
        super::check(unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut notification)
        })?;
        Ok(Call { id: notification.id, number: notification.data.args[REQUEST_PLACE] })
    }

    /// Answers a call: what the caller's system call returns. A value from -4095 to -1 would be an error there.
    ///
    /// # Errors
    /// `ENOENT` where the caller died meanwhile, `EINPROGRESS` where it has its answer already.
    #[inline]
    pub fn answer(&self, call: &Call, value: i64) -> io::Result<()> {
        let mut response = libc::seccomp_notif_resp { id: call.id, val: value, error: 0, flags: 0 };
        // SAFETY: as in `receive`; the kernel reads the structure.
        super::check(unsafe {
            libc::ioctl(self.0.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut response)
        })
        .map(drop)
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<OwnedFd> for Listener {
    fn from(descriptor: OwnedFd) -> Listener {
        Listener(descriptor)
    }
}

/// Tries in a child process whether a filter may be installed, and wakes synchronously.
///
/// # Errors
/// What was refused; fork(2) counts as the first.
pub fn try_in_a_child() -> Result<(), Refused> {
    let child = process::fork(|| match Listener::install().map(|listener| listener.wake_synchronously()) {
        Ok(Ok(())) => 0,
        Ok(Err(error)) => FLAG_REFUSED | error.raw_os_error().unwrap_or(0),
        Err(error) => error.raw_os_error().unwrap_or(libc::EINVAL),
    });
    let waited = child.and_then(|child| Ok(waitpid(child, None)?));
    match waited.map_err(Refused::Listener)? {
        WaitStatus::Exited(_, 0) => Ok(()),
        WaitStatus::Exited(_, status) if status & FLAG_REFUSED != 0 => {
            Err(Refused::SynchronousWakeUp(io::Error::from_raw_os_error(status & !FLAG_REFUSED)))
        }
        WaitStatus::Exited(_, errno) => Err(Refused::Listener(io::Error::from_raw_os_error(errno))),
        status => {
            Err(Refused::Listener(io::Error::other(format!("the process that tried ended: {status:?}"))))
        }
    }
}

/// The filter, in classic BPF: notify on the marked call, allow all others. The architecture is not looked
/// at: it guards nothing, and all code of this thread makes native calls.
fn program() -> [libc::sock_filter; 6] {
    let argument = offset_of!(libc::seccomp_data, args) + MARK_PLACE * size_of::<u64>();
    let low_word = argument + if cfg!(target_endian = "big") { size_of::<u32>() } else { 0 };
    [
        load(offset_of!(libc::seccomp_data, nr)),
        skip_unless(CALL as u32, 3),
        load(low_word),
        skip_unless(MARK, 1),
        give(libc::SECCOMP_RET_USER_NOTIF),
        give(libc::SECCOMP_RET_ALLOW),
    ]
}

/// Loads the 32-bit word at that place of `seccomp_data`.
fn load(place: usize) -> libc::sock_filter {
    instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, place as u32, 0)
}

/// Skips that many instructions unless the word is `value`.
fn skip_unless(value: u32, skipped: u8) -> libc::sock_filter {
    instruction(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value, skipped)
}

/// Ends the filter with that action.
fn give(action: u32) -> libc::sock_filter {
    instruction(libc::BPF_RET | libc::BPF_K, action, 0)
}

fn instruction(code: u32, k: u32, if_false: u8) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt: 0, jf: if_false, k }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Runs `caller` in a thread with the filter, and `server` with its listener here. `None` where the
    /// machine refuses the filter.
    fn with_listener<R: Send>(caller: impl FnOnce() -> R + Send, server: impl FnOnce(Listener)) -> Option<R> {
        let (tell, told) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            let calling = scope.spawn(move || {
                let listener = Listener::install();
                let installed = listener.is_ok();
                tell.send(listener).unwrap();
                installed.then(caller)
            });
            match told.recv().unwrap() {
                Ok(listener) => server(listener),
                Err(error) => eprintln!("not tried: this machine refuses a seccomp listener: {error}"),
            }
            calling.join().unwrap()
        })
    }

    #[test]
    fn the_marked_call_is_answered_by_the_listener() {
        let answers = with_listener(
            || [7, u64::MAX].map(|number| call(number).unwrap()),
            |listener| {
                for wanted in [7, u64::MAX] {
                    let call = listener.receive().unwrap();
                    assert_eq!(call.number, wanted);
                    listener.answer(&call, (wanted >> 1) as i64).unwrap();
                }
            },
        );
        assert!(answers.is_none_or(|answers| answers == [3, i64::MAX]));
    }

    #[test]
    fn no_other_call_is_caught() {
        let parent = std::os::unix::process::parent_id();
        let own = with_listener(
            || {
                // Were one of these caught, this thread would hang: nobody receives.
                // SAFETY: neither call touches memory.
                let near = unsafe { libc::syscall(CALL, 1u64, u64::from(MARK) + 1) };
                // SAFETY: as above: another number with the mark.
                let other = unsafe { libc::syscall(libc::SYS_getpid, 1u64, u64::from(MARK)) };
                std::fs::read("/proc/self/stat").unwrap();
                (near, other, std::os::unix::process::parent_id())
            },
            |listener| {
                let mut polled = [nix::poll::PollFd::new(listener.as_fd(), nix::poll::PollFlags::POLLIN)];
                // The thread's end hangs the listener up; a caught call would be readable.
                nix::poll::poll(&mut polled, 5000u16).unwrap();
                assert_eq!(polled[0].revents().unwrap(), nix::poll::PollFlags::POLLHUP);
            },
        );
        let process = i64::from(std::process::id());
        assert!(own.is_none_or(|own| own == (i64::from(parent), process, parent)));
    }

    #[test]
    fn a_call_whose_listener_is_gone_is_an_error_and_one_without_a_filter_is_not_ours() {
        let gone = with_listener(|| call(5), drop);
        assert!(gone.is_none_or(|gone| gone.is_err_and(|error| error.raw_os_error() == Some(libc::ENOSYS))));
        assert_eq!(call(5).unwrap(), i64::from(std::os::unix::process::parent_id()));
    }
}
