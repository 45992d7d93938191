//! Every driver of the catalog keeps the same promises. A new one is covered by standing in the catalog.

use crate::cells::{self, fixed, measured, request, shipped, unavailable};
use crate::machine::{self, Need};
use crate::program::Program;
use crate::trial;
use ipcmatrix::catalog::{Catalog, Driver, LimitName, Reach};
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Measured, Outcome};
use ipcmatrix::workload::Proof;
use libtest_mimic::Trial;

const SPAWNS: [&str; 2] = ["threads", "processes"];
/// One byte, an odd size, the largest of the book, and one that no channel holds as it comes.
const MESSAGE_BYTES: [u64; 4] = [1, 12345, 64 << 10, 1 << 20];
const WORKERS: [u64; 3] = [1, 2, 5];
const TOO_LARGE_BYTES: u64 = 64 << 20;
/// Work of the untimed pass, in capacities of the channel.
const CAPACITIES_OF_PROOF: u64 = 4;

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("conformance::every_driver_is_listed", &[], every_driver_is_listed),
        trial("conformance::names_are_unique_words", &[], names_are_unique_words),
        trial("conformance::cross_cpu_spreads_the_workers", &[Need::TwoCpus], cross_cpu_spreads_the_workers),
        trial("conformance::samples_are_as_many_as_asked", &[], samples_are_as_many_as_asked),
        trial("conformance::a_capacity_that_is_asked_for_is_in_force", &[], capacity_is_in_force),
        trial("conformance::nodelay_is_in_force", &[], nodelay_is_in_force),
    ];
    for driver in Catalog::shipped().drivers() {
        for spawn in SPAWNS {
            let name = |what: &str| {
                format!("conformance::{}::{}::{spawn}::{what}", driver.measure.name(), driver.mechanism)
            };
            // What this machine lacks (a library, a newer kernel) is shown as ignored.
            let needs: &[Need] = if (driver.present)().is_ok() { &[] } else { &[Need::Present] };
            match driver.measure {
                Measure::Bandwidth => {
                    for bytes in MESSAGE_BYTES {
                        let run = move || carries(driver, spawn, bytes);
                        trials.push(trial(name(&format!("carries_{bytes}_bytes")), needs, run));
                    }
                    trials.push(trial(name("too_large_is_told"), needs, move || {
                        too_large_is_told(driver, spawn)
                    }));
                }
                Measure::RoundTrip => {
                    trials.push(trial(name("answers"), needs, move || answers(driver, spawn)));
                }
                // See readiness.rs, serve.rs, operation.rs and log.rs.
                Measure::Wait | Measure::Serve | Measure::Operation | Measure::Append => {}
                Measure::Increment => {
                    for workers in WORKERS {
                        let run = move || excludes(driver, spawn, workers);
                        trials.push(trial(name(&format!("excludes_{workers}_workers")), needs, run));
                    }
                }
            }
        }
    }
    trials
}

/// Every byte arrives, both sides agree, and the channel was full several times over.
fn carries(driver: &Driver, spawn: &str, message_bytes: u64) {
    let cell = cells::bandwidth(driver.mechanism, message_bytes, spawn, "same_cpu");
    let figures = match shipped(&request(&cell)) {
        // A megabyte is more than some kernels let a queue hold; nothing smaller may be refused, but for
        // what the protocol itself does not carry.
        Outcome::Unavailable(refused) if message_bytes > 64 << 10 || over_protocol(driver, &cell) => {
            return limit_is_named(driver, &cell, &refused);
        }
        outcome => measured(outcome),
    };
    if let [alone] = figures.proofs[..] {
        return copies(&figures, alone, message_bytes);
    }
    let effective = |name: &str| figures.effective.get(name).and_then(|value| value.as_u64());
    let capacity = effective("capacity_bytes").expect("how much the channel takes is recorded");
    let fit = effective("messages_that_fit").expect("how many messages fit is recorded");
    assert!(capacity > 0, "a channel takes something: {capacity}");
    assert_eq!(fit, capacity / message_bytes, "messages that fit into {capacity} bytes");
    let [writer, reader] = figures.proofs[..] else { panic!("two proofs, not {:?}", figures.proofs) };
    assert_eq!(writer, reader, "both sides saw the same bytes");
    assert_eq!(writer.bytes % message_bytes, 0, "whole messages");
    assert!(writer.bytes >= CAPACITIES_OF_PROOF * capacity, "{} of {capacity}", writer.bytes);
    let moved = figures.ops * message_bytes;
    for worker in figures.samples.iter().flat_map(|sample| &sample.workers) {
        assert_eq!(worker.tally.bytes, moved, "each side moved every byte");
        // None where the bytes move in memory or inside a library; else each message takes one at least.
        assert!(
            worker.tally.calls == 0 || worker.tally.calls >= figures.ops.min(worker.tally.bytes / (64 << 10))
        );
        assert!(worker.cpu_ns > 0);
    }
    is_complete(&figures, 2);
}

