//! A run that was ended by whatever goes on, and becomes what it would have been.

use crate::kills::{Victim, names, rand_seed};
use crate::program::{Ended, IPCMATRIX, Program};
use crate::trial;
use ipcmatrix::record::{Outcome, Visit};
use ipcmatrix::report::load::{JOURNAL, Run, read_run};
use ipcmatrix::runner::host;
use libtest_mimic::Trial;
use nix::sys::signal::Signal;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Runs that are ended again and again; IPCMATRIX_KILLED_RUNS asks for more.
const RUNS: usize = 3;
/// A few cells, so that a run of two seconds has many rounds.
const SMALL: &str = "mechanism:(pipe OR posix_semaphore OR poll) placement:same_cpu";
/// A run ends by itself after this, however precise its cells are.
const BUDGET: &str = "3s";
/// After so many kills a run is left alone.
const MOST_KILLS: usize = 40;
const UNDISTURBED: Duration = Duration::from_secs(40);
/// Rounds of `--quick` that visit every cell.
const QUICK_ROUNDS: u32 = 6;
/// The run is ended at a moment before this.
const LATEST_MS: u64 = 700;

pub fn trials() -> Vec<Trial> {
    let runs = std::env::var("IPCMATRIX_KILLED_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(RUNS);
    let random = (0..runs).map(|run| trial(format!("resume::random_kills_{run}"), &[], move || random(run)));
    let others = [
        trial("resume::nothing_but_the_command_that_began_it", &[], refusals),
        trial("resume::a_torn_line_is_dropped_and_told", &[], torn_line),
        trial("resume::a_run_that_is_complete_is_shown_again", &[], complete),
        trial("resume::a_run_that_never_began_begins", &[], unbegun),
        trial("resume::one_run_at_a_time", &[], one_at_a_time),
        trial("resume::nobody_else_writes_the_journal", &[], in_use),
    ];
    random.chain(others).collect()
}

/// A run of a few cells in that folder, each visited once.
fn test_run(folder: &Path) -> Program {
    Program::ipcmatrix(["run", "smoke", "--test", "-q", "-f", SMALL, "-o", "out"]).folder(folder)
}

fn journal(folder: &Path) -> PathBuf {
    folder.join("out").join(JOURNAL)
}

/// Keeps so many lines of the journal.
fn cut(folder: &Path, lines: usize) {
    let text = fs::read_to_string(journal(folder)).unwrap();
    let kept: Vec<&str> = text.split_inclusive('\n').take(lines).collect();
    fs::write(journal(folder), kept.concat()).unwrap();
}

/// A folder with a run that lacks all but its first visit.
fn cut_run() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    test_run(folder.path()).args(["--seed", "7"]).run().exits(0);
    cut(folder.path(), 2);
    folder
}

/// Cell, round and position of each visit.
fn places(visits: &[Visit]) -> Vec<(usize, u32, u32)> {
    visits.iter().map(|visit| (visit.cell_index, visit.round, visit.position)).collect()
}

fn refusals() {
    let folder = cut_run();
    let before = fs::read(journal(folder.path())).unwrap();
    let refused = |change: &dyn Fn(&str) -> String, arguments: &[&str], reason: &str| {
        let text = String::from_utf8(before.clone()).unwrap();
        let changed = change(&text);
        fs::write(journal(folder.path()), &changed).unwrap();
        let ended = test_run(folder.path()).args(["--resume"]).args(arguments).run();
        ended.exits(2).says(&["cannot resume out: ", reason, "nothing was changed"]);
        assert_eq!(fs::read_to_string(journal(folder.path())).unwrap(), changed, "{reason}");
    };
    let same = |text: &str| text.to_owned();
    refused(&same, &["-f", "mechanism:pipe"], "the matrix is another one");
    refused(&same, &["--seed", "8"], "--seed 7");
    refused(&same, &["--precision", "1%"], "--precision 3%");
    refused(&same, &["--budget", "2m"], "a budget of");
    let with = |name: &'static str| {
        move |text: &str| text.replacen(&format!("\"{name}\":\""), &format!("\"{name}\":\"0"), 1)
    };
    refused(&with("version"), &[], "begun by version 0");
    refused(&with("binary_crc32"), &[], "another build");
    refused(&with("boot_crc32"), &[], "booted since");
    refused(&with("effort"), &[], "its effort is 0test");
    let old = |text: &str| {
        let at = text.find("\"binary_crc32\"").unwrap();
        let end = at + text[at..].find("\"tables\"").unwrap();
        format!("{}{}", &text[..at], &text[end..])
    };
    refused(&old, &[], "does not say which binary");
    refused(&|text: &str| text.replacen("\"round\":1", "\"round\":2", 1), &[], "the journal was changed");
    fs::remove_file(journal(folder.path())).unwrap();
    fs::remove_file(folder.path().join("out/environment.json")).unwrap();
    test_run(folder.path()).args(["--resume"]).run().exits(2).says(&["it holds no records.jsonl"]);
    Program::ipcmatrix(["run", "smoke", "--resume"]).run().exits(2).says(&["--output"]);
}

