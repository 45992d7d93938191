//! One process a visit: this program again, with the hidden subcommand `cell`, in a process group of its own.

use super::Visitor;
use super::machine::{Look, Machine, own_cpu_ns};
use super::signals::{Caught, Signals};
use crate::cell::Cell;
use crate::environment::counters::Watched;
use crate::measure::canary::canary_ns;
use crate::measure::clock::Deadline;
use crate::record::{Arm, Outcome, Request, Unavailable};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The file of this very program, even where somebody replaces it meanwhile. proc(5).
pub const OURSELVES: &str = "/proc/self/exe";
/// The visit itself gives up at its deadline and says where it hung; this is for one that cannot.
const GRACE_MS: u64 = 1000;
/// Looking at the machine takes milliseconds.
const PROBE_MS: u64 = 10_000;
/// An outcome is some kilobytes; a visit that says more than this is not heard out.
const MOST_BYTES: usize = 16 << 20;

/// How the process of a visit is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The file of the program: this one, or another that speaks the same.
    pub program: PathBuf,
    /// What its environment has beside that of this one, or in place of it.
    pub environment: Vec<(String, String)>,
}

impl Default for Launch {
    /// This very program, in its own environment.
    fn default() -> Launch {
        Launch { program: OURSELVES.into(), environment: Vec::new() }
    }
}

/// Starts visits.
pub struct Processes<'a> {
    signals: &'a Signals,
    watched: Watched,
    launches: [Launch; 2],
}

impl<'a> Processes<'a> {
    /// Visits that end when a signal comes.
    pub fn new(signals: &'a Signals) -> Processes<'a> {
        Processes::of_arms(signals, Default::default())
    }

    /// Likewise, where visits of arm a are started in the first way and those of arm b in the second.
    pub fn of_arms(signals: &'a Signals, launches: [Launch; 2]) -> Processes<'a> {
        Processes { signals, launches, watched: Watched::new(Path::new("/")) }
    }
}

enum Heard {
    /// To the end of the file.
    All,
    TooMuch,
    Late,
    Caught(Caught),
}

impl Machine for Processes<'_> {
    fn look(&mut self) -> Option<Look> {
        Some(Look { counters: self.watched.read(), own_cpu_ns: own_cpu_ns()? })
    }

    fn canary_ns(&mut self) -> Option<u64> {
        Some(canary_ns())
    }

    fn rest(&mut self, ms: u64) -> Result<(), Caught> {
        self.signals.rest(ms)
    }
}

impl Visitor for Processes<'_> {
    fn visit(&mut self, request: &Request, heard: &mut dyn FnMut(Outcome)) -> Result<(), Caught> {
        if let Some(caught) = self.signals.caught() {
            return Err(caught);
        }
        let patience_ms = request.deadline_ms * request.parts.len() as u64 + GRACE_MS;
        let mut listener = Listener::new(request.parts.len(), heard);
        let [of_a, of_b] = &self.launches;
        let launch = if request.arm == Some(Arm::B) { of_b } else { of_a };
        match ask(launch, "cell", request, patience_ms, self.signals, &mut |line| listener.hear(line)) {
            Ok((Heard::Caught(caught), _)) => return Err(caught),
            Ok((Heard::All, status)) => listener.end(status),
            Ok((Heard::TooMuch, _)) => listener.fail("visit", format!("said more than {MOST_BYTES} bytes")),
            Ok((Heard::Late, _)) => {
                listener
                    .fail("deadline", format!("the visit did not end in {patience_ms} ms and was killed"));
            }
            Err(error) => {
                listener.fail("start", format!("the process of the visit could not be started: {error}"));
            }
        }
        Ok(())
    }
}

/// Makes outcomes of the lines of a visit. The line of the last cell is held back until the process has ended well.
struct Listener<'a> {
    cells: usize,
    told: usize,
    held: Option<Outcome>,
    /// What was said instead of an outcome; nothing counts after that.
    nonsense: Option<String>,
    heard: &'a mut dyn FnMut(Outcome),
}

impl<'a> Listener<'a> {
    fn new(cells: usize, heard: &'a mut dyn FnMut(Outcome)) -> Listener<'a> {
        Listener { cells, told: 0, held: None, nonsense: None, heard }
    }

    fn hear(&mut self, line: &[u8]) {
        if self.nonsense.is_some() {
            return;
        }
        let outcome = serde_json::from_slice(line).ok().filter(|_| self.told < self.cells);
        let Some(outcome) = outcome else {
            let text = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            self.nonsense = Some(format!("the process of the visit did not print an outcome but {text:?}"));
            return;
        };
        self.told += 1;
        if self.told < self.cells {
            (self.heard)(outcome);
        } else {
            self.held = Some(outcome);
        }
    }

    /// The first cell that nothing was told of yet has failed; where there is none, the last one.
    fn fail(&mut self, phase: &str, error: String) {
        self.held = None;
        (self.heard)(failed(phase, error));
    }

    fn end(&mut self, status: ExitStatus) {
        if !status.success() {
            return self.fail("visit", format!("the process of the visit ended badly: {}", ended(status)));
        }
        match (self.nonsense.take(), self.held.take()) {
            (Some(nonsense), _) => self.fail("visit", nonsense),
            (None, Some(outcome)) => (self.heard)(outcome),
            (None, None) if self.told == 0 => {
                self.fail("visit", "the process of the visit did not print an outcome".into());
            }
            // It stopped at a cell that failed, which it has told of.
            (None, None) => {}
        }
    }
}

/// Asks the machine which of the cells it refuses, and why. Measures nothing.
///
/// # Errors
/// Where the process that looks could not be started, or a signal came.
pub fn probe(cells: &[Cell]) -> anyhow::Result<Vec<Option<Unavailable>>> {
    probe_by(&Launch::default(), cells, &Signals::watch()?)
}

/// Asks it by a process that is started in that way, with signals that are watched already.
///
/// # Errors
/// Likewise, and where what was started is no program of this kind.
pub fn probe_by(
    launch: &Launch,
    cells: &[Cell],
    signals: &Signals,
) -> anyhow::Result<Vec<Option<Unavailable>>> {
    let mut said = Vec::new();
    match ask(launch, "probe", &cells, PROBE_MS, signals, &mut |line| said.extend_from_slice(line))? {
        (Heard::All, status) if status.success() => Ok(serde_json::from_slice(&said)?),
        (Heard::Caught(caught), _) => anyhow::bail!("{}", caught.reason()),
        (_, status) => anyhow::bail!("the process that looks at the machine ended badly: {}", ended(status)),
    }
}

fn failed(phase: &str, error: String) -> Outcome {
    Outcome::Failed { phase: phase.into(), error }
}

fn ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => {
            Signal::try_from(signal).map_or(format!("signal {signal}"), |signal| signal.to_string())
        }
        _ => status.to_string(),
    }
}

