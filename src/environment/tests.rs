//! Whole trees, written to a temporary folder.

use super::*;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const CPUS: &str = "sys/devices/system/cpu";

struct Saved {
    folder: TempDir,
}

impl Saved {
    fn new() -> Saved {
        Saved { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn put(&self, path: &str, text: &str) -> &Saved {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a file stands in a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
        self
    }

    fn read(&self) -> Environment {
        Environment::read(self.folder.path())
    }
}

/// Two packages of two cores of two threads: CPU n and n + 4 share a core.
fn big_machine() -> Saved {
    let saved = Saved::new();
    put_process(&saved);
    put_kernel(&saved);
    put_limits(&saved);
    for cpu in 0..8_u32 {
        put_cpu(&saved, cpu);
    }
    saved.put(&format!("{CPUS}/online"), "0-7\n").put(&format!("{CPUS}/possible"), "0-15\n");
    saved
        .put(&format!("{CPUS}/smt/active"), "1\n")
        .put(&format!("{CPUS}/cpuidle/current_driver"), "intel_idle\n");
    saved.put("proc/cpuinfo", &cpuinfo("2900.000"));
    saved
}

fn cpuinfo(mhz: &str) -> String {
    let one = |cpu: u32| {
        format!(
            "processor\t: {cpu}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 106\n\
             model name\t: Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz\nstepping\t: 6\n\
             microcode\t: 0xd000404\ncpu MHz\t\t: {mhz}\nflags\t\t: fpu hypervisor sse\nbogomips\t: 5800.00\n\n"
        )
    };
    (0..8).map(one).collect()
}

fn put_cpu(saved: &Saved, cpu: u32) {
    let (core, package) = (cpu % 2, cpu % 4 / 2);
    let folder = format!("{CPUS}/cpu{cpu}");
    let siblings = format!("{},{}\n", cpu % 4, cpu % 4 + 4);
    saved
        .put(&format!("{folder}/topology/core_id"), &format!("{core}\n"))
        .put(&format!("{folder}/topology/physical_package_id"), &format!("{package}\n"))
        .put(&format!("{folder}/topology/thread_siblings_list"), &siblings)
        .put(&format!("{folder}/node{package}/cpulist"), "")
        .put(&format!("{folder}/cpufreq/scaling_governor"), "performance\n");
    let package_cpus = if package == 0 { "0-1,4-5\n" } else { "2-3,6-7\n" };
    for (index, (level, kind, size, shared)) in
        [("1", "Data", "48K", siblings.as_str()), ("3", "Unified", "32768K", package_cpus)]
            .into_iter()
            .enumerate()
    {
        let cache = format!("{folder}/cache/index{index}");
        saved
            .put(&format!("{cache}/level"), level)
            .put(&format!("{cache}/type"), kind)
            .put(&format!("{cache}/size"), size)
            .put(&format!("{cache}/shared_cpu_list"), shared);
    }
}

fn put_kernel(saved: &Saved) {
    saved
        .put("proc/sys/kernel/ostype", "Linux\n")
        .put("proc/sys/kernel/osrelease", "6.1.0-test\n")
        .put("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC x\n")
        .put("proc/cmdline", "quiet preempt=full mitigations=auto\n")
        .put("boot/config-6.1.0-test", "CONFIG_HZ_250=y\nCONFIG_HZ=250\n")
        .put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n")
        .put("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc kvm-clock \n")
        .put(&format!("{CPUS}/vulnerabilities/meltdown"), "Not affected\n")
        .put(&format!("{CPUS}/vulnerabilities/retbleed"), "Vulnerable\n")
        .put(&format!("{CPUS}/vulnerabilities/spectre_v2"), "Mitigation: Retpolines\n")
        .put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n")
        .put(
            "proc/meminfo",
            "MemTotal:       67108864 kB\nSwapTotal: 0 kB\nHugePages_Total: 4\nHugepagesize: 2048 kB\n",
        );
}

fn put_process(saved: &Saved) {
    saved
        .put("proc/self/cmdline", "ipcmatrix\0run\0--quick\0")
        .put("proc/self/maps", "7f00-7f01 r-xp 00 00:00 1    /lib/libc.so.6\n")
        .put("lib/libc.so.6", "\u{1}GNU C Library (test) stable release version 2.36.\n")
        .put(
            "proc/self/status",
            "Uid:\t1000\t1001\t1000\t1000\nCapEff:\t00000000a80425fb\nSeccomp:\t2\n\
             Cpus_allowed_list:\t0-3,9\n",
        )
        .put("proc/self/cgroup", "0::/a/b\n")
        .put("sys/fs/cgroup/a/b/cpu.max", "max 100000\n")
        .put("sys/fs/cgroup/a/b/cpu.stat", "usage_usec 9\nnr_periods 5\nnr_throttled 3\nthrottled_usec 700\n")
        .put("sys/fs/cgroup/a/cpu.max", "150000 100000\n")
        .put("proc/loadavg", "0.64 0.25 0.09 4/105 5216\n")
        .put("proc/pressure/cpu", "some avg10=0.50 avg60=0.00 avg300=0.00 total=12\n");
}

fn put_limits(saved: &Saved) {
    saved
        .put("proc/sys/fs/mqueue/msgsize_max", "8192\n")
        .put("proc/sys/kernel/msgmax", "8192\n")
        .put("proc/sys/kernel/sem", "32000\t1024000000\t500\t32000\n")
        .put("proc/sys/kernel/shmmax", "18446744073692774399\n")
        .put("proc/sys/fs/pipe-max-size", "1048576\n")
        .put(
            "proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n\
             Max open files            1024                 unlimited            files     \n\
             Max msgqueue size         819200               819200               bytes     \n",
        );
}

#[test]
fn a_big_machine_is_read_whole() {
    let env = big_machine().read();
    let (cpu, kernel) = (&env.cpu, &env.kernel);
    assert_eq!(cpu.online.known().map(|set| set.count), Some(8));
    assert_eq!(cpu.possible.known().map(|set| set.count), Some(16));
    assert_eq!(cpu.allowed.known().map(|set| set.list.as_str()), Some("0-3"), "CPU 9 does not run");
    assert_eq!(cpu.parts(), (2, 4, 2));
    let last = cpu.topology.known().and_then(|cpus| cpus.last()).expect("a CPU");
    assert_eq!((last.cpu, last.core_id.known(), last.package.known()), (7, Some(&1), Some(&1)));
    assert_eq!(last.thread_siblings.known().map(String::as_str), Some("3,7"));
    assert_eq!(cpu.caches.known().map(Vec::len), Some(6), "four of level 1, two of level 3");
    assert_eq!(
        cpu.caches.known().and_then(|caches| caches.last()).map(|cache| cache.size_bytes),
        Some(32 << 20)
    );
    assert_eq!(cpu.governors, Fact::Known(vec!["performance".to_string()]));
    assert_eq!(
        (kernel.hz.known(), kernel.preemption.known().map(String::as_str)),
        (Some(&250), Some("full"))
    );
    assert_eq!(kernel.open_flaws(), ["retbleed"]);
    assert_eq!(env.memory.total_bytes, Fact::Known(64 << 30));
    assert_eq!(env.activity.load_average, Fact::Known([0.64, 0.25, 0.09]));
}

#[test]
fn process_limits_and_container_are_read() {
    let env = big_machine().read();
    assert_eq!(
        env.limits.sysctl("kernel.sem"),
        Some(&Amount::Counts(vec![32000, 1_024_000_000, 500, 32000]))
    );
    assert_eq!(env.limits.sysctl("kernel.shmmax"), Some(&Amount::Count(18_446_744_073_692_774_399)));
    let files = env.limits.rlimit("RLIMIT_NOFILE").expect("a limit");
    assert_eq!((files.soft.count(), files.hard.to_string().as_str()), (Some(1024), "unlimited"));
    let container = &env.container;
    assert_eq!((container.uid.known(), container.euid.known()), (Some(&1000), Some(&1001)));
    assert_eq!(container.seccomp.known().map(String::as_str), Some("filter"));
    assert_eq!(container.hypervisor.known().map(String::as_str), Some("kvm"));
    assert_eq!(container.virtual_machine, Fact::Known(true));
    let cgroup = &container.cgroup;
    assert_eq!(cgroup.cpu_quota.known().and_then(Quota::cpus), Some(1.5), "the group above is tighter");
    assert_eq!(cgroup.throttling, Fact::Known(Throttling { nr_throttled: 3, throttled_us: 700 }));
    assert_eq!(env.identity.libc_version.known().map(String::as_str), Some("2.36"));
    let command = env.identity.command.known().expect("a command");
    assert_eq!(command.join(" "), "ipcmatrix run --quick");
}

#[test]
fn the_first_version_of_cgroups_is_read_too() {
    let saved = Saved::new();
    saved
        .put("proc/self/cgroup", "3:memory:/m\n2:cpu,cpuacct:/docker/abc\n0::/z\n")
        .put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "50000\n")
        .put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n")
        .put("sys/fs/cgroup/cpu,cpuacct/cpu.stat", "nr_periods 5\nnr_throttled 1\nthrottled_time 4000\n");
    let cgroup = saved.read().container.cgroup;
    assert_eq!(cgroup.version, Fact::Known(1));
    assert_eq!(cgroup.cpu_quota.known().and_then(Quota::cpus), Some(0.5));
    assert_eq!(cgroup.throttling, Fact::Known(Throttling { nr_throttled: 1, throttled_us: 4 }));
    saved.put("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    let quota = saved.read().container.cgroup.cpu_quota;
    assert_eq!(quota.known().map(|quota| (quota.cpus(), quota.period_us)), Some((None, 100_000)));
}

/// Every `{"value": null, "reason": ...}` below; fails on a null without a reason.
fn reasons(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Null => panic!("a null without a reason"),
        Value::Object(map) if map.get("value") == Some(&Value::Null) => {
            assert_eq!(map.len(), 2);
            found.push(map["reason"].as_str().expect("a reason is a text").to_string());
        }
        Value::Object(map) => map.values().for_each(|value| reasons(value, found)),
        Value::Array(list) => list.iter().for_each(|value| reasons(value, found)),
        _ => {}
    }
}

#[test]
fn an_empty_tree_gives_reasons_and_no_errors() {
    let saved = Saved::new();
    let env = saved.read();
    let json = serde_json::to_value(&env).expect("JSON");
    let mut found = Vec::new();
    reasons(&json, &mut found);
    assert!(found.len() > 60, "{}", found.len());
    let folder = saved.folder.path().to_str().expect("a plain path");
    assert!(found.iter().all(|reason| !reason.is_empty() && !reason.contains(folder)), "{found:?}");
    assert_eq!(
        json["kernel"]["release"],
        json!({"value": null, "reason": "/proc/sys/kernel/osrelease: no such file"})
    );
    assert_eq!(env.machine_slug(), "unknown");
    assert_eq!(env.class().len(), 8);
    assert_eq!(env.summary_lines().len(), 6);
}

#[test]
fn damaged_files_give_reasons_and_no_errors() {
    let saved = big_machine();
    for path in [
        "proc/meminfo",
        "proc/loadavg",
        "proc/cpuinfo",
        "proc/self/limits",
        "proc/self/cgroup",
        "proc/self/status",
    ] {
        saved.put(path, "\0\u{fffd}:::\n: :\nMemTotal: -1 kB\nUid:\n0::\n");
    }
    saved.put(&format!("{CPUS}/online"), "0-999999999\n").put("sys/fs/cgroup/cpu.max", "1 0\n");
    let env = saved.read();
    assert!(env.cpu.online.reason().expect("a reason").contains("cannot make sense"));
    assert!(env.memory.total_bytes.known().is_none());
    assert_eq!(env.cpu.topology.known().map(Vec::len), Some(8), "the folders still tell");
    let mut found = Vec::new();
    reasons(&serde_json::to_value(&env).expect("JSON"), &mut found);
}

#[test]
fn json_has_its_shape_and_comes_back_the_same() {
    for env in [big_machine().read(), Saved::new().read()] {
        let text = env.to_json().expect("JSON");
        let back: Environment = serde_json::from_str(&text).expect("what was written can be read");
        assert_eq!(back, env);
    }
    let json = serde_json::to_value(big_machine().read()).expect("JSON");
    let keys: Vec<&String> = json.as_object().expect("an object").keys().collect();
    let parts = [
        "schema",
        "identity",
        "kernel",
        "cpu",
        "memory",
        "limits",
        "container",
        "activity",
        "temporary_file_system",
        "interference",
        "machine_class",
    ];
    assert_eq!(keys, parts);
    assert_eq!(json["schema"], "ipcmatrix.environment.v1");
    assert_eq!(json["cpu"]["online"], json!({"list": "0-7", "count": 8}));
    assert_eq!(json["limits"]["rlimits"]["RLIMIT_NOFILE"], json!({"soft": 1024, "hard": "unlimited"}));
    assert_eq!(json["limits"]["sysctls"]["kernel.msgmax"], 8192);
    assert_eq!(json["cpu"]["caches"][0]["type"], "Data");
}

#[test]
fn the_class_ignores_what_changes_from_run_to_run() {
    let saved = big_machine();
    saved.put("proc/sys/net/ipv4/tcp_rmem", "4096 131072 6000000\n");
    let class = saved.read().class();
    saved
        .put("proc/cpuinfo", &cpuinfo("1200.123").replace("5800.00", "1.00").replace("2.90GHz", "2.91GHz"))
        .put("proc/loadavg", "9.00 9.00 9.00 1/1 1\n")
        .put("proc/sys/kernel/hostname", "other\n")
        .put("proc/sys/net/ipv4/tcp_rmem", "4096 131072 5000000\n")
        .put("proc/sys/user/max_user_namespaces", "77\n")
        .put("proc/meminfo", "MemTotal: 67108860 kB\n")
        .put("proc/self/cgroup", "0::/a/b/c\n");
    assert_eq!(saved.read().class(), class);
    let line = "Intel(R) Xeon(R) Platinum 8375C CPU, 8 CPUs (2 packages, 4 cores, 2 nodes), 4 allowed, \
                kernel 6.1.0-test, CPU quota 1.50, messages up to 8192 bytes";
    assert_eq!(saved.read().machine_class, Some([class, line.to_string()]));
}

#[test]
fn the_class_follows_cpu_topology_kernel_and_limits() {
    let class = big_machine().read().class();
    let sibling = format!("{CPUS}/cpu7/topology/thread_siblings_list");
    let name = cpuinfo("1").replace("8375C", "8380");
    for (path, text) in [
        ("proc/sys/kernel/osrelease", "6.2.0\n"),
        ("proc/sys/kernel/msgmax", "65536\n"),
        ("proc/cpuinfo", &name),
        (&sibling, "7\n"),
        ("sys/fs/cgroup/a/cpu.max", "50000 100000\n"),
    ] {
        let saved = big_machine();
        saved.put(path, text);
        assert_ne!(saved.read().class(), class, "{path}");
    }
}

#[test]
fn the_summary_is_for_reading() {
    let env = big_machine().read();
    assert_eq!(env.machine_slug(), "intel-xeon-platinum-8375c-8cpu");
    assert_eq!(
        env.summary_lines(),
        [
            "CPU: Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz, 8 CPUs (2 packages, 4 cores), \
             4 allowed, L3 32 MiB, governor performance",
            "Kernel: Linux 6.1.0-test, preemption full, 250 Hz, clock source tsc",
            "Mitigations: 1 active, left open: retbleed (mitigations=auto)",
            "Memory: 64 GiB, no swap, transparent huge pages madvise",
            "Limits: fs.mqueue.msgsize_max 8192, kernel.msgmax 8192, kernel.msgmnb unknown, \
             fs.pipe-max-size 1048576, RLIMIT_MSGQUEUE 819200, RLIMIT_NOFILE 1024",
            "Machine: virtual (kvm), CPU quota 1.50 CPUs, throttled 3 times before the start",
        ]
    );
}

#[test]
fn files_of_older_versions_are_read() {
    let mut json = serde_json::to_value(big_machine().read()).expect("JSON");
    let fields = json.as_object_mut().expect("an object");
    for field in ["temporary_file_system", "interference", "machine_class"] {
        assert!(fields.remove(field).is_some(), "{field}");
    }
    let old: Environment = serde_json::from_value(json).expect("an older file");
    assert_eq!((old.interference, old.machine_class), (None, None));
}

#[test]
fn names_can_be_left_out() {
    let saved = big_machine();
    saved.put("proc/cmdline", "secret-host\n").put("proc/self/cmdline", "/home/secret-user/x\0");
    saved.put("proc/sys/kernel/hostname", "secret-name\n");
    let mut env = saved.read();
    let (class, slug) = (env.class(), env.machine_slug());
    env.leave_out_names();
    assert!(!env.to_json().expect("JSON").contains("secret"));
    assert_eq!(env.kernel.command_line.reason(), Some("left out on request"));
    assert_eq!((env.class(), env.machine_slug()), (class, slug));
}

#[test]
fn this_machine_is_read_without_errors_and_without_its_name() {
    let env = Environment::read(Path::new("/"));
    assert!(env.cpu.count().is_some_and(|count| count > 0));
    assert!(env.kernel.release.known().is_some());
    assert!(env.identity.rustc.known().is_some_and(|text| text.starts_with("rustc ")));
    let allowed = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0)).expect("an affinity");
    let count = (0..nix::sched::CpuSet::count()).filter(|cpu| allowed.is_set(*cpu) == Ok(true)).count();
    assert_eq!(env.cpu.allowed.known().map(|set| set.count), Some(count), "as the kernel says");
    let mut found = Vec::new();
    reasons(&serde_json::to_value(&env).expect("JSON"), &mut found);
}
