//! Mechanisms that are faulty on purpose: each must be caught.

use super::plan::{append, bandwidth, increment};
use super::{Kind, Outcome, Row, Settings};
use crate::cell::Cell;
use crate::record::{self, Request, Tampering};
use crate::runner::Visitor;
use crate::runner::signals::Caught;

struct Fault {
    label: &'static str,
    cell: Cell,
    ops: u64,
    /// What the error says when the fault itself is caught.
    words: &'static str,
}

/// So many increments of two workers at once that some get lost for all practical purposes.
const LOCK_OPS: u64 = 5_000_000;
const MESSAGES: u64 = 2_000;
const LINES: u64 = 20_000;

fn faults() -> [Fault; 5] {
    let lock = |label, mechanism| Fault {
        label,
        cell: increment(mechanism, 2, "cross_cpu"),
        ops: LOCK_OPS,
        words: "updates were lost",
    };
    let pipe = |label, mechanism| Fault {
        label,
        cell: bandwidth(mechanism, "same_cpu"),
        ops: MESSAGES,
        words: "came altered",
    };
    [
        lock("a lock that lets everybody in", "excludes_nobody"),
        lock("a lock that one in 64 does not wait for", "lets_one_slip"),
        pipe("a pipe that alters a bit", "alters_a_byte"),
        pipe("a pipe that swallows a byte", "drops_a_byte"),
        Fault { label: "a log that loses a line", cell: append("loses_a_line"), ops: LINES, words: LOST },
    ]
}

const LOST: &str = "are lost where 0 were dropped";

/// Visits each once; with what came of it, or the signal that ended it.
pub fn visit_all(settings: &Settings, visitor: &mut dyn Visitor) -> (Vec<Row>, Option<Caught>) {
    let mut rows = Vec::new();
    for fault in faults() {
        let tampering = Some(Tampering { faulty: true, ..Tampering::default() });
        let alone = Request::alone(&fault.cell, Some(fault.ops), settings.effort, settings.deadline_ms);
        let request = Request { tampering, runner: Some(std::process::id() as i32), ..alone };
        let mut heard = None;
        if let Err(caught) = visitor.visit(&request, &mut |outcome| heard = Some(outcome)) {
            return (rows, Some(caught));
        }
        rows.push(row(&fault, heard));
    }
    (rows, None)
}

fn row(fault: &Fault, heard: Option<record::Outcome>) -> Row {
    let (outcome, found) = match heard {
        Some(record::Outcome::Failed { phase, error }) if error.contains(fault.words) => {
            (Outcome::Pass, format!("caught ({phase}): {error}"))
        }
        Some(record::Outcome::Failed { phase, error }) => {
            (Outcome::Fail, format!("failed in another way ({phase}): {error}"))
        }
        Some(record::Outcome::Measured(_)) => (Outcome::Fail, "measured as if nothing were wrong".to_owned()),
        Some(record::Outcome::Unavailable(why)) => (Outcome::NotTried, why.to_string()),
        None => (Outcome::Fail, "the visit told nothing".to_owned()),
    };
    Row {
        check: Kind::Fault,
        of: fault.label.to_owned(),
        outcome,
        found,
        expected: "caught".to_owned(),
        figure: None,
        injected: None,
    }
}
