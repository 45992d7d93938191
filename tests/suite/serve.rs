//! A server, its clients and idle connections, by whole visits: every mechanism, limits, and clients that die.

use crate::cells::{failed, fixed, measured, shipped, unavailable};
use crate::machine::{Need, eventually};
use crate::program::{Ended, Program};
use crate::trial;
use ipcmatrix::catalog::Catalog;
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Outcome, Part, Request};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;

const SPAWNS: [&str; 2] = ["threads", "processes"];
const SOCKETS: [&str; 2] = ["tcp", "unix"];
const IDLE: [u64; 2] = [0, 37];
/// Of a request and its reply.
const BYTES: u64 = 16;
/// Sets one of the limits of descriptors, then is the program.
const LIMITED: &str = "ulimit $2 256; exec \"$1\" cell";

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![
        trial("serve::few_descriptors_make_large_cells_unavailable", &[], few_descriptors),
        trial("serve::a_soft_limit_is_raised", &[], soft_limit_is_raised),
        trial("serve::few_ports_make_large_cells_unavailable", &[Need::Ports], few_ports),
        trial("serve::mechanisms_share_the_connections_of_a_visit", &[], shared_connections),
        trial("serve::several_ports_are_used_where_one_is_not_enough", &[], many_connections),
    ];
    for socket in SOCKETS {
        trials.push(trial(format!("serve::clients_that_are_killed::{socket}"), &[], move || {
            clients_end_badly(socket, Signal::SIGKILL)
        }));
        trials.push(trial(format!("serve::clients_that_hang::{socket}"), &[], move || {
            clients_end_badly(socket, Signal::SIGSTOP)
        }));
    }
    let catalog = Catalog::shipped();
    for driver in catalog.drivers().filter(|driver| driver.measure == Measure::Serve) {
        for spawn in SPAWNS {
            for socket in SOCKETS {
                let name = format!("serve::{}::{spawn}::{socket}", driver.mechanism);
                let mechanism = driver.mechanism;
                trials.push(trial(name, &[], move || {
                    IDLE.iter().for_each(|idle| serves(mechanism, spawn, socket, *idle));
                }));
            }
        }
    }
    trials
}

fn cell(mechanism: &str, spawn: &str, socket: &str, idle: u64) -> Cell {
    Cell::new(Measure::Serve, mechanism)
        .with(Axis::Socket, Value::word(socket))
        .with(Axis::IdleConnections, Value::Count(idle))
        .with(Axis::Spawn, Value::word(spawn))
        .with(Axis::Placement, Value::word("same_cpu"))
}

/// Both sides did all of it, in few enough calls, and requests were timed.
fn serves(mechanism: &str, spawn: &str, socket: &str, idle: u64) {
    let ops = 503;
    let visit = match shipped(&fixed(&cell(mechanism, spawn, socket, idle), ops, 2)) {
        // What a kernel or a container may forbid says so; the test of the mechanism tells which may.
        Outcome::Unavailable(refused) if mechanism.starts_with("io_uring") => {
            return assert!(!refused.remedy.is_empty(), "{refused:?}");
        }
        outcome => measured(outcome),
    };
    assert_eq!(visit.samples.len(), 2);
    assert_eq!(visit.effective["connections"], 10 + idle);
    for sample in &visit.samples {
        let [server, clients] = &sample.workers[..] else { panic!("two workers, not {sample:?}") };
        assert_eq!((server.tally.bytes, clients.tally.bytes), (ops * BYTES, ops * BYTES));
        assert_eq!(sample.elapsed_ns, clients.end_ns - clients.begin_ns, "the clients are timed");
        assert!(server.cpu_ns > 0 && clients.cpu_ns > 0);
        // A call tells of 10 requests at most, and may tell of none where the mechanism allows that.
        let waits = server.tally.waits.expect("calls of the mechanism are counted");
        assert!((ops / 10..=10 * ops).contains(&waits), "{waits}");
        let [half, most] =
            [clients.tally.request_p50_ns, clients.tally.request_p99_ns].map(|ns| ns.expect("timed"));
        assert!(0 < half && half <= most && most <= 2 * sample.elapsed_ns, "{half} {most}");
        assert_eq!((server.tally.request_p50_ns, clients.tally.waits), (None, None));
    }
}

fn limited(which: &str, request: &Request) -> Outcome {
    let ended = Program::shell(LIMITED, [which]).input(serde_json::to_vec(request).unwrap()).run();
    outcome(ended)
}

fn outcome(ended: Ended) -> Outcome {
    let ended = ended.exits(0);
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {:?}", ended.stdout))
}

/// A process that may have 256 descriptors has one end of 160 idle connections, but not both.
fn few_descriptors() {
    for socket in SOCKETS {
        let fits = fixed(&cell("poll", "processes", socket, 160), 100, 1);
        measured(limited("-n", &fits));
        for (spawn, idle) in [("processes", 320), ("threads", 160)] {
            let refused = unavailable(limited("-n", &fixed(&cell("poll", spawn, socket, idle), 100, 1)));
            let words = "RLIMIT_NOFILE is 256 (hard limit 256), the cell needs 3";
            assert!(refused.reason.contains(words), "{refused:?}");
            assert!(refused.remedy.contains("ulimit -n 3"), "{refused:?}");
        }
    }
}

