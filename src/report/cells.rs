//! What came of each cell: one figure, or why there is none.

use super::load::Run;
use super::metric::Metric;
use super::net::{self, Off};
use super::relate::{relate_to_copy, relate_to_reference, relate_to_single};
use crate::cell::{Axis, Cell, Measure};
use crate::measure::stats::modes::Modes;
use crate::measure::stats::trend::trend;
use crate::measure::stats::{Estimate, Grade, median};
use crate::record::{Lead, Measured, Outcome, PlannedCell, Unavailable, Visit};
use crate::strata::cores::Cores;
use crate::strata::{self, Stratum};
use std::collections::BTreeSet;

/// The increments a worker for which seconds are shown, as in the book.
pub const SHOWN_INCREMENTS: u64 = 1_000_000;

/// The requests for which seconds are shown, as in the article that served cells come from.
pub const SHOWN_REQUESTS: u64 = 40_000;

/// The lines a worker for which seconds are shown, as published.
pub const SHOWN_LINES: u64 = 1_000_000;

/// The effort of a run whose figures are not shown: it only sees that every cell works.
pub const TEST_EFFORT: &str = "test";

/// What came of a cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Slot {
    /// A figure.
    Measured(Box<Figure>),
    /// Measured once to see that it works: no figure is shown ([`TEST_EFFORT`]).
    Works,
    /// The machine or the kernel refuses it.
    Unavailable(Unavailable),
    /// A visit failed, so nothing of the cell is used.
    Failed(Failure),
    /// Measured, but in the median visit the loop without the operation took no less time: nothing is left to show.
    BelowResolution {
        /// Nanoseconds an operation, loop included; of CPU time where the metric is made of that.
        raw_ns: f64,
        /// Nanoseconds of the loop alone, likewise.
        twin_ns: f64,
    },
    /// The run ended before it was visited.
    NotVisited,
    /// The matrix has no such cell.
    Absent,
}

/// The figure of a measured cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The cell: its position in the header.
    pub cell_index: usize,
    /// Nanoseconds an operation, of CPU time where the metric is made of that. As elapsed time with the loop left in
    /// it is what the runner compares with the precision.
    pub ns: Estimate,
    /// What is shown, in its unit: MB/s, microseconds, seconds per [`SHOWN_INCREMENTS`],
    /// [`SHOWN_REQUESTS`] or [`SHOWN_LINES`], or another metric.
    pub shown: Estimate,
    /// The two numbers that are shown in its place: two strata of the visits, or two modes where nobody knows what divides them.
    pub modes: Option<Modes>,
    /// The fewest operations a worker in a sample, over the visits.
    pub least_ops: u64,
    /// The most.
    pub most_ops: u64,
    /// Whether more workers ran than CPUs were given, in any visit.
    pub oversubscribed: bool,
    /// The share of the updates that got lost, 0 to 1, over all visits, where losing them is the result.
    pub lost_share: Option<f64>,
    /// The share of the lines that got lost, 0 to 1, over all visits, where lines are logged.
    pub lost_lines: Option<f64>,
    /// Whether what is shown is a number that nobody measured: 1 for what the others are compared with.
    pub known: bool,
    /// Whether it is the mean of the book's counts, which has no interval.
    pub exact: bool,
    /// How far the last visits are from the first ones, as a part of the figure, where they rise or fall over the run.
    pub trend: Option<f64>,
    /// The flags of all visits.
    pub flags: BTreeSet<String>,
    /// Whether the time of the loop around the operations was taken off.
    pub net: bool,
    /// Visits that were refused although others were measured, with the first reason.
    pub refused: Option<(usize, Unavailable)>,
}

impl Figure {
    /// The grade by nanoseconds an operation; `None` where the visits are too few.
    pub fn grade(&self) -> Option<Grade> {
        if self.modes.is_some() { Some(Grade::U) } else { self.ns.grade() }
    }

    /// Whether it is as precise as that, by nanoseconds an operation as the runner decides. Two modes are not, and
    /// neither is what too few independent visits tell.
    pub fn reaches(&self, precision: f64) -> bool {
        let sure = self.modes.is_none() && !self.ns.full_range;
        sure && self.ns.half_width_ratio().is_some_and(|ratio| ratio <= precision)
    }
}