/// One worker that moves the bytes by itself: there is no channel to fill and no other side to agree with.
fn copies(figures: &Measured, proof: Proof, message_bytes: u64) {
    assert!(proof.bytes >= message_bytes && proof.bytes.is_multiple_of(message_bytes), "{proof:?}");
    let moved = figures.ops * message_bytes;
    for worker in figures.samples.iter().flat_map(|sample| &sample.workers) {
        assert_eq!(worker.tally.bytes, moved, "every byte");
    }
    is_complete(figures, 1);
}

/// Whether the cell asks for more than the protocol carries on any machine.
fn over_protocol(driver: &Driver, cell: &Cell) -> bool {
    let over = |name, needs| matches!(name, LimitName::Protocol { most, .. } if needs > most);
    (driver.limits)(cell).iter().any(|limit| over(limit.name, limit.needs))
}

/// Requests come back, each with the answer to it: the program checks every number at both ends.
fn answers(driver: &Driver, spawn: &str) {
    let outcome = shipped(&fixed(&cells::round_trip(driver.mechanism, spawn, "same_cpu"), 300, 3));
    let figures = measured(outcome);
    assert_eq!((figures.ops, figures.samples.len()), (300, 3));
    is_complete(&figures, 2);
}

/// A cell that is refused names a limit that is really too low, and what to do.
fn limit_is_named(driver: &Driver, cell: &Cell, refused: &ipcmatrix::record::Unavailable) {
    assert!(!(driver.limits)(cell).is_empty(), "{} knows no limit but says {refused:?}", driver.mechanism);
    assert!(refused.reason.contains("the cell needs"), "{refused:?}");
    assert!(!refused.remedy.is_empty(), "{refused:?}");
}

/// Larger than most channels: figures, or a reason, or an error, but always an answer.
fn too_large_is_told(driver: &Driver, spawn: &str) {
    let cell = cells::bandwidth(driver.mechanism, TOO_LARGE_BYTES, spawn, "same_cpu");
    match shipped(&fixed(&cell, 1, 1)) {
        Outcome::Measured(figures) => {
            let first = figures.proofs[0];
            assert!(figures.proofs.iter().all(|proof| *proof == first), "{:?}", figures.proofs);
            assert_eq!(first.bytes, CAPACITIES_OF_PROOF * TOO_LARGE_BYTES);
        }
        Outcome::Unavailable(refused) => limit_is_named(driver, &cell, &refused),
        Outcome::Failed { phase, error } => {
            assert_ne!(phase, "deadline", "{error}");
            assert!(!error.is_empty());
        }
    }
}

/// The count is right after every batch, or the cell is refused for its declared reach.
fn excludes(driver: &Driver, spawn: &str, workers: u64) {
    let outcome = shipped(&request(&cells::increment(driver.mechanism, workers, spawn, "same_cpu")));
    let served = match driver.reach {
        Reach::Both => true,
        Reach::Threads => spawn == "threads",
        Reach::Processes => spawn == "processes" || workers == 1,
    };
    if !served {
        let refused = unavailable(outcome);
        assert_eq!(Some(refused.reason.as_str()), driver.reach.refuses(spawn, workers));
        assert!(refused.remedy.contains("spawn"), "{refused:?}");
        return;
    }
    let figures = measured(outcome);
    assert!(figures.proofs.is_empty(), "a counter proves itself in every sample");
    assert_eq!(figures.oversubscribed, workers > 1, "on one CPU");
    is_complete(&figures, workers as usize);
}

