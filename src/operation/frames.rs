//! Calls between where an error is handled and where it is raised, in functions that are not inlined and have nothing to
//! drop. This file uses nothing of the program, so that a test can compile it alone and read its machine code.

use std::hint::black_box;

/// Hands the error of `raise` up through so many calls; each adds one to what it returns where it is none.
///
/// # Errors
/// What `raise` returned.
#[inline(never)]
pub fn hand_up(depth: u64, raise: fn(u64) -> Result<u64, u64>, value: u64) -> Result<u64, u64> {
    let found = if depth > 1 { hand_up(depth - 1, raise, value)? } else { raise(value)? };
    // The call above is not the last thing that is done, so it stays a call.
    black_box(());
    Ok(found.wrapping_add(1))
}

/// Calls `raise` below so many calls; each adds one to what it returns.
#[inline(never)]
pub fn descend(depth: u64, raise: fn(u64) -> u64, value: u64) -> u64 {
    let found = if depth > 1 { descend(depth - 1, raise, value) } else { raise(value) };
    black_box(());
    found.wrapping_add(1)
}
