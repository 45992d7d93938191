//! What about this machine makes figures worse, what it does to them, and what would help. Pure: it looks at an
//! [`Environment`] that was read, changes nothing and asks nobody.

mod cpu;
mod system;
#[cfg(test)]
mod tests;

use crate::environment::{Environment, Fact, Interference};
use schemars::JsonSchema;
use serde::Serialize;

/// How much a finding matters to figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Figures are wrong in a way that no interval shows.
    Severe,
    /// Intervals get wider, or figures move from run to run.
    Warning,
    /// Figures hold, but only for machines that are set up alike.
    Note,
}

impl Severity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Severe => "severe",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// Something that disturbs measuring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// A stable word for it, e.g. `governor`.
    pub name: &'static str,
    /// How much it matters.
    pub severity: Severity,
    /// What there is; may hold text of the machine.
    pub found: String,
    /// What it does to figures.
    pub effect: &'static str,
    /// A command that helps, or what to do where no command does.
    pub remedy: String,
}

/// A check that could not be made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Unchecked {
    /// The word of the finding that there might be.
    pub name: &'static str,
    /// What could not be read.
    pub reason: String,
}

/// What the checks say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The worst first.
    pub findings: Vec<Finding>,
    /// Checks that could not be made.
    pub unchecked: Vec<Unchecked>,
}

/// What a check found: severity, what there is, what it does, and what helps.
struct Trouble(Severity, String, &'static str, String);

/// Nothing, some trouble, or why it cannot be told.
type Checked = Result<Option<Trouble>, String>;

/// A check and the word of its finding.
type Check = (&'static str, fn(&Environment) -> Checked);

/// Makes every check.
pub fn diagnose(environment: &Environment) -> Diagnosis {
    let mut diagnosis = Diagnosis::default();
    for (name, check) in cpu::CHECKS.iter().chain(system::CHECKS) {
        match check(environment) {
            Ok(None) => {}
            Ok(Some(Trouble(severity, found, effect, remedy))) => {
                diagnosis.findings.push(Finding { name, severity, found, effect, remedy });
            }
            Err(reason) => diagnosis.unchecked.push(Unchecked { name, reason }),
        }
    }
    diagnosis.findings.sort_by_key(|finding| finding.severity);
    diagnosis
}

/// The value, or why it is not known.
fn known<T>(fact: &Fact<T>) -> Result<&T, String> {
    fact.known().ok_or_else(|| fact.reason().unwrap_or_default().to_owned())
}

/// Trouble that needs no words of the machine: what there is, what it does, and what helps.
fn plain(bad: bool, severity: Severity, [found, effect, remedy]: [&'static str; 3]) -> Checked {
    Ok(bad.then(|| Trouble(severity, found.to_owned(), effect, remedy.to_owned())))
}

/// A value of [`Interference`], likewise.
fn of<T>(environment: &Environment, fact: fn(&Interference) -> &Fact<T>) -> Result<&T, String> {
    environment.interference.as_ref().ok_or_else(|| "not recorded".to_owned()).map(fact).and_then(known)
}
