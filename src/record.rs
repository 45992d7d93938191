//! The journal's lines: a header, then one line a visit, then an end. Versioned, raw, in base units.
//!
//! Everything that a report shows is derived from these. Numbers are finite; times are nanoseconds
//! on `CLOCK_MONOTONIC` unless the name says otherwise.

mod arms;
mod effort;
mod end;
mod gate;
mod noise;
mod request;
mod tampering;
mod written;

pub use crate::cell::Unavailable;
use crate::cell::{Axis, Cell, Measure, Value};
use crate::workload::{Delivery, Effective, Proof, Tally};
pub use arms::{Arm, Arms};
pub use effort::{Effort, Kind, Sampling};
pub use end::{End, Resumed};
pub use gate::{Gate, Limit};
pub use noise::Noise;
pub use request::{Moved, Part, Request};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use tampering::{INJECTED, INJECTED_FLAG, Tampering};
pub use written::line as written_line;

/// The version that every line carries.
pub const SCHEMA: &str = "ipcmatrix.record.v1";

/// One line of `records.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Header(Box<Header>),
    /// One visit of one cell.
    Visit(Box<Visit>),
    /// The last line; missing where the run was killed.
    End(End),
    /// The run goes on here after a break.
    Resumed(Resumed),
}

/// A line with the version in front.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Versioned {
    /// The version of the document.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: String,
    /// The line.
    #[serde(flatten)]
    pub line: Line,
}

/// What was going to be run, and how.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// Version of the program.
    pub version: String,
    /// The matrices that were named, e.g. `appendix`.
    pub matrices: Vec<String>,
    /// CRC-32 of the expanded cells and tables, in hexadecimal: which matrix this was.
    pub matrix_crc32: String,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// `default`, `quick`, `thorough`, `exact` or `test`.
    pub effort: String,
    /// Seed of the order of visits.
    pub seed: u64,
    /// Seconds that sampling may take.
    pub budget_s: f64,
    /// Half-width of the 95 % interval at which a cell is done, as a fraction.
    pub precision: f64,
    /// When the run began, RFC 3339 in UTC.
    pub started: String,
    /// The class of the machine, as eight hexadecimal digits, and what it stands for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_class: Option<[String; 2]>,
    /// The CPUs that the run may use, ascending; empty where that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_cpus: Vec<u32>,
    /// CRC-32 of the program's file, in hexadecimal: only the same one may resume the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_crc32: Option<String>,
    /// CRC-32 of `started` and the kernel's random number of the boot, in hexadecimal. random(4). It tells whether another
    /// run was made in the same boot only to who knows that number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot_crc32: Option<String>,
    /// The two arms, where the run compares some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arms: Option<Arms>,
    /// Every table.
    pub tables: Vec<Table>,
    /// Every cell of every table, each once.
    pub cells: Vec<PlannedCell>,
    /// What must hold of some of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<Gate>,
}

/// A table of a matrix: a projection of cells on a row and a column axis.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Table {
    /// Its short name, e.g. `A.2`.
    pub id: String,
    /// Its heading.
    pub title: String,
    /// What it shows.
    pub measure: Measure,
    /// The axis whose values are rows.
    pub row: Axis,
    /// The axis whose values are columns.
    pub column: Axis,
    /// Axes for each of whose values the table is printed apart.
    pub split: Vec<Axis>,
    /// Lines printed below the table.
    pub notes: Vec<String>,
    /// Published tables that may stand beside it, e.g. `A.2`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<String>,
    /// What it shows in place of the figure of the measure, by the name of the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Every axis that the matrix names for this table, with its values in order.
    pub axes: Vec<(Axis, Vec<Value>)>,
    /// Its cells: positions in [`Header::cells`].
    pub cells: Vec<usize>,
}

/// A cell of the matrix, and why it cannot be run where that is known beforehand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedCell {
    /// The cell.
    pub cell: Cell,
    /// Set where no visit will be made.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub unavailable: Option<Unavailable>,
}

/// One fresh process that opened one cell and took a few samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Visit {
    /// The cell: its position in [`Header::cells`].
    pub cell_index: usize,
    /// The cell itself, as requested.
    pub cell: Cell,
    /// Round, from 1.
    pub round: u32,
    /// Position of the visit in the run, from 1.
    pub position: u32,
    /// Begin of the visit, nanoseconds since the run began, without the breaks before it was resumed.
    pub begin_ns: u64,
    /// Duration of the whole visit, process start and end included.
    pub duration_ns: u64,
    /// Whether the round took fewer samples a visit, for want of time.
    #[serde(default)]
    pub thrifty: bool,
    /// The arm that it belongs to, in a run of two arms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<Arm>,
    /// What disturbed it; with the first visit of each process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// What came of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// What came of a visit. The hidden subcommand `cell` prints one as a line for each cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// Figures, each of them verified.
    Measured(Box<Measured>),
    /// The machine or the kernel refuses the cell.
    Unavailable(Unavailable),
    /// It ought to have worked and did not; nothing of it is used.
    Failed {
        /// What was being done: `start`, `open`, `enter`, `prove`, `warm-up`, `sample`, `conclude`, `leave`,
        /// `deadline`, `ping-pong`.
        phase: String,
        /// What went wrong.
        error: String,
    },
}

