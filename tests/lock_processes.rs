//! Locks between processes: the program of these tests has one thread, so that it may fork.

use ipcmatrix::catalog::Reach;
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::lock::{DRIVERS, Lock, PthreadMutexRobust};
use ipcmatrix::measure::clock::Deadline;
use ipcmatrix::sys::memory::SharedPair;
use ipcmatrix::sys::process;
use ipcmatrix::workload::{Batch, Workload};
use libtest_mimic::{Arguments, Failed, Trial};
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};
use std::io;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

const DEADLINE_MS: u64 = 60_000;
const WORKERS: usize = 4;
const OPS: u64 = 2_000;

fn main() -> ExitCode {
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    let locks = DRIVERS.iter().filter(|driver| driver.reach != Reach::Threads).map(|driver| {
        Trial::test(format!("{}_counts_between_processes", driver.mechanism), move || {
            counts(driver.mechanism, driver.open)
        })
    });
    let robust = [
        Trial::test("a_robust_mutex_tells_that_its_holder_died_and_goes_on", holder_died),
        Trial::test("increments_go_on_after_a_holder_died", increments_go_on),
        Trial::test("a_robust_mutex_that_is_not_made_consistent_is_lost", not_made_consistent),
    ];
    libtest_mimic::run(&arguments, locks.chain(robust).collect()).exit_code()
}

/// A child that dies with this process; its result becomes its exit status.
fn child(part: impl FnOnce() -> io::Result<()>) -> io::Result<Pid> {
    let parent = getpid();
    process::fork(|| {
        let done = process::die_with(parent).and_then(|()| part());
        i32::from(done.is_err())
    })
}

/// How the child ended; kills one that does not.
fn ended(child: Pid) -> Result<WaitStatus, Failed> {
    let deadline = Deadline::after_ms(DEADLINE_MS);
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG))? {
            WaitStatus::StillAlive if deadline.left_ms() == 0 => {
                kill(child, Signal::SIGKILL)?;
                waitpid(child, None)?;
                return Err("the child did not end in time".into());
            }
            WaitStatus::StillAlive => std::thread::yield_now(),
            status => return Ok(status),
        }
    }
}

fn counts(mechanism: &str, open: fn(&[Cell]) -> io::Result<Box<dyn Workload>>) -> Result<(), Failed> {
    let cell = Cell::new(Measure::Increment, mechanism).with(Axis::Workers, Value::Count(WORKERS as u64));
    let workload = open(&[cell])?;
    let part = |worker: usize| workload.enter(worker)?.run(OPS).map(drop);
    let children: Vec<Pid> =
        (0..WORKERS).map(|worker| child(|| part(worker))).collect::<io::Result<Vec<Pid>>>()?;
    let statuses: Vec<WaitStatus> = children.into_iter().map(ended).collect::<Result<Vec<_>, Failed>>()?;
    assert!(statuses.iter().all(|status| matches!(status, WaitStatus::Exited(_, 0))), "{statuses:?}");
    workload.verify(&Batch { ops: OPS, total_ops: OPS, tallies: &[] })?;
    Ok(())
}

type Robust = SharedPair<PthreadMutexRobust, AtomicU64>;

/// A mutex whose holder was killed while it held it, and a counter.
fn orphaned() -> Result<Robust, Failed> {
    let shared = Robust::build(<PthreadMutexRobust as Lock>::init, AtomicU64::new(0))?;
    orphan(&shared)?;
    Ok(shared)
}

fn orphan(shared: &Robust) -> Result<(), Failed> {
    let holder = child(|| {
        shared.first().hold(|| {
            let _ = kill(getpid(), Signal::SIGKILL);
        })
    })?;
    match ended(holder)? {
        WaitStatus::Signaled(_, Signal::SIGKILL, _) => Ok(()),
        status => Err(format!("the holder was to be killed: {status:?}").into()),
    }
}

fn code(result: io::Result<()>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

fn holder_died() -> Result<(), Failed> {
    let shared = orphaned()?;
    let mutex = shared.first();
    assert_eq!(code(mutex.lock()), Some(libc::EOWNERDEAD));
    mutex.make_consistent()?;
    mutex.unlock()?;
    mutex.lock()?;
    assert_eq!(code(mutex.make_consistent()), Some(libc::EINVAL), "nobody died this time");
    mutex.unlock()?;
    Ok(())
}

fn increments_go_on() -> Result<(), Failed> {
    let shared = orphaned()?;
    let add_one = || {
        shared.second().fetch_add(1, Ordering::Relaxed);
    };
    shared.first().hold(add_one)?;
    orphan(&shared)?;
    let next = child(|| shared.first().hold(add_one))?;
    assert!(matches!(ended(next)?, WaitStatus::Exited(_, 0)));
    shared.first().hold(add_one)?;
    assert_eq!(shared.second().load(Ordering::Relaxed), 3);
    Ok(())
}

fn not_made_consistent() -> Result<(), Failed> {
    let shared = orphaned()?;
    let mutex = shared.first();
    assert_eq!(code(mutex.lock()), Some(libc::EOWNERDEAD));
    mutex.unlock()?;
    assert_eq!(code(mutex.lock()), Some(libc::ENOTRECOVERABLE));
    assert_eq!(code(mutex.hold(|| ())), Some(libc::ENOTRECOVERABLE), "no increment without the lock");
    Ok(())
}
