//! `report`: the tables of runs that were made before.

use super::arguments::{Format, Report as Arguments};
use super::{WELL, gating, matrices, output, plots, splice, usage};
use crate::catalog::Catalog;
use crate::matrix::Filter;
use crate::report::cells::slots;
use crate::report::document::{Document, document};
use crate::report::load::{self, Run};
use crate::report::metric::Metric;
use crate::report::view::View;
use crate::report::{Options, csv, gates, html, markdown, text};
use anyhow::Result;
use std::path::Path;

/// What would be left out silently is refused.
fn check(arguments: &Arguments, format: Format) -> Result<()> {
    let shown = &arguments.shown;
    let figure = shown.metric == Metric::Figure;
    let (svg, html) = (format == Format::Svg, format == Format::Html);
    if format == Format::Csv && (!figure || shown.published || shown.view().turns()) {
        return Err(usage(
            "csv has the raw samples, one a row: it takes --table and -f, but no --metric, --published, --row, --col or --split",
        ));
    }
    if shown.published && !figure {
        return Err(usage("published figures stand beside the figure of the measure: leave out --metric"));
    }
    if svg && shown.published {
        return Err(usage("plots show today's figures alone: leave out --published"));
    }
    if arguments.output.is_some() && !svg {
        return Err(usage("-o takes the files of plots: use it with --format svg"));
    }
    if (svg || html) && arguments.runs.len() > 1 {
        return Err(usage("a page or a picture shows one run: name one run at a time"));
    }
    Ok(())
}

/// What a report shows of each of its runs.
pub struct Wanted<'a> {
    /// As it was typed.
    pub arguments: &'a Arguments,
    /// Its shape.
    pub format: Format,
    view: View,
    filters: Vec<Filter>,
}

impl<'a> Wanted<'a> {
    /// What was typed, where it says no format in that one.
    ///
    /// # Errors
    /// Words that contradict each other, and filters that are none.
    pub fn of(arguments: &'a Arguments, otherwise: Format, catalog: &Catalog) -> Result<Wanted<'a>> {
        let format = arguments.format.unwrap_or(otherwise);
        check(arguments, format)?;
        let filters = matrices::filters(&arguments.shown.filter, catalog)?;
        Ok(Wanted { arguments, format, view: arguments.shown.view(), filters })
    }

    /// How the tables are worded; `brief` in another document.
    fn options(&self, brief: bool) -> Options {
        let Arguments { shown, muted, .. } = self.arguments;
        let (metric, published, muted) = (shown.metric, shown.published, muted.codes());
        Options { metric, published, muted, brief, linked: false }
    }

    /// Whether the run is shown as it is.
    fn is_whole(&self) -> bool {
        self.filters.is_empty() && !self.view.turns() && self.view.tables.is_empty()
    }

    /// The document of the run in the view that was asked for; the tables of `run` are as before afterwards.
    ///
    /// # Errors
    /// What the view or a table refuses: the user's.
    pub fn document(&self, run: &mut Run, brief: bool) -> Result<Document> {
        let whole = run.header.tables.clone();
        let made = self.narrow(run).and_then(|()| document(run, self.options(brief)));
        run.header.tables = whole;
        let mut document = made.map_err(|error| usage(format!("{error:#}")))?;
        if !brief {
            let fact = self.view.fact(&self.arguments.shown.filter);
            document.facts.extend(fact.map(|text| ("shown", text)));
        }
        Ok(document)
    }

    /// Changes the tables of the run to what was asked for.
    fn narrow(&self, run: &mut Run) -> Result<()> {
        if self.is_whole() {
            return Ok(());
        }
        anyhow::ensure!(
            run.header.arms.is_none() || self.view.metric != Metric::Figure,
            "a run of two arms has one table of all its cells: leave out --table, --row, --col, --split and -f, or name a --metric"
        );
        let cells = &run.header.cells;
        let keeps = |cell: &_| self.filters.iter().all(|filter| filter.matches(cell));
        self.view.apply(&mut run.header.tables, |number| &cells[number].cell, keeps)
    }

    /// The raw samples of the cells that are shown.
    fn csv(&self, run: &mut Run) -> Result<String> {
        let muted = self.arguments.muted.codes();
        if self.is_whole() {
            return Ok(csv::csv(run, muted));
        }
        let whole = run.header.tables.clone();
        let narrowed = self.narrow(run).map_err(|error| usage(format!("{error:#}")));
        let tables = std::mem::replace(&mut run.header.tables, whole);
        narrowed?;
        let shown: std::collections::BTreeSet<usize> =
            tables.iter().flat_map(|table| table.cells.clone()).collect();
        Ok(csv::csv_of(run, muted, |number| shown.contains(&number)))
    }

    /// The report of one run.
    fn one(&self, run: &mut Run, path: &Path) -> Result<String> {
        match self.format {
            Format::Csv => self.csv(run),
            Format::Text => Ok(text::render(self.document(run, false)?)),
            Format::Md => Ok(markdown::render(&self.document(run, false)?, false)),
            Format::Html => {
                let environment =
                    load::read_environment(path).map_err(|error| usage(format!("{error:#}")))?;
                Ok(html::render(&self.document(run, false)?, environment.as_ref()))
            }
            Format::Svg => plots::one(&self.document(run, false)?, self.arguments),
        }
    }
}

/// Prints each run in the format, or fills the blocks of a file.
///
/// # Errors
/// A run that cannot be read: exit code 2, as it is a file that is not valid. Likewise gates that are asked for and not there.
pub fn report(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    if let Some(target) = &arguments.into {
        return splice::splice(target, arguments, catalog);
    }
    let wanted = Wanted::of(arguments, Format::Text, catalog)?;
    let mut documents = Vec::new();
    let mut limits = Vec::new();
    for path in &arguments.runs {
        let mut run = load::read_run(path).map_err(|error| usage(format!("{error:#}")))?;
        limits.extend(gates::of_run(&run, &slots(&run, Metric::Figure)));
        if let (Format::Svg, Some(folder)) = (wanted.format, &arguments.output) {
            plots::all(&wanted.document(&mut run, false)?, arguments, folder)?;
            return Ok(WELL);
        }
        documents.push(wanted.one(&mut run, path)?);
    }
    let muted = arguments.muted.codes();
    if wanted.format == Format::Csv && !muted.is_empty() {
        output::say(&format!("muted: {}", muted.words()));
    }
    if arguments.gate && limits.is_empty() {
        return Err(usage(
            "no run has a gate with max or min, so nothing can be judged: write [[gate]] into the matrix and run it, or judge \
             max_regression by `ipcmatrix compare`",
        ));
    }
    output::print(&documents.join("\n"))?;
    Ok(if arguments.gate { gating::exit_code(&limits) } else { WELL })
}