/// Figures, samples and every worker's part are there and fit together.
pub fn is_complete(figures: &Measured, workers: usize) {
    assert!(figures.ops > 0 && !figures.samples.is_empty());
    for number in [figures.floor_ns, figures.typ_ns, figures.cpu_ns] {
        assert!(number.is_finite() && number > 0.0, "{number}");
    }
    assert!(figures.floor_ns <= figures.typ_ns);
    let cpus: Vec<usize> = serde_json::from_value(figures.effective["cpus"].clone()).unwrap();
    assert!(cpus.iter().all(|cpu| machine::cpus().contains(cpu)), "{cpus:?}");
    for sample in &figures.samples {
        assert_eq!(sample.workers.len(), workers);
        let begin = sample.workers.iter().map(|worker| worker.begin_ns).min().unwrap();
        let end = sample.workers.iter().map(|worker| worker.end_ns).max().unwrap();
        assert!(sample.elapsed_ns > 0 && sample.elapsed_ns <= end - begin);
        for worker in &sample.workers {
            assert!(worker.begin_ns > 0 && worker.end_ns >= worker.begin_ns && worker.cpu_ns > 0);
            assert!(cpus.contains(&worker.cpu), "CPU {} of {cpus:?}", worker.cpu);
        }
    }
}

/// Each worker has a CPU of its own, and switches are counted: a blocking transport on one CPU needs some.
fn cross_cpu_spreads_the_workers() {
    let cell = cells::bandwidth("pipe", 64 << 10, "processes", "cross_cpu");
    let apart = measured(shipped(&fixed(&cell, 200, 2)));
    for sample in &apart.samples {
        assert_ne!(sample.workers[0].cpu, sample.workers[1].cpu);
    }
    let together = measured(shipped(&fixed(&cell.with(Axis::Placement, Value::word("same_cpu")), 200, 2)));
    for sample in &together.samples {
        assert_eq!(sample.workers[0].cpu, sample.workers[1].cpu);
        let switches: u64 =
            sample.workers.iter().map(|w| w.voluntary_switches + w.involuntary_switches).sum();
        assert!(switches > 100, "200 messages that each fill the pipe, {switches} switches");
    }
}

fn samples_are_as_many_as_asked() {
    let cell = cells::increment("pthread_mutex", 1, "threads", "same_cpu");
    let figures = measured(shipped(&fixed(&cell, 1000, 7)));
    assert_eq!((figures.samples.len(), figures.ops, figures.calibrated), (7, 1000, false));
}

fn capacity_is_in_force() {
    let asked = 16 << 10;
    let cell = cells::bandwidth("pipe", 4096, "processes", "same_cpu")
        .with(Axis::CapacityBytes, Value::Count(asked));
    let figures = measured(shipped(&request(&cell)));
    assert_eq!(figures.effective["pipe_bytes"], asked);
    assert_eq!(figures.effective["capacity_bytes"], asked);
    assert_eq!(figures.effective["messages_that_fit"], 4);
}

fn nodelay_is_in_force() {
    for setting in ["on", "off"] {
        let cell =
            cells::bandwidth("tcp", 4096, "processes", "same_cpu").with(Axis::Nodelay, Value::word(setting));
        assert_eq!(measured(shipped(&request(&cell))).effective["nodelay"], setting);
    }
}

/// What `list` shows is the catalog.
fn every_driver_is_listed() {
    let listed = Program::ipcmatrix(["list", "mechanisms"]).run().exits(0).stdout;
    for driver in Catalog::shipped().drivers() {
        let of = |line: &&str| line.split('|').next().is_some_and(|word| word.trim() == driver.mechanism);
        let line =
            listed.lines().find(of).unwrap_or_else(|| panic!("no line of {}\n{listed}", driver.mechanism));
        for word in [driver.family.name(), driver.measure.name(), driver.reach.name(), driver.summary] {
            assert!(line.contains(word), "{word:?} does not stand in {line:?}");
        }
    }
}

fn names_are_unique_words() {
    let catalog = Catalog::shipped();
    let mut names: Vec<_> =
        catalog.drivers().map(|driver| (driver.measure.name(), driver.mechanism)).collect();
    for (_, name) in &names {
        assert!(
            name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
            "{name}"
        );
    }
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all, "a measure of a mechanism stands in the catalog once");
}
