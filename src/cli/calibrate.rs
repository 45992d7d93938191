//! `calibrate`: the same arm twice over the cells gives their noise floors.

use super::arguments::Calibrate as Arguments;
use super::arms::{Arm, Comparison};
use super::{FAILED, WELL, floors, output, usage};
use crate::catalog::Catalog;
use crate::compare::floors::{Floor, Floors};
use crate::compare::pairs::{Found, Pair};
use crate::record::{Effort, Outcome};
use crate::report::comparison::rows;
use crate::report::digits::counted;
use crate::report::load::Run;
use anyhow::Result;

/// Calibrates the cells and returns the exit code.
///
/// # Errors
/// The user's mistakes before anything is run; else what keeps the run from starting, or the file from being written.
pub fn calibrate(arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let comparison = Comparison {
        selection: &arguments.selection,
        conduct: &arguments.conduct,
        arms: [Arm::default(), Arm::default()],
        least: None,
        // The least that a run measures in a visit: floors of it hold for those that measure more, too.
        effort: Effort::THRIFTY,
        output: None,
    };
    let as_run = arguments.conduct.as_run(&arguments.selection, None);
    let mut found = None;
    let path = std::cell::OnceCell::new();
    let look = |class: Option<&[String; 2]>| {
        let class = class.ok_or_else(|| usage("the class of this machine cannot be told"))?;
        let place = floors::place(arguments.output.as_deref(), class)?;
        floors::can_write(&place)?;
        let before = floors::read(&place, class, env!("CARGO_PKG_VERSION"))?;
        let _first = path
            .set((place, before.unwrap_or_else(|| Floors::new(env!("CARGO_PKG_VERSION"), class.clone()))));
        Ok((None, "none: this makes them".to_owned()))
    };
    let (measured, _) = comparison.measure(&as_run, catalog, &look)?;
    if let Some((path, mut floors)) = path.into_inner() {
        let fresh = fresh(&measured.run);
        fresh.iter().cloned().for_each(|floor| floors.put(floor));
        if !fresh.is_empty() {
            floors::write(&path, &floors)?;
        }
        output::print(&text(&measured.run, &fresh))?;
        if !arguments.conduct.talk.quiet && !fresh.is_empty() {
            output::say(&format!("floors of {}: {}", counted(floors.cells.len(), "cell"), path.display()));
        }
        found = Some(fresh.len());
    }
    let failed = measured.run.visits.iter().any(|visit| matches!(visit.outcome, Outcome::Failed { .. }));
    Ok(match (measured.caught, failed || found == Some(0)) {
        (Some(caught), _) => caught.exit_code(),
        (None, true) => FAILED,
        (None, false) => WELL,
    })
}

/// The floors of all cells that were measured often enough.
fn fresh(run: &Run) -> Vec<Floor> {
    let floor = |pair: Pair| {
        let Found { log_ratios, both_ns, .. } = pair.found.ok()?;
        Floor::of(pair.a, &run.header.started, &log_ratios, both_ns.as_flattened())
    };
    rows(run).into_iter().filter_map(|row| floor(row.pair)).collect()
}

fn text(run: &Run, fresh: &[Floor]) -> String {
    let percent = |log: f64| format!("{:.1} %", 100.0 * log.exp_m1());
    let half = run.header.cells.len() / 2;
    let mut lines = vec![
        format!("ipcmatrix calibrate: {} of {} have a noise floor", fresh.len(), counted(half, "cell")),
        "two arms: for ab, as many rounds; one run: for one stored run against another".to_owned(),
        String::new(),
        format!("{:>9} {:>9} {:>7}  cell", "two arms", "one run", "rounds"),
    ];
    lines.extend(fresh.iter().map(|floor| {
        format!(
            "{:>9} {:>9} {:>7}  {}",
            percent(floor.paired),
            percent(floor.single),
            floor.rounds,
            floor.cell
        )
    }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}
