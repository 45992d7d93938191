//! What a reader needs of the environment at a glance: the folder's name, the class, a few lines.

use super::Environment;
use super::fact::{Amount, Fact};
use std::collections::BTreeMap;

/// The longest name of a machine, in characters.
const LONGEST_SLUG: usize = 40;

/// A name for a folder: lower-case ASCII letters, digits and dashes.
pub(super) fn slug(model: Option<&str>, cpus: Option<usize>) -> String {
    let tail = cpus.map(|cpus| format!("-{cpus}cpu")).unwrap_or_default();
    let words = model.map(plain_words).unwrap_or_default();
    let mut head = String::new();
    for word in words.iter().map(String::as_str).chain(["unknown"].into_iter().filter(|_| words.is_empty())) {
        let dash = if head.is_empty() { "" } else { "-" };
        let room = LONGEST_SLUG.saturating_sub(tail.len() + head.len() + dash.len());
        if word.len() > room && !head.is_empty() {
            break;
        }
        head += dash;
        head += &word[..word.len().min(room)];
    }
    head + &tail
}

/// The words of a CPU's name that tell models apart: no trade marks, clock rate, number of cores or graphics.
fn plain_words(model: &str) -> Vec<String> {
    let mut text = model_name(model).to_ascii_lowercase();
    for mark in ["(r)", "(tm)", "(c)"] {
        text = text.replace(mark, " ");
    }
    let telling = |word: &&str| {
        !(matches!(*word, "cpu" | "processor") || word.ends_with("-core") || word.ends_with("hz"))
    };
    let words = text.split_whitespace().take_while(|word| !matches!(*word, "w/" | "with")).filter(telling);
    let parts = words.flat_map(|word| word.split(|c: char| !c.is_ascii_alphanumeric()));
    parts.filter(|part| !part.is_empty()).map(str::to_string).collect()
}

/// A CPU's name without the clock rate that some carry.
fn model_name(model: &str) -> &str {
    model.split('@').next().unwrap_or_default().trim()
}

/// What decides whether the figures of two runs can be compared, one line each.
pub(super) fn class_text(env: &Environment) -> String {
    let cpu = &env.cpu;
    let (packages, cores, nodes) = cpu.parts();
    let mut lines = vec![
        format!("model={}", cpu.model.known().map_or("?", |model| model_name(model))),
        format!(
            "family={} model={} stepping={}",
            number(&cpu.family),
            number(&cpu.model_number),
            number(&cpu.stepping)
        ),
        format!("packages={packages} cores={cores} nodes={nodes}"),
        format!(
            "cpus={} allowed={}",
            optional(cpu.count()),
            optional(cpu.allowed.known().map(|set| set.count))
        ),
        format!("kernel={}", env.kernel.release.known().map_or("?", String::as_str)),
        format!("cpu_quota={}", quota_cpus(env).map_or("max".to_string(), |cpus| format!("{cpus:.3}"))),
    ];
    lines.extend(cache_counts(env));
    lines.extend(env.limits.for_class());
    lines.join("\n")
}

fn number(fact: &Fact<u64>) -> String {
    optional(fact.known())
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or("?".to_string(), |value| value.to_string())
}

fn quota_cpus(env: &Environment) -> Option<f64> {
    env.container.cgroup.cpu_quota.known().and_then(|quota| quota.cpus())
}

fn cache_counts(env: &Environment) -> Vec<String> {
    let mut counts = BTreeMap::new();
    for cache in env.cpu.caches.known().into_iter().flatten() {
        *counts.entry((cache.level, &cache.kind, cache.size_bytes, cache.shared_cpus.count)).or_insert(0) +=
            1;
    }
    let show = |((level, kind, bytes, sharing), count)| {
        format!("cache={count}xL{level} {kind} {bytes} by {sharing}")
    };
    counts.into_iter().map(show).collect()
}

