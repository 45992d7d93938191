//! System V message queues and semaphores. msgget(2), msgop(2), msgctl(2), semget(2), semop(2), semctl(2).
#![allow(unsafe_code)]

use crate::sys::check;
use crate::sys::leftovers::{self, Leftover};
use std::io;
use std::mem::MaybeUninit;

/// Bytes of the type word that stands before the text of a message (a C `long`).
pub const TYPE_BYTES: usize = size_of::<libc::c_long>();

/// A message queue with a private key, removed on drop.
#[derive(Debug)]
pub struct Queue {
    id: libc::c_int,
    /// Only the maker removes the queue.
    owner: bool,
}

impl Queue {
    /// A new, empty queue.
    ///
    /// # Errors
    /// msgget(2): `ENOSPC` (`kernel.msgmni`), `ENOMEM`.
    pub fn create() -> io::Result<Queue> {
        create_with_key(Leftover::SysvQueue, |key, flags| {
            // SAFETY: msgget takes and returns plain numbers.
            unsafe { libc::msgget(key, flags) }
        })
        .map(|id| Queue { id, owner: true })
    }

    /// A second handle of the queue, which does not remove it.
    pub fn share(&self) -> Queue {
        Queue { id: self.id, owner: false }
    }

    /// Sends a message with that type. `framed` is room for the type word, then the text.
    ///
    /// # Errors
    /// msgsnd(2): `EINVAL` when the text is over `kernel.msgmax`, `WouldBlock` with `IPC_NOWAIT`.
    #[inline]
    pub fn send(&self, kind: libc::c_long, framed: &mut [u8], flags: libc::c_int) -> io::Result<()> {
        framed[..TYPE_BYTES].copy_from_slice(&kind.to_ne_bytes());
        let text_bytes = framed.len() - TYPE_BYTES;
        // SAFETY: `framed` holds the type word and `text_bytes` behind it; the kernel reads them as bytes.
        check(unsafe { libc::msgsnd(self.id, framed.as_ptr().cast(), text_bytes, flags) }).map(drop)
    }

    /// Receives the oldest message of that type behind room for the type word; returns the length of its text.
    ///
    /// # Errors
    /// msgrcv(2): `E2BIG` when the text is longer than the room, `WouldBlock` with `IPC_NOWAIT`.
    #[inline]
    pub fn receive(&self, kind: libc::c_long, framed: &mut [u8], flags: libc::c_int) -> io::Result<usize> {
        let (room, pointer) = (framed[TYPE_BYTES..].len(), framed.as_mut_ptr());
        // SAFETY: `framed` has room for the type word and `room` bytes behind it.
        let got = unsafe { libc::msgrcv(self.id, pointer.cast(), room, kind, flags) };
        if got < 0 { Err(io::Error::last_os_error()) } else { Ok(got as usize) }
    }

    /// Bytes of text that the queue may hold (`msg_qbytes`).
    ///
    /// # Errors
    /// msgctl(2).
    pub fn capacity_bytes(&self) -> io::Result<u64> {
        self.status().map(|status| status.msg_qbytes)
    }

    /// Sets the bytes of text that the queue may hold.
    ///
    /// # Errors
    /// msgctl(2): `EPERM` when over `kernel.msgmnb` without CAP_SYS_RESOURCE.
    pub fn set_capacity_bytes(&self, bytes: u64) -> io::Result<()> {
        let mut status = self.status()?;
        status.msg_qbytes = bytes;
        // SAFETY: `status` is a valid msqid_ds of this queue.
        check(unsafe { libc::msgctl(self.id, libc::IPC_SET, &mut status) }).map(drop)
    }

    fn status(&self) -> io::Result<libc::msqid_ds> {
        let mut status = MaybeUninit::zeroed();
        // SAFETY: msgctl fills the structure that it is given.
        check(unsafe { libc::msgctl(self.id, libc::IPC_STAT, status.as_mut_ptr()) })?;
        // SAFETY: IPC_STAT succeeded; the rest was zeroed, which is valid for plain numbers.
        Ok(unsafe { status.assume_init() })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.owner {
            // SAFETY: IPC_RMID ignores the pointer. A queue that is gone already is what is wanted.
            unsafe { libc::msgctl(self.id, libc::IPC_RMID, std::ptr::null_mut()) };
        }
    }
}

/// A set of one semaphore with a private key, removed on drop.
#[derive(Debug)]
pub struct Semaphore {
    id: libc::c_int,
}

impl Semaphore {
    /// A new semaphore with that value.
    ///
    /// # Errors
    /// semget(2), semctl(2): `ENOSPC` (`kernel.sem`).
    pub fn create(value: libc::c_int) -> io::Result<Semaphore> {
        let id = create_with_key(Leftover::SysvSemaphore, |key, flags| {
            // SAFETY: semget takes and returns plain numbers.
            unsafe { libc::semget(key, 1, flags) }
        })?;
        let semaphore = Semaphore { id };
        // SAFETY: SETVAL takes an int as its fourth argument.
        check(unsafe { libc::semctl(id, 0, libc::SETVAL, value) })?;
        Ok(semaphore)
    }

    /// Adds `change` to the value, waiting while it would fall below 0.
    ///
    /// # Errors
    /// semop(2): `EIDRM`, `EINTR`.
    #[inline]
    pub fn add(&self, change: libc::c_short, flags: libc::c_int) -> io::Result<()> {
        let mut operation = libc::sembuf { sem_num: 0, sem_op: change, sem_flg: flags as libc::c_short };
        // SAFETY: one valid operation is passed, and its count.
        check(unsafe { libc::semop(self.id, &mut operation, 1) }).map(drop)
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        // SAFETY: IPC_RMID takes no fourth argument.
        unsafe { libc::semctl(self.id, 0, libc::IPC_RMID) };
    }
}

/// Makes an object under a key of ours, told to the guard first; takes another key where one is in use.
fn create_with_key(
    leftover: fn(i32) -> Leftover,
    get: impl Fn(libc::key_t, libc::c_int) -> libc::c_int,
) -> io::Result<libc::c_int> {
    const TRIES: usize = 16;
    let mut last = io::Error::other("no key was tried");
    for _ in 0..TRIES {
        let key = leftovers::key(leftovers::serial());
        // A key that exists belongs to somebody else and must not be announced.
        if get(key, 0) != -1 {
            continue;
        }
        leftovers::announce(&leftover(key))?;
        match check(get(key, libc::IPC_CREAT | libc::IPC_EXCL | 0o600)) {
            Ok(id) => return Ok(id),
            Err(error) => last = error,
        }
        if last.raw_os_error() != Some(libc::EEXIST) {
            break;
        }
    }
    Err(last)
}

/// Removes the queue with that key, if there is one.
pub fn remove_queue(key: i32) {
    // SAFETY: plain numbers; IPC_RMID ignores the pointer.
    unsafe {
        let id = libc::msgget(key, 0);
        if id != -1 {
            libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut());
        }
    }
}

/// Removes the semaphore set with that key, if there is one.
pub fn remove_semaphore(key: i32) {
    // SAFETY: plain numbers; IPC_RMID takes no fourth argument.
    unsafe {
        let id = libc::semget(key, 0, 0);
        if id != -1 {
            libc::semctl(id, 0, libc::IPC_RMID);
        }
    }
}
