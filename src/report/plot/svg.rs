//! Plots as SVG 1.1: light and dark by the reader's preference, with a title and a description in words.

use super::band;
use super::layout::{apart, shortened, width, wrap};
use super::mark::{BACKGROUND, COLOURS, look, path, px};
use super::scale::{Scale, labels};
use super::{Curve, Panel, Plot, Point, is_line};
use crate::report::escape::line;
use maud::{Markup, PreEscaped, html};
use std::fmt::Write;

/// The width of every plot in pixels.
const WIDTH: f64 = 760.0;
const MARGIN: f64 = 16.0;
/// The least height of the area with the curves.
const LEAST_HEIGHT: f64 = 250.0;
/// How far from the edges of that area rows stand.
const INSET: f64 = 16.0;
/// How far before the others 0 stands on a logarithmic axis.
const ZERO_APART: f64 = 34.0;
const LEGEND_ROW: f64 = 19.0;
const LEGEND_MOST: f64 = 200.0;
const LEGEND_SAMPLE: f64 = 30.0;
const TITLE_SIZE: f64 = 15.0;
const HEADING_SIZE: f64 = 13.0;
const TEXT_SIZE: f64 = 12.0;
const LINE_HEIGHT: f64 = 1.35;
/// How much wider bold letters are.
const BOLD: f64 = 1.2;
const MARK_SIZE: f64 = 4.0;

/// Where the picture stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embed {
    /// In a file of its own, with its style.
    File,
    /// In a page that has [`style`]; the number makes its names differ from those of the page's other plots.
    Page(usize),
}

/// The style of plots, for light and dark.
pub fn style() -> String {
    let scheme = |dark: usize| {
        let [text, quiet, grid] =
            [["#1f2328", "#57606a", "#e4e7eb"], ["#e6e8eb", "#9aa4b0", "#2d323a"]][dark];
        let back = BACKGROUND[dark];
        let mut css = format!(
            ".plot .back,.plot .hollow{{fill:{back}}}.plot text{{fill:{text}}}.plot .quiet{{fill:{quiet}}}\
             .plot .grid{{stroke:{grid}}}.plot .axis{{stroke:{quiet}}}"
        );
        for (index, colour) in COLOURS.iter().enumerate() {
            let _infallible = write!(css, ".plot .c{index}{{color:{}}}", colour[dark]);
        }
        css
    };
    format!(
        ".plot{{font-family:system-ui,sans-serif;font-size:{TEXT_SIZE}px}}.plot .title{{font-size:{TITLE_SIZE}px;font-weight:600}}\
         .plot .heading{{font-size:{HEADING_SIZE}px;font-weight:600}}.plot .end{{text-anchor:end}}.plot .middle{{text-anchor:middle}}\
         .plot .line,.plot .bar,.plot .rarer{{fill:none;stroke:currentColor}}.plot .line{{stroke-width:1.8;stroke-linejoin:round}}\
         .plot .dashed{{stroke-dasharray:6 3}}.plot .bar{{stroke-width:1.1}}.plot .rarer{{stroke-width:1.1;stroke-dasharray:1.5 2.5}}\
         .plot .band{{fill:currentColor;fill-opacity:.15;stroke:currentColor;stroke-opacity:.35;stroke-width:.7}}\
         .plot .solid{{fill:currentColor}}.plot .hollow{{stroke:currentColor;stroke-width:1.5}}.plot .grid,.plot .axis{{fill:none;stroke-width:1}}\n\
         {}\n@media (prefers-color-scheme:dark){{{}}}\n@media print{{{}}}\n",
        scheme(0),
        scheme(1),
        scheme(0)
    )
}

/// A plot as an SVG document, or as an element of a page.
pub fn svg(plot: &Plot, embed: Embed) -> String {
    let name = match embed {
        Embed::File => "plot".to_owned(),
        Embed::Page(number) => format!("plot-{number}"),
    };
    let (title_id, description_id) = (format!("{name}-title"), format!("{name}-description"));
    let mut down = MARGIN;
    let title = lines(&line(&plot.title), TITLE_SIZE, "title", &mut down);
    down += MARGIN / 2.0;
    let panels: Vec<Markup> = plot.panels.iter().map(|panel| draw(plot, panel, &mut down)).collect();
    let mut note = vec![lines(&reading(plot), TEXT_SIZE, "quiet", &mut down)];
    if embed == Embed::File {
        note.extend(plot.warnings.iter().map(|warning| lines(&line(warning), TEXT_SIZE, "quiet", &mut down)));
    }
    let height = px((down + MARGIN / 2.0).ceil());
    let width = px(WIDTH);
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" class="plot" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height)
            role="img" aria-labelledby=(title_id) aria-describedby=(description_id) {
            "\n" title id=(title_id) { (line(&plot.title)) }
            "\n" desc id=(description_id) { (description(plot)) }
            @if embed == Embed::File { "\n" style { (PreEscaped(style())) } }
            "\n" rect class="back" width=(width) height=(height) {}
            (title) @for panel in panels { (panel) } @for lines in note { (lines) } "\n"
        }
    };
    match embed {
        Embed::File => format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", markup.into_string()),
        Embed::Page(_) => markup.into_string(),
    }
}

