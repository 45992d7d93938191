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
    /// What our table shows then, by the name of the metric.
    pub metric: &'static str,
    /// What it was published as, where our table shows something akin.
    pub remark: Option<&'static str>,
    /// The runs of which it is the median, where it is one.
    pub runs: Option<Runs>,
}

/// Runs behind a median.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// How many there are.
    pub count: u64,
    /// The least of them, as it was printed.
    pub least: String,
    /// The greatest.
    pub most: String,
}

/// Stevens, UNIX Network Programming, volume 2, second edition (1999), Appendix A; measured in 1998.
const UNPV2: &str = include_str!("unpv2.csv");

/// Johnson and Troan, Linux Application Development (1998), 13.1.4; the FreeBSD list arch, July 2007, a median over the runs
/// of each kernel; Kerrisk, The Linux Programming Interface (2010), table 63-9, and his talk of 2006.
const READINESS: &str = include_str!("readiness.csv");

/// CatServerRTL: three operations in a program with one thread and with several, with the standard run-time library and with
/// its own, as percent of the first. Neither system nor year is named.
const OPERATIONS: &str = include_str!("operations.csv");

/// CatServerRTL: two threads that log 1,000,000 lines each, by write(2) and by syslogd.
const LOG: &str = include_str!("log.csv");

const TABLES: &[&str] = &[UNPV2, READINESS, OPERATIONS, LOG];

/// Every published figure.
pub fn figures() -> Vec<Figure> {
    TABLES.iter().flat_map(|text| table(text)).collect()
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
    let (metric, remark) = metric(field("unit")?);
    let runs = || {
        let count = field("runs")?.parse().ok()?;
        Some(Runs { count, least: field("least")?.into(), most: field("most")?.into() })
    };
    Some(Figure {
        table: field("table")?.into(),
        system: field("system")?.into(),
        year: field("year")?.into(),
        mechanism: field("mechanism")?.into(),
        beside: field("beside")?.into(),
        places: axes.filter_map(place).collect(),
        value: field("value")?.parse().ok()?,
        printed: field("value")?.to_owned(),
        measure: Measure::named(field("measure")?)?,
        metric,
        remark,
        runs: runs(),
    })
}

/// What CatServerRTL's percentages are of.
const SEVERAL: &str = "published for a program with several threads, which may have been parked or not";
const OTHER_SINGLE: &str = "published in percent of another library: the standard one with one thread";
const OTHER_SINGLE_SEVERAL: &str = "published in percent of another library, the standard one with one thread, for a program with several \
     threads, which may have been parked or not";

/// What our tables must show for a figure in that unit to stand beside it, and what is to be said then.
fn metric(unit: &str) -> (&'static str, Option<&'static str>) {
    match unit {
        "calls per select call" => ("calls_per_select_call", None),
        "CPU s per 100000 calls" => ("cpu_s_per_100000", None),
        "CPU % of the application" => ("app_cpu_percent", None),
        "CPU % of the daemon" => ("daemon_cpu_percent", None),
        "% of the lines lost" => ("lost_percent", None),
        "s per 100000 calls" => (
            "cpu_s_per_100000",
            Some(
                "published in seconds of elapsed time; today's are of CPU time, and the factor is between these two",
            ),
        ),
        "% of single" => ("percent_of_single", None),
        "% of single, several threads" => ("percent_of_single", Some(SEVERAL)),
        "% of the standard single" => ("percent_of_single", Some(OTHER_SINGLE)),
        "% of the standard single, several threads" => ("percent_of_single", Some(OTHER_SINGLE_SEVERAL)),
        _ => ("figure", None),
    }
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
        let lines = |text: &&str| text.lines().count() - 1;
        assert_eq!(figures().len(), TABLES.iter().map(lines).sum::<usize>());
        let may_be_0 = |figure: &Figure| figure.metric == "lost_percent" && figure.value == 0.0;
        assert!(figures().iter().all(|figure| figure.value > 0.0 || may_be_0(figure)));
    }

    #[test]
    fn a_median_lies_within_its_runs() {
        let figures = figures();
        let medians: Vec<(&Figure, &Runs)> =
            figures.iter().filter_map(|figure| Some((figure, figure.runs.as_ref()?))).collect();
        for (figure, runs) in &medians {
            let [least, most] = [&runs.least, &runs.most].map(|text| text.parse::<f64>().unwrap());
            assert!(least <= figure.value && figure.value <= most, "{figure:?}");
        }
        let both_calls: u64 = medians.iter().map(|(_, runs)| runs.count).sum();
        assert_eq!(both_calls, 2 * 28, "each run has a first and a second call");
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
