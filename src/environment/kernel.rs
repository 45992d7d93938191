//! Which kernel ran, and how it was set up.

use super::fact::{Fact, Found};
use super::tree::Tree;
use nix::time::{ClockId, clock_getres};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the kernel says what it does about each known flaw of the CPU.
const FLAWS: &str = "/sys/devices/system/cpu/vulnerabilities";
const PREEMPT: &str = "/sys/kernel/debug/sched/preempt";
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0";

/// Which kernel ran, and how it was set up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Kernel {
    /// Its name, e.g. `Linux`.
    pub name: Fact<String>,
    /// Its release, as `uname -r` prints it.
    pub release: Fact<String>,
    /// Its build, as `uname -v` prints it; names neither the builder nor the host.
    pub version: Fact<String>,
    /// The command line that it was booted with.
    pub command_line: Fact<String>,
    /// Which boot this is: `--resume` demands the same one.
    pub boot_id: Fact<String>,
    /// One entry a known flaw of the CPU: what the kernel does about it.
    pub mitigations: Fact<BTreeMap<String, String>>,
    /// When a task in the kernel may be interrupted: `none`, `voluntary`, `full`, `lazy`, `rt`.
    pub preemption: Fact<String>,
    /// Ticks a second (`CONFIG_HZ`).
    pub hz: Fact<u64>,
    /// The clock source in use.
    pub clock_source: Fact<String>,
    /// Every clock source that the kernel would take.
    pub clock_sources: Fact<Vec<String>>,
}

impl Kernel {
    pub(super) fn read(tree: &Tree) -> Kernel {
        let release = tree.word("/proc/sys/kernel/osrelease");
        let config = Config::read(tree, &release);
        let version = tree.word("/proc/sys/kernel/version");
        let command_line = tree.text("/proc/cmdline");
        let sources = tree.word(&format!("{CLOCKS}/available_clocksource"));
        Kernel {
            name: tree.word("/proc/sys/kernel/ostype").into(),
            boot_id: tree.word("/proc/sys/kernel/random/boot_id").into(),
            mitigations: mitigations(tree).into(),
            preemption: preemption(tree, &version, &command_line, &config).into(),
            hz: hz(tree, &config).into(),
            clock_source: tree.word(&format!("{CLOCKS}/current_clocksource")).into(),
            clock_sources: sources.map(|text| text.split_whitespace().map(str::to_string).collect()).into(),
            release: release.into(),
            version: version.into(),
            command_line: command_line.into(),
        }
    }

    /// Flaws that the kernel leaves open, wholly or in part.
    pub fn open_flaws(&self) -> Vec<&str> {
        let Some(flaws) = self.mitigations.known() else { return Vec::new() };
        flaws.iter().filter(|(_, state)| state.contains("ulnerable")).map(|(name, _)| name.as_str()).collect()
    }
}

fn mitigations(tree: &Tree) -> Found<BTreeMap<String, String>> {
    let names = tree.names(FLAWS)?;
    let read = |name: String| {
        let state =
            tree.text(&format!("{FLAWS}/{name}")).unwrap_or_else(|reason| format!("unknown: {reason}"));
        (name, state)
    };
    Ok(names.into_iter().map(read).collect())
}

/// From the scheduler's own file (for root only), the command line, the build's words, or its configuration.
fn preemption(
    tree: &Tree,
    version: &Found<String>,
    command_line: &Found<String>,
    config: &Found<Config>,
) -> Found<String> {
    if let Some(model) = tree.text(PREEMPT).ok().and_then(|text| in_brackets(&text, '(', ')')) {
        return Ok(model);
    }
    let version = version.as_ref().map_err(Clone::clone)?;
    let has = |word| version.split_whitespace().any(|own| own == word);
    let words = command_line.iter().flat_map(|line| line.split_whitespace());
    match words.filter_map(|word| word.strip_prefix("preempt=")).next_back() {
        _ if has("PREEMPT_RT") => Ok("rt".to_string()),
        Some(model) if has("PREEMPT_DYNAMIC") => Ok(model.to_string()),
        _ if has("PREEMPT") => Ok("full".to_string()),
        _ => built_preemption(config).map_err(|reason| format!("{PREEMPT}: not readable; {reason}")),
    }
}

