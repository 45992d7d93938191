//! Logs, by whole visits: every line accounted for, disks that are full, daemons that die, runs that are killed, and a
//! real rsyslogd on a socket of its own.

use crate::cells::{failed, fixed, measured, shipped, unavailable};
use crate::kills::names;
use crate::machine::{Need, eventually};
use crate::program::{IPCMATRIX, Program, Running, alive};
use crate::{conformance, trial};
use ipcmatrix::catalog::Catalog;
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Measured, Outcome, Request};
use ipcmatrix::workload::Delivery;
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::Path;
use std::time::Duration;

const SPAWNS: [&str; 2] = ["threads", "processes"];
const OPS: u64 = 1_500;
const SAMPLES: u32 = 3;
/// Moments at which a run is killed.
const MOMENTS: u64 = 8;
const RSYSLOGD: &[Need] = &[Need::Rsyslogd];
const MOUNT: &[Need] = &[Need::Mount];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("log::the_sums_of_every_policy_add_up", &[], policies),
        trial("log::a_daemon_that_is_killed_fails_the_cell", &[], || daemon_ends_badly(Signal::SIGKILL)),
        trial("log::a_daemon_that_stops_fails_the_cell_in_time", &[], || daemon_ends_badly(Signal::SIGSTOP)),
        trial("log::a_small_disk_makes_cells_unavailable", MOUNT, small_disk),
        trial("log::a_limit_of_the_size_of_files_does_too", &[], small_files),
        trial("log::a_disk_that_fills_up_is_told", MOUNT, full_disk),
        trial("log::without_nameless_files_one_is_named_for_a_moment", &[Need::Trace], no_nameless_files),
        trial("log::a_kill_at_any_moment_leaves_nothing", &[], killed),
        trial("log::a_kill_while_the_socket_has_a_name_leaves_nothing", &[Need::Trace], killed_while_named),
        trial("log::without_a_daemon_dev_log_is_unavailable", &[], no_daemon),
        trial("log::a_real_daemon_is_measured", RSYSLOGD, real_daemon),
        trial("log::a_real_daemon_that_is_limited_loses_lines", RSYSLOGD, limited_real_daemon),
        trial("log::a_file_that_gets_no_line_makes_dev_log_unavailable", RSYSLOGD, wrong_file),
    ];
    for driver in Catalog::shipped().drivers().filter(|driver| driver.measure == Measure::Append) {
        for spawn in SPAWNS {
            let name = format!("log::{}::{spawn}", driver.mechanism);
            let needs: &[Need] =
                if (driver.usable)(&cell(driver.mechanism)).is_ok() { &[] } else { &[Need::Present] };
            trials.push(trial(name, needs, move || {
                let cell = cell(driver.mechanism).with(Axis::Spawn, Value::word(spawn));
                keeps_every_line(&measured(shipped(&fixed(&cell, OPS, SAMPLES))));
            }));
        }
    }
    trials
}

/// A cell with the defaults of its driver.
fn cell(mechanism: &str) -> Cell {
    let driver = Catalog::shipped().find(Measure::Append, mechanism).expect("it is in the catalog");
    let mut cell = Cell::new(Measure::Append, mechanism)
        .with(Axis::MessageBytes, Value::Count(80))
        .with(Axis::Workers, Value::Count(2))
        .with(Axis::Spawn, Value::word("threads"))
        .with(Axis::Placement, Value::word("same_cpu"));
    for (axis, value) in driver.extra_axes {
        cell.set(*axis, Value::word(*value));
    }
    cell
}

fn deliveries(visit: &Measured) -> Vec<Delivery> {
    visit.samples.iter().map(|sample| sample.delivery.expect("what came of the lines")).collect()
}

/// Nothing is lost, doubled or torn, and every time is there.
fn keeps_every_line(visit: &Measured) {
    assert_eq!(visit.samples.len(), SAMPLES as usize);
    conformance::is_complete(visit, 2);
    for (sample, lines) in visit.samples.iter().zip(deliveries(visit)) {
        assert_eq!((lines.attempted, lines.lost, lines.doubled, lines.torn), (2 * OPS, 0, 0, 0), "{lines:?}");
        assert_eq!(sample.daemon_cpu_ns.is_some(), lines.received.is_some(), "whoever has a daemon counts");
        for worker in &sample.workers {
            assert_eq!(worker.tally.refused, Some(0));
            assert!(worker.drained_ns.expect("it drained") >= worker.end_ns);
        }
    }
    assert!(visit.effective["file_system"].as_str().is_some_and(|name| !name.is_empty()));
}

