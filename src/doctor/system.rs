//! Checks of what runs beside, below and around the program.

use super::Severity::{Note, Severe, Warning};
use super::{Check, Checked, Trouble, known, of, plain};
use crate::environment::Environment;

/// More runnable tasks than this, on average over a minute, is company.
const BUSY_LOAD: f64 = 0.5;

/// More stolen time than this since boot, as a share, is a busy host.
const BUSY_HOST: f64 = 0.005;

const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";

/// Clock sources that are read without a system call (vdso(7)).
const FAST_CLOCKS: &[&str] =
    &["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase"];

pub(super) const CHECKS: &[Check] = &[
    ("debug_build", debug_build),
    ("other_runs", other_runs),
    ("load", load),
    ("pressure", pressure),
    ("virtual_machine", virtual_machine),
    ("steal", steal),
    ("cpu_quota", cpu_quota),
    ("huge_pages", huge_pages),
    ("clock_source", clock_source),
    ("tracing", tracing),
    ("traced", traced),
    ("seccomp", seccomp),
];

fn debug_build(environment: &Environment) -> Checked {
    let identity = &environment.identity;
    let slow = identity.debug_assertions || known(&identity.profile)? == "debug";
    Ok(slow.then(|| {
        let effect = "loops and checks of ours cost several times more, and count as the mechanism's";
        let remedy = "cargo install --path .".to_owned();
        Trouble(Severe, "this ipcmatrix was built for debugging".to_owned(), effect, remedy)
    }))
}

fn other_runs(environment: &Environment) -> Checked {
    let others = *of(environment, |interference| &interference.other_runs)?;
    Ok((others > 0).then(|| {
        Trouble(
            Severe,
            format!("other processes of ipcmatrix: {others}"),
            "two runs measure each other",
            "wait until the other run ends; `pgrep -a ipcmatrix` shows it".to_owned(),
        )
    }))
}

fn load(environment: &Environment) -> Checked {
    let [minute, ..] = *known(&environment.activity.load_average)?;
    Ok((minute > BUSY_LOAD).then(|| {
        Trouble(
            Warning,
            format!("{minute:.2} tasks were ready to run on average over the last minute"),
            "they take CPU time and caches from what is measured; medians suffer more than floors",
            "end what is not needed; `ps -eo pcpu,pid,comm --sort=-pcpu | head` shows what is busy"
                .to_owned(),
        )
    }))
}

/// Not a check that could not be made: what is missing is what the warning of a run needs.
fn pressure(environment: &Environment) -> Checked {
    let cpu = environment.activity.pressure.get("cpu").ok_or("not recorded")?;
    Ok(cpu.reason().map(|reason| {
        Trouble(
            Note,
            format!("the kernel does not tell how long tasks wait for a CPU ({reason})"),
            "W009 (CPU pressure) cannot be told; W002 and W003 still tell of others on the CPUs",
            "boot with psi=1; a kernel without CONFIG_PSI has none".to_owned(),
        )
    }))
}

fn virtual_machine(environment: &Environment) -> Checked {
    let container = &environment.container;
    let hypervisor = container.hypervisor.known().map_or("an unknown hypervisor", String::as_str);
    Ok(known(&container.virtual_machine)?.then(|| {
        Trouble(
            Warning,
            format!("this is a virtual machine ({hypervisor})"),
            "the host moves CPUs about: the distance between two of them, and so cells across CPUs, change within seconds",
            "measure on the bare machine, or have the host pin each virtual CPU, e.g. `virsh vcpupin GUEST 0 2`".to_owned(),
        )
    }))
}

fn steal(environment: &Environment) -> Checked {
    let share = *of(environment, |interference| &interference.steal_share)?;
    Ok((share > BUSY_HOST).then(|| {
        Trouble(
            Warning,
            format!("the host gave {:.1} % of the CPU time since boot to others", share * 100.0),
            "a worker stands still without knowing; intervals get wide",
            "use a machine with CPUs of its own; `vmstat 1` shows what is stolen now (column st)".to_owned(),
        )
    }))
}

fn cpu_quota(environment: &Environment) -> Checked {
    let group = &environment.container.cgroup;
    let Some(cpus) = known(&group.cpu_quota)?.cpus() else { return Ok(None) };
    let throttled = group.throttling.known().map_or(0, |throttling| throttling.nr_throttled);
    Ok(Some(Trouble(
        if throttled > 0 { Severe } else { Warning },
        format!("the control group may use {cpus:.2} CPUs, and was stopped for that {throttled} times so far"),
        "when the quota is spent, every worker stops for the rest of the period, mostly 100 ms",
        "start the container without a bound on CPU time: `docker run` without --cpus, `systemctl set-property UNIT CPUQuota=`"
            .to_owned(),
    )))
}

fn huge_pages(environment: &Environment) -> Checked {
    let always = known(&environment.memory.transparent_huge_pages)? == "always";
    let found = "transparent huge pages are made for every program";
    let effect =
        "whether a large buffer got huge pages differs from visit to visit, and with it the bandwidth";
    plain(
        always,
        Note,
        [found, effect, "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled"],
    )
}

fn clock_source(environment: &Environment) -> Checked {
    let source = known(&environment.kernel.clock_source)?;
    let better = environment.kernel.clock_sources.known().into_iter().flatten();
    let better = better.into_iter().find(|name| FAST_CLOCKS.contains(&name.as_str()));
    let remedy = match better {
        Some(name) => format!("echo {name} | sudo tee {CLOCKS}/current_clocksource"),
        None => {
            "none by a command: the kernel has no better one here (`dmesg | grep -i clocksource` says why)"
                .to_owned()
        }
    };
    Ok((!FAST_CLOCKS.contains(&source.as_str())).then(|| {
        let effect = "reading the clock is a system call or a slow device: times of single requests and of clock_gettime grow";
        Trouble(Warning, format!("the clock source is {source}"), effect, remedy)
    }))
}

fn tracing(environment: &Environment) -> Checked {
    let tracer = of(environment, |interference| &interference.tracer)?;
    let events = of(environment, |interference| &interference.trace_events)?;
    Ok((tracer != "nop" || events != "0").then(|| {
        Trouble(
            Severe,
            format!("the kernel traces itself: tracer {tracer}, events {events} (0 none, 1 all, X some)"),
            "each traced function or event costs time inside the system calls that are measured",
            "sudo sh -c 'echo nop > /sys/kernel/tracing/current_tracer; echo 0 > /sys/kernel/tracing/events/enable'"
                .to_owned(),
        )
    }))
}

fn traced(environment: &Environment) -> Checked {
    let found = "a debugger or strace is attached to this program";
    let attached = *of(environment, |interference| &interference.traced)?;
    plain(
        attached,
        Severe,
        [found, "each system call stops twice for the tracer", "start ipcmatrix without it"],
    )
}

fn seccomp(environment: &Environment) -> Checked {
    let mode = known(&environment.container.seccomp)?;
    Ok((mode != "off").then(|| {
        Trouble(
            Note,
            format!("system calls go through a seccomp {mode}"),
            "each system call costs more, and some may be refused",
            "start the container with `docker run --security-opt seccomp=unconfined`".to_owned(),
        )
    }))
}