/// Starts the program with that subcommand, hands it the question, and hears it line by line until it ends, is
/// late, or a signal comes. Whatever happens, its process group is gone afterwards.
fn ask(
    launch: &Launch,
    subcommand: &str,
    question: &impl serde::Serialize,
    deadline_ms: u64,
    signals: &Signals,
    line: &mut dyn FnMut(&[u8]),
) -> io::Result<(Heard, ExitStatus)> {
    let deadline = Deadline::after_ms(deadline_ms);
    let mut child = Command::new(&launch.program)
        .arg(subcommand)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let heard = tell(&mut child, question).and_then(|()| hear(&mut child, deadline, signals, line));
    // The leader is not reaped yet, so its number still names its group. Nobody left is what is wanted.
    let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
    let status = child.wait()?;
    Ok((heard?, status))
}

fn tell(child: &mut Child, question: &impl serde::Serialize) -> io::Result<()> {
    let mut input = child.stdin.take().ok_or(io::ErrorKind::BrokenPipe)?;
    match input.write_all(&serde_json::to_vec(question)?) {
        // It died before it read: how, its exit status tells.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

fn hear(
    child: &mut Child,
    deadline: Deadline,
    signals: &Signals,
    line: &mut dyn FnMut(&[u8]),
) -> io::Result<Heard> {
    let mut output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let (mut said, mut heard) = (Vec::new(), 0);
    let mut buffer = [0; 1 << 16];
    loop {
        let woken = signals.woken();
        let mut polled =
            [PollFd::new(output.as_fd(), PollFlags::POLLIN), PollFd::new(woken.as_fd(), PollFlags::POLLIN)];
        let left = i32::try_from(deadline.left_ms()).unwrap_or(i32::MAX);
        let ready = match poll(&mut polled, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)) {
            Ok(ready) => ready,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        let speaks = polled[0].any().unwrap_or(false);
        if let Some(caught) = signals.caught() {
            return Ok(Heard::Caught(caught));
        }
        if ready == 0 && deadline.left_ms() == 0 {
            return Ok(Heard::Late);
        }
        if !speaks {
            continue;
        }
        let got = output.read(&mut buffer)?;
        heard += got;
        match got {
            0 => {
                if !said.is_empty() {
                    line(&said);
                }
                return Ok(Heard::All);
            }
            _ => said.extend_from_slice(&buffer[..got]),
        }
        if buffer[..got].contains(&b'\n') {
            while let Some(end) = said.iter().position(|byte| *byte == b'\n') {
                line(&said.drain(..=end).collect::<Vec<u8>>());
            }
        }
        if heard > MOST_BYTES {
            return Ok(Heard::TooMuch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The phases of failures that come of those lines of a visit of so many cells, and `""` for what is measured or
    /// unavailable.
    fn phases(cells: usize, lines: &[&str], code: i32) -> Vec<String> {
        let mut phases = Vec::new();
        let mut heard = |outcome| match outcome {
            Outcome::Failed { phase, .. } => phases.push(phase),
            _ => phases.push(String::new()),
        };
        let mut listener = Listener::new(cells, &mut heard);
        lines.iter().for_each(|line| listener.hear(line.as_bytes()));
        listener.end(ExitStatus::from_raw(code << 8));
        phases
    }

    const REFUSED: &str = r#"{"outcome":"unavailable","reason":"r","remedy":"m"}"#;
    const FAILED: &str = r#"{"outcome":"failed","phase":"sample","error":"e"}"#;

    #[test]
    fn a_cell_counts_when_its_process_has_ended_well() {
        assert_eq!(phases(1, &[REFUSED], 0), [""]);
        assert_eq!(phases(1, &[REFUSED], 3), ["visit"]);
        assert_eq!(phases(1, &[], 0), ["visit"]);
        assert_eq!(phases(1, &["nonsense"], 0), ["visit"]);
        assert_eq!(phases(1, &[REFUSED, REFUSED], 0), ["visit"]);
    }

    #[test]
    fn of_several_cells_those_before_a_bad_end_count() {
        assert_eq!(phases(3, &[REFUSED; 3], 0), ["", "", ""]);
        assert_eq!(phases(3, &[REFUSED, FAILED], 0), ["", "sample"]);
        assert_eq!(phases(3, &[REFUSED, REFUSED], 9), ["", "", "visit"]);
        assert_eq!(phases(3, &[REFUSED; 3], 9), ["", "", "visit"]);
    }
}
