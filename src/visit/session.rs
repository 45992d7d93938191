//! The coordinator's part: readiness, proof, calibration, warm-up, samples. It sleeps while a batch runs.

use super::control::{Answer, Control, Order, collect};
use super::placement::Placement;
use super::refusal::Refusal;
use crate::measure::calibrate::calibrate;
use crate::measure::clock::{Deadline, process_cpu_ns};
use crate::record::{Effort, Kind, Lead, Sample, Sampling, WorkerSample};
use crate::workload::{Batch, Proof, Tally, Workload};

/// What a session gives to [`super::figures`].
pub struct Figures {
    /// Operations a worker in each sample.
    pub ops: u64,
    /// Whether the session chose `ops`.
    pub calibrated: bool,
    /// Which number leads.
    pub lead: Lead,
    /// More workers than CPUs, and they wait for each other.
    pub oversubscribed: bool,
    /// Length that a sample was meant to have; 0 where the least batch is longer.
    pub target_ns: u64,
    /// The untimed pass.
    pub proofs: Vec<Proof>,
    /// The samples.
    pub samples: Vec<Sample>,
}

/// Fewest samples of a visit whose batches are longer than planned.
const FEWEST_SAMPLES: usize = 3;
/// A visit that has sampled this many times as long as planned takes no sample more than the fewest.
const LONGEST_SAMPLING: u64 = 2;

struct Session<'a> {
    crew: Crew<'a>,
    deadline: Deadline,
    total_ops: u64,
    /// What [`Workload::lost_updates`] said after the last batch.
    total_lost: Option<u64>,
}

/// What every cell of a visit is measured with.
#[derive(Clone, Copy)]
pub struct Crew<'a> {
    /// What the workers do.
    pub workload: &'a dyn Workload,
    /// Where they run.
    pub placement: &'a Placement,
    /// How they are told.
    pub controls: &'a [Control],
}

impl Crew<'_> {
    /// Lets the workers go.
    ///
    /// # Errors
    /// A worker that is gone already.
    pub fn dismiss(self) -> Result<(), Refusal> {
        self.order(&Order::Leave, "leave")
    }

    fn order(self, order: &Order, phase: &'static str) -> Result<(), Refusal> {
        for (worker, control) in self.controls.iter().enumerate() {
            // A worker that failed has closed its end but its last words are still there to be read.
            if let Err(error) = control.send(order)
                && *order == Order::Leave
            {
                return Err(Refusal::failed(phase, format!("worker {worker}: {error}")));
            }
        }
        Ok(())
    }
}

/// Waits until the workers are ready for the cell at that place among those that the workload was opened for, and at rest.
///
/// # Errors
/// Those of [`run`].
pub fn enter(crew: Crew, part: usize, deadline: Deadline) -> Result<(), Refusal> {
    let session = Session { crew, deadline, total_ops: 0, total_lost: None };
    if part > 0 {
        session.order(&Order::Take(part), "enter")?;
    }
    session.hear(&Answer::Ready, "enter")
}

/// Measures the cell that was entered over the control channels.
///
/// # Errors
/// The first worker that failed, died, or whose work does not verify; `deadline` when time is up.
pub fn run(
    crew: Crew,
    given_ops: Option<u64>,
    effort: &Effort,
    deadline: Deadline,
) -> Result<Figures, Refusal> {
    let Crew { workload, placement, .. } = crew;
    let mut session = Session { crew, deadline, total_ops: 0, total_lost: None };
    let cpus = placement.cpus().len();
    let kind = Kind::of(workload.contended(), workload.workers(), cpus);
    let sampling = effort.sampling(kind, workload.workers(), cpus);
    let sampling = Sampling { target_ns: sampling.target_ns.min(workload.longest_batch_ns()), ..sampling };
    let least = if effort.fill_channels { workload.least_ops() } else { 1 };
    let proofs = session.prove()?;
    let alone = workload.calls_before();
    let ops = match (alone, given_ops) {
        (Some(_), _) => 1,
        // What another arm of a comparison chose may be too little for the channel of this one.
        (None, Some(ops)) => ops.max(least),
        (None, None) => {
            let run = |ops| session.elapsed(ops, "warm-up");
            calibrate(sampling.target_ns, kind.parts_tried(), least, run)?
        }
    };
    workload.has_room(ops).map_err(Refusal::of_opening)?;
    // The book's untimed start is the untimed pass, so that its counts stay its counts.
    if !effort.exact && alone.is_none() {
        session.warm_up(kind.warm_up(ops), effort.warm_up_ns)?;
    }
    let samples = match alone {
        Some(before) => session.one_alone(before)?,
        None => session.samples(ops, sampling, effort.exact)?,
    };
    session.order(&Order::Conclude, "conclude")?;
    session.hear(&Answer::Concluded, "conclude")?;
    Ok(Figures {
        ops,
        calibrated: given_ops.is_none(),
        lead: match (effort.exact, kind == Kind::Additive && !workload.median_leads()) {
            (true, _) => Lead::Mean,
            (false, true) => Lead::Floor,
            (false, false) => Lead::Typ,
        },
        oversubscribed: kind == Kind::Oversubscribed,
        target_ns: if ops == least || effort.exact || alone.is_some() { 0 } else { sampling.target_ns },
        proofs,
        samples,
    })
}

