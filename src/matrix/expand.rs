//! Drafts of tables to cells: the product of the axes, less what is excluded.

use super::filter::Filter;
use super::gate;
use super::mistake::{Mistake, Place};
use super::value;
use super::{MOST_CELLS, Matrix};
use crate::catalog::{Catalog, Driver};
use crate::cell::{Axis, Cell, Measure, Value};
use crate::record::{PlannedCell, Table, Unavailable};
use std::collections::{BTreeMap, BTreeSet};

/// A table as a file describes it, before its cells are made.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub place: Place,
    pub id: String,
    pub title: String,
    pub measure: Measure,
    pub row: Axis,
    pub column: Axis,
    pub split: Vec<Axis>,
    pub notes: Vec<String>,
    pub published: Vec<String>,
    pub metric: Option<String>,
    /// The axes that the file names and those that the measure adds.
    pub axes: BTreeMap<Axis, Vec<Value>>,
    /// Positions in [`Document::excludes`].
    pub excludes: Vec<usize>,
}

/// Cells that some tables leave out.
#[derive(Clone, Debug)]
pub(super) struct Exclude {
    pub place: Place,
    pub filter: Filter,
}

/// A matrix file as read, those that it includes with it.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub title: String,
    pub budget: Option<std::time::Duration>,
    pub drafts: Vec<Draft>,
    /// The id of every table, also of one with mistakes.
    pub ids: Vec<(String, Place)>,
    pub excludes: Vec<Exclude>,
    pub gates: Vec<gate::Draft>,
}

impl Draft {
    /// The values of an axis.
    pub fn values(&self, axis: Axis) -> &[Value] {
        self.axes.get(&axis).map_or(&[], Vec::as_slice)
    }

    /// The drivers of the table's mechanisms.
    pub fn drivers(&self, catalog: &Catalog) -> Vec<&'static Driver> {
        let find = |value: &Value| match value {
            Value::Word(word) => catalog.find(self.measure, word),
            Value::Count(_) => None,
        };
        self.values(Axis::Mechanism).iter().filter_map(find).collect()
    }

    /// Whether the table shows each value of the axis apart.
    pub fn shows(&self, axis: Axis) -> bool {
        axis == self.row || axis == self.column || self.split.contains(&axis)
    }

    /// Axes in the order in which cells are made: those of the split change last, then rows, then columns.
    fn order(&self) -> Vec<Axis> {
        let mut order = self.split.clone();
        order.extend([self.row, self.column]);
        order.extend(self.axes.keys().filter(|axis| !self.shows(**axis)));
        order
    }

    /// Cells of the plain product of the axes, as far as a number can say it.
    fn product(&self) -> usize {
        self.axes.values().fold(1, |product: usize, values| product.saturating_mul(values.len()))
    }

    /// Every cell of the product, each once.
    fn cells(&self, catalog: &Catalog) -> Vec<Cell> {
        let mut seen = BTreeSet::new();
        let mut cells = Vec::new();
        for point in points(&self.order(), &self.axes) {
            let mechanism = point.get(&Axis::Mechanism).map(|value| value.to_string()).unwrap_or_default();
            let Some(driver) = catalog.find(self.measure, &mechanism) else { continue };
            let cell = cell_at(driver, &point);
            if seen.insert(cell.clone()) {
                cells.push(cell);
            }
        }
        cells
    }
}

/// One value on each axis.
type Point<'a> = BTreeMap<Axis, &'a Value>;

fn points<'a>(order: &[Axis], axes: &'a BTreeMap<Axis, Vec<Value>>) -> Vec<Point<'a>> {
    let mut points = vec![Point::new()];
    for axis in order {
        let Some(values) = axes.get(axis) else { continue };
        let with = |point: &Point<'a>, value| {
            let mut point = point.clone();
            point.insert(*axis, value);
            point
        };
        points = points.iter().flat_map(|point| values.iter().map(move |value| with(point, value))).collect();
    }
    points
}

