//! Locks.
use crate::catalog::Driver;
/// Every lock.
pub const DRIVERS: &[Driver] = &[];
