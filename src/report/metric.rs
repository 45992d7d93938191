//! What a table may show of its cells beside the figure of the measure: `report --metric NAME`.
//!
//! Each metric is one number a visit, from the samples that the visit keeps; the figure of a cell is the
//! median over its visits, as always.

mod table;

pub use table::METRICS;

use super::cells::{LINE_SCALE, REQUEST_SCALE, measure_unit, measure_value};
use super::net::Off;
use super::samples::{
    a_million, calls, cpu_ns, daemon_cpu_ns, drained_ns, jain, moved_bytes, rates, request_us, server_cpu_ns,
    share, switches,
};
use crate::cell::{Axis, Cell, Measure};
use crate::measure::stats::median;
use crate::record::{Measured, Sample};

/// What a table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// The figure of the measure.
    #[default]
    Figure,
    /// Elapsed nanoseconds an operation of a worker.
    NsPerOp,
    /// Operations of all workers a second.
    OpsPerSecond,
    /// Nanoseconds of CPU time of all workers an operation of any of them.
    CpuNsPerOp,
    /// Megabytes moved for a second of CPU time of both workers.
    MbPerCpuSecond,
    /// Context switches of all workers, voluntary and involuntary, an operation of any of them.
    SwitchesPerOp,
    /// Reads and writes of both workers for a MiB moved.
    CallsPerMib,
    /// Jain's index of the workers' rates from the common begin: 1 when all end together. Every worker does the same
    /// number, so one after the other gives 0.90 for 2 workers and 0.71 for 5, and never 1/n.
    Fairness,
    /// The slowest worker's share of the sum of the workers' rates, in percent.
    LeastShare,
    /// The fastest worker's share, in percent.
    MostShare,
    /// Updates that got lost for want of a lock, in percent of those that were made.
    LostShare,
    /// Bandwidth over that of one copy of the same bytes in memory by one worker, in percent.
    PercentOfMemoryCopy,
    /// Elapsed nanoseconds an operation, the loop around it included.
    RawNsPerOp,
    /// Nanoseconds an operation that the loop took without it.
    OverheadNsPerOp,
    /// Nanoseconds of a call for each descriptor that is watched.
    NsPerDescriptor,
    /// Seconds of CPU time for 100,000 calls.
    CpuSPer100000,
    /// Calls made in the time that the reference mechanism takes for one, at the same place.
    CallsPerSelectCall,
    /// Seconds of CPU time of the server per 40,000 requests.
    ServerCpuS,
    /// Microseconds that half of the requests took at most.
    P50Us,
    /// Microseconds that 99 of 100 requests took at most.
    P99Us,
    /// Nanoseconds an operation over those of the same in a process that never had a second thread, in percent.
    PercentOfSingle,
    /// Seconds until the file of a log was complete, per 1,000,000 lines a worker.
    DrainedS,
    /// CPU time of the workers over the time until the last line was sent, in percent.
    AppCpuPercent,
    /// CPU time of the daemon over the time until the file was complete, in percent.
    DaemonCpuPercent,
    /// Lines that got lost, in percent of those that were logged.
    LostPercent,
    /// Lines that stand in the file again, of a million.
    Doubled,
    /// Lines behind a later one of the same worker, of a million.
    Reordered,
    /// Lines of the file that are no whole line, of a million.
    Torn,
}

/// One row of the metric table.
pub struct MetricSpec {
    /// The metric.
    pub metric: Metric,
    /// Its name on the command line.
    pub name: &'static str,
    /// Its unit in headings; empty where it is the measure's.
    pub unit: &'static str,
    /// Measures that it can be had of.
    pub measures: &'static [Measure],
    /// Whether more is better, where one can say so.
    pub more_is_better: Option<bool>,
    /// One line for `ipcmatrix list metrics`.
    pub help: &'static str,
}

