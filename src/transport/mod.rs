//! Transports.
use crate::catalog::Driver;
/// Every transport.
pub const DRIVERS: &[Driver] = &[];
