//! The clock, calibration and statistics: no I/O, no mechanism, no unit of display.

pub mod calibrate;
pub mod canary;
pub mod clock;
pub mod histogram;
pub mod spin;
pub mod stats;
