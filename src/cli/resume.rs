//! `run --resume`: whether a run in a folder may be resumed, and where it stands.

use super::arguments::Run as Arguments;
use super::run::Work;
use super::usage;
use crate::measure::clock::utc_now;
use crate::record::{Header, Resumed};
use crate::report::load::{self, JOURNAL, Run};
use crate::runner::Settings;
use crate::runner::journal::Journal;
use crate::runner::process::OURSELVES;
use crate::runner::resume::{Begun, is_finished, refusal};
use anyhow::{Context, Result};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where a run stands.
pub enum Standing {
    /// Nothing is left to do.
    Finished(Box<Run>, PathBuf),
    /// It can go on; its journal says that it does.
    Begun(Box<Work>),
    /// It was ended before its journal had a header: it begins. The journal is there where it is an empty file.
    Nothing(Box<Header>, PathBuf, Option<Journal>),
}

/// Looks at the run in the folder that was named, which must be one that `now` would begin.
///
/// # Errors
/// Why it cannot be resumed: exit code 2, nothing was changed.
pub fn stand(
    arguments: &Arguments,
    mut now: Header,
    settings: &Settings,
    boot_id: Option<&str>,
) -> Result<Standing> {
    let folder = arguments.output.clone().unwrap_or_default();
    let path = folder.join(JOURNAL);
    let refused = |reason: &str| {
        usage(format!(
            "cannot resume {}: {reason}; nothing was changed. Give the command that began the run, with --resume, or begin \
             another in another folder (-o)",
            folder.display()
        ))
    };
    let mut journal = match Journal::reopen(&path) {
        Ok(journal) => journal,
        Err(error) if error.kind() == ErrorKind::NotFound && is_unbegun(&folder) => {
            return Ok(Standing::Nothing(Box::new(now), folder, None));
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(refused(&format!("it holds no {JOURNAL}")));
        }
        Err(error) => return Err(refused(&format!("{JOURNAL}: {error}"))),
    };
    let bytes = journal.bytes().map_err(|error| refused(&format!("{JOURNAL}: {error}")))?;
    let run = match load::parse_run(&bytes, JOURNAL) {
        Ok(run) => run,
        Err(_) if !bytes.contains(&b'\n') => {
            return Ok(Standing::Nothing(Box::new(now), folder, Some(journal)));
        }
        Err(error) => return Err(refused(&format!("{error:#}"))),
    };
    as_begun(arguments, &mut now, &run.header);
    now.boot_crc32 = boot_id.map(|boot_id| boot_crc32(boot_id, &run.header.started));
    if let Some(reason) = refusal(&run.header, &now) {
        return Err(refused(&reason));
    }
    let begun = Begun::replay(&run.header, settings, run.visits.clone(), run.end.as_ref())
        .map_err(|reason| refused(&reason))?;
    if is_finished(run.end.as_ref()) {
        return Ok(Standing::Finished(Box::new(run), folder));
    }
    let resumed =
        go_on(&mut journal, &bytes, &run).with_context(|| format!("cannot write {}", path.display()))?;
    let Run { header, resumed: mut breaks, .. } = run;
    breaks.push(resumed);
    Ok(Standing::Begun(Box::new(Work { header, begun, folder: Some(folder), journal, resumed: breaks })))
}

/// Whether a run was ended in that folder between its first file and its journal.
fn is_unbegun(folder: &Path) -> bool {
    folder.join("environment.json").is_file()
}

/// What was not typed is as it was.
fn as_begun(arguments: &Arguments, now: &mut Header, then: &Header) {
    if arguments.seed.is_none() {
        now.seed = then.seed;
    }
    if arguments.amount.budget.is_none() {
        now.budget_s = then.budget_s;
    }
}

/// Writes into the journal that the run goes on.
fn go_on(journal: &mut Journal, bytes: &[u8], run: &Run) -> std::io::Result<Resumed> {
    let lines = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let whole = if run.torn_line { lines } else { bytes.len() };
    let resumed = Resumed {
        resumed: utc_now(),
        visits: run.visits.len() as u32,
        dropped_bytes: (bytes.len() - whole) as u64,
    };
    journal.resume(whole as u64, whole == lines, &resumed)?;
    Ok(resumed)
}

/// CRC-32 of the program's file; `None` where it cannot be read.
pub fn binary_crc32() -> Option<String> {
    std::fs::read(OURSELVES).ok().map(|bytes| format!("{:08x}", crc32fast::hash(&bytes)))
}

/// Which boot this is, told in a way that names none. `boot_id` is the kernel's, random(4).
pub fn boot_crc32(boot_id: &str, started: &str) -> String {
    format!("{:08x}", crc32fast::hash(format!("{boot_id} {started}").as_bytes()))
}
