//! Mixtures that are constructed of known parts.

use super::*;
use crate::cell::{Axis, Cell, Measure, Value};
use crate::measure::stats::{Estimate, Grade, median};
use crate::record::{Header, Lead, Measured, Outcome, PlannedCell, Sample, Visit, WorkerSample};
use crate::report::cells::{Figure, slots};
use crate::report::load::Run;
use crate::report::metric::Metric;
use crate::report::relate::relate;

const OPS: u64 = 100;

/// A visit whose samples took so long an operation, each with its workers on those CPUs at the end.
fn measured(samples: &[(u64, [usize; 2])], ping_pong_ns: Option<[f64; 2]>) -> Measured {
    let sample = |(ns, cpus): &(u64, [usize; 2])| Sample {
        elapsed_ns: ns * OPS,
        workers: cpus.map(|cpu| WorkerSample { cpu, cpu_ns: ns * OPS, ..WorkerSample::default() }).to_vec(),
        ..Sample::default()
    };
    let each: Vec<f64> = samples.iter().map(|(ns, _)| *ns as f64).collect();
    Measured {
        ops: OPS,
        calibrated: false,
        lead: Lead::Typ,
        floor_ns: each.iter().copied().fold(f64::INFINITY, f64::min),
        typ_ns: median(&each).unwrap(),
        cpu_ns: 2.0 * median(&each).unwrap(),
        oversubscribed: false,
        flags: Vec::new(),
        ping_pong_ns,
        whole_core_ns: None,
        dependent_ns: None,
        moved: None,
        overhead: None,
        effective: Default::default(),
        proofs: Vec::new(),
        samples: samples.iter().map(sample).collect(),
    }
}

/// What is shown of a round trip at that placement that had those visits.
fn figure(placement: &str, visits: &[Measured], metric: Metric) -> Figure {
    let cell = Cell::new(Measure::RoundTrip, "a").with(Axis::Placement, Value::word(placement));
    let visit = |(index, measured): (usize, &Measured)| Visit {
        cell_index: 0,
        cell: cell.clone(),
        round: index as u32 + 1,
        position: index as u32 + 1,
        begin_ns: 0,
        duration_ns: 1,
        thrifty: false,
        arm: None,
        noise: None,
        outcome: Outcome::Measured(Box::new(measured.clone())),
    };
    let header = Header {
        version: "0".into(),
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
        cells: vec![PlannedCell { cell: cell.clone(), unavailable: None }],
        gates: Vec::new(),
    };
    let visits = visits.iter().enumerate().map(visit).collect();
    let run = Run { header, visits, end: None, torn_line: false, resumed: Vec::new() };
    slots(&run, metric).remove(0).figure().unwrap().clone()
}

/// Names, values and whole percentages of what is shown in place of one number.
fn parts(figure: &Figure) -> Vec<(&'static str, f64, f64)> {
    let modes = figure.modes.iter().flat_map(|modes| modes.0);
    modes.map(|mode| (mode.name, mode.estimate.value, (100.0 * mode.share).round())).collect()
}

const SHARED: [usize; 2] = [1, 1];
const APART: [usize; 2] = [0, 1];

#[test]
fn free_workers_are_told_on_one_cpu_and_on_several() {
    // Six visits, in each of which the workers were together in two samples of five.
    let visit = measured(&[(5, SHARED), (20, APART), (21, APART), (5, SHARED), (22, APART)], None);
    let figure = figure("free", &vec![visit; 6], Metric::NsPerOp);
    assert_eq!(parts(&figure), [(ONE_CPU, 5.0, 40.0), (SEVERAL_CPUS, 21.0, 60.0)]);
    assert_eq!((figure.grade(), figure.reaches(0.9)), (Some(Grade::U), false));
    assert_eq!(figure.shown.value, 20.0, "the mixture itself stays in CSV");
    assert!(
        figure.modes.unwrap().0.iter().all(|mode| mode.estimate.interval.is_some()),
        "of six visits each"
    );
    assert!(footnote(&figure.modes.unwrap()).unwrap().contains("placement free"));
}

#[test]
fn of_a_rate_the_smaller_number_comes_first_with_its_name() {
    let visit = measured(&[(5, SHARED), (20, APART)], None);
    let figure = figure("free", &vec![visit; 6], Metric::OpsPerSecond);
    assert_eq!(parts(&figure), [(SEVERAL_CPUS, 5e7, 50.0), (ONE_CPU, 2e8, 50.0)]);
}

