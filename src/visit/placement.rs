//! Where workers may run. sched_setaffinity(2).

use super::refusal::Refusal;
use crate::environment::proximity::{Class, Proximity};
use crate::sys::affinity::{allowed_cpus, pin};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// The CPU of each worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// `None` leaves the choice to the kernel.
    pinned: Option<Vec<usize>>,
    allowed: Vec<usize>,
}

/// The machine of this process; a visit or a probe asks once.
static HERE: OnceLock<Proximity> = OnceLock::new();

/// Places `workers` on the CPUs that this process may use. Workers that share one CPU are kept off the avoided ones, where another
/// will do.
///
/// # Errors
/// Unavailable where there are too few CPUs or workers for the placement.
pub fn place(placement: &str, workers: usize, avoided: &[usize]) -> Result<Placement, Refusal> {
    let allowed = allowed_cpus().map_err(|error| Refusal::failed("start", error))?;
    let order = in_order(&allowed);
    let here = || HERE.get_or_init(|| Proximity::read(Path::new("/"), &order));
    match Class::named(placement) {
        Some(class) => place_pair(class, workers, allowed, here()),
        None if placement == "same_cpu" && avoided.contains(&order[0]) => {
            let cpu = other_cpu(&order, avoided, here());
            Ok(Placement { pinned: Some(vec![cpu; workers]), allowed })
        }
        None => place_on(placement, workers, allowed),
    }
}

/// The first CPU that is not avoided, works like the first of all and shares no core with an avoided one, where it would be slowed
/// without a sign of it. The first of all where there is none.
fn other_cpu(order: &[usize], avoided: &[usize], proximity: &Proximity) -> usize {
    let has_its_core =
        |cpu: usize| avoided.iter().all(|other| proximity.class(cpu, *other) != Ok(Class::SmtSibling));
    let will_do =
        |cpu: &&usize| !avoided.contains(cpu) && proximity.alike(order[0], **cpu) && has_its_core(**cpu);
    order.iter().find(will_do).copied().unwrap_or(order[0])
}

/// The last CPUs first: CPU 0 serves most interrupts, so it is taken only when there is no choice.
fn in_order(allowed: &[usize]) -> Vec<usize> {
    allowed.iter().rev().copied().collect()
}

/// Places workers in turn on the two CPUs of the first pair of that class.
fn place_pair(
    class: Class,
    workers: usize,
    allowed: Vec<usize>,
    proximity: &Proximity,
) -> Result<Placement, Refusal> {
    let name = class.name();
    if workers < 2 {
        return Err(one_worker(name));
    }
    let Some(pair) = proximity.pair(class) else {
        let list: Vec<String> = allowed.iter().map(usize::to_string).collect();
        let has = proximity.told();
        return Err(Refusal::unavailable(
            format!(
                "no two CPUs are {name} to each other among those that are allowed ({}): {has}",
                list.join(",")
            ),
            "choose cross_cpu, allow more CPUs with `taskset`, or use a machine that has such CPUs",
        ));
    };
    Ok(Placement { pinned: Some(pair.iter().copied().cycle().take(workers).collect()), allowed })
}

fn one_worker(placement: &str) -> Refusal {
    Refusal::unavailable(
        format!("{placement} needs two workers, the cell has one"),
        "use same_cpu for one worker",
    )
}

fn place_on(placement: &str, workers: usize, allowed: Vec<usize>) -> Result<Placement, Refusal> {
    let order = in_order(&allowed);
    let pinned = match placement {
        "free" => None,
        "same_cpu" => Some(vec![order[0]; workers]),
        "cross_cpu" if workers < 2 => {
            return Err(one_worker(placement));
        }
        "cross_cpu" if order.len() < 2 => {
            return Err(Refusal::unavailable(
                format!("cross_cpu needs two CPUs, the process may run on CPU {} only (affinity)", order[0]),
                "run with more CPUs allowed, e.g. `taskset -c 0,1 ipcmatrix run ...`",
            ));
        }
        "cross_cpu" => Some(order.iter().copied().cycle().take(workers).collect()),
        other => return Err(Refusal::failed("start", format!("there is no placement \"{other}\""))),
    };
    Ok(Placement { pinned, allowed })
}

impl Placement {
    /// The CPU that worker must be on, if it is pinned.
    pub fn of(&self, worker: usize) -> Option<usize> {
        self.pinned.as_ref().map(|pinned| pinned[worker])
    }

    /// The CPUs that the workers may use.
    pub fn cpus(&self) -> Vec<usize> {
        let mut cpus = self.pinned.clone().unwrap_or_else(|| self.allowed.clone());
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// The same with one worker on each CPU, where the workers are pinned to just two.
    pub fn pair(&self) -> Option<Placement> {
        let cpus = self.pinned.as_ref().map(|_| self.cpus()).filter(|cpus| cpus.len() == 2)?;
        Some(Placement { pinned: Some(cpus), allowed: self.allowed.clone() })
    }

    /// How near the CPUs are to each other, where the workers are pinned to just two and it is known.
    pub fn class(&self) -> Option<&'static str> {
        let cpus = self.pinned.as_ref().map(|_| self.cpus())?;
        let [one, other] = cpus[..] else { return None };
        Proximity::read(Path::new("/"), &cpus).class(one, other).ok().map(Class::name)
    }

