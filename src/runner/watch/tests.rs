//! The watch on a scripted machine: no time passes.

use super::*;
use crate::environment::counters::{Counters, CpuTime};
use crate::runner::tests::{Actor, MS, SETTINGS, Script, Scripted, header, measured};
use crate::runner::{Ran, run};
use std::cell::Cell as Shared;
use std::collections::BTreeMap;

const CPUS: u64 = 2;

/// A machine on which others use a part of the CPUs, that part may change with the time, and it has steal, pressure and
/// throttling in proportion.
pub(in crate::runner) struct Fake<'a> {
    clock: &'a Scripted,
    foreign: fn(u64) -> f64,
    /// Until when the counters were brought up.
    at_ns: u64,
    look: Look,
    pub(in crate::runner) rests: usize,
}

impl<'a> Fake<'a> {
    pub(in crate::runner) fn new(clock: &'a Scripted, foreign: fn(u64) -> f64) -> Fake<'a> {
        let counters = Counters {
            cpus: Some(CpuTime { cpus: CPUS, ..CpuTime::default() }),
            pressure_us: Some(0),
            throttled: Some(0),
        };
        Fake { clock, foreign, at_ns: clock.now_ns(), look: Look { counters, own_cpu_ns: 0 }, rests: 0 }
    }

    /// Brings the counters up in steps of 1 ms. The run itself uses a quarter of the CPUs.
    fn go_on(&mut self) {
        while self.at_ns + MS <= self.clock.now_ns() {
            let foreign_ns = ((self.foreign)(self.at_ns / MS) * (CPUS * MS) as f64) as u64;
            let time = self.look.counters.cpus.as_mut().unwrap();
            time.busy_ns += MS / 2 + foreign_ns;
            time.steal_ns += foreign_ns / 10;
            self.look.own_cpu_ns += MS / 2;
            *self.look.counters.pressure_us.as_mut().unwrap() += foreign_ns / 4000;
            *self.look.counters.throttled.as_mut().unwrap() += u64::from(foreign_ns > 0);
            self.at_ns += MS;
        }
    }
}

impl Machine for Fake<'_> {
    fn look(&mut self) -> Option<Look> {
        self.go_on();
        Some(self.look)
    }

    fn canary_ns(&mut self) -> Option<u64> {
        Some(250_000)
    }

    fn rest(&mut self, ms: u64) -> Result<(), Caught> {
        self.rests += 1;
        self.clock.0.set(self.clock.0.get() + ms * MS);
        Ok(())
    }
}

fn at(clock: &Scripted, ms: u64) {
    clock.0.set(ms * MS);
}

fn near(told: Option<f64>, wanted: f64) -> bool {
    told.is_some_and(|told| (told - wanted).abs() < 1e-6)
}

#[test]
fn shares_are_over_a_second_at_least_and_counts_over_the_visit() {
    let clock = Scripted(Shared::new(0));
    let mut fake = Fake::new(&clock, |ms| if ms < 900 { 0.0 } else { 0.4 });
    let mut watch = Watch::default();
    let before = watch.look(&mut fake, &clock);
    at(&clock, 900);
    let noise = watch.noise(before, &mut fake, &clock);
    assert_eq!((noise.foreign_share, noise.steal_share), (None, None), "the window is too short");
    assert_eq!((noise.pressure_share, noise.throttled), (Some(0.0), Some(0)));
    let before = watch.look(&mut fake, &clock);
    at(&clock, 1000);
    let noise = watch.noise(before, &mut fake, &clock);
    assert!(near(noise.foreign_share, 0.04), "a tenth of the second: {noise:?}");
    assert!(near(noise.steal_share, 0.004), "{noise:?}");
    assert!(near(noise.pressure_share, 0.2), "of the visit alone: {noise:?}");
    assert_eq!(noise.throttled, Some(100));
    let before = watch.look(&mut fake, &clock);
    at(&clock, 6000);
    assert!(
        near(watch.noise(before, &mut fake, &clock).foreign_share, 0.4),
        "a long visit is its own window"
    );
}

#[test]
fn counters_that_are_missing_or_run_backwards_make_no_share() {
    let seen = |ms: u64, cpus: Option<CpuTime>, own_ms: u64| Seen {
        at_ns: ms * MS,
        look: Look { counters: Counters { cpus, ..Counters::default() }, own_cpu_ns: own_ms * MS },
    };
    let time = |cpus, busy_ms| Some(CpuTime { cpus, busy_ns: busy_ms * MS, steal_ns: 0 });
    assert_eq!(foreign_share(&seen(0, None, 0), &seen(1000, time(2, 500), 0)), None);
    assert_eq!(foreign_share(&seen(0, time(1, 0), 0), &seen(1000, time(2, 500), 0)), None, "a CPU was added");
    assert_eq!(foreign_share(&seen(5, time(2, 0), 0), &seen(5, time(2, 0), 0)), None, "no time passed");
    assert_eq!(
        foreign_share(&seen(0, time(2, 0), 0), &seen(1000, time(2, 490), 500)),
        Some(0.0),
        "a step less"
    );
    assert_eq!(
        foreign_share(&seen(0, time(1, 0), 0), &seen(1000, time(1, 1010), 0)),
        Some(1.0),
        "a step more"
    );
    assert_eq!(pressure_share(&seen(0, None, 0), &seen(1000, None, 0)), None);
}

