//! The metrics with their names, units and measures.

use super::{Metric, MetricSpec};
use crate::cell::Measure;

const EVERY: &[Measure] = Measure::ALL;
const BANDWIDTH: &[Measure] = &[Measure::Bandwidth];
const INCREMENT: &[Measure] = &[Measure::Increment];
const WAIT: &[Measure] = &[Measure::Wait];
const SERVE: &[Measure] = &[Measure::Serve];
const OPERATION: &[Measure] = &[Measure::Operation];
/// Those whose loop is timed without the operation too.
const WITH_TWIN: &[Measure] = &[Measure::Wait, Measure::Operation];
const APPEND: &[Measure] = &[Measure::Append];

/// Every metric.
pub const METRICS: &[MetricSpec] = &[
    spec(Metric::Figure, "figure", "", EVERY, None, "the figure of the measure (MB/s, us, seconds)"),
    spec(
        Metric::NsPerOp,
        "ns_per_op",
        "ns an operation",
        EVERY,
        Some(false),
        "elapsed time an operation of a worker",
    ),
    spec(
        Metric::OpsPerSecond,
        "ops_per_second",
        "operations/s",
        EVERY,
        Some(true),
        "messages, round trips, increments, operations or lines of all workers, or requests a second",
    ),
    spec(
        Metric::CpuNsPerOp,
        "cpu_ns_per_op",
        "CPU ns an operation",
        EVERY,
        Some(false),
        "CPU time of all workers an operation; nearly immune to noise",
    ),
    spec(
        Metric::MbPerCpuSecond,
        "mb_per_cpu_second",
        "MB a CPU second",
        BANDWIDTH,
        Some(true),
        "megabytes moved for a second of CPU time of both workers",
    ),
    spec(
        Metric::SwitchesPerOp,
        "switches_per_op",
        "context switches an operation",
        EVERY,
        Some(false),
        "voluntary and involuntary context switches of all workers an operation",
    ),
    spec(
        Metric::CallsPerMib,
        "calls_per_mib",
        "reads and writes a MiB",
        BANDWIDTH,
        Some(false),
        "system calls of both workers that moved a MiB",
    ),
    spec(
        Metric::Fairness,
        "fairness",
        "Jain's index of the workers' rates",
        INCREMENT,
        Some(true),
        "Jain's index of how soon each worker had done its increments: 1 when all end together; as one that is left alone speeds up, one after the other is 0.90 for 2 workers and 0.71 for 5, not 1/n",
    ),
    spec(
        Metric::LeastShare,
        "least_share",
        "% of the rates, slowest worker",
        INCREMENT,
        None,
        "share of the slowest, by how soon each worker had done its increments",
    ),
    spec(
        Metric::MostShare,
        "most_share",
        "% of the rates, fastest worker",
        INCREMENT,
        None,
        "share of the fastest, by how soon each worker had done its increments",
    ),
    spec(
        Metric::LostShare,
        "lost_share",
        "% of the updates lost",
        INCREMENT,
        Some(false),
        "increments that got lost, where there is no lock",
    ),
    spec(
        Metric::PercentOfMemoryCopy,
        "percent_of_memory_copy",
        "% of a memory copy",
        BANDWIDTH,
        Some(true),
        "bandwidth over that of one copy in memory at the same size, from the same run",
    ),
    spec(
        Metric::RawNsPerOp,
        "raw_ns_per_op",
        "ns an operation, loop included",
        WITH_TWIN,
        Some(false),
        "elapsed time an operation with the overhead of the loop left in",
    ),
    spec(
        Metric::OverheadNsPerOp,
        "overhead_ns_per_op",
        "ns an operation, loop alone",
        WITH_TWIN,
        Some(false),
        "time of the loop without the call; taken off other times where it is over 1 %",
    ),
    spec(
        Metric::NsPerDescriptor,
        "ns_per_descriptor",
        "ns a descriptor",
        WAIT,
        Some(false),
        "time of a call over the descriptors that are watched",
    ),
    spec(
        Metric::CpuSPer100000,
        "cpu_s_per_100000",
        "CPU seconds per 100,000 calls",
        WAIT,
        Some(false),
        "CPU time of 100,000 calls",
    ),
    spec(
        Metric::CallsPerSelectCall,
        "calls_per_select_call",
        "calls in the time of one call of the reference",
        WAIT,
        Some(true),
        "calls a second over those of the mechanism that the others are compared with, at the same place",
    ),
    spec(
        Metric::ServerCpuS,
        "server_cpu_s",
        "CPU seconds of the server per 40,000 requests",
        SERVE,
        Some(false),
        "CPU time of the server alone, scaled to 40,000 requests",
    ),
    spec(
        Metric::P50Us,
        "p50_us",
        "us, half of the requests",
        SERVE,
        Some(false),
        "half of the requests took no longer, from before the request is sent to after its reply came",
    ),
    spec(
        Metric::P99Us,
        "p99_us",
        "us, 99 of 100 requests",
        SERVE,
        Some(false),
        "99 of 100 requests took no longer, from before the request is sent to after its reply came",
    ),
    spec(
        Metric::PercentOfSingle,
        "percent_of_single",
        "% of a process that never had a second thread",
        OPERATION,
        None,
        "time of an operation over that of the same in a process that never had a second thread",
    ),
    spec(
        Metric::DrainedS,
        "drained_s",
        "seconds per 1,000,000 lines a worker, until drained",
        APPEND,
        Some(false),
        "time from the first line until the file had every line that was going to be there",
    ),
    spec(
        Metric::AppCpuPercent,
        "app_cpu_percent",
        "CPU % of the application",
        APPEND,
        None,
        "CPU time of the workers over the time until the last line was sent; 100 is one CPU",
    ),
    spec(
        Metric::DaemonCpuPercent,
        "daemon_cpu_percent",
        "CPU % of the daemon",
        APPEND,
        None,
        "CPU time of the daemon over the time until the file was complete; 100 is one CPU",
    ),
    spec(
        Metric::LostPercent,
        "lost_percent",
        "% of the lines lost",
        APPEND,
        Some(false),
        "lines that were logged and do not stand in the file",
    ),
    spec(
        Metric::Doubled,
        "doubled",
        "doubled lines a million",
        APPEND,
        Some(false),
        "lines that stand in the file again, of a million that were logged",
    ),
    spec(
        Metric::Reordered,
        "reordered",
        "reordered lines a million",
        APPEND,
        Some(false),
        "lines that stand behind a later one of the same worker, of a million that were logged",
    ),
    spec(
        Metric::Torn,
        "torn",
        "torn lines a million",
        APPEND,
        Some(false),
        "lines of the file that are no whole line, of a million that were logged",
    ),
];

const fn spec(
    metric: Metric,
    name: &'static str,
    unit: &'static str,
    measures: &'static [Measure],
    more_is_better: Option<bool>,
    help: &'static str,
) -> MetricSpec {
    MetricSpec { metric, name, unit, measures, more_is_better, help }
}
