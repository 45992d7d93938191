//! What this machine has and what its limits are.

use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::{Pid, geteuid};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// No condition is waited for longer than this.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a condition is looked at.
const PAUSE: Duration = Duration::from_millis(5);

/// The browser's program.
pub const CHROMIUM: &str = "chromium";

/// Somebody who may do nothing special.
pub const ORDINARY: u32 = 65534;

/// What a trial needs beside the program.
#[derive(Clone, Copy, Debug)]
pub enum Need {
    /// Two CPUs that this process may use.
    TwoCpus,
    /// A program in the search path.
    Tool(&'static str),
    /// A user namespace in which its maker may set limits.
    UserNamespace,
    /// A mount namespace in which a small file system may be mounted.
    Mount,
    /// A network of one's own whose ports may be set.
    Ports,
    /// The right of a process to trace another.
    Trace,
    /// A user namespace for somebody who may do nothing special.
    OrdinaryNamespace,
    /// A user namespace in which the file system of POSIX queues may be mounted.
    QueueFileSystem,
    /// A device that refuses every byte.
    FullDevice,
    /// A processor whose machine code the trial can read.
    X86,
    /// The browser Chromium.
    Chromium,
    /// The log daemon rsyslogd.
    Rsyslogd,
    /// Python with the module of DuckDB.
    DuckDb,
    /// What the driver under test is made of: it was looked for, and is not here.
    Present,
}

impl Need {
    /// Why it is not there; `None` where it is.
    pub fn missing(self) -> Option<String> {
        let when = |missing: bool, reason: &str| missing.then(|| reason.to_owned());
        match self {
            Need::Chromium => when(!works(CHROMIUM, &["--version"]), "needs the browser chromium"),
            Need::TwoCpus => when(cpus().len() < 2, "needs two CPUs"),
            Need::Tool(name) => (!works(name, &["--version"])).then(|| format!("needs the program {name}")),
            Need::UserNamespace => {
                let set = "echo 0 > /proc/sys/user/max_ipc_namespaces";
                when(
                    !works("unshare", &["-U", "-r", "sh", "-c", set]),
                    "needs user namespaces (unshare -U -r)",
                )
            }
            Need::Mount => {
                let mount = "mount -t tmpfs none /mnt";
                when(!works("unshare", &["-m", "sh", "-c", mount]), "needs root and mount namespaces")
            }
            Need::Ports => {
                let set = "echo 33000 33200 > /proc/sys/net/ipv4/ip_local_port_range";
                when(
                    !works("unshare", &["-U", "-r", "-n", "sh", "-c", set]),
                    "needs namespaces of users and networks (unshare -U -r -n)",
                )
            }
            Need::Trace => when(
                !works("strace", &["-f", "-o", "/dev/null", "true"]),
                "needs strace, and the right to trace",
            ),
            Need::OrdinaryNamespace => when(
                !ordinary("unshare", &["-U", "-r", "-i", "true"]),
                "needs user namespaces for ordinary users",
            ),
            Need::QueueFileSystem => {
                let mount = ["-U", "-r", "-i", "-m", "mount", "-t", "mqueue", "none", "/mnt"];
                when(!works("unshare", &mount), "needs the file system of POSIX queues")
            }
            Need::Present => {
                Some("needs what its driver did not find; `ipcmatrix list mechanisms` says what".into())
            }
            Need::X86 => when(cfg!(not(target_arch = "x86_64")), "reads machine code of x86_64 only"),
            Need::DuckDb => when(
                !works("python3", &["-c", "import duckdb"]),
                "needs DuckDB for Python (pip install duckdb)",
            ),
            Need::Rsyslogd => when(
                !works("rsyslogd", &["-v"]),
                "needs rsyslogd, and root or the search path with /usr/sbin",
            ),
            Need::FullDevice => when(!Path::new("/dev/full").exists(), "needs /dev/full"),
        }
    }
}

/// Whether the program can be run and ends well.
fn works(program: &str, arguments: &[&str]) -> bool {
    let quiet = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

/// [`works`], as an ordinary user.
fn ordinary(program: &str, arguments: &[&str]) -> bool {
    let command = as_ordinary(program);
    works(command[0], &[&command[1..], arguments].concat())
}

/// The beginning of a command line that runs the program as an ordinary user.
pub fn as_ordinary(program: &str) -> Vec<&str> {
    let setpriv = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"];
    let before: &[&str] = if is_root() { &setpriv } else { &[] };
    before.iter().copied().chain([program]).collect()
}

/// Whether this is root.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// The CPUs that this process may use.
pub fn cpus() -> Vec<usize> {
    let set = sched_getaffinity(Pid::from_raw(0)).unwrap();
    (0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect()
}

/// Looks until the condition gives nothing to complain about; else fails with the last complaint.
#[track_caller]
pub fn eventually(complaint: impl Fn() -> Option<String>) {
    let begin = Instant::now();
    while let Some(said) = complaint() {
        assert!(begin.elapsed() < PATIENCE, "after {PATIENCE:?}: {said}");
        std::thread::sleep(PAUSE);
    }
}

/// The limits of the machine that visits raise for themselves, file by file.
pub fn limits() -> Vec<(String, String)> {
    let mut files = vec!["/proc/sys/kernel/sem".to_owned(), "/proc/sys/net/core/wmem_max".to_owned()];
    for (folder, begin) in
        [("/proc/sys/fs/mqueue", ""), ("/proc/sys/kernel", "msg"), ("/proc/sys/fs", "pipe-")]
    {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        files.extend(names.filter(|name| name.starts_with(begin)).map(|name| format!("{folder}/{name}")));
    }
    files.sort();
    let read = |file: String| fs::read_to_string(&file).ok().map(|text| (file, text));
    files.into_iter().filter_map(read).collect()
}

/// Everything outside a process that a killed visit could leave: System V objects, queues, shared-memory names.
pub fn leftovers() -> Vec<String> {
    let mut found = Vec::new();
    for kind in ["msg", "sem", "shm"] {
        let table = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        // Key and identifier: the other columns change while the object is used.
        let objects = table.lines().skip(1).map(|line| line.split_whitespace().take(2).collect::<Vec<_>>());
        found.extend(objects.map(|object| format!("{kind} {}", object.join(" "))));
    }
    for folder in ["/dev/shm", "/dev/mqueue"] {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        found.extend(entries.map(|entry| entry.path().display().to_string()));
    }
    found
}
