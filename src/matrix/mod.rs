//! Matrix files.
