//! What a format has no place for, in words: it is told beside the document.

use super::Export;
use super::summary::Summary;
use crate::report::escape::line;
use crate::report::net::below_resolution;

/// What a format has a place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Every cell, whatever came of it.
    Everything,
    /// The visits of cells that have a figure.
    Visits,
    /// Cells for which one number stands.
    OneNumber,
}

/// A line for each reason, with the number of cells and the first of them.
pub fn left_out(export: &Export, place: Place) -> Vec<String> {
    let mut reasons: Vec<(String, usize, String)> = Vec::new();
    for cell in &export.cells {
        let Some(reason) = reason(cell, place) else { continue };
        match reasons.iter_mut().find(|(known, ..)| *known == reason) {
            Some((_, count, _)) => *count += 1,
            None => reasons.push((reason, 1, cell.cell.to_string())),
        }
    }
    let word = |(reason, count, first): &(String, usize, String)| match count {
        1 => line(&format!("left out: {first}: {reason}")),
        _ => line(&format!("left out: {count} cells such as {first}: {reason}")),
    };
    reasons.iter().map(word).collect()
}

fn reason(cell: &Summary, place: Place) -> Option<String> {
    if place == Place::Everything || cell.figure.is_some() {
        return None;
    }
    if let Some(why) = &cell.unavailable {
        return Some(format!("unavailable: {why}"));
    }
    if let Some(failure) = &cell.failure {
        return Some(format!("failed: {}: {}", failure.phase, failure.error));
    }
    if let Some(below) = &cell.below_resolution {
        return Some(below_resolution(below.raw_ns, below.twin_ns));
    }
    match (cell.modes.is_empty(), cell.outcome) {
        (false, _) if place == Place::Visits => None,
        (false, _) => {
            let apart = match cell.modes.iter().find_map(|mode| mode.condition) {
                Some(_) => "were made under two conditions",
                None => "fall into two modes",
            };
            Some(format!("its visits {apart}, so one number would stand for neither"))
        }
        (true, "measured") => Some("a test run shows no figure".into()),
        (true, _) => Some("the run ended before it was visited".into()),
    }
}
