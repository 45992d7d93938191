//! Codes of detectors, and sets of them.

use super::table::DETECTORS;
use super::{Concern, Detector};

/// The code of a detector: its place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(usize);

impl Code {
    /// Every code, in order.
    pub fn all() -> impl Iterator<Item = Code> {
        (0..DETECTORS.len()).map(Code)
    }

    /// The one that is written like that.
    pub fn named(text: &str) -> Option<Code> {
        Code::all().find(|code| code.detector().code == text)
    }

    /// Its row.
    pub fn detector(self) -> &'static Detector {
        &DETECTORS[self.0]
    }

    /// Its short form with the name, `W003 foreign CPU`.
    pub(super) fn title(self) -> String {
        let Detector { code, name, .. } = self.detector();
        format!("{code} {name}")
    }
}

/// A set of codes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codes(u64);

const _: () = assert!(DETECTORS.len() <= u64::BITS as usize, "a set has a bit for each code");

impl Codes {
    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether that one is there.
    pub fn has(self, code: Code) -> bool {
        self.0 & (1 << code.0) != 0
    }

    /// These and those.
    pub fn and(self, other: Codes) -> Codes {
        Codes(self.0 | other.0)
    }

    /// These without those.
    pub fn without(self, other: Codes) -> Codes {
        Codes(self.0 & !other.0)
    }

    /// In the order of the table.
    pub fn iter(self) -> impl Iterator<Item = Code> {
        Code::all().filter(move |code| self.has(*code))
    }

    /// Whether one of them tells of a disturbance.
    pub fn disturb(self) -> bool {
        self.iter().any(|code| code.detector().disturbs)
    }

    /// Those that stand below tables.
    pub(super) fn of_tables(self) -> impl Iterator<Item = Code> {
        self.iter().filter(|code| code.detector().concern != Concern::Run)
    }

    /// Their short forms, with a space between: `W003 W007`.
    pub fn words(self) -> String {
        self.iter().map(|code| code.detector().code).collect::<Vec<_>>().join(" ")
    }

    /// Their short forms with the names, with a comma between.
    pub(super) fn titles(self) -> String {
        self.iter().map(Code::title).collect::<Vec<_>>().join(", ")
    }
}

impl FromIterator<Code> for Codes {
    fn from_iter<I: IntoIterator<Item = Code>>(codes: I) -> Codes {
        Codes(codes.into_iter().fold(0, |bits, code| bits | 1 << code.0))
    }
}
