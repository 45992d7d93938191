//! What is recorded of what disturbs a visit: run delay, ping-pong, and what the runner saw.

use crate::cells::{failed, fixed, increment, measured, round_trip, shipped};
use crate::hostile;
use crate::machine::Need;
use crate::program::{IPCMATRIX, Program};
use crate::trial;
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Effort, Measured, Moved, Outcome, Part, Request};
use ipcmatrix::report::load::read_run;
use ipcmatrix::sys::affinity::allowed_cpus;
use libtest_mimic::Trial;
use nix::sys::signal::Signal;
use std::collections::BTreeSet;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("noise::two_cpus_have_a_ping_pong", &[Need::TwoCpus], ping_pong),
        trial("noise::each_cell_of_a_visit_has_its_own", &[Need::TwoCpus], several_cells),
        trial("noise::a_worker_that_fails_ends_the_ping_pong_too", &[Need::TwoCpus], a_worker_fails),
        trial("noise::a_run_tells_what_the_runner_saw", &[], a_run_tells),
        trial("noise::workers_that_share_a_cpu_avoid_one", &[Need::TwoCpus], avoid_one),
        trial("noise::the_second_of_a_pair_follows_the_first", &[Need::TwoCpus], follow_the_first_of_a_pair),
        trial("noise::a_visit_tells_why_it_is_on_another_cpu", &[Need::TwoCpus], choose_a_core),
        trial("noise::a_neighbour_on_the_cpu_of_a_run_is_avoided", &[Need::TwoCpus], neighbour),
    ]
}

/// The request as one whose figures are shown.
fn shown(request: Request) -> Request {
    Request { effort: Effort { fill_channels: true, ..request.effort }, ..request }
}

fn ping_pong() {
    for spawn in ["threads", "processes"] {
        let of = |placement| fixed(&round_trip("pipe", spawn, placement), 500, 2);
        let crossing = measured(shipped(&shown(of("cross_cpu"))));
        let both = crossing.ping_pong_ns.expect("two CPUs");
        assert!(both.iter().all(|ns| *ns > 1.0), "{both:?}");
        let mut workers = crossing.samples.iter().flat_map(|sample| &sample.workers);
        assert!(workers.all(|worker| worker.run_delay_ns.is_some()), "{crossing:?}");
        assert_eq!(measured(shipped(&shown(of("same_cpu")))).ping_pong_ns, None, "one CPU");
        let test = measured(shipped(&of("cross_cpu")));
        assert_eq!((test.ping_pong_ns, test.whole_core_ns), (None, None), "a test shows no figure");
        for placement in ["same_cpu", "cross_cpu"] {
            let pinned = measured(shipped(&shown(of(placement))));
            for both in [pinned.whole_core_ns, pinned.dependent_ns] {
                assert!(both.expect("pinned").iter().all(|ns| *ns > 1000), "{both:?}");
            }
        }
        assert_eq!(measured(shipped(&shown(of("free")))).whole_core_ns, None, "they have no core");
    }
}

fn several_cells() {
    let part = |mechanism: &str| {
        let cell = Cell::new(Measure::Serve, mechanism)
            .with(Axis::Socket, Value::word("unix"))
            .with(Axis::IdleConnections, Value::Count(0))
            .with(Axis::Spawn, Value::word("processes"))
            .with(Axis::Placement, Value::word("cross_cpu"));
        Part { cell, ops: Some(500) }
    };
    let parts = vec![part("poll"), part("epoll")];
    let request = Request { parts, ..shown(fixed(&round_trip("pipe", "processes", "cross_cpu"), 500, 2)) };
    let ended =
        Program::new(IPCMATRIX).args(["cell"]).input(serde_json::to_vec(&request).unwrap()).run().exits(0);
    let outcomes: Vec<Outcome> =
        ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ways: Vec<[f64; 2]> =
        outcomes.into_iter().map(|outcome| measured(outcome).ping_pong_ns.expect("two CPUs")).collect();
    assert_eq!(ways.len(), 2);
}

/// The visit ends with the usual words, and nothing of it is left, those who play the ping-pong included.
fn a_worker_fails() {
    let cases = [
        ("processes", "dies", "worker 1 died: it was killed by SIGKILL"),
        ("processes", "fails", "worker 1: a made-up error"),
        ("threads", "fails", "worker 1: a made-up error"),
    ];
    for (spawn, mechanism, wanted) in cases {
        let (phase, error) =
            failed(hostile::visit(&shown(fixed(&increment(mechanism, 2, spawn, "cross_cpu"), 1000, 2))));
        assert!(phase == "sample" && error.contains(wanted), "{spawn}: {phase}: {error}");
    }
}

