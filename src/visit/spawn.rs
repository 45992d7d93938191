//! Makes workers of a workload: threads of this process or forked children.

use super::control::Control;
use super::gate::Gate;
use super::placement::Placement;
use super::refusal::Refusal;
use super::{deliver, worker};
use crate::sys::process;
use crate::workload::Workload;
use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, getpid};
use std::thread;

/// Starts the workers, runs `coordinate` with their control channels, and waits until they have ended. The operations of
/// timed workers are made longer by `injected_ns` where that is given.
///
/// # Errors
/// What `coordinate` returns, or a worker that could not be started or did not end well.
pub fn with_workers<R>(
    workload: &dyn Workload,
    placement: &Placement,
    spawn: &str,
    injected_ns: Option<f64>,
    coordinate: impl FnOnce(&[Control]) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let gate = workload.meets().then(|| Gate::new(workload.workers())).transpose();
    let gate = gate.map_err(|error| Refusal::failed("start", error))?;
    match spawn {
        "threads" => with_threads(workload, gate.as_ref(), placement, injected_ns, coordinate),
        _ => with_processes(workload, gate.as_ref(), placement, injected_ns, coordinate),
    }
}

fn with_threads<R>(
    workload: &dyn Workload,
    gate: Option<&Gate>,
    placement: &Placement,
    injected_ns: Option<f64>,
    coordinate: impl FnOnce(&[Control]) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let (ours, theirs) = channels(workload.workers())?;
    thread::scope(|scope| {
        for (index, control) in theirs.into_iter().enumerate() {
            let cpu = placement.of(index);
            let start = move || worker::serve(&control, workload, gate, index, cpu, injected_ns);
            let started = thread::Builder::new().name(format!("worker {index}")).spawn_scoped(scope, start);
            if let Err(error) = started {
                deliver(&Refusal::failed("start", format!("worker {index}: {error}")).outcome());
            }
        }
        let result = step_aside(placement).and_then(|()| coordinate(&ours));
        match result {
            Ok(figures) => Ok(figures),
            // A thread that hangs cannot be ended alone: the process ends with it.
            Err(refusal) => deliver(&refusal.outcome()),
        }
    })
}

fn with_processes<R>(
    workload: &dyn Workload,
    gate: Option<&Gate>,
    placement: &Placement,
    injected_ns: Option<f64>,
    coordinate: impl FnOnce(&[Control]) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let mut children = Children::default();
    let mut ours = Vec::new();
    let parent = getpid();
    for index in 0..workload.workers() {
        let (mine, theirs) = Control::pair().map_err(|error| Refusal::failed("start", error))?;
        ours.push(mine);
        let child = process::fork(|| {
            // The coordinator's ends belong to the coordinator: with a copy here its death would go unseen.
            ours.clear();
            let well = process::die_with(parent).is_ok()
                && worker::serve(&theirs, workload, gate, index, placement.of(index), injected_ns);
            i32::from(!well)
        });
        children.0.push(child.map_err(|error| Refusal::failed("start", format!("worker {index}: {error}")))?);
    }
    let figures = step_aside(placement).and_then(|()| coordinate(&ours)).map_err(|r| children.explain(r))?;
    children.end_well()?;
    Ok(figures)
}

fn channels(workers: usize) -> Result<(Vec<Control>, Vec<Control>), Refusal> {
    (0..workers).map(|_| Control::pair().map_err(|error| Refusal::failed("start", error))).collect()
}

fn step_aside(placement: &Placement) -> Result<(), Refusal> {
    placement.step_aside().map_err(|error| Refusal::failed("start", error))
}

/// Forked children: killed and reaped on drop, so that no end of a visit leaves one.
#[derive(Default)]
struct Children(Vec<Pid>);

impl Children {
    /// Waits for each and checks how it ended.
    fn end_well(&mut self) -> Result<(), Refusal> {
        for (index, child) in std::mem::take(&mut self.0).into_iter().enumerate() {
            match waitpid(child, None) {
                Ok(WaitStatus::Exited(_, 0)) => {}
                Ok(status) => {
                    return Err(Refusal::failed("leave", format!("worker {index} {}", ended(status))));
                }
                Err(error) => return Err(Refusal::failed("leave", format!("worker {index}: {error}"))),
            }
        }
        Ok(())
    }

    /// Adds how a worker ended to "worker N died".
    fn explain(&self, refusal: Refusal) -> Refusal {
        let Refusal::Failed { phase, error } = refusal else { return refusal };
        let dead = self.0.iter().enumerate().find(|(index, _)| error == format!("worker {index} died"));
        // The socket closes a moment before the process can be waited for, so this waits for it; a
        // process that has closed its socket is on its way out.
        let status = dead.and_then(|(_, child)| waitpid(*child, None).ok());
        let error = status.map_or(error.clone(), |status| format!("{error}: it {}", ended(status)));
        Refusal::Failed { phase, error }
    }
}

impl Drop for Children {
    fn drop(&mut self) {
        for child in &self.0 {
            let _ = kill(*child, Signal::SIGKILL);
        }
        for child in &self.0 {
            while waitpid(*child, Some(WaitPidFlag::empty())) == Err(Errno::EINTR) {}
        }
    }
}

fn ended(status: WaitStatus) -> String {
    match status {
        WaitStatus::Exited(_, code) => format!("exited with {code}"),
        WaitStatus::Signaled(_, signal, _) => format!("was killed by {signal}"),
        other => format!("ended as {other:?}"),
    }
}
