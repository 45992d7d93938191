//! The yardstick: plain C programs and our cells do the same work in turn, to see that the harness
//! costs nothing.
//!
//! Builds `bandwidth.c`, `increment.c`, `wait.c` and `log.c`, has our cell choose the operations of a batch once a case,
//! then visits every case once a round, ours and C next to each other, either first. The C program
//! runs as many batches after as many warm-up batches on the same CPUs. On one CPU the floors must be
//! within 3 %, on two the medians within 10 %; logs, whose batches are as long as published, within 5 %. Exits with 1 where a case is clearly over, with 2 where
//! something could not be run.

use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Parser;
use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::measure::stats::{Estimate, LEAST_VISITS, median};
use ipcmatrix::record::{Effort, Measured, Outcome, Request, Sampling};
use nix::sched::{CpuSet, sched_getaffinity};
use nix::unistd::Pid;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt;
use std::fs;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

const SOURCES: [(&str, &str); 5] = [
    ("yardstick.h", include_str!("yardstick.h")),
    ("bandwidth.c", include_str!("bandwidth.c")),
    ("increment.c", include_str!("increment.c")),
    ("wait.c", include_str!("wait.c")),
    ("log.c", include_str!("log.c")),
];

const MS: u64 = 1_000_000;
const DEADLINE_MS: u64 = 60_000;

/// Shorter batches than in a run for locks contended across CPUs: the same batch takes a hundred times
/// as long in a visit in which every increment has to wake the other CPU.
const CONTENDED: Sampling = Sampling { samples: 5, target_ns: 4 * MS };

/// Lines of each of two threads in one batch, as published; it takes a second, so there is one a visit.
const LINES: u64 = 1_000_000;

#[derive(Parser)]
#[command(about = "Compares plain C programs with the cells that do the same work")]
struct Options {
    /// Rounds; each visits every case once, ours and C
    #[arg(default_value_t = 20)]
    rounds: usize,
    /// Seed of the order; chosen by the clock where not given
    #[arg(long)]
    seed: Option<u64>,
    /// Only the cases whose name holds this text
    #[arg(long, default_value = "")]
    only: String,
    /// Given by `cargo bench`
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("yardstick: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Measures and prints; returns whether no case is clearly over its limit.
fn run(options: &Options) -> Result<bool> {
    ensure!(options.rounds >= LEAST_VISITS, "an interval needs {LEAST_VISITS} rounds or more");
    let seed = options.seed.unwrap_or_else(seed_of_the_clock);
    let folder = tempfile::tempdir().context("a temporary folder")?;
    let compiler = build(folder.path())?;
    let mut cases = cases(&allowed_cpus()?, folder.path());
    cases.retain(|case| case.to_string().contains(&options.only));
    ensure!(!cases.is_empty(), "no case's name holds \"{}\"", options.only);
    let mut trials = cases.into_iter().map(Trial::calibrated).collect::<Result<Vec<_>>>()?;
    let ended = visit_rounds(&mut trials, options.rounds, seed);
    progress("");
    trials.sort_by_key(|trial| trial.case.position);
    println!("{} rounds, seed {seed}, {compiler}, load {}", options.rounds, load());
    let well = print_table(&trials);
    ended.map(|()| well)
}

/// Each round visits every case in a fresh random order, ours or C first.
fn visit_rounds(trials: &mut [Trial], rounds: usize, seed: u64) -> Result<()> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for round in 1..=rounds {
        trials.shuffle(&mut random);
        for trial in &mut *trials {
            progress(&format!("round {round} of {rounds}: {}", trial.case));
            trial.visit_both(random.random())?;
        }
    }
    Ok(())
}

fn seed_of_the_clock() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// The load averages as the kernel prints them.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
}

/// Draws one line on a terminal; an empty one wipes it.
fn progress(text: &str) {
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K{text}");
    }
}

