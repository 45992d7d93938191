//! `selfcheck` on the machine of the test, in one round: its structure, and what is certain whatever the noise.

use crate::machine::{cpus, eventually};
use crate::program::{Program, alive};
use crate::trial;
use libtest_mimic::Trial;
use nix::sys::signal::Signal;
use serde_json::Value;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("selfcheck::one_round_has_every_check_and_catches_every_fault", &[], one_round),
        trial("selfcheck::a_signal_ends_it_with_what_was_there", &[], a_signal),
        trial("selfcheck::no_rounds_is_a_mistake", &[], || {
            let ended = Program::ipcmatrix(["selfcheck", "--rounds", "0"]).run().exits(2);
            assert!(ended.stderr.contains("1..=1000"), "{}", ended.stderr);
        }),
    ]
}

/// One round has no interval, so what must be found is not: the exit code is 4, undecided, on any machine.
fn one_round() {
    let words = "selfcheck --no-lock --quick --rounds 1 --quiet --format json --seed 7".split(' ');
    let ended = Program::ipcmatrix(words).run().exits(4);
    assert_eq!(ended.stderr, "");
    let document: Value = serde_json::from_str(&ended.stdout).expect("one JSON document");
    assert_eq!(document["schema"], "ipcmatrix.selfcheck.v1");
    assert_eq!(
        (&document["rounds"], &document["seed"], &document["passed"]),
        (&1.into(), &7.into(), &false.into())
    );
    let checks = document["checks"].as_array().expect("a list");
    let of = |kind: &str| checks.iter().filter(|check| check["check"] == kind).collect::<Vec<_>>();
    let counts = ["same", "slow_down", "linear", "fault", "floor", "clock"].map(|kind| of(kind).len());
    assert_eq!(counts, [8, 16, 6, 5, 2, 1]);
    for fault in of("fault") {
        let needs_two = fault["of"].as_str().expect("a text").contains("lock");
        let expected = if needs_two && cpus().len() < 2 { "not_tried" } else { "pass" };
        assert_eq!(fault["outcome"], expected, "{fault:#}");
    }
    for slow_down in of("slow_down") {
        assert!(slow_down["injected"].as_f64().expect("a ratio") > 1.0, "{slow_down:#}");
        assert!(slow_down["figure"]["low"].is_null(), "{slow_down:#}");
    }
}

fn a_signal() {
    let running = Program::ipcmatrix(["selfcheck", "--no-lock", "--rounds", "1000"]).start();
    let mark = running.mark();
    eventually(|| (alive(&mark).len() < 2).then(|| "no visit has begun yet".to_owned()));
    running.signal(Signal::SIGTERM);
    running.end().exits(143).prints(&["terminated: what follows is what was there until then", "a/a"]);
    eventually(|| {
        let left = alive(&mark);
        (!left.is_empty()).then(|| format!("left: {left:?}"))
    });
}