/// Why a cell failed: the first failure, and how many there were.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What was being done.
    pub phase: String,
    /// What went wrong.
    pub error: String,
    /// Visits that failed.
    pub failed: usize,
    /// Visits made.
    pub visits: usize,
}

impl Slot {
    /// The word for it in CSV.
    pub fn word(&self) -> &'static str {
        match self {
            Slot::Measured(_) | Slot::Works | Slot::BelowResolution { .. } => "measured",
            Slot::Unavailable(_) => "unavailable",
            Slot::Failed(_) => "failed",
            Slot::NotVisited => "not_visited",
            Slot::Absent => "absent",
        }
    }

    /// The figure, where there is one.
    pub fn figure(&self) -> Option<&Figure> {
        match self {
            Slot::Measured(figure) => Some(figure),
            _ => None,
        }
    }
}

/// What came of every cell of the header, in its order.
pub fn slots(run: &Run, metric: Metric) -> Vec<Slot> {
    let mut visits: Vec<Vec<&Visit>> = vec![Vec::new(); run.header.cells.len()];
    for visit in &run.visits {
        visits[visit.cell_index].push(visit);
    }
    let shown = |slot| match slot {
        Slot::Measured(_) | Slot::BelowResolution { .. } if run.header.effort == TEST_EFFORT => Slot::Works,
        slot => slot,
    };
    let cores = Cores::of(&run.visits);
    let planned = run.header.cells.iter().zip(visits).enumerate();
    let mut slots: Vec<Slot> = planned
        .map(|(index, (planned, visits))| shown(slot(metric, index, planned, &visits, &cores)))
        .collect();
    match metric {
        Metric::PercentOfMemoryCopy => relate_to_copy(run, &mut slots),
        Metric::CallsPerSelectCall => relate_to_reference(run, &mut slots),
        Metric::PercentOfSingle => relate_to_single(run, &mut slots),
        _ => {}
    }
    slots
}

/// What came of one cell. A failed visit fails it; then the visits that were measured count.
fn slot(metric: Metric, cell_index: usize, planned: &PlannedCell, visits: &[&Visit], cores: &Cores) -> Slot {
    if let Some(failure) = failure(visits) {
        return Slot::Failed(failure);
    }
    let refusals: Vec<&Unavailable> =
        planned.unavailable.iter().chain(visits.iter().filter_map(refusal)).collect();
    let measured: Vec<&Measured> = visits.iter().filter_map(measured).collect();
    let refused = refusals.first().map(|first| (refusals.len(), (*first).clone()));
    match (measured.is_empty(), refused) {
        (true, Some((_, unavailable))) => Slot::Unavailable(unavailable),
        (true, None) => Slot::NotVisited,
        (false, refused) => figure(metric, (cell_index, &planned.cell), &measured, cores, refused),
    }
}

/// The figures of a visit that has some.
fn measured<'a>(visit: &&'a Visit) -> Option<&'a Measured> {
    match &visit.outcome {
        Outcome::Measured(measured) => Some(measured),
        _ => None,
    }
}

fn refusal<'a>(visit: &&'a Visit) -> Option<&'a Unavailable> {
    match &visit.outcome {
        Outcome::Unavailable(unavailable) => Some(unavailable),
        _ => None,
    }
}

fn failure(visits: &[&Visit]) -> Option<Failure> {
    let failures = visits.iter().filter_map(|visit| match &visit.outcome {
        Outcome::Failed { phase, error } => Some((phase, error)),
        _ => None,
    });
    let failed = failures.clone().count();
    let (phase, error) = failures.into_iter().next()?;
    Some(Failure { phase: phase.clone(), error: error.clone(), failed, visits: visits.len() })
}

