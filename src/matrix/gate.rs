//! `[[gate]]`: what must hold of some cells.

use super::filter::Filter;
use super::mistake::{Mistake, Place, quoted, unknown};
use super::page::{Entry, Page};
use crate::catalog::Catalog;
use crate::cell::{Cell, Measure};
use crate::record::{Gate, Limit, PlannedCell};
use std::collections::BTreeSet;
use toml::de::DeTable;

const KEYS: &[&str] = &["filter", "max", "min", "max_regression"];

/// The units of limits with their size in nanoseconds or bytes a second, and whether it is a rate.
const UNITS: &[(&str, f64, bool)] = &[
    ("ns", 1.0, false),
    ("us", 1e3, false),
    ("ms", 1e6, false),
    ("s", 1e9, false),
    ("B/s", 1.0, true),
    ("kB/s", 1e3, true),
    ("MB/s", 1e6, true),
    ("GB/s", 1e9, true),
];

/// A gate as a file has it, before its cells are known.
#[derive(Debug)]
pub(super) struct Draft {
    place: Place,
    text: String,
    filter: Filter,
    max: Option<Bound>,
    min: Option<Bound>,
    max_regression: Option<f64>,
}

/// A limit and whether it is a rate.
#[derive(Debug)]
struct Bound {
    limit: Limit,
    is_rate: bool,
}

/// The gates of a file; mistakes are noted on the page.
pub(super) fn read(page: &mut Page, root: &DeTable, catalog: &Catalog) -> Vec<Draft> {
    let mut drafts = Vec::new();
    for entry in page.tables(root, "gate") {
        page.check_keys(entry.1, KEYS);
        let expected = "a filter, such as \"mechanism:pipe placement:same_cpu\"";
        let filter = page.need(entry, "filter", expected).and_then(|value| filter(page, value, catalog));
        let max = entry.1.get("max").map(|value| bound(page, value));
        let min = entry.1.get("min").map(|value| bound(page, value));
        let max_regression = entry.1.get("max_regression").map(|value| part(page, value));
        if max.is_none() && min.is_none() && max_regression.is_none() {
            page.note(entry.0, "this gate limits nothing: expected `max`, `min` or `max_regression`");
        }
        let Some((text, filter)) = filter else { continue };
        let (max, min, max_regression) = (max.flatten(), min.flatten(), max_regression.flatten());
        drafts.push(Draft { place: page.place(entry.0), text, filter, max, min, max_regression });
    }
    drafts
}

fn filter(page: &mut Page, value: &Entry, catalog: &Catalog) -> Option<(String, Filter)> {
    let text = page.line(value, 4096)?;
    match Filter::parse(&text, catalog) {
        Ok(filter) => Some((text, filter)),
        Err(message) => {
            page.note(value.span().start, message);
            None
        }
    }
}

/// `"10us"` or `"500MB/s"`.
fn bound(page: &mut Page, value: &Entry) -> Option<Bound> {
    let expected = "a number with a unit, such as \"10us\" or \"500MB/s\"";
    let text = page.string(value, expected)?;
    let (number, unit) =
        text.split_at(text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len()));
    let wrong = match (number.parse::<f64>(), UNITS.iter().find(|(name, ..)| *name == unit.trim())) {
        (Ok(number), Some((_, size, is_rate))) if number > 0.0 && number.is_finite() => {
            let limit = Limit { text: text.to_owned(), value: number * size };
            return Some(Bound { limit, is_rate: *is_rate });
        }
        (Ok(number), None) if number > 0.0 && !unit.is_empty() => {
            let units: Vec<&str> = UNITS.iter().map(|(name, ..)| *name).collect();
            unknown("unit", unit.trim(), &units)
        }
        _ => format!("{} is no limit: expected {expected}, above 0", quoted(text)),
    };
    page.note(value.span().start, wrong);
    None
}

