//! Cells and parameters in force, each kept once for all runs.

use crate::cell::Cell;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Parameters in force in all visits of a run, as JSON by name; without those that changed from visit to visit, which are
/// results and no settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Settings {
    /// The text of each value.
    values: BTreeMap<String, String>,
    /// Those that changed.
    changing: BTreeSet<String>,
}

impl Settings {
    /// Takes the parameters of another visit in.
    pub fn add(&mut self, effective: &Map<String, Value>) {
        for (name, value) in effective {
            let text = telling(name, value);
            match self.values.get(name) {
                None => drop(self.values.insert(name.clone(), text)),
                Some(known) if *known != text => drop(self.changing.insert(name.clone())),
                Some(_) => {}
            }
        }
    }
}

/// What of a value matters: of numbered CPUs how many there are, of a limit that was raised what it is now, of mechanisms
/// that share connections which they are (older journals have them in the order of the visit, which was drawn).
fn telling(name: &str, value: &Value) -> String {
    match value {
        Value::Array(cpus) if name == "cpus" => cpus.len().to_string(),
        Value::Array(mechanisms) if name == "connections_shared_by" => {
            let mut names: Vec<String> = mechanisms.iter().map(Value::to_string).collect();
            names.sort_unstable();
            format!("[{}]", names.join(","))
        }
        Value::Object(limit) => limit.get("raised_to").unwrap_or(value).to_string(),
        _ => value.to_string(),
    }
}

/// Every cell and every set of parameters that some run has.
#[derive(Debug, Default)]
pub struct Known {
    cells: Vec<Cell>,
    numbers: HashMap<Cell, usize>,
    settings: Vec<Settings>,
    setting_numbers: HashMap<Settings, usize>,
}

impl Known {
    /// The number of a cell.
    pub fn number(&mut self, cell: &Cell) -> usize {
        if let Some(number) = self.numbers.get(cell) {
            return *number;
        }
        self.cells.push(cell.clone());
        self.numbers.insert(cell.clone(), self.cells.len() - 1);
        self.cells.len() - 1
    }

    /// The number of a set of parameters.
    pub fn setting(&mut self, settings: Settings) -> usize {
        if let Some(number) = self.setting_numbers.get(&settings) {
            return *number;
        }
        self.settings.push(settings.clone());
        self.setting_numbers.insert(settings, self.settings.len() - 1);
        self.settings.len() - 1
    }

    /// Every cell, by its number.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Parameters that differ between these sets, with their values.
    pub(super) fn differences(&self, numbers: impl Iterator<Item = usize>) -> Vec<String> {
        let numbers: BTreeSet<usize> = numbers.collect();
        let sets: Vec<&Settings> = numbers.iter().map(|number| &self.settings[*number]).collect();
        let names: BTreeSet<&String> = sets.iter().flat_map(|set| set.values.keys()).collect();
        let settings = names.into_iter().filter(|name| !sets.iter().any(|set| set.changing.contains(*name)));
        let differing = |name: &String| {
            let value = |set: &&Settings| set.values.get(name).cloned().unwrap_or_else(|| "none".into());
            let values: BTreeSet<String> = sets.iter().map(value).collect();
            let values: Vec<String> = values.into_iter().collect();
            (values.len() > 1).then(|| format!("{name} differs: {}", values.join(", ")))
        };
        settings.filter_map(differing).collect()
    }
}