impl Metric {
    /// Its row in [`METRICS`].
    pub fn spec(self) -> &'static MetricSpec {
        METRICS.iter().find(|spec| spec.metric == self).unwrap_or(&METRICS[0])
    }

    /// The metric of that name.
    pub fn named(name: &str) -> Option<Metric> {
        METRICS.iter().find(|spec| spec.name == name).map(|spec| spec.metric)
    }

    /// Whether nothing is taken off for the loop: it belongs into the metric, or the metric is no time.
    pub fn is_raw(self) -> bool {
        matches!(self, Metric::RawNsPerOp | Metric::OverheadNsPerOp | Metric::SwitchesPerOp)
    }

    /// Whether it is a percentile of the requests of a batch.
    pub fn is_percentile(self) -> bool {
        matches!(self, Metric::P50Us | Metric::P99Us)
    }

    /// Whether it is a share, or compares mechanisms with one another, so that it is no speed of its own.
    pub fn is_ratio(self) -> bool {
        use Metric::{AppCpuPercent, CallsPerSelectCall, DaemonCpuPercent, LostPercent};
        matches!(self, CallsPerSelectCall | AppCpuPercent | DaemonCpuPercent | LostPercent)
            || matches!(self, Metric::PercentOfMemoryCopy | Metric::PercentOfSingle)
    }

    /// Whether it is made of CPU time; else it is of elapsed time, or of none.
    pub fn is_of_cpu(self) -> bool {
        use Metric::{CpuNsPerOp, CpuSPer100000, MbPerCpuSecond, ServerCpuS};
        matches!(self, CpuNsPerOp | CpuSPer100000 | MbPerCpuSecond | ServerCpuS)
    }

    /// The unit in the heading of a table of that measure.
    pub fn unit(self, measure: Measure) -> &'static str {
        match self {
            Metric::Figure => measure_unit(measure),
            _ => self.spec().unit,
        }
    }

    /// Whether more is better in a table of that measure, where one can say so.
    pub fn more_is_better(self, measure: Measure) -> Option<bool> {
        match self {
            Metric::Figure => Some(measure == Measure::Bandwidth),
            _ => self.spec().more_is_better,
        }
    }

    /// What a rate is over nanoseconds an operation: rates are inverted after the median.
    pub fn rate_scale(self, cell: &Cell, measured: &[&Measured]) -> Option<f64> {
        let workers = measured.first()?.samples.first()?.workers.len() as f64;
        match self {
            Metric::OpsPerSecond if counts_each_worker(cell) => Some(workers * 1e9),
            Metric::OpsPerSecond => Some(1e9),
            Metric::PercentOfMemoryCopy => Some(measure_value(cell, 1.0)),
            _ => None,
        }
    }

    /// The number of one visit, less its loop where that is taken off; `None` where the metric cannot be had of it, or
    /// only of all visits together.
    pub fn of(self, cell: &Cell, measured: &Measured, off: Off) -> Option<f64> {
        let lead_ns = measured.lead_ns() - off.ns;
        let workers = measured.samples.first()?.workers.len() as f64;
        let many = if counts_each_worker(cell) { workers } else { 1.0 };
        let over_samples =
            |of: &dyn Fn(&Sample) -> f64| median(&measured.samples.iter().map(of).collect::<Vec<f64>>());
        let all_ops = measured.ops as f64 * many;
        match self {
            // The figure and rates are made of the time after its median over the visits.
            Metric::Figure | Metric::OpsPerSecond | Metric::PercentOfMemoryCopy => None,
            Metric::NsPerOp => Some(lead_ns),
            Metric::CpuNsPerOp => over_samples(&|sample| cpu_ns(sample) / all_ops - off.cpu_ns),
            Metric::MbPerCpuSecond => {
                over_samples(&|sample| moved_bytes(cell, measured) * 1e3 / cpu_ns(sample))
            }
            Metric::SwitchesPerOp => over_samples(&|sample| switches(sample) / all_ops),
            // None are counted where the bytes move in memory, or inside a library.
            Metric::CallsPerMib => over_samples(&|sample| calls(sample) * MIB / moved_bytes(cell, measured))
                .filter(|calls| *calls > 0.0),
            Metric::Fairness if workers > 1.0 => over_samples(&|sample| jain(&rates(sample))),
            Metric::LeastShare if workers > 1.0 => {
                over_samples(&|sample| 100.0 * share(&rates(sample), f64::min))
            }
            Metric::MostShare if workers > 1.0 => {
                over_samples(&|sample| 100.0 * share(&rates(sample), f64::max))
            }
            Metric::LostShare => measured.lost_share().map(|share| 100.0 * share),
            Metric::RawNsPerOp | Metric::CallsPerSelectCall | Metric::PercentOfSingle => Some(lead_ns),
            Metric::OverheadNsPerOp => measured.overhead.map(|overhead| overhead.twin_ns),
            Metric::NsPerDescriptor => Some(lead_ns / cell.count(Axis::Descriptors) as f64),
            Metric::CpuSPer100000 => {
                over_samples(&|sample| (cpu_ns(sample) / all_ops - off.cpu_ns) * 1e5 / 1e9)
            }
            Metric::ServerCpuS => {
                over_samples(&|sample| server_cpu_ns(sample) / measured.ops as f64 * REQUEST_SCALE)
            }
            Metric::P50Us => over_samples(&|sample| request_us(sample, |tally| tally.request_p50_ns)),
            Metric::P99Us => over_samples(&|sample| request_us(sample, |tally| tally.request_p99_ns)),
            Metric::DrainedS => over_samples(&|sample| drained_ns(sample) / measured.ops as f64 * LINE_SCALE),
            Metric::AppCpuPercent => {
                over_samples(&|sample| 100.0 * cpu_ns(sample) / sample.elapsed_ns as f64)
            }
            Metric::DaemonCpuPercent => {
                over_samples(&|sample| 100.0 * daemon_cpu_ns(sample) / drained_ns(sample))
            }
            Metric::LostPercent => measured.lost_lines_share().map(|share| 100.0 * share),
            Metric::Doubled => over_samples(&|sample| a_million(sample, |lines| lines.doubled)),
            Metric::Reordered => over_samples(&|sample| a_million(sample, |lines| lines.reordered)),
            Metric::Torn => over_samples(&|sample| a_million(sample, |lines| lines.torn)),
            Metric::Fairness | Metric::LeastShare | Metric::MostShare => None,
        }
        .filter(|value| value.is_finite())
    }
}

