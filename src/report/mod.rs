//! Reports: from the journal of a run to text, Markdown and CSV.
//!
//! This room works on yesterday's records. It starts nothing and reads no clock: the same records
//! give the same bytes. [`load`] reads a journal, [`cells`] finds what came of each cell,
//! [`projection`] lays the cells out by row, column and split, [`document`] words the report, and
//! [`text`], [`markdown`] and [`csv`] write it.

pub mod cells;
pub mod csv;
pub mod digits;
pub mod document;
pub mod escape;
pub mod load;
pub mod markdown;
pub mod projection;
pub mod text;
