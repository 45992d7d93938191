//! The CPU: model, how its parts hang together, and what governs its speed and sleep.

use super::fact::{Fact, Found};
use super::tree::{Keyed, Tree, parse, unreadable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

const CPUS: &str = "/sys/devices/system/cpu";

/// No kernel knows more CPUs than this.
const MOST_CPUS: u32 = 1 << 16;

/// The CPU: model, how its parts hang together, and what governs its speed and sleep.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cpu {
    /// Who made it.
    pub vendor: Fact<String>,
    /// Its name; implementer and part number where it has none.
    pub model: Fact<String>,
    /// Family number.
    pub family: Fact<u64>,
    /// Model number.
    pub model_number: Fact<u64>,
    /// Stepping, or revision.
    pub stepping: Fact<u64>,
    /// Version of the microcode.
    pub microcode: Fact<String>,
    /// CPUs that the kernel could ever have.
    pub possible: Fact<CpuSet>,
    /// CPUs that run now.
    pub online: Fact<CpuSet>,
    /// CPUs that this process may use, and that run.
    pub allowed: Fact<CpuSet>,
    /// CPUs kept free of ordinary tasks (`isolcpus=`).
    pub isolated: Fact<CpuSet>,
    /// Whether two threads share a core.
    pub smt: Fact<bool>,
    /// One entry a CPU that runs.
    pub topology: Fact<Vec<LogicalCpu>>,
    /// Every cache, each once.
    pub caches: Fact<Vec<Cache>>,
    /// Driver that sets the frequency.
    pub frequency_driver: Fact<String>,
    /// The frequency governors in use, each once.
    pub governors: Fact<Vec<String>>,
    /// Whether the clock may go above its nominal rate.
    pub boost: Fact<bool>,
    /// Driver of the idle states.
    pub idle_driver: Fact<String>,
    /// Governor of the idle states.
    pub idle_governor: Fact<String>,
}

/// A set of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CpuSet {
    /// As the kernel writes it, e.g. `0-3,8`.
    pub list: String,
    /// How many there are.
    pub count: usize,
}

/// One CPU as the scheduler sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LogicalCpu {
    /// Its number.
    pub cpu: u32,
    /// Core, numbered within its package (or die).
    pub core_id: Fact<i64>,
    /// Package, that is socket.
    pub package: Fact<i64>,
    /// Memory node.
    pub node: Fact<u32>,
    /// The CPUs of the same core, this one included.
    pub thread_siblings: Fact<String>,
}

/// A cache and the CPUs that share it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Cache {
    /// 1 is nearest to the core.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its size, in bytes.
    pub size_bytes: u64,
    /// The CPUs that share it.
    pub shared_cpus: CpuSet,
}

impl Cpu {
    pub(super) fn read(tree: &Tree) -> Cpu {
        let info = tree.keyed("/proc/cpuinfo");
        let online = cpu_set(tree, "online");
        let numbers = running(tree, &online);
        let file = |name: &str| format!("{CPUS}/{name}");
        let idle = tree.word(&file("cpuidle/current_governor"));
        Cpu {
            vendor: info
                .word("vendor_id")
                .or_else(|reason| info.word("CPU implementer").map_err(|_| reason))
                .into(),
            model: model(&info).into(),
            family: info.number("cpu family").into(),
            model_number: info.number("model").into(),
            stepping: info.number("stepping").into(),
            microcode: info.word("microcode").into(),
            possible: cpu_set(tree, "possible").into(),
            allowed: allowed(tree, &online).into(),
            isolated: cpu_set(tree, "isolated").into(),
            smt: tree.word(&file("smt/active")).map(|text| text == "1").into(),
            topology: topology(tree, &numbers).into(),
            caches: caches(tree, &numbers).into(),
            frequency_driver: tree.word(&file("cpu0/cpufreq/scaling_driver")).into(),
            governors: governors(tree, &numbers).into(),
            boost: boost(tree).into(),
            idle_driver: tree.word(&file("cpuidle/current_driver")).into(),
            idle_governor: idle.or_else(|_| tree.word(&file("cpuidle/current_governor_ro"))).into(),
            online: online.into(),
        }
    }