/// The cell of a driver: the axes that it has, and its defaults where the point has no value.
fn cell_at(driver: &Driver, point: &Point) -> Cell {
    let mut cell = Cell::new(driver.measure, driver.mechanism);
    for (axis, default) in driver.extra_axes {
        cell.set(*axis, value::trusted(*axis, default));
    }
    for (axis, value) in point.iter().filter(|(axis, _)| driver.has_axis(**axis)) {
        cell.set(*axis, (*value).clone());
    }
    cell
}

/// A cell with other values on some axes, and its driver. Axes that the driver does not have are left out, and those that
/// it has beside them get its defaults.
///
/// # Errors
/// A mechanism that does not do what the cell measures.
pub(super) fn changed(
    cell: &Cell,
    settings: &BTreeMap<Axis, Value>,
    catalog: &Catalog,
) -> Result<(&'static Driver, Cell), String> {
    let mut point: Point = cell.axes().collect();
    point.extend(settings.iter().map(|(axis, value)| (*axis, value)));
    let mechanism = point.get(&Axis::Mechanism).map(|value| value.to_string()).unwrap_or_default();
    let driver = cell.measure().and_then(|measure| catalog.find(measure, &mechanism));
    let driver = driver.ok_or_else(|| format!("{mechanism} has no measure {}", cell.word(Axis::Measure)))?;
    Ok((driver, cell_at(driver, &point)))
}

/// Why no visit of the cell will be made, where the mechanism's reach says so.
pub(super) fn unavailable(driver: &Driver, cell: &Cell) -> Option<Unavailable> {
    let spawn = cell.word(Axis::Spawn);
    // A transport has no axis for its workers: it has two ends.
    let workers = if cell.get(Axis::Workers).is_some() { cell.count(Axis::Workers) } else { 2 };
    let why = driver.reach.refuses(spawn, workers)?;
    let other = if spawn == "threads" { "processes" } else { "threads" };
    let mut remedies = Vec::new();
    if driver.reach.refuses(other, workers).is_none() {
        remedies.push(format!("spawn = \"{other}\""));
    }
    if cell.get(Axis::Workers).is_some() && driver.reach.refuses(spawn, 1).is_none() {
        remedies.push("workers = 1".to_owned());
    }
    Some(Unavailable {
        reason: format!("{} between {spawn}: {why}", driver.mechanism),
        remedy: remedies.join(" or "),
    })
}

/// Makes the cells of every table.
///
/// # Errors
/// Tables whose axes do not fit their mechanisms, too many cells, an exclude that excludes nothing and
/// a table without any cell. The last two are no mistakes when values are `overridden`: such a table
/// is dropped.
pub(super) fn expand(
    name: &str,
    document: Document,
    catalog: &Catalog,
    overridden: bool,
) -> Result<Matrix, Vec<Mistake>> {
    let mut maker = Maker::new(&document.excludes);
    for draft in &document.drafts {
        maker.add(draft, catalog, overridden);
    }
    if !overridden {
        maker.note_idle_excludes();
    }
    if maker.mistakes.is_empty() && maker.tables.is_empty() {
        maker.mistakes.push(Place::outside(name.to_owned()).mistake("no cell is left to measure"));
    }
    let gates = gate::resolve(&document.gates, &maker.cells, overridden, &mut maker.mistakes);
    if !maker.mistakes.is_empty() {
        return Err(maker.mistakes);
    }
    let (title, budget) = (document.title, document.budget);
    Ok(Matrix { name: name.to_owned(), title, budget, tables: maker.tables, cells: maker.cells, gates })
}

/// The tables and cells made so far.
struct Maker<'a> {
    excludes: &'a [Exclude],
    used: Vec<bool>,
    tables: Vec<Table>,
    cells: Vec<PlannedCell>,
    positions: BTreeMap<Cell, usize>,
    mistakes: Vec<Mistake>,
}

