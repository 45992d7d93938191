//! What the machine was.