#[test]
fn cpu_time_is_that_of_the_samples_of_the_stratum() {
    let visit = measured(&[(5, SHARED), (20, APART)], None);
    let figure = figure("free", &vec![visit; 6], Metric::CpuNsPerOp);
    assert_eq!(parts(&figure), [(ONE_CPU, 10.0, 50.0), (SEVERAL_CPUS, 40.0, 50.0)]);
}

#[test]
fn free_workers_that_stay_or_do_not_care_have_one_figure() {
    let shown = |samples: &[(u64, [usize; 2])]| {
        parts(&figure("free", &vec![measured(samples, None); 6], Metric::NsPerOp))
    };
    assert_eq!(shown(&[(20, APART), (21, APART)]), []);
    assert_eq!(shown(&[(5, SHARED), (5, SHARED)]), []);
    assert_eq!(shown(&[(100, SHARED), (104, APART)]), [], "4 % apart");
    let mut visits = vec![measured(&[(20, APART)], None); 6];
    visits.push(measured(&[(5, SHARED)], None));
    assert_eq!(parts(&figure("free", &visits, Metric::NsPerOp)), [], "one visit is no stratum");
    visits.push(measured(&[(5, SHARED)], None));
    assert_eq!(parts(&figure("free", &visits, Metric::NsPerOp)).len(), 2);
    let pinned = figure("cross_cpu", &vec![measured(&[(5, SHARED), (20, APART)], None); 6], Metric::NsPerOp);
    assert_eq!(parts(&pinned), [], "only free workers choose");
}

/// Visits that took so long and had those ways of a cache line before and after.
fn crossing(visits: &[(u64, f64, f64)]) -> Vec<Measured> {
    visits.iter().map(|(ns, before, after)| measured(&[(*ns, APART)], Some([*before, *after]))).collect()
}

#[test]
fn near_and_far_cpus_are_told_apart_and_what_changed_is_in_neither() {
    let near = vec![(10, 60.0, 70.0); 6];
    let far = vec![(30, 250.0, 260.0); 3];
    let visits = crossing(&[near, far, vec![(17, 65.0, 255.0)]].concat());
    let figure = figure("cross_cpu", &visits, Metric::NsPerOp);
    assert_eq!(parts(&figure), [("near", 10.0, 60.0), ("far", 30.0, 30.0)]);
    assert!(footnote(&figure.modes.unwrap()).unwrap().contains("far in others"));
    assert_eq!(figure.grade(), Some(Grade::U));
}

#[test]
fn one_disturbed_ping_pong_neither_makes_nor_hides_a_stratum() {
    let shown = |visits: &[(u64, f64, f64)]| parts(&figure("cross_cpu", &crossing(visits), Metric::NsPerOp));
    let near = vec![(10, 60.0, 62.0); 6];
    assert_eq!(shown(&near), []);
    assert_eq!(shown(&[near.clone(), vec![(30, 6000.0, 7000.0)]].concat()), [], "one visit");
    let far = vec![(30, 150.0, 140.0); 3];
    let with_outlier = [near.clone(), far, vec![(30, 140.0, 60_000.0)]].concat();
    assert_eq!(shown(&with_outlier).len(), 2, "the wider gap has one value behind it");
    let not_far = shown(&[near.clone(), vec![(30, 85.0, 85.0); 6]].concat());
    assert_eq!(
        not_far.iter().map(|part| part.0).collect::<Vec<_>>(),
        ["", ""],
        "two modes that nobody can name"
    );
    assert_eq!(shown(&[near, vec![(10, 250.0, 250.0); 6]].concat()), [], "the figure does not care");
}

#[test]
fn older_visits_have_no_ping_pong_and_no_strata() {
    let mut visits = crossing(&[vec![(10, 60.0, 60.0); 6], vec![(30, 250.0, 250.0); 6]].concat());
    assert_eq!(parts(&figure("cross_cpu", &visits, Metric::NsPerOp)).len(), 2);
    visits[0].ping_pong_ns = None;
    assert!(parts(&figure("cross_cpu", &visits, Metric::NsPerOp)).iter().all(|part| part.0.is_empty()));
}