impl Session<'_> {
    fn order(&self, order: &Order, phase: &'static str) -> Result<(), Refusal> {
        self.crew.order(order, phase)
    }

    fn collect(&self, phase: &'static str) -> Result<Vec<Answer>, Refusal> {
        let Crew { workload, controls, .. } = self.crew;
        let timed = (0..controls.len()).find(|worker| workload.timed(*worker)).unwrap_or(0);
        collect(controls, timed, self.deadline, phase)
    }

    /// Waits until every worker has said that.
    fn hear(&self, wanted: &Answer, phase: &'static str) -> Result<(), Refusal> {
        let said = |answer| (answer == *wanted).then_some(());
        expect(self.collect(phase)?, phase, said).map(drop)
    }

    fn prove(&self) -> Result<Vec<Proof>, Refusal> {
        self.order(&Order::Prove, "prove")?;
        let proofs = expect(self.collect("prove")?, "prove", |answer| match answer {
            Answer::Proved(proof) => Some(proof),
            _ => None,
        })?;
        self.crew.workload.verify_proof(&proofs).map_err(|error| Refusal::failed("prove", error))?;
        Ok(proofs)
    }

    /// One batch, verified.
    fn batch(&mut self, ops: u64, phase: &'static str) -> Result<Sample, Refusal> {
        let daemon_cpu_ns = || self.crew.workload.daemon().and_then(process_cpu_ns);
        let daemon_before_ns = daemon_cpu_ns();
        self.order(&Order::Run(ops), phase)?;
        let workers = expect(self.collect(phase)?, phase, |answer| match answer {
            Answer::Done(sample) => Some(sample),
            _ => None,
        })?;
        let daemon_cpu_ns = daemon_cpu_ns().zip(daemon_before_ns).map(|(after, before)| after - before);
        self.total_ops += ops;
        let tallies: Vec<Tally> = workers.iter().map(|worker| worker.tally).collect();
        let batch = Batch { ops, total_ops: self.total_ops, tallies: &tallies };
        self.crew.workload.verify(&batch).map_err(|error| Refusal::failed(phase, error))?;
        self.check_cpus(&workers, phase)?;
        Ok(Sample {
            elapsed_ns: self.elapsed_of(&workers),
            lost_updates: self.lost_updates(),
            delivery: self.crew.workload.delivery(),
            daemon_cpu_ns,
            workers,
        })
    }

    /// Updates that the last batch lost, where losing them is the result.
    fn lost_updates(&mut self) -> Option<u64> {
        let lost_before = self.total_lost.unwrap_or(0);
        self.total_lost = self.crew.workload.lost_updates(self.total_ops);
        self.total_lost.map(|lost| lost.saturating_sub(lost_before))
    }

    fn elapsed(&mut self, ops: u64, phase: &'static str) -> Result<u64, Refusal> {
        self.batch(ops, phase).map(|sample| sample.elapsed_ns)
    }

    /// Latest end less earliest begin over the timed workers; at least 1, so that it can divide.
    fn elapsed_of(&self, workers: &[WorkerSample]) -> u64 {
        let timed =
            || workers.iter().enumerate().filter(|(w, _)| self.crew.workload.timed(*w)).map(|(_, s)| s);
        let begin = timed().map(|sample| sample.begin_ns).min().unwrap_or(0);
        let end = timed().map(|sample| sample.end_ns).max().unwrap_or(0);
        end.saturating_sub(begin).max(1)
    }

    fn check_cpus(&self, workers: &[WorkerSample], phase: &'static str) -> Result<(), Refusal> {
        for (index, worker) in workers.iter().enumerate() {
            if let Some(cpu) = self.crew.placement.of(index)
                && worker.cpu != cpu
            {
                let text = format!("worker {index} was pinned to CPU {cpu} and ended on CPU {}", worker.cpu);
                return Err(Refusal::failed(phase, text));
            }
        }
        Ok(())
    }

    /// Runs batches for `least_ns`, one at least.
    fn warm_up(&mut self, ops: u64, least_ns: u64) -> Result<(), Refusal> {
        let mut spent = self.elapsed(ops, "warm-up")?;
        while spent < least_ns {
            spent += self.elapsed(ops, "warm-up")?;
        }
        Ok(())
    }

    /// One operation after so many others, each by itself.
    fn one_alone(&mut self, before: u64) -> Result<Vec<Sample>, Refusal> {
        for _ in 0..before {
            self.batch(1, "warm-up")?;
        }
        Ok(vec![self.batch(1, "sample")?])
    }

    /// The samples; fewer than planned where a batch takes much longer than the target, because the
    /// channel is large or because somebody else has the CPUs.
    fn samples(&mut self, ops: u64, sampling: Sampling, all: bool) -> Result<Vec<Sample>, Refusal> {
        let planned = sampling.samples as usize;
        let longest_ns = u64::from(sampling.samples) * sampling.target_ns * LONGEST_SAMPLING;
        let (mut samples, mut spent_ns) = (Vec::new(), 0);
        while samples.len() < planned && (all || spent_ns < longest_ns || samples.len() < FEWEST_SAMPLES) {
            let sample = self.batch(ops, "sample")?;
            spent_ns += sample.elapsed_ns;
            samples.push(sample);
        }
        Ok(samples)
    }
}

fn expect<T>(
    answers: Vec<Answer>,
    phase: &'static str,
    wanted: impl Fn(Answer) -> Option<T>,
) -> Result<Vec<T>, Refusal> {
    answers
        .into_iter()
        .enumerate()
        .map(|(worker, answer)| {
            let said = format!("worker {worker} answered out of turn: {answer:?}");
            wanted(answer).ok_or_else(|| Refusal::failed(phase, said))
        })
        .collect()
}
