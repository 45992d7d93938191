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
    /// What our table shows then, by the name of the metric.
    pub metric: &'static str,
}

/// Stevens, UNIX Network Programming, volume 2, second edition (1999), Appendix A; measured in 1998.
const UNPV2: &str = include_str!("unpv2.csv");

/// Johnson and Troan, Linux Application Development (1998), 13.1.4; the FreeBSD list arch, July 2007, a median over the runs
/// of each kernel; Kerrisk, The Linux Programming Interface (2010), table 63-9, and his talk of 2006.
const READINESS: &str = include_str!("readiness.csv");

/// Every published figure.
pub fn figures() -> Vec<Figure> {
    [UNPV2, READINESS].iter().flat_map(|text| table(text)).collect()
}

/// The figures of a table: its first line names the columns, and what is the name of an axis places a figure.
fn table(text: &str) -> Vec<Figure> {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let columns = lines.next().unwrap_or_default();
    lines.filter_map(|fields| parse(&columns, &fields)).collect()
}

fn parse(columns: &[&str], fields: &[&str]) -> Option<Figure> {
    let field = |name: &str| fields.get(columns.iter().position(|column| *column == name)?).copied();
    let axes =
        columns.iter().zip(fields).filter(|(column, text)| **column != "mechanism" && !text.is_empty());
    let place = |(column, text): (&&str, &&str)| {
        Some((Axis::named(column)?, text.parse().map_or_else(|_| Value::word(*text), Value::Count)))
    };
    Some(Figure {
        table: field("table")?.into(),
        system: field("system")?.into(),
        year: field("year")?.into(),
        mechanism: field("mechanism")?.into(),
        beside: field("beside")?.into(),
        places: axes.filter_map(place).collect(),
        value: field("value")?.parse().ok()?,
        metric: metric(field("unit")?),
    })
}

/// What our tables must show for a figure in that unit to stand beside it.
fn metric(unit: &str) -> &'static str {
    match unit {
        "calls per select call" => "calls_per_select_call",
        "CPU s per 100000 calls" | "s per 100000 calls" => "cpu_s_per_100000",
        _ => "figure",
    }
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
        assert_eq!(figures().len(), UNPV2.lines().count() - 1 + READINESS.lines().count() - 1);
        assert!(figures().iter().all(|figure| figure.value > 0.0));
    }

    #[test]
    fn words_place_a_figure_as_numbers_do() {
        let cell = |call| {
            Cell::new(Measure::Wait, "select")
                .with(Axis::Descriptors, Value::Count(8192))
                .with(Axis::File, Value::word("dev_null"))
                .with(Axis::Call, Value::word(call))
        };
        let stock = |call| {
            let beside = |figure: &&Figure| figure.table == "FreeBSD-stock" && figure.is_beside(&cell(call));
            figures().iter().filter(beside).map(|figure| figure.value).collect::<Vec<f64>>()
        };
        assert_eq!((stock("first"), stock("second"), stock("many")), (vec![28655.0], vec![28641.0], vec![]));
    }

    #[test]
    fn a_figure_is_found_by_table_mechanism_and_place() {
        let cell = Cell::new(Measure::Bandwidth, "pipe").with(Axis::MessageBytes, Value::Count(65536));
        let found: Vec<f64> =
            figures().iter().filter(|f| f.table == "A.2" && f.is_beside(&cell)).map(|f| f.value).collect();
        assert_eq!(found, [13.7]);
    }
}