/// What the marks mean.
fn reading(plot: &Plot) -> String {
    let curves = || plot.panels.iter().flat_map(|panel| &panel.curves);
    let mut words = Vec::new();
    match band::kinds(curves()) {
        [true, true] => {
            words.push("Bands, and bars where a figure is alone: 95 % interval of the median over visits.")
        }
        [true, false] => words.push("Bands: 95 % interval of the median over visits."),
        [false, true] => words.push("Bars: 95 % interval of the median over visits."),
        [false, false] => {}
    }
    if curves().flat_map(|curve| curve.points.iter().flatten()).any(|point| point.rarer.is_some()) {
        words.push("A small mark on a dotted line: the rarer of two figures of one cell.");
    }
    words.join(" ")
}

/// What a reader who sees no picture is told: the axes, and each series with its first and last figure.
fn description(plot: &Plot) -> String {
    let mut text = format!("Line chart: {} by {}.", line(&plot.y), line(&plot.x));
    for panel in &plot.panels {
        if !panel.heading.is_empty() {
            let _infallible = write!(text, " {}:", line(&panel.heading));
        }
        let told: Vec<String> = panel.curves.iter().filter_map(|curve| told(plot, curve)).collect();
        let _infallible = write!(text, " {}.", told.join("; "));
    }
    text
}

/// `pipe 2280 ±2% at 1024, 7280 ±2% at 65536`.
fn told(plot: &Plot, curve: &Curve) -> Option<String> {
    let mut points = curve.points.iter().flatten();
    let first = points.next()?;
    let at = |point: &Point| format!("{} at {}", point.text, point.x);
    let last = points.next_back().map(|last| format!(", {}", at(last)));
    Some(format!("{} {}{}", line(&plot.series[curve.series]), at(first), last.unwrap_or_default()))
}

/// Lines of text from the margin, with `down` moved below them.
fn lines(text: &str, size: f64, class: &str, down: &mut f64) -> Markup {
    let wider = if size > TEXT_SIZE { BOLD } else { 1.0 };
    let wrapped = wrap(text, (WIDTH - 2.0 * MARGIN) / wider, size);
    html! {
        @for text in wrapped {
            @let baseline = { *down += size * LINE_HEIGHT; *down - size * 0.35 };
            "\n" text class=(class) x=(px(MARGIN)) y=(px(baseline)) { (text) }
        }
    }
}

/// The area with the curves, in pixels.
struct Area {
    left: f64,
    right: f64,
    bottom: f64,
}

/// A panel from `down`, which is moved below it.
fn draw(plot: &Plot, panel: &Panel, down: &mut f64) -> Markup {
    let heading = lines(&line(&panel.heading), HEADING_SIZE, "heading", down);
    let names: Vec<String> = panel.curves.iter().map(|curve| line(&plot.series[curve.series])).collect();
    let names: Vec<String> = names.iter().map(|name| shortened(name, LEGEND_MOST, TEXT_SIZE)).collect();
    let legend = names.iter().map(|name| width(name, TEXT_SIZE)).fold(0.0, f64::max) + LEGEND_SAMPLE;
    let top = *down + TEXT_SIZE * 2.5;
    let height = LEAST_HEIGHT.max(LEGEND_ROW * names.len() as f64);
    let (scale, ticks) = Scale::of_figures(&extent(panel), [top + height, top]);
    let numbers = labels(&ticks, scale.is_logarithmic());
    let widest = numbers.iter().map(|number| width(number, TEXT_SIZE)).fold(0.0, f64::max);
    let area =
        Area { left: MARGIN + widest + 8.0, right: WIDTH - MARGIN - legend - 14.0, bottom: top + height };
    let rows = Scale::of_rows(&panel.rows, [area.left + INSET, area.right - INSET], ZERO_APART);
    *down = area.bottom + TEXT_SIZE * 4.2;
    html! {
        (heading)
        "\n" text x=(px(MARGIN)) y=(px(top - TEXT_SIZE * 1.4)) { (axis(&plot.y, &scale)) }
        (figures_axis(&area, &scale, &ticks, &numbers))
        (rows_axis(plot, panel, &area, &rows))
        @for curve in &panel.curves { (draw_bands(curve, &rows, &scale)) }
        @for curve in &panel.curves { (draw_curve(plot, curve, &rows, &scale)) }
        @for (index, (curve, name)) in panel.curves.iter().zip(&names).enumerate() {
            (legend_row(curve.series, name, area.right + 14.0, top + LEGEND_ROW * (index as f64 + 0.5)))
        }
    }
}

/// The numbers that the axis of figures must hold: all of them, and the ends of intervals that are not far below.
fn extent(panel: &Panel) -> Vec<f64> {
    let points = panel.curves.iter().flat_map(|curve| curve.points.iter().flatten());
    let own = points.clone().flat_map(|point| std::iter::once(point.y).chain(point.rarer));
    let least = own.clone().fold(f64::INFINITY, f64::min);
    let ends = points.filter_map(|point| point.interval).flat_map(|interval| [interval.low, interval.high]);
    own.chain(ends.filter(|end| *end >= least / 2.0)).collect()
}