fn allowed_cpus() -> Result<Vec<usize>> {
    let set = sched_getaffinity(Pid::from_raw(0)).context("sched_getaffinity")?;
    Ok((0..CpuSet::count()).filter(|cpu| set.is_set(*cpu).unwrap_or(false)).collect())
}

// ---- the C programs

/// Compiles the programs into the folder. Returns the first line of the compiler's version.
fn build(folder: &Path) -> Result<String> {
    let named = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let words: Vec<&str> = named.split_whitespace().collect();
    let [compiler, arguments @ ..] = words.as_slice() else { bail!("the variable CC is empty") };
    for (name, text) in SOURCES {
        fs::write(folder.join(name), text).with_context(|| format!("write {name}"))?;
    }
    for program in ["bandwidth", "increment", "wait", "log"] {
        let mut command = Command::new(compiler);
        command.args(arguments).args(["-O2", "-Wall", "-Wextra", "-pthread", "-o", program]);
        command.arg(format!("{program}.c")).current_dir(folder);
        let built = command.status().with_context(|| {
            format!("there is no C compiler \"{compiler}\": install one (package gcc or clang) or name yours in CC")
        })?;
        ensure!(built.success(), "\"{named}\" could not build {program}.c ({built})");
    }
    let version = Command::new(compiler).args(arguments).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    Ok(version.unwrap_or_default().lines().next().unwrap_or(compiler).to_owned())
}

/// Runs a C program; returns the elapsed nanoseconds of each of its batches.
fn batches_of(program: &Path, arguments: &[String]) -> Result<Vec<u64>> {
    let shown = format!("{} {}", program.file_name().unwrap_or_default().display(), arguments.join(" "));
    let output = Command::new(program).args(arguments).output().with_context(|| shown.clone())?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{shown}: {}: {}", output.status, said.trim());
    let text = String::from_utf8(output.stdout).with_context(|| shown.clone())?;
    text.lines().map(|line| line.parse().with_context(|| format!("{shown}: {line:?}"))).collect()
}

// ---- the cases

/// One thing that both do.
struct Case {
    cell: Cell,
    position: usize,
    /// The CPU of each worker.
    cpus: Vec<usize>,
    program: PathBuf,
}

/// Every case that the CPUs allow. Workers take the last CPUs first, as in our cells.
fn cases(allowed: &[usize], folder: &Path) -> Vec<Case> {
    let mut cases = Vec::new();
    for mechanism in ["pipe", "unix_stream"] {
        for message_bytes in [4096, 65536] {
            let cell = Cell::new(Measure::Bandwidth, mechanism)
                .with(Axis::MessageBytes, Value::Count(message_bytes))
                .with(Axis::Spawn, Value::word("processes"));
            push_placed(&mut cases, &cell, 2, allowed, &folder.join("bandwidth"));
        }
    }
    for mechanism in ["pthread_mutex", "sysv_semaphore"] {
        for threads in [1, 2] {
            let cell = Cell::new(Measure::Increment, mechanism)
                .with(Axis::Workers, Value::Count(threads))
                .with(Axis::Spawn, Value::word("threads"));
            push_placed(&mut cases, &cell, threads as usize, allowed, &folder.join("increment"));
        }
    }
    for mechanism in ["select", "poll"] {
        for highest_descriptor in [10, 1000] {
            let cell = Cell::new(Measure::Wait, mechanism)
                .with(Axis::HighestDescriptor, Value::Count(highest_descriptor))
                .with(Axis::Descriptors, Value::Count(1))
                .with(Axis::Ready, Value::word("all"))
                .with(Axis::File, Value::word("eventfd"))
                .with(Axis::Call, Value::word("many"))
                .with(Axis::Variant, Value::word("as_meant"));
            push_placed(&mut cases, &cell, 1, allowed, &folder.join("wait"));
        }
    }
    let log = Cell::new(Measure::Append, "direct_write")
        .with(Axis::MessageBytes, Value::Count(80))
        .with(Axis::Workers, Value::Count(2))
        .with(Axis::Spawn, Value::word("threads"));
    push_placed(&mut cases, &log, 2, allowed, &folder.join("log"));
    cases
}

