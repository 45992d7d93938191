//! Published figures, as facts with their table, system and year, to stand beside today's.

use crate::cell::{Axis, Cell, Value};

/// One published figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The table in its source, e.g. `A.2`.
    pub table: String,
    /// The system on which it was measured.
    pub system: String,
    /// The year of publication.
    pub year: String,
    /// The mechanism as it was published.
    pub mechanism: String,
    /// The mechanism of ours beside which it stands.
    pub beside: String,
    /// Values on axes that place it.
    places: Vec<(Axis, Value)>,
    /// The figure, in the unit that our table shows.
    pub value: f64,
}

/// Stevens, UNIX Network Programming, volume 2, second edition (1999), Appendix A; measured in 1998.
const UNPV2: &str = include_str!("unpv2.csv");

/// Every published figure.
pub fn figures() -> Vec<Figure> {
    UNPV2.lines().skip(1).filter_map(parse).collect()
}

/// One line: table, system, year, message_bytes, workers, mechanism, beside, value, unit.
fn parse(line: &str) -> Option<Figure> {
    let fields: Vec<&str> = line.split(',').collect();
    let [table, system, year, message_bytes, workers, mechanism, beside, value, _unit] = fields[..] else {
        return None;
    };
    let place = |axis, text: &str| text.parse().ok().map(|count| (axis, Value::Count(count)));
    Some(Figure {
        table: table.into(),
        system: system.into(),
        year: year.into(),
        mechanism: mechanism.into(),
        beside: beside.into(),
        places: place(Axis::MessageBytes, message_bytes)
            .into_iter()
            .chain(place(Axis::Workers, workers))
            .collect(),
        value: value.parse().ok()?,
    })
}

impl Figure {
    /// Whether it stands beside that cell.
    pub fn is_beside(&self, cell: &Cell) -> bool {
        self.beside == cell.mechanism()
            && self.places.iter().all(|(axis, value)| cell.get(*axis) == Some(value))
    }
}

/// The tables that have figures, each once.
pub fn tables() -> Vec<String> {
    let mut tables: Vec<String> = figures().into_iter().map(|figure| figure.table).collect();
    tables.dedup();
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Measure;

    #[test]
    fn every_line_is_a_figure() {
        assert_eq!(figures().len(), UNPV2.lines().count() - 1);
        assert!(figures().iter().all(|figure| figure.value > 0.0));
    }

    #[test]
    fn a_figure_is_found_by_table_mechanism_and_place() {
        let cell = Cell::new(Measure::Bandwidth, "pipe").with(Axis::MessageBytes, Value::Count(65536));
        let found: Vec<f64> =
            figures().iter().filter(|f| f.table == "A.2" && f.is_beside(&cell)).map(|f| f.value).collect();
        assert_eq!(found, [13.7]);
    }
}
