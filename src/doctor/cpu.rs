//! Checks of the CPUs: how many, how fast, how they sleep, and who else is on them.

use super::Severity::{Note, Severe, Warning};
use super::{Check, Checked, Trouble, known, of, plain};
use crate::environment::{CpuSet, Environment};

const CPUS: &str = "/sys/devices/system/cpu";

/// With so many CPUs two can be measured while the others serve the machine.
const ENOUGH_CPUS: usize = 4;

/// A wake-up that takes longer than this, in microseconds, shows in a round trip across CPUs.
const LONG_WAKE_UP_US: u64 = 10;

pub(super) const CHECKS: &[Check] = &[
    ("few_cpus", few_cpus),
    ("governor", governor),
    ("turbo", turbo),
    ("frequency_scaling", frequency_scaling),
    ("idle_states", idle_states),
    ("smt", smt),
    ("mitigations", mitigations),
    ("irqbalance", irqbalance),
    ("interrupts", interrupts),
];

fn few_cpus(environment: &Environment) -> Checked {
    let allowed = known(&environment.cpu.allowed)?;
    let found = format!("this process may run on CPU {} only", allowed.list);
    let remedy = "run on a machine with more CPUs, or allow more: `taskset -c 0-3 ipcmatrix run`".to_owned();
    Ok(match allowed.count {
        0 | 1 => Some(Trouble(
            Severe,
            found,
            "no cell across CPUs can run, and the coordinator shares the CPU that is measured",
            remedy,
        )),
        count if count < ENOUGH_CPUS => Some(Trouble(
            Warning,
            found,
            "cells across CPUs use the CPUs that serve everything else, so their intervals are wide",
            remedy,
        )),
        _ => None,
    })
}

fn governor(environment: &Environment) -> Checked {
    let governors = known(&environment.cpu.governors)?;
    let fixed = governors.iter().all(|governor| governor == "performance");
    let effect = "the clock rate follows the load, so short batches run slower than long ones";
    let remedy = "sudo cpupower frequency-set -g performance".to_owned();
    let found = format!("the frequency governor is {}", governors.join(" and "));
    Ok((!fixed).then_some(Trouble(Warning, found, effect, remedy)))
}

fn turbo(environment: &Environment) -> Checked {
    let boost = *known(&environment.cpu.boost)?;
    let pstate = environment.cpu.frequency_driver.known().is_some_and(|driver| driver.starts_with("intel_"));
    let remedy = match pstate {
        true => format!("echo 1 | sudo tee {CPUS}/intel_pstate/no_turbo"),
        false => format!("echo 0 | sudo tee {CPUS}/cpufreq/boost"),
    };
    Ok(boost.then(|| {
        let effect =
            "the clock rate depends on heat and on how many cores are busy: figures drift within a run";
        Trouble(Note, "the clock may go above its nominal rate".to_owned(), effect, remedy)
    }))
}

fn frequency_scaling(environment: &Environment) -> Checked {
    let [low, high] = *of(environment, |interference| &interference.frequency_range_khz)?;
    Ok((low < high).then(|| {
        Trouble(
            Note,
            format!("the clock rate may be anything from {} to {} MHz", low / 1000, high / 1000),
            "a CPU that was idle begins slowly; the warm-up of a visit may be too short for it",
            format!("sudo cpupower frequency-set -d {low} -u {low}"),
        )
    }))
}

fn idle_states(environment: &Environment) -> Checked {
    let wake_up_us = *of(environment, |interference| &interference.wake_up_us)?;
    Ok((wake_up_us > LONG_WAKE_UP_US).then(|| {
        Trouble(
            Warning,
            format!("an idle CPU may sleep so deeply that it needs {wake_up_us} us to wake up"),
            "round trips and waits across CPUs measure the sleep of the CPU and not the mechanism",
            format!("sudo cpupower idle-set -D {LONG_WAKE_UP_US}"),
        )
    }))
}

fn smt(environment: &Environment) -> Checked {
    let effect = "work on one thread slows its sibling, and cells across CPUs depend on which two are taken";
    let remedy = "echo off | sudo tee /sys/devices/system/cpu/smt/control";
    plain(*known(&environment.cpu.smt)?, Note, ["two threads share a core", effect, remedy])
}

fn mitigations(environment: &Environment) -> Checked {
    let flaws = known(&environment.kernel.mitigations)?;
    let active: Vec<&str> = flaws
        .iter()
        .filter(|(_, state)| state.contains("Mitigation"))
        .map(|(name, _)| name.as_str())
        .collect();
    Ok((!active.is_empty()).then(|| {
        Trouble(
            Note,
            format!("the kernel works around flaws of the CPU: {}", active.join(", ")),
            "system calls and switches cost more; compare with machines that are set up alike only",
            "nothing, as users run with them; on a machine that runs trusted code only, boot with `mitigations=off`".to_owned(),
        )
    }))
}

fn irqbalance(environment: &Environment) -> Checked {
    let effect = "interrupts move between CPUs, onto those that are measured too";
    let runs = *of(environment, |interference| &interference.irqbalance)?;
    plain(runs, Warning, ["irqbalance runs", effect, "sudo systemctl stop irqbalance"])
}

fn interrupts(environment: &Environment) -> Checked {
    let measured = of(environment, |interference| &interference.measured_cpus)?;
    let served = of(environment, |interference| &interference.interrupts)?;
    Ok((!served.is_empty()).then(|| {
        let numbers: Vec<String> = served.iter().map(u32::to_string).collect();
        let found = format!(
            "CPU {}, which pinned workers use first, served device interrupts {}",
            measured.list,
            numbers.join(", ")
        );
        let effect = "a worker is stopped while its CPU serves a device, mostly seen in medians";
        Trouble(Note, found, effect, move_away(environment, measured, &numbers))
    }))
}

/// The command for a CPU that is not measured, where there is one.
fn move_away(environment: &Environment, measured: &CpuSet, interrupts: &[String]) -> String {
    let measured = measured.numbers();
    let online = environment.cpu.online.known().map(CpuSet::numbers).unwrap_or_default();
    match online.iter().find(|cpu| !measured.contains(cpu)) {
        Some(cpu) => format!(
            "for irq in {}; do echo {cpu} | sudo tee /proc/irq/$irq/smp_affinity_list; done",
            interrupts.join(" ")
        ),
        None => "run on a machine with more CPUs: there is none to move them to".to_owned(),
    }
}