const MIB: f64 = 1_048_576.0;

fn counts_each_worker(cell: &Cell) -> bool {
    cell.measure().is_some_and(Measure::counts_each_worker)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::METRIC_NAMES;
    use crate::record::{Lead, WorkerSample};
    use crate::workload::{Delivery, Tally};

    fn sample(durations_ns: &[u64]) -> Sample {
        let worker = |duration: &u64| WorkerSample {
            begin_ns: 1000,
            end_ns: 1000 + duration,
            cpu_ns: duration / 2,
            voluntary_switches: 3,
            involuntary_switches: 1,
            cpu: 0,
            tally: Tally::moved(2_097_152, 100),
            ..WorkerSample::default()
        };
        Sample {
            elapsed_ns: durations_ns.iter().copied().max().unwrap_or(1),
            workers: durations_ns.iter().map(worker).collect(),
            ..Sample::default()
        }
    }

    fn visit(durations_ns: &[u64], ops: u64) -> Measured {
        Measured {
            ops,
            calibrated: false,
            lead: Lead::Typ,
            floor_ns: 10.0,
            typ_ns: 20.0,
            cpu_ns: 0.0,
            oversubscribed: false,
            flags: Vec::new(),
            overhead: None,
            ping_pong_ns: None,
            whole_core_ns: None,
            dependent_ns: None,
            moved: None,
            effective: Default::default(),
            proofs: Vec::new(),
            samples: vec![sample(durations_ns)],
        }
    }

    /// The number of a visit from which nothing is taken off.
    fn of(metric: Metric, cell: &Cell, visit: &Measured) -> Option<f64> {
        metric.of(cell, visit, Off::default())
    }

    fn near(got: Option<f64>, wanted: f64) {
        let got = got.expect("the metric can be had");
        assert!((got - wanted).abs() < 1e-9 * wanted.abs().max(1.0), "{got} is not {wanted}");
    }

    #[test]
    fn every_metric_has_a_name_of_its_own() {
        let names: Vec<&str> = METRICS.iter().map(|spec| spec.name).collect();
        assert_eq!(names, METRIC_NAMES);
        for spec in METRICS {
            assert_eq!(Metric::named(spec.name), Some(spec.metric));
            assert_eq!(spec.metric.spec().name, spec.name);
        }
    }

    #[test]
    fn a_lock_gives_rates_shares_and_switches() {
        let cell = Cell::new(Measure::Increment, "x").with(Axis::Workers, crate::cell::Value::Count(2));
        let visit = visit(&[3000, 1000], 50);
        near(of(Metric::NsPerOp, &cell, &visit), 20.0);
        near(Metric::OpsPerSecond.rate_scale(&cell, &[&visit]), 2e9);
        near(of(Metric::CpuNsPerOp, &cell, &visit), 20.0);
        near(of(Metric::SwitchesPerOp, &cell, &visit), 0.08);
        near(of(Metric::Fairness, &cell, &visit), 0.8);
        near(of(Metric::LeastShare, &cell, &visit), 25.0);
        near(of(Metric::MostShare, &cell, &visit), 75.0);
    }

    #[test]
    fn only_what_can_lose_updates_has_a_share_of_them() {
        let cell = Cell::new(Measure::Increment, "x");
        let mut visit = visit(&[3000, 1000], 50);
        assert_eq!(of(Metric::LostShare, &cell, &visit), None);
        visit.samples[0].lost_updates = Some(25);
        near(of(Metric::LostShare, &cell, &visit), 25.0);
    }

    #[test]
    fn a_server_gives_its_own_cpu_time_and_percentiles_of_requests() {
        let cell = Cell::new(Measure::Serve, "x");
        let mut visit = visit(&[4000, 8000], 100);
        assert_eq!(of(Metric::P50Us, &cell, &visit), None, "nobody timed a request");
        visit.samples[0].workers[1].tally.request_p50_ns = Some(7000);
        visit.samples[0].workers[1].tally.request_p99_ns = Some(9500);
        near(of(Metric::P50Us, &cell, &visit), 7.0);
        near(of(Metric::P99Us, &cell, &visit), 9.5);
        near(of(Metric::ServerCpuS, &cell, &visit), 2000.0 / 100.0 * 40_000.0 / 1e9);
        near(Metric::OpsPerSecond.rate_scale(&cell, &[&visit]), 1e9);
        near(Some(measure_value(&cell, 20.0)), 20.0 * 40_000.0 / 1e9);
    }

    #[test]
    fn a_log_gives_its_times_its_cpu_time_and_its_lines() {
        let cell = Cell::new(Measure::Append, "x");
        let mut visit = visit(&[4000, 8000], 100);
        for metric in [Metric::DrainedS, Metric::DaemonCpuPercent, Metric::LostPercent, Metric::Torn] {
            assert_eq!(of(metric, &cell, &visit), None, "an older journal has no lines");
        }
        let sample = &mut visit.samples[0];
        sample.daemon_cpu_ns = Some(5_000);
        sample.delivery = Some(Delivery {
            attempted: 200,
            lost: 50,
            doubled: 1,
            reordered: 2,
            torn: 3,
            ..Delivery::default()
        });
        sample.workers[0].drained_ns = Some(11_000);
        near(of(Metric::AppCpuPercent, &cell, &visit), 75.0);
        assert_eq!(of(Metric::DrainedS, &cell, &visit), None, "one of them does not know");
        visit.samples[0].workers[1].drained_ns = Some(10_000);
        near(of(Metric::DrainedS, &cell, &visit), 10_000.0 / 100.0 * 1e6 / 1e9);
        near(of(Metric::DaemonCpuPercent, &cell, &visit), 50.0);
        near(of(Metric::LostPercent, &cell, &visit), 25.0);
        let lines = [Metric::Doubled, Metric::Reordered, Metric::Torn];
        lines
            .iter()
            .zip([5_000.0, 10_000.0, 15_000.0])
            .for_each(|(metric, wanted)| near(of(*metric, &cell, &visit), wanted));
        near(Metric::OpsPerSecond.rate_scale(&cell, &[&visit]), 2e9);
        near(of(Metric::CpuNsPerOp, &cell, &visit), 30.0);
        near(Some(measure_value(&cell, 20.0)), 0.02);
    }

    #[test]
    fn one_worker_has_no_fairness() {
        let cell = Cell::new(Measure::Increment, "x");
        assert_eq!(of(Metric::Fairness, &cell, &visit(&[3000], 50)), None);
    }

    #[test]
    fn a_transport_gives_bytes_and_calls() {
        let cell =
            Cell::new(Measure::Bandwidth, "x").with(Axis::MessageBytes, crate::cell::Value::Count(1024));
        let visit = visit(&[4000, 4000], 2048);
        near(of(Metric::CallsPerMib, &cell, &visit), 100.0);
        near(of(Metric::MbPerCpuSecond, &cell, &visit), 2_097_152.0 * 1e3 / 4000.0);
        near(Metric::PercentOfMemoryCopy.rate_scale(&cell, &[&visit]), 1_024_000.0);
        near(Some(measure_value(&cell, 20.0)), 51_200.0);
    }
}
