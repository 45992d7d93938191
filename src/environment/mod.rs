//! What the machine was: read once from `/proc` and `/sys`, stored beside the records as
//! `environment.json`, and told in short at the head of the report.
//!
//! Reading changes nothing and starts nothing. A value that cannot be read is null with a reason.
//! Neither host nor user names are read; [`Environment::leave_out_names`] also drops the texts that
//! could hold one.

mod activity;
mod container;
pub mod counters;
mod cpu;
mod fact;
mod files;
mod identity;
mod interference;
mod kernel;
mod limits;
mod memory;
pub mod proximity;
#[cfg(test)]
pub(crate) mod saved;
mod summary;
#[cfg(test)]
mod tests;
mod tree;

pub use activity::{Activity, Pressure};
pub use container::{Cgroup, Container, Quota, Throttling};
pub use cpu::{Cache, Cpu, CpuSet, LogicalCpu};
pub use fact::{Amount, Fact, Unknown};
pub use identity::Identity;
pub use interference::Interference;
pub use kernel::Kernel;
pub use limits::{Limits, Rlimit};
pub use memory::Memory;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The version that `environment.json` carries.
pub const SCHEMA: &str = "ipcmatrix.environment.v1";

/// What the machine was when the run began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// The version of the document.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// Which program this is and how it was built.
    pub identity: Identity,
    /// Which kernel ran, and how it was set up.
    pub kernel: Kernel,
    /// The CPU and its topology.
    pub cpu: Cpu,
    /// Memory, huge pages and swap.
    pub memory: Memory,
    /// Limits that decide which cells can run.
    pub limits: Limits,
    /// Hypervisor, container, control group and privileges.
    pub container: Container,
    /// How busy the machine was.
    pub activity: Activity,
    /// Type of the file system of the folder for temporary files; older files do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temporary_file_system: Option<Fact<String>>,
    /// What may have disturbed the run; older files do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interference: Option<Interference>,
    /// Eight hexadecimal digits ([`Environment::class`]) and what they stand for; older files do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_class: Option<[String; 2]>,
}

impl Environment {
    /// Reads the machine below `root`: `/` is the machine itself, anything else a saved tree.
    pub fn read(root: &Path) -> Environment {
        let tree = tree::Tree::new(root);
        let cpu = Cpu::read(&tree);
        let mut environment = Environment {
            schema: SCHEMA.to_string(),
            identity: Identity::read(&tree),
            kernel: Kernel::read(&tree),
            temporary_file_system: Some(files::temporary_file_system(&tree).into()),
            machine_class: None,
            interference: Some(Interference::read(&tree, &cpu.allowed)),
            cpu,
            memory: Memory::read(&tree),
            limits: Limits::read(&tree),
            container: Container::read(&tree),
            activity: Activity::read(&tree),
        };
        environment.machine_class = Some([environment.class(), summary::class_line(&environment)]);
        environment
    }

    /// The CPUs that this process may use, ascending; none where that cannot be read.
    pub fn allowed_cpus(&self) -> Vec<u32> {
        let allowed = self.cpu.allowed.known();
        allowed.map_or(Vec::new(), |allowed| allowed.numbers().into_iter().collect())
    }

    /// The text of `environment.json`, with a newline at its end.
    ///
    /// # Errors
    /// Where a value has no JSON form; none of those read here lacks one.
    pub fn to_json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// A name for this machine in a folder's name: the CPU's model and how many CPUs run, in at most 40
    /// lower-case ASCII letters, digits and dashes, e.g. `intel-xeon-2cpu`; `unknown` where nothing is known.
    pub fn machine_slug(&self) -> String {
        summary::slug(self.cpu.model.known().map(String::as_str), self.cpu.count())
    }

    /// Eight hexadecimal digits that are equal where figures can be compared: CPU model, topology, kernel
    /// release, limits of the mechanisms and CPU quota. Clock rates, load, names and the amount of memory
    /// do not change it.
    pub fn class(&self) -> String {
        format!("{:08x}", crc32fast::hash(summary::class_text(self).as_bytes()))
    }

    /// Six short lines for the head of a report: CPU, kernel, mitigations, memory, limits, machine. They
    /// hold text of the machine, so a renderer must escape them.
    pub fn summary_lines(&self) -> Vec<String> {
        summary::lines(self)
    }

    /// Drops the texts that could name a host, a user or one machine among its like: both command lines,
    /// the path of the control group and the boot's number. Neither class nor folder name changes.
    pub fn leave_out_names(&mut self) {
        const REASON: &str = "left out on request";
        self.identity.command.leave_out(REASON);
        self.kernel.command_line.leave_out(REASON);
        self.kernel.boot_id.leave_out(REASON);
        self.container.cgroup.path.leave_out(REASON);
    }
}
