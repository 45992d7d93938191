//! A run that is ended by a signal at any moment leaves nothing behind, and what it had is kept.

use crate::machine::{Need, eventually, leftovers};
use crate::program::{Ended, Program, Running, alive};
use crate::{cells, trial};
use ipcmatrix::report::load::{JOURNAL, read_run};
use libtest_mimic::Trial;
use nix::sys::signal::Signal;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Moments a signal.
const MOMENTS: usize = 10;
/// The run would take longer than the latest moment.
const BUDGET: &str = "20s";
const LATEST_MS: u64 = 1500;
/// The files of a report folder, beside the plots.
const FILES: [&str; 3] = ["README.md", "environment.json", JOURNAL];

pub fn trials() -> Vec<Trial> {
    let signals = [("interrupt", Signal::SIGINT), ("terminate", Signal::SIGTERM), ("kill", Signal::SIGKILL)];
    let at_random = signals.into_iter().flat_map(|(name, signal)| {
        (0..MOMENTS).map(move |moment| {
            trial(format!("kills::{name}_{moment}"), &[], move || at_a_random_moment(signal, moment))
        })
    });
    let of_two_arms = signals.map(|(name, signal)| {
        trial(format!("kills::{name}_between_two_arms"), &[], move || between_two_arms(signal))
    });
    let others = [
        trial("kills::a_kill_while_a_semaphore_gets_its_name", &[Need::Trace], while_a_name_is_given),
        trial("kills::a_second_interrupt_ends_it_at_once", &[], second_interrupt),
        trial("kills::a_signal_that_is_sent_twice_at_once_is_one", &[], twice_at_once),
        trial("kills::a_second_signal_of_another_kind_ends_it_too", &[], second_of_another_kind),
        trial("kills::a_signal_in_the_first_visit_gives_a_partial_report", &[], during_the_first_visit),
    ];
    at_random.chain(of_two_arms).chain(others).collect()
}

/// A run in folders of its own, and what the machine held before.
pub struct Victim {
    pub folder: tempfile::TempDir,
    before: Vec<String>,
}

impl Victim {
    pub fn new() -> Victim {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tmp")).unwrap();
        Victim { folder, before: leftovers() }
    }

    pub fn out(&self) -> std::path::PathBuf {
        self.folder.path().join("out")
    }

    /// The run; it has its own folder for temporary files.
    fn program(&self, matrix: &str) -> Program {
        self.measures(&["run", matrix])
    }

    /// What measures by these words, likewise.
    fn measures(&self, words: &[&str]) -> Program {
        Program::ipcmatrix(words.iter().chain(&["--budget", BUDGET, "-o"]))
            .args([self.out()])
            .env("TMPDIR", self.folder.path().join("tmp"))
            .folder(self.folder.path())
    }

    /// No process, object, queue or name of the run is left, and no file but those of a report.
    #[track_caller]
    pub fn left_nothing(&self, mark: &str) {
        eventually(|| {
            let new = leftovers().into_iter().filter(|thing| !self.before.contains(thing));
            let left: Vec<String> = alive(mark).into_iter().chain(new).collect();
            (!left.is_empty()).then(|| format!("left: {left:?}"))
        });
        assert_eq!(names(&self.folder.path().join("tmp")), [""; 0]);
        for name in names(&self.out()) {
            let documented = FILES.contains(&name.as_str()) || name.ends_with(".svg");
            assert!(documented, "{name} is none of the documented files");
        }
    }
}

pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn at_a_random_moment(signal: Signal, moment: usize) {
    let seed = std::env::var("IPCMATRIX_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| u64::from(rand_seed()) + moment as u64);
    let after = Duration::from_millis(ChaCha8Rng::seed_from_u64(seed).random_range(0..LATEST_MS));
    eprintln!("kills: {signal} after {after:?}, IPCMATRIX_SEED={seed}");
    let victim = Victim::new();
    let matrix = if moment.is_multiple_of(2) { "smoke" } else { "appendix" };
    let mut running = victim.program(matrix).start();
    assert!(!running.ends_within(after), "a run of {BUDGET} was over before the signal came");
    let (mark, began) = (running.mark(), victim.out().join(JOURNAL).exists());
    running.signal(signal);
    let ended = running.end();
    victim.left_nothing(&mark);
    match signal {
        Signal::SIGKILL => report_renders(&victim.out()),
        // Before the run begins nobody watches for signals, and nothing is there to be saved.
        _ if ended.by_signal() && !began => assert_eq!(names(&victim.out()), [""; 0]),
        _ => was_saved(&victim, ended, signal),
    }
}

/// Where both arms have visits and none of them has all.
fn between_two_arms(signal: Signal) {
    let victim = Victim::new();
    let words =
        ["ab", "smoke", "--a", "nodelay=off", "--b", "env:IPCMATRIX_X=1", "--rounds", "1000", "--no-lock"];
    let running = victim.measures(&words).start();
    let visits = || fs::read_to_string(victim.out().join(JOURNAL)).unwrap_or_default();
    eventually(|| (!visits().contains("\"arm\":\"b\"")).then(|| "arm b has no visit yet".to_owned()));
    let mark = running.mark();
    running.signal(signal);
    let ended = running.end();
    victim.left_nothing(&mark);
    match signal {
        Signal::SIGKILL => report_renders(&victim.out()),
        _ => was_saved(&victim, ended, signal),
    }
    let run = read_run(&victim.out()).unwrap();
    assert!(
        run.header.arms.is_some()
            && run.visits.len() >= 2
            && run.end.is_none_or(|end| end.reason != "rounds")
    );
}

/// A seed that nobody chose.
pub fn rand_seed() -> u32 {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap();
    now.subsec_nanos() ^ std::process::id()
}

/// Exit code, journal and report tell that the run is partial.
fn was_saved(victim: &Victim, ended: Ended, signal: Signal) {
    let (code, reason) = if signal == Signal::SIGINT { (130, "interrupted") } else { (143, "terminated") };
    let ended = ended.exits(code).prints(&["partial"]);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    let run = read_run(&victim.out()).unwrap();
    let end = run.end.expect("the journal has an end");
    assert_eq!((end.reason.as_str(), end.visits as usize), (reason, run.visits.len()));
    let readme = fs::read_to_string(victim.out().join("README.md")).unwrap();
    assert!(readme.contains("partial"), "{readme}");
    report_renders(&victim.out());
}

/// What is there is shown; where the run was killed before it wrote its header, that is told.
fn report_renders(out: &Path) {
    let journal = fs::read(out.join(JOURNAL)).unwrap_or_default();
    for format in ["text", "md", "csv", "html"] {
        let ended = Program::ipcmatrix(["report", "--format", format]).args([out]).run();
        if journal.contains(&b'\n') {
            assert!(!ended.exits(0).stdout.is_empty());
        } else {
            ended.exits(2).says(&["ipcmatrix: "]);
        }
    }
}

/// Waits until the run has begun.
fn begun(victim: &Victim) {
    let journal = victim.out().join(JOURNAL);
    let header = || fs::read(&journal).is_ok_and(|text| text.ends_with(b"\n"));
    eventually(|| (!header()).then(|| "the journal has no header yet".to_owned()));
}

/// A run that was told to end once and now waits for somebody to read its report; what nobody reads.
fn stuck_after(victim: &Victim, signal: Signal) -> (Running, String, std::io::PipeReader) {
    let (unread, stdout) = std::io::pipe().unwrap();
    let full = nix::fcntl::fcntl(&stdout, nix::fcntl::F_SETPIPE_SZ(4096)).unwrap();
    (&stdout).write_all(&vec![0; full as usize]).unwrap();
    let mut running = victim.program("smoke").stdout(stdout).start();
    begun(victim);
    let mark = running.mark();
    running.signal(signal);
    let end =
        || fs::read_to_string(victim.out().join(JOURNAL)).is_ok_and(|text| text.contains("\"kind\":\"end\""));
    eventually(|| (!end()).then(|| "the journal has no end yet".to_owned()));
    assert!(!running.ends_within(Duration::from_millis(200)), "it waits for a reader");
    (running, mark, unread)
}

fn second_interrupt() {
    let victim = Victim::new();
    let (running, mark, unread) = stuck_after(&victim, Signal::SIGINT);
    running.signal(Signal::SIGINT);
    let ended = running.end();
    drop(unread);
    victim.left_nothing(&mark);
    ended.exits(130);
}

/// As timeout(1) does: to the process and at once to its group.
fn twice_at_once() {
    let victim = Victim::new();
    let running = victim.program("smoke").start();
    begun(&victim);
    let mark = running.mark();
    running.signal(Signal::SIGTERM);
    running.signal(Signal::SIGTERM);
    let ended = running.end();
    victim.left_nothing(&mark);
    was_saved(&victim, ended, Signal::SIGTERM);
}

fn second_of_another_kind() {
    let victim = Victim::new();
    let (running, mark, unread) = stuck_after(&victim, Signal::SIGINT);
    running.signal(Signal::SIGTERM);
    let ended = running.end();
    drop(unread);
    victim.left_nothing(&mark);
    ended.exits(143);
}

fn during_the_first_visit() {
    let victim = Victim::new();
    let running = victim.program("smoke").start();
    begun(&victim);
    let mark = running.mark();
    // A process of a visit beside the coordinator.
    eventually(|| (alive(&mark).len() < 2).then(|| "no visit has begun yet".to_owned()));
    running.signal(Signal::SIGTERM);
    let ended = running.end();
    victim.left_nothing(&mark);
    was_saved(&victim, ended, Signal::SIGTERM);
}

/// The library makes a named semaphore under a name of its own choice and links it then; the program removes
/// the name as soon as it can. The moments between: the visit is killed at the first such call that it makes.
fn while_a_name_is_given() {
    let before = leftovers();
    let cell = cells::increment("posix_semaphore_named", 1, "processes", "same_cpu");
    let killed_there = [
        "-o",
        "/dev/null",
        "-e",
        "inject=link,linkat,unlink,unlinkat:signal=KILL",
        crate::program::IPCMATRIX,
        "cell",
    ];
    let request = serde_json::to_vec(&cells::request(&cell)).unwrap();
    let ended = Program::new("strace").args(killed_there).input(request).run();
    assert!(ended.by_signal(), "it was killed there: {ended:?}");
    eventually(|| {
        let new: Vec<String> = leftovers().into_iter().filter(|thing| !before.contains(thing)).collect();
        (!new.is_empty()).then(|| format!("left: {new:?}"))
    });
}