    /// Puts the coordinator on a CPU that no worker uses, where there is one, so that its waking up
    /// after a batch disturbs nobody.
    ///
    /// # Errors
    /// sched_setaffinity(2).
    pub fn step_aside(&self) -> io::Result<()> {
        let used = self.cpus();
        match self.allowed.iter().find(|cpu| !used.contains(cpu)) {
            Some(free) => pin(*free),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pinned(placement: &str, workers: usize, allowed: &[usize]) -> Option<Vec<usize>> {
        place_on(placement, workers, allowed.to_vec()).unwrap().pinned
    }

    #[test]
    fn workers_share_a_cpu_or_spread_over_all_and_leave_cpu_0_for_last() {
        assert_eq!(pinned("same_cpu", 3, &[0, 1, 5]), Some(vec![5, 5, 5]));
        assert_eq!(pinned("cross_cpu", 2, &[0, 1, 5]), Some(vec![5, 1]));
        assert_eq!(pinned("cross_cpu", 5, &[0, 1]), Some(vec![1, 0, 1, 0, 1]));
        assert_eq!(pinned("free", 2, &[0, 1]), None);
    }

    /// A machine of five CPUs: 3 and 4 are one core, 0 to 2 share a cache with them.
    fn five_cpus() -> crate::environment::saved::Saved {
        let cpus = "sys/devices/system/cpu/cpu";
        crate::environment::saved::Saved::of(&format!(
            "{cpus}{{0-2}}/topology/thread_siblings_list {{n}}\n{cpus}{{3-4}}/topology/thread_siblings_list 3-4\n\
             {cpus}{{0-4}}/cache/index3/level 3\n{cpus}{{0-4}}/cache/index3/type Unified\n\
             {cpus}{{0-4}}/cache/index3/shared_cpu_list 0-4\n"
        ))
    }

    #[test]
    fn workers_take_turns_on_the_two_cpus_of_a_pair() {
        let machine = five_cpus();
        let placed = |class, workers, allowed: &[usize]| {
            let proximity = Proximity::read(machine.root(), &in_order(allowed));
            place_pair(class, workers, allowed.to_vec(), &proximity)
        };
        let pinned = |class, workers, allowed| placed(class, workers, allowed).unwrap().pinned.unwrap();
        assert_eq!(pinned(Class::SmtSibling, 3, &[0, 1, 2, 3, 4]), [4, 3, 4]);
        assert_eq!(pinned(Class::SameLlc, 2, &[0, 1, 2, 3, 4]), [4, 2]);
        assert_eq!(pinned(Class::SameLlc, 2, &[0, 1, 3]), [3, 1], "CPU 0 is left where there is a choice");
        let Err(Refusal::Unavailable(none)) = placed(Class::SmtSibling, 2, &[0, 1, 3]) else {
            panic!("there are no siblings among them")
        };
        assert_eq!(
            none.reason,
            "no two CPUs are smt_sibling to each other among those that are allowed (0,1,3): same_llc"
        );
        assert!(matches!(placed(Class::SameLlc, 1, &[0, 1]), Err(Refusal::Unavailable(_))));
    }

    #[test]
    fn workers_that_share_a_cpu_are_kept_off_one_that_is_in_use() {
        let machine = five_cpus();
        let other = |allowed: &[usize], avoided: &[usize]| {
            let order = in_order(allowed);
            other_cpu(&order, avoided, &Proximity::read(machine.root(), &order))
        };
        assert_eq!(other(&[0, 1, 2, 3, 4], &[4]), 2, "3 shares its core");
        assert_eq!(other(&[3, 4], &[4]), 4, "a thread of the same core is no way out");
        assert_eq!(other(&[0, 1, 2, 3, 4], &[2, 4]), 1);
        assert_eq!(other(&[0, 4], &[4]), 0);
        assert_eq!(other(&[0, 4], &[0, 4]), 4, "as ever where all are in use");
        assert_eq!(other(&[4], &[4]), 4);
        let order = in_order(&[0, 1]);
        let text = "sys/devices/system/cpu/cpu{0-1}/topology/thread_siblings_list {n}\n\
                    sys/devices/system/cpu/cpu0/cpu_capacity 400\nsys/devices/system/cpu/cpu1/cpu_capacity 1024\n";
        let unlike = crate::environment::saved::Saved::of(text);
        assert_eq!(other_cpu(&order, &[1], &Proximity::read(unlike.root(), &order)), 1, "0 is a slower one");
    }

    #[test]
    fn a_pair_is_of_workers_that_are_pinned_to_two_cpus() {
        let pair = |placement, workers, allowed: &[usize]| {
            place_on(placement, workers, allowed.to_vec()).unwrap().pair().and_then(|pair| pair.pinned)
        };
        assert_eq!(pair("cross_cpu", 5, &[0, 1]), Some(vec![0, 1]));
        assert_eq!(pair("cross_cpu", 2, &[0, 1, 2]), Some(vec![1, 2]));
        assert_eq!(pair("cross_cpu", 3, &[0, 1, 2]), None);
        assert_eq!(pair("same_cpu", 2, &[0, 1]), None);
        assert_eq!(pair("free", 2, &[0, 1]), None);
    }

    #[test]
    fn what_cannot_be_crossed_is_unavailable_with_the_cpu_named() {
        let Err(Refusal::Unavailable(one_cpu)) = place_on("cross_cpu", 2, vec![3]) else {
            panic!("one CPU must not do")
        };
        assert!(one_cpu.reason.contains("CPU 3"), "{}", one_cpu.reason);
        assert!(matches!(place_on("cross_cpu", 1, vec![0, 1]), Err(Refusal::Unavailable(_))));
    }
}
