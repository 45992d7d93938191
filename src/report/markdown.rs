//! The report for GitHub: its tables (GitHub Flavored Markdown, 4.10), nothing but text in them.

use super::Options;
use super::digits::superscript;
use super::document::{Document, Panel, Place, Sheet, document};
use super::escape;
use super::load::Run;
use super::plot;
use super::text::numeric;
use anyhow::Result;

/// The report of a run as Markdown, with a newline at the end; it links no pictures.
///
/// # Errors
/// Those of [`super::projection::project`].
pub fn markdown(run: &Run, options: Options) -> Result<String> {
    Ok(render(&document(run, options)?, false))
}

/// A document as Markdown, with links to the files of its pictures where these are `linked`.
pub fn render(document: &Document, linked: bool) -> String {
    let mut files = if linked { plot::files(document) } else { Vec::new() }.into_iter().peekable();
    let Document { title, facts, reading, sheets } = document;
    let mut lines = vec![format!("# {}", escape::markdown(title)), String::new()];
    lines.extend(facts.iter().map(|(label, text)| fact(label, text)));
    for paragraph in reading {
        lines.extend([String::new(), escape::markdown(paragraph)]);
    }
    for sheet in sheets {
        let file = files.next_if(|(_, plot)| sheet.plot.as_ref() == Some(plot));
        push_sheet(sheet, "##", file.map(|(name, _)| name), &mut lines);
    }
    lines.push(String::new());
    lines.join("\n")
}

/// A brief document as a block of another one: where it is from in one paragraph, then the tables under small headings.
/// `source` is the target of a link to the run.
pub fn block(document: &Document, source: &str) -> String {
    let mut lines = vec![from(document, source)];
    for sheet in &document.sheets {
        push_sheet(sheet, "###", None, &mut lines);
    }
    lines.push(String::new());
    lines.join("\n")
}

/// `From [ipcmatrix: appendix](reports/x): begun 2026-...; verdict: usable ... ± is ...`.
pub fn from(document: &Document, source: &str) -> String {
    let facts = document.facts.iter().map(|(label, text)| format!("{label}: {}", escape::markdown(text)));
    let facts = facts.collect::<Vec<_>>().join("; ");
    let reading: Vec<String> = document.reading.iter().map(|text| escape::markdown(text)).collect();
    format!(
        "From [{}]({}); {facts}. {}",
        escape::markdown(&document.title),
        target(source),
        reading.join(" ")
    )
}

/// The target of a link (CommonMark 6.3): in angle brackets, so that it may hold spaces and parentheses.
pub fn target(path: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if path.chars().all(plain) {
        return path.into();
    }
    let escaped: String = escape::line(path)
        .chars()
        .flat_map(|letter| ['\\'].into_iter().filter(move |_| "<>\\".contains(letter)).chain([letter]))
        .collect();
    format!("<{escaped}>")
}

fn fact(label: &str, text: &str) -> String {
    let text = if label == "command" { escape::code(text) } else { escape::markdown(text) };
    format!("- {label}: {text}")
}

fn push_sheet(sheet: &Sheet, level: &str, plot: Option<String>, lines: &mut Vec<String>) {
    lines.extend([String::new(), format!("{level} {}", escape::markdown(&sheet.heading))]);
    if !sheet.captions.is_empty() {
        let captions = sheet.captions.iter().map(|text| escape::markdown(text)).collect::<Vec<_>>();
        lines.extend([String::new(), captions.join(" ")]);
    }
    if let Some(file) = plot {
        let alternative = format!("Plot of table {}", escape::markdown(&sheet.heading));
        lines.extend([String::new(), format!("![{alternative}]({file})")]);
    }
    for panel in &sheet.panels {
        if !panel.heading.is_empty() {
            lines.extend([String::new(), format!("{level}# {}", escape::markdown(&panel.heading))]);
        }
        lines.push(String::new());
        push_grid(panel, lines);
    }
    let notes = sheet.notes.iter().map(|note| format!("- {}", escape::markdown(note)));
    let numbered = sheet.footnotes.iter().enumerate();
    let footnotes =
        numbered.map(|(index, text)| format!("- {} {}", superscript(index + 1), escape::markdown(text)));
    let below: Vec<String> = notes.chain(footnotes).collect();
    if !below.is_empty() {
        lines.push(String::new());
    }
    lines.extend(below);
}

fn push_grid(panel: &Panel, lines: &mut Vec<String>) {
    let first = if numeric(panel) { "---:" } else { ":---" };
    let rule = std::iter::once(first).chain(std::iter::repeat_n("---:", panel.head.len() - 1));
    lines.push(row(panel.head.iter().map(|heading| escape::markdown(heading))));
    lines.push(row(rule.map(String::from)));
    for (heading, places) in &panel.rows {
        lines.push(row(std::iter::once(escape::markdown(heading)).chain(places.iter().map(place))));
    }
}

fn row(fields: impl Iterator<Item = String>) -> String {
    format!("| {} |", fields.collect::<Vec<_>>().join(" | "))
}

/// The marks stand inside the bold: after `%`, a closing `**` is none before a letter or a number.
fn place(place: &Place) -> String {
    let bold = if place.best || place.strong { "**" } else { "" };
    format!("{bold}{}{}{bold}", escape::markdown_within(&place.text), place.marks())
}
