//! The numbers of single visits.

use crate::record::{Measured, Outcome};
use crate::report::load::Run;
use crate::report::metric::Metric;
use crate::report::net;

/// The numbers of one visit, less the loop around the operations where the report takes it off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    /// Nanoseconds an operation of a worker, by the number that leads.
    pub ns_per_op: f64,
    /// Nanoseconds of CPU time of all workers an operation of any of them, where that is known.
    pub cpu_ns_per_op: Option<f64>,
}

/// One a visit of the run, in its order; `None` where the visit has no figures.
pub fn numbers(run: &Run) -> Vec<Option<Numbers>> {
    let mut all = vec![None; run.visits.len()];
    let mut visits: Vec<Vec<(usize, &Measured)>> = vec![Vec::new(); run.header.cells.len()];
    for (position, visit) in run.visits.iter().enumerate() {
        if let Outcome::Measured(measured) = &visit.outcome {
            visits[visit.cell_index].push((position, measured));
        }
    }
    for (planned, visits) in run.header.cells.iter().zip(&visits) {
        let measured: Vec<&Measured> = visits.iter().map(|(_, measured)| *measured).collect();
        let left = |metric| {
            let off = net::each_off(metric, &measured);
            (net::left(metric, &measured, &off), off)
        };
        let (ns, _) = left(Metric::Figure);
        let (_, cpu_off) = left(Metric::CpuNsPerOp);
        for (index, (position, measured)) in visits.iter().enumerate() {
            let cpu_ns_per_op = Metric::CpuNsPerOp.of(&planned.cell, measured, cpu_off[index]);
            all[*position] = Some(Numbers { ns_per_op: ns[index], cpu_ns_per_op });
        }
    }
    all
}