/// The figure of a cell with measured visits, less the loop around the operations where that is not negligible;
/// a failure where a visit's number is no time.
fn figure(
    metric: Metric,
    (cell_index, cell): (usize, &Cell),
    measured: &[&Measured],
    cores: &Cores,
    refused: Option<(usize, Unavailable)>,
) -> Slot {
    let off = net::off(metric, measured);
    let each_off = net::each_off(metric, measured);
    let raw = net::raw(metric, measured);
    let left = net::left(metric, measured, &each_off);
    let (None, Some(ns)) = (senseless(measured), Estimate::of(&left)) else {
        return Slot::Failed(senseless(measured).unwrap_or_else(|| no_time(0.0, 0, measured.len())));
    };
    if off.is_some() && ns.value <= 0.0 {
        let twin_ns = net::twin(metric, &each_off).unwrap_or(0.0);
        return Slot::BelowResolution { raw_ns: median(&raw).unwrap_or(0.0), twin_ns };
    }
    let Some((estimate, modes)) = shown(metric, cell, &left, measured, &each_off) else {
        return Slot::Absent;
    };
    let of_stratum = |stratum: &Stratum| {
        let some =
            |values: &[Off]| stratum.visits.iter().map(|(place, _)| values[*place]).collect::<Vec<_>>();
        let (off, visits) =
            (some(&each_off), stratum.visits.iter().map(|(_, visit)| visit).collect::<Vec<_>>());
        let raw = net::raw(metric, &visits);
        let left: Vec<f64> = raw.iter().zip(&off).map(|(raw, off)| raw - net::of(metric, off)).collect();
        shown(metric, cell, &left, &visits, &off).map(|(estimate, _)| estimate)
    };
    let modes = strata::split(cell, measured, cores, of_stratum).or(modes);
    let ops = measured.iter().map(|measured| measured.ops);
    Slot::Measured(Box::new(Figure {
        cell_index,
        ns,
        shown: estimate,
        modes,
        least_ops: ops.clone().min().unwrap_or(0),
        most_ops: ops.max().unwrap_or(0),
        oversubscribed: measured.iter().any(|measured| measured.oversubscribed),
        // Where the loss is the figure it is not told again beside it.
        lost_share: share_of(measured, Measured::lost_share).filter(|_| metric != Metric::LostShare),
        lost_lines: share_of(measured, Measured::lost_lines_share).filter(|_| metric != Metric::LostPercent),
        exact: measured.iter().all(|measured| measured.lead == Lead::Mean),
        known: false,
        net: off.is_some(),
        trend: trend(&left),
        flags: measured.iter().flat_map(|measured| measured.flags.iter().cloned()).collect(),
        refused,
    }))
}

/// The median over the visits of a share that all of them have.
fn share_of(measured: &[&Measured], share: fn(&Measured) -> Option<f64>) -> Option<f64> {
    median(&measured.iter().filter_map(|measured| share(measured)).collect::<Vec<_>>())
}

/// A failure where a visit recorded what is no time.
fn senseless(measured: &[&Measured]) -> Option<Failure> {
    let times = measured.iter().map(|measured| measured.lead_ns());
    let senseless: Vec<f64> = times.filter(|time| !(time.is_finite() && *time > 0.0)).collect();
    senseless.first().map(|time| no_time(*time, senseless.len(), measured.len()))
}

fn no_time(recorded: f64, failed: usize, visits: usize) -> Failure {
    let error = format!("recorded {recorded} ns an operation: below what the clock resolves");
    Failure { phase: "sample".into(), error, failed, visits }
}

/// The unit of a measure's figures.
pub fn measure_unit(measure: Measure) -> &'static str {
    match measure {
        Measure::Bandwidth => "MB/s",
        Measure::RoundTrip => "us per round trip",
        Measure::Increment => "seconds per 1,000,000 increments a worker",
        Measure::Wait => "us per call",
        Measure::Serve => "seconds per 40,000 requests",
        Measure::Operation => "ns an operation",
        Measure::Append => "seconds per 1,000,000 lines a worker",
    }
}

/// What is shown of the cell, and its modes where it has two: `None` where the metric cannot be had of it. Rates of
/// the measure are inverted here, after the median.
fn shown(
    metric: Metric,
    cell: &Cell,
    ns: &[f64],
    measured: &[&Measured],
    off: &[Off],
) -> Option<(Estimate, Option<Modes>)> {
    let of = |values: &[f64], show: &dyn Fn(&Estimate) -> Estimate| {
        let modes = Modes::of(values).map(|modes| modes.map(show));
        Estimate::of(values).map(|estimate| (show(&estimate), modes))
    };
    if let Some(scale) = metric.rate_scale(cell, measured) {
        return of(ns, &|ns| rate(ns, scale));
    }
    if metric != Metric::Figure {
        let visits = measured.iter().zip(off);
        let values: Option<Vec<f64>> =
            visits.map(|(measured, off)| metric.of(cell, measured, *off)).collect();
        return of(&values?, &Estimate::clone);
    }
    of(ns, &|ns| in_unit(cell, ns))
}