/// `"5%"` as 0.05.
fn part(page: &mut Page, value: &Entry) -> Option<f64> {
    let expected = "a percentage above 0 and at most 1000, such as \"5%\"";
    let text = page.string(value, expected)?;
    let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let percent = percent.filter(|percent| *percent > 0.0 && *percent <= 1000.0);
    if percent.is_none() {
        page.note(value.span().start, format!("{} is no part: expected {expected}", quoted(text)));
    }
    percent.map(|percent| percent / 100.0)
}

/// The gates with their cells. One that watches nothing is a mistake, unless values are `overridden`: then it is dropped.
pub(super) fn resolve(
    drafts: &[Draft],
    cells: &[PlannedCell],
    overridden: bool,
    mistakes: &mut Vec<Mistake>,
) -> Vec<Gate> {
    let mut gates = Vec::new();
    for draft in drafts {
        let own: Vec<usize> =
            (0..cells.len()).filter(|position| draft.filter.matches(&cells[*position].cell)).collect();
        if own.is_empty() {
            if !overridden {
                mistakes.push(draft.place.mistake("this gate watches nothing: no cell matches its filter"));
            }
            continue;
        }
        mistakes.extend(unfit(draft, &own, cells).map(|message| draft.place.mistake(message)));
        let limit = |bound: &Option<Bound>| bound.as_ref().map(|bound| bound.limit.clone());
        gates.push(Gate {
            filter: draft.text.clone(),
            cells: own,
            max: limit(&draft.max),
            min: limit(&draft.min),
            max_regression: draft.max_regression,
        });
    }
    gates
}

/// The gate with the places of those of other cells that it watches: they match its filter and are of a measure that it
/// watches among its own cells, as its limits are in the unit of that.
///
/// # Errors
/// What is wrong with its filter, where it was not read before.
pub fn elsewhere<'a>(
    gate: &Gate,
    own: &[PlannedCell],
    cells: impl IntoIterator<Item = &'a Cell>,
    catalog: &Catalog,
) -> Result<Gate, String> {
    let filter = Filter::parse(&gate.filter, catalog)?;
    let measures: BTreeSet<Option<Measure>> =
        gate.cells.iter().map(|position| own[*position].cell.measure()).collect();
    let watched = |cell: &Cell| filter.matches(cell) && measures.contains(&cell.measure());
    let cells = cells.into_iter().enumerate().filter(|(_, cell)| watched(cell));
    Ok(Gate { cells: cells.map(|(place, _)| place).collect(), ..gate.clone() })
}

/// Why the limits of a gate do not fit its cells.
fn unfit(draft: &Draft, own: &[usize], cells: &[PlannedCell]) -> Option<String> {
    let bounds = || draft.max.iter().chain(&draft.min);
    bounds().next()?;
    let measures: BTreeSet<Measure> =
        own.iter().filter_map(|position| cells[*position].cell.measure()).collect();
    if let [first, second, ..] = measures.iter().collect::<Vec<_>>()[..] {
        return Some(format!(
            "`max` and `min` are for cells of one measure, and this gate watches {} and {}: add `measure:{}` to its filter",
            first.name(),
            second.name(),
            first.name()
        ));
    }
    let measure = *measures.first()?;
    let is_rate = measure == Measure::Bandwidth;
    let wrong = bounds().find(|bound| bound.is_rate != is_rate)?;
    let expected = if is_rate { "a rate, such as \"500MB/s\"" } else { "a time, such as \"10us\"" };
    Some(format!("{} is no limit of {}: expected {expected}", quoted(&wrong.limit.text), measure.name()))
}

#[cfg(test)]
mod tests {
    use crate::catalog::Catalog;
    use crate::matrix::{Matrix, Mistakes, parse};