/// What the class stands for, for people: nothing that changes from run to run, no clock rate, no name.
pub(super) fn class_line(env: &Environment) -> String {
    let cpu = &env.cpu;
    let (packages, cores, nodes) = cpu.parts();
    let mut parts = vec![cpu.model.known().map_or("unknown model", |model| model_name(model)).to_string()];
    let shape = [(packages, "package"), (cores, "core"), (nodes, "node")];
    let shape: Vec<String> =
        shape.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| plural(count, what)).collect();
    let cpus = cpu.count().map_or("unknown number of CPUs".to_string(), |count| plural(count, "CPU"));
    parts.push(if shape.is_empty() { cpus } else { format!("{cpus} ({})", shape.join(", ")) });
    if let Some(allowed) = cpu.allowed.known().filter(|allowed| Some(allowed.count) != cpu.count()) {
        parts.push(format!("{} allowed", allowed.count));
    }
    parts.push(format!("kernel {}", word(&env.kernel.release, "unknown")));
    if let Some(cpus) = quota_cpus(env) {
        parts.push(format!("CPU quota {cpus:.2}"));
    }
    parts.push(format!("messages up to {} bytes", optional(env.limits.sysctl("kernel.msgmax"))));
    parts.join(", ").replace('?', "unknown")
}

/// The lines of [`Environment::summary_lines`].
pub(super) fn lines(env: &Environment) -> Vec<String> {
    vec![
        cpu_line(env),
        kernel_line(env),
        mitigations_line(env),
        memory_line(env),
        limits_line(env),
        machine_line(env),
    ]
}

fn word<'a>(fact: &'a Fact<String>, unknown: &'a str) -> &'a str {
    fact.known().map_or(unknown, String::as_str)
}

fn cpu_line(env: &Environment) -> String {
    let cpu = &env.cpu;
    let mut parts = vec![word(&cpu.model, "unknown model").to_string()];
    let (packages, cores, _) = cpu.parts();
    match cpu.count() {
        Some(count) if packages > 0 && cores > 0 => {
            let many = [plural(count, "CPU"), plural(packages, "package"), plural(cores, "core")];
            parts.push(format!("{} ({}, {})", many[0], many[1], many[2]));
        }
        Some(count) => parts.push(plural(count, "CPU")),
        None => parts.push("unknown number of CPUs".to_string()),
    }
    if let Some(allowed) = cpu.allowed.known().filter(|allowed| Some(allowed.count) != cpu.count()) {
        parts.push(format!("{} allowed", allowed.count));
    }
    if let Some(cache) = cpu.caches.known().and_then(|caches| caches.last()) {
        parts.push(format!("L{} {}", cache.level, bytes(cache.size_bytes)));
    }
    if let Some(governors) = cpu.governors.known() {
        parts.push(format!("governor {}", governors.join(" and ")));
    }
    format!("CPU: {}", parts.join(", "))
}

fn kernel_line(env: &Environment) -> String {
    let kernel = &env.kernel;
    let mut parts = vec![format!(
        "{} {}",
        word(&kernel.name, "unknown kernel"),
        word(&kernel.release, "of unknown release")
    )];
    if let Some(preemption) = kernel.preemption.known() {
        parts.push(format!("preemption {preemption}"));
    }
    if let Some(hz) = kernel.hz.known() {
        parts.push(format!("{hz} Hz"));
    }
    parts.push(format!("clock source {}", word(&kernel.clock_source, "unknown")));
    format!("Kernel: {}", parts.join(", "))
}

fn mitigations_line(env: &Environment) -> String {
    let Some(flaws) = env.kernel.mitigations.known() else { return "Mitigations: unknown".to_string() };
    let active = flaws.values().filter(|state| state.contains("Mitigation")).count();
    let open = env.kernel.open_flaws();
    let open = if open.is_empty() {
        "none left open".to_string()
    } else {
        format!("left open: {}", open.join(", "))
    };
    let line = env.kernel.command_line.known().map(String::as_str).unwrap_or_default();
    let asked = line.split_whitespace().find(|word| word.starts_with("mitigations="));
    let asked = asked.map(|word| format!(" ({word})")).unwrap_or_default();
    format!("Mitigations: {active} active, {open}{asked}")
}

fn memory_line(env: &Environment) -> String {
    let memory = &env.memory;
    let total = memory.total_bytes.known().map_or("unknown".to_string(), |total| bytes(*total));
    let swap = match memory.swap_total_bytes.known() {
        Some(0) => "no swap".to_string(),
        Some(swap) => format!("swap {}", bytes(*swap)),
        None => "swap unknown".to_string(),
    };
    format!(
        "Memory: {total}, {swap}, transparent huge pages {}",
        word(&memory.transparent_huge_pages, "unknown")
    )
}

