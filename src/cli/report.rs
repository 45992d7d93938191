//! `report`: the tables of runs that were made before.

use super::arguments::{Format, Report as Arguments};
use super::{WELL, output, plots, usage};
use crate::report::document::document;
use crate::report::load::{self, Run};
use crate::report::metric::Metric;
use crate::report::{Options, csv, html, markdown, text};
use anyhow::Result;
use std::path::Path;

/// What would be left out silently is refused.
fn check(arguments: &Arguments) -> Result<()> {
    let figure = arguments.metric == Metric::Figure;
    let (svg, html) = (arguments.format == Format::Svg, arguments.format == Format::Html);
    if arguments.format == Format::Csv && (!figure || arguments.published) {
        return Err(usage("csv has the raw samples: it takes neither --metric nor --published"));
    }
    if arguments.published && !figure {
        return Err(usage("published figures stand beside the figure of the measure: leave out --metric"));
    }
    if svg && arguments.published {
        return Err(usage("plots show today's figures alone: leave out --published"));
    }
    let chooses = !arguments.table.is_empty() || arguments.output.is_some();
    if chooses && !svg {
        return Err(usage("--table and -o choose plots: use them with --format svg"));
    }
    if (svg || html) && arguments.runs.len() > 1 {
        return Err(usage("a page or a picture shows one run: name one run at a time"));
    }
    Ok(())
}

/// Prints each run in the format.
///
/// # Errors
/// A run that cannot be read: exit code 2, as it is a file that is not valid.
pub fn report(arguments: &Arguments) -> Result<u8> {
    check(arguments)?;
    let options = Options {
        metric: arguments.metric,
        published: arguments.published,
        muted: arguments.muted.codes(),
        linked: false,
    };
    let mut documents = Vec::new();
    for path in &arguments.runs {
        let run = load::read_run(path).map_err(|error| usage(format!("{error:#}")))?;
        if let (Format::Svg, Some(folder)) = (arguments.format, &arguments.output) {
            plots::all(&document(&run, options)?, arguments, folder)?;
            return Ok(WELL);
        }
        documents.push(one(&run, path, arguments, options)?);
    }
    if arguments.format == Format::Csv && !options.muted.is_empty() {
        output::say(&format!("muted: {}", options.muted.words()));
    }
    output::print(&documents.join("\n"))?;
    Ok(WELL)
}

/// The report of one run.
fn one(run: &Run, path: &Path, arguments: &Arguments, options: Options) -> Result<String> {
    match arguments.format {
        Format::Text => text::text(run, options),
        Format::Md => markdown::markdown(run, options),
        Format::Csv => Ok(csv::csv(run, options.muted)),
        Format::Html => {
            let environment = load::read_environment(path).map_err(|error| usage(format!("{error:#}")))?;
            html::html(run, environment.as_ref(), options)
        }
        Format::Svg => plots::one(&document(run, options)?, arguments),
    }
}
