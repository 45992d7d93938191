//! Published figures, as facts with their table, system and year, to stand beside today's.

use crate::cell::{Axis, Cell, Measure, Value};

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
    /// The figure, in the unit that our table of its measure shows.
    pub value: f64,
    /// The same, as it was printed.
    pub printed: String,
    /// What was measured.
    pub measure: Measure,
}

/// Stevens, UNIX Network Programming, volume 2, second edition (1999), Appendix A; measured in 1998.
const UNPV2: &str = include_str!("unpv2.csv");

/// Every published figure.
pub fn figures() -> Vec<Figure> {
    UNPV2.lines().skip(1).filter_map(parse).collect()
}

/// One line: table, measure, spawn, system, year, message_bytes, workers, mechanism, beside, value, unit.
fn parse(line: &str) -> Option<Figure> {
    let fields: Vec<&str> = line.split(',').collect();
    let [table, measure, spawn, system, year, message_bytes, workers, mechanism, beside, value, _unit] =
        fields[..]
    else {
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
            .chain([(Axis::Spawn, Value::word(spawn))])
            .collect(),
        value: value.parse().ok()?,
        printed: value.to_owned(),
        measure: Measure::named(measure)?,
    })
}

impl Figure {
    /// Whether it stands beside that cell.
    pub fn is_beside(&self, cell: &Cell) -> bool {
        self.beside == cell.mechanism()
            && cell.measure().is_none_or(|measure| measure == self.measure)
            && self.places.iter().all(|(axis, value)| cell.get(*axis) == Some(value))
    }
}

/// The tables that have figures, each once, with what they measured.
pub fn tables() -> Vec<(String, Measure)> {
    let mut tables: Vec<(String, Measure)> =
        figures().into_iter().map(|figure| (figure.table, figure.measure)).collect();
    tables.dedup();
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn every_line_is_a_figure() {
        assert_eq!(figures().len(), UNPV2.lines().count() - 1);
        assert!(figures().iter().all(|figure| figure.value > 0.0));
    }

    #[test]
    fn a_figure_is_found_by_table_mechanism_and_place() {
        let place = |measure, spawn: &str| {
            Cell::new(measure, "pipe")
                .with(Axis::MessageBytes, Value::Count(65536))
                .with(Axis::Spawn, Value::word(spawn))
        };
        let cell = place(Measure::Bandwidth, "processes");
        let found: Vec<f64> =
            figures().iter().filter(|f| f.table == "A.2" && f.is_beside(&cell)).map(|f| f.value).collect();
        assert_eq!(found, [13.7]);
        let elsewhere = [place(Measure::Bandwidth, "threads"), place(Measure::RoundTrip, "threads")];
        assert!(!figures().iter().any(|figure| elsewhere.iter().any(|cell| figure.is_beside(cell))));
    }
}
