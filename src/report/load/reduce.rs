//! Journals for comparisons: read line by line, each visit reduced to a few numbers before the next is read, so that
//! thousands of runs fit into memory.

mod lean;
mod visits;

use super::{JOURNAL, journal_path, lines, parallel};
use crate::compare::stored::{Known, Stored};
use crate::record::{Gate, Table};
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use visits::Begun;

/// The lines of a journal by which a copy is known: the header and the first visit.
const LINES_OF_BEGINNING: usize = 2;

/// Runs that were read for a comparison.
#[derive(Debug, Default)]
pub struct Runs {
    /// The runs, in the order of their paths.
    pub runs: Vec<Stored>,
    /// What they refer to.
    pub known: Known,
    /// The gates that each of them was made with, in the same order, the cells of each by their number in [`Runs::known`].
    pub gates: Vec<Vec<Gate>>,
    /// The tables of all runs, each once, in the order in which the runs name them; their cells likewise.
    pub tables: Vec<Table>,
}

impl Runs {
    /// Takes the tables of another run in: one that is there already gets the cells that it did not have.
    fn add_tables(&mut self, tables: Vec<Table>) {
        for table in tables {
            let same = |own: &&mut Table| {
                let shape = |table: &Table| (table.measure, table.row, table.column);
                own.id == table.id
                    && shape(own) == shape(&table)
                    && own.split == table.split
                    && own.metric == table.metric
            };
            match self.tables.iter_mut().find(same) {
                Some(own) if own.cells == table.cells => {}
                Some(own) => {
                    let known: BTreeSet<usize> = own.cells.iter().copied().collect();
                    own.cells.extend(table.cells.iter().filter(|cell| !known.contains(cell)));
                }
                None => self.tables.push(table),
            }
        }
    }
}

/// The journals that a path given by a user stands for: the path itself where it is a run or a journal, else every run below
/// the folder, in the order of their names. Links are followed for the path itself only.
///
/// # Errors
/// What the system refuses, and a folder without any run, with what was expected.
pub fn journals_below(path: &Path) -> Result<Vec<PathBuf>> {
    let is_folder = fs::metadata(path).is_ok_and(|found| found.is_dir());
    if !is_folder || path.join(JOURNAL).symlink_metadata().is_ok() {
        return Ok(vec![journal_path(path)?]);
    }
    let mut found = Vec::new();
    collect(path, &mut found).with_context(|| format!("cannot read {}", path.display()))?;
    ensure!(
        !found.is_empty(),
        "{} holds no run: expected the folder of a run, with {JOURNAL} in it, a folder of such folders, or a journal",
        path.display()
    );
    Ok(found)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            match path.join(JOURNAL) {
                journal if journal.is_file() => found.push(journal),
                _ => collect(&path, found)?,
            }
        }
    }
    Ok(())
}

/// Reads and reduces journals, on as many threads as the process has CPUs. The same journals give the same runs, however the
/// threads go; the numbers in [`Known`] may differ.
///
/// # Errors
/// Those of [`super::read_run`], for the first path that has one; a run of two arms, which is a comparison already; and a run
/// that is there twice, by its path or as a copy: it would count as two that are independent.
pub fn read(paths: &[PathBuf]) -> Result<Runs> {
    let known = Mutex::new(Known::default());
    let done = parallel::each(paths.iter(), |path| read_one(path, &known));
    let mut all =
        Runs { known: known.into_inner().unwrap_or_else(PoisonError::into_inner), ..Runs::default() };
    let mut seen: HashMap<u64, &Path> = HashMap::new();
    for (one, path) in done.into_iter().zip(paths) {
        let One { run, gates, tables, beginning } = one?;
        if let Some(known) = seen.insert(beginning, path) {
            return Err(twice(known, path));
        }
        all.runs.push(run);
        all.gates.push(gates);
        all.add_tables(tables);
    }
    Ok(all)
}

fn twice(one: &Path, other: &Path) -> anyhow::Error {
    let what = match one == other {
        true => format!("{} stands for two runs", one.display()),
        false => format!(
            "{} and {} are the same run (same header and first visit)",
            one.display(),
            other.display()
        ),
    };
    anyhow!("{what}: it would count as two that are independent; name each run once")
}

/// A journal that was read.
struct One {
    run: Stored,
    gates: Vec<Gate>,
    tables: Vec<Table>,
    /// A hash of its header (seed, begin, machine) and its first visit: no two runs have the same, a copy has, whether it ends
    /// early or goes on.
    beginning: u64,
}

fn read_one(path: &Path, known: &Mutex<Known>) -> Result<One> {
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let mut begun: Option<Begun> = None;
    let mut beginning = DefaultHasher::new();
    lines(BufReader::with_capacity(1 << 18, file), 1, &name, |line, number| {
        if number <= LINES_OF_BEGINNING {
            line.hash(&mut beginning);
        }
        match &mut begun {
            None => {
                begun = Some(Begun::new(lean::header(line)?));
                Ok(())
            }
            Some(begun) => begun.take(line),
        }
    })?;
    let begun = begun.ok_or_else(|| anyhow!("{name} has no header: name a whole journal"))?;
    let folder = path.parent().filter(|_| path.file_name().is_some_and(|file| file == JOURNAL));
    let shown = folder.filter(|folder| *folder != Path::new("")).unwrap_or(path);
    let (run, gates, tables) = begun.finish(shown.display().to_string(), known);
    Ok(One { run, gates, tables, beginning: beginning.finish() })
}

#[cfg(test)]
mod tests;
