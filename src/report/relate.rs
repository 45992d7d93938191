//! Figures as a part of another cell's figure.

use super::cells::{Figure, Slot, above_0};
use super::load::Run;
use crate::cell::{Axis, Cell, MEMORY_COPY, Measure, SINGLE, Value};
use crate::measure::stats::Estimate;
use crate::measure::stats::modes::{Mode, Modes};
use crate::record::Unavailable;

/// Makes percentages of the copy of the same bytes: of the cell that is like it on every axis but mechanism,
/// and placement, as the copy has one worker, which crosses nothing.
pub fn relate_to_copy(run: &Run, slots: &mut [Slot]) {
    let copies: Vec<(&Cell, Shown)> =
        figures(run, slots).filter(|(cell, _)| cell.mechanism() == MEMORY_COPY).collect();
    for (planned, slot) in run.header.cells.iter().zip(slots) {
        let Slot::Measured(figure) = slot else { continue };
        match copies.iter().find(|(copy, _)| is_copy_of(copy, &planned.cell)) {
            Some((copy, _)) if **copy == planned.cell => is_known(figure, 100.0),
            Some((_, copy)) => relate(figure, copy, |own, copy| quotient(own, copy, own).scaled(100.0)),
            None => {
                *slot = Slot::Unavailable(Unavailable {
                    reason: format!("no {MEMORY_COPY} of this size was measured in this run"),
                    remedy: format!("run a matrix that has {MEMORY_COPY}, such as transports"),
                });
            }
        }
    }
}

fn is_copy_of(copy: &Cell, cell: &Cell) -> bool {
    let free = |axis| matches!(axis, Axis::Mechanism | Axis::Placement);
    copy.axes()
        .filter(|(axis, _)| !free(*axis))
        .all(|(axis, value)| cell.get(axis).is_none_or(|own| own == value))
}

/// Makes ratios of nanoseconds: those of the measure's reference mechanism at the same place over the cell's own.
pub fn relate_to_reference(run: &Run, slots: &mut [Slot]) {
    let is_reference = |cell: &Cell| cell.measure().and_then(Measure::reference) == Some(cell.mechanism());
    let references: Vec<(&Cell, Shown)> =
        figures(run, slots).filter(|(cell, _)| is_reference(cell)).collect();
    for (planned, slot) in run.header.cells.iter().zip(slots) {
        let Slot::Measured(figure) = slot else { continue };
        let here = |reference: &Cell| {
            let mechanism = Value::word(reference.mechanism());
            planned.cell.clone().with(Axis::Mechanism, mechanism) == *reference
        };
        match references.iter().find(|(cell, _)| here(cell)) {
            Some((reference, _)) if **reference == planned.cell => is_known(figure, 1.0),
            Some((_, reference)) => relate(figure, reference, |own, reference| quotient(reference, own, own)),
            None => *slot = Slot::Absent,
        }
    }
}

/// Makes percentages of the same operation in a process that never had a second thread.
pub fn relate_to_single(run: &Run, slots: &mut [Slot]) {
    let is_single = |(cell, _): &(&Cell, Shown)| cell.word(Axis::ProcessState) == SINGLE;
    let singles: Vec<(&Cell, Shown)> = figures(run, slots).filter(is_single).collect();
    for (planned, slot) in run.header.cells.iter().zip(slots) {
        let Slot::Measured(figure) = slot else { continue };
        let alone = planned.cell.clone().with(Axis::ProcessState, Value::word(SINGLE));
        match singles.iter().find(|(cell, _)| **cell == alone) {
            Some(_) if alone == planned.cell => is_known(figure, 100.0),
            Some((_, single)) => {
                relate(figure, single, |own, single| quotient(own, single, own).scaled(100.0))
            }
            None => {
                *slot = Slot::Unavailable(Unavailable {
                    reason: "the same in a process that never had a second thread has no figure in this run"
                        .into(),
                    remedy: format!("run process_state = {SINGLE} too, with one worker that is a process"),
                });
            }
        }
    }
}

/// What is shown of a cell: its figure, and both where it has two.
type Shown = (Estimate, Option<Modes>);

/// The cells that have a figure, with what is shown of them.
fn figures<'a>(run: &'a Run, slots: &[Slot]) -> impl Iterator<Item = (&'a Cell, Shown)> {
    let cells = run.header.cells.iter().map(|planned| &planned.cell);
    let shown = |figure: &Figure| (figure.shown, figure.modes);
    cells.zip(slots).filter_map(move |(cell, slot)| Some((cell, shown(slot.figure()?))))
}

/// Replaces what is shown by what is made of it and of the other. Strata stand for the conditions of their visits, so each is related to
/// that of the same name; where the other has none of the names, only the figures of all visits are related.
pub(super) fn relate(
    figure: &mut Figure,
    (other, others): &Shown,
    of: impl Fn(&Estimate, &Estimate) -> Estimate,
) {
    let named =
        |modes: &Modes, name: &str| modes.0.iter().find(|mode| mode.name == name).map(|mode| mode.estimate);
    let its = |mode: &Mode| match mode.name {
        "" => Some(*other),
        name => named(others.as_ref()?, name),
    };
    figure.modes = figure.modes.and_then(|modes| {
        let [one, two] = [its(&modes.0[0])?, its(&modes.0[1])?];
        let [first, second] = modes.0;
        let related = [
            Mode { estimate: of(&first.estimate, &one), ..first },
            Mode { estimate: of(&second.estimate, &two), ..second },
        ];
        // Sorts them.
        Some(Modes(related).map(Estimate::clone))
    });
    figure.shown = of(&figure.shown, other);
}

/// Makes the figure what everything is compared with: a number that nobody measured.
fn is_known(figure: &mut Figure, value: f64) {
    figure.shown = Estimate::exactly(value, &figure.shown);
    figure.known = true;
    figure.modes = None;
}

/// One estimate over another, for the visits of the cell that it is shown for. It has no interval where one of both
/// has none, or where that of the divisor reaches 0.
fn quotient(one: &Estimate, other: &Estimate, own: &Estimate) -> Estimate {
    let ratio = one.over(other);
    let interval = ratio.interval.filter(|_| above_0(other));
    let full_range = interval.is_some() && (one.full_range || other.full_range);
    Estimate { value: ratio.value, interval, full_range, ..*own }
}