fn push_placed(cases: &mut Vec<Case>, cell: &Cell, workers: usize, allowed: &[usize], program: &Path) {
    let last: Vec<usize> = allowed.iter().rev().copied().collect();
    let mut push = |placement: &str, cpus: Vec<usize>| {
        let cell = cell.clone().with(Axis::Placement, Value::word(placement));
        cases.push(Case { cell, position: cases.len(), cpus, program: program.to_owned() });
    };
    push("same_cpu", vec![last[0]; workers]);
    if workers > 1 && last.len() > 1 {
        push("cross_cpu", last.into_iter().cycle().take(workers).collect());
    }
}

impl Case {
    /// Whether interference can only add time: then floors are compared, else medians.
    fn on_one_cpu(&self) -> bool {
        self.cell.word(Axis::Placement) == "same_cpu"
    }

    /// By how much ours may take longer, as a fraction.
    fn limit(&self) -> f64 {
        match self.cell.measure() {
            Some(Measure::Append) => 0.05,
            _ if self.on_one_cpu() => 0.03,
            _ => 0.10,
        }
    }

    fn contended_across(&self) -> bool {
        !self.on_one_cpu() && self.cell.measure() == Some(Measure::Increment)
    }

    /// Visits of each side a round: batches of threads that contend are short and differ most.
    fn visits_a_round(&self) -> usize {
        if self.contended_across() { 2 } else { 1 }
    }

    fn effort(&self) -> Effort {
        match self.contended_across() {
            true => Effort { interacting: CONTENDED, ..Effort::DEFAULT },
            false => Effort::DEFAULT,
        }
    }

    /// One visit of our cell.
    fn ours(&self, ops: Option<u64>, effort: Effort) -> Result<Measured> {
        let alone = Request::alone(&self.cell, ops, effort, DEADLINE_MS);
        // Where the program in C is, whoever has the core.
        let request = Request { same_cpu_as: self.cpus.first().copied(), ..alone };
        let mut child = Command::new(env!("CARGO_BIN_EXE_ipcmatrix"))
            .arg("cell")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("start our binary")?;
        let mut input = child.stdin.take().ok_or_else(|| anyhow!("our binary has no standard input"))?;
        input.write_all(&serde_json::to_vec(&request)?).context("hand the cell to our binary")?;
        drop(input);
        let output = child.wait_with_output().context("wait for our binary")?;
        let outcome = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{self}: our binary printed no outcome ({})", output.status))?;
        self.measured(outcome)
    }

    fn measured(&self, outcome: Outcome) -> Result<Measured> {
        let measured = match outcome {
            Outcome::Measured(measured) => *measured,
            Outcome::Unavailable(why) => bail!("{self}: {}; {}", why.reason, why.remedy),
            Outcome::Failed { phase, error } => bail!("{self}: {phase}: {error}"),
        };
        for sample in &measured.samples {
            let used: Vec<usize> = sample.workers.iter().map(|worker| worker.cpu).collect();
            ensure!(used == self.cpus, "{self}: our workers ran on the CPUs {used:?}, not {:?}", self.cpus);
        }
        Ok(measured)
    }

