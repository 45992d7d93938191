//! On which CPUs a thread may run. sched_setaffinity(2).

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::io;

/// Pins the calling thread to one CPU and checks that it is.
///
/// # Errors
/// sched_setaffinity(2), or `Other` when the kernel did something else.
pub fn pin(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    sched_setaffinity(Pid::from_raw(0), &set)?;
    let now = allowed_cpus()?;
    if now == [cpu] {
        Ok(())
    } else {
        Err(io::Error::other(format!("pinned to CPU {cpu}, may run on {now:?}")))
    }
}

/// Does that on one CPU, and may then use the CPUs that it could use before.
///
/// # Errors
/// Those of [`pin`], or sched_setaffinity(2) afterwards.
pub fn on<R>(cpu: usize, work: impl FnOnce() -> R) -> io::Result<R> {
    let before = sched_getaffinity(Pid::from_raw(0))?;
    pin(cpu)?;
    let done = work();
    sched_setaffinity(Pid::from_raw(0), &before)?;
    Ok(done)
}

/// The CPUs that the calling thread may use, ascending.
///
/// # Errors
/// sched_getaffinity(2), or `Other` when there is none.
pub fn allowed_cpus() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0))?;
    let cpus: Vec<usize> = (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect();
    if cpus.is_empty() { Err(io::Error::other("this process may run on no CPU")) } else { Ok(cpus) }
}
