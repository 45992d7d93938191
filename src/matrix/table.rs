//! One `[[table]]` of a matrix file.

use super::METRIC_NAMES;
use super::expand::Draft;
use super::mistake::unknown;
use super::page::{Entry, Page};
use super::value;
use crate::catalog::Catalog;
use crate::cell::{AXES, Axis, Measure, Value};
use crate::published;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

pub(super) const KEYS: &[&str] =
    &["id", "title", "measure", "row", "column", "split", "notes", "published", "metric", "axes"];

/// The longest title and the longest note, in bytes.
pub(super) const LONGEST_TITLE: usize = 200;
pub(super) const LONGEST_NOTE: usize = 1000;

/// Something of the file with the byte where it begins.
type At<T> = (usize, T);

/// The axes that `[table.axes]` names.
type Named = BTreeMap<Axis, At<Vec<Value>>>;

/// Reads a table that begins at that byte; `None` where it has mistakes, which the page keeps.
pub(super) fn read(
    page: &mut Page,
    entry: At<&DeTable>,
    id: Option<String>,
    catalog: &Catalog,
) -> Option<Draft> {
    let (at, table) = entry;
    let before = page.mistakes.len();
    page.check_keys(table, KEYS);
    let title = page.need(entry, "title", "a string: the heading of the table");
    let title = title.and_then(|value| page.line(value, LONGEST_TITLE));
    let measure = page.need(entry, "measure", &format!("one of {}", measures().join(", ")));
    let measure = measure.and_then(|value| read_measure(page, value));
    let row = need_axis(page, entry, "row");
    let column = need_axis(page, entry, "column");
    let split = table.get("split").map_or(Some(Vec::new()), |value| axis_list(page, value));
    let notes = table.get("notes").map_or(Some(Vec::new()), |value| note_list(page, value));
    let published =
        table.get("published").map_or(Some(Vec::new()), |value| published_list(page, value, measure));
    let metric = table.get("metric").map_or(Some(None), |value| read_metric(page, value).map(Some));
    let named = page.need(entry, "axes", "[table.axes] with a line for each axis");
    let named = named.and_then(|value| read_axes(page, value, catalog));

    let (measure, named, split) = (measure?, named?, split?);
    let shown = Shown { row: row?, column: column?, split };
    let axes = all_axes(page, at, measure, &named, catalog);
    if check_shown(page, &shown, measure, &axes, catalog) {
        check_unshown(page, at, &shown, &named, &axes);
    }
    let (id, title, notes, published, metric) = (id?, title?, notes?, published?, metric?);
    let split = shown.split.iter().map(|(_, axis)| *axis).collect();
    let (row, column) = (shown.row.1, shown.column.1);
    let (place, excludes) = (page.place(at), Vec::new());
    let draft =
        Draft { place, id, title, measure, row, column, split, notes, published, metric, axes, excludes };
    (page.mistakes.len() == before).then_some(draft)
}

/// The axes that a table shows apart.
struct Shown {
    row: At<Axis>,
    column: At<Axis>,
    split: Vec<At<Axis>>,
}

impl Shown {
    fn all(&self) -> Vec<(&'static str, At<Axis>)> {
        let mut all = vec![("row", self.row), ("column", self.column)];
        all.extend(self.split.iter().map(|axis| ("split", *axis)));
        all
    }
}

fn measures() -> Vec<&'static str> {
    Measure::ALL.iter().map(|measure| measure.name()).collect()
}

/// The names of the axes that a table may name: its measure is fixed.
fn axis_names() -> Vec<&'static str> {
    AXES.iter().filter(|spec| spec.axis != Axis::Measure).map(|spec| spec.name).collect()
}

fn read_measure(page: &mut Page, value: &Entry) -> Option<Measure> {
    let name = page.string(value, &format!("one of {}", measures().join(", ")))?;
    let measure = Measure::named(name);
    if measure.is_none() {
        page.note(value.span().start, unknown("measure", name, &measures()));
    }
    measure
}

fn need_axis(page: &mut Page, entry: At<&DeTable>, key: &str) -> Option<At<Axis>> {
    let expected = format!("the axis whose values are the {key}s, such as \"mechanism\"");
    let value = page.need(entry, key, &expected)?;
    read_axis(page, value, &expected)
}

fn read_axis(page: &mut Page, value: &Entry, expected: &str) -> Option<At<Axis>> {
    let name = page.string(value, expected)?;
    let axis = Axis::named(name).filter(|axis| *axis != Axis::Measure);
    if axis.is_none() {
        page.note(value.span().start, unknown("axis", name, &axis_names()));
    }
    axis.map(|axis| (value.span().start, axis))
}

