use super::*;
use crate::cell::{Cell, Value};
use crate::record::{Lead, Measured, Overhead};
use std::collections::BTreeSet;

fn cells(count: usize) -> Vec<PlannedCell> {
    let cell = |index| Cell::new(Measure::Wait, "x").with(Axis::Descriptors, Value::Count(index as u64));
    (0..count).map(|index| PlannedCell { cell: cell(index), unavailable: None }).collect()
}

fn measured(ns: f64, loop_ns: Option<f64>) -> Outcome {
    let overhead = loop_ns.map(|twin_ns| Overhead { twin_ns, twin_cpu_ns: twin_ns, net_ns: ns - twin_ns });
    Outcome::Measured(Box::new(Measured {
        ops: 1,
        calibrated: false,
        lead: Lead::Floor,
        floor_ns: ns,
        typ_ns: ns,
        cpu_ns: ns,
        oversubscribed: false,
        flags: Vec::new(),
        ping_pong_ns: None,
        whole_core_ns: None,
        dependent_ns: None,
        moved: None,
        overhead,
        effective: Default::default(),
        proofs: Vec::new(),
        samples: Vec::new(),
    }))
}

/// Five figures in turn, evenly spread: one mode, and successive ones are not alike.
const SWING: [f64; 5] = [-1.0, 0.5, -0.5, 1.0, 0.0];

/// A figure that lies up to `part` around 100.
fn swinging(part: f64, visit: usize) -> f64 {
    100.0 * (1.0 + part * SWING[visit % SWING.len()])
}

/// Makes a round, each cell giving its number by the count of its visits before; tells who was visited.
fn make(schedule: &mut Schedule, visits: &mut [usize], ns: impl Fn(usize, usize) -> f64) -> BTreeSet<usize> {
    let round: Vec<usize> = schedule.next_round().into_iter().flatten().collect();
    for cell in &round {
        schedule.record(*cell, &measured(ns(*cell, visits[*cell]), None), 1);
        visits[*cell] += 1;
    }
    round.into_iter().collect()
}

#[test]
fn after_the_rounds_for_all_the_widest_third_comes_first() {
    let mut schedule = Schedule::new(&cells(60), 1, 0.03, 6);
    let mut visits = [0; 60];
    // Cell 0 varies by 5 %, cell 59 by 64 %.
    let ns = |cell: usize, visit: usize| swinging(0.05 + cell as f64 / 100.0, visit);
    for _ in 0..6 {
        assert_eq!(make(&mut schedule, &mut visits, ns).len(), 60);
    }
    assert_eq!(make(&mut schedule, &mut visits, ns), (40..60).collect());
}

#[test]
fn a_partial_round_has_a_least_size_and_sentinels_of_the_finished() {
    let mut schedule = Schedule::new(&cells(40), 1, 0.03, 6);
    let mut visits = [0; 40];
    let ns = |cell: usize, visit: usize| swinging(if cell < 20 { 0.3 } else { 0.001 }, visit);
    for _ in 0..6 {
        make(&mut schedule, &mut visits, ns);
    }
    assert_eq!(schedule.done_cells(), 20);
    let round = make(&mut schedule, &mut visits, ns);
    let active = round.iter().filter(|cell| **cell < 20).count();
    assert_eq!((active, round.len() - active), (LEAST_IN_ROUND, 2), "{round:?}");
}

#[test]
fn visits_that_are_worth_too_few_count_as_widest_and_do_not_finish_a_cell() {
    let mut schedule = Schedule::new(&cells(36), 1, 0.03, 6);
    let mut visits = [0; 36];
    // Cell 7 climbs by 0.1 % a visit: its visits are alike, its range is narrow.
    let ns = |cell: usize, visit: usize| match cell {
        7 => 100.0 + visit as f64 / 10.0,
        _ => swinging(0.3, visit),
    };
    for _ in 0..12 {
        make(&mut schedule, &mut visits, ns);
    }
    assert_eq!(schedule.done_cells(), 0);
    assert!(visits[7] == 12 && (0..36).all(|cell| visits[cell] <= 12), "{visits:?}");
}