/// A time in nanoseconds an operation, in the unit of the cell's measure.
pub(super) fn in_unit(cell: &Cell, ns: &Estimate) -> Estimate {
    let of_one_ns = measure_value(cell, 1.0);
    match cell.measure() {
        Some(Measure::Bandwidth) => rate(ns, of_one_ns),
        _ => ns.scaled(of_one_ns),
    }
}

/// The time in nanoseconds an operation that is shown as that in the unit of the cell's measure, as the tables do.
pub fn in_ns(cell: &Cell, shown: &Estimate) -> Estimate {
    let of_one_ns = measure_value(cell, 1.0);
    match cell.measure() {
        Some(Measure::Bandwidth) => rate(shown, of_one_ns),
        _ => shown.scaled(1.0 / of_one_ns),
    }
}

/// The rate of a time. It has no interval where that of the time reaches 0, as it would have no upper end.
fn rate(ns: &Estimate, scale: f64) -> Estimate {
    let rate = ns.rate(scale);
    Estimate { interval: rate.interval.filter(|_| above_0(ns)), ..rate }
}

/// Whether the interval of a time, where it has one, is above 0: the loop that is taken off may reach below.
pub(super) fn above_0(ns: &Estimate) -> bool {
    ns.interval.is_none_or(|interval| interval.low > 0.0)
}

/// One time in nanoseconds an operation, in the unit of the cell's measure.
pub fn measure_value(cell: &Cell, ns: f64) -> f64 {
    match cell.measure() {
        Some(Measure::Bandwidth) => megabytes_scale(cell) / ns,
        Some(Measure::RoundTrip | Measure::Wait) => ns * MICROSECOND_SCALE,
        Some(Measure::Increment) => ns * INCREMENT_SCALE,
        Some(Measure::Serve) => ns * REQUEST_SCALE,
        Some(Measure::Append) => ns * LINE_SCALE,
        Some(Measure::Operation) | None => ns,
    }
}

/// MB/s x ns: bytes of a message x 10^9 ns/s over 10^6 bytes.
fn megabytes_scale(cell: &Cell) -> f64 {
    cell.count(Axis::MessageBytes) as f64 * 1e3
}

/// Microseconds for a nanosecond.
const MICROSECOND_SCALE: f64 = 1e-3;

/// Seconds per [`SHOWN_INCREMENTS`] for a nanosecond an increment.
const INCREMENT_SCALE: f64 = SHOWN_INCREMENTS as f64 / 1e9;

/// Seconds per [`SHOWN_REQUESTS`] for a nanosecond a request.
pub(super) const REQUEST_SCALE: f64 = SHOWN_REQUESTS as f64 / 1e9;

