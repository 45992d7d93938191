//! A kernel that refuses private IPC namespaces. The trial makes a user namespace whose limits say so;
//! nothing of the machine is touched, and the objects of the run can be counted there.

use crate::machine::Need;
use crate::program::Program;
use crate::trial;
use ipcmatrix::cell::Axis;
use ipcmatrix::record::Outcome;
use ipcmatrix::report::load::{Run, read_run};
use libtest_mimic::Trial;
use std::path::Path;

const NEEDS: &[Need] = &[Need::Tool("unshare"), Need::UserNamespace];
const NEEDS_QUEUES: &[Need] = &[Need::Tool("unshare"), Need::UserNamespace, Need::QueueFileSystem];
const NEEDS_SETPRIV: &[Need] = &[Need::Tool("unshare"), Need::UserNamespace, Need::Tool("setpriv")];

/// Allows no other namespace, neither of IPC nor of users.
const REFUSE: &str = "set -e
echo 0 > /proc/sys/user/max_ipc_namespaces
echo 0 > /proc/sys/user/max_user_namespaces\n";
const QUEUES: &str = "measure:bandwidth mechanism:(posix_queue OR sysv_queue)";

pub fn trials() -> Vec<Trial> {
    vec![
        trial("refusals::large_queue_cells_are_unavailable_and_small_ones_run", NEEDS, || {
            refused("\"$@\"", "unshare(CLONE_NEWIPC)")
        }),
        trial("refusals::without_any_right_too", NEEDS_SETPRIV, || {
            let powerless = "setpriv --bounding-set=-all --inh-caps=-all --no-new-privs -- \"$@\"";
            refused(powerless, "unshare(CLONE_NEWUSER | CLONE_NEWIPC)")
        }),
        trial("refusals::plan_names_them_beforehand", NEEDS, plan_names_them),
        trial("refusals::a_kill_leaves_no_object", NEEDS, || {
            a_kill_leaves_nothing(
                "",
                "mechanism:(sysv_queue OR sysv_semaphore)",
                "tail -q -n +2 /proc/sysvipc/msg /proc/sysvipc/sem",
            )
        }),
        trial("refusals::a_kill_leaves_no_queue", NEEDS_QUEUES, || {
            let queues = "mkdir \"$folder/queues\"; mount -t mqueue none \"$folder/queues\"\n";
            a_kill_leaves_nothing(
                queues,
                "mechanism:(posix_queue OR sysv_queue)",
                "ls \"$folder/queues\"; tail -q -n +2 /proc/sysvipc/msg",
            )
        }),
    ]
}

/// A script of the shell in a user, mount and IPC namespace of its own; `$1` is the program, `$2` the folder.
fn inside(script: &str, folder: &Path) -> Program {
    let script = format!("{REFUSE}{script}");
    Program::new("unshare")
        .args(["-U", "-r", "-i", "-m", "sh", "-c", &script, "sh", crate::program::IPCMATRIX])
        .args([folder])
}

/// What the kernel refuses is told with the limit, its value and a remedy; the rest is measured.
fn refused(start: &str, call: &str) {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "out=$2; set -- \"$1\" run --no-lock smoke --test -a message_bytes=4K,64K -f '{QUEUES}' -o \"$out/out\"\n{start}"
    );
    inside(&script, folder.path()).run().exits(0).prints(&["2 measured, 2 unavailable, 0 failed"]);
    let run = read_run(&folder.path().join("out")).unwrap();
    for (mechanism, limit) in [("posix_queue", "fs.mqueue.msgsize_max"), ("sysv_queue", "kernel.msgmax")] {
        match outcome(&run, mechanism, 4 << 10) {
            Outcome::Measured(figures) => {
                let namespace = figures.effective["ipc_namespace"].as_str().unwrap().to_owned();
                assert!(
                    namespace.starts_with("the machine's own") && namespace.contains(call),
                    "{namespace}"
                );
            }
            other => panic!("{mechanism} at 4K: {other:?}"),
        }
        match outcome(&run, mechanism, 64 << 10) {
            Outcome::Unavailable(refused) => {
                for word in [
                    &format!("{limit} is 8192, the cell needs 65536"),
                    "refuses a private IPC namespace",
                    call,
                ] {
                    assert!(refused.reason.contains(word), "{word:?} does not stand in {refused:?}");
                }
                assert!(refused.remedy.contains(&format!("sysctl -w {limit}=65536")), "{refused:?}");
            }
            other => panic!("{mechanism} at 64K: {other:?}"),
        }
    }
}

fn outcome<'a>(run: &'a Run, mechanism: &str, message_bytes: u64) -> &'a Outcome {
    let of = |cell: &ipcmatrix::cell::Cell| {
        cell.mechanism() == mechanism && cell.count(Axis::MessageBytes) == message_bytes
    };
    &run.visits.iter().find(|visit| of(&visit.cell)).expect("every cell was visited").outcome
}

fn plan_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("\"$1\" plan smoke -a message_bytes=4K,64K -f '{QUEUES}'");
    inside(&script, folder.path()).run().exits(0).prints(&[
        "4 cells, 2 unavailable on this machine",
        "fs.mqueue.msgsize_max is 8192, the cell needs 65536",
        "kernel.msgmax is 8192, the cell needs 65536",
        "remedy: raise it as root: `sysctl -w",
    ]);
}

/// Kills the runner once an object is there, several times over, and waits until none is.
fn a_kill_leaves_nothing(prepare: &str, filter: &str, list: &str) {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "folder=$2\n{prepare}objects() {{ ({list}) | wc -l; }}
        for time in 1 2 3 4 5; do
            \"$1\" run --no-lock smoke --budget 50s -q -o \"$folder/$time\" -f '{filter}' > \"$folder/tables\" &
            until [ $(objects) -gt 0 ]; do :; done
            kill -9 $!
            wait $! || true
            until [ $(objects) -eq 0 ]; do :; done
            echo gone
        done"
    );
    let running = inside(&script, folder.path()).start();
    let mark = running.mark();
    let ended = running.end().exits(0);
    assert_eq!(ended.stdout.lines().filter(|line| *line == "gone").count(), 5, "{}", ended.stderr);
    crate::machine::eventually(|| {
        let left = crate::program::alive(&mark);
        (!left.is_empty()).then(|| format!("left: {left:?}"))
    });
}
