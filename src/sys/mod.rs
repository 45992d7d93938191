//! Safe wrappers.