/// Which of a visit's numbers leads: fixed by the kind of cell, before measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lead {
    /// The minimum: interference can only add time (one worker, or a transport on one CPU).
    Floor,
    /// The median: interference can also help (two CPUs, contended locks).
    Typ,
    /// The mean, as the book has it (`--exact`).
    Mean,
}

/// The figures of a visit that verified.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Operations a worker in each sample.
    pub ops: u64,
    /// Whether this visit chose `ops`; else they were given.
    pub calibrated: bool,
    /// Which number leads.
    pub lead: Lead,
    /// Minimum over the samples of elapsed time an operation.
    pub floor_ns: f64,
    /// Median over the samples of elapsed time an operation.
    pub typ_ns: f64,
    /// Median over the samples of the CPU time of all workers an operation.
    pub cpu_ns: f64,
    /// Whether more workers ran than CPUs were given.
    pub oversubscribed: bool,
    /// Stable words for what a reader should know, e.g. `n_drift`.
    pub flags: Vec<String>,
    /// Nanoseconds in which a cache line went from one CPU of the visit to the other and back, right before this
    /// cell was measured and right after; where workers were pinned to two CPUs. Also where the visit was to several cells.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ping_pong_ns: Option<[f64; 2]>,
    /// Nanoseconds that arithmetic of independent steps took on the CPUs of the visit, on the slowest of them, right before this cell was
    /// measured and right after; where workers were pinned. Longer where another thread uses the core.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub whole_core_ns: Option<[u64; 2]>,
    /// Nanoseconds that arithmetic of dependent steps took there at the same moments: longer where the clock is slower, whoever uses the core.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dependent_ns: Option<[u64; 2]>,
    /// Why workers that share a CPU were on another one than the last that they may use.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub moved: Option<Moved>,
    /// What the loop cost, where the workload has a twin; not subtracted from the numbers above.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub overhead: Option<Overhead>,
    /// Parameters in force.
    pub effective: Effective,
    /// The untimed pass, a worker each; empty for measures that prove themselves in each sample.
    pub proofs: Vec<Proof>,
    /// The raw samples.
    #[serde(deserialize_with = "written::fitting")]
    pub samples: Vec<Sample>,
}

/// How many times as long as its workers worked a visit takes, from which on something else had their CPU.
pub const DILATED: f64 = 1.05;

/// Samples that last less than this together say nothing of the CPU time: single calls.
const LEAST_DILATION_NS: u64 = 1_000_000;

impl Visit {
    /// The CPU that its workers were pinned to and shared.
    pub fn shared_cpu(&self) -> Option<usize> {
        let Outcome::Measured(measured) = &self.outcome else { return None };
        measured.one_cpu().filter(|_| self.cell.word(Axis::Placement) == "same_cpu")
    }

    /// Elapsed time over the CPU time of all workers, where one of them is at work at any time: one worker, or several that take
    /// turns on one CPU. A log waits for its file or daemon by design.
    pub fn dilation(&self) -> Option<f64> {
        let Outcome::Measured(measured) = &self.outcome else { return None };
        let additive = measured.lead == Lead::Floor && self.cell.measure() != Some(Measure::Append);
        let elapsed_ns: u64 = measured.samples.iter().map(|sample| sample.elapsed_ns).sum();
        let worked = measured.samples.iter().flat_map(|sample| &sample.workers).map(|worker| worker.cpu_ns);
        (additive && elapsed_ns >= LEAST_DILATION_NS).then(|| elapsed_ns as f64 / worked.sum::<u64>() as f64)
    }
}

impl Measured {
    /// The CPU on which all workers ended every sample, where it is one.
    pub fn one_cpu(&self) -> Option<usize> {
        let mut cpus = self.samples.iter().flat_map(|sample| &sample.workers).map(|worker| worker.cpu);
        let first = cpus.next()?;
        cpus.all(|cpu| cpu == first).then_some(first)
    }

    fn mean_ns(&self) -> f64 {
        let elapsed: u64 = self.samples.iter().map(|sample| sample.elapsed_ns).sum();
        elapsed as f64 / (self.samples.len() as f64 * self.ops as f64)
    }

    /// Nanoseconds an operation by the number that leads.
    pub fn lead_ns(&self) -> f64 {
        match self.lead {
            Lead::Floor => self.floor_ns,
            Lead::Typ => self.typ_ns,
            Lead::Mean => self.mean_ns(),
        }
    }

