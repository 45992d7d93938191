//! The report for a terminal: plain tables, no colour, no escape sequence.

use super::Options;
use super::digits::superscript;
use super::document::{Document, Panel, Place, Sheet, document};
use super::escape::line;
use super::load::Run;
use anyhow::Result;
use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Alignment, Style};

/// The report of a run as plain text, with a newline at the end.
///
/// # Errors
/// Those of [`super::projection::project`].
pub fn text(run: &Run, options: Options) -> Result<String> {
    Ok(render(&document(run, options)?))
}

/// A document as plain text.
pub fn render(document: &Document) -> String {
    let Document { title, facts, reading, sheets } = document;
    let mut lines = vec![line(title), String::new()];
    lines.extend(facts.iter().map(|(label, fact)| format!("{label:<10} {}", line(fact))));
    lines.push(String::new());
    lines.extend(reading.iter().map(|text| line(text)));
    for sheet in sheets {
        push_sheet(sheet, &mut lines);
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn push_sheet(sheet: &Sheet, lines: &mut Vec<String>) {
    lines.extend([String::new(), line(&sheet.heading)]);
    lines.extend(sheet.captions.iter().map(|text| line(text)));
    for panel in &sheet.panels {
        lines.push(String::new());
        if !panel.heading.is_empty() {
            lines.push(line(&panel.heading));
        }
        lines.extend(grid(panel).lines().map(String::from));
    }
    if !(sheet.notes.is_empty() && sheet.footnotes.is_empty()) {
        lines.push(String::new());
    }
    lines.extend(sheet.notes.iter().map(|note| line(note)));
    let numbered = sheet.footnotes.iter().enumerate();
    lines.extend(numbered.map(|(index, text)| format!("{} {}", superscript(index + 1), line(text))));
}

/// The grid: row headings to the left if they are words, everything else to the right.
fn grid(panel: &Panel) -> String {
    let mut builder = Builder::default();
    builder.push_record(panel.head.iter().map(|heading| line(heading)));
    for (heading, places) in &panel.rows {
        let best = |place: &Place| if place.best { "*" } else { "" };
        let shown =
            places.iter().map(|place| format!("{}{}{}", best(place), line(&place.text), place.marks()));
        builder.push_record(std::iter::once(line(heading)).chain(shown));
    }
    let mut table = builder.build();
    table.with(Style::psql()).with(Alignment::right());
    if !numeric(panel) {
        table.modify(Columns::first(), Alignment::left());
    }
    table.to_string()
}

/// Whether every row heading is a number.
pub(super) fn numeric(panel: &Panel) -> bool {
    panel.rows.iter().all(|(heading, _)| heading.bytes().all(|byte| byte.is_ascii_digit()))
}