/// Each policy loses what it must, and to the last line that.
fn policies() {
    for sender in ["blocking", "non_blocking"] {
        for daemon in ["plain", "rate_limited"] {
            let cell = cell("syslog_daemon")
                .with(Axis::Sender, Value::word(sender))
                .with(Axis::Daemon, Value::word(daemon));
            let visit = measured(shipped(&fixed(&cell, 20_000, SAMPLES)));
            for (sample, lines) in visit.samples.iter().zip(deliveries(&visit)) {
                let refused: u64 = sample.workers.iter().filter_map(|worker| worker.tally.refused).sum();
                let (received, limited) = (lines.received.unwrap(), lines.limited.unwrap());
                assert_eq!((lines.attempted, lines.refused), (40_000, refused));
                assert_eq!(received, lines.attempted - refused);
                assert_eq!(lines.lost, refused + limited, "{lines:?}");
                assert_eq!((lines.doubled, lines.torn), (0, 0));
                assert_eq!(refused > 0, sender == "non_blocking", "{lines:?}");
                assert_eq!(limited > 0, daemon == "rate_limited", "{lines:?}");
                assert!(lines.lost < lines.attempted, "some come through: {lines:?}");
                assert!(sample.daemon_cpu_ns.unwrap() > 0);
            }
            assert_eq!(visit.effective.contains_key("daemon_limit"), daemon == "rate_limited");
        }
    }
}

/// Starts a visit to a log; `TMPDIR` is the folder.
fn started(request: &Request, tmp: &Path) -> Running {
    Program::ipcmatrix(["cell"]).input(serde_json::to_vec(request).unwrap()).env("TMPDIR", tmp).start()
}

fn outcome(text: &str) -> Outcome {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
}

/// The daemon of a visit: a child that has worked for a while. The other is the guard of names, which sleeps.
fn daemon_of(visit: Pid) -> Option<i32> {
    let children = fs::read_to_string(format!("/proc/{visit}/task/{visit}/children")).unwrap_or_default();
    let busy = |pid: &i32| {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() > 5
    };
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).find(busy)
}

/// In a batch that would take minutes: the visit fails in time, and leaves nothing.
fn daemon_ends_badly(signal: Signal) {
    let deadline_ms = if signal == Signal::SIGSTOP { 3_000 } else { 30_000 };
    let folder = tempfile::tempdir().unwrap();
    let request = Request { deadline_ms, ..fixed(&cell("syslog_daemon"), 3_000_000, 1) };
    let running = started(&request, folder.path());
    let visit = running.pid();
    eventually(|| daemon_of(visit).is_none().then(|| "no batch has begun yet".to_owned()));
    let daemon = daemon_of(visit).expect("it was there");
    kill(Pid::from_raw(daemon), signal).unwrap();
    let mark = running.mark();
    let (phase, error) = failed(outcome(&running.end().exits(0).stdout));
    match signal {
        Signal::SIGSTOP => assert_eq!(phase, "deadline", "{error}"),
        _ => {
            assert_eq!(phase, "warm-up", "{error}");
            assert!(error.contains("the log daemon is gone"), "{error}");
        }
    }
    left_nothing(&mark, folder.path());
}

#[track_caller]
fn left_nothing(mark: &str, folder: &Path) {
    eventually(|| {
        let left = alive(mark);
        (!left.is_empty()).then(|| format!("left: {left:?}"))
    });
    assert_eq!(names(folder), [""; 0]);
}

/// Mounts a file system of that size where temporary files are made, and is the program then.
fn on_a_disk(size: &str, around: &str, request: &Request) -> Outcome {
    let script =
        format!("mount -t tmpfs -o size={size} none /mnt && cd /mnt && export TMPDIR=/mnt && {around}");
    let ended = Program::new("unshare")
        .args(["-m", "sh", "-c", &script, IPCMATRIX])
        .input(serde_json::to_vec(request).unwrap())
        .run();
    outcome(&ended.exits(0).stdout)
}

fn small_disk() {
    for mechanism in ["direct_write", "syslog_daemon"] {
        let refused = unavailable(on_a_disk("2m", "exec \"$0\" cell", &fixed(&cell(mechanism), OPS, 1)));
        let words = "/mnt: the disk leaves 2097152 bytes for a file in it, the cell needs 64000000";
        assert!(refused.reason.contains(words), "{refused:?}");
        assert!(refused.remedy.contains("TMPDIR"), "{refused:?}");
        // Room for the cell, but not for that batch.
        let refused =
            unavailable(on_a_disk("70m", "exec \"$0\" cell", &fixed(&cell(mechanism), 1_000_000, 1)));
        let words = "a batch of 1000000 lines a worker has no room: the file may have 4";
        assert!(refused.reason.contains(words) && refused.remedy.contains("TMPDIR"), "{refused:?}");
    }
}

