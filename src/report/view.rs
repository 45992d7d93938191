//! Another view of tables: some of them, some of their cells, other axes as rows, columns and splits.
//!
//! A view never averages. It lays the same cells out in another way, and what then has no place is refused by
//! [`super::projection`] with the axis and its values.

use super::metric::Metric;
use crate::cell::{Axis, Cell, Value};
use crate::record::Table;
use anyhow::{Result, bail, ensure};

/// Where the classes of machine stand in the report of many runs, in place of an axis that is then printed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machines {
    /// A row a class.
    Rows,
    /// A column a class.
    Columns,
}

/// What is asked for; by default everything, as the matrix has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The tables by their short names; empty for all of them.
    pub tables: Vec<String>,
    /// The axis of the rows in place of the table's own.
    pub row: Option<Axis>,
    /// The axis of the columns likewise.
    pub column: Option<Axis>,
    /// Axes for each of whose values tables are printed apart, beside those that the matrix names.
    pub split: Vec<Axis>,
    /// Where the classes of machine stand; `None` for tables of each.
    pub machines: Option<Machines>,
    /// What is shown.
    pub metric: Metric,
}

impl View {
    /// Whether tables are laid out in another way than the matrix does.
    pub fn turns(&self) -> bool {
        self.row.is_some() || self.column.is_some() || !self.split.is_empty() || self.machines.is_some()
    }

    /// Changes tables to what is asked for. `cell` finds a cell by its number; `keeps` says whether one stays.
    ///
    /// # Errors
    /// A table that does not exist or cannot show the metric, an axis that a table's cells do not have or that stands twice,
    /// and where nothing is left; with what there is.
    pub fn apply<'a>(
        &self,
        tables: &mut Vec<Table>,
        cell: impl Fn(usize) -> &'a Cell,
        keeps: impl Fn(&Cell) -> bool,
    ) -> Result<()> {
        ensure!(!tables.is_empty(), "there is no table in this run: nothing can be chosen of it");
        self.choose(tables)?;
        for table in &mut *tables {
            table.cells.retain(|number| keeps(cell(*number)));
        }
        tables.retain(|table| !table.cells.is_empty());
        ensure!(!tables.is_empty(), "no cell of these tables matches; leave out -f to see them all");
        for table in tables {
            self.turn(table, &cell)?;
        }
        Ok(())
    }

    fn choose(&self, tables: &mut Vec<Table>) -> Result<()> {
        for id in &self.tables {
            let named: Vec<&Table> = tables.iter().filter(|table| table.id == *id).collect();
            ensure!(!named.is_empty(), "there is no table {id:?}, but {}", ids(tables));
            let measures = self.metric.spec().measures;
            if let Some(table) = named.iter().find(|table| !measures.contains(&table.measure)) {
                let (metric, measure) = (self.metric.spec().name, table.measure.name());
                bail!(
                    "table {id:?} shows {measure}, of which there is no {metric}: leave out one of the two"
                );
            }
        }
        if !self.tables.is_empty() {
            tables.retain(|table| self.tables.contains(&table.id));
        }
        Ok(())
    }

    /// Other axes; those of the matrix that are now row or column are split no more.
    fn turn<'a>(&self, table: &mut Table, cell: impl Fn(usize) -> &'a Cell) -> Result<()> {
        if !self.turns() {
            return Ok(());
        }
        for axis in self.row.iter().chain(&self.column).chain(&self.split) {
            let has = table.cells.iter().any(|number| cell(*number).get(*axis).is_some());
            ensure!(
                has,
                "table {:?}: no cell of it has the axis {axis}; choose tables with --table",
                table.id
            );
        }
        (table.row, table.column) = self.row_and_column(table);
        ensure!(
            table.row != table.column,
            "table {:?}: {} would be row and column; name the other with --row or --col",
            table.id,
            table.row
        );
        let (row, column) = (table.row, table.column);
        if let Some(axis) = self.split.iter().find(|axis| [row, column].contains(axis)) {
            bail!("table {:?}: {axis} is row or column already; leave it out of --split", table.id);
        }
        table.split.extend(&self.split);
        let mut seen = Vec::new();
        table.split.retain(|axis| {
            let new = ![row, column].contains(axis) && !seen.contains(axis);
            seen.push(*axis);
            new
        });
        Ok(())
    }

    /// Where one of the two is named and was the other, they change places.
    fn row_and_column(&self, table: &Table) -> (Axis, Axis) {
        match (self.row, self.column) {
            (Some(row), None) if row == table.column => (row, table.row),
            (None, Some(column)) if column == table.row => (table.column, column),
            (row, column) => (row.unwrap_or(table.row), column.unwrap_or(table.column)),
        }
    }

    /// What of a run is shown, for its facts; `filters` are as they were typed. `None` where it is all of it.
    pub fn fact(&self, filters: &[String]) -> Option<String> {
        let mut parts = Vec::new();
        if !self.tables.is_empty() {
            parts.push(format!("tables {}", self.tables.join(", ")));
        }
        parts.extend(filters.iter().map(|filter| format!("cells that match {filter}")));
        parts.extend(self.row.map(|axis| format!("rows by {axis}")));
        parts.extend(self.column.map(|axis| format!("columns by {axis}")));
        parts.extend(self.split.iter().map(|axis| format!("apart by {axis}")));
        parts.extend(self.machines.map(|machines| match machines {
            Machines::Rows => "rows by machine".into(),
            Machines::Columns => "columns by machine".into(),
        }));
        (!parts.is_empty())
            .then(|| format!("{}; what stands here beside it is of the whole run", parts.join("; ")))
    }
}

