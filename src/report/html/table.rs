//! A grid as a table that can be sorted, and walked through with the arrow keys to see raw numbers.

use crate::report::document::{Panel, Place};
use crate::report::escape::line;
use crate::report::raw;
use maud::{Markup, html};

/// A panel of the table with that identifier.
pub fn table(id: &str, number: usize, heading: &str, panel: &Panel) -> Markup {
    let raw = format!("{id}-raw-{}", number + 1);
    let sortable = panel.rows.len() > 1;
    // Without a split the heading above tells it already.
    let (caption, class) = match panel.heading.as_str() {
        "" => (heading, Some("unseen")),
        own => (own, None),
    };
    html! {
        "\n" div class="wide" role="group" aria-label="Table" tabindex="0" {
            "\n" table aria-describedby=(raw) {
                "\n" caption class=[class] { (line(caption)) }
                "\n" thead { tr { @for name in &panel.head { (column(name, sortable)) } } }
                "\n" tbody {
                    @for (name, places) in &panel.rows {
                        "\n" tr {
                            (row(name))
                            @for shown in places { (place(id, shown)) }
                        }
                    }
                }
            }
        }
        "\n" p class="raw" id=(raw) aria-live="polite" {
            "Raw numbers: point at a figure, or choose one with a click or the arrow keys."
        }
    }
}

/// The heading of a column, a button where there is something to sort.
fn column(name: &str, sortable: bool) -> Markup {
    html! {
        @if sortable {
            "\n" th scope="col" aria-sort="none" { button type="button" { (line(name)) } }
        } @else {
            "\n" th scope="col" { (line(name)) }
        }
    }
}

/// The heading of a row; numbers are sorted as such.
fn row(name: &str) -> Markup {
    let number = name.parse::<u64>().ok();
    html! { th scope="row" data-value=[number] { (line(name)) } }
}

fn place(id: &str, place: &Place) -> Markup {
    let value = place.raw.as_ref().map(|own| raw::number(own.value));
    let title = place.raw.as_ref().map(|own| line(&own.text));
    html! {
        "\n" td data-value=[value] title=[title] {
            @if place.best { strong { (line(&place.text)) } span class="unseen" { " (best)" } }
            @else if place.strong { strong { (line(&place.text)) } }
            @else { (line(&place.text)) }
            @if !place.marks.is_empty() {
                sup {
                    @for (at, mark) in place.marks.iter().enumerate() {
                        @if at > 0 { "," }
                        a href={ "#" (id) "-note-" (mark) } aria-label={ "note " (mark) } { (mark) }
                    }
                }
            }
        }
    }
}
