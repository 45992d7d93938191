//! One visit: a fresh process opens one cell, warms up, takes a few samples, proves them and ends. Cells of some
//! measures share what is opened ([`crate::cell::Measure::visited_together`]): their visit measures one after the other.
//!
//! The process has one thread until its workers start, so it may enter a namespace, pin itself and
//! fork. It names no mechanism.

mod control;
mod distance;
mod figures;
mod gate;
mod isolation;
mod placement;
mod refusal;
mod run_delay;
mod session;
mod spawn;
mod whole_core;
mod worker;

use crate::catalog::{Catalog, Driver};
use crate::cell::{Axis, Cell};
use crate::measure::canary::WholeCore;
use crate::measure::clock::Deadline;
use crate::record::{INJECTED, Measured, Outcome, Part, Request, Tampering, Unavailable};
use crate::sys::process;
use crate::workload::Effective;
use distance::Probe;
use placement::Placement;
use refusal::Refusal;
use serde::Serialize;
use serde::de::DeserializeOwned;
use session::Crew;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

const STANDARD_STREAMS: [i32; 3] = [0, 1, 2];

/// The hidden subcommand `cell`: reads a [`Request`] from standard input and prints an [`Outcome`] for each cell as
/// one JSON line. After a failure the cells that are left have none. Ends the process with 0 whenever that could be
/// written. Mechanisms of `faulty` are for requests that ask for one, and no others.
pub fn main(catalog: &Catalog, faulty: &Catalog) -> ! {
    std::panic::set_hook(Box::new(|_| {}));
    // What whoever started the run left open is none of ours, and may have a number that a cell asks for.
    process::close_all_but(&STANDARD_STREAMS);
    let result = catch_unwind(AssertUnwindSafe(|| {
        request().and_then(|request: Request| {
            let catalog = if tampering(&request).faulty { faulty } else { catalog };
            perform(catalog, &request)
        })
    }));
    let outcome = match result {
        Ok(Ok(last)) => last,
        Ok(Err(refusal)) => refusal.outcome(),
        Err(panic) => Refusal::failed("visit", worker::panic_text(panic.as_ref())).outcome(),
    };
    deliver(&outcome)
}

/// The hidden subcommand `probe`: reads cells from standard input and prints, for each, why the machine
/// refuses it, or null. Opens and measures nothing.
pub fn probe(catalog: &Catalog) -> ! {
    match request::<Vec<Cell>>() {
        Ok(cells) => {
            let refused: Vec<Option<Unavailable>> = cells.iter().map(|cell| refused(catalog, cell)).collect();
            deliver(&refused)
        }
        Err(refusal) => deliver(&refusal.outcome()),
    }
}

fn refused(catalog: &Catalog, cell: &Cell) -> Option<Unavailable> {
    /// Transports have no axis for it: they always have two.
    const WORKERS: u64 = 2;
    let workers = cell.get(Axis::Workers).map_or(WORKERS, |_| cell.count(Axis::Workers));
    let looked = prepare(catalog, cell)
        .and_then(|_| placement::place(cell.word(Axis::Placement), workers as usize, &[]).map(drop));
    match looked {
        Err(Refusal::Unavailable(unavailable)) => Some(unavailable),
        _ => None,
    }
}

/// What is done to the visit on purpose.
fn tampering(request: &Request) -> Tampering {
    request.tampering.unwrap_or_default()
}

fn request<T: DeserializeOwned>() -> Result<T, Refusal> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|error| Refusal::failed("start", error))?;
    serde_json::from_str(&text)
        .map_err(|error| Refusal::failed("start", format!("the request is not one: {error}")))
}

/// Prints what came of it and ends the process, and with it threads that hang.
fn deliver(what: &impl Serialize) -> ! {
    process::exit_now(if print(what).is_ok() { 0 } else { 1 })
}

fn print(what: &impl Serialize) -> io::Result<()> {
    let line = serde_json::to_string(what)?;
    writeln!(io::stdout(), "{line}")
}

/// Prints each outcome when the next one comes: until then its cell may still be said to have failed.
#[derive(Default)]
struct Outcomes(Option<Outcome>);

impl Outcomes {
    fn push(&mut self, outcome: Outcome) -> Result<(), Refusal> {
        match self.0.replace(outcome) {
            Some(before) => print(&before).map_err(|error| Refusal::failed("visit", error)),
            None => Ok(()),
        }
    }