fn axis_list(page: &mut Page, value: &Entry) -> Option<Vec<At<Axis>>> {
    let expected = "a list of axes, such as [\"placement\"]";
    let elements = page.list(value, expected)?;
    elements.iter().map(|element| read_axis(page, element, expected)).collect()
}

fn note_list(page: &mut Page, value: &Entry) -> Option<Vec<String>> {
    let elements = page.list(value, "a list of strings")?;
    elements.iter().map(|element| page.line(element, LONGEST_NOTE)).collect()
}

/// Published tables of the same measure: others could not stand beside it.
fn published_list(page: &mut Page, value: &Entry, measure: Option<Measure>) -> Option<Vec<String>> {
    let known = published::tables();
    let of_measure = |(_, own): &&(String, Measure)| measure.is_none_or(|measure| measure == *own);
    let known: Vec<&str> = known.iter().filter(of_measure).map(|(table, _)| table.as_str()).collect();
    let elements = page.list(value, "a list of published tables, such as [\"A.2\"]")?;
    let read = |element: &Entry| {
        let name = page.string(element, "the name of a published table")?;
        if known.contains(&name) {
            return Some(name.to_owned());
        }
        page.note(element.span().start, unknown("published table", name, &known));
        None
    };
    elements.iter().map(read).collect()
}

fn read_metric(page: &mut Page, value: &Entry) -> Option<String> {
    let name = page.string(value, "the name of a metric, such as \"ops_per_second\"")?;
    if METRIC_NAMES.contains(&name) {
        return Some(name.to_owned());
    }
    page.note(value.span().start, unknown("metric", name, METRIC_NAMES));
    None
}

fn read_axes(page: &mut Page, value: &Entry, catalog: &Catalog) -> Option<Named> {
    let DeValue::Table(table) = value.get_ref() else {
        page.wrong_type(value, "[table.axes] with a line for each axis");
        return None;
    };
    let mut named = Named::new();
    for (key, value) in table {
        let at = key.span().start;
        match Axis::named(key.get_ref()).filter(|axis| *axis != Axis::Measure) {
            None => page.note(at, unknown("axis", key.get_ref(), &axis_names())),
            Some(axis) => {
                let values = read_values(page, value, axis, catalog);
                named.insert(axis, (at, values.unwrap_or_default()));
            }
        }
    }
    if table.len() == named.len() && named.values().all(|(_, values)| !values.is_empty()) {
        return Some(named);
    }
    None
}

/// The values of an axis: one value, a string with several, or a list.
fn read_values(page: &mut Page, value: &Entry, axis: Axis, catalog: &Catalog) -> Option<Vec<Value>> {
    let expected = value::expected(axis, catalog);
    if !matches!(value.get_ref(), DeValue::Array(_)) {
        let read = |text: &str| value::list(axis, text, catalog);
        return read_scalar(page, value, axis, &expected, read);
    }
    let mut values = Vec::new();
    for element in page.list(value, &expected)? {
        let items = read_scalar(page, element, axis, &expected, |text| value::item(axis, text, catalog));
        for item in items.unwrap_or_default() {
            if let Err(message) = value::push(axis, &mut values, item) {
                page.note(element.span().start, message);
                return None;
            }
        }
    }
    Some(values)
}

fn read_scalar(
    page: &mut Page,
    value: &Entry,
    axis: Axis,
    expected: &str,
    read: impl Fn(&str) -> Result<Vec<Value>, String>,
) -> Option<Vec<Value>> {
    let values = match value.get_ref() {
        DeValue::String(text) => read(text),
        DeValue::Integer(number) if value::takes_numbers(axis) => match number.radix() {
            10 => read(number.as_str()),
            _ => Err(format!("`{number}` is not a decimal number: expected {expected}")),
        },
        _ => {
            page.wrong_type(value, expected);
            return None;
        }
    };
    values.map_err(|message| page.note(value.span().start, message)).ok()
}