    /// The words after the mechanism of a C program.
    fn c_arguments(&self, plan: &Plan) -> Vec<String> {
        let size = match self.cell.measure() {
            Some(Measure::Bandwidth | Measure::Append) => self.cell.count(Axis::MessageBytes),
            Some(Measure::Wait) => self.cell.count(Axis::HighestDescriptor),
            _ => self.cell.count(Axis::Workers),
        };
        let numbers = [size, plan.ops, u64::from(plan.batches), plan.warm_up_batches];
        let mut words = vec![self.cell.mechanism().to_owned()];
        words.extend(numbers.iter().map(u64::to_string));
        words.extend(self.cpus.iter().map(usize::to_string));
        words
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.cell.mechanism())?;
        match self.cell.measure() {
            Some(Measure::Bandwidth | Measure::Append) => write!(f, "{} bytes", self.cell.message_bytes())?,
            Some(Measure::Wait) => write!(f, "descriptor {}", self.cell.count(Axis::HighestDescriptor))?,
            _ => write!(f, "{} thread(s)", self.cell.count(Axis::Workers))?,
        }
        write!(f, " {}", self.cell.word(Axis::Placement))
    }
}

// ---- visits

/// What both do in each visit.
struct Plan {
    ops: u64,
    batches: u32,
    warm_up_batches: u64,
    /// Ours, with the number of batches fixed, whatever a batch takes this time.
    effort: Effort,
}

impl Plan {
    /// One batch as long as published, after one to warm up.
    fn published(effort: Effort) -> Plan {
        let fixed = Sampling { samples: 1, target_ns: DEADLINE_MS * MS };
        let effort = Effort { additive: fixed, interacting: fixed, oversubscribed: fixed, ..effort };
        Plan { ops: LINES, batches: 1, warm_up_batches: 1, effort }
    }

    /// From a visit that calibrated. The warm-up batches of C take the time that ours take.
    fn of(calibrated: &Measured, effort: Effort) -> Plan {
        let batches = calibrated.samples.len() as u32;
        let batch_ns = (calibrated.typ_ns * calibrated.ops as f64).max(1.0) as u64;
        let fixed = Sampling { samples: batches, target_ns: DEADLINE_MS * MS };
        Plan {
            ops: calibrated.ops,
            batches,
            warm_up_batches: effort.warm_up_ns.div_ceil(batch_ns).max(1),
            effort: Effort { additive: fixed, interacting: fixed, oversubscribed: fixed, ..effort },
        }
    }
}

/// What one side took, a visit each, in nanoseconds an operation.
#[derive(Default)]
struct Side {
    floors: Vec<f64>,
    typs: Vec<f64>,
}

impl Side {
    fn add(&mut self, elapsed_ns: &[u64], plan: &Plan) -> Result<()> {
        ensure!(elapsed_ns.len() == plan.batches as usize, "{} batches came", elapsed_ns.len());
        let each: Vec<f64> = elapsed_ns.iter().map(|ns| *ns as f64 / plan.ops as f64).collect();
        self.floors.push(least(&each));
        self.typs.push(median(&each).context("no batch came")?);
        Ok(())
    }
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

/// A case and what came of it so far.
struct Trial {
    case: Case,
    plan: Plan,
    ours: Side,
    c: Side,
}

impl Trial {
    fn calibrated(case: Case) -> Result<Trial> {
        progress(&format!("calibrate {case}"));
        let effort = case.effort();
        let plan = match case.cell.measure() {
            Some(Measure::Append) => Plan::published(effort),
            _ => Plan::of(&case.ours(None, effort)?, effort),
        };
        Ok(Trial { case, plan, ours: Side::default(), c: Side::default() })
    }

    /// One round: ours and C next to each other, as often as the case asks for.
    fn visit_both(&mut self, ours_first: bool) -> Result<()> {
        for turn in 0..self.case.visits_a_round() {
            let ours_now = ours_first == (turn % 2 == 0);
            if ours_now {
                self.visit_ours()?;
            }
            self.visit_c()?;
            if !ours_now {
                self.visit_ours()?;
            }
        }
        Ok(())
    }

    fn visit_ours(&mut self) -> Result<()> {
        let measured = self.case.ours(Some(self.plan.ops), self.plan.effort)?;
        let elapsed: Vec<u64> = measured.samples.iter().map(|sample| sample.elapsed_ns).collect();
        self.ours.add(&elapsed, &self.plan)
    }

