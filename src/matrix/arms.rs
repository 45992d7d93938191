//! A matrix in two arms: each cell twice, with other values on some axes.

use super::Matrix;
use super::expand::{changed, prune_axes, unavailable};
use super::gate::elsewhere;
use crate::catalog::Catalog;
use crate::cell::{Axis, Cell, Value};
use crate::record::{Gate, PlannedCell, Table};
use std::collections::{BTreeMap, BTreeSet};

/// What an arm sets, an axis each.
pub type Settings = BTreeMap<Axis, Value>;

/// A matrix in two arms.
pub struct Paired {
    /// The cells of arm a, then those of arm b in the same order; the tables of each arm apart.
    pub matrix: Matrix,
    /// Cells that are not compared, with the reason.
    pub left_out: Vec<(Cell, String)>,
}

impl Matrix {
    /// This matrix with the settings of two arms. A mechanism that has not all axes of a cell gets a cell without them, and
    /// one that has others gets their defaults; what thereby becomes the same pair of cells stands once. `alike` says
    /// whether cells that are the same in both arms are compared: where something else differs, or nothing is meant to.
    ///
    /// A cell is left out where a mechanism that an arm sets does not do what it measures, and where both arms are the same
    /// and that is no comparison. Gates watch arm b, the new side, which must hold what they limit; arm a may be what is
    /// to be mended.
    pub fn paired(&self, arms: [&Settings; 2], alike: bool, catalog: &Catalog) -> Paired {
        let mut left_out = Vec::new();
        let mut positions = BTreeMap::new();
        let mut pairs: Vec<[PlannedCell; 2]> = Vec::new();
        let mut moved = Vec::new();
        for planned in &self.cells {
            moved.push(match pair(&planned.cell, arms, alike, catalog) {
                Ok(both) => {
                    let key = both.each_ref().map(|planned| planned.cell.clone());
                    Some(*positions.entry(key).or_insert_with(|| {
                        pairs.push(both);
                        pairs.len() - 1
                    }))
                }
                Err(why) => {
                    left_out.push((planned.cell.clone(), why));
                    None
                }
            });
        }
        let (of_a, of_b): (Vec<_>, Vec<_>) = pairs.into_iter().map(|[a, b]| (a, b)).unzip();
        let count = of_a.len();
        let cells: Vec<PlannedCell> = of_a.into_iter().chain(of_b).collect();
        let tables_of = |arm: usize| {
            let of = |table: &Table| table_of(table, arm, count, &moved, &cells);
            self.tables.iter().map(of).collect::<Vec<Table>>()
        };
        let mut tables = [tables_of(0), tables_of(1)].concat();
        tables.retain(|table| !table.cells.is_empty());
        let gates = self.gates.iter().map(|gate| self.gate_of_b(gate, &cells[count..], catalog)).collect();
        let (name, title, budget) = (self.name.clone(), self.title.clone(), self.budget);
        Paired { matrix: Matrix { name, title, budget, tables, cells, gates }, left_out }
    }

    /// The gate over the cells of arm b, the second half. It watches those that match its filter as they are in that arm, so
    /// that a limit is not held against another mechanism than it was written for; they may be none.
    fn gate_of_b(&self, gate: &Gate, of_b: &[PlannedCell], catalog: &Catalog) -> Gate {
        let cells = of_b.iter().map(|planned| &planned.cell);
        let mut found = elsewhere(gate, &self.cells, cells, catalog)
            .expect("the filter of a gate is read before, with the same catalog");
        found.cells.iter_mut().for_each(|place| *place += of_b.len());
        found
    }
}

fn pair(
    cell: &Cell,
    arms: [&Settings; 2],
    alike: bool,
    catalog: &Catalog,
) -> Result<[PlannedCell; 2], String> {
    let of = |settings: &Settings| -> Result<PlannedCell, String> {
        let (driver, cell) = changed(cell, settings, catalog)?;
        Ok(PlannedCell { unavailable: unavailable(driver, &cell), cell })
    };
    let [a, b] = [of(arms[0])?, of(arms[1])?];
    if a.cell == b.cell && !alike {
        let axes: BTreeSet<&str> = arms.iter().flat_map(|arm| arm.keys()).map(|axis| axis.name()).collect();
        let axes: Vec<&str> = axes.into_iter().collect();
        return Err(format!(
            "both arms give the same cell, as {} makes no difference in it",
            axes.join(" or ")
        ));
    }
    Ok([a, b])
}

