//! Several matrices as one, for `run A B`.

use super::Matrix;
use crate::cell::Cell;
use crate::record::{PlannedCell, Table};
use std::collections::BTreeMap;

/// One matrix of all tables: equal cells stand once, and so do equal tables.
///
/// A different table whose id is taken gets the name of its matrix in front (`locks-A.4`), and a
/// number behind where that is taken too. The budget is the sum of the budgets that are stated,
/// because the cells add up; a matrix without a budget adds none, and neither does one whose tables
/// were all there already.
pub fn merge(matrices: Vec<Matrix>) -> Matrix {
    let mut merged = Matrix::default();
    let mut positions = BTreeMap::new();
    for matrix in matrices {
        let moved: Vec<usize> = matrix
            .cells
            .into_iter()
            .map(|planned| position(&mut merged.cells, &mut positions, planned))
            .collect();
        for mut gate in matrix.gates {
            gate.cells = gate.cells.iter().map(|position| moved[*position]).collect();
            if !merged.gates.contains(&gate) {
                merged.gates.push(gate);
            }
        }
        let before = merged.tables.len();
        for mut table in matrix.tables {
            table.cells = table.cells.iter().map(|position| moved[*position]).collect();
            add(&mut merged.tables, table, &matrix.name);
        }
        if merged.tables.len() > before {
            join(&mut merged.name, "+", &matrix.name);
            join(&mut merged.title, " + ", &matrix.title);
            merged.budget = match (merged.budget, matrix.budget) {
                (Some(so_far), Some(more)) => Some(so_far.saturating_add(more)),
                (so_far, more) => so_far.or(more),
            };
        }
    }
    merged
}

fn position(
    cells: &mut Vec<PlannedCell>,
    positions: &mut BTreeMap<Cell, usize>,
    planned: PlannedCell,
) -> usize {
    *positions.entry(planned.cell.clone()).or_insert_with(|| {
        cells.push(planned);
        cells.len() - 1
    })
}

fn join(text: &mut String, between: &str, more: &str) {
    if !text.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}

/// Adds a table unless it is there, under an id of its own.
fn add(tables: &mut Vec<Table>, mut table: Table, matrix: &str) {
    let id = table.id.clone();
    let prefixed = format!("{}-{id}", word_of(matrix));
    let mut number = 1;
    while let Some(other) = tables.iter().find(|other| other.id == table.id) {
        if *other == table {
            return;
        }
        table.id = if number == 1 { prefixed.clone() } else { format!("{prefixed}-{number}") };
        number += 1;
    }
    tables.push(table);
}

/// The name of a matrix as part of an id: without folder and ending.
fn word_of(matrix: &str) -> String {
    let file = matrix.rsplit('/').next().unwrap_or(matrix);
    let stem = file.strip_suffix(".toml").unwrap_or(file);
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    stem.chars().map(plain).collect()
}