    /// The one that is not printed yet.
    fn last(self) -> Result<Outcome, Refusal> {
        self.0.ok_or_else(|| Refusal::failed("start", "the request names no cell"))
    }
}

/// Measures every cell of the request; what came of the last is returned, of the others printed.
fn perform(catalog: &Catalog, request: &Request) -> Result<Outcome, Refusal> {
    let deadline = Deadline::after_ms(request.deadline_ms);
    let prepared = prepare_all(catalog, request);
    let mut ready = request
        .parts
        .iter()
        .zip(&prepared)
        .filter_map(|(part, prepared)| prepared.as_ref().ok().map(|(driver, _)| (*driver, &part.cell)));
    let Some((driver, cell)) = ready.next() else { return refuse(prepared, None) };
    let cells: Vec<Cell> = std::iter::once(cell).chain(ready.map(|(_, cell)| cell)).cloned().collect();
    let parent = request.runner.map_or_else(nix::unistd::getppid, nix::unistd::Pid::from_raw);
    process::die_with(parent).map_err(|error| Refusal::failed("start", error))?;
    let workload = (driver.open)(&cells).map_err(Refusal::of_opening)?;
    let placement = match placed(request, cell, workload.workers()) {
        Err(Refusal::Unavailable(why)) => return refuse(prepared, Some(&why)),
        placed => placed?,
    };
    let injected_ns = tampering(request).injected_ns_per_op;
    distance::probed(&placement, request.effort.shows_figures(), deadline, |probe| {
        spawn::with_workers(workload.as_ref(), &placement, cell.word(Axis::Spawn), injected_ns, |controls| {
            let crew = Crew { workload: workload.as_ref(), placement: &placement, controls };
            let outcomes = measure_all(crew, probe, request, prepared, deadline)?;
            crew.dismiss()?;
            outcomes.last()
        })
    })
}

/// Where the workers of the cell go.
fn placed(request: &Request, cell: &Cell, workers: usize) -> Result<Placement, Refusal> {
    let placement = cell.word(Axis::Placement);
    // The second thread of a working process takes a CPU of its own, which must not be the one that something else uses.
    let avoided = if is_working(cell) { &[][..] } else { &request.avoided_cpus };
    let placed = placement::place(placement, workers, avoided)?;
    match request.same_cpu_as.filter(|cpu| placed.allows(*cpu)) {
        Some(cpu) => Ok(placed.on(cpu)),
        None if request.effort.shows_figures() && !is_working(cell) => whole_core::settle(placed),
        None => Ok(placed),
    }
}

/// Whether a second thread of the worker's process is at work all the time, on another CPU.
fn is_working(cell: &Cell) -> bool {
    cell.word(Axis::ProcessState) == "working"
}

/// What comes of a visit in which nothing can be measured: each cell's own refusal, else what holds for all.
fn refuse(prepared: Vec<Prepared>, all: Option<&Unavailable>) -> Result<Outcome, Refusal> {
    let mut outcomes = Outcomes::default();
    for prepared in prepared {
        match (prepared, all) {
            (Err(refusal), _) => outcomes.push(refusal.outcome())?,
            (Ok(_), Some(why)) => outcomes.push(Outcome::Unavailable(why.clone()))?,
            (Ok(_), None) => {}
        }
    }
    outcomes.last()
}

/// One cell after the other; the first has the deadline of the opening.
fn measure_all(
    crew: Crew,
    probe: Option<Probe>,
    request: &Request,
    prepared: Vec<Prepared>,
    mut deadline: Deadline,
) -> Result<Outcomes, Refusal> {
    let mut outcomes = Outcomes::default();
    let mut begun = 0;
    for (part, prepared) in request.parts.iter().zip(prepared) {
        let outcome = match prepared {
            Err(refusal) => refusal.outcome(),
            Ok((_, mut effective)) => {
                effective.extend(crew.workload.effective());
                effective.insert("cpus".into(), crew.placement.cpus().into());
                effective.extend(crew.placement.class().map(|class| ("cpu_class".into(), class.into())));
                let injected_ns = tampering(request).injected_ns_per_op;
                effective.extend(injected_ns.map(|ns| (INJECTED.into(), ns.into())));
                let distance_ns = || probe.map(|probe| probe.ns(deadline)).transpose();
                // A second thread that works may do so on the other half of the core: that is the cell's own condition.
                let core = || match request.effort.shows_figures() && !is_working(&part.cell) {
                    true => whole_core::now(crew.placement),
                    false => Ok(None),
                };
                session::enter(crew, begun, deadline)?;
                let (before_ns, core_before) = (distance_ns()?, core()?);
                let figures = session::run(crew, part.ops, &request.effort, deadline)?;
                let cores = core_before.zip(core()?).map(<[WholeCore; 2]>::from);
                let ping_pong_ns = before_ns.zip(distance_ns()?).map(<[f64; 2]>::from);
                begun += 1;
                deadline = Deadline::after_ms(request.deadline_ms);
                let measured = figures::measured(figures, effective);
                Outcome::Measured(Box::new(Measured {
                    ping_pong_ns,
                    whole_core_ns: cores.map(|cores| cores.map(|core| core.independent_ns)),
                    dependent_ns: cores.map(|cores| cores.map(|core| core.dependent_ns)),
                    moved: crew.placement.moved(),
                    ..measured
                }))
            }
        };
        outcomes.push(outcome)?;
    }
    Ok(outcomes)
}