/// A run of cells whose figures never agree, on such a machine; how often it slept.
fn ran(
    cells: usize,
    budget_s: f64,
    settings: crate::runner::Settings,
    foreign: fn(u64) -> f64,
) -> (Ran, usize) {
    let clock = Scripted(Shared::new(0));
    let restless = |_| -> Script {
        Box::new(|visit| (100 * MS, Ok(measured([100.0, 300.0, 200.0, 400.0, 250.0][visit % 5], 7))))
    };
    let mut actor = Actor {
        clock: &clock,
        scripts: (0..cells).map(restless).collect(),
        visits: BTreeMap::new(),
        requests: Vec::new(),
        machine: Some(Fake::new(&clock, foreign)),
    };
    let mut journal = crate::runner::journal::Journal::nowhere();
    let header = header(cells, budget_s);
    let ran = run(&header, settings, &mut actor, &clock, &mut journal, &mut crate::runner::progress::Quiet);
    (ran, actor.machine.map_or(0, |fake| fake.rests))
}

fn waited_ms(ran: &Ran) -> u64 {
    ran.visits.iter().filter_map(|visit| visit.noise?.waited_ns).sum::<u64>() / MS
}

#[test]
fn each_visit_tells_its_noise_and_the_first_of_a_round_the_canary() {
    let (ran, rests) = ran(4, 20.0, SETTINGS, |_| 0.02);
    assert_eq!(rests, 0, "that is quiet enough");
    for (index, visit) in ran.visits.iter().enumerate() {
        let noise = visit.noise.unwrap();
        assert_eq!(noise.canary_ns, (index % 4 == 0).then_some(250_000));
        assert_eq!(noise.foreign_share.is_some(), index >= 9, "visit {index}");
        assert!(noise.foreign_share.is_none_or(|share| near(Some(share), 0.02)));
        assert_eq!(noise.waited_ns, None);
    }
}

#[test]
fn the_gate_waits_out_a_burst_and_no_longer() {
    // Busy for the third and fourth second.
    let burst = |ms| if (2000..4040).contains(&ms) { 0.5 } else { 0.0 };
    let (ran, _) = ran(4, 20.0, SETTINGS, burst);
    let waits: Vec<(u64, u64)> = ran
        .visits
        .iter()
        .filter_map(|visit| Some((visit.begin_ns / MS, visit.noise?.waited_ns? / MS)))
        .collect();
    assert_eq!(waits.len(), 2, "{waits:?}");
    assert_eq!(waits[0].1, 200, "in vain: {waits:?}");
    assert_eq!(waits[1].1, 100, "the burst was over, which a tenth of a second shows: {waits:?}");
    assert!(ran.end.elapsed_s <= 20.0);
}

#[test]
fn a_machine_that_is_never_quiet_loses_little_and_nothing_of_the_six_rounds() {
    let (noisy, rests) = ran(4, 60.0, SETTINGS, |_| 0.5);
    let visits = noisy.visits.len();
    assert!(visits > 560, "{visits} of 600 visits that a quiet machine makes");
    assert!(rests > 0 && waited_ms(&noisy) == 50 * rests as u64, "{rests}");
    let (short, rests) = ran(20, 12.1, SETTINGS, |_| 0.5);
    assert_eq!(rests, 0, "six rounds take all of the budget");
    assert_eq!(waited_ms(&short), 0);
    assert!(short.visits.len() >= 120, "{}", short.visits.len());
}

#[test]
fn all_waits_together_take_a_quarter_of_the_budget_at_most() {
    let mut watch = Watch::after_waits(2_400 * MS);
    let clock = Scripted(Shared::new(0));
    let mut fake = Fake::new(&clock, |_| 0.5);
    let mut wait = |budget_ns, to_spare| {
        let before = watch.look(&mut fake, &clock);
        at(&clock, clock.now_ns() / MS + 2000);
        watch.noise(before, &mut fake, &clock);
        watch.quiet(&mut fake, &clock, budget_ns, to_spare).unwrap()
    };
    assert_eq!(wait(10_000 * MS, true), None, "2400 ms were waited, and 200 more would be over 2500");
    assert_eq!(wait(10_400 * MS, false), None, "no time is left");
    assert_eq!(wait(10_400 * MS, true), Some(200 * MS));
    assert_eq!(wait(1_000_000 * MS, true), None, "after a wait in vain it stands open for a while");
}

#[test]
fn a_test_neither_looks_nor_waits_and_exact_counts_do() {
    let settings = |exact: bool| crate::runner::Settings {
        effort: crate::record::Effort::TEST,
        thrifty: crate::record::Effort::TEST,
        full_rounds: 1,
        most_rounds: 1,
        exact_op_ns: exact.then(|| vec![1; 40]),
        ..SETTINGS
    };
    let (tested, rests) = ran(40, 86_400.0, settings(false), |_| 0.5);
    assert!(rests == 0 && tested.visits.iter().all(|visit| visit.noise.is_none()));
    let (exact, _) = ran(40, 86_400.0, settings(true), |_| 0.5);
    assert!(exact.visits.iter().all(|visit| visit.noise.is_some()));
    assert!((200..=600).contains(&waited_ms(&exact)), "{} ms, one day of budget or not", waited_ms(&exact));
}

#[test]
fn a_signal_ends_a_wait_and_the_run() {
    struct Interrupted<'a>(Fake<'a>);
    impl Machine for Interrupted<'_> {
        fn look(&mut self) -> Option<Look> {
            self.0.look()
        }
        fn rest(&mut self, _ms: u64) -> Result<(), Caught> {
            Err(Caught::Interrupt)
        }
    }
    let clock = Scripted(Shared::new(0));
    let mut machine = Interrupted(Fake::new(&clock, |_| 0.5));
    let mut watch = Watch::default();
    let before = watch.look(&mut machine, &clock);
    at(&clock, 2000);
    watch.noise(before, &mut machine, &clock);
    assert_eq!(watch.quiet(&mut machine, &clock, u64::MAX, true), Err(Caught::Interrupt));
}
