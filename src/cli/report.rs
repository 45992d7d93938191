//! `report`: the tables of runs that were made before.

use super::arguments::{Format, Report as Arguments};
use super::{WELL, gating, matrices, output, plots, splice, usage};
use crate::catalog::Catalog;
use crate::matrix::Filter;
use crate::record::Header;
use crate::report::cells::slots;
use crate::report::document::{Document, document};
use crate::report::load::reduce::{self, journals_below};
use crate::report::load::{self, Run};
use crate::report::metric::Metric;
use crate::report::view::View;
use crate::report::{Options, csv, fleet, gates, html, markdown, text};
use anyhow::Result;
use std::path::{Path, PathBuf};

/// What would be left out silently is refused.
fn check(arguments: &Arguments, format: Format) -> Result<()> {
    let shown = &arguments.shown;
    let figure = shown.metric == Metric::Figure;
    let svg = format == Format::Svg;
    if format == Format::Csv && (!figure || shown.published || shown.view().turns()) {
        return Err(usage(
            "csv has the raw samples, one a row: it takes --table and -f, but no --metric, --published, --row, --col or --split",
        ));
    }
    if shown.is_both() {
        return Err(usage("machine would be row and column: leave out one of the two"));
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
        Options { metric, published, muted, brief }
    }

    /// Whether the run is shown as it is.
    fn is_whole(&self) -> bool {
        self.filters.is_empty() && !self.view.turns() && self.view.tables.is_empty()
    }

    /// The document of the run in the view that was asked for; the tables and gates of `run` are as before afterwards.
    ///
    /// # Errors
    /// What the view or a table refuses: the user's.
    pub fn document(&self, run: &mut Run, brief: bool) -> Result<Document> {
        let whole = (run.header.tables.clone(), run.header.gates.clone());
        self.narrow_gates(run);
        let made = self.narrow(run).and_then(|()| document(run, self.options(brief)));
        (run.header.tables, run.header.gates) = whole;
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
        anyhow::ensure!(
            self.view.machines.is_none(),
            "this is one run, so of one machine: machine is a row or a column of many runs; name those, or the folder that they stand in"
        );
        let cells = &run.header.cells;
        let keeps = |cell: &_| self.filters.iter().all(|filter| filter.matches(cell));
        self.view.apply(&mut run.header.tables, |number| &cells[number].cell, keeps)
    }

    /// Keeps of each gate the cells that match the filters, as `compare -f` does.
    fn narrow_gates(&self, run: &mut Run) {
        let Header { gates, cells, .. } = &mut run.header;
        gates.retain_mut(|gate| {
            let had_some = !gate.cells.is_empty();
            gate.cells
                .retain(|number| self.filters.iter().all(|filter| filter.matches(&cells[*number].cell)));
            !(had_some && gate.cells.is_empty())
        });
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

    /// The report of several runs together.
    ///
    /// # Errors
    /// Words that only one run can answer, and runs that cannot be read or pooled: the user's.
    fn fleet(&self, journals: &[PathBuf]) -> Result<String> {
        let shown = &self.arguments.shown;
        let of_one = matches!(self.format, Format::Csv | Format::Svg);
        if of_one || shown.published || shown.metric != Metric::Figure {
            return Err(usage(format!(
                "these are {} runs, which have figures in common and nothing else: name one run at a time for csv, svg, --metric \
                 and --published",
                journals.len()
            )));
        }
        if !self.arguments.muted.codes().is_empty() {
            return Err(usage(format!(
                "these are {} runs, whose warnings stand in the report of each: leave out --mute",
                journals.len()
            )));
        }
        let user = |error: anyhow::Error| usage(format!("{error:#}"));
        let runs = reduce::read(journals).map_err(user)?;
        let mut tables = runs.tables.clone();
        if !self.is_whole() {
            let cells = runs.known.cells();
            let keeps = |cell: &_| self.filters.iter().all(|filter| filter.matches(cell));
            self.view.apply(&mut tables, |number| &cells[number], keeps).map_err(user)?;
        }
        let mut document = fleet::document(&runs, &tables, self.view.machines).map_err(user)?;
        document.facts.extend(self.view.fact(&shown.filter).map(|text| ("shown", text)));
        Ok(match self.format {
            Format::Text => text::render(&document),
            Format::Html => html::render(&document, None),
            _ => markdown::render(&document, false),
        })
    }

    /// The report of one run.
    fn one(&self, run: &mut Run, path: &Path) -> Result<String> {
        match self.format {
            Format::Csv => self.csv(run),
            Format::Text => Ok(text::render(&self.document(run, false)?)),
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

/// Prints a run, or several together, in the format, or fills the blocks of a file.
///
/// # Errors
/// A run that cannot be read: exit code 2, as it is a file that is not valid. Likewise gates that are asked for and not there.
pub fn report(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    if let Some(target) = &arguments.into {
        return splice::splice(target, arguments, catalog);
    }
    let wanted = Wanted::of(arguments, Format::Text, catalog)?;
    let user = |error: anyhow::Error| usage(format!("{error:#}"));
    let journals = arguments.runs.iter().map(|path| journals_below(path)).collect::<Result<Vec<_>>>();
    let journals = journals.map_err(user)?.concat();
    let limits = if arguments.gate { limits(&wanted, &journals)? } else { Vec::new() };
    match journals.as_slice() {
        [path] => single(&wanted, path)?,
        several => output::print(&wanted.fleet(several)?)?,
    }
    Ok(if arguments.gate { gating::exit_code(&limits) } else { WELL })
}

/// Prints the report of one run, or writes its plots.
fn single(wanted: &Wanted, path: &Path) -> Result<()> {
    let mut run = load::read_run(path).map_err(|error| usage(format!("{error:#}")))?;
    if let (Format::Svg, Some(folder)) = (wanted.format, &wanted.arguments.output) {
        return plots::all(&wanted.document(&mut run, false)?, wanted.arguments, folder);
    }
    let muted = wanted.arguments.muted.codes();
    if wanted.format == Format::Csv && !muted.is_empty() {
        output::say(&format!("muted: {}", muted.words()));
    }
    output::print(&wanted.one(&mut run, path)?)
}

/// What comes of the gates that the runs were made with, for the cells that match; never nothing. Of many runs those that do not hold are told.
fn limits(wanted: &Wanted, journals: &[PathBuf]) -> Result<Vec<gates::Checked>> {
    let mut limits = Vec::new();
    for path in journals {
        let mut run = load::read_run(path).map_err(|error| usage(format!("{error:#}")))?;
        wanted.narrow_gates(&mut run);
        let own = gates::of_run(&run, &slots(&run, Metric::Figure));
        // The report of one run has a table of its gates, that of many has not.
        if journals.len() > 1 {
            gating::tell(&format!("{}: ", path.display()), &own);
        }
        limits.extend(own);
    }
    if limits.is_empty() && !wanted.filters.is_empty() {
        return Err(usage(
            "no run has a gate with max or min for a cell that matches, so nothing can be judged: leave out -f, or let it keep such a cell",
        ));
    }
    if limits.is_empty() {
        return Err(usage(
            "no run has a gate with max or min, so nothing can be judged: write [[gate]] into the matrix and run it, or judge \
             max_regression by `ipcmatrix compare`",
        ));
    }
    Ok(limits)
}