fn built_preemption(config: &Found<Config>) -> Found<String> {
    let config = config.as_ref().map_err(Clone::clone)?;
    let options = [
        ("CONFIG_PREEMPT_NONE", "none"),
        ("CONFIG_PREEMPT_VOLUNTARY", "voluntary"),
        ("CONFIG_PREEMPT_LAZY", "lazy"),
        ("CONFIG_PREEMPT", "full"),
    ];
    let model = options.iter().find(|(option, _)| config.option(option) == Some("y"));
    model.map(|(_, model)| model.to_string()).ok_or_else(|| format!("{}: no preemption model", config.path))
}

/// The configuration that the kernel was built with, where it lies beside the kernel as text.
struct Config {
    path: String,
    text: String,
}

impl Config {
    fn read(tree: &Tree, release: &Found<String>) -> Found<Config> {
        let path = format!("/boot/config-{}", release.as_ref().map_err(Clone::clone)?);
        tree.text(&path).map(|text| Config { path, text })
    }

    fn option(&self, name: &str) -> Option<&str> {
        self.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
    }
}

/// The text between two signs, e.g. `madvise` in `always [madvise] never`.
pub(super) fn in_brackets(text: &str, open: char, close: char) -> Option<String> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inside, _)| inside.to_string())
}

/// From the configuration, else from the coarse clock, whose resolution is one tick (clock_getres(2)).
fn hz(tree: &Tree, config: &Found<Config>) -> Found<u64> {
    match config {
        Ok(config) if config.option("CONFIG_HZ").is_some() => {
            super::tree::parse(&config.path, config.option("CONFIG_HZ").unwrap_or_default())
        }
        _ if tree.live() => tick_rate(),
        Ok(config) => Err(format!("{}: no `CONFIG_HZ`", config.path)),
        Err(reason) => Err(reason.clone()),
    }
}

fn tick_rate() -> Found<u64> {
    let tick =
        clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).map_err(|error| format!("clock_getres: {error}"))?;
    let tick_ns = u64::try_from(tick.tv_nsec()).unwrap_or(0);
    rate_of(tick_ns).ok_or_else(|| format!("clock_getres: a coarse clock of {tick_ns} ns is not a tick"))
}

/// Ticks a second, to the nearest; nothing outside what a kernel can be built for.
fn rate_of(tick_ns: u64) -> Option<u64> {
    let hz = (1_000_000_000 + tick_ns / 2).checked_div(tick_ns)?;
    (12..=1200).contains(&hz).then_some(hz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_gives_the_rate() {
        assert_eq!(rate_of(4_000_000), Some(250));
        assert_eq!(rate_of(3_333_333), Some(300));
        assert_eq!(rate_of(976_562), Some(1024));
        assert_eq!(rate_of(1), None);
        assert_eq!(rate_of(0), None);
    }

    #[test]
    fn preemption_comes_from_the_best_source_there_is() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tree = Tree::new(folder.path());
        let config = |text: &str| Ok(Config { path: "c".to_string(), text: text.to_string() });
        let with = |version: &str, line: &str, config: Found<Config>| {
            preemption(&tree, &Ok(version.to_string()), &Ok(line.to_string()), &config)
        };
        let model = |version: &str, line: &str| with(version, line, Err("no config".to_string()));
        let built =
            config("CONFIG_PREEMPT_BUILD=y\n# CONFIG_PREEMPT is not set\nCONFIG_PREEMPT_VOLUNTARY=y\n");
        assert_eq!(with("#1 SMP PREEMPT_DYNAMIC x", "", built).as_deref(), Ok("voluntary"));
        assert_eq!(with("#1 SMP x", "", config("CONFIG_PREEMPT_NONE=y")).as_deref(), Ok("none"));
        assert!(with("#1 SMP x", "", config("CONFIG_HZ=100")).is_err());
        assert_eq!(model("#1 SMP PREEMPT_RT x", "preempt=none").as_deref(), Ok("rt"));
        assert_eq!(model("#1 SMP PREEMPT_DYNAMIC x", "a preempt=none preempt=lazy").as_deref(), Ok("lazy"));
        assert!(model("#1 SMP PREEMPT_DYNAMIC x", "a").unwrap_err().contains("no config"));
        assert_eq!(model("#1 SMP PREEMPT x", "").as_deref(), Ok("full"));
        assert!(model("#1 SMP x", "").is_err());
        std::fs::create_dir_all(folder.path().join("sys/kernel/debug/sched")).expect("a folder");
        std::fs::write(folder.path().join("sys/kernel/debug/sched/preempt"), "none (voluntary) full\n")
            .expect("a file");
        assert_eq!(model("#1 SMP PREEMPT_DYNAMIC x", "").as_deref(), Ok("voluntary"));
    }
}