fn axis(title: &str, scale: &Scale) -> String {
    format!("{}{}", line(title), if scale.is_logarithmic() { " (logarithmic)" } else { "" })
}

fn figures_axis(area: &Area, scale: &Scale, ticks: &[f64], numbers: &[String]) -> Markup {
    html! {
        @for (tick, number) in ticks.iter().zip(numbers) {
            @let y = scale.at(*tick);
            "\n" path class="grid" d={ "M" (px(area.left)) " " (px(y)) "H" (px(area.right)) } {}
            text class="quiet end" x=(px(area.left - 6.0)) y=(px(y + 4.0)) { (number) }
        }
    }
}

fn rows_axis(plot: &Plot, panel: &Panel, area: &Area, scale: &Scale) -> Markup {
    let places: Vec<f64> = panel.rows.iter().map(|row| scale.at(*row as f64)).collect();
    let numbers: Vec<String> = panel.rows.iter().map(u64::to_string).collect();
    let shown = apart(&places, &numbers, TEXT_SIZE);
    let (bottom, middle) = (area.bottom, (area.left + area.right) / 2.0);
    html! {
        "\n" path class="axis" d={ "M" (px(area.left)) " " (px(bottom)) "H" (px(area.right)) } {}
        @for ((x, number), shown) in places.iter().zip(&numbers).zip(shown) {
            "\n" path class="axis" d={ "M" (px(*x)) " " (px(bottom)) "v4" } {}
            @if shown { text class="quiet middle" x=(px(*x)) y=(px(bottom + 17.0)) { (number) } }
        }
        @if let Some(zero) = scale.zero() {
            @let gap = zero + ZERO_APART / 2.0;
            "\n" path class="back" d={ "M" (px(gap - 3.0)) " " (px(bottom - 2.0)) "h6v4h-6z" } {}
            path class="axis" d={ "M" (px(gap - 5.0)) " " (px(bottom + 5.0)) "l4 -10m2 10l4 -10" } {}
        }
        "\n" text class="middle" x=(px(middle)) y=(px(bottom + 34.0)) { (axis(&plot.x, scale)) }
    }
}

/// The intervals of a column where they are a band; below the lines of all columns.
fn draw_bands(curve: &Curve, rows: &Scale, scale: &Scale) -> Markup {
    let bands = band::bands(curve, rows, scale);
    html! {
        @if !bands.is_empty() {
            "\n" g class={ "c" (look(curve.series).colour) } { @for band in bands { path class="band" d=(band) {} } }
        }
    }
}

fn draw_curve(plot: &Plot, curve: &Curve, rows: &Scale, scale: &Scale) -> Markup {
    let look = look(curve.series);
    let name = line(&plot.series[curve.series]);
    let at = |point: &Point| (rows.at(point.x as f64), scale.at(point.y));
    let dashed = if look.hollow { "line dashed" } else { "line" };
    let solid = if look.hollow { "hollow" } else { "solid" };
    html! {
        "\n" g class={ "c" (look.colour) } {
            @if is_line(curve) { path class=(dashed) d=(connected(curve, &at)) {} }
            @for bar in band::bars(curve, rows, scale) { path class="bar" d=(bar) {} }
            @for point in curve.points.iter().flatten() {
                @let (x, y) = at(point);
                "\n" g {
                    title { (name) ", " (line(&plot.x)) " " (point.x) ": " (point.text) " " (line(&plot.y)) }
                    @if let Some(rarer) = point.rarer.map(|rarer| scale.at(rarer)) {
                        path class="rarer" d={ "M" (px(x)) " " (px(y)) "V" (px(rarer)) } {}
                        path class=(solid) d=(path(look.shape, x, rarer, MARK_SIZE * 0.6)) {}
                    }
                    path class=(solid) d=(path(look.shape, x, y, MARK_SIZE)) {}
                }
            }
        }
    }
}

/// The line through the figures of a column, with a gap where there is none.
fn connected(curve: &Curve, at: &dyn Fn(&Point) -> (f64, f64)) -> String {
    let mut path = String::new();
    let mut letter = 'M';
    for point in &curve.points {
        let Some(point) = point else {
            letter = 'M';
            continue;
        };
        let (x, y) = at(point);
        let _infallible = write!(path, "{letter}{} {}", px(x), px(y));
        letter = 'L';
    }
    path
}

fn legend_row(series: usize, name: &str, x: f64, y: f64) -> Markup {
    let look = look(series);
    let line = if look.hollow { "line dashed" } else { "line" };
    let mark = if look.hollow { "hollow" } else { "solid" };
    html! {
        "\n" g class={ "c" (look.colour) } {
            path class=(line) d={ "M" (px(x)) " " (px(y)) "h24" } {}
            path class=(mark) d=(path(look.shape, x + 12.0, y, MARK_SIZE)) {}
        }
        text x=(px(x + LEGEND_SAMPLE)) y=(px(y + 4.0)) { (name) }
    }
}
