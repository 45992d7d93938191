//! Limits of the kernel and of this process that decide which cells can run.

use super::fact::{Amount, Fact, Found};
use super::tree::Tree;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Sysctls that bound a mechanism; see proc_sys_fs(5), proc_sys_kernel(5), socket(7), tcp(7),
/// mq_overview(7). The machine class covers these.
const MECHANISMS: &[&str] = &[
    "fs.mqueue.msg_default",
    "fs.mqueue.msg_max",
    "fs.mqueue.msgsize_default",
    "fs.mqueue.msgsize_max",
    "fs.mqueue.queues_max",
    "fs.pipe-max-size",
    "fs.pipe-user-pages-hard",
    "fs.pipe-user-pages-soft",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "net.core.rmem_default",
    "net.core.rmem_max",
    "net.core.wmem_default",
    "net.core.wmem_max",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
];

/// Sysctls that decide whether a private IPC namespace may be made (namespaces(7)); some follow the
/// amount of memory, so they are no part of the machine class.
const NAMESPACES: &[&str] = &[
    "kernel.apparmor_restrict_unprivileged_userns",
    "kernel.unprivileged_userns_clone",
    "user.max_ipc_namespaces",
    "user.max_user_namespaces",
];

/// Sysctls that forbid a mechanism or shift what is measured; cells that they forbid say so, so they are no part of
/// the machine class.
const PERMISSIONS: &[&str] =
    &["kernel.io_uring_disabled", "kernel.numa_balancing", "kernel.perf_event_paranoid", "vm.swappiness"];

/// The names that `/proc/self/limits` uses, and those of getrlimit(2).
const RLIMITS: &[(&str, &str)] = &[
    ("Max cpu time", "RLIMIT_CPU"),
    ("Max file size", "RLIMIT_FSIZE"),
    ("Max data size", "RLIMIT_DATA"),
    ("Max stack size", "RLIMIT_STACK"),
    ("Max core file size", "RLIMIT_CORE"),
    ("Max resident set", "RLIMIT_RSS"),
    ("Max processes", "RLIMIT_NPROC"),
    ("Max open files", "RLIMIT_NOFILE"),
    ("Max locked memory", "RLIMIT_MEMLOCK"),
    ("Max address space", "RLIMIT_AS"),
    ("Max file locks", "RLIMIT_LOCKS"),
    ("Max pending signals", "RLIMIT_SIGPENDING"),
    ("Max msgqueue size", "RLIMIT_MSGQUEUE"),
    ("Max nice priority", "RLIMIT_NICE"),
    ("Max realtime priority", "RLIMIT_RTPRIO"),
    ("Max realtime timeout", "RLIMIT_RTTIME"),
];

/// Limits of the kernel and of this process, in the units of their manual pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// By name, e.g. `fs.mqueue.msgsize_max`.
    pub sysctls: BTreeMap<String, Fact<Amount>>,
    /// By name, e.g. `RLIMIT_MSGQUEUE`.
    pub rlimits: BTreeMap<String, Fact<Rlimit>>,
}

/// A resource limit; `unlimited` is a word.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rlimit {
    /// The value in force.
    pub soft: Amount,
    /// Up to where the process may raise it.
    pub hard: Amount,
}

impl Limits {
    pub(super) fn read(tree: &Tree) -> Limits {
        let names = MECHANISMS.iter().chain(NAMESPACES).chain(PERMISSIONS);
        let table = tree.text("/proc/self/limits");
        Limits {
            sysctls: names.map(|name| (name.to_string(), sysctl(tree, name).into())).collect(),
            rlimits: RLIMITS
                .iter()
                .map(|(label, name)| (name.to_string(), rlimit(&table, label).into()))
                .collect(),
        }
    }

    /// A sysctl by its name, where it is known.
    pub fn sysctl(&self, name: &str) -> Option<&Amount> {
        self.sysctls.get(name).and_then(Fact::known)
    }

    /// A resource limit by its name, where it is known.
    pub fn rlimit(&self, name: &str) -> Option<&Rlimit> {
        self.rlimits.get(name).and_then(Fact::known)
    }

    /// The limits that decide whether two runs can be compared, as `name=value`. Those that follow the
    /// amount of memory or the login shell are left out: they differ between runs on one machine.
    pub(super) fn for_class(&self) -> Vec<String> {
        let show = |name: &str, amount: Option<&Amount>| match amount {
            Some(amount) => format!("{name}={}", lasting(name, amount)),
            None => format!("{name}=?"),
        };
        let mut lines: Vec<String> = MECHANISMS.iter().map(|name| show(name, self.sysctl(name))).collect();
        lines.push(show("RLIMIT_MSGQUEUE", self.rlimit("RLIMIT_MSGQUEUE").map(|limit| &limit.soft)));
        lines
    }
}

/// What does not change from boot to boot: the third value of the TCP buffers follows free memory on
/// machines with little of it (tcp(7)).
fn lasting(name: &str, amount: &Amount) -> String {
    match amount {
        Amount::Counts(counts) if matches!(name, "net.ipv4.tcp_rmem" | "net.ipv4.tcp_wmem") => {
            Amount::Counts(counts.iter().take(2).copied().collect()).to_string()
        }
        _ => amount.to_string(),
    }
}

fn sysctl(tree: &Tree, name: &str) -> Found<Amount> {
    let path = format!("/proc/sys/{}", name.replace('.', "/"));
    tree.word(&path).map(|text| Amount::parse(&text))
}

fn rlimit(table: &Found<String>, label: &str) -> Found<Rlimit> {
    let table = table.as_ref().map_err(Clone::clone)?;
    let rest = table.lines().find_map(|line| line.strip_prefix(label));
    let mut words = rest.unwrap_or_default().split_whitespace();
    match (words.next(), words.next()) {
        (Some(soft), Some(hard)) => Ok(Rlimit { soft: Amount::parse(soft), hard: Amount::parse(hard) }),
        _ => Err(format!("/proc/self/limits: no `{label}`")),
    }
}
