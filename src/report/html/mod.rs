//! The report as one page that needs nothing else: no request leaves it, and it reads without its script too.
//!
//! It is well-formed XML as well as HTML, so that any tool can read it. Everything that is not ours passes
//! [`line()`], which makes what steers a terminal or the order of letters visible, and maud, which escapes markup.

mod environment;
mod table;

use super::Options;
use super::document::{Document, Sheet, document};
use super::escape::line;
use super::load::Run;
use super::plot::{self, Embed};
use anyhow::Result;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What a browser may do for the page: use its own style and script, and ask nobody for anything.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                      form-action 'none'";

/// The report of a run as a page, with a newline at the end; `environment` is what the machine was.
///
/// # Errors
/// Those of [`super::projection::project`].
pub fn html(run: &Run, environment: Option<&Value>, options: Options) -> Result<String> {
    Ok(render(&document(run, options)?, environment))
}

/// A document as a page.
pub fn render(document: &Document, environment: Option<&Value>) -> String {
    format!("<!DOCTYPE html>\n{}\n", page(document, environment).into_string())
}

/// An element without content, as HTML and XML both write it.
fn empty(element: &str) -> PreEscaped<String> {
    PreEscaped(format!("\n<{element}/>"))
}

fn page(document: &Document, environment: Option<&Value>) -> Markup {
    html! {
        html lang="en" {
            "\n" head {
                (empty("meta charset=\"utf-8\""))
                (empty(&format!("meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\"")))
                (empty("meta name=\"viewport\" content=\"width=device-width, initial-scale=1\""))
                (empty("link rel=\"icon\" href=\"data:,\""))
                "\n" title { (line(&document.title)) }
                "\n" style { (PreEscaped(STYLE)) (PreEscaped(plot::style())) }
            }
            "\n" body {
                "\n" main {
                    "\n" h1 { (line(&document.title)) }
                    (facts(document))
                    @for text in &document.reading { "\n" p class="reading" { (line(text)) } }
                    (contents(document))
                    @for (index, sheet) in document.sheets.iter().enumerate() { (section(index, sheet)) }
                    (environment::environment(environment))
                }
                "\n" script { "\n" (PreEscaped(SCRIPT)) }
                "\n"
            }
        }
    }
}

/// The facts of the run; the verdict first, where a reader looks.
fn facts(document: &Document) -> Markup {
    html! {
        "\n" dl class="facts" {
            @for (label, text) in &document.facts {
                "\n" dt { (*label) }
                dd class=[(*label == "verdict").then_some("verdict")] {
                    @if *label == "command" { code { (line(text)) } } @else { (line(text)) }
                }
            }
        }
    }
}

/// Links to the tables, where there is more than one.
fn contents(document: &Document) -> Markup {
    html! {
        @if document.sheets.len() > 1 {
            "\n" nav aria-label="Tables" {
                ul {
                    @for (index, sheet) in document.sheets.iter().enumerate() {
                        "\n" li { a href={ "#table-" (index + 1) } { (line(&sheet.heading)) } }
                    }
                }
            }
        }
    }
}

/// A table of the matrix with all that belongs to it.
fn section(index: usize, sheet: &Sheet) -> Markup {
    let id = format!("table-{}", index + 1);
    html! {
        "\n\n" section id=(id) aria-labelledby={ (id) "-heading" } {
            "\n" h2 id={ (id) "-heading" } { (line(&sheet.heading)) }
            @for text in &sheet.captions { "\n" p { (line(text)) } }
            @if let Some(plot) = &sheet.plot {
                "\n" figure class="wide" role="group" aria-label="Plot" tabindex="0" {
                    (PreEscaped(plot::svg(plot, Embed::Page(index + 1))))
                }
            }
            @for (number, panel) in sheet.panels.iter().enumerate() {
                (table::table(&id, number, &sheet.heading, panel))
            }
            @if !sheet.notes.is_empty() {
                "\n" ul class="notes" { @for note in &sheet.notes { "\n" li { (line(note)) } } }
            }
            @if !sheet.footnotes.is_empty() {
                "\n" ol class="notes" {
                    @for (at, note) in sheet.footnotes.iter().enumerate() {
                        "\n" li id={ (id) "-note-" (at + 1) } { (line(note)) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
