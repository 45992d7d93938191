//! The control channel between the coordinator and one worker: a pair of sequenced-packet sockets.
//! A worker that dies is an end of file, never a hang.

use super::refusal::Refusal;
use crate::measure::clock::Deadline;
use crate::record::WorkerSample;
use crate::workload::Proof;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockType, recv, send, socketpair};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// What a worker is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Do that many operations.
    Run(u64),
    /// Begin that cell of the visit.
    Take(usize),
    /// Do the untimed pass.
    Prove,
    /// See whether what must hold at the end does.
    Conclude,
    /// End.
    Leave,
}

/// What a worker answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// It is placed, and has entered or begun the next cell.
    Ready,
    /// It did its operations.
    Done(WorkerSample),
    /// It did the untimed pass.
    Proved(Proof),
    /// What must hold at the end does.
    Concluded,
    /// It could not; it ends.
    Failed(String),
}

/// Longest message; longer error texts are cut.
const MOST_BYTES: usize = 4096;
const MOST_ERROR_CHARACTERS: usize = 700;

/// One end of the channel.
#[derive(Debug)]
pub struct Control(OwnedFd);

impl Control {
    /// The coordinator's end and the worker's.
    ///
    /// # Errors
    /// socketpair(2): `EMFILE`.
    pub fn pair() -> io::Result<(Control, Control)> {
        let (ours, theirs) =
            socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC)?;
        Ok((Control(ours), Control(theirs)))
    }

    /// Sends an order or an answer.
    ///
    /// # Errors
    /// send(2): `EPIPE` when the other side is gone.
    pub fn send(&self, message: &impl Serialize) -> io::Result<()> {
        let text = serde_json::to_vec(message)?;
        send(self.0.as_raw_fd(), &text, MsgFlags::MSG_NOSIGNAL)?;
        Ok(())
    }

    /// Receives an order or an answer; `None` when the other side is gone.
    ///
    /// # Errors
    /// recv(2), or `InvalidData` when it is neither.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<Option<T>> {
        let mut buffer = [0; MOST_BYTES];
        let got = recv(self.0.as_raw_fd(), &mut buffer, MsgFlags::empty())?;
        if got == 0 {
            return Ok(None);
        }
        serde_json::from_slice(&buffer[..got]).map(Some).map_err(|_| {
            let said = String::from_utf8_lossy(&buffer[..got.min(60)]).into_owned();
            io::Error::new(io::ErrorKind::InvalidData, format!("not an answer: {said:?}"))
        })
    }
}

impl Answer {
    /// The answer of a worker that could not.
    pub fn failed(error: &impl ToString) -> Answer {
        Answer::Failed(error.to_string().chars().take(MOST_ERROR_CHARACTERS).collect())
    }
}

