//! Memory that workers share, and page-aligned buffers. mmap(2).
#![allow(unsafe_code)]

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// Anonymous pages, unmapped on drop.
struct Pages {
    start: NonNull<c_void>,
    bytes: NonZeroUsize,
}

impl Pages {
    fn map(bytes: usize, sharing: MapFlags) -> io::Result<Pages> {
        let bytes = NonZeroUsize::new(bytes.max(1)).expect("at least 1");
        let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory of ours.
        let start = unsafe { mmap_anonymous(None, bytes, protection, sharing) }?;
        Ok(Pages { start, bytes })
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: the pages were mapped by `map` with this length, and their owner goes away.
        // A failure would leave them mapped, which harms nobody, so it is not looked at.
        let _ = unsafe { munmap(self.start, self.bytes.get()) };
    }
}

/// Keeps its value on cache lines of its own. 128 bytes, since the hardware fetches lines in pairs.
#[repr(C, align(128))]
pub(super) struct Line<T>(pub(super) T);

#[repr(C)]
struct Lines<A, B> {
    first: Line<A>,
    second: Line<B>,
}

/// Two values in one mapping that forked children share, each on its own cache lines.
///
/// A forked child leaves by `_exit`, so only the process that built the pair drops it.
pub struct SharedPair<A, B> {
    pages: Pages,
    values: NonNull<Lines<A, B>>,
}

// SAFETY: the pair gives out shared references only, so it may be used wherever both values may.
unsafe impl<A: Sync, B: Sync> Sync for SharedPair<A, B> {}
// SAFETY: the mapping is not tied to the thread that made it.
unsafe impl<A: Send, B: Send> Send for SharedPair<A, B> {}

impl<A, B> SharedPair<A, B> {
    /// Maps the pages, builds `A` in place and moves `second` in.
    ///
    /// # Errors
    /// mmap(2) (`ENOMEM`), or what `build` returns.
    pub fn build(
        build: impl FnOnce(&mut MaybeUninit<A>) -> io::Result<()>,
        second: B,
    ) -> io::Result<SharedPair<A, B>> {
        const { assert!(align_of::<Lines<A, B>>() <= 4096) };
        let pages = Pages::map(size_of::<Lines<A, B>>(), MapFlags::MAP_SHARED)?;
        let values: NonNull<Lines<A, B>> = pages.start.cast();
        // SAFETY: the mapping is large enough and page-aligned, nobody else knows it yet, and
        // `Line<A>` has its value at offset 0 (`repr(C)`), so the place of `A` may be lent as uninitialised.
        build(unsafe { &mut *(&raw mut (*values.as_ptr()).first).cast::<MaybeUninit<A>>() })?;
        // SAFETY: as above; the place of `B` is written before anybody reads it.
        unsafe { (&raw mut (*values.as_ptr()).second).write(Line(second)) };
        Ok(SharedPair { pages, values })
    }

    /// The value that was built in place.
    pub fn first(&self) -> &A {
        // SAFETY: `build` initialised it, and it lives as long as `self.pages`.
        unsafe { &(*self.values.as_ptr()).first.0 }
    }

    /// The value that was moved in.
    pub fn second(&self) -> &B {
        // SAFETY: `build` initialised it, and it lives as long as `self.pages`.
        unsafe { &(*self.values.as_ptr()).second.0 }
    }
}

impl<A, B> Drop for SharedPair<A, B> {
    fn drop(&mut self) {
        // SAFETY: both values are initialised, are dropped once, and the pages outlive this call.
        unsafe { self.values.drop_in_place() };
        let _ = &self.pages;
    }
}

/// A page-aligned private buffer, every page of it touched.
pub struct PageBuffer {
    pages: Pages,
}

// SAFETY: the buffer is plain memory that it owns alone.
unsafe impl Send for PageBuffer {}

impl PageBuffer {
    /// A buffer of that many bytes, zeroed, every page written once so that no fault falls into a batch.
    ///
    /// # Errors
    /// mmap(2) (`ENOMEM`).
    pub fn touched(bytes: usize) -> io::Result<PageBuffer> {
        let mut buffer = PageBuffer { pages: Pages::map(bytes, MapFlags::MAP_PRIVATE)? };
        buffer.fill(0);
        Ok(buffer)
    }
}

impl Deref for PageBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        // SAFETY: the pages are mapped readable for their whole length and owned by `self`.
        unsafe { std::slice::from_raw_parts(self.pages.start.as_ptr().cast(), self.pages.bytes.get()) }
    }
}

impl DerefMut for PageBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the pages are mapped writable for their whole length and owned by `self` alone.
        unsafe { std::slice::from_raw_parts_mut(self.pages.start.as_ptr().cast(), self.pages.bytes.get()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    #[test]
    fn a_pair_is_built_in_place_on_lines_of_its_own_and_dropped_once() {
        struct Counted<'a>(&'a AtomicU64);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let drops = AtomicU64::new(0);
        let pair = SharedPair::build(
            |place| {
                place.write(Counted(&drops));
                Ok(())
            },
            7u64,
        )
        .unwrap();
        let apart = std::ptr::from_ref(pair.second()).addr() - std::ptr::from_ref(pair.first()).addr();
        assert_eq!(*pair.second(), 7);
        assert_eq!(apart, 128);
        drop(pair);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    }

    #[test]
    fn a_buffer_is_page_aligned_and_as_long_as_asked() {
        let mut buffer = PageBuffer::touched(12345).unwrap();
        buffer[12344] = 9;
        assert_eq!(buffer.len(), 12345);
        assert_eq!(buffer.as_ptr().addr() % 4096, 0);
    }
}
