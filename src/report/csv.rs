//! Tidy CSV (RFC 4180, lines ended by a line feed): one row a sample, and one for each visit or cell
//! that has none. Words are kept to one line, controls shown as in the other formats.

use super::cells::{Slot, measure_unit, measure_value, slots};
use super::load::Run;
use super::metric::Metric;
use super::rows::{Fields, Rows};
use super::samples::drained_ns;
use super::warnings::{Codes, Findings};
use crate::cell::{Cell, Measure};
use crate::measure::stats::modes::Mode;
use crate::record::{Lead, Measured, Outcome, Sample, Unavailable, Visit, WorkerSample};
use crate::workload::{SERVER, Tally};

/// The columns after the axes.
///
/// `cell_outcome` says whether the cell counts; `outcome` is that of the visit. `ops` are operations
/// a worker, `cpu_ns` and the context switches sums over the workers, `twin_ns` the time of the loop without the
/// operations; `value` is the sample in `unit`, loop included. Of served cells, `server_cpu_ns` is the CPU time of the
/// server in the whole batch, and half (99 of 100) of the requests of the batch took no longer than `request_p50_ns`
/// (`request_p99_ns`) each. Of logs, `drained_ns` is the time until the file was complete, `daemon_cpu_ns` the CPU time of
/// the daemon, and the lines are those of all workers in the batch. `warnings` are the codes of the visit and of its cell
/// with a space between, and `modes` the two modes of a cell of grade U, each as its median in `unit`, a colon, and its
/// share of the visits.
const COLUMNS: &[&str] = &[
    "cell_outcome",
    "round",
    "position",
    "outcome",
    "lead",
    "sample",
    "ops",
    "elapsed_ns",
    "cpu_ns",
    "twin_ns",
    "voluntary_switches",
    "involuntary_switches",
    "value",
    "unit",
    "oversubscribed",
    "flags",
    "phase",
    "reason",
    "remedy",
    "server_cpu_ns",
    "request_p50_ns",
    "request_p99_ns",
    "drained_ns",
    "daemon_cpu_ns",
    "lines_attempted",
    "lines_refused",
    "lines_received",
    "lines_limited",
    "lines_lost",
    "lines_doubled",
    "lines_reordered",
    "lines_torn",
    "warnings",
    "modes",
];

/// The samples of a run: visits in the order of the journal, then the cells without a visit. Muted warnings are left out.
pub fn csv(run: &Run, muted: Codes) -> String {
    csv_of(run, muted, |_| true)
}

/// The same of some cells, by their positions in the header.
pub fn csv_of(run: &Run, muted: Codes, keeps: impl Fn(usize) -> bool) -> String {
    let findings = Findings::of(run, muted);
    let slots = slots(run, Metric::Figure);
    let mut rows = Rows::new(COLUMNS);
    let mut visited = vec![false; slots.len()];
    for (place, visit) in run.visits.iter().enumerate() {
        visited[visit.cell_index] = true;
        if !keeps(visit.cell_index) {
            continue;
        }
        let slot = &slots[visit.cell_index];
        push_visit(&mut rows, visit, slot.word(), &told_fields(&findings, place, slot));
    }
    let cells = run.header.cells.iter().zip(&slots).zip(visited).enumerate();
    for (_, ((planned, slot), _)) in cells.filter(|(index, (_, visited))| !visited && keeps(*index)) {
        push_unvisited(&mut rows, &planned.cell, slot);
    }
    rows.text
}

fn push_visit(rows: &mut Rows, visit: &Visit, cell_outcome: &str, told: &Fields) {
    let mut fields = vec![
        ("cell_outcome", cell_outcome.to_string()),
        ("round", visit.round.to_string()),
        ("position", visit.position.to_string()),
    ];
    match &visit.outcome {
        Outcome::Measured(measured) => {
            for (index, sample) in measured.samples.iter().enumerate() {
                let of_sample = sample_fields(&visit.cell, measured, index + 1, sample);
                rows.push(&visit.cell, &[&fields, &of_sample, told]);
            }
        }
        Outcome::Unavailable(why) => {
            fields.extend(unavailable_fields(why));
            rows.push(&visit.cell, &[&fields]);
        }
        Outcome::Failed { phase, error } => {
            fields.extend([
                ("outcome", "failed".into()),
                ("phase", phase.clone()),
                ("reason", error.clone()),
            ]);
            rows.push(&visit.cell, &[&fields]);
        }
    }
}

fn push_unvisited(rows: &mut Rows, cell: &Cell, slot: &Slot) {
    let mut fields = vec![("cell_outcome", slot.word().to_string())];
    if let Slot::Unavailable(why) = slot {
        fields.extend(unavailable_fields(why));
    }
    rows.push(cell, &[&fields]);
}

/// What is told of a measured visit and of its cell.
fn told_fields(findings: &Findings, place: usize, slot: &Slot) -> Fields {
    let figure = slot.figure();
    let of_figure = figure.map(|figure| findings.of_figure(figure)).unwrap_or_default();
    let mode = |mode: &Mode| format!("{}:{}", mode.estimate.value, mode.share);
    let modes =
        figure.and_then(|figure| figure.modes).map(|modes| modes.0.iter().map(mode).collect::<Vec<_>>());
    vec![
        ("warnings", findings.of_visit(place).and(of_figure).words()),
        ("modes", modes.unwrap_or_default().join(" ")),
    ]
}

fn unavailable_fields(why: &Unavailable) -> Fields {
    vec![("outcome", "unavailable".into()), ("reason", why.reason.clone()), ("remedy", why.remedy.clone())]
}

