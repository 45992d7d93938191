//! `run`: a matrix becomes a journal, tables, and a report folder.

use super::anonymous::{command, shown};
use super::arguments::{Amount, Run as Arguments, Talk};
use super::resume::{self, Standing};
use super::{FAILED, WELL, gating, matrices, output, plots};
use crate::catalog::Catalog;
use crate::environment::Environment;
use crate::matrix::Matrix;
use crate::measure::clock::{Clock, Monotonic, utc_now};
use crate::measure::stats::STEADY_VISITS;
use crate::record::{Effort, Header, PlannedCell, Resumed, Table};
use crate::report::cells::{Slot, slots};
use crate::report::document::{Document, document};
use crate::report::load::{JOURNAL, Run};
use crate::report::metric::Metric;
use crate::report::{Options, text};
use crate::runner::host::{self, HostLock};
use crate::runner::journal::Journal;
use crate::runner::process::Processes;
use crate::runner::resume::Begun;
use crate::runner::signals::{Caught, Signals};
use crate::runner::{self, Ran, Settings, Visitor, schedule};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a matrix without a budget of its own gets.
const DEFAULT_BUDGET: Duration = Duration::from_secs(180);
/// What `--quick` gets.
pub const QUICK_BUDGET: Duration = Duration::from_secs(60);
/// A day: `--test` and `--exact` end by themselves after one round.
pub const NO_BUDGET: Duration = Duration::from_secs(24 * 3600);
/// Rounds for everybody before a cell may be done.
const FULL_ROUNDS: usize = STEADY_VISITS;
const QUICK_FULL_ROUNDS: usize = 6;
const THOROUGH_FULL_ROUNDS: usize = 22;
/// What `--thorough` gets is so many times the usual budget.
const THOROUGH_BUDGETS: u32 = 3;

/// Runs the matrix and returns the exit code.
///
/// # Errors
/// The user's mistakes before anything is run; else what keeps the run from starting.
pub fn run(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let matrix = matrices::select(&arguments.selection, catalog)?;
    let mut environment = Environment::read(Path::new("/"));
    let _held = alone(arguments.test || arguments.no_lock)?;
    let boot_id = environment.kernel.boot_id.known().cloned();
    if arguments.anonymous {
        environment.leave_out_names();
    }
    let header = header(arguments, &matrix, catalog, &environment, boot_id.as_deref());
    // Before anything is written, so that a signal that comes meanwhile finds a run that it can end well.
    let signals = Signals::watch().context("cannot watch for signals")?;
    let settings = settings(arguments, &header, catalog);
    let work = match arguments.resume {
        true => match resume::stand(arguments, header, &settings, boot_id.as_deref())? {
            Standing::Finished(run, folder) => return nothing_to_do(*run, &folder, arguments),
            Standing::Begun(work) => *work,
            Standing::Nothing(header, folder, journal) => {
                let journal = begin(&folder, &header, &environment, journal)?;
                Work::new(*header, &settings, Some(folder), journal)
            }
        },
        false => {
            let folder = folder(arguments, &header, &environment)?;
            let journal = open(folder.as_deref(), &header, &environment)?;
            Work::new(header, &settings, folder, journal)
        }
    };
    work.run(settings, &signals, arguments)
}

/// The lock of the host, where one is wanted: held as long as it is kept.
///
/// # Errors
/// Another run that measures, with who that is.
pub fn alone(unlocked: bool) -> Result<Option<HostLock>> {
    if unlocked {
        return Ok(None);
    }
    match host::take().context("cannot see whether another run goes on")? {
        Ok(held) => Ok(Some(held)),
        Err(holder) => bail!(
            "another run is measuring on this host ({holder}), and two would disturb each other: nothing was run. Wait until \
             it has ended, end it, or run beside it with --no-lock"
        ),
    }
}

/// A run whose journal is open.
pub struct Work {
    pub header: Header,
    pub begun: Begun,
    pub folder: Option<PathBuf>,
    pub journal: Journal,
    pub resumed: Vec<Resumed>,
}

impl Work {
    /// A run that is to begin.
    pub fn new(header: Header, settings: &Settings, folder: Option<PathBuf>, journal: Journal) -> Work {
        let begun = Begun::nothing(&header, settings);
        Work { header, begun, folder, journal, resumed: Vec::new() }
    }

    fn run(self, settings: Settings, signals: &Signals, arguments: &Arguments) -> Result<u8> {
        let folder = self.folder.clone();
        let measured = self.measure(settings, &mut Processes::new(signals), &arguments.talk);
        publish(&measured, text, folder.as_deref(), arguments)
    }

    /// Makes the visits.
    pub fn measure(mut self, settings: Settings, visitor: &mut dyn Visitor, talk: &Talk) -> Measured {
        if !talk.quiet {
            announce(&self.header, self.folder.as_deref(), self.resumed.last());
        }
        let ran = runner::resume(
            &self.header,
            settings,
            self.begun,
            visitor,
            &Monotonic,
            &mut self.journal,
            talk.progress().as_mut(),
        );
        let Ran { visits, end, caught, journal_error } = ran;
        let run =
            Run { header: self.header, visits, end: Some(end), torn_line: false, resumed: self.resumed };
        Measured { run, journal_error, caught }
    }
}

