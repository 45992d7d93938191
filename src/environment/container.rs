//! What stands between this process and the bare machine: hypervisor, container, cgroup, privileges.

use super::fact::{Amount, Fact, Found};
use super::tree::{Keyed, Tree, parse};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const GROUPS: &str = "/proc/self/cgroup";

/// What stands between this process and the bare machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Container {
    /// Whether a hypervisor runs below.
    pub virtual_machine: Fact<bool>,
    /// Which hypervisor, by what it tells its guests.
    pub hypervisor: Fact<String>,
    /// Vendor of the machine by its firmware.
    pub machine_vendor: Fact<String>,
    /// Product name of the machine by its firmware.
    pub machine_product: Fact<String>,
    /// Which container manager left its mark, if any did.
    pub container: Fact<String>,
    /// The control group that bounds CPU time.
    pub cgroup: Cgroup,
    /// Effective capabilities (capabilities(7)), hexadecimal.
    pub capabilities: Fact<String>,
    /// `off`, `strict` or `filter` (seccomp(2)).
    pub seccomp: Fact<String>,
    /// Real user number.
    pub uid: Fact<u32>,
    /// Effective user number.
    pub euid: Fact<u32>,
}

/// The control group that bounds CPU time (cgroups(7)).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroup {
    /// 1 or 2.
    pub version: Fact<u32>,
    /// Its path in its hierarchy.
    pub path: Fact<String>,
    /// The tightest quota from this group up to the root.
    pub cpu_quota: Fact<Quota>,
    /// How often the quota has stopped the group so far.
    pub throttling: Fact<Throttling>,
}

/// A bound on CPU time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quota {
    /// CPU time in each period, in microseconds; `max` is no bound.
    pub quota_us: Amount,
    /// The period, in microseconds.
    pub period_us: u64,
}

/// How often a quota has stopped a group since the group was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Throttling {
    /// Periods in which it was stopped.
    pub nr_throttled: u64,
    /// Time for which it was stopped, in microseconds.
    pub throttled_us: u64,
}

impl Quota {
    /// The bound as a number of CPUs; nothing where there is no bound.
    pub fn cpus(&self) -> Option<f64> {
        self.quota_us.count().map(|quota_us| quota_us as f64 / self.period_us as f64)
    }
}

impl Container {
    pub(super) fn read(tree: &Tree) -> Container {
        let status = tree.keyed("/proc/self/status");
        Container {
            virtual_machine: virtual_machine(tree).into(),
            hypervisor: hypervisor(tree).into(),
            machine_vendor: tree.word("/sys/class/dmi/id/sys_vendor").into(),
            machine_product: tree.word("/sys/class/dmi/id/product_name").into(),
            container: container(tree).into(),
            cgroup: Cgroup::read(tree),
            capabilities: status.word("CapEff").into(),
            seccomp: seccomp(&status).into(),
            uid: user(&status, 0).into(),
            euid: user(&status, 1).into(),
        }
    }
}

/// The flag that x86 CPUs show to guests; elsewhere a hypervisor that names itself is proof enough.
fn virtual_machine(tree: &Tree) -> Found<bool> {
    match tree.keyed("/proc/cpuinfo").word("flags") {
        Ok(flags) => Ok(flags.split_whitespace().any(|flag| flag == "hypervisor")),
        Err(reason) => hypervisor(tree).map(|_| true).map_err(|_| reason),
    }
}

/// From the kernel's own file, else from a clock source that only guests of that hypervisor have.
fn hypervisor(tree: &Tree) -> Found<String> {
    let absent = match tree.word("/sys/hypervisor/type") {
        Ok(name) => return Ok(name),
        Err(reason) => reason,
    };
    let path = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    let sources = tree.word(path).unwrap_or_default();
    let names = [("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")];
    let known = names.iter().find(|(source, _)| sources.contains(source));
    known
        .map(|(_, name)| name.to_string())
        .ok_or_else(|| format!("{absent}; no clock source of a known hypervisor"))
}

fn container(tree: &Tree) -> Found<String> {
    if let Ok(name) = tree.word("/run/systemd/container") {
        return Ok(name);
    }
    let marks = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    let mark = marks.iter().find(|(path, _)| tree.has(path));
    mark.map(|(_, name)| name.to_string()).ok_or_else(|| "no mark of a container manager".to_string())
}

/// The mode's number is that of proc_pid_status(5).
fn seccomp(status: &Keyed) -> Found<String> {
    let mode = status.word("Seccomp")?;
    Ok(match mode.as_str() {
        "0" => "off".to_string(),
        "1" => "strict".to_string(),
        "2" => "filter".to_string(),
        _ => mode,
    })
}

/// A column of the line `Uid:` (real, effective, saved, file system).
fn user(status: &Keyed, column: usize) -> Found<u32> {
    let line = status.word("Uid")?;
    parse("/proc/self/status", line.split_whitespace().nth(column).unwrap_or_default())
}

