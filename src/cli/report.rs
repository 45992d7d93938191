//! `report`: the tables of runs that were made before.

use super::arguments::{Format, Report as Arguments};
use super::gating;
use super::{WELL, output, usage};
use crate::report::cells::slots;
use crate::report::metric::Metric;
use crate::report::{Options, csv, gates, load, markdown, text};
use anyhow::Result;

/// What would be left out silently is refused.
fn check(arguments: &Arguments) -> Result<()> {
    let figure = arguments.metric == Metric::Figure;
    if arguments.format == Format::Csv && (!figure || arguments.published) {
        return Err(usage("csv has the raw samples: it takes neither --metric nor --published"));
    }
    if arguments.published && !figure {
        return Err(usage("published figures stand beside the figure of the measure: leave out --metric"));
    }
    Ok(())
}

/// Prints each run in the format.
///
/// # Errors
/// A run that cannot be read: exit code 2, as it is a file that is not valid. Likewise gates that are asked for and not there.
pub fn report(arguments: &Arguments) -> Result<u8> {
    check(arguments)?;
    let options =
        Options { metric: arguments.metric, published: arguments.published, muted: arguments.muted.codes() };
    let mut documents = Vec::new();
    let mut limits = Vec::new();
    for path in &arguments.runs {
        let run = load::read_run(path).map_err(|error| usage(format!("{error:#}")))?;
        limits.extend(gates::of_run(&run, &slots(&run, Metric::Figure)));
        documents.push(match arguments.format {
            Format::Text => text::text(&run, options)?,
            Format::Md => markdown::markdown(&run, options)?,
            Format::Csv => csv::csv(&run, options.muted),
        });
    }
    if arguments.gate && limits.is_empty() {
        return Err(usage(
            "no run has a gate with max or min, so nothing can be judged: write [[gate]] into the matrix and run it, or judge \
             max_regression by `ipcmatrix compare`",
        ));
    }
    if arguments.format == Format::Csv && !options.muted.is_empty() {
        output::say(&format!("muted: {}", options.muted.words()));
    }
    output::print(&documents.join("\n"))?;
    Ok(if arguments.gate { gating::exit_code(&limits) } else { WELL })
}