/// What was measured, whatever ended it.
pub struct Measured {
    pub run: Run,
    pub journal_error: Option<std::io::Error>,
    pub caught: Option<Caught>,
}

/// A run that was resumed and has nothing left to do: its report is made again, and its exit code is what it was.
fn nothing_to_do(run: Run, folder: &Path, arguments: &Arguments) -> Result<u8> {
    arguments.talk.say(&format!("{}: the run is complete, there is nothing to do", folder.display()));
    publish(&Measured { run, journal_error: None, caught: None }, text, Some(folder), arguments)
}

fn settings(arguments: &Arguments, header: &Header, catalog: &Catalog) -> Settings {
    let amount = &arguments.amount;
    let (effort, full_rounds, most_rounds) = match (arguments.test || amount.exact, amount.quick) {
        (true, _) => (Effort::TEST, 1, 1),
        (_, true) => (Effort::QUICK, full_rounds(amount), usize::MAX),
        _ => (Effort::DEFAULT, full_rounds(amount), usize::MAX),
    };
    let deadline_ms = arguments.deadline.as_millis() as u64;
    let thrifty = if effort == Effort::DEFAULT { Effort::THRIFTY } else { effort };
    let exact_op_ns =
        amount.exact.then(|| header.cells.iter().map(|planned| rough_op_ns(catalog, planned)).collect());
    Settings { effort, thrifty, full_rounds, most_rounds, deadline_ms, exact_op_ns }
}

/// What an operation of the cell costs about, as its driver says.
pub fn rough_op_ns(catalog: &Catalog, planned: &PlannedCell) -> u64 {
    let cell = &planned.cell;
    let driver = cell.measure().and_then(|measure| catalog.find(measure, cell.mechanism()));
    driver.map_or(0, |driver| (driver.rough_op_ns)(cell))
}

/// Rounds for everybody before a cell may be done.
pub fn full_rounds(amount: &Amount) -> usize {
    match (amount.quick, amount.thorough) {
        (true, _) => QUICK_FULL_ROUNDS,
        (_, true) => THOROUGH_FULL_ROUNDS,
        _ => FULL_ROUNDS,
    }
}

/// Time for sampling: what was typed, else what the effort or the matrix says.
pub fn budget(amount: &Amount, matrix: &Matrix) -> Duration {
    let usual = matrix.budget.unwrap_or(DEFAULT_BUDGET);
    amount.budget.unwrap_or(match (amount.quick, amount.thorough) {
        (true, _) => QUICK_BUDGET,
        (_, true) => THOROUGH_BUDGETS * usual,
        _ => usual,
    })
}

/// The header of a run of that matrix.
pub fn header(
    arguments: &Arguments,
    matrix: &Matrix,
    catalog: &Catalog,
    environment: &Environment,
    boot_id: Option<&str>,
) -> Header {
    let amount = &arguments.amount;
    let budget = match (arguments.test || amount.exact, amount.budget) {
        (true, None) => NO_BUDGET,
        _ => budget(amount, matrix),
    };
    let effort = match (arguments.test, amount.exact, amount.quick) {
        (true, _, _) => "test",
        (_, true, _) => "exact",
        (_, _, true) => "quick",
        _ if amount.thorough => "thorough",
        _ => "default",
    };
    let named = &arguments.selection.matrices;
    let identity = serde_json::to_vec(&(&matrix.tables, &matrix.cells)).unwrap_or_default();
    let started = utc_now();
    let mixed_in = Monotonic.now_ns() ^ u64::from(std::process::id()).rotate_left(32);
    Header {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        matrices: named.iter().map(|name| shown(name, arguments.anonymous)).collect(),
        matrix_crc32: format!("{:08x}", crc32fast::hash(&identity)),
        command: command(arguments.anonymous),
        effort: effort.to_owned(),
        seed: arguments.seed.unwrap_or_else(|| schedule::fresh_seed(mixed_in)),
        budget_s: budget.as_secs_f64(),
        precision: amount.precision(),
        machine_class: environment.machine_class.clone(),
        allowed_cpus: environment.allowed_cpus(),
        // Reading the whole program is for who may resume the run.
        binary_crc32: keeps_journal(arguments).then(resume::binary_crc32).flatten(),
        boot_crc32: boot_id.map(|boot_id| resume::boot_crc32(boot_id, &started)),
        arms: None,
        started,
        tables: matrix.tables.iter().map(|table| with_driver_notes(table, matrix, catalog)).collect(),
        cells: matrix.cells.clone(),
        gates: matrix.gates.clone(),
    }
}

