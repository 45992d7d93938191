//! The names of `shared_ring` in `/dev/shm`: gone before any worker runs, and gone after a SIGKILL.

use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Effort, Request};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(20);
/// A visit that runs until it is killed.
const ENDLESS_OPS: u64 = 1 << 40;

/// A visit in a process group of its own, killed on drop.
struct Visit(Child);

impl Visit {
    fn start(spawn: &str, capacity_bytes: u64) -> Visit {
        let cell = Cell::new(Measure::Bandwidth, "shared_ring")
            .with(Axis::MessageBytes, Value::Count(4096))
            .with(Axis::Spawn, Value::word(spawn))
            .with(Axis::Placement, Value::word("free"))
            .with(Axis::CapacityBytes, Value::Count(capacity_bytes));
        let request = Request::alone(&cell, Some(ENDLESS_OPS), Effort::TEST, 60_000);
        let mut child = Command::new(env!("CARGO_BIN_EXE_ipcmatrix"))
            .arg("cell")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&serde_json::to_vec(&request).unwrap()).unwrap();
        Visit(child)
    }

    /// What the kernel says of the visit, or nothing once it is gone.
    fn proc(&self, file: &str) -> String {
        fs::read_to_string(format!("/proc/{}/{file}", self.0.id())).unwrap_or_default()
    }

    fn threads(&self) -> usize {
        fs::read_dir(format!("/proc/{}/task", self.0.id())).map_or(0, Iterator::count)
    }

    fn children(&self) -> usize {
        self.proc(&format!("task/{}/children", self.0.id())).split_whitespace().count()
    }

    /// Mappings of rings whose name is gone.
    fn nameless_rings(&self) -> usize {
        let ours = |line: &&str| line.contains("/dev/shm/ipcmatrix.") && line.ends_with("(deleted)");
        self.proc("maps").lines().filter(ours).count()
    }

    /// Names of the visit that stand in `/dev/shm`.
    fn names(&self) -> Vec<String> {
        let prefix = format!("ipcmatrix.{}.", self.0.id());
        let entries = fs::read_dir("/dev/shm").unwrap().flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| name.starts_with(&prefix))
            .collect()
    }

    fn kill(&mut self) {
        // The group may be gone already: then nothing of it runs.
        let _ = killpg(Pid::from_raw(self.0.id() as i32), Signal::SIGKILL);
        self.0.wait().unwrap();
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.kill();
    }
}

#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !holds() {
        assert!(begin.elapsed() < DEADLINE, "{what}: not within {DEADLINE:?}");
        sleep(Duration::from_micros(200));
    }
}

/// Two rings, one each way, each mapped by both of its ends.
const MAPPINGS: usize = 4;

#[test]
fn no_name_stands_while_workers_run() {
    for spawn in ["threads", "processes"] {
        let visit = Visit::start(spawn, 0);
        eventually("both workers run", || match spawn {
            "threads" => visit.threads() == 3,
            // The guard of the names is a child too.
            _ => visit.children() == 3,
        });
        assert_eq!(visit.names(), [""; 0], "{spawn}");
        assert_eq!(visit.nameless_rings(), MAPPINGS, "{spawn}: the ends hold what had a name");
    }
}

#[test]
fn a_visit_that_is_killed_while_its_name_stands_leaves_none() {
    // A name stands for some milliseconds only: it is tried until one was seen just before its visit was killed.
    const TRIES: usize = 200;
    let mut standing = 0;
    for _ in 0..TRIES {
        // Large, so that the object takes a while to make.
        let mut visit = Visit::start("processes", 128 << 20);
        let mut seen = false;
        eventually("the name stands or is gone again", || {
            seen = !visit.names().is_empty();
            seen || visit.nameless_rings() == MAPPINGS
        });
        visit.kill();
        standing += usize::from(seen);
        eventually("the guard removes the name", || visit.names().is_empty());
        if standing >= 3 {
            return;
        }
    }
    panic!("{standing} visits in {TRIES} were killed while their name stood: this tested nothing");
}

#[test]
fn a_visit_that_is_killed_at_any_moment_leaves_no_name() {
    for moment in 0..30 {
        let mut visit = Visit::start(if moment % 2 == 0 { "threads" } else { "processes" }, 0);
        sleep(Duration::from_millis(moment));
        visit.kill();
        eventually("the guard removes the name", || visit.names().is_empty());
    }
}
