//! `plan`: the cells of a matrix, what this machine refuses of them, and the expected time.

use super::arguments::Plan as Arguments;
use super::{WELL, matrices, output, run};
use crate::catalog::Catalog;
use crate::cell::Cell;
use crate::matrix::Matrix;
use crate::record::{Effort, PlannedCell, Unavailable};
use crate::runner::{estimate, process};
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Prints the plan.
///
/// # Errors
/// The user's mistakes.
pub fn plan(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let mut matrix = matrices::select(&arguments.selection, catalog)?;
    let cells: Vec<Cell> = matrix.cells.iter().map(|planned| planned.cell.clone()).collect();
    for (planned, refused) in matrix.cells.iter_mut().zip(process::probe(&cells)?) {
        planned.unavailable = planned.unavailable.take().or(refused);
    }
    let mut text = String::new();
    tables(&mut text, &matrix, arguments.cells);
    refusals(&mut text, &matrix);
    time(&mut text, &matrix, arguments);
    output::print(&text)?;
    Ok(WELL)
}

fn tables(text: &mut String, matrix: &Matrix, name_cells: bool) {
    let _ = writeln!(text, "{}", crate::report::escape::line(&matrix.title));
    for table in &matrix.tables {
        let count = table.cells.len();
        let title = crate::report::escape::line(&table.title);
        let _ = writeln!(text, "\n{}  {title}: {count} cells, {} by {}", table.id, table.row, table.column);
        for (axis, values) in &table.axes {
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "    {axis}: {}", values.join(", "));
        }
        for cell in table.cells.iter().filter(|_| name_cells).map(|index| &matrix.cells[*index]) {
            let mark = if cell.unavailable.is_some() { "unavailable: " } else { "" };
            let _ = writeln!(text, "    - {mark}{}", cell.cell);
        }
    }
}

fn refusals(text: &mut String, matrix: &Matrix) {
    let mut reasons: BTreeMap<&Unavailable, Vec<&PlannedCell>> = BTreeMap::new();
    for planned in &matrix.cells {
        if let Some(unavailable) = &planned.unavailable {
            reasons.entry(unavailable).or_default().push(planned);
        }
    }
    let refused: usize = reasons.values().map(Vec::len).sum();
    let _ = writeln!(text, "\n{} cells, {refused} unavailable on this machine", matrix.cells.len());
    for (unavailable, cells) in reasons {
        let more = if cells.len() > 1 { format!(" and {} more", cells.len() - 1) } else { String::new() };
        let _ = writeln!(text, "  {}{more}: {}", cells[0].cell, unavailable.reason);
        let _ = writeln!(text, "    remedy: {}", unavailable.remedy);
    }
}

fn time(text: &mut String, matrix: &Matrix, arguments: &Arguments) {
    let quick = arguments.amount.quick;
    let effort = if quick { Effort::QUICK } else { Effort::DEFAULT };
    let available = matrix.cells.iter().filter(|planned| planned.unavailable.is_none());
    let round_s =
        available.map(|planned| estimate::visit_ns(&planned.cell, &effort)).sum::<u64>() as f64 / 1e9;
    let budget_s = run::budget(arguments.amount.budget, quick, matrix).as_secs_f64();
    let _ = writeln!(text, "\none round: about {round_s:.0} s; budget: {budget_s:.0} s");
    if round_s > 0.0 && budget_s < 6.0 * round_s {
        let rounds = (budget_s / round_s).floor();
        let _ = writeln!(
            text,
            "that is {rounds:.0} visits a cell, too few for an interval (6): use --quick, a filter, or --budget {:.0}s",
            (7.0 * round_s).ceil()
        );
    }
}
