//! Where workers may run. sched_setaffinity(2).

use super::refusal::Refusal;
use crate::environment::proximity::{Class, Proximity};
use crate::record::Moved;
use crate::sys::affinity::{allowed_cpus, pin};
use std::io;
use std::path::Path;
use std::sync::OnceLock;

/// The CPU of each worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// `None` leaves the choice to the kernel.
    pinned: Option<Vec<usize>>,
    /// The CPUs that would do as well for workers that share one, theirs first; else none.
    as_good: Vec<usize>,
    moved: Option<Moved>,
    allowed: Vec<usize>,
}

/// The machine of this process; a visit or a probe asks once.
static HERE: OnceLock<Proximity> = OnceLock::new();

/// Places `workers` on the CPUs that this process may use. Workers that share one CPU are kept off the avoided ones, where another
/// will do; what else would do as well stands beside ([`Placement::as_good`]).
///
/// # Errors
/// Unavailable where there are too few CPUs or workers for the placement.
pub fn place(placement: &str, workers: usize, avoided: &[usize]) -> Result<Placement, Refusal> {
    let allowed = allowed_cpus().map_err(|error| Refusal::failed("start", error))?;
    let order = in_order(&allowed);
    let here = || HERE.get_or_init(|| Proximity::read(Path::new("/"), &order));
    match Class::named(placement) {
        Some(class) => place_pair(class, workers, allowed, here()),
        None if placement == "same_cpu" => Ok(share(as_good(&order, avoided, here()), workers, allowed)),
        None => place_on(placement, workers, allowed),
    }
}

/// Places workers on the first of those CPUs.
fn share(as_good: Vec<usize>, workers: usize, allowed: Vec<usize>) -> Placement {
    let moved = (allowed.last() != as_good.first()).then_some(Moved::Crowded);
    Placement { pinned: Some(vec![as_good[0]; workers]), as_good, moved, allowed }
}

/// More are not looked at, as each look takes time.
const MOST_AS_GOOD: usize = 4;

/// The first CPUs that are not avoided, work like the first of all and share no core with an avoided one, where they would be slowed
/// without a sign of it. Those that are known to have another memory node or last-level cache are left out, and where three are allowed CPU 0,
/// which serves most interrupts. The first of all where there is none.
fn as_good(order: &[usize], avoided: &[usize], proximity: &Proximity) -> Vec<usize> {
    let has_its_core =
        |cpu: usize| avoided.iter().all(|other| proximity.class(cpu, *other) != Ok(Class::SmtSibling));
    let will_do =
        |cpu: &usize| !avoided.contains(cpu) && proximity.alike(order[0], *cpu) && has_its_core(*cpu);
    let mut will_do = order.iter().copied().filter(will_do);
    let first = will_do.next().unwrap_or(order[0]);
    let near = |cpu: &usize| {
        let class = proximity.class(first, *cpu);
        ![Ok(Class::CrossLlc), Ok(Class::CrossNode)].contains(&class)
    };
    let mut as_good: Vec<usize> =
        std::iter::once(first).chain(will_do.filter(near)).take(MOST_AS_GOOD).collect();
    as_good.retain(|cpu| *cpu != 0 || order.len() < 3 || *cpu == first);
    as_good
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
    Ok(Placement::of_cpus(Some(pair.iter().copied().cycle().take(workers).collect()), allowed))
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
    Ok(Placement::of_cpus(pinned, allowed))
}

impl Placement {
    fn of_cpus(pinned: Option<Vec<usize>>, allowed: Vec<usize>) -> Placement {
        Placement { pinned, as_good: Vec::new(), moved: None, allowed }
    }

    /// The CPUs that would do as well for workers that share one, four at most, theirs first; none where they do not share one.
    pub fn as_good(&self) -> &[usize] {
        &self.as_good
    }

    /// The same on that CPU, where the workers share one.
    pub fn on(self, cpu: usize) -> Placement {
        if self.as_good.is_empty() {
            return self;
        }
        let workers = self.pinned.iter().flatten().count();
        let first_of_all = self.allowed.last() == Some(&cpu);
        let moved = self.moved.or(Some(Moved::FreerCore)).filter(|_| !first_of_all);
        Placement { pinned: Some(vec![cpu; workers]), moved, ..self }
    }

    /// Why workers that share a CPU are on another one than the last that they may use.
    pub fn moved(&self) -> Option<Moved> {
        self.moved
    }

