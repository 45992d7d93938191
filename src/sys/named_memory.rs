//! Named shared memory whose name is gone as soon as both ends hold it. shm_overview(7).
#![allow(unsafe_code)]

use crate::sys::leftovers::{self, Leftover};
use nix::fcntl::{OFlag, posix_fallocate};
use nix::sys::mman::{shm_open, shm_unlink};
use nix::sys::stat::Mode;
use shared_memory::{Shmem, ShmemConf, ShmemError};
use std::io;
use std::ptr::NonNull;

/// One mapping of an object that another end maps too. Unmapped on drop.
///
/// It never owns the name: [`NamedMemory::both_ends`] has removed that. So a forked child that drops its
/// copy takes nothing away from anybody.
pub struct NamedMemory(Shmem);

// SAFETY: a mapping and a descriptor, neither tied to the thread that made it; it gives out a pointer only,
// and who follows that says why he may.
unsafe impl Send for NamedMemory {}

impl NamedMemory {
    /// Makes an object of that many bytes, all zero, opens it a second time by its name, and removes the name.
    ///
    /// The memory is reserved before anybody touches it: a `/dev/shm` that is full is an error here, where
    /// a page that cannot be had later would be a SIGBUS.
    ///
    /// # Errors
    /// shm_open(3), ftruncate(2), posix_fallocate(3) (`ENOSPC`), mmap(2); `EACCES` or `ENOENT` where
    /// `/dev/shm` is not what it should be.
    pub fn both_ends(bytes: usize) -> io::Result<[NamedMemory; 2]> {
        let name = format!("/ipcmatrix.{}.{}", std::process::id(), leftovers::serial());
        leftovers::announce(&Leftover::SharedMemory(name.clone()))?;
        NamedMemory::both_ends_of(&name, bytes)
    }

    /// As [`NamedMemory::both_ends`], under a name that the guard knows already, or is not to know.
    pub(super) fn both_ends_of(name: &str, bytes: usize) -> io::Result<[NamedMemory; 2]> {
        // The maker owns the name until `set_owner`: where a step fails its drop removes it.
        let mut maker = ShmemConf::new().os_id(name).size(bytes).create().map_err(io_error)?;
        reserve(name, bytes)?;
        let other = ShmemConf::new().os_id(name).open().map_err(io_error)?;
        shm_unlink(name)?;
        maker.set_owner(false);
        if maker.len() < bytes || other.len() < bytes {
            return Err(io::Error::other(format!("{} and {} bytes were mapped", maker.len(), other.len())));
        }
        Ok([NamedMemory(maker), NamedMemory(other)])
    }

    /// Where it is mapped; page-aligned. Valid for the bytes asked for as long as `self` lives.
    pub fn start(&self) -> NonNull<u8> {
        NonNull::new(self.0.as_ptr()).expect("mmap never gives the null page unasked")
    }
}

/// Takes the pages now, through a descriptor of our own, since the library does not lend its one.
fn reserve(name: &str, bytes: usize) -> io::Result<()> {
    let object = shm_open(name, OFlag::O_RDWR, Mode::empty())?;
    let bytes = i64::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
    Ok(posix_fallocate(object, 0, bytes)?)
}

/// The system call's error, which the library keeps as a number.
fn io_error(error: ShmemError) -> io::Error {
    match error {
        ShmemError::MapCreateFailed(code)
        | ShmemError::MapOpenFailed(code)
        | ShmemError::UnknownOsError(code) => io::Error::from_raw_os_error(code as i32),
        ShmemError::MappingIdExists => io::Error::from_raw_os_error(libc::EEXIST),
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(of: &str) -> String {
        format!("/ipcmatrix.test.{}.{of}", std::process::id())
    }

    fn exists(name: &str) -> bool {
        std::path::Path::new("/dev/shm").join(&name[1..]).exists()
    }

    #[test]
    fn both_ends_see_the_same_bytes_and_the_name_is_gone() {
        let name = name("both");
        let [one, two] = NamedMemory::both_ends_of(&name, 5000).unwrap();
        assert!(!exists(&name));
        assert_ne!(one.start(), two.start(), "each end has a mapping of its own");
        // SAFETY: both mappings have 5000 bytes, and no other thread knows them.
        let read = unsafe {
            assert_eq!(two.start().add(4999).read(), 0);
            one.start().add(4999).write(7);
            two.start().add(4999).read()
        };
        assert_eq!(read, 7);
    }

    #[test]
    fn dropping_an_end_leaves_a_namesake_alone() {
        let name = name("namesake");
        let old = NamedMemory::both_ends_of(&name, 100).unwrap();
        let other = ShmemConf::new().os_id(&name).size(100).create().unwrap();
        drop(old);
        assert!(exists(&name), "an end without the name removed it");
        drop(other);
        assert!(!exists(&name));
    }

    #[test]
    fn a_step_that_fails_leaves_no_name() {
        let name = name("large");
        let error = NamedMemory::both_ends_of(&name, 1 << 60).err().expect("nobody has an exbibyte");
        assert!(error.raw_os_error().is_some(), "{error}");
        assert!(!exists(&name));
    }

    #[test]
    fn the_guard_removes_a_name_that_was_left() {
        let name = name("left");
        let mut made = ShmemConf::new().os_id(&name).size(100).create().unwrap();
        made.set_owner(false);
        drop(made);
        assert!(exists(&name));
        Leftover::SharedMemory(name.clone()).remove();
        assert!(!exists(&name));
    }
}
