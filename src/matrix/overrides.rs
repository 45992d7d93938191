//! `-a AXIS=V,V`: other values on an axis than the file has.

use super::expand::{Document, Draft};
use super::mistake::{Mistake, Place, unknown};
use super::value;
use crate::catalog::Catalog;
use crate::cell::{AXES, Axis, Value};
use std::collections::BTreeSet;

/// The values that the command line gives an axis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Override {
    text: String,
    axis: Axis,
    values: Vec<Value>,
}

impl Override {
    /// Reads `AXIS=V,V`; values are written as in a matrix file: `1K,64K`, `1..=5`, `pow2(1K, 64K)`.
    ///
    /// # Errors
    /// What stands there and what was expected.
    pub fn parse(text: &str, catalog: &Catalog) -> Result<Override, String> {
        let Some((name, list)) = text.split_once('=') else {
            return Err("expected AXIS=VALUE,VALUE, such as message_bytes=1K,64K".to_owned());
        };
        let name = name.trim();
        let names: Vec<&str> = AXES.iter().map(|spec| spec.name).filter(|name| *name != "measure").collect();
        if name == "measure" {
            return Err("each table has one measure of its own: choose tables with -f measure:...".to_owned());
        }
        let axis = Axis::named(name).ok_or_else(|| unknown("axis", name, &names))?;
        let values = value::list(axis, list, catalog)?;
        Ok(Override { text: text.to_owned(), axis, values })
    }

    /// The axis whose values are replaced.
    pub fn axis(&self) -> Axis {
        self.axis
    }

    /// The values, in the order in which they were given.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    fn place(&self) -> Place {
        Place::outside(format!("-a {}", self.text))
    }
}

/// Replaces the values in each table that has the axis.
///
/// Mechanisms come first, whatever the order of the options, because they decide which axes a table
/// has; a table keeps those that measure what it shows, and is dropped where none does.
///
/// # Errors
/// Overrides that touch no table, values that fit none, and two overrides of one axis.
pub(super) fn apply(document: &mut Document, overrides: &[Override], catalog: &Catalog) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut seen = BTreeSet::new();
    let mut ordered: Vec<&Override> = overrides.iter().collect();
    ordered.sort_by_key(|change| change.axis != Axis::Mechanism);
    for change in ordered {
        let outcome = match (seen.insert(change.axis), change.axis) {
            (false, axis) => Err(format!("the axis `{axis}` is given twice")),
            (true, Axis::Mechanism) => replace_mechanisms(document, change, catalog),
            (true, _) => replace_values(document, change, catalog),
        };
        mistakes.extend(outcome.err().map(|message| change.place().mistake(message)));
    }
    mistakes
}

fn replace_mechanisms(document: &mut Document, change: &Override, catalog: &Catalog) -> Result<(), String> {
    let measures: BTreeSet<_> = document.drafts.iter().map(|draft| draft.measure).collect();
    let fits = |measure, value: &Value| catalog.find(measure, &value.to_string()).is_some();
    for value in &change.values {
        if !measures.iter().any(|measure| fits(*measure, value)) {
            return Err(format!("`{value}` measures nothing that a table of this matrix shows"));
        }
    }
    for draft in &mut document.drafts {
        let measure = draft.measure;
        let values = change.values.iter().filter(|value| fits(measure, value)).cloned().collect();
        set(draft, Axis::Mechanism, values);
    }
    document.drafts.retain(|draft| !draft.values(Axis::Mechanism).is_empty());
    Ok(())
}

fn replace_values(document: &mut Document, change: &Override, catalog: &Catalog) -> Result<(), String> {
    let mut touched = false;
    for draft in &mut document.drafts {
        if draft.drivers(catalog).iter().any(|driver| driver.has_axis(change.axis)) {
            set(draft, change.axis, change.values.clone());
            touched = true;
        }
    }
    match touched {
        true => Ok(()),
        false => Err(format!("no table of this matrix has the axis `{}`", change.axis)),
    }
}

/// Sets the values of an axis; several that the table would not show apart become a split.
fn set(draft: &mut Draft, axis: Axis, values: Vec<Value>) {
    if values.len() > 1 && !draft.shows(axis) {
        draft.split.push(axis);
    }
    draft.axes.insert(axis, values);
}