/// The driver of a cell that this machine allows, and what was set for it.
type Prepared = Result<(&'static Driver, Effective), Refusal>;

/// Prepares every cell of the request. What was set for one holds for those behind it, as it was first found.
fn prepare_all(catalog: &Catalog, request: &Request) -> Vec<Prepared> {
    let mut in_force = Effective::new();
    let mut prepare_one = |part: &Part| {
        let (driver, found) = prepare(catalog, &part.cell)?;
        for (name, value) in found {
            in_force.entry(name).or_insert(value);
        }
        Ok((driver, in_force.clone()))
    };
    request.parts.iter().map(&mut prepare_one).collect()
}

/// Finds the driver, and sees to it that the machine allows the cell.
fn prepare(catalog: &Catalog, cell: &Cell) -> Prepared {
    let driver = driver(catalog, cell)?;
    if let Some(reason) = driver.reach.refuses(cell.word(Axis::Spawn), cell.count(Axis::Workers)) {
        return Err(Refusal::unavailable(reason, "choose another value of spawn"));
    }
    (driver.present)().map_err(Refusal::Unavailable)?;
    (driver.usable)(cell).map_err(Refusal::Unavailable)?;
    let effective = isolation::enter(driver, cell)?;
    Ok((driver, effective))
}

fn driver(catalog: &Catalog, cell: &Cell) -> Result<&'static Driver, Refusal> {
    cell.measure()
        .and_then(|measure| catalog.find(measure, cell.mechanism()))
        .ok_or_else(|| Refusal::failed("start", format!("no driver measures the cell \"{cell}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Family, Limit, LimitName};
    use crate::cell::{Measure, Value};

    const fn driver(mechanism: &'static str, present: fn() -> Result<(), Unavailable>) -> Driver {
        const SUMMARY: &str = "a transport of the tests";
        let mut driver = Driver::plain(Family::Transport, Measure::Bandwidth, mechanism, SUMMARY, |_| {
            Err(std::io::ErrorKind::Unsupported.into())
        });
        driver.present = present;
        driver.limits = |cell| {
            let name = LimitName::Protocol { name: "a parcel", most: 100, why: "the van is small" };
            vec![Limit { name, needs: cell.message_bytes() as u64 }]
        };
        driver
    }

    static DRIVERS: &[Driver] = &[
        driver("here", || Ok(())),
        driver("absent", || Err(Unavailable { reason: "no van".into(), remedy: "buy one".into() })),
    ];

    fn refused_with(mechanism: &str, message_bytes: u64) -> Option<(String, String)> {
        let cell = Cell::new(Measure::Bandwidth, mechanism)
            .with(Axis::MessageBytes, Value::Count(message_bytes))
            .with(Axis::Spawn, Value::word("processes"))
            .with(Axis::Placement, Value::word("free"));
        refused(&Catalog::of(DRIVERS), &cell).map(|why| (why.reason, why.remedy))
    }

    #[test]
    fn what_is_absent_is_unavailable_with_its_remedy() {
        assert_eq!(refused_with("here", 100), None);
        assert_eq!(refused_with("absent", 100), Some(("no van".into(), "buy one".into())));
    }

    #[test]
    fn a_limit_of_the_protocol_is_unavailable_with_its_reason() {
        let reason = "a parcel is at most 100 bytes (the van is small), the cell needs 101";
        let remedy = "nothing raises it: choose at most 100";
        assert_eq!(refused_with("here", 101), Some((reason.into(), remedy.into())));
    }
}
