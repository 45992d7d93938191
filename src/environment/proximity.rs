//! How near two CPUs are to each other: what they share, by `/sys/devices/system/cpu`. A virtual machine tells
//! here what its host wants it to believe.

#[cfg(test)]
mod tests;

use super::cpu::CpuSet;
use super::fact::Found;
use super::tree::Tree;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const CPUS: &str = "/sys/devices/system/cpu";

/// How near two different CPUs are, the nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Two threads of one core.
    SmtSibling,
    /// Two cores that share a cache of the second level.
    SameL2,
    /// Two cores that share a cache of the last level only.
    SameLlc,
    /// Two cores of one memory node that share no cache.
    CrossLlc,
    /// Two cores of two memory nodes that share no cache.
    CrossNode,
}

impl Class {
    /// Every class, the nearest first.
    pub const ALL: [Class; 5] =
        [Class::SmtSibling, Class::SameL2, Class::SameLlc, Class::CrossLlc, Class::CrossNode];

    /// The value of the axis `placement`.
    pub fn name(self) -> &'static str {
        match self {
            Class::SmtSibling => "smt_sibling",
            Class::SameL2 => "same_l2",
            Class::SameLlc => "same_llc",
            Class::CrossLlc => "cross_llc",
            Class::CrossNode => "cross_node",
        }
    }

    /// The class of that name.
    pub fn named(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|class| class.name() == name)
    }
}

/// What is known of some CPUs.
#[derive(Clone, Debug)]
pub struct Proximity {
    cpus: Vec<(u32, Found<Parts>)>,
}

/// What a CPU shares with others.
#[derive(Clone, Debug)]
struct Parts {
    /// The CPUs of its core.
    core: BTreeSet<u32>,
    /// By level, the CPUs that share its cache for data; empty where no cache is described.
    caches: BTreeMap<u32, BTreeSet<u32>>,
    /// Its capacity among the CPUs, and its highest clock rate in kHz; `None` where the kernel does not tell.
    power: [Option<u64>; 2],
    /// Its memory node; a kernel without memory nodes has none.
    node: Option<u32>,
}

impl Proximity {
    /// Reads what those CPUs share below `root`; `/` is the machine itself.
    pub fn read(root: &Path, cpus: &[usize]) -> Proximity {
        let tree = Tree::new(root);
        let numbers = cpus.iter().filter_map(|cpu| u32::try_from(*cpu).ok());
        Proximity { cpus: numbers.map(|cpu| (cpu, parts(&tree, cpu))).collect() }
    }

    /// How near two of the CPUs are.
    ///
    /// # Errors
    /// What is not known of them, in plain words.
    pub fn class(&self, one: usize, other: usize) -> Result<Class, String> {
        let number = |cpu: usize| u32::try_from(cpu).unwrap_or(u32::MAX);
        class(number(one), self.parts(number(one))?, number(other), self.parts(number(other))?)
    }

    /// Whether two of the CPUs work alike: the same capacity and highest clock rate, as far as the kernel tells.
    pub fn alike(&self, one: usize, other: usize) -> bool {
        let number = |cpu: usize| u32::try_from(cpu).unwrap_or(u32::MAX);
        let (one, other) = (self.parts(number(one)), self.parts(number(other)));
        one.is_ok_and(|one| other.is_ok_and(|other| one.power == other.power))
    }

    /// The first two CPUs of that class, in the order in which they were given.
    pub fn pair(&self, wanted: Class) -> Option<[usize; 2]> {
        let pairs = self.pairs().find(|(_, class)| *class == Ok(wanted));
        pairs.map(|(pair, _)| pair)
    }

    /// The classes that there are, and what keeps pairs from having one: for people.
    pub fn told(&self) -> String {
        let mut classes = BTreeSet::new();
        let mut reasons = BTreeSet::new();
        for (_, class) in self.pairs() {
            match class {
                Ok(class) => drop(classes.insert(class)),
                Err(reason) => drop(reasons.insert(reason)),
            }
        }
        let names: Vec<&str> = classes.into_iter().map(Class::name).collect();
        let names = if names.is_empty() { "no pair that is known".to_owned() } else { names.join(", ") };
        match reasons.first() {
            Some(reason) => format!("{names}; not known: {reason}"),
            None => names,
        }
    }

    fn parts(&self, cpu: u32) -> Result<&Parts, String> {
        let found = self.cpus.iter().find(|(number, _)| *number == cpu);
        let (_, parts) = found.ok_or_else(|| format!("CPU {cpu} was not read"))?;
        parts.as_ref().map_err(Clone::clone)
    }

    fn pairs(&self) -> impl Iterator<Item = ([usize; 2], Result<Class, String>)> {
        self.cpus.iter().enumerate().flat_map(move |(at, (one, _))| {
            self.cpus[at + 1..].iter().map(move |(other, _)| {
                let pair = [*one as usize, *other as usize];
                (pair, self.class(pair[0], pair[1]))
            })
        })
    }
}

/// The nearest thing that they share decides.
fn class(one: u32, parts: &Parts, other: u32, others: &Parts) -> Result<Class, String> {
    if parts.core.contains(&other) {
        return Ok(Class::SmtSibling);
    }
    let shared = parts.caches.iter().find(|(_, cpus)| cpus.contains(&other)).map(|(level, _)| *level);
    let apart = || matches!((parts.node, others.node), (Some(a), Some(b)) if a != b);
    match shared {
        Some(0..=2) => Ok(Class::SameL2),
        Some(_) => Ok(Class::SameLlc),
        None if apart() => Ok(Class::CrossNode),
        None if parts.caches.is_empty() || others.caches.is_empty() => {
            let cpu = if parts.caches.is_empty() { one } else { other };
            Err(format!("{CPUS}/cpu{cpu}/cache: no cache described"))
        }
        None => Ok(Class::CrossLlc),
    }
}

fn parts(tree: &Tree, cpu: u32) -> Found<Parts> {
    let folder = format!("{CPUS}/cpu{cpu}");
    let names = tree.names(&folder)?;
    let siblings = tree.word(&format!("{folder}/topology/thread_siblings_list"));
    let siblings = siblings.or_else(|_| tree.word(&format!("{folder}/topology/core_cpus_list")))?;
    Ok(Parts {
        core: set(&folder, &siblings)?,
        caches: caches(tree, &format!("{folder}/cache"))?,
        power: ["cpu_capacity", "cpufreq/cpuinfo_max_freq"]
            .map(|file| tree.number(&format!("{folder}/{file}")).ok()),
        node: names.iter().find_map(|name| name.strip_prefix("node")?.parse().ok()),
    })
}

/// Caches for instructions pass no data between CPUs. A folder that is not there is no description.
fn caches(tree: &Tree, folder: &str) -> Found<BTreeMap<u32, BTreeSet<u32>>> {
    let mut caches = BTreeMap::new();
    for index in tree.names(folder).unwrap_or_default().iter().filter(|name| name.starts_with("index")) {
        let file = |name: &str| tree.word(&format!("{folder}/{index}/{name}"));
        if file("type")? != "Instruction" {
            let level = tree.number(&format!("{folder}/{index}/level"))?;
            caches.insert(level, set(folder, &file("shared_cpu_list")?)?);
        }
    }
    Ok(caches)
}

fn set(folder: &str, list: &str) -> Found<BTreeSet<u32>> {
    let set = CpuSet::parse(list).ok_or_else(|| super::tree::unreadable(folder, list))?;
    Ok(set.numbers())
}
