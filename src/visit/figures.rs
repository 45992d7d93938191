//! The numbers of a visit: floor, typ and cpu.

use super::session::Figures;
use crate::measure::stats::median;
use crate::record::{INJECTED, INJECTED_FLAG, Lead, Measured, Overhead, Sample, Twin};
use crate::workload::Effective;

/// The flag of a visit whose samples left 0.25 to 4 times the length they were calibrated to.
const N_DRIFT: &str = "n_drift";

/// Reduces the samples of a visit. The samples stay with it.
pub fn measured(figures: Figures, effective: Effective) -> Measured {
    let ops = figures.ops as f64;
    let elapsed: Vec<f64> = figures.samples.iter().map(|sample| sample.elapsed_ns as f64 / ops).collect();
    let cpu: Vec<f64> = figures.samples.iter().map(|sample| cpu_ns(sample) as f64 / ops).collect();
    let mut measured = Measured {
        ops: figures.ops,
        calibrated: figures.calibrated,
        lead: figures.lead,
        floor_ns: elapsed.iter().copied().fold(f64::INFINITY, f64::min),
        typ_ns: median(&elapsed).unwrap_or(f64::INFINITY),
        cpu_ns: median(&cpu).unwrap_or(f64::INFINITY),
        oversubscribed: figures.oversubscribed,
        flags: flags(&figures, &effective),
        overhead: None,
        ping_pong_ns: None,
        whole_core_ns: None,
        dependent_ns: None,
        moved: None,
        effective,
        proofs: if figures.proofs.iter().all(|proof| proof.bytes == 0) { Vec::new() } else { figures.proofs },
        samples: figures.samples,
    };
    measured.overhead = overhead(&measured);
    measured
}

/// What the loop cost, by the number that leads; `None` where a sample has no twin.
fn overhead(measured: &Measured) -> Option<Overhead> {
    let twin = |sample: &Sample| -> Option<Twin> { sample.workers.iter().find_map(|worker| worker.twin) };
    let twins: Vec<Twin> = measured.samples.iter().map(twin).collect::<Option<_>>()?;
    let each = |of: fn(&Twin) -> u64| -> Vec<f64> {
        twins.iter().map(|twin| of(twin) as f64 / measured.ops as f64).collect()
    };
    let elapsed = each(|twin| twin.elapsed_ns);
    let twin_ns = match measured.lead {
        Lead::Floor => elapsed.iter().copied().reduce(f64::min)?,
        Lead::Typ => median(&elapsed)?,
        Lead::Mean => elapsed.iter().sum::<f64>() / elapsed.len() as f64,
    };
    let twin_cpu_ns = median(&each(|twin| twin.cpu_ns))?;
    Some(Overhead { twin_ns, twin_cpu_ns, net_ns: measured.lead_ns() - twin_ns })
}

fn cpu_ns(sample: &Sample) -> u64 {
    sample.workers.iter().map(|worker| worker.cpu_ns).sum()
}

fn flags(figures: &Figures, effective: &Effective) -> Vec<String> {
    let target = figures.target_ns;
    let within = |sample: &Sample| (target / 4..=target * 4).contains(&sample.elapsed_ns);
    let drifted = target > 0 && !figures.samples.iter().all(within);
    let flags = [(drifted, N_DRIFT), (effective.contains_key(INJECTED), INJECTED_FLAG)];
    flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Lead, WorkerSample};

    /// Figures of 10 operations of samples that took so long, with a twentieth of that as CPU time of each of two workers.
    fn figures(elapsed_ns: &[u64], target_ns: u64) -> Figures {
        let sample = |elapsed_ns: &u64| Sample {
            elapsed_ns: *elapsed_ns,
            workers: vec![WorkerSample { cpu_ns: elapsed_ns / 20, ..WorkerSample::default() }; 2],
            ..Sample::default()
        };
        Figures {
            ops: 10,
            calibrated: false,
            lead: Lead::Floor,
            oversubscribed: false,
            target_ns,
            proofs: Vec::new(),
            samples: elapsed_ns.iter().map(sample).collect(),
        }
    }

    #[test]
    fn the_floor_is_the_least_and_typ_the_median_sample() {
        let measured = measured(figures(&[400, 200, 1000, 300, 2000], 0), Effective::new());
        assert_eq!((measured.floor_ns, measured.typ_ns, measured.cpu_ns), (20.0, 40.0, 4.0));
        assert_eq!(measured.samples.len(), 5, "the raw samples stay");
    }

    #[test]
    fn a_sample_that_is_four_times_too_long_or_too_short_is_a_flag() {
        let flags =
            |elapsed_ns: &[u64], target_ns| measured(figures(elapsed_ns, target_ns), Effective::new()).flags;
        assert_eq!(flags(&[1000, 250, 4000], 1000), [""; 0]);
        assert_eq!(flags(&[1000, 249, 1000], 1000), [N_DRIFT]);
        assert_eq!(flags(&[1000, 1000, 4001], 1000), [N_DRIFT]);
        assert_eq!(flags(&[1, 4001], 0), [""; 0], "no length was planned");
    }
}