/// Visits of workers on one CPU that took so long, with those readings of a whole core before and after.
fn on_a_core(visits: &[(u64, u64, u64)]) -> Vec<Measured> {
    let one = |(ns, before, after): &(u64, u64, u64)| Measured {
        whole_core_ns: Some([*before, *after]),
        ..measured(&[(*ns, SHARED)], None)
    };
    visits.iter().map(one).collect()
}

#[test]
fn visits_on_a_core_alone_and_on_a_shared_one_are_told_apart() {
    let alone = vec![(10, 40_000, 41_000); 3];
    let shared = vec![(15, 60_000, 70_000); 6];
    let changed = vec![(12, 40_000, 60_000)];
    let shown = |visits: &[(u64, u64, u64)]| figure("same_cpu", &on_a_core(visits), Metric::NsPerOp);
    let both = shown(&[alone.clone(), shared.clone(), changed].concat());
    assert_eq!(parts(&both), [("core alone", 10.0, 30.0), ("core shared", 15.0, 60.0)]);
    assert!(footnote(&both.modes.unwrap()).unwrap().contains("another thread used them too"));
    let unnamed = |visits: &[(u64, u64, u64)]| parts(&shown(visits)).iter().all(|part| part.0.is_empty());
    assert!(unnamed(&[alone[..2].to_vec(), shared.clone()].concat()), "two visits are no stratum");
    assert!(unnamed(&shared), "at best it is as slow: nothing tells");
    assert!(unnamed(&[alone.clone(), vec![(10, 60_000, 70_000); 6]].concat()), "the figure does not care");
    assert!(
        unnamed(&[vec![(15, 40_000, 41_000); 6], vec![(10, 60_000, 60_000); 6]].concat()),
        "nobody is faster for it"
    );
    let overlap = [(10, 40_000, 41_000), (14, 40_000, 40_000), (11, 40_000, 40_000)];
    let noisy = [(12, 60_000, 60_000), (15, 60_000, 60_000), (16, 60_000, 60_000), (13, 60_000, 60_000)];
    assert!(unnamed(&[&overlap[..], &noisy].concat()), "some of either side lie among the other");
    let crossing = on_a_core(&[(10, 40_000, 41_000), (15, 60_000, 70_000)].repeat(4));
    let near = crossing.into_iter().map(|visit| Measured { ping_pong_ns: Some([60.0, 61.0]), ..visit });
    let near: Vec<Measured> = near.collect();
    assert_eq!(parts(&figure("cross_cpu", &near, Metric::NsPerOp)).len(), 2, "near all the time");
}

/// Cells whose visits spread by 20 % whoever has the core: few are told as two.
#[test]
fn noise_alone_makes_no_strata_by_core() {
    use rand::{RngExt, SeedableRng};
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(3);
    let mut told = 0;
    for _ in 0..1000 {
        let one = |_| {
            let core_ns = if random.random_bool(0.3) { 40_000 } else { 60_000 };
            (1000 + random.random_range(0..400), core_ns, core_ns)
        };
        let visits: Vec<(u64, u64, u64)> = (0..12).map(one).collect();
        told += usize::from(
            parts(&figure("same_cpu", &on_a_core(&visits), Metric::NsPerOp))
                .iter()
                .any(|part| !part.0.is_empty()),
        );
    }
    assert!(told < 30, "{told} of 1000");
}

#[test]
fn a_stratum_is_related_to_that_of_the_same_name() {
    let of = |alone: u64, shared: u64| {
        let visits = [vec![(alone, 40_000, 40_000); 6], vec![(shared, 60_000, 60_000); 6]].concat();
        figure("same_cpu", &on_a_core(&visits), Metric::NsPerOp)
    };
    let related = |other: &Figure| {
        let mut own = of(20, 30);
        let ratio = |own: &Estimate, other: &Estimate| Estimate { value: own.value / other.value, ..*own };
        relate(&mut own, &(other.shown, other.modes), ratio);
        (own.shown.value, parts(&own))
    };
    assert_eq!(related(&of(10, 20)).1, [("core shared", 1.5, 50.0), ("core alone", 2.0, 50.0)]);
    // The other knows no strata: only the figures of all visits are of like conditions.
    assert_eq!(related(&of(10, 10)), (2.5, Vec::new()));
}
