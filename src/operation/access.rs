//! What reads a variable, in functions that are not inlined: called once an operation through a pointer whose value the
//! compiler cannot know, so that it can neither take the access out of the loop nor leave it away. This file uses
//! nothing of the program, so that a test can compile it alone and read its machine code.

use std::cell::Cell;
use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads a variable: of all threads, or of the calling one.
pub type Read = extern "C" fn() -> u64;

/// What [`nothing`] returns.
pub const NOTHING: u64 = 1;

/// An empty function: what the others do beside their access.
#[inline(never)]
pub extern "C" fn nothing() -> u64 {
    NOTHING
}

static SHARED: AtomicU64 = AtomicU64::new(0);

/// Sets the variable that all threads share.
pub fn set_shared(value: u64) {
    SHARED.store(black_box(value), Ordering::Relaxed);
}

/// Reads it: a plain load.
#[inline(never)]
pub extern "C" fn shared() -> u64 {
    SHARED.load(Ordering::Relaxed)
}

thread_local! {
    static AT_COMPILE_TIME: Cell<u64> = const { Cell::new(0) };
    static AT_FIRST_ACCESS: Cell<u64> = Cell::new(unset());
}

/// What a variable holds that was never set, told to a thread when it asks.
#[inline(never)]
fn unset() -> u64 {
    black_box(0)
}

/// Sets the calling thread's variable that is initialised when the program is compiled.
pub fn set_at_compile_time(value: u64) {
    AT_COMPILE_TIME.set(value);
}

/// Reads it.
#[inline(never)]
pub extern "C" fn at_compile_time() -> u64 {
    AT_COMPILE_TIME.get()
}

/// Sets the calling thread's variable that is initialised when the thread first gets at it.
pub fn set_at_first_access(value: u64) {
    AT_FIRST_ACCESS.set(value);
}

/// Reads it, after a look whether it is initialised.
#[inline(never)]
pub extern "C" fn at_first_access() -> u64 {
    AT_FIRST_ACCESS.get()
}

/// Reads a variable again and again and adds up what it finds.
pub struct Sum {
    read: Read,
    sum: u64,
}

impl Sum {
    /// Nothing was read yet.
    pub fn of(read: Read) -> Sum {
        Sum { read: black_box(read), sum: 0 }
    }

    /// One access.
    #[inline(always)]
    pub fn add(&mut self) {
        self.sum = self.sum.wrapping_add((self.read)());
    }

    /// The sum since the last call.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.sum)
    }
}