fn ids(tables: &[Table]) -> String {
    tables.iter().map(|table| format!("{:?}", table.id)).collect::<Vec<_>>().join(", ")
}

/// How to show an axis that has these values and no place of its own.
pub(super) fn advice(axis: Axis, values: &[&Value]) -> String {
    let one = values.first().map_or_else(|| "VALUE".into(), ToString::to_string);
    format!(
        "show each apart with `--split {axis}` (`split` in a matrix), or one alone with `-f {axis}:{one}`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::load::{Run, parse_run};
    use crate::report::projection::project;

    fn run() -> Run {
        parse_run(include_bytes!("../../tests/golden/small.jsonl"), "small").unwrap()
    }

    /// The tables of the small run in that view, or the error of the view or of the projection.
    fn shown(view: &View, keeps: impl Fn(&Cell) -> bool) -> Result<Vec<Table>, String> {
        let mut run = run();
        let cells = run.header.cells.clone();
        let tables = &mut run.header.tables;
        view.apply(tables, |number| &cells[number].cell, keeps).map_err(|error| format!("{error:#}"))?;
        project(&run, view.metric).map_err(|error| format!("{error:#}"))?;
        Ok(run.header.tables)
    }

    fn of_table(id: &str) -> View {
        View { tables: vec![id.into()], ..View::default() }
    }

    #[test]
    fn rows_and_columns_change_places() {
        for view in [
            View { row: Some(Axis::Mechanism), ..of_table("A.2") },
            View { column: Some(Axis::MessageBytes), ..of_table("A.2") },
        ] {
            let tables = shown(&view, |_| true).unwrap();
            assert_eq!((tables[0].row, tables[0].column), (Axis::Mechanism, Axis::MessageBytes));
            assert_eq!(tables[0].split, run().header.tables[0].split, "the rest stays");
        }
    }

    #[test]
    fn an_axis_without_a_place_is_refused_with_its_values_and_a_way_out() {
        let view = View { row: Some(Axis::Placement), ..of_table("A.2") };
        let error = shown(&view, |_| true).unwrap_err();
        assert!(error.contains("message_bytes has the values 1024, "), "{error}");
        assert!(
            error.contains("--split message_bytes") && error.contains("-f message_bytes:1024"),
            "{error}"
        );
        let split = View { split: vec![Axis::MessageBytes], ..view.clone() };
        assert_eq!(shown(&split, |_| true).unwrap()[0].split, [Axis::MessageBytes]);
        let one = |cell: &Cell| cell.count(Axis::MessageBytes) == 1024;
        assert_eq!(shown(&view, one).unwrap()[0].row, Axis::Placement);
    }

    #[test]
    fn what_is_not_there_is_refused_with_what_is() {
        assert!(shown(&of_table("A.9"), |_| true).unwrap_err().contains("no table \"A.9\", but \"A.2\""));
        assert!(shown(&View::default(), |_| false).unwrap_err().contains("no cell of these tables matches"));
        let view = View { row: Some(Axis::Workers), ..of_table("A.2") };
        assert!(shown(&view, |_| true).unwrap_err().contains("no cell of it has the axis workers"));
        let view = View { metric: Metric::LostShare, ..of_table("A.2") };
        assert!(shown(&view, |_| true).unwrap_err().contains("there is no lost_share"));
        let twice = View { row: Some(Axis::Mechanism), column: Some(Axis::Mechanism), ..of_table("A.2") };
        assert!(shown(&twice, |_| true).unwrap_err().contains("row and column"));
        let row = View { split: vec![Axis::Mechanism], ..of_table("A.2") };
        assert!(shown(&row, |_| true).unwrap_err().contains("leave it out of --split"));
    }
}