    fn visit_c(&mut self) -> Result<()> {
        let batches = batches_of(&self.case.program, &self.case.c_arguments(&self.plan))?;
        self.c.add(&batches, &self.plan)
    }

    /// The values that are compared, a visit each: ours, then C's.
    fn compared(&self) -> [&[f64]; 2] {
        match self.case.on_one_cpu() {
            true => [&self.ours.floors, &self.c.floors],
            false => [&self.ours.typs, &self.c.typs],
        }
    }

    /// Ours over C: the median over the pairs of visits.
    fn ratio(&self) -> Option<Ratio> {
        let [ours, c] = self.compared();
        let logs: Vec<f64> = ours.iter().zip(c).map(|(ours, c)| (ours / c).ln()).collect();
        let estimate = Estimate::of(&logs)?;
        let interval = estimate.interval?;
        Some(Ratio { value: estimate.value.exp(), low: interval.low.exp(), high: interval.high.exp() })
    }
}

// ---- the table

/// Ours over C, with its 95 % interval.
struct Ratio {
    value: f64,
    low: f64,
    high: f64,
}

#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    /// The whole interval lies within the limit.
    Within,
    /// All of it lies above: the harness costs.
    Over,
    /// All of it lies as far below: the C program does something else, or does it worse.
    Faster,
    /// It holds a limit.
    Undecided,
}

impl Ratio {
    fn verdict(&self, limit: f64) -> Verdict {
        let (least, most) = (1.0 / (1.0 + limit), 1.0 + limit);
        match (self.low, self.high) {
            (low, _) if low > most => Verdict::Over,
            (_, high) if high < least => Verdict::Faster,
            (low, high) if low >= least && high <= most => Verdict::Within,
            _ => Verdict::Undecided,
        }
    }
}

impl Verdict {
    fn text(self, limit: f64) -> String {
        let percent = limit * 100.0;
        match self {
            Verdict::Within => format!("within {percent} %"),
            Verdict::Over => format!("OVER {percent} %"),
            Verdict::Faster => format!("faster by over {percent} %"),
            Verdict::Undecided => format!("undecided at {percent} %"),
        }
    }
}

const HEAD: &str = "
| case | number | ops a batch | ours, ns/op | C, ns/op | ours / C | 95 % interval | ratio of minima | verdict |
| :--- | :--- | ---: | ---: | ---: | ---: | ---: | ---: | :--- |";

const LEGEND: &str = "
Times are medians over the visits, of each visit's fastest batch (floor) or of its median batch (median).
Ours / C is the median over the pairs of visits next to each other, so it need not be the ratio of the two.";

/// Prints the table; returns whether no case is clearly over.
fn print_table(trials: &[Trial]) -> bool {
    println!("{HEAD}");
    let verdicts: Vec<_> = trials.iter().map(print_row).collect();
    println!("{LEGEND}");
    !verdicts.contains(&Some(Verdict::Over))
}

/// Prints a row and returns its verdict; `None` where there are too few visits for one.
fn print_row(trial: &Trial) -> Option<Verdict> {
    let number = if trial.case.on_one_cpu() { "floor" } else { "median" };
    print!("| {} | {number} | {} ", trial.case, trial.plan.ops);
    let Some(ratio) = trial.ratio() else {
        println!("| - | - | - | - | - | too few visits |");
        return None;
    };
    let [ours_ns, c_ns] = trial.compared().map(|values| median(values).unwrap_or(f64::NAN));
    let minima = least(&trial.ours.floors) / least(&trial.c.floors);
    let verdict = ratio.verdict(trial.case.limit());
    println!(
        "| {ours_ns:.2} | {c_ns:.2} | {:.3} | {:.3} - {:.3} | {minima:.3} | {} |",
        ratio.value,
        ratio.low,
        ratio.high,
        verdict.text(trial.case.limit())
    );
    Some(verdict)
}