fn small_files() {
    let request = serde_json::to_vec(&fixed(&cell("direct_append"), OPS, 1)).unwrap();
    let ended = Program::shell::<&str>("ulimit -f 8; exec \"$1\" cell", []).input(request).run().exits(0);
    let refused = unavailable(outcome(&ended.stdout));
    assert!(refused.reason.contains("RLIMIT_FSIZE leaves "), "{refused:?}");
}

/// Somebody fills the disk while batches are written.
fn full_disk() {
    // A background job of the shell has no input of its own. A file of the visit that has bytes is the log. The disk is full of the file of the batches and of what fills it.
    let around = "cat > request && { \"$0\" cell < request & } && visit=$!
        until find -L /proc/$visit/fd -type f -size +0 ! -name 0 2> errors | grep -q .; do :; done
        while kill -0 $visit 2> errors; do cat /dev/zero >> fill 2> errors; done; wait $visit";
    for mechanism in ["direct_write", "buffered_writer", "writev_batch", "syslog_daemon"] {
        let (phase, error) = failed(on_a_disk("70m", around, &fixed(&cell(mechanism), 200_000, 1_000)));
        assert!(["warm-up", "sample"].contains(&phase.as_str()), "{phase}");
        assert!(
            error.contains("the disk of the log is full") && error.contains("TMPDIR"),
            "{mechanism}: {error}"
        );
    }
}

/// A file system that has no O_TMPFILE, as strace has the kernel say.
fn no_nameless_files() {
    let folder = tempfile::tempdir().unwrap();
    let request = serde_json::to_vec(&fixed(&cell("direct_append"), OPS, SAMPLES)).unwrap();
    let refuses = ["-f", "-o", "/dev/null", "-P"];
    let ended = Program::new("strace")
        .args(refuses)
        .args([folder.path()])
        .args(["-e", "inject=openat:error=EOPNOTSUPP", IPCMATRIX, "cell"])
        .env("TMPDIR", folder.path())
        .input(request)
        .run()
        .exits(0);
    keeps_every_line(&measured(outcome(&ended.stdout)));
    eventually(|| (!names(folder.path()).is_empty()).then(|| "the file is still there".to_owned()));
}

/// Runs with all logs in them, killed at moments spread over their first visits.
fn killed() {
    for moment in 0..MOMENTS {
        let folder = tempfile::tempdir().unwrap();
        let tmp = folder.path().join("tmp");
        fs::create_dir(&tmp).unwrap();
        let mut running =
            Program::ipcmatrix(["run", "smoke", "-q", "--budget", "20s", "-f", "mechanism:syslog_daemon"])
                .args(["-o".as_ref(), folder.path().join("out").as_os_str()])
                .env("TMPDIR", &tmp)
                .start();
        let mark = running.mark();
        assert!(
            !running.ends_within(Duration::from_millis(20 + 61 * moment)),
            "it was over before the signal came"
        );
        running.signal(Signal::SIGKILL);
        assert!(running.end().by_signal());
        left_nothing(&mark, &tmp);
    }
}

/// The visit is killed at the call that would give the socket its name, or take it or that of its folder away.
fn killed_while_named() {
    for call in ["bind", "connect", "unlink", "unlinkat", "rmdir"] {
        let folder = tempfile::tempdir().unwrap();
        let request = serde_json::to_vec(&fixed(&cell("syslog_daemon"), OPS, 1)).unwrap();
        let inject = format!("inject={call}:signal=KILL");
        let running = Program::new("strace")
            .args(["-o", "/dev/null", "-e", &inject, IPCMATRIX, "cell"])
            .env("TMPDIR", folder.path())
            .input(request)
            .start();
        let mark = running.mark();
        let ended = running.end();
        // Removing a file and a folder is one call or another, by the C library; one of them is there.
        assert!(ended.by_signal() || ["unlinkat", "rmdir"].contains(&call), "{call}: {ended:?}");
        left_nothing(&mark, folder.path());
    }
}

