//! One process a visit: this program again, with the hidden subcommand `cell`, in a process group of its own.

use super::Visitor;
use super::signals::{Caught, Signals};
use crate::cell::Cell;
use crate::measure::clock::Deadline;
use crate::record::{Outcome, Request, Unavailable};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// The file of this very program, even where somebody replaces it meanwhile. proc(5).
const OURSELVES: &str = "/proc/self/exe";
/// The visit itself gives up at its deadline and says where it hung; this is for one that cannot.
const GRACE_MS: u64 = 1000;
/// Looking at the machine takes milliseconds.
const PROBE_MS: u64 = 10_000;
/// An outcome is some kilobytes; a visit that says more than this is not heard out.
const MOST_BYTES: usize = 16 << 20;

/// Starts visits.
pub struct Processes<'a> {
    signals: &'a Signals,
}

impl<'a> Processes<'a> {
    /// Visits that end when a signal comes.
    pub fn new(signals: &'a Signals) -> Processes<'a> {
        Processes { signals }
    }
}

enum Heard {
    All(Vec<u8>),
    TooMuch,
    Late,
    Caught(Caught),
}

impl Visitor for Processes<'_> {
    fn visit(&mut self, request: &Request) -> Result<Outcome, Caught> {
        if let Some(caught) = self.signals.caught() {
            return Err(caught);
        }
        match ask(&["cell"], request, request.deadline_ms + GRACE_MS, self.signals) {
            Ok((Heard::Caught(caught), _)) => Err(caught),
            Ok((Heard::All(said), status)) => Ok(outcome(&said, status)),
            Ok((Heard::TooMuch, _)) => Ok(failed("visit", format!("said more than {MOST_BYTES} bytes"))),
            Ok((Heard::Late, _)) => {
                let text =
                    format!("the visit did not end in {} ms and was killed", request.deadline_ms + GRACE_MS);
                Ok(failed("deadline", text))
            }
            Err(error) => {
                Ok(failed("start", format!("the process of the visit could not be started: {error}")))
            }
        }
    }
}

/// Asks the machine which of the cells it refuses, and why. Measures nothing.
///
/// # Errors
/// Where the process that looks could not be started, or a signal came.
pub fn probe(cells: &[Cell]) -> anyhow::Result<Vec<Option<Unavailable>>> {
    let signals = Signals::watch()?;
    match ask(&["probe"], &cells, PROBE_MS, &signals)? {
        (Heard::All(said), status) if status.success() => Ok(serde_json::from_slice(&said)?),
        (Heard::Caught(caught), _) => anyhow::bail!("{}", caught.reason()),
        (_, status) => anyhow::bail!("the process that looks at the machine ended badly: {}", ended(status)),
    }
}

fn failed(phase: &str, error: String) -> Outcome {
    Outcome::Failed { phase: phase.into(), error }
}

fn outcome(said: &[u8], status: ExitStatus) -> Outcome {
    match serde_json::from_slice(said) {
        Ok(outcome) if status.success() => outcome,
        _ if !status.success() => {
            failed("visit", format!("the process of the visit ended badly: {}", ended(status)))
        }
        _ => {
            let text = String::from_utf8_lossy(&said[..said.len().min(80)]).into_owned();
            failed("visit", format!("the process of the visit did not print an outcome but {text:?}"))
        }
    }
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

/// Starts this program with those arguments, hands it the question, and hears it until it ends, is late,
/// or a signal comes. Whatever happens, its process group is gone afterwards.
fn ask(
    arguments: &[&str],
    question: &impl serde::Serialize,
    deadline_ms: u64,
    signals: &Signals,
) -> io::Result<(Heard, ExitStatus)> {
    let deadline = Deadline::after_ms(deadline_ms);
    let mut child = Command::new(OURSELVES)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let heard = tell(&mut child, question).and_then(|()| hear(&mut child, deadline, signals));
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

fn hear(child: &mut Child, deadline: Deadline, signals: &Signals) -> io::Result<Heard> {
    let mut output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut said = Vec::new();
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
        match output.read(&mut buffer)? {
            0 => return Ok(Heard::All(said)),
            got => said.extend_from_slice(&buffer[..got]),
        }
        if said.len() > MOST_BYTES {
            return Ok(Heard::TooMuch);
        }
    }
}
