//! What of a run a report shows: the same words as those of `run`, `plan` and `compare`.

use super::parse_metric;
use crate::cell::{AXES, Axis};
use crate::matrix::unknown;
use crate::report::fleet::machines::MACHINE;
use crate::report::metric::Metric;
use crate::report::view::{Machines, View};
use clap::Args;

/// What can head rows or columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// An axis of the cells.
    Axis(Axis),
    /// The class of machine.
    Machine,
}

impl Heading {
    fn axis(self) -> Option<Axis> {
        match self {
            Heading::Axis(axis) => Some(axis),
            Heading::Machine => None,
        }
    }
}

/// What is shown.
#[derive(Args, Debug, Clone)]
pub struct Shown {
    /// Show this table alone; may be given several times
    #[arg(long, value_name = "ID")]
    pub table: Vec<String>,
    /// What the tables show, from `ipcmatrix list metrics`; csv always has the raw samples
    #[arg(long, value_name = "NAME", default_value = "figure", value_parser = parse_metric)]
    pub metric: Metric,
    /// Axis of the rows, in place of the table's own; for many runs also machine
    #[arg(long, value_name = "AXIS", value_parser = parse_place)]
    pub row: Option<Heading>,
    /// Axis of the columns, in place of the table's own; for many runs also machine
    #[arg(long, value_name = "AXIS", value_parser = parse_place)]
    pub col: Option<Heading>,
    /// Axes for each of whose values the tables are printed apart, beside their own
    #[arg(long, value_name = "AXIS,...", value_delimiter = ',', value_parser = parse_axis)]
    pub split: Vec<Axis>,
    /// Keep the cells that match, as for `run`; several must all match
    #[arg(short, long, value_name = "FILTER", allow_hyphen_values = true)]
    pub filter: Vec<String>,
    /// Put published figures and the ratio to them beside today's
    #[arg(long)]
    pub published: bool,
}

impl Shown {
    /// The tables and axes that are asked for.
    pub fn view(&self) -> View {
        View {
            tables: self.table.clone(),
            row: self.row.and_then(Heading::axis),
            column: self.col.and_then(Heading::axis),
            split: self.split.clone(),
            machines: self.machines(),
            metric: self.metric,
        }
    }

    /// Where the classes of machine stand; as columns where both are asked for, which [`Shown::is_both`] tells.
    fn machines(&self) -> Option<Machines> {
        match (self.row, self.col) {
            (_, Some(Heading::Machine)) => Some(Machines::Columns),
            (Some(Heading::Machine), _) => Some(Machines::Rows),
            _ => None,
        }
    }

    /// Whether the classes of machine would be rows and columns.
    pub fn is_both(&self) -> bool {
        [self.row, self.col] == [Some(Heading::Machine); 2]
    }
}

/// An axis by its name, or the class of machine.
fn parse_place(text: &str) -> Result<Heading, String> {
    if text == MACHINE { Ok(Heading::Machine) } else { parse_axis(text).map(Heading::Axis) }
}

/// An axis by its name, but for the measure, which is that of the table.
fn parse_axis(text: &str) -> Result<Axis, String> {
    let names: Vec<&str> =
        AXES.iter().filter(|spec| spec.axis != Axis::Measure).map(|spec| spec.name).collect();
    Axis::named(text).filter(|axis| *axis != Axis::Measure).ok_or_else(|| unknown("axis", text, &names))
}
