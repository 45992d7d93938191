//! The worker: it is placed, enters the workload, and does what it is told between two clock readings.

use super::control::{Answer, Control, Order};
use super::gate::Gate;
use super::run_delay::RunDelay;
use crate::measure::clock::{monotonic_ns, thread_cpu_ns};
use crate::measure::spin::Spin;
use crate::record::{Twin, WorkerSample};
use crate::sys::affinity;
use crate::workload::{Body, Drained, Workload};
use nix::sched::sched_getcpu;
use nix::sys::resource::{Usage, UsageWho, getrusage};
use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Serves the coordinator until it says leave or is gone. Returns whether all went well. Each operation is made so many
/// nanoseconds longer where that is asked for.
pub fn serve(
    control: &Control,
    workload: &dyn Workload,
    gate: Option<&Gate>,
    worker: usize,
    cpu: Option<usize>,
    injected_ns: Option<f64>,
) -> bool {
    let served = catch_unwind(AssertUnwindSafe(|| {
        if let Some(cpu) = cpu {
            affinity::pin(cpu)?;
        }
        let spin = injected_ns.filter(|_| workload.timed(worker)).map(Spin::of);
        obey(control, gate, spin.as_ref(), workload.enter(worker)?.as_mut())
    }));
    let answer = match served {
        Ok(Ok(())) => return true,
        Ok(Err(error)) => Answer::failed(&error),
        Err(panic) => Answer::failed(&panic_text(panic.as_ref())),
    };
    // The coordinator may be gone: then there is nobody to tell, and this worker ends.
    let _ = control.send(&answer);
    false
}

/// What a batch has beside its operations.
struct Around<'a> {
    /// Where workers that are threads meet before the clock is read.
    gate: Option<&'a Gate>,
    /// What makes operations longer on purpose.
    spin: Option<&'a Spin>,
    delay: RunDelay,
}

fn obey(control: &Control, gate: Option<&Gate>, spin: Option<&Spin>, body: &mut dyn Body) -> io::Result<()> {
    let around = Around { gate, spin, delay: RunDelay::of_this_thread() };
    control.send(&Answer::Ready)?;
    while let Some(order) = control.receive()? {
        match order {
            Order::Run(ops) => control.send(&Answer::Done(batch(&around, body, ops)?))?,
            Order::Take(part) => {
                body.take_part(part)?;
                control.send(&Answer::Ready)?;
            }
            Order::Prove => control.send(&Answer::Proved(body.prove()?))?,
            Order::Conclude => {
                body.conclude()?;
                control.send(&Answer::Concluded)?;
            }
            Order::Leave => break,
        }
    }
    Ok(())
}

/// One batch. The clock is read last before it and first after it.
fn batch(around: &Around, body: &mut dyn Body, ops: u64) -> io::Result<WorkerSample> {
    body.before_batch()?;
    if let Some(gate) = around.gate {
        gate.pass();
    }
    let delay_before_ns = around.delay.ns();
    let before = getrusage(UsageWho::RUSAGE_THREAD)?;
    let cpu_before = thread_cpu_ns();
    let begin_ns = monotonic_ns();
    let tally = body.run(ops)?;
    if let Some(spin) = around.spin {
        spin.operations(ops);
    }
    let end_ns = monotonic_ns();
    let cpu_ns = thread_cpu_ns() - cpu_before;
    let after = getrusage(UsageWho::RUSAGE_THREAD)?;
    let run_delay_ns = around.delay.ns().zip(delay_before_ns).map(|(after, before)| after - before);
    let drained_ns = match body.drain()? {
        Drained::NothingToTell | Drained::Unknown => None,
        Drained::AtOnce => Some(end_ns),
        Drained::Now => Some(monotonic_ns()),
    };
    let twin = if body.has_twin() { Some(twin(body, ops)?) } else { None };
    body.after_batch()?;
    let switches = |count: fn(&Usage) -> i64| (count(&after) - count(&before)) as u64;
    Ok(WorkerSample {
        begin_ns,
        end_ns,
        drained_ns,
        cpu_ns,
        voluntary_switches: switches(Usage::voluntary_context_switches),
        involuntary_switches: switches(Usage::involuntary_context_switches),
        run_delay_ns,
        cpu: sched_getcpu()?,
        twin,
        tally,
    })
}

/// The loop without the operation.
fn twin(body: &mut dyn Body, ops: u64) -> io::Result<Twin> {
    let cpu_before = thread_cpu_ns();
    let begin_ns = monotonic_ns();
    body.twin(ops)?;
    let elapsed_ns = monotonic_ns() - begin_ns;
    Ok(Twin { elapsed_ns, cpu_ns: thread_cpu_ns() - cpu_before })
}

/// What a panic said.
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    format!("a bug in ipcmatrix: panicked: {}", said.unwrap_or_else(|| "no text".into()))
}