#[test]
fn a_cell_of_two_modes_gets_no_visit_after_twenty() {
    for full_rounds in [6, 12, 22] {
        let mut schedule = Schedule::new(&cells(1), 1, 0.03, full_rounds);
        let mut visits = [0];
        let two = |_: usize, visit: usize| swinging(0.001, visit) * if visit % 3 == 2 { 2.0 } else { 1.0 };
        while visits[0] < 100 && !make(&mut schedule, &mut visits, two).is_empty() {}
        assert_eq!((visits, schedule.done_cells()), ([20], 0), "{full_rounds} rounds for all");
    }
}

#[test]
fn what_had_its_last_look_comes_behind_all_others() {
    let mut schedule = Schedule::new(&cells(14), 1, 0.03, 6);
    let mut visits = [0; 14];
    let ns = |cell: usize, visit: usize| swinging(if cell == 13 { 0.04 } else { 0.5 }, visit);
    for _ in 0..60 {
        make(&mut schedule, &mut visits, ns);
    }
    assert_eq!(visits[13], 6, "the narrowest waits while others can still be done: {visits:?}");
    for _ in 60..90 {
        make(&mut schedule, &mut visits, ns);
    }
    assert_eq!(schedule.done_cells(), 1, "then it comes first, though all others are wider: {visits:?}");
}

#[test]
fn cells_are_done_early_when_told_and_not_before_the_sixth_visit_and_the_others_get_all_rounds() {
    let mut schedule = Schedule::new(&cells(40), 1, 0.03, 12);
    let mut visits = [0; 40];
    let ns = |cell: usize, visit: usize| swinging(if cell < 10 { 0.001 } else { 0.3 }, visit);
    for _ in 0..4 {
        make(&mut schedule, &mut visits, ns);
    }
    schedule.look_early();
    for _ in 4..6 {
        assert_eq!(make(&mut schedule, &mut visits, ns).len(), 40);
    }
    assert_eq!((schedule.done_cells(), schedule.full_rounds_left()), (10, 6));
    for round in 6..12 {
        assert_eq!(make(&mut schedule, &mut visits, ns).len(), 31, "with one sentinel in round {round}");
    }
    assert_eq!(schedule.full_rounds_left(), 0);
    assert!(visits[10..].iter().all(|visits| *visits == 12), "{visits:?}");
    assert_eq!(
        make(&mut schedule, &mut visits, ns).len(),
        13,
        "at least twelve of the widest, and a sentinel"
    );

    let mut late = Schedule::new(&cells(40), 1, 0.03, 12);
    let mut visits = [0; 40];
    for _ in 0..6 {
        make(&mut late, &mut visits, ns);
    }
    assert_eq!((late.done_cells(), late.full_rounds_left()), (0, 6));
    late.look_early();
    assert_eq!((late.done_cells(), late.full_rounds_left()), (10, 6), "looked at when they are told");
}

/// Forty cells after six rounds, short of time with so much of it left: ten swing by 3.5 % and want six visits of 1 ns more, the others by
/// half. Those who are visited in the next round.
fn next_with_left_ns(left_ns: u64) -> BTreeSet<usize> {
    let mut schedule = Schedule::new(&cells(40), 1, 0.03, 12);
    let mut visits = [0; 40];
    let ns = |cell: usize, visit: usize| swinging(if cell < 10 { 0.035 } else { 0.5 }, visit);
    for _ in 0..6 {
        make(&mut schedule, &mut visits, ns);
    }
    schedule.begin_round(7, 1.0, 1_000_000_000 - left_ns);
    make(&mut schedule, &mut visits, ns)
}

#[test]
fn short_of_time_those_come_first_whom_it_can_still_make_precise() {
    let ten = next_with_left_ns(100);
    assert!(
        ten.len() == LEAST_IN_ROUND && (0..10).all(|cell| ten.contains(&cell)),
        "six visits each of ten: {ten:?}"
    );
    let five = next_with_left_ns(35);
    assert!(
        (0..10).all(|cell| five.contains(&cell)),
        "a round is never so short that its visits are alike: {five:?}"
    );
    assert_eq!(next_with_left_ns(5), (0..40).collect(), "all are alike where there is time for none");
    assert_eq!(
        next_with_left_ns(10_000),
        (0..40).collect(),
        "the rounds for all go on where there is time for them"
    );
}