    const TABLE: &str = "schema = 1\ntitle = \"T\"\n\
        [[table]]\nid = \"a\"\ntitle = \"A\"\nmeasure = \"bandwidth\"\nrow = \"message_bytes\"\ncolumn = \"mechanism\"\nsplit = [\"placement\"]\n\
        axes.mechanism = [\"pipe\", \"tcp\"]\naxes.message_bytes = [\"4K\", \"64K\"]\n\
        [[table]]\nid = \"b\"\ntitle = \"B\"\nmeasure = \"round_trip\"\nrow = \"mechanism\"\ncolumn = \"placement\"\n\
        axes.mechanism = [\"pipe\"]\n";

    fn read(gate: &str) -> Result<Matrix, Mistakes> {
        parse("m.toml", &format!("{TABLE}[[gate]]\n{gate}"), &Catalog::shipped())
    }

    #[track_caller]
    fn refused(gate: &str, line: usize, expected: &str) {
        let mistakes = read(gate).unwrap_err();
        let text = mistakes.to_string();
        assert!(text.starts_with(&format!("m.toml:{line}:")) && text.contains(expected), "{text}");
        assert_eq!(mistakes.0.len(), 1, "{text}");
    }

    #[test]
    fn a_gate_has_its_cells_and_limits_in_base_units() {
        let matrix = read(
            "filter = \"mechanism:pipe measure:bandwidth\"\nmin = \"1.5 GB/s\"\nmax_regression = \"5%\"",
        )
        .unwrap();
        let [gate] = matrix.gates.as_slice() else { panic!("{:?}", matrix.gates) };
        assert_eq!(gate.cells.len(), 4);
        assert!(gate.cells.iter().all(|cell| matrix.cells[*cell].cell.mechanism() == "pipe"));
        let min = gate.min.as_ref().unwrap();
        assert_eq!((min.text.as_str(), min.value, gate.max_regression), ("1.5 GB/s", 1.5e9, Some(0.05)));
        let trip = read("filter = \"measure:round_trip\"\nmax = \"10us\"").unwrap();
        assert_eq!(trip.gates[0].max.as_ref().unwrap().value, 10_000.0);
    }

    #[test]
    fn mistakes_in_a_gate_have_their_line_and_say_what_was_expected() {
        refused("filter = \"mechanism:pip\"\nmax_regression = \"5%\"", 20, "did you mean `pipe`?");
        refused("filter = \"*\"\nmx = \"1s\"\nmax_regression = \"5%\"", 21, "did you mean `max`?");
        refused("filter = \"*\"", 19, "limits nothing: expected `max`, `min` or `max_regression`");
        refused("max_regression = \"5%\"", 19, "the key `filter` is missing");
        refused(
            "filter = \"measure:bandwidth\"\nmin = \"5 Mb/s\"",
            21,
            "unknown unit `Mb/s`; did you mean `MB/s`?",
        );
        for number in ["\"us\"", "\"0us\"", "\"-1us\"", "\"5\"", "\"1.2.3s\"", "7"] {
            refused(&format!("filter = \"measure:round_trip\"\nmax = {number}"), 21, "such as \"10us\"");
        }
        for part in ["\"5\"", "\"0%\"", "\"nan%\"", "\"-5%\"", "\"2000%\"", "5"] {
            refused(&format!("filter = \"*\"\nmax_regression = {part}"), 21, "expected a percentage");
        }
    }

    #[test]
    fn a_limit_is_in_the_unit_of_the_one_measure_that_it_watches() {
        refused("filter = \"*\"\nmax = \"1s\"", 19, "add `measure:bandwidth` to its filter");
        refused(
            "filter = \"measure:bandwidth\"\nmax = \"1s\"",
            19,
            "`1s` is no limit of bandwidth: expected a rate",
        );
        refused("filter = \"measure:round_trip\"\nmax = \"1B/s\"", 19, "expected a time");
        assert!(read("filter = \"*\"\nmax_regression = \"5%\"").is_ok(), "a part is of any measure");
    }

    #[test]
    fn a_gate_that_watches_nothing_is_a_mistake() {
        refused("filter = \"message_bytes:128\"\nmax_regression = \"5%\"", 19, "this gate watches nothing");
    }
}
