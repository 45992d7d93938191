//! `plan`: the cells of a matrix, what this machine refuses of them, and the expected time.

use super::arguments::Plan as Arguments;
use super::{WELL, matrices, output, run};
use crate::catalog::Catalog;
use crate::cell::Cell;
use crate::environment::Environment;
use crate::matrix::Matrix;
use crate::measure::stats::{LEAST_VISITS, STEADY_VISITS};
use crate::record::{Effort, PlannedCell, Unavailable};
use crate::runner::{estimate, exact, process};
use anyhow::Result;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

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
    if arguments.amount.exact {
        exact_time(&mut text, &matrix, catalog);
    } else {
        time(&mut text, &matrix, arguments);
    }
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

/// The expected time of a run with the book's counts: one visit a cell, and the cells that take over a minute.
fn exact_time(text: &mut String, matrix: &Matrix, catalog: &Catalog) {
    let available = matrix.cells.iter().filter(|planned| planned.unavailable.is_none());
    let timed: Vec<(&PlannedCell, u64)> = available
        .map(|planned| (planned, exact::expected_ms(&planned.cell, run::rough_op_ns(catalog, planned))))
        .collect();
    let total_ms: u64 = timed.iter().map(|(_, ms)| ms).sum();
    let _ = writeln!(text, "\nthe book's counts, one visit a cell: about {} s in all", total_ms / 1000);
    for (planned, ms) in timed.iter().filter(|(_, ms)| *ms > exact::LONG_MS) {
        let _ = writeln!(
            text,
            "  over a minute: {}: about {} s, with a deadline of its own",
            planned.cell,
            ms / 1000
        );
    }
}

fn time(text: &mut String, matrix: &Matrix, arguments: &Arguments) {
    let quick = arguments.amount.quick;
    let cpus = Environment::read(Path::new("/")).allowed_cpus().len();
    let usual = round_s(matrix, if quick { &Effort::QUICK } else { &Effort::DEFAULT }, cpus);
    let thrifty = round_s(matrix, if quick { &Effort::QUICK } else { &Effort::THRIFTY }, cpus);
    let budget_s = run::budget(&arguments.amount, matrix).as_secs_f64();
    let _ = writeln!(text, "\none round: about {usual:.0} s; budget: {budget_s:.0} s");
    expected(text, usual, thrifty, budget_s, run::full_rounds(&arguments.amount));
    let least_rounds = LEAST_VISITS as f64;
    let least_s = (least_rounds + CALIBRATING) * thrifty;
    let wanted = run::full_rounds(&arguments.amount).min(STEADY_VISITS) as f64;
    if usual == 0.0 || budget_s >= wanted * usual {
        return;
    }
    let _ = if budget_s >= least_s {
        writeln!(
            text,
            "a visit takes fewer and shorter samples than usual, so that every cell gets about {:.0} visits",
            (budget_s / thrifty - CALIBRATING).min(wanted).floor()
        )
    } else {
        writeln!(
            text,
            "too short for {LEAST_VISITS} visits a cell, which an interval needs: use {}a filter, or --budget {least_s:.0}s",
            if quick { "" } else { "--quick, " }
        )
    };
}

/// The first round chooses the sizes of batches, which takes so many rounds more.
const CALIBRATING: f64 = 0.5;

/// From the least to the most that sampling may take. The least: every cell is done when the rounds for all are over, or
/// after the sixth where they do not fit, and a visit takes what it should. The most:
/// some cell does not reach the precision, so that the budget is spent.
fn expected(text: &mut String, usual: f64, thrifty: f64, budget_s: f64, full_rounds: usize) {
    if usual == 0.0 {
        return;
    }
    let fit = full_rounds as f64 * usual <= budget_s;
    let (rounds, round_s) = if fit { (full_rounds, usual) } else { (LEAST_VISITS, thrifty) };
    let least_s = (rounds as f64 + CALIBRATING) * round_s;
    if least_s > budget_s {
        let _ = writeln!(text, "expected time: {budget_s:.0} s (the budget)");
        return;
    }
    let _ = writeln!(
        text,
        "expected time: {least_s:.0} s (every cell precise after {rounds} visits) to {budget_s:.0} s (the budget, as some cell stays \
         wider than the precision)"
    );
}

/// Seconds that a round of the available cells should take.
fn round_s(matrix: &Matrix, effort: &Effort, cpus: usize) -> f64 {
    let available = matrix.cells.iter().filter(|planned| planned.unavailable.is_none());
    available.map(|planned| estimate::visit_ns(&planned.cell, effort, cpus)).sum::<u64>() as f64 / 1e9
}