#[test]
fn visits_until_precise_follow_from_how_far_figures_lie_from_their_median() {
    let after = |figures: &[f64]| {
        let mut state = State::new(cells(1).remove(0).cell, false);
        figures.iter().for_each(|ns| state.take(&measured(*ns, None), 1));
        state.visits_to(0.03, &Cores::default())
    };
    // Half of them lie 2 % away: a deviation of 2.97 %, which takes 9.2 visits for 3 %.
    assert_eq!(after(&[98.0, 102.0, 100.0, 98.0, 102.0, 98.0, 102.0]), Some(5), "twelve is the next look");
    assert_eq!(after(&[96.0, 104.0, 96.0, 104.0, 100.0]), Some(37), "37 visits, so the look at 42");
    assert_eq!(after(&[50.0, 150.0, 100.0, 50.0, 150.0]), None, "no look is late enough");
    assert_eq!(
        after(&[100.0, 100.0, 100.0, 100.0, 100.0, 900.0]),
        Some(6),
        "one that was disturbed does not count"
    );
}

/// A cell of one CPU whose visits take 100 ns, but a few of them 110: what `tell` says of those is made of it. Whether it is done and
/// whether it wants more after so many visits.
fn with_a_few_slow(tell: impl Fn(&mut Measured, bool), visits: usize) -> (bool, bool) {
    let mut schedule = Schedule::new(&cells(1), 1, 0.03, 6);
    for visit in 0..visits {
        schedule.begin_round(visit + 1, f64::INFINITY, 0);
        let slow = [2, 8, 11].contains(&visit);
        let ns = swinging(0.001, visit) + if slow { 10.0 } else { 0.0 };
        let Outcome::Measured(mut measured) = measured(ns, None) else { unreachable!("it was measured") };
        tell(&mut measured, slow);
        schedule.record(0, &Outcome::Measured(measured), 1);
    }
    (schedule.done_cells() == 1, schedule.wants_more(0))
}

#[test]
fn a_cell_of_two_conditions_is_never_precise_and_gets_no_visit_after_twenty() {
    let untold = |_: &mut Measured, _: bool| ();
    assert_eq!(
        with_a_few_slow(untold, 22),
        (true, false),
        "nobody can say what three slow ones have in common"
    );
    let far = |measured: &mut Measured, slow: bool| {
        measured.ping_pong_ns = Some(if slow { [200.0; 2] } else { [50.0; 2] });
    };
    assert_eq!(with_a_few_slow(far, 19), (false, true));
    assert_eq!(with_a_few_slow(far, 20), (false, false));
    let shared = |measured: &mut Measured, slow: bool| {
        measured.whole_core_ns = Some(if slow { [60_000; 2] } else { [40_000; 2] });
    };
    assert_eq!(with_a_few_slow(shared, 19), (false, true));
    assert_eq!(with_a_few_slow(shared, 20), (false, false));
}

#[test]
fn no_time_makes_a_cell_of_two_conditions_precise() {
    let mut state = State::new(cells(1).remove(0).cell, false);
    for visit in 0..8 {
        let Outcome::Measured(mut measured) = measured(if visit < 4 { 100.0 } else { 110.0 }, None) else {
            unreachable!()
        };
        measured.ping_pong_ns = Some(if visit < 4 { [50.0; 2] } else { [200.0; 2] });
        state.take(&Outcome::Measured(measured), 1);
    }
    assert_eq!(state.visits_to(0.2, &Cores::default()), None);
}

/// Cells that are done after six visits of 1000 ns, up to 5 more or less, whose loops alone took `loop_ns`, up to
/// `swing_ns` more or less in step with all.
fn with_loops(loop_ns: f64, swing_ns: f64) -> usize {
    let mut schedule = Schedule::new(&cells(1), 1, 0.03, 6);
    for visit in 0..6 {
        let swing = SWING[visit % SWING.len()];
        schedule.record(0, &measured(1000.0 + 5.0 * swing, Some(loop_ns + swing_ns * swing)), 1);
    }
    schedule.done_cells()
}

#[test]
fn the_time_less_its_loop_must_be_precise_where_that_is_shown() {
    assert_eq!(with_loops(4.0, 1.0), 1, "under 1 %: nothing is taken off");
    assert_eq!(with_loops(900.0, 0.0), 0, "5 of 100 ns are 5 %");
    assert_eq!(with_loops(900.0, 5.0), 1, "what disturbs both");
}