    /// Whether this process may use that CPU.
    pub fn allows(&self, cpu: usize) -> bool {
        self.allowed.contains(&cpu)
    }

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
        Some(Placement::of_cpus(Some(cpus), self.allowed.clone()))
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
        let shared = share(vec![5, 1], 3, vec![0, 1, 5]);
        assert_eq!((shared.pinned, shared.moved), (Some(vec![5, 5, 5]), None));
        assert_eq!(share(vec![1, 0], 3, vec![0, 1, 5]).moved, Some(Moved::Crowded));
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
            as_good(&order, avoided, &Proximity::read(machine.root(), &order))
        };
        assert_eq!(other(&[0, 1, 2, 3, 4], &[4]), [2, 1], "3 shares its core, 0 serves interrupts");
        assert_eq!(other(&[3, 4], &[4]), [4], "a thread of the same core is no way out");
        assert_eq!(other(&[0, 1, 2, 3, 4], &[2, 4]), [1]);
        assert_eq!(other(&[0, 1, 2, 3, 4], &[1, 2, 3, 4]), [0], "the only one that is left");
        assert_eq!(other(&[0, 4], &[4]), [0]);
        assert_eq!(other(&[0, 4], &[0, 4]), [4], "as ever where all are in use");
        assert_eq!(other(&[4], &[4]), [4]);
        assert_eq!(other(&[0, 4], &[]), [4, 0], "of two CPUs 0 is a choice");
        assert_eq!(other(&[0, 1, 2, 3, 4], &[]), [4, 3, 2, 1], "no more than four");
        let order = in_order(&[0, 1]);
        let text = "sys/devices/system/cpu/cpu{0-1}/topology/thread_siblings_list {n}\n\
                    sys/devices/system/cpu/cpu0/cpu_capacity 400\nsys/devices/system/cpu/cpu1/cpu_capacity 1024\n";
        let unlike = crate::environment::saved::Saved::of(text);
        for avoided in [&[][..], &[1]] {
            assert_eq!(
                as_good(&order, avoided, &Proximity::read(unlike.root(), &order)),
                [1],
                "0 is a slower one"
            );
        }
        let far = "sys/devices/system/cpu/cpu{0-1}/cache/index3/level 3\nsys/devices/system/cpu/cpu{0-1}/cache/index3/type Unified\n\
                   sys/devices/system/cpu/cpu{0-1}/cache/index3/shared_cpu_list {n}\n\
                   sys/devices/system/cpu/cpu{0-1}/topology/thread_siblings_list {n}\n";
        let far = crate::environment::saved::Saved::of(far);
        let proximity = Proximity::read(far.root(), &order);
        assert_eq!(proximity.class(0, 1), Ok(Class::CrossLlc));
        assert_eq!(as_good(&order, &[], &proximity), [1], "of another cache");
        assert_eq!(as_good(&order, &[1], &proximity), [0], "but better than one in use");
        let untold = crate::environment::saved::Saved::of(
            "sys/devices/system/cpu/cpu{0-1}/topology/thread_siblings_list {n}\n",
        );
        let proximity = Proximity::read(untold.root(), &order);
        assert!(proximity.class(0, 1).is_err());
        assert_eq!(as_good(&order, &[], &proximity), [1, 0], "a guest is not told of caches");
    }

    #[test]
    fn workers_that_share_a_cpu_move_with_the_reason_told() {
        let shared = |as_good: &[usize]| share(as_good.to_vec(), 3, vec![0, 1, 5]);
        let there = shared(&[5, 1]).on(1);
        assert_eq!((there.cpus(), there.of(2), there.moved()), (vec![1], Some(1), Some(Moved::FreerCore)));
        assert_eq!(there.on(5).moved(), None, "as ever");
        let crowded = shared(&[1, 0]).on(0);
        assert_eq!((crowded.cpus(), crowded.moved()), (vec![0], Some(Moved::Crowded)));
        let spread = place_on("cross_cpu", 2, vec![0, 1, 5]).unwrap();
        assert_eq!(spread.clone().on(0), spread, "they have a CPU each");
    }

    #[test]
    fn a_pair_is_of_workers_that_are_pinned_to_two_cpus() {
        let pair = |placement, workers, allowed: &[usize]| {
            place_on(placement, workers, allowed.to_vec()).unwrap().pair().and_then(|pair| pair.pinned)
        };
        assert_eq!(pair("cross_cpu", 5, &[0, 1]), Some(vec![0, 1]));
        assert_eq!(pair("cross_cpu", 2, &[0, 1, 2]), Some(vec![1, 2]));
        assert_eq!(pair("cross_cpu", 3, &[0, 1, 2]), None);
        assert_eq!(share(vec![1, 0], 2, vec![0, 1]).pair(), None);
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