/// Where the group's files are.
pub(super) struct Place {
    version: u32,
    path: String,
    /// Folders of the group, then of the groups above it.
    folders: Vec<String>,
}

impl Cgroup {
    fn read(tree: &Tree) -> Cgroup {
        match place(tree) {
            Ok(place) => Cgroup {
                version: Fact::Known(place.version),
                cpu_quota: quota(tree, &place).into(),
                throttling: throttling(tree, &place).into(),
                path: Fact::Known(place.path),
            },
            Err(reason) => Cgroup {
                version: Fact::unknown(&reason),
                path: Fact::unknown(&reason),
                cpu_quota: Fact::unknown(&reason),
                throttling: Fact::unknown(&reason),
            },
        }
    }
}

/// The version-1 hierarchy of the `cpu` controller where there is one, else version 2.
pub(super) fn place(tree: &Tree) -> Found<Place> {
    let text = tree.word(GROUPS)?;
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.splitn(3, ':').collect()).collect();
    let first = lines.iter().find_map(|line| match line[..] {
        [_, names, path] if names.split(',').any(|name| name == "cpu") => Some((names, path)),
        _ => None,
    });
    if let Some((names, path)) = first {
        let mounts = [format!("/sys/fs/cgroup/{names}"), "/sys/fs/cgroup/cpu".to_string()];
        return Ok(at(tree, 1, path, mounts));
    }
    let second = lines.iter().find_map(|line| match line[..] {
        ["0", "", path] => Some(path),
        _ => None,
    });
    let path = second.ok_or_else(|| format!("{GROUPS}: no group that bounds CPU time"))?;
    Ok(at(tree, 2, path, ["/sys/fs/cgroup/unified".to_string(), "/sys/fs/cgroup".to_string()]))
}

/// A container often sees its own group as the root of the mount while the path is the host's, so the
/// folders that are not there are passed over.
fn at(tree: &Tree, version: u32, path: &str, mounts: [String; 2]) -> Place {
    let [first, second] = mounts;
    let mount = if tree.has(&first) { first } else { second };
    let mut rest = if path.split('/').any(|word| word == "..") { "" } else { path.trim_end_matches('/') };
    let mut folders = Vec::new();
    while let Some((above, _)) = rest.rsplit_once('/') {
        folders.push(format!("{mount}{rest}"));
        rest = above;
    }
    folders.push(mount);
    Place { version, path: path.to_string(), folders }
}

/// The tightest quota of the folders; a bound beats none.
fn quota(tree: &Tree, place: &Place) -> Found<Quota> {
    let read =
        |folder: &String| if place.version == 1 { quota_v1(tree, folder) } else { quota_v2(tree, folder) };
    let quotas = place.folders.iter().filter_map(|folder| read(folder).ok());
    let key = |quota: &Quota| quota.cpus().unwrap_or(f64::INFINITY);
    let tightest = quotas.min_by(|a, b| key(a).total_cmp(&key(b)));
    tightest.map_or_else(|| read(&place.folders[0]), Ok)
}

/// `cpu.max`: `max 100000` or `150000 100000`.
fn quota_v2(tree: &Tree, folder: &str) -> Found<Quota> {
    let path = format!("{folder}/cpu.max");
    let text = tree.word(&path)?;
    let (quota, period) = text.split_once(' ').unwrap_or((&text, ""));
    bound(&path, Amount::parse(quota), parse(&path, period)?)
}

/// A quota of -1 is no bound.
fn quota_v1(tree: &Tree, folder: &str) -> Found<Quota> {
    let path = format!("{folder}/cpu.cfs_quota_us");
    let quota: i64 = tree.number(&path)?;
    let amount = u64::try_from(quota).map_or(Amount::Word("max".to_string()), Amount::Count);
    bound(&path, amount, tree.number(&format!("{folder}/cpu.cfs_period_us"))?)
}

fn bound(path: &str, quota_us: Amount, period_us: u64) -> Found<Quota> {
    if period_us == 0 { Err(format!("{path}: a period of 0")) } else { Ok(Quota { quota_us, period_us }) }
}

/// From the nearest `cpu.stat` that counts; version 1 counts nanoseconds.
pub(super) fn throttling(tree: &Tree, place: &Place) -> Found<Throttling> {
    let path = format!("{}/cpu.stat", place.folders[0]);
    let texts = place.folders.iter().filter_map(|folder| tree.text(&format!("{folder}/cpu.stat")).ok());
    let found = texts.filter_map(|text| {
        let field =
            |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<u64>().ok());
        let micros = field("throttled_usec ").or_else(|| field("throttled_time ").map(|nanos| nanos / 1000));
        Some(Throttling { nr_throttled: field("nr_throttled ")?, throttled_us: micros? })
    });
    found.into_iter().next().ok_or_else(|| format!("{path}: no count of throttled periods"))
}