fn torn_line() {
    let folder = cut_run();
    let whole = fs::read(journal(folder.path())).unwrap();
    let first = whole.split_inclusive(|byte| *byte == b'\n').nth(1).unwrap();
    let torn = first.len() - 7;
    let mut file = fs::OpenOptions::new().append(true).open(journal(folder.path())).unwrap();
    file.write_all(&first[..torn]).unwrap();
    test_run(folder.path()).args(["--resume"]).run().exits(0).prints(&["1 visit, with a last line"]);
    let after = fs::read(journal(folder.path())).unwrap();
    assert!(after.starts_with(&whole), "what was whole is as it was");
    let run = read_run(&folder.path().join("out")).unwrap();
    assert_eq!((run.resumed.len(), run.resumed[0].visits, run.torn_line), (1, 1, false));
    assert_eq!(run.resumed[0].dropped_bytes as usize, torn);

    // A last line that lacks nothing but its newline counts.
    fs::write(journal(folder.path()), whole.strip_suffix(b"\n").unwrap()).unwrap();
    test_run(folder.path()).args(["--resume"]).run().exits(0);
    let again = read_run(&folder.path().join("out")).unwrap();
    assert_eq!((again.resumed[0].visits, again.resumed[0].dropped_bytes), (1, 0));
    assert_eq!(places(&again.visits), places(&run.visits));
}

fn complete() {
    let folder = tempfile::tempdir().unwrap();
    test_run(folder.path()).run().exits(0);
    let before = fs::read(journal(folder.path())).unwrap();
    let readme = folder.path().join("out/README.md");
    let report = fs::read(&readme).unwrap();
    fs::remove_file(&readme).unwrap();
    let words = ["run", "smoke", "--test", "-f", SMALL, "-o", "out", "--resume"];
    let ended = Program::ipcmatrix(words).folder(folder.path()).run().exits(0);
    ended.says(&["out: the run is complete, there is nothing to do"]);
    assert_eq!(fs::read(journal(folder.path())).unwrap(), before);
    assert_eq!(fs::read(&readme).unwrap(), report);
}

fn unbegun() {
    let folder = tempfile::tempdir().unwrap();
    test_run(folder.path()).run().exits(0);
    let visits = read_run(&folder.path().join("out")).unwrap().visits.len();
    let header = fs::read(journal(folder.path())).unwrap();
    for rest in [None, Some(0), Some(60)] {
        match rest {
            None => fs::remove_file(journal(folder.path())).unwrap(),
            Some(bytes) => fs::write(journal(folder.path()), &header[..bytes]).unwrap(),
        }
        test_run(folder.path()).args(["--resume"]).run().exits(0);
        let run = read_run(&folder.path().join("out")).unwrap();
        assert_eq!((run.visits.len(), run.resumed.len()), (visits, 0), "{rest:?}");
    }
}

fn in_use() {
    let folder = cut_run();
    let held = fs::File::open(journal(folder.path())).unwrap();
    held.lock().unwrap();
    test_run(folder.path()).args(["--resume"]).run().exits(2).says(&["another run is writing it"]);
}

fn one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["run", "smoke", "--quick", "--budget", "100ms", "-q", "-f", SMALL, "-o", "out"];
    // Ours, or that of a run that goes on beside this trial: the next one is refused either way.
    let held = host::take().unwrap();
    let ended = Program::new(IPCMATRIX).args(arguments).folder(folder.path()).run().exits(1);
    let ended = ended.says(&["another run is measuring on this host", "nothing was run", "--no-lock"]);
    if held.is_ok() {
        ended.says(&[&format!("process {} of ", std::process::id())]);
    }
    assert_eq!(names(folder.path()), [""; 0]);
    Program::ipcmatrix(arguments).folder(folder.path()).run().exits(0);
    let test = ["run", "smoke", "--test", "-q", "-f", SMALL];
    Program::new(IPCMATRIX).args(test).folder(folder.path()).run().exits(0);
}