fn a_run_tells() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["run", "smoke", "-q", "--quick", "--budget", "4s", "-o", "out"];
    let filter = ["-f", "measure:round_trip mechanism:(pipe OR eventfd)"];
    Program::ipcmatrix(words.into_iter().chain(filter)).folder(folder.path()).run().exits(0);
    let run = read_run(&folder.path().join("out")).unwrap();
    let noise: Vec<_> = run.visits.iter().filter_map(|visit| visit.noise).collect();
    assert_eq!(noise.len(), run.visits.len(), "one a visit, as each has one cell");
    let rounds = run.visits.iter().map(|visit| visit.round).max().unwrap() as usize;
    assert_eq!(noise.iter().filter(|noise| noise.canary_ns.is_some_and(|ns| ns > 0)).count(), rounds);
    let after_a_second = run.visits.iter().filter(|visit| visit.begin_ns > 1_000_000_000);
    for visit in after_a_second {
        let share = visit.noise.unwrap().foreign_share.expect("a window of a second");
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}

/// The CPUs on which the workers of a visit ended.
fn cpus(measured: &Measured) -> BTreeSet<usize> {
    measured.samples.iter().flat_map(|sample| &sample.workers).map(|worker| worker.cpu).collect()
}

/// The CPU that is taken where nothing keeps a visit off it.
fn last_cpu() -> usize {
    *allowed_cpus().unwrap().last().unwrap()
}

fn avoid_one() {
    let visited = |avoided_cpus: &[usize]| {
        let request = fixed(&round_trip("pipe", "processes", "same_cpu"), 500, 2);
        cpus(&measured(shipped(&Request { avoided_cpus: avoided_cpus.to_vec(), ..request })))
    };
    let last = last_cpu();
    assert_eq!(visited(&[]), BTreeSet::from([last]));
    let elsewhere = visited(&[last]);
    assert!(elsewhere.len() == 1 && !elsewhere.contains(&last), "{elsewhere:?}, {last} is avoided");
    assert_eq!(visited(&allowed_cpus().unwrap()), BTreeSet::from([last]), "there is no other");
}

fn follow_the_first_of_a_pair() {
    let visited = |same_cpu_as: Option<usize>| {
        let request = fixed(&round_trip("pipe", "processes", "same_cpu"), 500, 2);
        let measured = measured(shipped(&Request { same_cpu_as, ..request }));
        (cpus(&measured), measured.moved)
    };
    let first = allowed_cpus().unwrap()[0];
    assert_ne!(first, last_cpu());
    assert_eq!(visited(Some(first)), (BTreeSet::from([first]), Some(Moved::FreerCore)));
    assert_eq!(visited(Some(last_cpu())), (BTreeSet::from([last_cpu()]), None));
    assert_eq!(visited(Some(1_000_000)), (BTreeSet::from([last_cpu()]), None), "one that there is not");
}

/// Which core is freest only the machine knows; that the record tells of a move holds whichever it is.
fn choose_a_core() {
    for _ in 0..8 {
        let request = shown(fixed(&round_trip("pipe", "processes", "same_cpu"), 500, 2));
        let chosen = measured(shipped(&request));
        let on = cpus(&chosen);
        assert_eq!(on.len(), 1, "{on:?}");
        assert_eq!(chosen.moved, (on != BTreeSet::from([last_cpu()])).then_some(Moved::FreerCore));
    }
}

fn neighbour() {
    let folder = tempfile::tempdir().unwrap();
    let last = last_cpu().to_string();
    let spinner = Program::new("taskset").args(["-c", &last, "sh", "-c", "while :; do :; done"]).start();
    let words = ["run", "smoke", "-q", "--quick", "--budget", "4s", "-o", "out"];
    let filter = ["-f", "measure:round_trip placement:same_cpu mechanism:(pipe OR eventfd)"];
    let ended = Program::ipcmatrix(words.into_iter().chain(filter)).folder(folder.path()).run();
    spinner.signal(Signal::SIGKILL);
    spinner.end();
    let ended = ended.exits(0);
    let run = read_run(&folder.path().join("out")).unwrap();
    let used: BTreeSet<usize> = run
        .visits
        .iter()
        .filter_map(|visit| {
            if let Outcome::Measured(measured) = &visit.outcome { Some(cpus(measured)) } else { None }
        })
        .flatten()
        .collect();
    assert!(used.iter().any(|cpu| *cpu != last_cpu()), "{used:?}");
    ended.prints(&["W018"]);
}
