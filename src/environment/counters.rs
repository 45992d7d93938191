//! What the kernel has counted so far of the time of the CPUs, so that two looks tell what happened between them.

use super::container::{Place, place, throttling};
use super::cpu::allowed_numbers;
use super::tree::Tree;
use nix::unistd::{SysconfVar, sysconf};
use std::collections::BTreeSet;
use std::path::Path;

const STAT: &str = "/proc/stat";
const PRESSURE: &str = "/proc/pressure/cpu";
/// Ticks a second in proc_stat(5) on every Linux that this program runs on, where the kernel does not say.
const USUAL_TICKS: u64 = 100;
const SECOND_NS: u64 = 1_000_000_000;

/// Counts since the machine was started; `None` where it does not tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Time of the CPUs that the program may use, in nanoseconds. It moves in ticks of 10 ms. proc_stat(5).
    pub cpus: Option<CpuTime>,
    /// Microseconds in which some task waited for a CPU. `/proc/pressure/cpu`.
    pub pressure_us: Option<u64>,
    /// How often a quota stopped the control group of this program. cgroups(7).
    pub throttled: Option<u64>,
}

/// Time of several CPUs together, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// How many CPUs.
    pub cpus: u64,
    /// Used by programs and by the kernel for them. Interrupts are left out: they may serve what is measured, and
    /// whether its own time has them in it depends on how the kernel was built.
    pub busy_ns: u64,
    /// Taken by the host while a CPU was ready.
    pub steal_ns: u64,
}

/// Reads the counters of this machine again and again.
pub struct Watched {
    tree: Tree,
    /// The CPUs that the program may use; `None` where it is not known.
    cpus: Option<BTreeSet<u32>>,
    group: Option<Place>,
    tick_ns: u64,
}

impl Watched {
    /// The counters of the machine below `root`: `/` is the machine itself, anything else a saved tree.
    pub fn new(root: &Path) -> Watched {
        let tree = Tree::new(root);
        let cpus = allowed_numbers(&tree);
        let group = place(&tree).ok();
        let ticks = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|ticks| u64::try_from(ticks).ok());
        let tick_ns = SECOND_NS / ticks.filter(|ticks| *ticks > 0).unwrap_or(USUAL_TICKS);
        Watched { tree, cpus, group, tick_ns }
    }

    /// What they say now.
    pub fn read(&self) -> Counters {
        Counters {
            cpus: self.cpu_time(),
            pressure_us: self.tree.text(PRESSURE).ok().as_deref().and_then(pressure_us),
            throttled: self.group.as_ref().and_then(|group| {
                throttling(&self.tree, group).ok().map(|throttling| throttling.nr_throttled)
            }),
        }
    }

    fn cpu_time(&self) -> Option<CpuTime> {
        let (cpus, text) = (self.cpus.as_ref()?, self.tree.text(STAT).ok()?);
        let mut all = CpuTime::default();
        for line in text.lines().filter_map(|line| line.strip_prefix("cpu")) {
            let Some((number, ticks)) = line.split_once(' ') else { continue };
            if number.parse().is_ok_and(|number| cpus.contains(&number)) {
                let [user, nice, system, _idle, _iowait, _irq, _softirq, steal] = first_numbers(ticks)?;
                all.cpus += 1;
                all.busy_ns += (user + nice + system) * self.tick_ns;
                all.steal_ns += steal * self.tick_ns;
            }
        }
        (all.cpus > 0).then_some(all)
    }
}

fn first_numbers<const COUNT: usize>(text: &str) -> Option<[u64; COUNT]> {
    let numbers: Option<Vec<u64>> =
        text.split_whitespace().take(COUNT).map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`
fn pressure_us(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("some "))?;
    line.split_whitespace().find_map(|word| word.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::saved::Saved;

    /// CPUs 1 and 2 of four; its group is the second version's.
    fn machine() -> Saved {
        Saved::of(
            "proc/self/status Cpus_allowed_list: 1-2\nsys/devices/system/cpu/online 0-3\nproc/self/cgroup 0::/box\n\
             sys/fs/cgroup/box/cpu.stat usage_usec 5\\nnr_periods 9\\nnr_throttled 3\\nthrottled_usec 70\n\
             proc/pressure/cpu some avg10=0.00 avg60=1.00 avg300=0.10 total=420\\nfull avg10=0 avg60=0 avg300=0 total=7\n\
             proc/stat cpu  9 9 9 9 9 9 9 9 9 9\\ncpu0 1 1 1 1 1 1 1 1 0 0\\ncpu1 100 20 3 1000 5 6 7 8 50 0\\n\
             cpu2 1 0 0 1000 0 0 0 2 0 0\\ncpu12 7 7 7 7 7 7 7 7 7 7\\nintr 1 2 3",
        )
    }

    #[test]
    fn only_the_cpus_that_may_be_used_count_and_interrupts_do_not() {
        let counters = Watched::new(machine().root()).read();
        let tick = 10_000_000;
        let time = CpuTime { cpus: 2, busy_ns: 124 * tick, steal_ns: 10 * tick };
        assert_eq!(counters.cpus, Some(time));
        assert_eq!((counters.pressure_us, counters.throttled), (Some(420), Some(3)));
    }

    #[test]
    fn the_first_version_of_groups_counts_too() {
        let machine = machine();
        machine.put("proc/self/cgroup", "2:cpu,cpuacct:/box\n1:memory:/");
        machine.put(
            "sys/fs/cgroup/cpu,cpuacct/box/cpu.stat",
            "nr_periods 9\nnr_throttled 4\nthrottled_time 70000",
        );
        assert_eq!(Watched::new(machine.root()).read().throttled, Some(4));
    }

    #[test]
    fn what_is_not_there_or_damaged_is_not_told() {
        let machine = machine();
        machine.remove("proc/pressure/cpu").remove("sys/fs/cgroup/box/cpu.stat");
        machine.put("proc/stat", "cpu1 100 20 three 1000 5 6 7 8\ncpu2 1 0 0 1000 0 0 0 2");
        assert_eq!(Watched::new(machine.root()).read(), Counters::default());
        machine.put("proc/stat", "cpu0 1 1 1 1 1 1 1 1");
        assert_eq!(Watched::new(machine.root()).read().cpus, None, "none of its CPUs");
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(Watched::new(empty.path()).read(), Counters::default());
    }

    #[test]
    fn counters_of_this_machine_move_on() {
        let watched = Watched::new(Path::new("/"));
        let (before, after) = (watched.read(), watched.read());
        if let (Some(before), Some(after)) = (before.cpus, after.cpus) {
            assert!(before.cpus == after.cpus && before.busy_ns <= after.busy_ns, "{before:?} {after:?}");
        }
        assert!(after.cpus.is_some(), "every Linux tells of its CPUs");
    }
}
