//! Reports: from the journal of a run to text, Markdown, HTML, pictures and CSV.
//!
//! This room works on yesterday's records. It starts nothing and reads no clock: the same records
//! give the same bytes. [`load`] reads a journal, [`cells`] finds what came of each cell,
//! [`projection`] lays the cells out by row, column and split, [`document`] words the report, and
//! [`text`], [`markdown`], [`html`] and [`csv`] write it; [`plot`] draws the tables that can be drawn.

mod beside;
pub mod blocks;
pub mod cells;
pub mod compared;
pub mod comparison;
pub mod csv;
pub mod digits;
pub mod document;
pub mod escape;
pub mod facts;
pub mod fleet;
pub mod gates;
pub mod html;
pub mod keep;
pub mod load;
pub mod markdown;
pub mod metric;
pub mod net;
pub mod plot;
pub mod projection;
mod raw;
mod relate;
pub mod rows;
mod samples;
mod strata;
pub mod text;
pub mod view;
pub mod warnings;
mod winner;

use metric::Metric;
use warnings::Codes;

/// What a report shows beside what the matrix asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// What the tables show of their cells.
    pub metric: Metric,
    /// Whether published figures stand beside today's, where the matrix names some.
    pub published: bool,
    /// Whether it stands in another document: of what is above the tables, only what a reader needs to trust them.
    pub brief: bool,
    /// Warnings that do not show.
    pub muted: Codes,
}
