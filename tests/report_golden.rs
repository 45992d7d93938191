//! The report in every format, against files that were read by eye. `UPDATE_GOLDEN=1` writes them anew.

#[path = "report_golden/ab.rs"]
mod ab;
#[path = "report_golden/consumers.rs"]
mod consumers;
#[path = "report_golden/export.rs"]
mod export;

use ipcmatrix::cell::{Axis, Cell, Measure, Value};
use ipcmatrix::record::{Measured, Outcome, PlannedCell, Unavailable, Visit};
use ipcmatrix::report::document::document;
use ipcmatrix::report::facts::exact_counts;
use ipcmatrix::report::load::{Run, parse_run};
use ipcmatrix::report::plot::{self, Embed};
use ipcmatrix::report::warnings::Codes;
use ipcmatrix::report::{Options, csv, html, markdown, text};
use ipcmatrix::runner::exact;
use ipcmatrix::workload::Delivery;
use std::fs;
use std::path::{Path, PathBuf};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

fn journal(name: &str) -> String {
    fs::read_to_string(golden(&format!("{name}.jsonl"))).unwrap()
}

fn text(run: &Run) -> anyhow::Result<String> {
    text::text(run, Options::default())
}

fn markdown(run: &Run) -> anyhow::Result<String> {
    markdown::markdown(run, Options::default())
}

fn html(run: &Run) -> String {
    let environment = serde_json::json!({"cpu": {"model": "<M> 1", "governors": {"value": null, "reason": "no such file"}}});
    html::html(run, Some(&environment), Options::default()).unwrap()
}

/// The plots of a run with the names of their files.
fn plots(run: &Run) -> Vec<(String, String)> {
    let document = document(run, Options::default()).unwrap();
    plot::files(&document).into_iter().map(|(name, plot)| (name, plot::svg(plot, Embed::File))).collect()
}

/// The small run with words in it that could break a picture.
fn hostile_plots() -> Vec<(String, String)> {
    let title = run("hostile").header.tables[0].title.clone();
    let name = "a</text><script>alert(1)</script>\u{202e}\u{1b}[31m & a name as long as no mechanism has one";
    let journal = journal("small").replace("\"tcp\"", &serde_json::to_string(name).unwrap());
    let mut run = parse_run(journal.as_bytes(), "hostile").unwrap();
    run.header.tables.iter_mut().for_each(|table| (table.id, table.title) = ("X|1".into(), title.clone()));
    plots(&run)
}

fn csv(run: &Run) -> String {
    csv::csv(run, Codes::default())
}

fn run(name: &str) -> Run {
    parse_run(journal(name).as_bytes(), name).unwrap()
}

