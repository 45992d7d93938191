//! Each finding fires on a machine with its trouble, and none on a quiet one.

use super::*;
use crate::environment::saved::Saved;
use std::collections::BTreeSet;

const QUIET: &str = include_str!("fixtures/quiet.txt");

/// A file below /sys or /proc that is not quiet, what becomes of it, and the findings it makes.
const TROUBLES: &[(&str, &str, &[&str])] = &[
    ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave", &["governor"]),
    ("sys/devices/system/cpu/cpufreq/boost", "1", &["turbo"]),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_min_freq", "800000", &["frequency_scaling"]),
    ("sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "0", &["idle_states"]),
    ("sys/devices/system/cpu/smt/active", "1", &["smt"]),
    ("sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI", &["mitigations"]),
    ("proc/77/comm", "irqbalance", &["irqbalance"]),
    ("proc/77/comm", "ipcmatrix", &["other_runs"]),
    ("proc/interrupts", "CPU0 CPU1 CPU2 CPU3\n 24: 9 0 0 1 PCI-MSI nvme", &["interrupts"]),
    ("proc/loadavg", "0.51 0 0 1/100 900", &["load"]),
    ("proc/cpuinfo", "processor : 0\nflags : fpu hypervisor", &["virtual_machine"]),
    ("proc/stat", "cpu 100 0 100 9700 0 0 0 60 0 0", &["steal"]),
    ("sys/fs/cgroup/cpu.max", "150000 100000", &["cpu_quota"]),
    ("sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never", &["huge_pages"]),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", &["clock_source"]),
    ("sys/kernel/tracing/current_tracer", "function", &["tracing"]),
    ("sys/kernel/tracing/events/enable", "X", &["tracing"]),
    ("proc/self/status", "Pid: 900\nTracerPid: 77\nSeccomp: 0\nCpus_allowed_list: 0-3", &["traced"]),
    ("proc/self/status", "Pid: 900\nTracerPid: 0\nSeccomp: 2\nCpus_allowed_list: 0-3", &["seccomp"]),
    ("proc/self/status", "Pid: 900\nTracerPid: 0\nSeccomp: 0\nCpus_allowed_list: 1-3", &["few_cpus"]),
];

/// What is just not a trouble.
const HARMLESS: &[(&str, &str)] = &[
    ("proc/loadavg", "0.50 9 9 1/100 900"),
    ("proc/stat", "cpu 100 0 100 9750 0 0 0 50 0 0"),
    ("proc/77/comm", "ipcmatrix-gui"),
    ("proc/interrupts", "CPU0 CPU1 CPU2 CPU3\n 24: 9 9 0 0 PCI-MSI nvme\nLOC: 9 9 9 9 timer"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "10"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "kvm-clock"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"),
];

/// As a released program would see that tree.
fn seen(saved: &Saved) -> Environment {
    let mut environment = Environment::read(saved.root());
    environment.identity.profile = Fact::Known("release".to_owned());
    environment.identity.debug_assertions = false;
    environment
}

fn names(diagnosis: &Diagnosis) -> Vec<&str> {
    diagnosis.findings.iter().map(|finding| finding.name).collect()
}

#[test]
fn a_quiet_machine_has_no_finding_and_every_check_can_be_made() {
    assert_eq!(diagnose(&seen(&Saved::of(QUIET))), Diagnosis::default());
    for (path, text) in HARMLESS {
        let saved = Saved::of(QUIET);
        assert_eq!(diagnose(&seen(saved.put(path, text))), Diagnosis::default(), "{path}: {text}");
    }
}

#[test]
fn each_trouble_makes_its_own_finding_and_no_other() {
    for (path, text, found) in TROUBLES {
        let saved = Saved::of(QUIET);
        let diagnosis = diagnose(&seen(saved.put(path, text)));
        assert_eq!(names(&diagnosis), *found, "{path}: {text}");
        assert_eq!(diagnosis.unchecked, [], "{path}: {text}");
        let finding = &diagnosis.findings[0];
        assert!(!finding.found.is_empty() && !finding.effect.is_empty() && !finding.remedy.is_empty());
    }
}

#[test]
fn a_debug_build_is_found() {
    let mut environment = seen(&Saved::of(QUIET));
    environment.identity.debug_assertions = true;
    assert_eq!(names(&diagnose(&environment)), ["debug_build"]);
}

#[test]
fn every_check_has_a_name_of_its_own_and_a_trouble_above() {
    let all: Vec<&str> = cpu::CHECKS.iter().chain(system::CHECKS).map(|(name, _)| *name).collect();
    let fired: BTreeSet<&str> = TROUBLES
        .iter()
        .flat_map(|(_, _, found)| found.iter().copied())
        .chain(["debug_build", "pressure"])
        .collect();
    assert_eq!(all.iter().copied().collect::<BTreeSet<_>>(), fired);
    assert_eq!(all.len(), fired.len());
}

#[test]
fn a_kernel_that_tells_no_pressure_is_found() {
    let saved = Saved::of(QUIET);
    saved.remove("proc/pressure/cpu");
    let diagnosis = diagnose(&seen(&saved));
    assert_eq!((names(&diagnosis), diagnosis.unchecked.len()), (vec!["pressure"], 0));
    assert!(diagnosis.findings[0].found.contains("no such file"), "{:?}", diagnosis.findings);
}

#[test]
fn the_worst_comes_first_and_gets_worse_with_what_there_is() {
    let saved = Saved::of(QUIET);
    saved
        .put("sys/devices/system/cpu/smt/active", "1")
        .put("proc/loadavg", "3.00 2 1 1/100 900")
        .put("sys/fs/cgroup/cpu.max", "150000 100000")
        .put("sys/fs/cgroup/cpu.stat", "nr_throttled 3\nthrottled_usec 9");
    let findings = diagnose(&seen(&saved)).findings;
    let told: Vec<(&str, Severity)> =
        findings.iter().map(|finding| (finding.name, finding.severity)).collect();
    let expected = [("cpu_quota", Severity::Severe), ("load", Severity::Warning), ("smt", Severity::Note)];
    assert_eq!(told, expected);
}

#[test]
fn what_cannot_be_read_is_said_and_not_taken_for_quiet() {
    let saved = Saved::of(QUIET);
    saved.remove("sys/kernel/tracing/events/enable").remove("proc/loadavg");
    let diagnosis = diagnose(&seen(&saved));
    assert!(diagnosis.findings.is_empty());
    let told: Vec<&str> = diagnosis.unchecked.iter().map(|unchecked| unchecked.name).collect();
    assert_eq!(told, ["load", "tracing"]);
    assert!(diagnosis.unchecked[0].reason.contains("/proc/loadavg: no such file"));
}

#[test]
fn remedies_fit_the_machine() {
    let saved = Saved::of(QUIET);
    saved
        .put("sys/devices/system/cpu/cpufreq/boost", "1")
        .put("proc/interrupts", "CPU0 CPU1 CPU2 CPU3\n 24: 9 0 1 1 x\n 25: 0 0 2 0 y");
    let findings = diagnose(&seen(&saved)).findings;
    let remedy =
        |name: &str| findings.iter().find(|finding| finding.name == name).expect(name).remedy.as_str();
    assert_eq!(remedy("turbo"), "echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost");
    assert_eq!(
        remedy("interrupts"),
        "for irq in 24 25; do echo 0 | sudo tee /proc/irq/$irq/smp_affinity_list; done"
    );
    saved.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate");
    let findings = diagnose(&seen(&saved)).findings;
    assert!(findings.iter().any(|finding| finding.remedy.ends_with("intel_pstate/no_turbo")));
}
