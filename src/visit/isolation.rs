//! The private IPC namespace of a visit, and the limits that a cell needs. ipc_namespaces(7), user_namespaces(7).
//!
//! Limits are raised inside the namespace only; the machine's own are read and never written.

use super::refusal::Refusal;
use crate::catalog::{Driver, Limit, LimitName};
use crate::cell::Cell;
use crate::sys::{leftovers, ports};
use crate::workload::Effective;
use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::{getgid, getuid};
use serde_json::json;
use std::fs;

/// Enters a private IPC namespace where the driver's objects need one and the kernel allows it, and sees to
/// it that every limit of the cell is high enough. Returns what was done.
///
/// # Errors
/// Unavailable with the limit's name, its value and how to raise it.
pub fn enter(driver: &Driver, cell: &Cell) -> Result<Effective, Refusal> {
    let mut effective = Effective::new();
    let mut refused = None;
    if driver.private_ipc {
        match private_ipc() {
            Ok(()) => leftovers::ipc_is_private(),
            Err(reason) => refused = Some(reason),
        }
        effective.insert(
            "ipc_namespace".into(),
            refused
                .as_ref()
                .map_or("private".into(), |reason| format!("the machine's own ({reason})").into()),
        );
    }
    let may_raise = driver.private_ipc && refused.is_none();
    for limit in (driver.limits)(cell) {
        if let Some(raised) = provide(&limit, may_raise, refused.as_deref())? {
            effective.insert(raised.name, json!({ "was": raised.was, "raised_to": limit.needs }));
        }
    }
    Ok(effective)
}

/// Enters a private IPC namespace, by a user namespace of our own where we are not privileged.
fn private_ipc() -> Result<(), String> {
    match unshare(CloneFlags::CLONE_NEWIPC) {
        Ok(()) => return Ok(()),
        Err(Errno::EPERM) => {}
        Err(error) => return Err(format!("unshare(CLONE_NEWIPC): {error}")),
    }
    let (user, group) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWIPC)
        .map_err(|error| format!("unshare(CLONE_NEWUSER | CLONE_NEWIPC): {error}"))?;
    // Root of the namespace may write its IPC sysctls, so we map ourselves to it. `setgroups` must be
    // denied before an unprivileged process may map a group; older kernels have no such file.
    let _ = fs::write("/proc/self/setgroups", "deny");
    write("/proc/self/uid_map", &format!("0 {user} 1"))?;
    write("/proc/self/gid_map", &format!("0 {group} 1"))
}

fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{path}: {error}"))
}

struct Raised {
    name: String,
    was: u64,
}

/// Sees to it that the limit is high enough; says what was raised.
fn provide(limit: &Limit, may_raise: bool, refused: Option<&str>) -> Result<Option<Raised>, Refusal> {
    match limit.name {
        LimitName::IpcSysctl(name) => {
            let was = sysctl(name)?;
            if was >= limit.needs {
                return Ok(None);
            }
            let tried =
                if may_raise { fs::write(sysctl_path(name), limit.needs.to_string()).err() } else { None };
            if may_raise && sysctl(name)? >= limit.needs {
                return Ok(Some(Raised { name: name.into(), was }));
            }
            let why = match (tried, refused) {
                (Some(error), _) => format!("; raising it in a private IPC namespace failed: {error}"),
                (None, Some(reason)) => format!("; the kernel refuses a private IPC namespace: {reason}"),
                (None, None) => String::new(),
            };
            Err(too_low(name, was, limit.needs, &why))
        }
        LimitName::Sysctl(name) => match sysctl(name)? {
            value if value >= limit.needs => Ok(None),
            value => Err(too_low(name, value, limit.needs, "")),
        },
        LimitName::LocalPorts => enough_ports(limit.needs).map(|()| None),
        LimitName::RlimitMsgqueue => provide_msgqueue(limit.needs),
        LimitName::RlimitNofile => provide_nofile(limit.needs),
        LimitName::Refused { reason, remedy } => Err(Refusal::unavailable(reason, remedy)),
        LimitName::Protocol { most, .. } if most >= limit.needs => Ok(None),
        LimitName::Protocol { name, most, why } => Err(Refusal::unavailable(
            format!("{name} is at most {most} bytes ({why}), the cell needs {}", limit.needs),
            format!("nothing raises it: choose at most {most}"),
        )),
    }
}

fn provide_msgqueue(needs: u64) -> Result<Option<Raised>, Refusal> {
    let failed = |error: Errno| Refusal::failed("open", format!("RLIMIT_MSGQUEUE: {error}"));
    let (soft, hard) = getrlimit(Resource::RLIMIT_MSGQUEUE).map_err(failed)?;
    if soft >= needs {
        return Ok(None);
    }
    // Raising the hard limit takes CAP_SYS_RESOURCE; it is this process's own limit, not the machine's.
    match setrlimit(Resource::RLIMIT_MSGQUEUE, needs, hard.max(needs)) {
        Ok(()) => Ok(Some(Raised { name: "RLIMIT_MSGQUEUE".into(), was: soft })),
        Err(_) => Err(Refusal::unavailable(
            format!("RLIMIT_MSGQUEUE is {soft} bytes (hard limit {hard}), the cell needs {needs}"),
            "raise it, e.g. `ulimit -q unlimited` as root, or a msgqueue line in limits.conf(5)",
        )),
    }
}

fn provide_nofile(needs: u64) -> Result<Option<Raised>, Refusal> {
    let failed = |error: Errno| Refusal::failed("open", format!("RLIMIT_NOFILE: {error}"));
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(failed)?;
    if soft >= needs {
        return Ok(None);
    }
    if hard >= needs {
        setrlimit(Resource::RLIMIT_NOFILE, needs, hard).map_err(failed)?;
        return Ok(Some(Raised { name: "RLIMIT_NOFILE".into(), was: soft }));
    }
    Err(Refusal::unavailable(
        format!("RLIMIT_NOFILE is {soft} (hard limit {hard}), the cell needs {needs}"),
        format!("raise it, e.g. `ulimit -n {needs}` as root, or a nofile line in limits.conf(5)"),
    ))
}

fn enough_ports(needs: u64) -> Result<(), Refusal> {
    let (first, last) = ports::local_range();
    if ports::local_ports() >= needs {
        return Ok(());
    }
    let name = ports::RANGE;
    Err(Refusal::unavailable(
        format!("{name} is {first} to {last}, {} ports, the cell needs {needs}", ports::local_ports()),
        format!("widen it as root, e.g. `sysctl -w {name}=\"32768 60999\"`"),
    ))
}

fn sysctl_path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

fn sysctl(name: &str) -> Result<u64, Refusal> {
    let path = sysctl_path(name);
    let unreadable = |error: String| {
        Refusal::unavailable(
            format!("the limit {name} cannot be read ({path}: {error})"),
            "mount /proc, or use a kernel that has this facility",
        )
    };
    let text = fs::read_to_string(&path).map_err(|error| unreadable(error.to_string()))?;
    text.trim().parse().map_err(|_| unreadable(format!("it reads {:?}", text.trim())))
}

fn too_low(name: &str, value: u64, needs: u64, why: &str) -> Refusal {
    Refusal::unavailable(
        format!("{name} is {value}, the cell needs {needs}{why}"),
        format!("raise it as root: `sysctl -w {name}={needs}`"),
    )
}
