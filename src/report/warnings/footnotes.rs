//! Warnings below a table: one line a code, with its meaning and advice the first time that a report names it.

use super::Concern;
use super::codes::{Code, Codes};
use super::findings::Findings;
use crate::report::cells::Figure;
use crate::report::digits::counted;

/// Tables of fewer figures have marks however many of these a code concerns.
const FEWEST_UNMARKED: usize = 6;

/// A line below a table.
pub struct Footnote {
    /// The code that it is about.
    pub code: Code,
    /// The line.
    pub text: String,
    /// The line without meaning and advice.
    pub brief: String,
    /// Whether the places that it concerns are marked; it stands for the whole table where that would be most of them.
    pub marked: bool,
}

/// What a report has told so far.
pub struct Told<'a> {
    findings: &'a Findings,
    advised: Codes,
}

impl<'a> Told<'a> {
    /// Nothing yet.
    pub fn nothing(findings: &'a Findings) -> Told<'a> {
        Told { findings, advised: Codes::default() }
    }

    /// What the detectors say.
    pub fn findings(&self) -> &'a Findings {
        self.findings
    }

    /// The line of a code, with its meaning and advice if they were not told before.
    pub fn line(&mut self, code: Code, count: &str) -> String {
        let new = !self.advised.has(code);
        self.advised = self.advised.and([code].into_iter().collect());
        match new {
            true => code.detector().full_line(count),
            false => code.detector().line(count),
        }
    }

    /// The codes of a figure and of its visits; none of a number that nobody measured.
    pub fn codes(&self, figure: &Figure) -> Codes {
        if figure.known {
            return Codes::default();
        }
        let of_visits = self.findings.of_cell(figure.cell_index).fold(Codes::default(), Codes::and);
        of_visits.and(self.findings.of_figure(figure))
    }

    /// The lines below a table of these figures, in the order of the codes.
    pub fn of_table(&mut self, figures: &[&Figure]) -> Vec<Footnote> {
        let codes: Vec<Codes> = figures.iter().map(|figure| self.codes(figure)).collect();
        let any = codes.iter().copied().fold(Codes::default(), Codes::and);
        let footnote = |code: Code| {
            let cells = codes.iter().filter(|codes| codes.has(code)).count();
            let marked = figures.len() < FEWEST_UNMARKED || 2 * cells <= figures.len();
            let count = self.count(code, cells, figures, marked);
            Footnote { code, text: self.line(code, &count), brief: code.detector().line(&count), marked }
        };
        any.of_tables().map(footnote).collect()
    }

    /// How many of the table's visits or cells the code concerns.
    fn count(&self, code: Code, cells: usize, figures: &[&Figure], marked: bool) -> String {
        if code.detector().concern == Concern::Cells {
            return format!("{cells} of {}", counted(figures.len(), "cell"));
        }
        let visits = || figures.iter().flat_map(|figure| self.findings.of_cell(figure.cell_index));
        let count = format!(
            "{} of {}",
            visits().filter(|codes| codes.has(code)).count(),
            counted(visits().count(), "visit")
        );
        if marked { count } else { format!("{count}, in most cells") }
    }
}

/// The warnings of a table: of lines that mark the places that they concern, and of the others.
pub struct Warnings<'a> {
    told: &'a Told<'a>,
    marked: Vec<Footnote>,
    /// The lines that stand for the whole table.
    pub unmarked: Vec<String>,
    /// A line for each of both, without meaning and advice.
    pub brief: Vec<String>,
}

impl<'a> Warnings<'a> {
    /// Those of a table of these figures.
    pub fn of_table(told: &'a mut Told, figures: &[&Figure]) -> Warnings<'a> {
        let footnotes = told.of_table(figures);
        let brief = footnotes.iter().map(|footnote| footnote.brief.clone()).collect();
        let (marked, unmarked): (Vec<Footnote>, Vec<Footnote>) =
            footnotes.into_iter().partition(|footnote| footnote.marked);
        let unmarked = unmarked.into_iter().map(|footnote| footnote.text).collect();
        Warnings { told, marked, unmarked, brief }
    }

    /// The lines that a place of these figures is marked with.
    pub fn of<'b>(&self, figures: impl IntoIterator<Item = &'b Figure>) -> impl Iterator<Item = String> {
        let each = figures.into_iter().map(|figure| self.told.codes(figure));
        let codes = each.fold(Codes::default(), Codes::and);
        self.marked.iter().filter(move |line| codes.has(line.code)).map(|line| line.text.clone())
    }
}
