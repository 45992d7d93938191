use super::*;
use crate::cell::{Cell, Measure};
use crate::report::load::{Run, parse_run};
use crate::report::metric::Metric;
use crate::report::projection::project;

fn small() -> Run {
    parse_run(include_bytes!("../../../tests/golden/small.jsonl"), "small").unwrap()
}

fn plots(run: &Run) -> Vec<Option<Plot>> {
    project(run, Metric::Figure).unwrap().iter().map(Plot::of).collect()
}

fn plot(run: &Run) -> Plot {
    plots(run).remove(0).unwrap()
}

/// What stands in a picture, its lines joined.
fn words(picture: &str) -> String {
    let document = roxmltree::Document::parse(picture).unwrap();
    let texts =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text());
    texts.collect::<Vec<_>>().join(" ")
}

#[test]
fn rows_that_are_numbers_make_a_plot_with_a_panel_a_split() {
    let plot = plot(&small());
    assert_eq!((plot.x.as_str(), plot.y.as_str()), ("message bytes", "MB/s"));
    assert_eq!(plot.series, ["pipe", "posix_queue", "tcp"]);
    let drawn: Vec<Vec<&str>> = plot
        .panels
        .iter()
        .map(|panel| panel.curves.iter().map(|curve| plot.series[curve.series].as_str()).collect())
        .collect();
    assert_eq!(
        drawn,
        [vec!["pipe", "posix_queue", "tcp"], vec!["pipe", "tcp"]],
        "what has no figure has no curve"
    );
    let queue = &plot.panels[0].curves[1];
    assert!(queue.points[0].is_some() && queue.points[1].is_none(), "a gap where it is unavailable");
    assert_eq!(queue.points[0].as_ref().unwrap().text, "1140 ±2%");
    assert!(queue.points[0].as_ref().unwrap().interval.is_some());
}

#[test]
fn rows_rise_whatever_the_order_of_the_matrix() {
    let mut run = small();
    run.header.tables[0].axes.iter_mut().for_each(|(_, values)| values.reverse());
    assert_eq!(plot(&run).panels[0].rows, [1024, 65536]);
}

#[test]
fn words_and_single_rows_make_no_plot() {
    let mut words = small();
    let table = &mut words.header.tables[0];
    (table.row, table.column) = (table.column, table.row);
    assert_eq!(plots(&words)[0], None);
    let mut single = small();
    let large: Vec<usize> = single.header.tables[0]
        .cells
        .iter()
        .copied()
        .filter(|index| single.header.cells[*index].cell.count(crate::cell::Axis::MessageBytes) > 1024)
        .collect();
    single.header.tables[0].cells = large;
    assert_eq!(plots(&single)[0], None);
}

#[test]
fn more_series_than_can_be_told_apart_make_no_plot() {
    let mut run = small();
    let (mut cells, visit) = (Vec::new(), run.visits[0].clone());
    run.visits.clear();
    for series in 0..MOST_SERIES + 1 {
        for bytes in [1024, 65536] {
            let cell = Cell::new(Measure::Bandwidth, &format!("way_{series}"));
            let cell = cell.with(Axis::MessageBytes, Value::Count(bytes));
            run.visits.push(crate::record::Visit {
                cell_index: cells.len(),
                cell: cell.clone(),
                ..visit.clone()
            });
            cells.push(crate::record::PlannedCell { cell, unavailable: None });
        }
    }
    run.header.tables.truncate(1);
    run.header.tables[0].axes.clear();
    run.header.tables[0].cells = (0..cells.len()).collect();
    run.header.cells = cells;
    assert_eq!(plots(&run), [None]);
    run.header.tables[0].cells.truncate(2 * MOST_SERIES);
    assert_eq!(plot(&run).panels[0].curves.len(), MOST_SERIES);
}

#[test]
fn of_two_modes_the_rarer_hangs_on_the_other() {
    let mut run = small();
    let visit = run.visits[0].clone();
    run.visits.retain(|visit| visit.cell_index != 0);
    for (index, times) in [500.0, 1000.0, 1000.0].repeat(6).into_iter().enumerate() {
        let mut visit = visit.clone();
        let crate::record::Outcome::Measured(measured) = &mut visit.outcome else {
            panic!("it has a figure")
        };
        measured.floor_ns = times + index as f64 / 10.0;
        run.visits.push(visit);
    }
    let plot = plot(&run);
    let point = plot.panels[0].curves[0].points[0].as_ref().unwrap();
    assert!(point.y < 1100.0 && point.rarer.is_some_and(|rarer| rarer > 2000.0), "{point:?}");
    assert!(point.text.contains(" (67 %) or "), "{point:?}");
    let picture = svg(&plot, Embed::File);
    assert_eq!(picture.matches("class=\"rarer\"").count(), 1);
    assert!(words(&picture).contains("the rarer of two figures"));
    assert!(!words(&svg(&self::plot(&small()), Embed::File)).contains("the rarer of two figures"));
}

#[test]
fn files_have_plain_names_that_differ() {
    let named = |id: &str| Plot { id: id.into(), ..plot(&small()) };
    let all = [
        named("A.2"),
        named("X|1"),
        named("X/1"),
        named("../x"),
        named("..."),
        named("a.2"),
        named(&"é".repeat(200)),
    ];
    let names = file_names(all.iter());
    let wanted = ["A.2.svg", "X-1.svg", "X-1-2.svg", "-x.svg", "table.svg", "a.2-2.svg"];
    assert_eq!(names[..6], wanted);
    assert_eq!(names[6].len(), 84);
}

#[test]
fn a_picture_is_well_formed_and_told_in_words() {
    let plot = plot(&small());
    let text = svg(&plot, Embed::File);
    let document = roxmltree::Document::parse(&text).unwrap();
    let word =
        |name: &str| document.root_element().children().find(|node| node.has_tag_name(name)).unwrap().text();
    assert_eq!(word("title"), Some("A.2 Bandwidth of message passing"));
    let told = word("desc").unwrap();
    assert!(told.contains("pipe 2280 ±2% at 1024, 7280 ±2% at 65536"), "{told}");
    assert!(told.starts_with("Line chart: MB/s by message bytes."), "{told}");
    let curves = document.descendants().filter(|node| node.attribute("class") == Some("line")).count();
    assert_eq!(curves, 3 + 5, "a line where there are two figures, and one each in the legend");
    let drawn = |class: &str| {
        document.descendants().filter(|node| node.attribute("class") == Some(class)).collect::<Vec<_>>()
    };
    // Seven figures have an interval: three pairs of neighbours and one without one.
    assert_eq!([drawn("band").len(), drawn("bar").len()], [3, 1], "{told}");
    let first = |class: &str| drawn(class)[0].range().start;
    assert!(first("band") < first("line"), "no band covers a line");
    assert!(words(&text).contains("Bands, and bars where a figure is alone: 95 % interval"), "{text}");
}
