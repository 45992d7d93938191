//! The visits of a run, cell by cell, while its journal is read; then the numbers that are kept of them.

use super::lean::{self, Header, Visit};
use crate::compare::stored::{Distant, Had, Known, Reduced, Settings, Stored};
use crate::measure::stats::modes::Modes;
use crate::measure::stats::{Estimate, loop_counts};
use crate::record::{Gate, Lead, Table};
use crate::report::document::with_remedy;
use crate::strata::cores::{Cores, Reading};
use anyhow::Result;
use serde_json::{Map, Value};
use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

/// A run whose header was read.
pub struct Begun {
    header: Header,
    cells: Vec<CellSoFar>,
    /// Parameters by the text that they had in a visit.
    parsed: Parsed,
}

type Parsed = HashMap<String, Map<String, Value>>;

/// The visits of a cell so far.
#[derive(Default)]
struct CellSoFar {
    raw_ns: Vec<f64>,
    loop_ns: Vec<Option<f64>>,
    ping_pong_ns: Vec<Option<[f64; 2]>>,
    cores: Vec<Reading>,
    lead: Option<Lead>,
    thrifty: usize,
    settings: Settings,
    /// The parameters of the last visit, as they stand there.
    effective: String,
    failed: Option<String>,
    refused: Option<String>,
}

impl Begun {
    pub fn new(header: Header) -> Begun {
        let cells = header.cells.iter().map(|_| CellSoFar::default()).collect();
        Begun { header, cells, parsed: HashMap::new() }
    }

    /// Takes a line after the header.
    pub fn take(&mut self, line: &str) -> Result<()> {
        let Some(visit) = lean::visit(line, &self.header)? else { return Ok(()) };
        let cell = &mut self.cells[visit.cell_index];
        match &*visit.outcome {
            "measured" => cell.measured(&visit, &mut self.parsed)?,
            "unavailable" => {
                let why = with_remedy(&visit.reason.unwrap_or_default(), &visit.remedy.unwrap_or_default());
                cell.refused.get_or_insert(why);
            }
            _ => {
                let (phase, error) = (visit.phase.unwrap_or_default(), visit.error.unwrap_or_default());
                cell.failed.get_or_insert_with(|| format!("failed in phase {phase}: {error}"));
            }
        }
        Ok(())
    }

    pub fn finish(self, name: String, known: &Mutex<Known>) -> (Stored, Vec<Gate>, Vec<Table>) {
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let numbers: Vec<usize> =
            self.header.cells.iter().map(|planned| known.number(&planned.cell)).collect();
        let cores = Cores::of_readings(self.cells.iter().flat_map(|cell| &cell.cores).cloned());
        let mut cells = Vec::with_capacity(numbers.len());
        for ((number, planned), cell) in numbers.iter().zip(&self.header.cells).zip(self.cells) {
            let planned = planned.unavailable.as_ref();
            let planned = planned.map(|why| with_remedy(&why.reason, &why.remedy));
            cells.push((*number, cell.finish(planned, &cores, &mut known)));
        }
        let mut gates = self.header.gates;
        for gate in &mut gates {
            gate.cells.iter_mut().for_each(|cell| *cell = numbers[*cell]);
        }
        let mut tables = self.header.tables;
        for table in &mut tables {
            table.cells.iter_mut().for_each(|cell| *cell = numbers[*cell]);
        }
        let Header { machine_class: machine, effort, version, .. } = self.header;
        (Stored { name, machine, effort, version, cells }, gates, tables)
    }
}

impl CellSoFar {
    fn measured(&mut self, visit: &Visit, parsed: &mut Parsed) -> Result<()> {
        let (lead, ns) = visit.lead_ns()?;
        if !(ns.is_finite() && ns > 0.0) {
            let why = || format!("recorded {ns} ns an operation: below what the clock resolves");
            self.failed.get_or_insert_with(why);
            return Ok(());
        }
        self.lead.get_or_insert(lead);
        self.raw_ns.push(ns);
        self.loop_ns.push(visit.overhead.map(|overhead| overhead.twin_ns));
        self.ping_pong_ns.push(visit.ping_pong_ns);
        self.thrifty += usize::from(visit.thrifty);
        let effective = visit.effective.map_or("{}", |text| text.get());
        if self.effective != effective {
            if !parsed.contains_key(effective) {
                parsed.insert(effective.to_owned(), serde_json::from_str(effective)?);
            }
            self.settings.add(&parsed[effective]);
            effective.clone_into(&mut self.effective);
        }
        if let Some(whole_core_ns) = visit.whole_core_ns {
            let cpus = parsed.get(effective).map(cpus).unwrap_or_default();
            self.cores.push(Reading::new(cpus, whole_core_ns, visit.dependent_ns));
        }
        Ok(())
    }

    fn finish(self, planned: Option<String>, cores: &Cores, known: &mut Known) -> Had {
        if let Some(why) = self.failed {
            return Had::Failed(why);
        }
        let (Some(lead), Some(raw_ns)) = (self.lead, Estimate::of(&self.raw_ns)) else {
            return planned.or(self.refused).map_or(Had::NotVisited, Had::Unavailable);
        };
        let visits = self.distant();
        let loops: Option<Vec<f64>> = self.loop_ns.iter().copied().collect();
        let net = |loops: &Vec<f64>| {
            self.raw_ns.iter().zip(loops).map(|(raw, alone)| raw - alone).collect::<Vec<f64>>()
        };
        Had::Measured(Box::new(Reduced {
            lead,
            raw_ns,
            net_ns: loops.as_ref().and_then(|loops| Estimate::of(&net(loops))),
            loop_counts: loops.is_some_and(|loops| loop_counts(&self.raw_ns, &loops)),
            two_modes: Modes::of(&self.raw_ns).is_some(),
            thrifty: self.thrifty,
            shared_core: cores.shared_share(&self.cores),
            settings: known.setting(self.settings),
            visits,
        }))
    }

    /// The single visits, where each knows how far apart its CPUs were.
    fn distant(&self) -> Vec<Distant> {
        let Some(distances) = self.ping_pong_ns.iter().copied().collect::<Option<Vec<[f64; 2]>>>() else {
            return Vec::new();
        };
        let numbers = self.raw_ns.iter().zip(&self.loop_ns).zip(distances);
        numbers
            .map(|((raw_ns, loop_ns), ping_pong_ns)| Distant {
                raw_ns: *raw_ns,
                loop_ns: loop_ns.unwrap_or(0.0),
                ping_pong_ns,
            })
            .collect()
    }
}

/// The CPUs to which the workers of a visit were pinned, by its parameters.
fn cpus(effective: &Map<String, Value>) -> BTreeSet<usize> {
    let listed = effective.get("cpus").and_then(Value::as_array).into_iter().flatten();
    listed.filter_map(|cpu| usize::try_from(cpu.as_u64()?).ok()).collect()
}