fn no_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no log");
    let elsewhere = cell("dev_log").with(Axis::LogSocket, Value::word(missing.to_str().unwrap()));
    let refused = unavailable(shipped(&fixed(&elsewhere, OPS, 1)));
    assert!(
        refused.reason.contains("no log daemon listens at ") && refused.reason.contains("no log:"),
        "{refused:?}"
    );
    assert!(refused.remedy.contains("log_socket=/path"), "{refused:?}");
    let here = folder.path().join("log");
    let _socket = std::os::unix::net::UnixDatagram::bind(&here).unwrap();
    let unreadable = cell("dev_log")
        .with(Axis::LogSocket, Value::word(here.to_str().unwrap()))
        .with(Axis::LogFile, Value::word(folder.path().join("a/b").to_str().unwrap()));
    let refused = unavailable(shipped(&fixed(&unreadable, OPS, 1)));
    assert!(refused.reason.contains("did not come to"), "nobody reads that socket: {refused:?}");
    assert!(refused.remedy.contains("log_file=/path"), "{refused:?}");
}

/// A rsyslogd with a configuration, a socket, a file and a pid file of its own.
struct RealDaemon {
    folder: tempfile::TempDir,
    running: Option<Running>,
}

impl RealDaemon {
    fn start(module_settings: &str) -> RealDaemon {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let configuration = format!(
            "module(load=\"imuxsock\" SysSock.Use=\"off\")\n\
             input(type=\"imuxsock\" Socket=\"{}\" CreatePath=\"off\" {module_settings})\n\
             *.* action(type=\"omfile\" file=\"{}\")\n",
            path("socket"),
            path("messages")
        );
        fs::write(folder.path().join("configuration"), configuration).unwrap();
        let running = Program::new("rsyslogd")
            .args(["-n", "-C", "-f", &path("configuration"), "-i", &path("pid")])
            .start();
        eventually(|| (!folder.path().join("socket").exists()).then(|| "it has no socket yet".to_owned()));
        RealDaemon { folder, running: Some(running) }
    }

    fn cell(&self, file: &str) -> Cell {
        let path = |name: &str| Value::word(self.folder.path().join(name).to_str().unwrap());
        cell("dev_log").with(Axis::LogSocket, path("socket")).with(Axis::LogFile, path(file))
    }
}

impl Drop for RealDaemon {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            running.signal(Signal::SIGTERM);
            running.end();
        }
    }
}

fn real_daemon() {
    let daemon = RealDaemon::start("");
    for sender in ["blocking", "non_blocking"] {
        let cell = daemon.cell("messages").with(Axis::Sender, Value::word(sender));
        let visit = measured(shipped(&fixed(&cell, OPS, SAMPLES)));
        assert_eq!(visit.effective["daemon"], "rsyslogd", "{:?}", visit.effective);
        for (sample, lines) in visit.samples.iter().zip(deliveries(&visit)) {
            let refused: u64 = sample.workers.iter().filter_map(|worker| worker.tally.refused).sum();
            assert_eq!((lines.attempted, lines.refused), (2 * OPS, refused));
            // It has no limit here, so each line that it took is in its file, once and whole.
            assert_eq!((lines.lost, lines.doubled, lines.torn), (refused, 0, 0), "{sender}: {lines:?}");
            assert!(sender == "non_blocking" || refused == 0);
            assert!(sample.daemon_cpu_ns.unwrap() > 0);
            assert!(
                sample.workers.iter().all(|worker| worker.drained_ns.is_some_and(|at| at >= worker.end_ns))
            );
        }
    }
    let written = fs::read_to_string(daemon.folder.path().join("messages")).unwrap();
    let visits_and_batches = 2 * (1 + SAMPLES as usize);
    assert!(written.lines().count() <= visits_and_batches * (2 * OPS as usize + 2) + 2);
}

/// Its limit lets the line pass that is looked for first, and not much more.
fn limited_real_daemon() {
    let daemon = RealDaemon::start("RateLimit.Interval=\"600\" RateLimit.Burst=\"700\"");
    let visit = measured(shipped(&fixed(&daemon.cell("messages"), OPS, 1)));
    let lines = deliveries(&visit)[0];
    assert_eq!(lines.refused, 0);
    assert!(lines.lost > OPS, "{lines:?}");
    assert!(
        visit.samples[0].workers.iter().any(|worker| worker.drained_ns.is_none()),
        "its mark was lost too"
    );
}

fn wrong_file() {
    let daemon = RealDaemon::start("");
    let refused = unavailable(shipped(&fixed(&daemon.cell("configuration"), OPS, 1)));
    assert!(refused.reason.contains("a line that was logged did not come to "), "{refused:?}");
}