/// One run, ended at random moments and resumed until it is done, against one that nobody ended.
fn random(number: usize) {
    let seed = std::env::var("IPCMATRIX_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(rand_seed()) + number as u64);
    let mut moments = ChaCha8Rng::seed_from_u64(seed);
    let victim = Victim::new();
    let mut kills = Vec::new();
    let ended = loop {
        let signal = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGKILL][moments.random_range(0..3)];
        let after = match kills.len() {
            MOST_KILLS => UNDISTURBED,
            _ => Duration::from_millis(moments.random_range(0..LATEST_MS)),
        };
        match ended_at(&victim, seed, signal, after) {
            Some(ended) => break ended.exits(0),
            None => kills.push(format!("{signal} {} ms", after.as_millis())),
        }
    };
    let run = read_run(&victim.out()).unwrap();
    eprintln!(
        "resume: IPCMATRIX_SEED={seed}, {} kills, {} breaks: {kills:?}",
        kills.len(),
        run.resumed.len()
    );
    assert!(ended.stdout.contains("resumed") != run.resumed.is_empty(), "{}", ended.stdout);
    as_if_nobody_had_ended_it(&run, seed);
}

/// The run; it goes on where there is something to go on with.
fn small(victim: &Victim, seed: u64) -> Program {
    let has_begun = !names(&victim.out()).is_empty();
    Program::ipcmatrix(["run", "smoke", "-q", "--quick", "-f", SMALL, "--budget", BUDGET])
        .args(["--seed", &seed.to_string()])
        .args(has_begun.then_some("--resume"))
        .args(["-o"])
        .args([victim.out()])
        .env("TMPDIR", victim.folder.path().join("tmp"))
}

/// What came of the run where it ended by itself; else it was killed, and left nothing.
fn ended_at(victim: &Victim, seed: u64, signal: Signal, after: Duration) -> Option<Ended> {
    let mut running = small(victim, seed).start();
    let over = running.ends_within(after);
    let mark = running.mark();
    if !over {
        running.signal(signal);
    }
    let ended = running.end();
    victim.left_nothing(&mark);
    let by_us = [129, 130, 143].contains(&ended.code()) || ended.by_signal();
    (over || !by_us).then_some(ended)
}

/// The visits are those that the seed gives a run without a break: each once, in order, with the operations of the
/// cell's first visit.
fn as_if_nobody_had_ended_it(run: &Run, seed: u64) {
    let victim = Victim::new();
    small(&victim, seed).run().exits(0);
    let whole = read_run(&victim.out()).unwrap();
    // How many visits fit into the budget, and what rounds after those for everybody visit, depends on what was measured.
    let planned = |run: &Run| {
        let visits = run.visits.iter().filter(|visit| visit.round <= QUICK_ROUNDS);
        places(&visits.cloned().collect::<Vec<_>>())
    };
    let (ours, theirs) = (planned(run), planned(&whole));
    let common = ours.len().min(theirs.len());
    assert!(common > 0 && ours[..common] == theirs[..common], "{ours:?} {theirs:?}");
    let positions: Vec<u32> = run.visits.iter().map(|visit| visit.position).collect();
    assert_eq!(positions, (1..=run.visits.len() as u32).collect::<Vec<_>>());
    let reason = run.end.as_ref().unwrap().reason.as_str();
    assert!(["done", "budget"].contains(&reason), "{reason}");
    for cell in 0..run.header.cells.len() {
        let visits = run.visits.iter().filter(|visit| visit.cell_index == cell);
        let ops: Vec<(u64, bool)> = visits
            .map(|visit| match &visit.outcome {
                Outcome::Measured(measured) => (measured.ops, measured.calibrated),
                other => panic!("{}: {other:?}", visit.cell),
            })
            .collect();
        let kept = ops
            .iter()
            .enumerate()
            .all(|(nth, (ops_then, calibrated))| *ops_then == ops[0].0 && *calibrated == (nth == 0));
        assert!(kept, "cell {cell}: {ops:?}");
    }
}
