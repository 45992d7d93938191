//! `ab`: two arms of the same cells, compared.

use super::arguments::{Ab as Arguments, FailOn, Run, TextOrJson};
use super::arms::{Arm, Comparison};
use super::{REGRESSED, UNDECIDED, WELL, floors, gating, output, run};
use crate::catalog::Catalog;
use crate::record::Effort;
use crate::report::comparison::{self, rows, word_of};
use crate::report::document::Document;
use crate::report::load;
use anyhow::Result;

/// Compares the arms and returns the exit code.
///
/// # Errors
/// The user's mistakes before anything is run; else what keeps the run from starting.
pub fn ab(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let comparison = Comparison {
        selection: &arguments.selection,
        conduct: &arguments.conduct,
        arms: [Arm::parse("--a", &arguments.a, catalog)?, Arm::parse("--b", &arguments.b, catalog)?],
        least: arguments.least,
        effort: Effort::DEFAULT,
        output: Some(arguments.output.clone()),
    };
    let as_run = Run {
        muted: arguments.muted.clone(),
        ..arguments.conduct.as_run(&arguments.selection, arguments.output.as_deref())
    };
    let find = |class: Option<&[String; 2]>| floors::find(arguments.floors.as_deref(), class);
    let (measured, folder) = comparison.measure(&as_run, catalog, &find)?;
    let text = |document: &Document| match arguments.format {
        TextOrJson::Text => run::text(document),
        TextOrJson::Json => comparison::json(&measured.run, arguments.muted.codes()).map_err(Into::into),
    };
    // Of a run that went well this is what came of its gates: a difference that was asked for is told before a gate that
    // nothing decides.
    Ok(match run::publish(&measured, text, folder.as_deref(), &as_run)? {
        code @ (WELL | UNDECIDED) => match checked(&measured.run, &arguments.fail_on) {
            WELL => code,
            asked => asked,
        },
        code => code,
    })
}

/// The exit code that the verdicts have, as far as the user asked for one.
fn checked(run: &load::Run, fail_on: &[FailOn]) -> u8 {
    let rows = rows(run);
    let any = |asked: FailOn, words: &[&str]| {
        fail_on.contains(&asked) && rows.iter().any(|row| words.contains(&word_of(row)))
    };
    if any(FailOn::Slower, &["slower"]) || any(FailOn::Faster, &["faster"]) {
        output::say("ipcmatrix: --fail-on: there is a difference that was asked for");
        return REGRESSED;
    }
    if any(FailOn::Undecided, &["undecided", "not compared", "unavailable"]) {
        output::say("ipcmatrix: --fail-on: some cells are undecided or could not be compared");
        return UNDECIDED;
    }
    if !fail_on.is_empty() && rows.iter().all(|row| row.pair.found.is_err()) {
        return gating::nothing_compared();
    }
    WELL
}
