//! The names of `shared_ring` in `/dev/shm`: gone before any worker runs, and gone after a SIGKILL.

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
        let sampling = r#"{"samples":1,"target_ns":1000000}"#;
        let request = format!(
            r#"{{"cell":{{"measure":"bandwidth","mechanism":"shared_ring","message_bytes":4096,"spawn":"{spawn}",
            "placement":"free","capacity_bytes":{capacity_bytes}}},"ops":{ENDLESS_OPS},"deadline_ms":60000,
            "runner":null,"effort":{{"additive":{sampling},"interacting":{sampling},"oversubscribed":{sampling},
            "warm_up_ns":0,"fill_channels":false}}}}"#
        );
        let mut child = Command::new(env!("CARGO_BIN_EXE_ipcmatrix"))
            .arg("cell")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
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