    /// Updates that got lost over those that were made, in all samples: from 0 to 1. `None` where the cell
    /// has nothing to lose.
    pub fn lost_share(&self) -> Option<f64> {
        let lost: u64 = self.samples.iter().map(|sample| sample.lost_updates).sum::<Option<u64>>()?;
        let made: u64 = self.samples.iter().map(|sample| self.ops * sample.workers.len() as u64).sum();
        (made > 0).then(|| lost as f64 / made as f64)
    }

    /// Lines that got lost over those that were to be logged, in all samples: from 0 to 1. `None` where the cell
    /// logs nothing.
    pub fn lost_lines_share(&self) -> Option<f64> {
        let all: Vec<Delivery> = self.samples.iter().map(|sample| sample.delivery).collect::<Option<_>>()?;
        let lost: u64 = all.iter().map(|delivery| delivery.lost).sum();
        let attempted: u64 = all.iter().map(|delivery| delivery.attempted).sum();
        (attempted > 0).then(|| lost as f64 / attempted as f64)
    }
}

/// One batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sample {
    /// Latest end less earliest begin over the timed workers.
    pub elapsed_ns: u64,
    /// Increments of all workers that got lost, where nothing prevents that and the loss is the result.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lost_updates: Option<u64>,
    /// What came of the lines that were logged.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delivery: Option<Delivery>,
    /// CPU time of the process that works for the workers, until it had dealt with everything.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub daemon_cpu_ns: Option<u64>,
    /// Each worker's part.
    #[serde(deserialize_with = "written::fitting")]
    pub workers: Vec<WorkerSample>,
}

/// One worker's part of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct WorkerSample {
    /// `CLOCK_MONOTONIC` when the worker began.
    pub begin_ns: u64,
    /// `CLOCK_MONOTONIC` when it had done its operations.
    pub end_ns: u64,
    /// `CLOCK_MONOTONIC` when what the worker had handed over was dealt with, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub drained_ns: Option<u64>,
    /// CPU time that the worker's thread used in between (`CLOCK_THREAD_CPUTIME_ID`).
    pub cpu_ns: u64,
    /// Voluntary context switches in between (`ru_nvcsw`).
    pub voluntary_switches: u64,
    /// Involuntary context switches in between (`ru_nivcsw`).
    pub involuntary_switches: u64,
    /// Time that the worker's thread was ready and waited for a CPU in between (`/proc/thread-self/schedstat`). On
    /// one CPU that is waiting for the other workers too, not only for other programs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub run_delay_ns: Option<u64>,
    /// The CPU it was on at the end.
    pub cpu: usize,
    /// What the loop without the operation took, where the workload has one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub twin: Option<Twin>,
    /// What it moved.
    #[serde(flatten)]
    pub tally: Tally,
}

/// The loop of a batch without the operation, in the same visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Twin {
    /// Time that it took.
    pub elapsed_ns: u64,
    /// CPU time that it used.
    pub cpu_ns: u64,
}

/// What the loop around the operations cost, by the number that leads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Overhead {
    /// Time of the loop without the operation, for each that it left out.
    pub twin_ns: f64,
    /// CPU time likewise.
    pub twin_cpu_ns: f64,
    /// The number that leads, less that. Not above 0: below resolution.
    pub net_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(lost_updates: Option<u64>) -> Sample {
        Sample { elapsed_ns: 7, lost_updates, workers: vec![WorkerSample::default(); 2], ..Sample::default() }
    }

    fn measured(samples: Vec<Sample>) -> Measured {
        Measured {
            ops: 50,
            calibrated: false,
            lead: Lead::Typ,
            floor_ns: 1.0,
            typ_ns: 1.0,
            cpu_ns: 1.0,
            oversubscribed: false,
            flags: Vec::new(),
            overhead: None,
            ping_pong_ns: None,
            whole_core_ns: None,
            dependent_ns: None,
            moved: None,
            effective: Effective::new(),
            proofs: Vec::new(),
            samples,
        }
    }

    #[test]
    fn the_lost_share_is_over_the_updates_of_all_workers_and_samples() {
        assert_eq!(measured(vec![sample(Some(10)), sample(Some(30))]).lost_share(), Some(0.2));
        assert_eq!(measured(vec![sample(Some(0))]).lost_share(), Some(0.0));
        assert_eq!(measured(vec![sample(None)]).lost_share(), None);
        assert_eq!(measured(Vec::new()).lost_share(), None);
    }

    #[test]
    fn a_sample_that_can_lose_nothing_does_not_mention_it() {
        let plain = serde_json::to_string(&sample(None)).unwrap();
        assert!(!plain.contains("lost"), "{plain}");
        for sample in [sample(None), sample(Some(3))] {
            let text = serde_json::to_string(&sample).unwrap();
            assert_eq!(serde_json::from_str::<Sample>(&text).unwrap(), sample);
        }
    }
}