fn limits_line(env: &Environment) -> String {
    let limits = &env.limits;
    let names = ["fs.mqueue.msgsize_max", "kernel.msgmax", "kernel.msgmnb", "fs.pipe-max-size"];
    let show = |name: &str, amount: Option<&Amount>| format!("{name} {}", optional(amount));
    let mut parts: Vec<String> = names.iter().map(|name| show(name, limits.sysctl(name))).collect();
    for name in ["RLIMIT_MSGQUEUE", "RLIMIT_NOFILE"] {
        parts.push(show(name, limits.rlimit(name).map(|limit| &limit.soft)));
    }
    format!("Limits: {}", parts.join(", ").replace('?', "unknown"))
}

fn machine_line(env: &Environment) -> String {
    let container = &env.container;
    let machine = match container.virtual_machine.known() {
        Some(true) => format!("virtual ({})", word(&container.hypervisor, "unknown hypervisor")),
        Some(false) => "no hypervisor seen".to_string(),
        None => "not known whether virtual".to_string(),
    };
    let mut parts = vec![machine];
    if let Some(name) = container.container.known() {
        parts.push(format!("container ({name})"));
    }
    match (container.cgroup.cpu_quota.known(), quota_cpus(env)) {
        (_, Some(cpus)) => parts.push(format!("CPU quota {cpus:.2} CPUs")),
        (Some(_), None) => parts.push("no CPU quota".to_string()),
        (None, None) => parts.push("CPU quota unknown".to_string()),
    }
    if let Some(throttling) =
        container.cgroup.throttling.known().filter(|throttling| throttling.nr_throttled > 0)
    {
        parts.push(format!("throttled {} times before the start", throttling.nr_throttled));
    }
    format!("Machine: {}", parts.join(", "))
}

fn plural(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A size for reading: the largest binary unit of which there is at least one.
fn bytes(count: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.iter().find(|(unit, _)| count >= *unit) {
        Some((unit, name)) if count.is_multiple_of(*unit) => format!("{} {name}", count / unit),
        Some((unit, name)) => format!("{:.1} {name}", count as f64 / *unit as f64),
        None => format!("{count} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_keep_what_tells_models_apart() {
        for (model, expected) in [
            ("Intel(R) Xeon(R) Processor @ 2.30GHz", "intel-xeon-2cpu"),
            ("Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz", "intel-xeon-platinum-8375c-2cpu"),
            ("AMD EPYC 7763 64-Core Processor", "amd-epyc-7763-2cpu"),
            ("AMD Ryzen 9 7940HS w/ Radeon 780M Graphics", "amd-ryzen-9-7940hs-2cpu"),
            ("12th Gen Intel(R) Core(TM) i7-1260P", "12th-gen-intel-core-i7-1260p-2cpu"),
            ("implementer 0x41 part 0xd0c", "implementer-0x41-part-0xd0c-2cpu"),
            ("Processor", "unknown-2cpu"),
            ("\u{1F600} ../../@", "unknown-2cpu"),
        ] {
            assert_eq!(slug(Some(model), Some(2)), expected);
        }
        assert_eq!(slug(None, Some(2)), "unknown-2cpu");
        assert_eq!(slug(None, None), "unknown");
    }

    #[test]
    fn slugs_are_short_and_safe_whatever_the_name() {
        let long = "x".repeat(100);
        for model in ["A very long name of a processor that goes on and on", &long, "é/../\0|<b>", ""] {
            let slug = slug(Some(model), Some(65536));
            assert!(slug.len() <= LONGEST_SLUG && slug.ends_with("-65536cpu"), "{slug}");
            assert!(
                slug.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'),
                "{slug}"
            );
            assert!(!slug.starts_with('-') && !slug.contains("--"), "{slug}");
        }
    }

    #[test]
    fn sizes_are_printed_in_the_unit_that_fits() {
        assert_eq!(bytes(0), "0 bytes");
        assert_eq!(bytes(1024), "1 KiB");
        assert_eq!(bytes(1536 << 10), "1.5 MiB");
        assert_eq!(bytes(64 << 30), "64 GiB");
    }
}