impl<'a> Maker<'a> {
    fn new(excludes: &'a [Exclude]) -> Maker<'a> {
        Maker {
            excludes,
            used: vec![false; excludes.len()],
            tables: Vec::new(),
            cells: Vec::new(),
            positions: BTreeMap::new(),
            mistakes: Vec::new(),
        }
    }

    fn add(&mut self, draft: &Draft, catalog: &Catalog, overridden: bool) {
        if self.cells.len() > MOST_CELLS {
            return;
        }
        if draft.product() > MOST_CELLS {
            return self.mistakes.push(too_many(draft));
        }
        if let Err(message) = check_shown_axes(draft, catalog) {
            return self.mistakes.push(draft.place.mistake(message));
        }
        let cells: Vec<Cell> =
            draft.cells(catalog).into_iter().filter(|cell| self.keeps(draft, cell)).collect();
        if !cells.is_empty() {
            let cells = cells.into_iter().map(|cell| self.position(cell, catalog)).collect();
            let mut table = table_of(draft, cells);
            prune_axes(&mut table, &self.cells);
            self.tables.push(table);
            if self.cells.len() > MOST_CELLS {
                self.mistakes.push(too_many(draft));
            }
        } else if !overridden {
            let message = format!("nothing is left of table `{}`: every cell is excluded", draft.id);
            self.mistakes.push(draft.place.mistake(message));
        }
    }

    fn keeps(&mut self, draft: &Draft, cell: &Cell) -> bool {
        let mut keeps = true;
        for position in &draft.excludes {
            if self.excludes[*position].filter.matches(cell) {
                self.used[*position] = true;
                keeps = false;
            }
        }
        keeps
    }

    fn position(&mut self, cell: Cell, catalog: &Catalog) -> usize {
        if let Some(position) = self.positions.get(&cell) {
            return *position;
        }
        let position = self.cells.len();
        self.positions.insert(cell.clone(), position);
        let driver = cell.measure().and_then(|measure| catalog.find(measure, cell.mechanism()));
        let unavailable = driver.and_then(|driver| unavailable(driver, &cell));
        self.cells.push(PlannedCell { cell, unavailable });
        position
    }

    fn note_idle_excludes(&mut self) {
        let idle = self.excludes.iter().zip(&self.used).filter(|(_, used)| !**used);
        let message = "this exclude leaves out nothing: no cell matches its filter";
        self.mistakes.extend(idle.map(|(exclude, _)| exclude.place.mistake(message)));
    }
}

fn too_many(draft: &Draft) -> Mistake {
    draft.place.mistake(format!(
        "with table `{}` the matrix has more than {MOST_CELLS} cells, the most allowed",
        draft.id
    ))
}

/// Rows and columns are axes that every mechanism of the table has: else a cell had no place in it.
fn check_shown_axes(draft: &Draft, catalog: &Catalog) -> Result<(), String> {
    for (role, axis) in [("row", draft.row), ("column", draft.column)] {
        if let Some(driver) = draft.drivers(catalog).iter().find(|driver| !driver.has_axis(axis)) {
            return Err(format!(
                "table `{}` has the {role} axis `{axis}`, but `{}` has no such axis: use it in `split`, \
                 or leave that mechanism out",
                draft.id, driver.mechanism
            ));
        }
    }
    Ok(())
}

fn table_of(draft: &Draft, cells: Vec<usize>) -> Table {
    Table {
        id: draft.id.clone(),
        title: draft.title.clone(),
        measure: draft.measure,
        row: draft.row,
        column: draft.column,
        split: draft.split.clone(),
        notes: draft.notes.clone(),
        published: draft.published.clone(),
        metric: draft.metric.clone(),
        axes: draft.axes.clone().into_iter().collect(),
        cells,
    }
}

/// Drops the values that no cell of the table has, and the axes that have none left.
pub(super) fn prune_axes(table: &mut Table, cells: &[PlannedCell]) {
    let own: Vec<&Cell> = table.cells.iter().map(|position| &cells[*position].cell).collect();
    for (axis, values) in &mut table.axes {
        let there: BTreeSet<&Value> = own.iter().filter_map(|cell| cell.get(*axis)).collect();
        values.retain(|value| there.contains(value));
    }
    table.axes.retain(|(_, values)| !values.is_empty());
    table.split.retain(|axis| own.iter().any(|cell| cell.get(*axis).is_some()));
}