/// Seconds per [`SHOWN_LINES`] for a nanosecond a line.
pub(super) const LINE_SCALE: f64 = SHOWN_LINES as f64 / 1e9;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Value;
    use crate::record::{Header, Lead, Overhead, PlannedCell, Sample, WorkerSample};

    /// A wait cell of a mechanism that took so long, with a loop that took so long alone.
    fn visit(cell_index: usize, cell: &Cell, raw_ns: f64, twin_ns: f64) -> Visit {
        let measured = Measured {
            ops: 100,
            calibrated: false,
            lead: Lead::Floor,
            floor_ns: raw_ns,
            typ_ns: raw_ns,
            cpu_ns: raw_ns,
            oversubscribed: false,
            flags: Vec::new(),
            overhead: Some(Overhead { twin_ns, twin_cpu_ns: twin_ns, net_ns: raw_ns - twin_ns }),
            ping_pong_ns: None,
            whole_core_ns: None,
            dependent_ns: None,
            moved: None,
            effective: Default::default(),
            proofs: Vec::new(),
            samples: vec![Sample {
                elapsed_ns: 100 * raw_ns as u64,
                workers: vec![WorkerSample { cpu_ns: 100 * raw_ns as u64, ..WorkerSample::default() }],
                ..Sample::default()
            }],
        };
        Visit {
            cell_index,
            cell: cell.clone(),
            round: 1,
            position: 1,
            begin_ns: 0,
            duration_ns: 1,
            thrifty: false,
            arm: None,
            noise: None,
            outcome: Outcome::Measured(Box::new(measured)),
        }
    }

    fn run(figures: &[(&str, u64, f64, f64)]) -> Run {
        let cell = |(mechanism, descriptors, ..): &(&str, u64, f64, f64)| {
            Cell::new(Measure::Wait, mechanism).with(Axis::Descriptors, Value::Count(*descriptors))
        };
        let cells: Vec<Cell> = figures.iter().map(cell).collect();
        let visits = figures.iter().zip(&cells).enumerate();
        let visits = visits.map(|(index, (figure, cell))| visit(index, cell, figure.2, figure.3)).collect();
        let planned = |cell| PlannedCell { cell, unavailable: None };
        let header = Header {
            version: String::new(),
            matrices: Vec::new(),
            matrix_crc32: String::new(),
            command: Vec::new(),
            effort: "default".into(),
            seed: 1,
            budget_s: 1.0,
            precision: 0.03,
            started: String::new(),
            machine_class: None,
            binary_crc32: None,
            allowed_cpus: Vec::new(),
            boot_crc32: None,
            arms: None,
            tables: Vec::new(),
            cells: cells.into_iter().map(planned).collect(),
            gates: Vec::new(),
        };
        Run { header, visits, end: None, torn_line: false, resumed: Vec::new() }
    }

    fn shown(run: &Run, metric: Metric) -> Vec<Option<f64>> {
        slots(run, metric).iter().map(|slot| slot.figure().map(|figure| figure.shown.value)).collect()
    }

    /// Each visit counts once, by the number that leads, however many samples it has.
    #[test]
    fn visits_are_the_data_and_samples_are_not() {
        let mut run = run(&[("a", 1, 1000.0, 1.0)]);
        let visit = run.visits[0].clone();
        let of = |(floor_ns, typ_ns, samples): (f64, f64, usize)| {
            let mut visit = visit.clone();
            let Outcome::Measured(measured) = &mut visit.outcome else { panic!("it has figures") };
            (measured.floor_ns, measured.typ_ns) = (floor_ns, typ_ns);
            measured.samples = vec![measured.samples[0].clone(); samples];
            for sample in &mut measured.samples {
                sample.elapsed_ns = typ_ns as u64 * measured.ops;
            }
            visit
        };
        let visits = [(1000.0, 4000.0, 9), (2000.0, 5000.0, 1), (3000.0, 6000.0, 1)];
        run.visits = visits.into_iter().map(of).collect();
        let figure = |run: &Run| {
            slots(run, Metric::NsPerOp)[0].figure().map(|f| (f.ns.value, f.shown.value, f.ns.visits))
        };
        assert_eq!(figure(&run), Some((2000.0, 2000.0, 3)));
        for visit in &mut run.visits {
            let Outcome::Measured(measured) = &mut visit.outcome else { panic!("it has figures") };
            measured.lead = Lead::Typ;
        }
        assert_eq!(figure(&run), Some((5000.0, 5000.0, 3)));
    }

    #[test]
    fn the_loop_is_taken_off_where_it_counts_and_never_from_what_is_raw() {
        let run = run(&[("a", 1, 1000.0, 400.0), ("b", 1, 1000.0, 9.0)]);
        assert_eq!(shown(&run, Metric::NsPerOp), [Some(600.0), Some(1000.0)]);
        assert_eq!(shown(&run, Metric::Figure), [Some(0.6), Some(1.0)]);
        assert_eq!(shown(&run, Metric::RawNsPerOp), [Some(1000.0), Some(1000.0)]);
        assert_eq!(shown(&run, Metric::OverheadNsPerOp), [Some(400.0), Some(9.0)]);
        assert_eq!(shown(&run, Metric::CpuNsPerOp), [Some(600.0), Some(1000.0)]);
        let net: Vec<bool> =
            slots(&run, Metric::Figure).iter().filter_map(Slot::figure).map(|figure| figure.net).collect();
        assert_eq!(net, [true, false]);
    }

    #[test]
    fn a_loop_that_takes_as_long_as_all_leaves_nothing_to_show() {
        let slot = slots(&run(&[("a", 1, 400.0, 400.0)]), Metric::Figure).remove(0);
        assert_eq!(slot, Slot::BelowResolution { raw_ns: 400.0, twin_ns: 400.0 });
        assert!(net::below_resolution(400.0, 401.0).contains("400 ns an operation"));
    }

    /// One cell with a visit for each time and loop in nanoseconds; its CPU times are those over ten.
    fn visits(times: &[(f64, f64)]) -> Run {
        let mut run = run(&[("a", 1, 1.0, 0.0)]);
        let cell = run.header.cells[0].cell.clone();
        run.visits = times.iter().map(|(raw_ns, twin_ns)| visit(0, &cell, *raw_ns, *twin_ns)).collect();
        for visit in &mut run.visits {
            let Outcome::Measured(measured) = &mut visit.outcome else { continue };
            measured.cpu_ns /= 10.0;
            measured.samples[0].workers[0].cpu_ns /= 10;
            measured.overhead = measured.overhead.map(|own| Overhead { twin_cpu_ns: 10.0, ..own });
        }
        run
    }

    #[test]
    fn each_visit_is_less_its_own_loop() {
        let times = [(900.0, 400.0), (1000.0, 700.0), (500.0, 600.0), (800.0, 390.0), (5000.0, 4800.0)];
        let run = visits(&times);
        assert_eq!(shown(&run, Metric::NsPerOp), [Some(300.0)], "500, 300, -100, 410, 200");
        assert_eq!(shown(&run, Metric::SwitchesPerOp), [Some(0.0)], "no time is taken off what is none");
    }

    #[test]
    fn cpu_time_is_judged_by_cpu_time() {
        let run = visits(&[(1000.0, 1100.0), (1000.0, 1000.0), (1200.0, 1300.0)]);
        assert_eq!(shown(&run, Metric::NsPerOp), [None]);
        assert_eq!(shown(&run, Metric::CpuNsPerOp), [Some(90.0)]);
        assert_eq!(shown(&run, Metric::CpuSPer100000), [Some(0.009)]);
        let mut idle = visits(&[(1000.0, 100.0), (1000.0, 100.0)]);
        for visit in &mut idle.visits {
            let Outcome::Measured(measured) = &mut visit.outcome else { continue };
            measured.overhead = measured.overhead.map(|own| Overhead { twin_cpu_ns: 100.0, ..own });
        }
        assert_eq!(shown(&idle, Metric::NsPerOp), [Some(900.0)]);
        let below = Slot::BelowResolution { raw_ns: 100.0, twin_ns: 100.0 };
        assert_eq!(slots(&idle, Metric::CpuNsPerOp), [below]);
    }

    #[test]
    fn a_rate_has_no_interval_where_that_of_its_time_reaches_0() {
        let nearly_all = [(1000.0, 400.0), (1000.0, 1100.0)].repeat(3);
        let run = visits(&[nearly_all, vec![(1000.0, 410.0); 2]].concat());
        let figures = |metric| slots(&run, metric)[0].figure().unwrap().clone();
        assert!(figures(Metric::NsPerOp).shown.interval.is_some_and(|interval| interval.low < 0.0));
        assert_eq!(figures(Metric::OpsPerSecond).shown.interval, None);
    }

    #[test]
    fn ratios_are_with_the_reference_at_the_same_place() {
        let run = run(&[("select", 1, 300.0, 0.0), ("poll", 1, 100.0, 0.0), ("poll", 2, 100.0, 0.0)]);
        assert_eq!(shown(&run, Metric::CallsPerSelectCall), [Some(1.0), Some(3.0), None]);
    }

    /// An operation in each of these states of the process, that took so long in each visit.
    fn operations(times: &[(&str, &[f64])]) -> Run {
        let mut run = run(&[]);
        for (index, (state, times)) in times.iter().enumerate() {
            let cell =
                Cell::new(Measure::Operation, "a").with(Axis::ProcessState, Value::word(state.to_owned()));
            run.visits.extend(times.iter().map(|ns| visit(index, &cell, *ns, 0.0)));
            run.header.cells.push(PlannedCell { cell, unavailable: None });
        }
        run
    }

    #[test]
    fn a_second_thread_is_compared_with_none_and_as_uncertain_as_both() {
        let single = [100.0, 101.0, 99.0, 98.0, 100.0, 102.0];
        let working = single.map(|ns| 6.34 * ns);
        let run = operations(&[("parked", &single), ("single", &single), ("working", &working)]);
        let figures = |metric| {
            slots(&run, metric).iter().map(|slot| slot.figure().unwrap().clone()).collect::<Vec<_>>()
        };
        let (ns, percent) = (figures(Metric::NsPerOp), figures(Metric::PercentOfSingle));
        let values: Vec<f64> = percent.iter().map(|figure| figure.shown.value.round()).collect();
        assert_eq!(values, [100.0, 100.0, 634.0]);
        assert_eq!(percent.iter().map(|figure| figure.known).collect::<Vec<_>>(), [false, true, false]);
        assert_eq!(percent[1].shown.half_width(), Some(0.0));
        let [one, other] = [1, 2].map(|cell: usize| ns[cell].shown.interval.unwrap());
        let interval = percent[2].shown.interval.unwrap();
        let wanted = (100.0 * (other.low / one.high), 100.0 * (other.high / one.low));
        assert_eq!((interval.low, interval.high), wanted);
    }

    #[test]
    fn without_a_process_of_one_thread_there_is_nothing_to_compare_with() {
        let run = operations(&[("parked", &[100.0])]);
        let slot = slots(&run, Metric::PercentOfSingle).remove(0);
        let Slot::Unavailable(why) = slot else { panic!("{slot:?}") };
        assert!(why.reason.contains("never had a second thread has no figure"), "{why:?}");
        assert!(why.remedy.contains("process_state = single"), "{why:?}");
    }

    #[test]
    fn a_ratio_is_as_uncertain_as_both_of_its_parts() {
        let mut run = run(&[("select", 1, 300.0, 0.0), ("poll", 1, 100.0, 0.0)]);
        let cells: Vec<Cell> = run.header.cells.iter().map(|planned| planned.cell.clone()).collect();
        let times =
            [[300.0, 100.0], [270.0, 100.0], [330.0, 101.0], [300.0, 99.0], [290.0, 98.0], [310.0, 102.0]];
        let both = |times: &[f64; 2]| [0, 1].map(|index| visit(index, &cells[index], times[index], 0.0));
        run.visits = times.iter().flat_map(both).collect();
        let of = |metric| {
            slots(&run, metric).iter().map(|slot| slot.figure().unwrap().clone()).collect::<Vec<_>>()
        };
        let (ns, ratio) = (of(Metric::NsPerOp), of(Metric::CallsPerSelectCall));
        let (select, poll) = (ns[0].shown.interval.unwrap(), ns[1].shown.interval.unwrap());
        let interval = ratio[1].shown.interval.unwrap();
        assert_eq!((interval.low, interval.high), (select.low / poll.high, select.high / poll.low));
        assert!(ratio[0].known && !ratio[1].known);
        assert_eq!(ratio[0].shown.half_width(), Some(0.0));

        run.visits.retain(|visit| visit.cell_index == 1);
        run.visits.push(visit(0, &cells[0], 300.0, 0.0));
        let alone = slots(&run, Metric::CallsPerSelectCall)[1].figure().unwrap().clone();
        assert_eq!((alone.shown.interval, alone.shown.visits), (None, 6), "one visit of the reference");
    }

    #[test]
    fn two_modes_are_shown_with_their_shares_and_win_nothing() {
        use crate::report::winner::winner;
        let of = |near: f64, far: f64| [vec![(near, 0.0); 9], vec![(far, 0.0); 5]].concat();
        let both = slots(&visits(&of(1000.0, 3000.0)), Metric::NsPerOp).remove(0);
        let figure = both.figure().unwrap();
        let modes = figure.modes.unwrap().0.map(|mode| (mode.estimate.value, (100.0 * mode.share).round()));
        assert_eq!(modes, [(1000.0, 64.0), (3000.0, 36.0)]);
        assert_eq!(figure.grade(), Some(Grade::U));
        assert!(!figure.reaches(0.9), "no one number is known, however narrow the interval");
        let one = |ns: f64| slots(&visits(&[(ns, 0.0); 14]), Metric::NsPerOp).remove(0);
        assert_eq!(
            (one(1000.0).figure().unwrap().grade(), one(1000.0).figure().unwrap().modes),
            (Some(Grade::A), None)
        );
        assert_eq!(winner(&[both.clone(), one(5000.0)], false), None, "of two modes none wins");
        assert_eq!(winner(&[both.clone(), one(2000.0)], false), None, "faster in one of its modes");
        assert_eq!(winner(&[both, one(500.0)], false), Some(1));
    }
}
