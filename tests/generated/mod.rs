//! Stored runs that a seeded generator makes: cells with a time each, runs that lie apart by chance, visits that do.

use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The deviation of a run's shift, as a part: what differs from run to run on one machine.
const RUN_SPREAD: f64 = 0.01;
/// The deviation of visits on one CPU, and on two.
const VISIT_SPREADS: [f64; 2] = [0.01, 0.03];
/// One visit in so many is a spike.
const SPIKES: u64 = 12;

/// What a run is like.
#[derive(Clone)]
pub struct Plan {
    pub seed: u64,
    pub machine: String,
    pub effort: String,
    pub cells: Vec<Cell>,
    pub visits: usize,
    /// What the time of a cell is multiplied with.
    pub changed: BTreeMap<usize, f64>,
    /// Parameters in force.
    pub effective: Json,
    pub gates: Json,
    /// Nanoseconds of the ping-pong of cells across CPUs, where it is told, by the visit.
    pub ping_pong: Option<fn(usize) -> [f64; 2]>,
    /// Nanoseconds of the arithmetic that could use a whole core, where it is timed, by the visit.
    pub whole_core: Option<fn(usize) -> [u64; 2]>,
    /// Cells that fail.
    pub failing: Vec<usize>,
    /// Samples of a visit.
    pub samples: usize,
}

impl Plan {
    pub fn new(seed: u64) -> Plan {
        Plan {
            seed,
            machine: "c1a55000".into(),
            effort: "default".into(),
            cells: cells(),
            visits: 8,
            changed: BTreeMap::new(),
            effective: json!({ "cpus": [1], "pipe_bytes": 65536 }),
            gates: json!([]),
            ping_pong: None,
            whole_core: None,
            failing: Vec::new(),
            samples: 1,
        }
    }

    pub fn changed(mut self, cell: usize, factor: f64) -> Plan {
        self.changed.insert(cell, factor);
        self
    }
}

/// 18 cells of bandwidth and 6 of round trips.
pub fn cells() -> Vec<Cell> {
    let mut all = Vec::new();
    for placement in ["same_cpu", "cross_cpu"] {
        for mechanism in ["pipe", "unix_stream", "tcp"] {
            let at = |measure| {
                let cell = Cell::new(measure, mechanism).with(Axis::Spawn, Value::word("processes"));
                cell.with(Axis::Placement, Value::word(placement))
            };
            all.extend(
                [1024, 4096, 65536]
                    .map(|bytes| at(Measure::Bandwidth).with(Axis::MessageBytes, Value::Count(bytes))),
            );
            all.push(at(Measure::RoundTrip));
        }
    }
    all
}

/// A number of the normal distribution, near enough: the sum of twelve of the uniform one.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    (0..12).map(|_| random.next_u32() as f64 / f64::from(u32::MAX)).sum::<f64>() - 6.0
}

/// The journal of a run.
pub fn journal(plan: &Plan) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(plan.seed);
    let shifts: Vec<f64> = plan.cells.iter().map(|_| (RUN_SPREAD * normal(&mut random)).exp()).collect();
    let mut text = header(plan).to_string() + "\n";
    let mut position = 0;
    for round in 1..=plan.visits {
        for (index, shift) in shifts.iter().enumerate() {
            position += 1;
            let usual = 400.0 * (1.0 + index as f64) * plan.changed.get(&index).unwrap_or(&1.0) * shift;
            let crosses = plan.cells[index].word(Axis::Placement) == "cross_cpu";
            let spike = if random.next_u64().is_multiple_of(SPIKES) { 1.3 } else { 1.0 };
            let ns = usual * (VISIT_SPREADS[usize::from(crosses)] * normal(&mut random)).exp() * spike;
            text += &visit(plan, index, round, position, ns).to_string();
            text.push('\n');
        }
    }
    text + "{\"schema\":\"ipcmatrix.record.v1\",\"kind\":\"end\",\"reason\":\"rounds\",\"elapsed_s\":9.0,\"visits\":1,\"ended\":\"2026-01-02T03:05:05Z\"}\n"
}

fn header(plan: &Plan) -> Json {
    let cells: Vec<Json> = plan.cells.iter().map(|cell| json!({ "cell": cell })).collect();
    json!({
        "schema": "ipcmatrix.record.v1", "kind": "header", "version": "0.1.0", "matrices": ["made"], "matrix_crc32": "5eed0001",
        "command": ["ipcmatrix", "run", "made"], "effort": plan.effort, "seed": plan.seed, "budget_s": 60.0, "precision": 0.03,
        "started": "2026-01-02T03:04:05Z", "machine_class": [plan.machine, "a made machine"], "tables": [], "cells": cells,
        "gates": plan.gates,
    })
}

fn visit(plan: &Plan, index: usize, round: usize, position: usize, ns: f64) -> Json {
    let cell = &plan.cells[index];
    let mut visit = json!({
        "schema": "ipcmatrix.record.v1", "kind": "visit", "cell_index": index, "cell": cell, "round": round, "position": position,
        "begin_ns": position * 1000, "duration_ns": 900,
    });
    let crosses = cell.word(Axis::Placement) == "cross_cpu";
    let more = match plan.failing.contains(&index) {
        true => json!({ "outcome": "failed", "phase": "open", "error": "no such thing" }),
        false => json!({
            "outcome": "measured", "ops": 1000, "calibrated": true, "lead": if crosses { "typ" } else { "floor" },
            "floor_ns": ns, "typ_ns": ns, "cpu_ns": ns, "oversubscribed": false, "flags": [],
            "ping_pong_ns": plan.ping_pong.filter(|_| crosses).map(|of| of(round)),
            "whole_core_ns": plan.whole_core.map(|of| of(round)),
            "effective": plan.effective, "proofs": [], "samples": vec![sample(ns); plan.samples],
        }),
    };
    for (name, value) in more.as_object().unwrap() {
        visit[name] = value.clone();
    }
    visit
}

fn sample(ns: f64) -> Json {
    let elapsed = (1000.0 * ns) as u64;
    let worker = json!({
        "begin_ns": 10_001_000_000_u64, "end_ns": 10_001_000_000 + elapsed, "cpu_ns": elapsed, "voluntary_switches": 3,
        "involuntary_switches": 0, "cpu": 1, "bytes": 4_096_000, "calls": 1000,
    });
    json!({ "elapsed_ns": elapsed, "workers": [worker, worker] })
}

/// Writes a run into a folder of its own below `folder`.
pub fn write(folder: &Path, name: &str, plan: &Plan) -> PathBuf {
    let run = folder.join(name);
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("records.jsonl"), journal(plan)).unwrap();
    run
}