/// The named axes and those that the measure adds, after a check that the table has the named ones.
fn all_axes(
    page: &mut Page,
    at: usize,
    measure: Measure,
    named: &Named,
    catalog: &Catalog,
) -> BTreeMap<Axis, Vec<Value>> {
    check_mechanisms(page, at, measure, named, catalog);
    let mut axes: BTreeMap<Axis, Vec<Value>> =
        named.iter().map(|(axis, (_, values))| (*axis, values.clone())).collect();
    let own = axes_of(measure, &axes, catalog);
    for (axis, (at, _)) in named {
        if !own.contains(axis) {
            let message =
                format!("neither {} nor a mechanism of this table has the axis `{axis}`", measure.name());
            page.note(*at, format!("{message}. Allowed: {}", names(&own)));
        }
    }
    for (axis, defaults) in measure.axes() {
        if !axes.contains_key(axis) && defaults.is_empty() {
            let message = format!("the axis `{axis}` is missing in [table.axes]: expected ");
            page.note(at, message + &value::expected(*axis, catalog));
        }
        let defaults = || defaults.iter().map(|text| value::trusted(*axis, text)).collect();
        axes.entry(*axis).or_insert_with(defaults);
    }
    axes
}

fn check_mechanisms(page: &mut Page, at: usize, measure: Measure, named: &Named, catalog: &Catalog) {
    let able: Vec<&str> =
        catalog.drivers().filter(|driver| driver.measure == measure).map(|driver| driver.mechanism).collect();
    let Some((at, mechanisms)) = named.get(&Axis::Mechanism) else {
        let message =
            format!("the axis `mechanism` is missing in [table.axes]: expected some of {}", able.join(", "));
        return page.note(at, message);
    };
    for mechanism in mechanisms.iter().map(Value::to_string) {
        if !able.contains(&mechanism.as_str()) {
            let message =
                format!("`{mechanism}` has no measure `{}`. Allowed: {}", measure.name(), able.join(", "));
            page.note(*at, message);
        }
    }
}

/// The axes that a table of these mechanisms has, in printing order.
fn axes_of(measure: Measure, axes: &BTreeMap<Axis, Vec<Value>>, catalog: &Catalog) -> Vec<Axis> {
    let mechanisms = axes.get(&Axis::Mechanism).map_or(&[][..], Vec::as_slice);
    let mut own = vec![Axis::Mechanism];
    own.extend(measure.axes().iter().map(|(axis, _)| *axis));
    for mechanism in mechanisms.iter().map(Value::to_string) {
        let extra = catalog.find(measure, &mechanism).map_or(&[][..], |driver| driver.extra_axes);
        own.extend(extra.iter().map(|(axis, _)| *axis));
    }
    own.sort_unstable();
    own.dedup();
    own
}

fn names(axes: &[Axis]) -> String {
    axes.iter().map(|axis| axis.name()).collect::<Vec<_>>().join(", ")
}

/// Whether rows, columns and splits are different axes, and each has values.
fn check_shown(
    page: &mut Page,
    shown: &Shown,
    measure: Measure,
    axes: &BTreeMap<Axis, Vec<Value>>,
    catalog: &Catalog,
) -> bool {
    let before = page.mistakes.len();
    let own = axes_of(measure, axes, catalog);
    let all = shown.all();
    for (position, (role, (at, axis))) in all.iter().enumerate() {
        if let Some((other, _)) = all[..position].iter().find(|(_, (_, earlier))| earlier == axis) {
            page.note(
                *at,
                match role == other {
                    true => format!("the axis `{axis}` stands twice in `{role}`"),
                    false => format!("the axis `{axis}` is {other} and {role}: expected one of them"),
                },
            );
        }
        if !own.contains(axis) {
            let message =
                format!("the {role} axis `{axis}` is not an axis of this table. Allowed: {}", names(&own));
            page.note(*at, message);
        } else if !axes.contains_key(axis) && *axis != Axis::Mechanism {
            page.note(*at, format!("the {role} axis `{axis}` has no values: name them in [table.axes]"));
        }
    }
    page.mistakes.len() == before
}

/// An axis with several values that the table does not show apart would be averaged away.
fn check_unshown(
    page: &mut Page,
    at: usize,
    shown: &Shown,
    named: &Named,
    axes: &BTreeMap<Axis, Vec<Value>>,
) {
    let shown: Vec<Axis> = shown.all().iter().map(|(_, (_, axis))| *axis).collect();
    for (axis, values) in axes.iter().filter(|(axis, values)| values.len() > 1 && !shown.contains(axis)) {
        let values: Vec<String> = values.iter().take(8).map(Value::to_string).collect();
        let (at, by_default) = named.get(axis).map_or((at, " by default"), |(at, _)| (*at, ""));
        let message = format!(
            "the axis `{axis}` has several values{by_default} ({}) but is neither row, column nor split: \
             add it to `split` or give it one value",
            values.join(", ")
        );
        page.note(at, message);
    }
}
