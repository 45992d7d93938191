//! An ordinary user gets what root gets, and nobody's limits are touched.

use crate::cells::{EVERYWHERE, drivers};
use crate::machine::{self, Need, ORDINARY, as_ordinary, is_root, limits};
use crate::program::{IPCMATRIX, Program};
use crate::trial;
use ipcmatrix::cell::{Axis, Cell};
use ipcmatrix::record::Outcome;
use ipcmatrix::report::load::{Run, read_run};
use libtest_mimic::Trial;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

const NEEDS: &[Need] = &[Need::Tool("unshare"), Need::OrdinaryNamespace];

pub fn trials() -> Vec<Trial> {
    vec![
        trial("user::an_ordinary_user_measures_the_same_cells", NEEDS, same_cells),
        trial("user::an_ordinary_user_logs", NEEDS, logs),
        trial("user::the_limits_of_the_machine_stay", &[], limits_stay),
    ]
}

/// A folder and a program that anybody may use, wherever the build has put its own.
fn for_anybody() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let copy = folder.path().join("ipcmatrix");
    fs::copy(IPCMATRIX, &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// 64K is more than Sun RPC over UDP carries on any machine, and no line of a log is that long.
const RUN: [&str; 13] = [
    "run",
    "smoke",
    "--test",
    "-q",
    "-a",
    "message_bytes=4K,64K",
    "-f",
    "-mechanism:*rpc_udp",
    "-f",
    "-measure:append",
    "-f",
    EVERYWHERE,
    "-o",
];

fn run(program: Program, folder: &Path, name: &str) -> Run {
    program.args(RUN).args([name]).folder(folder).run().exits(0);
    read_run(&folder.join(name)).unwrap()
}

fn measured(run: &Run) -> BTreeSet<Cell> {
    let good = run.visits.iter().filter(|visit| matches!(visit.outcome, Outcome::Measured(_)));
    good.map(|visit| visit.cell.clone()).collect()
}

fn same_cells() {
    let folder = for_anybody();
    let program = folder.path().join("ipcmatrix");
    let home = folder.path().join("home");
    fs::create_dir(&home).unwrap();
    if is_root() {
        chown(&home, Some(ORDINARY), Some(ORDINARY)).unwrap();
    }
    let command = as_ordinary(program.to_str().unwrap());
    let ordinary = run(Program::new(command[0]).args(&command[1..]), &home, "ordinary");
    let usual = run(Program::new(&program), folder.path(), "usual");
    assert_eq!(measured(&ordinary), measured(&usual));
    assert_eq!(measured(&ordinary).len(), usual.header.cells.len(), "every cell");
    for run in [&ordinary, &usual] {
        limit_is_raised_inside(run, "posix_queue", "fs.mqueue.msgsize_max");
        limit_is_raised_inside(run, "sysv_queue", "kernel.msgmax");
    }
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(home.join("ordinary/README.md")).unwrap());
    assert!(!is_root() || owner == ORDINARY, "it really was somebody else: {owner}");
}

/// Files without a name, a private socket and a daemon take no privilege.
fn logs() {
    let folder = for_anybody();
    let program = folder.path().join("ipcmatrix");
    let command = as_ordinary(program.to_str().unwrap());
    let measured = format!("{} measured, 0 unavailable, 0 failed", drivers(&["measure:append", EVERYWHERE]));
    Program::new(command[0])
        .args(&command[1..])
        .args(["run", "smoke", "--test", "-f", "measure:append", "-f", EVERYWHERE])
        .folder(folder.path())
        .run()
        .exits(0)
        .prints(&[&measured]);
}

/// The journal says which limit was raised, from what to what, and that the namespace was private.
fn limit_is_raised_inside(run: &Run, mechanism: &str, limit: &str) {
    let large = run.visits.iter().find(|visit| {
        visit.cell.mechanism() == mechanism && visit.cell.count(Axis::MessageBytes) == 64 << 10
    });
    let Outcome::Measured(figures) = &large.unwrap().outcome else { panic!("{large:?}") };
    assert_eq!(figures.effective["ipc_namespace"], "private");
    let raised = &figures.effective[limit];
    assert_eq!(raised["raised_to"], 64 << 10, "{limit}: {raised}");
    assert!(raised["was"].as_u64().unwrap() < 64 << 10, "{limit}: {raised}");
}

fn limits_stay() {
    let before = limits();
    assert!(before.iter().any(|(file, _)| file.ends_with("kernel/msgmax")), "{before:?}");
    let folder = tempfile::tempdir().unwrap();
    run(Program::new(IPCMATRIX), folder.path(), "out");
    assert_eq!(machine::limits(), before);
}
