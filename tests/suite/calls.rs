//! The system calls that an operation needs, and no other: one visit is counted at n and at 2 n operations,
//! and what is not in the difference is not in the slope.

use crate::cells::{self, fixed};
use crate::machine::Need;
use crate::program::{IPCMATRIX, Program};
use crate::trial;
use ipcmatrix::cell::Cell;
use libtest_mimic::Trial;
use std::collections::BTreeMap;

/// Names of a call (libraries choose between them) and how often an operation makes it.
type Calls = &'static [(&'static [&'static str], u64)];

/// Enough that what happens once a visit, or once in a while, does not look like one a operation.
const OPS: u64 = 3000;
/// Both the batch that warms up and the sample have so many.
const BATCHES: u64 = 2;

const INCREMENTS: &[(&str, Calls)] = &[
    ("pthread_mutex", &[]),
    ("pthread_rwlock", &[]),
    ("posix_semaphore", &[]),
    ("posix_semaphore_named", &[]),
    ("std_mutex", &[]),
    ("std_rwlock", &[]),
    ("parking_lot_mutex", &[]),
    ("parking_lot_rwlock", &[]),
    ("sysv_semaphore", &[(&["semop", "semtimedop"], 2)]),
    ("sysv_semaphore_undo", &[(&["semop", "semtimedop"], 2)]),
    ("fcntl_lock", &[(&["fcntl"], 2)]),
];

const MESSAGES: &[(&str, Calls)] = &[
    ("pipe", &[(&["write"], 1), (&["read"], 1)]),
    ("unix_stream", &[(&["write"], 1), (&["read"], 1)]),
    ("posix_queue", &[(&["mq_timedsend"], 1), (&["mq_timedreceive"], 1)]),
    ("sysv_queue", &[(&["msgsnd"], 1), (&["msgrcv"], 1)]),
    ("unix_seqpacket", &[(&["sendto"], 1), (&["recvfrom"], 1)]),
];

/// Calls on a descriptor that stays ready; what arms it again does so in the twin of the batch too.
const WAITS: &[(&str, Calls)] = &[
    ("select", &[(&["select", "pselect6"], 1)]),
    ("pselect", &[(&["pselect6"], 1)]),
    ("poll", &[(&["poll", "ppoll"], 1)]),
    ("ppoll", &[(&["ppoll"], 1)]),
    ("epoll", &[(&["epoll_wait", "epoll_pwait"], 1)]),
    ("epoll_edge", &[(&["epoll_wait", "epoll_pwait"], 1), (&["epoll_ctl"], 2)]),
    ("epoll_oneshot", &[(&["epoll_wait", "epoll_pwait"], 1), (&["epoll_ctl"], 2)]),
];

/// Operations; those that make no system call are the more telling.
const OPERATIONS: &[(&str, Calls)] = &[
    ("getppid", &[(&["getppid"], 1)]),
    ("failing_close", &[(&["close"], 1)]),
    ("failing_close_raw", &[(&["close"], 1)]),
    ("static_access", &[]),
    ("thread_local_const", &[]),
    ("thread_local_lazy", &[]),
    ("pthread_getspecific", &[]),
    ("result_error", &[]),
    ("panic_catch", &[]),
    ("resume_unwind", &[]),
];

pub fn trials() -> Vec<Trial> {
    let one_worker = INCREMENTS.iter().map(|(mechanism, calls)| {
        (*mechanism, cells::increment(mechanism, 1, "threads", "same_cpu"), *calls)
    });
    let messages = MESSAGES.iter().map(|(mechanism, calls)| {
        (*mechanism, cells::bandwidth(mechanism, 4096, "processes", "same_cpu"), *calls)
    });
    let waits = WAITS.iter().map(|(mechanism, calls)| (*mechanism, cells::wait(mechanism, 1, "all"), *calls));
    let operations = OPERATIONS
        .iter()
        .map(|(mechanism, calls)| (*mechanism, cells::operation(mechanism, "single"), *calls));
    let all = one_worker.chain(messages).chain(waits).chain(operations);
    all.map(|(mechanism, cell, calls)| {
        trial(format!("calls::{mechanism}"), &[Need::Trace], move || slope_is(&cell, calls))
    })
    .collect()
}

/// System calls of a whole visit, by name.
fn count(cell: &Cell, ops: u64) -> BTreeMap<String, u64> {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("calls");
    let traced = Program::new("strace").args(["-f", "-c", "-o"]).args([&table]).args([IPCMATRIX]);
    cells::measured(cells::visit(traced, &fixed(cell, ops, 1)));
    let table = std::fs::read_to_string(table).unwrap();
    // Columns: share, seconds, microseconds a call, calls, errors where there are any, name.
    let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let count = |row: Vec<&str>| Some(((*row.last()?).to_owned(), row.get(3)?.parse().ok()?));
    rows.filter_map(count).filter(|(name, _)| name != "total").collect()
}

fn slope_is(cell: &Cell, calls: Calls) {
    let (once, twice) = (count(cell, OPS), count(cell, 2 * OPS));
    assert_eq!(once.get("execve"), Some(&1), "the program is what was counted: {once:?}");
    let more = |name: &str| {
        let of = |counts: &BTreeMap<String, u64>| counts.get(name).copied().unwrap_or(0) as i64;
        of(&twice) - of(&once)
    };
    let ops = (OPS * BATCHES) as i64;
    // What happens now and then, such as waiting for the other side or asking how the worker ended.
    let allowed = ops / 100;
    for (names, an_op) in calls {
        let found: i64 = names.iter().map(|name| more(name)).sum();
        let expected = *an_op as i64 * ops;
        assert!(
            (found - expected).abs() <= allowed,
            "{names:?}: {found} in {ops} operations, not {expected}"
        );
    }
    let known: Vec<&str> = calls.iter().flat_map(|(names, _)| names.iter().copied()).collect();
    for name in twice.keys().filter(|name| !known.contains(&name.as_str())) {
        assert!(more(name).abs() <= allowed, "{name}: {} in {ops} operations, not 0", more(name));
    }
}