    /// How many CPUs run, by the best source there is.
    pub fn count(&self) -> Option<usize> {
        let sets = [&self.online, &self.allowed, &self.possible];
        let topology = self.topology.known().map(Vec::len);
        sets.into_iter().find_map(|set| set.known().map(|set| set.count)).or(topology)
    }

    /// Packages, cores and memory nodes among the CPUs that run; 0 is unknown.
    pub(super) fn parts(&self) -> (usize, usize, usize) {
        let cpus = self.topology.known().map(Vec::as_slice).unwrap_or_default();
        let packages: BTreeSet<_> = cpus.iter().filter_map(|cpu| cpu.package.known()).collect();
        let cores: BTreeSet<_> = cpus.iter().filter_map(|cpu| cpu.thread_siblings.known()).collect();
        let nodes: BTreeSet<_> = cpus.iter().filter_map(|cpu| cpu.node.known()).collect();
        (packages.len(), cores.len(), nodes.len())
    }
}

impl CpuSet {
    /// Reads the kernel's list format (cpuset(7)): `0-3,8`; an empty text is an empty set.
    pub fn parse(text: &str) -> Option<CpuSet> {
        let numbers = numbers(text)?;
        Some(CpuSet { list: text.trim().to_string(), count: numbers.len() })
    }

    /// The numbers of the CPUs.
    pub fn numbers(&self) -> BTreeSet<u32> {
        numbers(&self.list).unwrap_or_default()
    }

    /// Writes the list format.
    pub(super) fn of(numbers: &BTreeSet<u32>) -> CpuSet {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &number in numbers {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => runs.push((number, number)),
            }
        }
        let words = runs.iter().map(|&(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        });
        CpuSet { list: words.collect::<Vec<_>>().join(","), count: numbers.len() }
    }
}

fn numbers(text: &str) -> Option<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for word in text.trim().split(',').filter(|word| !word.is_empty()) {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last >= MOST_CPUS {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers)
}

fn cpu_set(tree: &Tree, name: &str) -> Found<CpuSet> {
    let path = format!("{CPUS}/{name}");
    let text = tree.text(&path)?;
    CpuSet::parse(&text).ok_or_else(|| unreadable(&path, &text))
}

/// The affinity mask as sched_getaffinity(2) gives it: what is allowed, less what does not run.
fn allowed(tree: &Tree, online: &Found<CpuSet>) -> Found<CpuSet> {
    let text = tree.keyed("/proc/self/status").word("Cpus_allowed_list")?;
    let mut allowed = numbers(&text).ok_or_else(|| unreadable("/proc/self/status", &text))?;
    if let Ok(online) = online {
        let online = online.numbers();
        allowed.retain(|cpu| online.contains(cpu));
    }
    Ok(CpuSet::of(&allowed))
}

/// The CPUs that this process may use, where that is known.
pub(super) fn allowed_numbers(tree: &Tree) -> Option<BTreeSet<u32>> {
    allowed(tree, &cpu_set(tree, "online")).ok().map(|allowed| allowed.numbers())
}

/// The CPUs to describe: those that run, else those that have a folder.
fn running(tree: &Tree, online: &Found<CpuSet>) -> Found<BTreeSet<u32>> {
    if let Ok(online) = online {
        return Ok(online.numbers());
    }
    let names = tree.names(CPUS)?;
    let numbers: BTreeSet<u32> =
        names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
    if numbers.is_empty() { Err(format!("{CPUS}: no CPU")) } else { Ok(numbers) }
}

