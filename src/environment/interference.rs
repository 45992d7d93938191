//! What may disturb measuring: clock rates that move, idle states, a host that takes time, interrupts, tracing,
//! other runs.

use super::cpu::CpuSet;
use super::fact::{Fact, Found};
use super::tree::{Tree, parse, unreadable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const CPUS: &str = "/sys/devices/system/cpu";
const TRACING: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// The name that this program has among the processes (proc_pid_comm(5)).
const OWN_NAME: &str = "ipcmatrix";

/// What may disturb measuring.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interference {
    /// The lowest and the highest clock rate that the governor of an allowed CPU may choose, in kHz.
    pub frequency_range_khz: Fact<[u64; 2]>,
    /// The longest time to leave an idle state that is enabled, in microseconds (`cpuidle/state*/latency`).
    pub wake_up_us: Fact<u64>,
    /// Time since boot that the host gave to others while a CPU here was ready, from 0 to 1 (proc_stat(5)).
    pub steal_share: Fact<f64>,
    /// The CPUs that pinned workers use first: the last two that are allowed.
    pub measured_cpus: Fact<CpuSet>,
    /// Whether irqbalance runs, which moves interrupts between CPUs.
    pub irqbalance: Fact<bool>,
    /// Numbers of the device interrupts that `measured_cpus` have served since boot (`/proc/interrupts`).
    pub interrupts: Fact<Vec<u32>>,
    /// The tracer of ftrace; `nop` is none.
    pub tracer: Fact<String>,
    /// Whether events are traced: `0` none, `1` all, `X` some.
    pub trace_events: Fact<String>,
    /// Whether a debugger or strace is attached to this process.
    pub traced: Fact<bool>,
    /// Other processes of this program.
    pub other_runs: Fact<usize>,
}

impl Interference {
    pub(super) fn read(tree: &Tree, allowed: &Fact<CpuSet>) -> Interference {
        let allowed: Found<BTreeSet<u32>> = match allowed.known() {
            Some(set) if set.count > 0 => Ok(set.numbers()),
            _ => Err(allowed.reason().unwrap_or("no CPU is allowed").to_string()),
        };
        let measured = allowed.clone().map(|cpus| cpus.into_iter().rev().take(2).collect::<BTreeSet<_>>());
        let status = tree.keyed("/proc/self/status");
        let processes = processes(tree);
        let own: Found<u32> = status.number("Pid");
        Interference {
            frequency_range_khz: allowed.clone().and_then(|cpus| frequency_range(tree, &cpus)).into(),
            wake_up_us: allowed.and_then(|cpus| wake_up(tree, &cpus)).into(),
            steal_share: steal(tree).into(),
            interrupts: measured.clone().and_then(|cpus| interrupts(tree, &cpus)).into(),
            measured_cpus: measured.map(|cpus| CpuSet::of(&cpus)).into(),
            irqbalance: named(&processes, "irqbalance").map(|pids| !pids.is_empty()).into(),
            tracer: tracing(tree, "current_tracer").into(),
            trace_events: tracing(tree, "events/enable").into(),
            traced: status.number("TracerPid").map(|pid: u32| pid != 0).into(),
            other_runs: own
                .and_then(|own| Ok(named(&processes, OWN_NAME)?.iter().filter(|pid| **pid != own).count()))
                .into(),
        }
    }
}

/// The widest range of the governors of those CPUs.
fn frequency_range(tree: &Tree, cpus: &BTreeSet<u32>) -> Found<[u64; 2]> {
    let mut range: Option<[u64; 2]> = None;
    for cpu in cpus {
        let file = |name: &str| tree.number::<u64>(&format!("{CPUS}/cpu{cpu}/cpufreq/{name}"));
        let (low, high) = (file("scaling_min_freq")?, file("scaling_max_freq")?);
        range = Some(range.map_or([low, high], |[least, most]| [least.min(low), most.max(high)]));
    }
    range.ok_or_else(|| "no CPU is allowed".to_string())
}

/// State 0 is polling or the lightest sleep; a state whose file `disable` is not 0 is not entered.
fn wake_up(tree: &Tree, cpus: &BTreeSet<u32>) -> Found<u64> {
    let mut longest_us = 0;
    for cpu in cpus {
        let folder = format!("{CPUS}/cpu{cpu}/cpuidle");
        for state in tree.names(&folder)?.iter().filter(|name| name.starts_with("state")) {
            let latency_us: u64 = tree.number(&format!("{folder}/{state}/latency"))?;
            if tree.word(&format!("{folder}/{state}/disable"))? == "0" {
                longest_us = longest_us.max(latency_us);
            }
        }
    }
    Ok(longest_us)
}

/// Fields of the line `cpu`: user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user's.
fn steal(tree: &Tree) -> Found<f64> {
    let path = "/proc/stat";
    let text = tree.word(path)?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu ")).unwrap_or_default();
    let ticks: Vec<u64> = line.split_whitespace().take(8).filter_map(|word| word.parse().ok()).collect();
    let total: u64 = ticks.iter().sum();
    match ticks.get(7) {
        Some(steal) if total > 0 => Ok(*steal as f64 / total as f64),
        _ => Err(unreadable(path, line)),
    }
}

/// Lines that begin with a number are interrupts of devices; the head names the CPU of each column.
fn interrupts(tree: &Tree, cpus: &BTreeSet<u32>) -> Found<Vec<u32>> {
    let path = "/proc/interrupts";
    let text = tree.word(path)?;
    let head = text.lines().next().unwrap_or_default();
    let columns: Vec<u32> =
        head.split_whitespace().filter_map(|word| word.strip_prefix("CPU")?.parse().ok()).collect();
    if !cpus.iter().all(|cpu| columns.contains(cpu)) {
        return Err(unreadable(path, head));
    }
    let mut served = Vec::new();
    for line in text.lines().skip(1) {
        let Some((name, rest)) = line.split_once(':') else { return Err(unreadable(path, line)) };
        let Ok(number) = name.trim().parse::<u32>() else { continue };
        for (cpu, word) in columns.iter().zip(rest.split_whitespace()) {
            let count: u64 = parse(path, word)?;
            if count > 0 && cpus.contains(cpu) && !served.contains(&number) {
                served.push(number);
            }
        }
    }
    Ok(served)
}

/// Process numbers and names. A process that ends meanwhile has neither.
fn processes(tree: &Tree) -> Found<Vec<(u32, String)>> {
    let pids = tree.names("/proc")?.into_iter().filter_map(|name| name.parse::<u32>().ok());
    let found: Vec<_> =
        pids.filter_map(|pid| Some((pid, tree.word(&format!("/proc/{pid}/comm")).ok()?))).collect();
    if found.is_empty() { Err("/proc: no process can be seen".to_string()) } else { Ok(found) }
}

fn named(processes: &Found<Vec<(u32, String)>>, wanted: &str) -> Found<Vec<u32>> {
    let processes = processes.as_ref().map_err(Clone::clone)?;
    Ok(processes.iter().filter(|(_, name)| name == wanted).map(|(pid, _)| *pid).collect())
}

/// Where tracefs is mounted today, or where it was in older kernels.
fn tracing(tree: &Tree, file: &str) -> Found<String> {
    let [new, old] = TRACING.map(|folder| format!("{folder}/{file}"));
    tree.word(&new).or_else(|reason| tree.word(&old).map_err(|_| reason))
}