/// 201 ports are enough for some connections, by several listening sockets, and not for thousands. The network has
/// no loopback that is up, so those that are enough come to the first connect(2).
fn few_ports() {
    let inside = |request: &Request| {
        let range = "echo 33000 33200 > /proc/sys/net/ipv4/ip_local_port_range";
        let script = format!("unshare -U -r -n sh -c '{range}; exec \"$0\" cell' \"$1\"");
        outcome(Program::shell::<&str>(&script, []).input(serde_json::to_vec(request).unwrap()).run())
    };
    let (phase, error) = failed(inside(&fixed(&cell("epoll", "processes", "tcp", 320), 400, 1)));
    assert_eq!((phase.as_str(), error.contains("unreachable")), ("enter", true), "{error}");
    let refused = unavailable(inside(&fixed(&cell("epoll", "processes", "tcp", 10_240), 400, 1)));
    let words = "net.ipv4.ip_local_port_range is 33000 to 33200, 201 ports, the cell needs 290";
    assert_eq!(refused.reason, words);
    assert!(refused.remedy.contains("sysctl -w net.ipv4.ip_local_port_range"), "{refused:?}");
}

fn soft_limit_is_raised() {
    let visit = measured(limited("-S -n", &fixed(&cell("epoll", "processes", "unix", 320), 100, 1)));
    assert_eq!(visit.effective["RLIMIT_NOFILE"]["was"], 256, "{:?}", visit.effective);
}

/// Three mechanisms in one visit, and one that is told to do what no server can: those before it have figures.
fn shared_connections() {
    let names = ["epoll", "select", "poll"];
    let parts = |names: &[&str]| -> Vec<Part> {
        let cell = |name: &&str| cell(name, "processes", "tcp", 100);
        names.iter().map(|name| Part { cell: cell(name), ops: Some(500) }).collect()
    };
    let request = fixed(&cell("epoll", "processes", "tcp", 100), 500, 2);
    let heard = several(&Request { parts: parts(&names), ..request.clone() });
    assert_eq!(heard.len(), names.len());
    for outcome in heard {
        let visit = measured(outcome);
        let sorted = serde_json::json!(["epoll", "poll", "select"]);
        assert_eq!(visit.effective["connections_shared_by"], sorted, "in whatever order they are visited");
        assert!(
            visit.samples.iter().flat_map(|sample| &sample.workers).all(|w| w.tally.bytes == 500 * BYTES)
        );
    }
    let unknown = several(&Request { parts: parts(&["epoll", "no_such", "poll"]), ..request });
    let [Outcome::Measured(_), Outcome::Failed { error, .. }, Outcome::Measured(_)] = &unknown[..] else {
        panic!("the cell that no driver measures is told of alone: {unknown:?}");
    };
    assert!(error.contains("no_such"), "{error}");
}

fn several(request: &Request) -> Vec<Outcome> {
    let input = serde_json::to_vec(request).unwrap();
    let ended = Program::ipcmatrix(["cell"]).input(input).run().exits(0);
    ended.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// More than a part of the ports: the connections go to several, and all are used.
fn many_connections() {
    let request = fixed(&cell("epoll", "processes", "tcp", 10_240), 400, 1);
    match shipped(&request) {
        Outcome::Measured(visit) => {
            let ports = visit.effective["listening_ports"].as_u64().unwrap();
            let range = visit.effective["net.ipv4.ip_local_port_range"].as_str().unwrap();
            let bounds: Vec<u64> = range.split(' ').map(|port| port.parse().unwrap()).collect();
            assert!((bounds[1] - bounds[0] + 1) / 4 * ports >= 10_250, "{ports} ports, {range}");
        }
        other => {
            assert!(unavailable(other).reason.contains("RLIMIT_NOFILE"));
        }
    }
}

/// The clients end, or stop, in a batch that would take minutes: the visit fails in time and leaves nobody.
fn clients_end_badly(socket: &str, signal: Signal) {
    let deadline_ms = if signal == Signal::SIGSTOP { 3000 } else { 30_000 };
    let cell = cell("epoll", "processes", socket, 20);
    let request = Request { deadline_ms, ..fixed(&cell, 1 << 40, 1) };
    let running = Program::ipcmatrix(["cell"]).input(serde_json::to_vec(&request).unwrap()).start();
    let visit = running.pid();
    eventually(|| (!both_serve(visit)).then(|| "no batch has begun yet".to_owned()));
    let [server, clients] = workers(visit)[..] else { panic!("there were two workers") };
    kill(Pid::from_raw(clients), signal).unwrap();
    let (phase, error) = failed(outcome(running.end()));
    match signal {
        Signal::SIGSTOP => assert_eq!(phase, "deadline", "{error}"),
        _ => {
            assert_eq!(phase, "warm-up", "{error}");
            // Whoever is heard first: the end of the clients, or the server, which loses its connections.
            let server_noticed = error.starts_with("worker 0: ") && error.contains("was closed");
            assert!(server_noticed || error == "worker 1 died: it was killed by SIGKILL", "{error}");
        }
    }
    for worker in [server, clients] {
        assert!(fs::metadata(format!("/proc/{worker}")).is_err(), "worker {worker} is still there");
    }
}

/// The children of a visit: the server, then the clients.
fn workers(visit: Pid) -> Vec<i32> {
    let text = fs::read_to_string(format!("/proc/{visit}/task/{visit}/children")).unwrap_or_default();
    text.split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

/// Whether both workers have used the CPU for a while: nothing but a batch takes so long.
fn both_serve(visit: Pid) -> bool {
    // User and system time in clock ticks of 10 ms: the 12th and 13th field behind the name.
    let busy = |worker: &i32| {
        let text = fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
        let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
        fields.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() > 10
    };
    let workers = workers(visit);
    workers.len() == 2 && workers.iter().all(busy)
}
