//! Door-style calls and the transports that came with them, each as a visit runs it: in a process of its own,
//! between threads and between processes, at the sizes where things go wrong.

use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Effort, Measured, Outcome, Request, Unavailable};
use ipcmatrix::sys::seccomp::Listener;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;

const ROUND_TRIPS: [&str; 6] =
    ["door_call_seqpacket", "door_call_seccomp", "eventfd", "futex", "udp", "unix_datagram"];
const SPAWNS: [&str; 2] = ["processes", "threads"];
/// One byte, an odd number, the book's largest, and one above the default send buffer.
const MESSAGE_BYTES: [u64; 4] = [1, 4097, 65536, 300_001];

/// One visit. The visit itself has the deadline.
fn visit(cell: Cell) -> Outcome {
    let request = Request::alone(&cell, Some(50), Effort::TEST, 30_000);
    let mut child = Command::new(env!("CARGO_BIN_EXE_ipcmatrix"))
        .arg("cell")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&serde_json::to_vec(&request).unwrap()).unwrap();
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

fn cell(measure: Measure, mechanism: &str, spawn: &str) -> Cell {
    Cell::new(measure, mechanism)
        .with(Axis::Spawn, Value::word(spawn))
        .with(Axis::Placement, Value::word("same_cpu"))
}

/// The figures; `None` where the machine cannot, which is shown.
fn measured(cell: Cell) -> Option<Measured> {
    let name = cell.to_string();
    match visit(cell) {
        Outcome::Measured(measured) => Some(*measured),
        Outcome::Unavailable(Unavailable { reason, .. }) => {
            eprintln!("not tried: {name}: {reason}");
            None
        }
        Outcome::Failed { phase, error } => panic!("{name}: {phase}: {error}"),
    }
}

#[test]
fn round_trips_go_between_threads_and_between_processes() {
    for mechanism in ROUND_TRIPS {
        for spawn in SPAWNS {
            let Some(measured) = measured(cell(Measure::RoundTrip, mechanism, spawn)) else { continue };
            assert_eq!(measured.ops, 50);
            assert!(measured.samples.iter().all(|sample| sample.workers.len() == 2));
        }
    }
}

#[test]
fn every_byte_arrives_whatever_the_size() {
    for mechanism in ["door_call_seqpacket", "unix_datagram"] {
        for spawn in SPAWNS {
            for bytes in MESSAGE_BYTES {
                let cell =
                    cell(Measure::Bandwidth, mechanism, spawn).with(Axis::MessageBytes, Value::Count(bytes));
                let Some(measured) = measured(cell) else { continue };
                let [writer, reader] = measured.proofs[..] else { panic!("two workers prove") };
                assert_eq!(writer, reader);
                assert!(reader.bytes >= 4 * bytes);
            }
        }
    }
}

#[test]
fn a_call_holds_one_message_at_a_time() {
    let cell = cell(Measure::Bandwidth, "door_call_seqpacket", "processes")
        .with(Axis::MessageBytes, Value::Count(1000));
    if let Some(measured) = measured(cell) {
        assert_eq!(measured.effective["messages_that_fit"], 1);
        assert_eq!(measured.effective["capacity_bytes"], 1000);
    }
}

#[test]
fn the_synchronous_wake_up_and_the_time_out_of_udp_are_recorded() {
    if let Some(measured) = measured(cell(Measure::RoundTrip, "door_call_seccomp", "processes")) {
        assert_eq!(measured.effective["synchronous_wake_up"], true);
    }
    let udp = measured(cell(Measure::RoundTrip, "udp", "processes")).unwrap();
    assert!(udp.effective["receive_timeout_ms"].as_u64().unwrap() < 10_000, "{:?}", udp.effective);
}

/// A filter is inherited, and only one may have a listener: so this thread is a sandbox to what it starts.
#[test]
fn a_sandbox_that_has_the_listener_makes_it_unavailable_and_nothing_else() {
    let (keep, kept) = mpsc::channel();
    let outcomes = thread::spawn(move || {
        let Ok(listener) = Listener::install() else { return None };
        keep.send(listener).unwrap();
        Some(["door_call_seccomp", "eventfd"].map(|name| visit(cell(Measure::RoundTrip, name, "processes"))))
    });
    let Some([seccomp, eventfd]) = outcomes.join().unwrap() else {
        return eprintln!("not tried: this machine refuses a seccomp listener");
    };
    drop(kept);
    let Outcome::Unavailable(unavailable) = seccomp else { panic!("{seccomp:?}") };
    assert!(unavailable.reason.contains("the one seccomp listener"), "{}", unavailable.reason);
    assert!(matches!(eventfd, Outcome::Measured(_)), "{eventfd:?}");
}