/// `model name` on x86; other machines use other words or give numbers only.
fn model(info: &Keyed) -> Found<String> {
    let named = ["model name", "cpu model", "cpu", "Processor"].iter().find_map(|key| info.word(key).ok());
    if let Some(name) = named {
        return Ok(name.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    match (info.word("CPU implementer"), info.word("CPU part")) {
        (Ok(implementer), Ok(part)) => Ok(format!("implementer {implementer} part {part}")),
        _ => info.word("model name"),
    }
}

fn topology(tree: &Tree, numbers: &Found<BTreeSet<u32>>) -> Found<Vec<LogicalCpu>> {
    let numbers = numbers.as_ref().map_err(Clone::clone)?;
    Ok(numbers.iter().map(|&cpu| logical_cpu(tree, cpu)).collect())
}

fn logical_cpu(tree: &Tree, cpu: u32) -> LogicalCpu {
    let file = |name: &str| format!("{CPUS}/cpu{cpu}/topology/{name}");
    let siblings = tree.word(&file("thread_siblings_list"));
    LogicalCpu {
        cpu,
        core_id: tree.number(&file("core_id")).into(),
        package: tree.number(&file("physical_package_id")).into(),
        node: node(tree, cpu).into(),
        thread_siblings: siblings.or_else(|_| tree.word(&file("core_cpus_list"))).into(),
    }
}

fn node(tree: &Tree, cpu: u32) -> Found<u32> {
    let folder = format!("{CPUS}/cpu{cpu}");
    let names = tree.names(&folder)?;
    let node = names.iter().find_map(|name| name.strip_prefix("node")?.parse().ok());
    node.ok_or_else(|| format!("{folder}: no memory node"))
}

fn caches(tree: &Tree, numbers: &Found<BTreeSet<u32>>) -> Found<Vec<Cache>> {
    let mut caches = BTreeSet::new();
    for cpu in numbers.as_ref().map_err(Clone::clone)? {
        let folder = format!("{CPUS}/cpu{cpu}/cache");
        let names = tree.names(&folder).unwrap_or_default();
        let indexes = names.iter().filter(|name| name.starts_with("index"));
        caches.extend(indexes.filter_map(|name| cache(tree, &format!("{folder}/{name}")).ok()));
    }
    if caches.is_empty() {
        Err(format!("{CPUS}: no cache described"))
    } else {
        Ok(caches.into_iter().collect())
    }
}

fn cache(tree: &Tree, folder: &str) -> Found<Cache> {
    let path = format!("{folder}/shared_cpu_list");
    let shared = tree.word(&path)?;
    Ok(Cache {
        level: tree.number(&format!("{folder}/level"))?,
        kind: tree.word(&format!("{folder}/type"))?,
        size_bytes: cache_bytes(tree, &format!("{folder}/size"))?,
        shared_cpus: CpuSet::parse(&shared).ok_or_else(|| unreadable(&path, &shared))?,
    })
}

/// `48K` is 49152.
fn cache_bytes(tree: &Tree, path: &str) -> Found<u64> {
    let text = tree.word(path)?;
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix('M').map_or((text.as_str(), 1), |digits| (digits, 1 << 20)),
    };
    let count: u64 = parse(path, digits)?;
    count.checked_mul(unit).ok_or_else(|| unreadable(path, &text))
}

fn governors(tree: &Tree, numbers: &Found<BTreeSet<u32>>) -> Found<Vec<String>> {
    let numbers = numbers.as_ref().map_err(Clone::clone)?;
    let read = |cpu: &u32| tree.word(&format!("{CPUS}/cpu{cpu}/cpufreq/scaling_governor"));
    let governors: BTreeSet<String> = numbers.iter().filter_map(|cpu| read(cpu).ok()).collect();
    match numbers.first() {
        Some(first) if governors.is_empty() => read(first).map(|governor| vec![governor]),
        _ => Ok(governors.into_iter().collect()),
    }
}

fn boost(tree: &Tree) -> Found<bool> {
    match tree.word(&format!("{CPUS}/intel_pstate/no_turbo")) {
        Ok(text) => Ok(text == "0"),
        Err(_) => tree.word(&format!("{CPUS}/cpufreq/boost")).map(|text| text == "1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_counted_and_written_back() {
        let set = CpuSet::parse("0-3,8,10-11\n").expect("a list");
        assert_eq!((set.list.as_str(), set.count), ("0-3,8,10-11", 7));
        assert_eq!(CpuSet::of(&set.numbers()), set);
        assert_eq!(CpuSet::parse("").map(|set| set.count), Some(0));
    }

    #[test]
    fn damaged_lists_are_refused() {
        for text in ["x", "3-1", "0-4294967295", "-", "1-2-3"] {
            assert_eq!(CpuSet::parse(text), None, "{text}");
        }
    }
}