fn sample_fields(cell: &Cell, measured: &Measured, number: usize, sample: &Sample) -> Fields {
    let sum = |part: fn(&WorkerSample) -> u64| {
        let parts = sample.workers.iter().map(|worker| u128::from(part(worker)));
        parts.sum::<u128>().to_string()
    };
    let twin_ns = sample.workers.iter().find_map(|worker| worker.twin).map(|twin| twin.elapsed_ns);
    let value = measure_value(cell, sample.elapsed_ns as f64 / measured.ops as f64);
    let mut fields: Fields = vec![
        ("outcome", "measured".into()),
        ("lead", lead(measured.lead).into()),
        ("sample", number.to_string()),
        ("ops", measured.ops.to_string()),
        ("elapsed_ns", sample.elapsed_ns.to_string()),
        ("cpu_ns", sum(|worker| worker.cpu_ns)),
        ("twin_ns", twin_ns.map(|twin_ns| twin_ns.to_string()).unwrap_or_default()),
        ("voluntary_switches", sum(|worker| worker.voluntary_switches)),
        ("involuntary_switches", sum(|worker| worker.involuntary_switches)),
        ("value", if value.is_finite() { value.to_string() } else { String::new() }),
        ("unit", cell.measure().map(csv_unit).unwrap_or_default()),
        ("oversubscribed", measured.oversubscribed.to_string()),
        ("flags", measured.flags.join(" ")),
    ];
    if cell.measure() == Some(Measure::Serve) {
        fields.extend(served_fields(sample));
    }
    fields.extend(logged_fields(sample));
    fields
}

/// What only a log has.
fn logged_fields(sample: &Sample) -> Fields {
    let Some(lines) = sample.delivery else { return Vec::new() };
    let known = |count: Option<u64>| count.map(|count| count.to_string()).unwrap_or_default();
    let drained = drained_ns(sample);
    vec![
        ("drained_ns", known(drained.is_finite().then_some(drained as u64))),
        ("daemon_cpu_ns", known(sample.daemon_cpu_ns)),
        ("lines_attempted", lines.attempted.to_string()),
        ("lines_refused", lines.refused.to_string()),
        ("lines_received", known(lines.received)),
        ("lines_limited", known(lines.limited)),
        ("lines_lost", lines.lost.to_string()),
        ("lines_doubled", lines.doubled.to_string()),
        ("lines_reordered", lines.reordered.to_string()),
        ("lines_torn", lines.torn.to_string()),
    ]
}

/// The word for the number that leads, as in records.
pub fn lead(lead: Lead) -> &'static str {
    match lead {
        Lead::Floor => "floor",
        Lead::Typ => "typ",
        Lead::Mean => "mean",
    }
}

/// What only a served cell has.
fn served_fields(sample: &Sample) -> Fields {
    let timed = |percentile: fn(&Tally) -> Option<u64>| {
        let timed = sample.workers.iter().find_map(|worker| percentile(&worker.tally));
        timed.map(|ns| ns.to_string()).unwrap_or_default()
    };
    let server = sample.workers.get(SERVER);
    vec![
        ("server_cpu_ns", server.map(|server| server.cpu_ns.to_string()).unwrap_or_default()),
        ("request_p50_ns", timed(|tally| tally.request_p50_ns)),
        ("request_p99_ns", timed(|tally| tally.request_p99_ns)),
    ]
}

/// The unit as tables name it, without thousands commas.
pub fn csv_unit(measure: Measure) -> String {
    measure_unit(measure).replace(',', "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Delivery;

    #[test]
    fn the_number_that_leads_has_the_word_of_the_records() {
        for each in [Lead::Floor, Lead::Typ, Lead::Mean] {
            assert_eq!(serde_json::to_string(&each).unwrap(), format!("\"{}\"", lead(each)));
        }
    }

    #[test]
    fn a_served_cell_has_the_time_of_its_server_and_of_its_requests() {
        let worker = |cpu_ns| WorkerSample { cpu_ns, ..WorkerSample::default() };
        let mut workers = vec![worker(700); SERVER + 1];
        let clients = Tally { request_p50_ns: Some(50), request_p99_ns: Some(99), ..Tally::default() };
        workers.push(WorkerSample { tally: clients, ..worker(11) });
        let sample = Sample { elapsed_ns: 1, workers, ..Sample::default() };
        let wanted = [("server_cpu_ns", "700"), ("request_p50_ns", "50"), ("request_p99_ns", "99")];
        assert_eq!(served_fields(&sample), wanted.map(|(name, text)| (name, text.to_owned())));
        assert!(COLUMNS.windows(wanted.len()).any(|names| names == wanted.map(|(name, _)| name)));
    }

    #[test]
    fn a_log_has_its_lines_and_an_older_journal_has_none() {
        let worker = |drained_ns| WorkerSample { begin_ns: 100, drained_ns, ..WorkerSample::default() };
        let lines = Delivery { attempted: 9, received: Some(8), lost: 3, torn: 1, ..Delivery::default() };
        let mut sample = Sample {
            delivery: Some(lines),
            daemon_cpu_ns: Some(5),
            workers: vec![worker(Some(400)), worker(Some(350))],
            ..Sample::default()
        };
        let fields = logged_fields(&sample);
        let names = fields.iter().map(|(name, _)| *name).collect::<Vec<&str>>();
        assert!(COLUMNS.windows(names.len()).any(|columns| columns == names));
        let texts: Vec<&str> = fields.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(texts, ["300", "5", "9", "0", "8", "", "3", "0", "0", "1"]);
        sample.workers[0].drained_ns = None;
        assert_eq!(logged_fields(&sample)[0], ("drained_ns", String::new()), "one of them is not known");
        assert!(logged_fields(&Sample::default()).is_empty());
    }
}
