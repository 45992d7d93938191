//! The pictures of a run: one to standard output, or a file for each.

use super::arguments::Report as Arguments;
use super::{output, usage};
use crate::report::document::Document;
use crate::report::markdown;
use crate::report::plot::{self, Embed, Plot};
use anyhow::Result;
use std::path::Path;

/// Writes a file for each plot of the report into the folder.
///
/// # Errors
/// What the file system refuses, with the path.
fn write(document: &Document, folder: &Path) -> Result<()> {
    for (name, plot) in plot::files(document) {
        output::write(&folder.join(name), &plot::svg(plot, Embed::File))?;
    }
    Ok(())
}

/// Writes the plots, then the document that links them.
///
/// # Errors
/// What the file system refuses, with the path.
pub fn with_report(document: &Document, folder: &Path, readme: &Path) -> Result<()> {
    write(document, folder)?;
    output::write(readme, &markdown::render(document, true))
}

/// The one plot that was asked for, as a document.
///
/// # Errors
/// None or several of them, with what to do: exit code 2.
pub fn one(document: &Document, arguments: &Arguments) -> Result<String> {
    let plots = chosen(document, arguments)?;
    match plots[..] {
        [(_, plot)] => Ok(plot::svg(plot, Embed::File)),
        _ => Err(usage(format!(
            "standard output takes one plot, and this is of {}: name one with --table, or a folder for all with -o",
            ids(&plots)
        ))),
    }
}

/// Writes the plots that were asked for into a folder, which is made where it is not there.
///
/// # Errors
/// No plot, or a folder that cannot be made or written: exit code 2.
pub fn all(document: &Document, arguments: &Arguments, folder: &Path) -> Result<()> {
    let plots = chosen(document, arguments)?;
    let shown = folder.display();
    std::fs::create_dir_all(folder)
        .map_err(|error| usage(format!("cannot make the folder {shown}: {error}; name another with -o")))?;
    for (name, plot) in plots {
        let path = folder.join(name);
        output::write_asked(&path, &plot::svg(plot, Embed::File))?;
        output::say(&format!("plot: {}", path.display()));
    }
    Ok(())
}

/// The plots that were asked for: the name of the file, the title and the picture of each.
///
/// # Errors
/// No plot: exit code 2.
pub fn files(document: &Document, arguments: &Arguments) -> Result<Vec<(String, String, String)>> {
    let plots = chosen(document, arguments)?;
    Ok(plots
        .into_iter()
        .map(|(name, plot)| (name, plot.title.clone(), plot::svg(plot, Embed::File)))
        .collect())
}

/// The plots of the tables that were named, or all of them; never none.
fn chosen<'a>(document: &'a Document, arguments: &Arguments) -> Result<Vec<(String, &'a Plot)>> {
    let plots = plot::files(document);
    if plots.is_empty() {
        return Err(usage(format!("no table of this run has a plot: {}", wanted())));
    }
    let known = |id: &String| plots.iter().any(|(_, plot)| plot.id == *id);
    if let Some(unknown) = arguments.shown.table.iter().find(|id| !known(id)) {
        return Err(usage(format!(
            "there is no plot of a table {unknown:?}, but of {}: {}",
            ids(&plots),
            wanted()
        )));
    }
    let all = arguments.shown.table.is_empty();
    Ok(plots.into_iter().filter(|(_, plot)| all || arguments.shown.table.contains(&plot.id)).collect())
}

/// What a table must be for a plot.
fn wanted() -> String {
    format!(
        "a table has one where its rows are numbers, a column has figures in two of them, and at most {} columns have some",
        plot::MOST_SERIES
    )
}

fn ids(plots: &[(String, &Plot)]) -> String {
    plots.iter().map(|(_, plot)| format!("{:?}", plot.id)).collect::<Vec<_>>().join(", ")
}