/// Compares with the golden file; the first line that differs is named.
fn same_as(name: &str, found: &str) {
    let path = golden(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        fs::write(&path, found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(found.lines()).position(|(one, other)| one != other);
    if let Some(index) = differs {
        let (one, other) = (expected.lines().nth(index), found.lines().nth(index));
        panic!("{name}:{}: expected\n{one:?}\nfound\n{other:?}", index + 1);
    }
    assert!(expected == found, "{name} has another length: {} and {} bytes", expected.len(), found.len());
}

#[test]
fn text_is_as_it_was() {
    same_as("small.txt", &text(&run("small")).unwrap());
    same_as("hostile.txt", &text(&run("hostile")).unwrap());
}

#[test]
fn markdown_is_as_it_was() {
    same_as("small.md", &markdown(&run("small")).unwrap());
    same_as("hostile.md", &markdown(&run("hostile")).unwrap());
}

#[test]
fn csv_is_as_it_was() {
    same_as("small.csv", &csv(&run("small")));
    same_as("hostile.csv", &csv(&run("hostile")));
}

#[test]
fn html_is_as_it_was() {
    same_as("small.html", &html(&run("small")));
    same_as("hostile.html", &html(&run("hostile")));
}

#[test]
fn pictures_are_as_they_were() {
    let plots = plots(&run("small"));
    assert_eq!(plots.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["A.2.svg", "A.4.svg"]);
    for (name, picture) in &plots {
        same_as(&format!("small-{name}"), picture);
    }
    let hostile = hostile_plots();
    assert_eq!(hostile.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["X-1.svg", "X-1-2.svg"]);
    same_as("hostile.svg", &hostile[0].1);
}

#[test]
fn hostile_words_break_no_picture() {
    for (_, picture) in hostile_plots() {
        assert!(!picture.contains(steers), "{picture}");
        assert!(picture.contains("\\u{202e}") && picture.contains("\\u{1b}"), "shown, not lost");
        let tree = roxmltree::Document::parse(&picture).unwrap();
        assert!(!tree.descendants().any(|node| node.has_tag_name("script")), "{picture}");
        let size = |node: &roxmltree::Node, name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let root = tree.root_element();
        for text in tree.descendants().filter(|node| node.has_tag_name("text")) {
            let (x, y) = (size(&text, "x"), size(&text, "y"));
            assert!(
                (0.0..size(&root, "width")).contains(&x) && (0.0..size(&root, "height")).contains(&y),
                "{text:?}"
            );
        }
    }
}

#[test]
fn the_same_records_give_the_same_bytes_in_every_format() {
    for name in ["small", "hostile"] {
        let all = || {
            let run = run(name);
            (text(&run).unwrap(), markdown(&run).unwrap(), csv(&run), html(&run), plots(&run))
        };
        assert_eq!(all(), all());
    }
}

#[test]
fn a_document_links_the_plots_that_stand_beside_it() {
    let linked = markdown::render(&document(&run("small"), Options::default()).unwrap(), true);
    let links: Vec<&str> = linked.lines().filter(|line| line.starts_with("![")).collect();
    assert_eq!(
        links,
        [
            "![Plot of table A.2 Bandwidth of message passing (MB/s)](A.2.svg)",
            "![Plot of table A.4 Increments by threads (seconds per 1,000,000 increments a worker)](A.4.svg)",
        ]
    );
    let without: String =
        linked.replace(&format!("\n{}\n", links[0]), "").replace(&format!("\n{}\n", links[1]), "");
    assert_eq!(without, markdown(&run("small")).unwrap(), "nothing else differs");
}

/// Letters that steer a terminal or the order of letters.
fn steers(letter: char) -> bool {
    (letter.is_control() && letter != '\n')
        || ('\u{202a}'..='\u{202e}').contains(&letter)
        || letter == '\u{2066}'
}

/// Bars that GitHub takes for the edge of a field.
fn bars(line: &str) -> usize {
    line.replace("\\\\", "").replace("\\|", "").matches('|').count()
}

#[test]
fn hostile_words_break_nothing() {
    let run = run("hostile");
    let (text, markdown, csv) = (text(&run).unwrap(), markdown(&run).unwrap(), csv(&run));
    assert_eq!(csv.lines().count(), 7, "a head, three samples, three cells without: {csv}");
    for document in [&text, &markdown, &csv] {
        assert!(!document.contains(steers), "{document}");
        assert!(document.contains("\\u{202e}") && document.contains("\\u{1b}"), "shown, not lost");
    }
    assert!(!markdown.contains(['<', '>']), "no HTML");
    let table: Vec<&str> = markdown.lines().filter(|line| line.starts_with('|')).collect();
    let widths: Vec<usize> = table.iter().map(|line| bars(line)).collect();
    assert_eq!(widths, [5, 5, 5, 3, 3, 3], "{table:#?}");
    let headings: Vec<&str> = markdown.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(headings.len(), 4, "{headings:#?}");
}

#[test]
fn a_run_without_an_end_is_partial() {
    let whole = journal("small");
    let cut = &whole[..whole.trim_end().rfind('\n').unwrap() + 30];
    let run = parse_run(cut.as_bytes(), "cut").unwrap();
    for document in [text(&run).unwrap(), markdown(&run).unwrap()] {
        assert!(document.contains("partial: the journal has no end"), "{document}");
        assert!(document.contains("its last line was cut off"), "{document}");
    }
    let document = text(&ended("interrupted")).unwrap();
    assert!(document.contains("partial: interrupted"), "{document}");
}

/// The small run, ended so.
fn ended(reason: &str) -> Run {
    let whole = journal("small").replace("\"reason\":\"budget\"", &format!("\"reason\":\"{reason}\""));
    parse_run(whole.as_bytes(), reason).unwrap()
}

#[test]
fn a_run_that_is_done_says_why() {
    let line = |run: &Run| {
        text(run)
            .unwrap()
            .lines()
            .find_map(|line| line.strip_prefix("ended      ").map(String::from))
            .unwrap()
    };
    let mut run = ended("done");
    assert_eq!(
        line(&run),
        "done: no cell was left to measure; 1 cell failed",
        "7 of 12 reached the precision"
    );
    run.header.precision = 10.0;
    run.visits.retain(|visit| visit.cell_index != 10); // Three visits give no interval.
    assert_eq!(line(&run), "done: every measured cell reached the precision; 1 cell failed");
    for visit in &mut run.visits {
        visit.outcome = Outcome::Failed { phase: "open".into(), error: "no".into() };
    }
    assert_eq!(line(&run), "done: no cell was left to measure; 12 cells failed");
}

#[test]
fn an_exact_run_names_the_counts_of_its_own_measures() {
    let reading = |mut run: Run| {
        run.header.effort = "exact".into();
        text(&run).unwrap().lines().find(|line| line.starts_with("Exact: ")).unwrap().to_owned()
    };
    let of_waits = reading(waits(None, &[], &[], &[(wait_cell("select", 1), 900.0)]));
    assert!(of_waits.contains("the mean of 3 runs of 100,000 calls, in one visit"), "{of_waits}");
    let first = wait_cell("select", 1).with(Axis::Call, Value::word("first"));
    assert!(reading(waits(None, &[], &[], &[(first, 9.0)])).ends_with("timed alone, once."));
    let both = reading(run("small"));
    assert!(both.contains("of 5 loops of 10 MiB or of 3 runs of 1,000,000 increments a worker,"), "{both}");
}

#[test]
fn the_counts_that_are_named_are_those_of_the_runner() {
    for measure in Measure::ALL {
        let cell = Cell::new(*measure, "x").with(Axis::MessageBytes, Value::Count(1 << 20));
        let (ops, samples) = (exact::ops(&cell), exact::effort(&cell).additive.samples);
        let words = exact_counts(*measure).split(' ').map(|word| word.replace(',', "")).collect::<Vec<_>>();
        assert_eq!(words[0], samples.to_string(), "{words:?}");
        assert_eq!(words[3], ops.to_string(), "{words:?}");
    }
}

#[test]
fn nothing_is_averaged() {
    let mut unsplit = run("small");
    unsplit.header.tables[0].split.clear();
    let error = format!("{:#}", text(&unsplit).unwrap_err());
    assert!(
        error.starts_with("table \"A.2\": placement has the values same_cpu, cross_cpu and is neither"),
        "{error}"
    );

    let mut twice = run("small");
    twice.header.tables[0].cells.push(0);
    let error = format!("{:#}", markdown(&twice).unwrap_err());
    assert!(error.contains("fall on one place"), "{error}");

    let mut mixed = run("small");
    mixed.header.tables[0].cells.push(12);
    let error = format!("{:#}", markdown(&mixed).unwrap_err());
    assert!(error.contains("it shows bandwidth, but has the cell `increment"), "{error}");
}

#[test]
fn a_second_split_and_an_axis_that_some_lack_have_their_own_grids() {
    let mut run = run("small");
    run.header.tables[0].split.push(Axis::Nodelay);
    let document = text(&run).unwrap();
    let headings: Vec<&str> = document.lines().filter(|line| line.starts_with("placement ")).collect();
    assert_eq!(
        headings,
        [
            "placement same_cpu (all workers on one CPU); no nodelay",
            "placement same_cpu (all workers on one CPU); nodelay off",
            "placement cross_cpu (workers spread over the CPUs); no nodelay",
            "placement cross_cpu (workers spread over the CPUs); nodelay off",
        ]
    );
    let words = document.lines().find(|line| line.contains("message_bytes |")).unwrap();
    assert!(!words.contains("tcp"), "columns that have no cell are left out: {words}");
}

#[test]
fn rows_and_columns_follow_the_order_of_the_matrix() {
    let mut run = run("small");
    let table = &mut run.header.tables[0];
    let sizes = table.axes.iter_mut().find(|(axis, _)| *axis == Axis::MessageBytes).unwrap();
    assert_eq!(sizes.1, [Value::Count(1024), Value::Count(65536)]);
    sizes.1.reverse();
    let document = markdown(&run).unwrap();
    assert!(document.find("| 65536 |").unwrap() < document.find("| 1024 |").unwrap(), "{document}");
}

#[test]
fn increments_at_the_books_count_are_not_called_scaled() {
    let mut run = run("small");
    assert!(
        text(&run).unwrap().contains("Scaled: measured on shorter batches (14,000 to 1,000,000 increments")
    );
    run.header.tables[1].cells.truncate(1);
    assert!(!text(&run).unwrap().contains("Scaled"));
}

#[test]
fn a_visit_that_took_no_time_fails_its_cell() {
    let first = journal("small").lines().nth(1).unwrap().to_string();
    let floor = first.split("\"floor_ns\":").nth(1).unwrap().split(',').next().unwrap();
    let zero = first.replace(&format!("\"floor_ns\":{floor}"), "\"floor_ns\":0.0");
    let run = parse_run(journal("small").replace(&first, &zero).as_bytes(), "zero").unwrap();
    let document = text(&run).unwrap();
    assert!(
        document.contains("recorded 0 ns an operation") && document.contains("1 of 7 visits failed"),
        "{document}"
    );
    assert!(!document.contains("inf"), "{document}");
}

/// The figures of the visits of the first cell, a pipe at 1024 bytes on one CPU.
fn first_cell(run: &mut Run) -> Vec<&mut Box<Measured>> {
    let visits = run.visits.iter_mut().filter(|visit| visit.cell_index == 0);
    let figures = visits.filter_map(|visit| match &mut visit.outcome {
        Outcome::Measured(measured) => Some(measured),
        _ => None,
    });
    figures.collect()
}

/// The line of the table for 1024 bytes on one CPU.
fn first_row(document: &str) -> &str {
    document.lines().find(|line| line.starts_with("          1024 |")).unwrap()
}

#[test]
fn visits_that_climb_are_footnoted() {
    let mut run = run("small");
    for (step, measured) in first_cell(&mut run).into_iter().enumerate() {
        measured.floor_ns = 400.0 + 10.0 * step as f64;
    }
    let document = text(&run).unwrap();
    assert!(
        first_row(&document).contains("| 2400 ±8%¹,²,³ |")
            || first_row(&document).contains("| *2400 ±8%¹,²,³ |"),
        "400..460 ns: {document}"
    );
    assert!(
        document.contains("² W012 visits alike, over 0.2: successive visits are correlated (lag 1): ±"),
        "{document}"
    );
}

#[test]
fn a_cell_refused_now_and_then_says_so() {
    let mut run = run("small");
    let visit = run.visits.iter_mut().find(|visit| visit.cell_index == 0).unwrap();
    let (reason, remedy) = ("no more queues".to_string(), "remove some".to_string());
    visit.outcome = Outcome::Unavailable(Unavailable { reason, remedy });
    let document = text(&run).unwrap();
    assert!(document.contains("1 of 7 visits unavailable: no more queues; remove some"), "{document}");
    for measured in first_cell(&mut run) {
        measured.typ_ns = f64::MAX;
    }
    assert_eq!(text(&run).unwrap(), document, "the floor leads here");
}

/// A run of waits in one table, with a figure of so many nanoseconds of time and CPU time for each cell.
fn waits(metric: Option<&str>, published: &[&str], split: &[Axis], figures: &[(Cell, f64)]) -> Run {
    let mut run = run("small");
    let (row, column) = (Axis::Descriptors, Axis::Mechanism);
    let mut visit = run.visits[0].clone();
    let Outcome::Measured(measured) = &mut visit.outcome else { panic!("the first visit has a figure") };
    measured.ops = 1;
    measured.samples.truncate(1);
    measured.samples[0].workers.truncate(1);
    run.header.cells =
        figures.iter().map(|(cell, _)| PlannedCell { cell: cell.clone(), unavailable: None }).collect();
    run.header.tables.truncate(1);
    let table = &mut run.header.tables[0];
    (table.measure, table.row, table.column, table.split) = (Measure::Wait, row, column, split.to_vec());
    (table.axes, table.cells) = (Vec::new(), (0..figures.len()).collect());
    table.published = published.iter().map(|id| id.to_string()).collect();
    table.metric = metric.map(String::from);
    let of_cell = |(cell_index, (cell, ns)): (usize, &(Cell, f64))| {
        let mut visit = Visit { cell_index, cell: cell.clone(), ..visit.clone() };
        let Outcome::Measured(measured) = &mut visit.outcome else { panic!("it has a figure") };
        (measured.floor_ns, measured.cpu_ns) = (*ns, *ns);
        measured.samples[0].elapsed_ns = *ns as u64;
        measured.samples[0].workers[0].cpu_ns = *ns as u64;
        visit
    };
    run.visits = figures.iter().enumerate().map(of_cell).collect();
    run
}

fn wait_cell(mechanism: &str, descriptors: u64) -> Cell {
    Cell::new(Measure::Wait, mechanism).with(Axis::Descriptors, Value::Count(descriptors))
}

fn beside(run: &Run) -> String {
    text::text(run, Options { published: true, ..Options::default() }).unwrap()
}

#[test]
fn a_published_ratio_stands_beside_the_variant_that_it_is_of_and_has_no_factor() {
    let cell = |mechanism, variant| {
        let cell = wait_cell(mechanism, 1).with(Axis::HighestDescriptor, Value::Count(1000));
        (cell.with(Axis::Variant, Value::word(variant)), if mechanism == "select" { 900.0 } else { 300.0 })
    };
    let cells = ["as_meant", "as_printed"].map(|variant| ["select", "poll"].map(|way| cell(way, variant)));
    let run = waits(Some("calls_per_select_call"), &["LAD-13.1.4"], &[Axis::Variant], cells.as_flattened());
    let document = beside(&run);
    assert_eq!(document.matches("published LAD-13.1.4").count(), 1, "{document}");
    assert!(document.contains("1998; beside variant as_printed\n"), "{document}");
    assert!(document.lines().any(|line| line.ends_with("|      - |   40")), "{document}");
    assert!(!document.contains("(x") && !document.contains("in brackets"), "{document}");
}

#[test]
fn what_was_published_as_elapsed_time_says_so_beside_cpu_time() {
    let cells = [(wait_cell("select", 10), 1000.0), (wait_cell("poll", 10), 1000.0)];
    let document = beside(&waits(Some("cpu_s_per_100000"), &["TLPI-63-9", "Kerrisk-2006"], &[], &cells));
    assert!(document.contains("published in seconds of elapsed time"), "{document}");
    assert!(document.contains("| 1.28 (x13)² | 1.12 (x11)²"), "{document}");
    assert!(document.contains("| 0.73 (x7.3) | 0.61 (x6.1)\n"), "{document}");
}

#[test]
fn a_published_median_tells_of_its_runs() {
    let cell = wait_cell("select", 8192).with(Axis::File, Value::word("dev_null"));
    let cells = [(cell.with(Axis::Call, Value::word("first")), 28_655.0)];
    let document = beside(&waits(None, &["FreeBSD-stock"], &[], &cells));
    assert!(document.contains("| 28655 [28622-28960, 7 runs] (x1000)\n"), "{document}");
    assert!(document.contains("in round ones how many times as good today's is\n"), "{document}");
}

#[test]
fn only_served_cells_have_a_server_in_csv() {
    let served = waits(None, &[], &[], &[(Cell::new(Measure::Serve, "poll"), 9.0)]);
    assert_eq!(last_row(&served, "server_cpu_ns"), "9");
    let waited = waits(None, &[], &[], &[(wait_cell("poll", 1), 9.0)]);
    assert_eq!(last_row(&waited, "server_cpu_ns"), "");
}

/// What the last row has in that column.
fn last_row(run: &Run, column: &str) -> String {
    let csv = csv(run);
    let fields = |line: &str| line.split(',').map(String::from).collect::<Vec<String>>();
    let head = fields(csv.lines().next().unwrap());
    let place = head.iter().position(|name| name == column).unwrap();
    fields(csv.lines().last().unwrap())[place].clone()
}

/// Lines logged by way of a daemon: of 8 one was refused, three were dropped, and one came behind a later one.
fn logged(metric: Option<&str>) -> Run {
    let cell = Cell::new(Measure::Append, "syslog_daemon")
        .with(Axis::Placement, Value::word("same_cpu"))
        .with(Axis::Sender, Value::word("non_blocking"));
    let mut run = waits(metric, &["CatServerRTL-log"], &[], &[(cell, 9.0)]);
    (run.header.tables[0].measure, run.header.tables[0].row) = (Measure::Append, Axis::Placement);
    for visit in &mut run.visits {
        let Outcome::Measured(measured) = &mut visit.outcome else { continue };
        for sample in &mut measured.samples {
            let (received, limited) = (Some(7), Some(3));
            let lines = Delivery {
                attempted: 8,
                refused: 1,
                received,
                limited,
                lost: 4,
                reordered: 1,
                ..Delivery::default()
            };
            sample.delivery = Some(lines);
            sample.daemon_cpu_ns = Some(2_000);
        }
    }
    run
}

#[test]
fn a_log_shows_its_loss_beside_its_time_and_the_published_one_without_a_factor() {
    let figures = beside(&logged(None));
    assert!(figures.contains("50 % of the lines got lost"), "{figures}");
    assert!(
        figures.contains("published CatServerRTL-log") && figures.contains("published as syslogd"),
        "{figures}"
    );
    assert!(figures.contains(" 9 (x1000)"), "a time has a factor: {figures}");
    let lost = beside(&logged(Some("lost_percent")));
    assert!(lost.contains(" 50") && lost.contains(" 75"), "{lost}");
    assert!(!lost.contains("of the lines got lost"), "the table says it already: {lost}");
    assert!(!lost.contains("(x"), "a share has none: {lost}");
    assert_eq!(last_row(&logged(None), "lines_limited"), "3");
    assert_eq!(last_row(&logged(None), "lines_lost"), "4");
    assert_eq!(last_row(&logged(None), "drained_ns"), "", "nobody said when");
}

#[test]
fn a_table_of_percentiles_says_of_what_they_are() {
    let says = |metric, cell| {
        let mut run = waits(Some(metric), &[], &[], &[(cell, 9.0)]);
        run.header.tables[0].measure = run.header.cells[0].cell.measure().unwrap();
        text(&run).unwrap().matches("the median over its batches").count()
    };
    let served = Cell::new(Measure::Serve, "poll").with(Axis::IdleConnections, Value::Count(0));
    assert_eq!((says("p99_us", served.clone()), says("p50_us", served.clone())), (1, 1));
    assert_eq!((says("server_cpu_s", served), says("ns_per_op", wait_cell("poll", 1))), (0, 0));
}

#[test]
fn a_place_without_a_cell_is_a_dash() {
    let mut run = run("small");
    run.header.tables[0].cells.remove(0);
    let document = text(&run).unwrap();
    assert!(first_row(&document).contains("|         - |"), "{document}");
}

#[test]
fn a_cell_of_two_modes_shows_both_with_their_shares() {
    let times =
        [1000.0, 1010.0, 3000.0, 990.0, 1000.0, 3030.0, 1020.0, 1005.0, 2970.0, 1000.0, 995.0, 3010.0];
    let mut run = waits(None, &[], &[], &[(wait_cell("poll", 1), 9.0)]);
    let visit = run.visits[0].clone();
    let of = |ns: &f64| {
        let mut visit = visit.clone();
        let Outcome::Measured(measured) = &mut visit.outcome else { panic!("it has a figure") };
        measured.floor_ns = *ns;
        visit
    };
    run.visits = times.iter().map(of).collect();
    for document in [text(&run).unwrap(), markdown(&run).unwrap()] {
        assert!(document.contains(" 1.00 (67 %) or 3.0 (33 %)"), "{document}");
        assert!(document.contains("grade U: the visits fall into two separate modes"), "{document}");
        assert!(
            document.contains("reached by 0 of 1 measured cell")
                && document.contains("; grades A 0, B 0, C 0, D 0, U 1,"),
            "{document}"
        );
    }
    run.visits.truncate(11);
    assert!(!text(&run).unwrap().contains("grade U:"), "eleven visits are too few to tell");
}

#[test]
fn a_mixture_of_near_and_far_visits_names_both() {
    let mut run = waits(None, &[], &[], &[(wait_cell("poll", 1), 9.0)]);
    let visit = run.visits[0].clone();
    let of = |(ns, ping_pong_ns): (f64, f64)| {
        let mut visit = visit.clone();
        let Outcome::Measured(measured) = &mut visit.outcome else { panic!("it has a figure") };
        (measured.floor_ns, measured.ping_pong_ns) = (ns, Some([ping_pong_ns; 2]));
        visit
    };
    let visits = [vec![(1000.0, 60.0); 5], vec![(3000.0, 250.0); 3]].concat();
    run.visits = visits.into_iter().map(of).collect();
    for document in [text(&run).unwrap(), markdown(&run).unwrap()] {
        assert!(document.contains(" 1.0 (62 % near) or 3.0 (38 % far)"), "{document}");
        assert!(document.contains("near to each other in some visits and far in others"), "{document}");
        assert!(!document.contains("two separate modes"), "{document}");
    }
}

#[test]
fn a_test_run_shows_no_figure() {
    let mut run = run("small");
    run.header.effort = "test".into();
    for document in [text(&run).unwrap(), markdown(&run).unwrap()] {
        assert!(document.contains("| works |") && document.contains("no figure is shown"), "{document}");
        assert!(document.contains("18: 12 measured, 4 unavailable, 1 failed, 1 not visited"), "{document}");
        let tables: String = document.lines().filter(|line| line.contains('|')).collect();
        assert!(!tables.contains(['±', '.', '*']), "{tables}");
    }
}
