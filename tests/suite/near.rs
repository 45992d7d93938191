//! Placements by what two CPUs share: the pairs that this machine has are measured, the others are unavailable everywhere.

use crate::machine::cpus;
use crate::program::Program;
use crate::trial;
use ipcmatrix::cell::Axis;
use ipcmatrix::record::{Outcome, Unavailable};
use ipcmatrix::report::load::{Run, read_run};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The nearest first.
const NEAR: [&str; 5] = ["smt_sibling", "same_l2", "same_llc", "cross_llc", "cross_node"];

pub fn trials() -> Vec<Trial> {
    vec![
        trial("near::plan_run_and_ab_have_the_same_placements", &[], all_have_the_same),
        trial("near::a_placement_is_an_arm", &[], a_placement_is_an_arm),
    ]
}

/// A round trip at each of them.
fn program(folder: &Path, words: &[&str]) -> Program {
    let axis = format!("placement={}", NEAR.join(","));
    let cells = ["smoke", "-f", "measure:round_trip mechanism:pipe", "-a", &axis];
    Program::ipcmatrix(words.iter().chain(&cells)).folder(folder)
}

/// The placements that were measured, each on two CPUs of that class; each other one has its reason and a remedy, in the
/// header or in its visits.
fn measured(run: &Run) -> BTreeSet<String> {
    let mut classes = BTreeSet::new();
    let mut refused = BTreeSet::new();
    let mut refuse = |placement: &str, why: &Unavailable| {
        let expected = format!("no two CPUs are {placement} to each other");
        assert!(why.reason.starts_with(&expected) && why.remedy.contains("cross_cpu"), "{why:?}");
        refused.insert(placement.to_owned());
    };
    for planned in &run.header.cells {
        planned.unavailable.iter().for_each(|why| refuse(planned.cell.word(Axis::Placement), why));
    }
    for visit in &run.visits {
        let placement = visit.cell.word(Axis::Placement);
        match &visit.outcome {
            Outcome::Measured(measured) => {
                assert_eq!(measured.effective["cpu_class"], placement);
                let workers = &measured.samples[0].workers;
                let used: BTreeSet<usize> = workers.iter().map(|worker| worker.cpu).collect();
                assert_eq!(used.len(), 2, "{placement}: a CPU each");
                classes.insert(placement.to_owned());
            }
            Outcome::Unavailable(why) => refuse(placement, why),
            Outcome::Failed { phase, error } => panic!("{placement} failed ({phase}): {error}"),
        }
    }
    let all: BTreeSet<String> = classes.union(&refused).cloned().collect();
    assert_eq!(all, NEAR.map(String::from).into(), "each is one or the other");
    assert!(classes.is_disjoint(&refused), "{classes:?} {refused:?}");
    classes
}

/// Whether /sys names two threads of one core among the CPUs that the tests may use.
fn has_siblings() -> bool {
    let allowed = cpus();
    let core = |cpu: &usize| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string())
    };
    allowed.iter().map(core).collect::<BTreeSet<String>>().len() < allowed.len()
}

fn all_have_the_same() {
    let folder = tempfile::tempdir().unwrap();
    program(folder.path(), &["run", "--test", "-o", "run"]).run().exits(0);
    let run = read_run(&folder.path().join("run")).unwrap();
    let here = measured(&run);
    assert_eq!(here.contains("smt_sibling"), has_siblings(), "{here:?}");

    let plan = program(folder.path(), &["plan", "--cells"]).run().exits(0).stdout;
    let ab =
        ["ab", "--no-lock", "-q", "--a", "base", "--b", "env:IPCMATRIX_X=1", "--rounds", "6", "-o", "ab"];
    let text = program(folder.path(), &ab).run().exits(0).stdout;
    let both = read_run(&folder.path().join("ab")).unwrap();
    assert_eq!(measured(&both), here);
    for placement in NEAR {
        let is_here = here.contains(placement);
        let refused = format!("no two CPUs are {placement} to each other");
        for (name, document) in [("plan", &plan), ("ab", &text)] {
            assert_eq!(document.contains(&refused), !is_here, "{name}, {placement}: {document}");
        }
        assert!(plan.contains(&format!("placement={placement}")), "{plan}");
    }
    let remedies = plan.matches("remedy: choose cross_cpu, allow more CPUs with `taskset`").count();
    assert_eq!(remedies, NEAR.len() - here.len(), "{plan}");
    assert_eq!(text.contains("to make it available: choose cross_cpu"), here.len() < NEAR.len(), "{text}");
}

fn a_placement_is_an_arm() {
    let words =
        ["ab", "--no-lock", "-q", "smoke", "-f", "measure:round_trip mechanism:pipe placement:same_cpu"];
    for placement in NEAR {
        let folder = tempfile::tempdir().unwrap();
        let b = format!("placement={placement}");
        let arms = ["--a", "base", "--b", &b, "--rounds", "6", "-o", "out"];
        Program::ipcmatrix(words.iter().chain(&arms)).folder(folder.path()).run().exits(0);
        let run = read_run(&folder.path().join("out")).unwrap();
        let is_here = run.header.cells[1].unavailable.is_none();
        assert_eq!(run.header.cells[1].cell.word(Axis::Placement), placement);
        let of_b = run.visits.iter().filter(|visit| visit.cell_index == 1).count();
        assert_eq!(of_b, if is_here { 6 } else { 0 }, "{placement}");
    }
}
