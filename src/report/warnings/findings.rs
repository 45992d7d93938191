//! The codes of a run: of each visit, and of figures.

use super::codes::{Code, Codes};
use super::visits::DOES_NOT_APPLY;
use super::{Detector, Finds, sight};
use crate::report::cells::Figure;
use crate::report::load::Run;
use std::collections::BTreeMap;

/// What the detectors say of a run, without the muted codes.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// What does not show.
    pub muted: Codes,
    /// Detectors that apply to visits of the run and saw nothing of any, because the journal does not tell.
    pub unseen: Codes,
    /// Measured visits: their codes by their place in the run.
    visits: BTreeMap<usize, Codes>,
    /// The places of each cell's measured visits.
    cells: BTreeMap<usize, Vec<usize>>,
}

impl Findings {
    /// Looks at every measured visit.
    pub fn of(run: &Run, muted: Codes) -> Findings {
        let mut findings = Findings { muted, ..Findings::default() };
        let (mut seen, mut unseen) = (Codes::default(), Codes::default());
        sight::each(run, |place, sight| {
            let mut codes = Codes::default();
            for code in Code::all() {
                let Detector { finds: Finds::Visit(number), .. } = code.detector() else { continue };
                let number = number(sight);
                let this = Codes::from_iter([code]);
                match number {
                    None => unseen = unseen.and(this),
                    DOES_NOT_APPLY => {}
                    Some(_) => seen = seen.and(this),
                }
                codes = if code.detector().fires(number) { codes.and(this) } else { codes };
            }
            findings.visits.insert(place, codes.without(muted));
            findings.cells.entry(sight.visit.cell_index).or_default().push(place);
        });
        findings.unseen = unseen.without(seen).without(muted);
        findings
    }

    /// The codes of the visit at that place of the run.
    pub fn of_visit(&self, place: usize) -> Codes {
        self.visits.get(&place).copied().unwrap_or_default()
    }

    /// The codes of a figure by itself.
    pub fn of_figure(&self, figure: &Figure) -> Codes {
        let fires = |code: &Code| match code.detector().finds {
            Finds::Figure(number) => code.detector().fires(number(figure)),
            Finds::Visit(_) => false,
        };
        Code::all().filter(fires).collect::<Codes>().without(self.muted)
    }

    /// The measured visits of a cell of the header: their codes.
    pub fn of_cell(&self, cell_index: usize) -> impl Iterator<Item = Codes> {
        let places = self.cells.get(&cell_index).map_or(&[][..], Vec::as_slice);
        places.iter().map(|place| self.of_visit(*place))
    }

    /// The codes of a cell of the header in their order: of its visits, with how many have each; and of its figure, where it
    /// has one, without a number.
    pub fn told_of(&self, cell_index: usize, figure: Option<&Figure>) -> Vec<(Code, Option<usize>)> {
        let of_figure = figure.map(|figure| self.of_figure(figure)).unwrap_or_default();
        let one = |code: Code| {
            let visits = self.of_cell(cell_index).filter(|codes| codes.has(code)).count();
            let visits = if of_figure.has(code) { None } else { Some(visits) };
            (visits != Some(0)).then_some((code, visits))
        };
        Code::all().filter_map(one).collect()
    }

    /// Every measured visit: its codes.
    pub fn all(&self) -> impl Iterator<Item = Codes> {
        self.visits.values().copied()
    }

    /// Measured visits that have the code.
    pub fn count(&self, code: Code) -> usize {
        self.all().filter(|codes| codes.has(code)).count()
    }
}