/// A table with the cells of one arm.
fn table_of(
    table: &Table,
    arm: usize,
    pairs: usize,
    moved: &[Option<usize>],
    cells: &[PlannedCell],
) -> Table {
    let mut table = table.clone();
    let word = ["a", "b"][arm];
    table.id = format!("{}-{word}", table.id);
    table.title = format!("{}, arm {word}", table.title);
    let mut own: Vec<usize> = Vec::new();
    for pair in table.cells.iter().filter_map(|cell| moved[*cell]) {
        let cell = pair + arm * pairs;
        if !own.contains(&cell) {
            own.push(cell);
        }
    }
    table.cells = own;
    prune_axes(&mut table, cells);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::parse;

    const TEXT: &str = r#"
schema = 1
title = "t"
[[table]]
id = "T"
title = "Bandwidth"
measure = "bandwidth"
row = "message_bytes"
column = "mechanism"
[table.axes]
mechanism = ["pipe", "tcp"]
message_bytes = [1024, 4096]
placement = "same_cpu"
spawn = "processes"
"#;

    fn paired(a: &[(Axis, &str)], b: &[(Axis, &str)], alike: bool) -> Paired {
        paired_of(TEXT, a, b, alike)
    }

    fn paired_of(text: &str, a: &[(Axis, &str)], b: &[(Axis, &str)], alike: bool) -> Paired {
        let catalog = Catalog::shipped();
        let matrix = parse("t.toml", text, &catalog).unwrap();
        let settings = |arm: &[(Axis, &str)]| -> Settings {
            arm.iter().map(|(axis, word)| (*axis, Value::word(*word))).collect()
        };
        matrix.paired([&settings(a), &settings(b)], alike, &catalog)
    }

    #[test]
    fn an_axis_makes_pairs_of_the_cells_that_have_it() {
        let Paired { matrix, left_out } = paired(&[(Axis::Nodelay, "off")], &[(Axis::Nodelay, "on")], false);
        let words: Vec<&str> = matrix.cells.iter().map(|planned| planned.cell.word(Axis::Nodelay)).collect();
        assert_eq!(words, ["off", "off", "on", "on"]);
        assert_eq!(matrix.cells[1].cell.message_bytes(), matrix.cells[3].cell.message_bytes());
        let reasons: Vec<&str> = left_out.iter().map(|(_, why)| why.as_str()).collect();
        assert!(left_out.iter().all(|(cell, _)| cell.mechanism() == "pipe") && reasons.len() == 2);
        assert!(reasons[0].contains("as nodelay makes no difference"), "{reasons:?}");
        let tables: Vec<(&str, &[usize])> =
            matrix.tables.iter().map(|table| (table.id.as_str(), table.cells.as_slice())).collect();
        assert_eq!(tables, [("T-a", &[0, 1][..]), ("T-b", &[2, 3][..])]);
    }

    #[test]
    fn mechanisms_as_arms_stand_once() {
        let Paired { matrix, left_out } =
            paired(&[(Axis::Mechanism, "pipe")], &[(Axis::Mechanism, "tcp")], false);
        let names: Vec<&str> = matrix.cells.iter().map(|planned| planned.cell.mechanism()).collect();
        assert_eq!((names, left_out.len()), (vec!["pipe", "pipe", "tcp", "tcp"], 0));
        assert!(matrix.cells[0].cell.get(Axis::Nodelay).is_none(), "it has no such axis");
        assert!(matrix.cells[2].cell.get(Axis::Nodelay).is_some(), "and this gets the default");
        let none = paired(&[], &[(Axis::Mechanism, "eventfd")], false);
        assert!(none.matrix.cells.is_empty() && none.matrix.tables.is_empty());
        assert!(none.left_out[0].1.contains("eventfd has no measure bandwidth"), "{:?}", none.left_out);
    }

    #[test]
    fn what_is_meant_to_be_alike_is_compared() {
        let Paired { matrix, left_out } = paired(&[], &[], true);
        assert_eq!((matrix.cells.len(), left_out.len()), (8, 0));
        assert_eq!(matrix.cells[..4], matrix.cells[4..]);
    }

    #[test]
    fn gates_watch_what_matches_in_arm_b() {
        let gate = "[[gate]]\nfilter = \"mechanism:pipe\"\nmin = \"1MB/s\"\nmax_regression = \"5%\"\n";
        let watched = |a: &[(Axis, &str)], b: &[(Axis, &str)]| {
            let Paired { matrix, .. } = paired_of(&format!("{TEXT}{gate}"), a, b, true);
            let half = matrix.cells.len() / 2;
            let [gate] = matrix.gates.as_slice() else { panic!("{:?}", matrix.gates) };
            assert!(gate.min.is_some() && gate.max_regression == Some(0.05));
            assert!(gate.cells.iter().all(|cell| *cell >= half), "arm b: {gate:?}");
            gate.cells
                .iter()
                .map(|cell| [cell - half, *cell].map(|cell| matrix.cells[cell].cell.mechanism().to_owned()))
                .collect::<Vec<_>>()
        };
        assert_eq!(watched(&[], &[]), [["pipe", "pipe"], ["pipe", "pipe"]]);
        assert_eq!(watched(&[(Axis::Mechanism, "tcp")], &[]), [["tcp", "pipe"], ["tcp", "pipe"]]);
        assert_eq!(
            watched(&[], &[(Axis::Mechanism, "tcp")]),
            [["", ""]; 0],
            "no limit of pipe is one of tcp"
        );
    }
}