/// The table with what its mechanisms say of themselves below its own notes.
fn with_driver_notes(table: &Table, matrix: &Matrix, catalog: &Catalog) -> Table {
    let mut table = table.clone();
    for index in &table.cells {
        let driver = catalog.find(table.measure, matrix.cells[*index].cell.mechanism());
        let note = driver.map_or("", |driver| driver.note);
        if !note.is_empty() && !table.notes.iter().any(|own| own == note) {
            table.notes.push(note.to_owned());
        }
    }
    table
}

/// Whether anything of the run is kept: a test that was not told where leaves nothing.
fn keeps_journal(arguments: &Arguments) -> bool {
    !arguments.test || arguments.output.is_some()
}

/// The folder of the report; a test that was not told where leaves none.
pub fn folder(arguments: &Arguments, header: &Header, environment: &Environment) -> Result<Option<PathBuf>> {
    if !keeps_journal(arguments) {
        return Ok(None);
    }
    let date = header.started.split('T').next().unwrap_or_default();
    output::run_folder(arguments.output.as_deref(), date, &environment.machine_slug()).map(Some)
}

pub fn open(folder: Option<&Path>, header: &Header, environment: &Environment) -> Result<Journal> {
    match folder {
        Some(folder) => begin(folder, header, environment, None),
        None => Ok(Journal::nowhere()),
    }
}

/// Writes what stands in a folder before the first visit, into the journal that is there or a new one.
fn begin(
    folder: &Path,
    header: &Header,
    environment: &Environment,
    journal: Option<Journal>,
) -> Result<Journal> {
    let refused = |error: anyhow::Error| {
        super::usage(format!("{error:#}: nothing was run; name a folder that can be written with -o"))
    };
    output::write(&folder.join("environment.json"), &environment.to_json()?).map_err(refused)?;
    let path = folder.join(JOURNAL);
    match journal {
        None => Journal::create(&path, header),
        Some(mut journal) => journal.begin(header).map(|()| journal),
    }
    .with_context(|| format!("cannot write {}", path.display()))
    .map_err(refused)
}

fn announce(header: &Header, folder: Option<&Path>, resumed: Option<&Resumed>) {
    let available = header.cells.iter().filter(|cell| cell.unavailable.is_none()).count();
    let into = |folder: &Path| format!(", into {}", folder.display());
    let time = match folder {
        _ if header.arms.is_some() => {
            let rounds = header.arms.as_ref().map_or(0, |arms| arms.rounds);
            format!("both arms, up to {rounds} rounds{}", folder.map(into).unwrap_or_default())
        }
        Some(folder) if header.budget_s >= NO_BUDGET.as_secs_f64() => {
            format!("each once, as long as it takes, into {}", folder.display())
        }
        Some(folder) => format!("up to {:.0} s, into {}", header.budget_s, folder.display()),
        None => "each once".to_owned(),
    };
    if let Some(resumed) = resumed {
        let dropped = match resumed.dropped_bytes {
            0 => String::new(),
            bytes => format!("; a last line that was cut off after {bytes} bytes is dropped"),
        };
        output::say(&format!("resumed after {} visits{dropped}", resumed.visits));
    }
    output::say(&format!(
        "{}: {available} of {} cells, {time}",
        header.matrices.join(" "),
        header.cells.len()
    ));
}

/// How the report of this run is made.
fn options(arguments: &Arguments) -> Options {
    Options { muted: arguments.muted.codes(), ..Options::default() }
}

/// The report for a terminal.
pub fn text(document: &Document) -> Result<String> {
    Ok(text::render(document))
}

/// Prints the report, by what makes text of it, and completes the folder; whatever fails there, what was measured is shown
/// first.
///
/// # Errors
/// A table that cannot be made, and a standard output that cannot be written.
pub fn publish(
    measured: &Measured,
    text: impl FnOnce(&Document) -> Result<String>,
    folder: Option<&Path>,
    arguments: &Arguments,
) -> Result<u8> {
    let Measured { run, journal_error, caught } = measured;
    let document = document(run, options(arguments))?;
    let printed = text(&document).and_then(|text| output::print(&text));
    let slots = slots(run, Metric::Figure);
    let mut failed = slots.iter().any(|slot| matches!(slot, Slot::Failed(_)));
    if let Some(error) = journal_error {
        failed = true;
        output::say(&format!(
            "ipcmatrix: the journal could not be written any more: {error}; the tables above hold all visits made"
        ));
    }
    if let Some(folder) = folder {
        let readme = folder.join("README.md");
        match plots::with_report(&document, folder, &readme) {
            Ok(()) => arguments.talk.say(&format!("report: {}", readme.display())),
            Err(error) => {
                failed = true;
                output::say(&format!("ipcmatrix: {error:#}"));
            }
        }
    }
    if let Some(verdict) = document.fact("verdict") {
        arguments.talk.say(&format!("verdict: {verdict}"));
    }
    printed?;
    Ok(match caught {
        Some(caught) => caught.exit_code(),
        None if failed => FAILED,
        None => match (gating::judge(run, &slots), arguments.strict) {
            (WELL, true) => gating::strict(&slots, run.header.precision),
            (code, _) => code,
        },
    })
}
