//! The loop. This file uses nothing of the program, so that a test can compile it alone and read its machine code.

/// Does the operation so many times.
///
/// # Errors
/// The first that the operation has; it is not done again then.
#[inline(always)]
pub fn rounds<E>(ops: u64, mut once: impl FnMut() -> Result<(), E>) -> Result<(), E> {
    for _ in 0..ops {
        once()?;
    }
    Ok(())
}