/// Waits for one answer of every worker, in their order.
///
/// Only the first that is missing may wake the coordinator by answering; of the others only an end
/// does, so that on a machine with few CPUs nobody is disturbed while others still run.
///
/// # Errors
/// The error of the first worker that failed, died or spoke nonsense; `deadline` when time is up.
pub fn collect(
    controls: &[Control],
    first_awaited: usize,
    deadline: Deadline,
    phase: &'static str,
) -> Result<Vec<Answer>, Refusal> {
    let mut answers: Vec<Option<Answer>> = vec![None; controls.len()];
    let order: Vec<usize> = (0..controls.len()).map(|i| (i + first_awaited) % controls.len()).collect();
    while let Some(awaited) = order.iter().copied().find(|worker| answers[*worker].is_none()) {
        let missing: Vec<usize> = order.iter().copied().filter(|worker| answers[*worker].is_none()).collect();
        for worker in wait(controls, &missing, awaited, deadline, phase)? {
            answers[worker] = Some(answer(controls, worker, phase)?);
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

/// The workers among `missing` that have something to say.
fn wait(
    controls: &[Control],
    missing: &[usize],
    awaited: usize,
    deadline: Deadline,
    phase: &'static str,
) -> Result<Vec<usize>, Refusal> {
    let events = |worker| if worker == awaited { PollFlags::POLLIN } else { PollFlags::empty() };
    let mut polled: Vec<PollFd> =
        missing.iter().map(|worker| PollFd::new(controls[*worker].0.as_fd(), events(*worker))).collect();
    loop {
        let left = i32::try_from(deadline.left_ms()).unwrap_or(i32::MAX);
        match poll(&mut polled, PollTimeout::try_from(left).unwrap_or(PollTimeout::MAX)) {
            Ok(0) if deadline.left_ms() == 0 => {
                let text = format!("worker {awaited} did not answer in time (phase {phase})");
                return Err(Refusal::failed("deadline", text));
            }
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => break,
            Err(error) => return Err(Refusal::failed(phase, error)),
        }
    }
    let spoke = |polled: &PollFd| polled.any().unwrap_or(true);
    Ok(missing.iter().zip(&polled).filter(|(_, polled)| spoke(polled)).map(|(worker, _)| *worker).collect())
}

fn answer(controls: &[Control], worker: usize, phase: &'static str) -> Result<Answer, Refusal> {
    match controls[worker].receive() {
        Ok(Some(Answer::Failed(error))) => Err(Refusal::failed(phase, format!("worker {worker}: {error}"))),
        Ok(Some(answer)) => Ok(answer),
        Ok(None) => Err(Refusal::failed(phase, format!("worker {worker} died"))),
        Err(error) => Err(Refusal::failed(phase, format!("worker {worker}: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(count: usize) -> (Vec<Control>, Vec<Control>) {
        (0..count).map(|_| Control::pair().unwrap()).unzip()
    }

    fn failure(result: Result<Vec<Answer>, Refusal>) -> (&'static str, String) {
        match result {
            Err(Refusal::Failed { phase, error }) => (phase, error),
            other => panic!("expected a failure, got {other:?}"),
        }
    }

    #[test]
    fn answers_come_back_in_the_order_of_the_workers() {
        let (ours, theirs) = pairs(3);
        for (worker, control) in theirs.iter().enumerate().rev() {
            let sample = WorkerSample { cpu: worker, ..WorkerSample::default() };
            control.send(&Answer::Done(sample)).unwrap();
        }
        let answers = collect(&ours, 1, Deadline::after_ms(5000), "sample").unwrap();
        let cpus: Vec<_> = answers.iter().map(|a| matches!(a, Answer::Done(s) if s.cpu < 3)).collect();
        assert_eq!(cpus, [true; 3]);
        assert!(matches!(answers[2], Answer::Done(sample) if sample.cpu == 2));
    }

    #[test]
    fn a_worker_that_dies_while_another_is_awaited_is_told() {
        let (ours, mut theirs) = pairs(2);
        drop(theirs.pop());
        let (phase, error) = failure(collect(&ours, 0, Deadline::after_ms(60_000), "sample"));
        assert_eq!((phase, error.as_str()), ("sample", "worker 1 died"));
    }

    #[test]
    fn a_worker_that_fails_and_ends_is_heard_though_another_hangs() {
        let (ours, mut theirs) = pairs(2);
        let failing = theirs.pop().unwrap();
        failing.send(&Answer::Failed("EMSGSIZE".into())).unwrap();
        drop(failing);
        let (_, error) = failure(collect(&ours, 0, Deadline::after_ms(60_000), "sample"));
        assert_eq!(error, "worker 1: EMSGSIZE");
    }

    #[test]
    fn nonsense_is_told_and_a_silent_worker_is_given_up() {
        let (ours, theirs) = pairs(1);
        send(theirs[0].0.as_raw_fd(), b"\xff{]", MsgFlags::empty()).unwrap();
        let (_, error) = failure(collect(&ours, 0, Deadline::after_ms(60_000), "sample"));
        assert!(error.contains("not an answer"), "{error}");
        let (phase, error) = failure(collect(&ours, 0, Deadline::after_ms(1), "warm-up"));
        assert_eq!((phase, error.as_str()), ("deadline", "worker 0 did not answer in time (phase warm-up)"));
    }
}
