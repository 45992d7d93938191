//! The verdict of a run: how far its figures can be trusted, and what disturbed it most.
//!
//! | verdict | visits disturbed | graded cells of grade D or U |
//! | --- | --- | --- |
//! | quiet | at most 5 % | at most 5 % |
//! | usable | at most 25 % | at most 25 % |
//! | noisy | any | at most 50 % |
//! | unusable | any | more |
//!
//! A visit is disturbed where one of its codes tells of a disturbance ([`super::Detector::disturbs`]) and is not muted. Where no
//! cell has an interval nothing shows that the machine was quiet: such a run is usable at best, and one without a measured
//! visit is unusable.

use super::codes::{Code, Codes};
use super::findings::Findings;
use super::{Concern, Told};
use crate::measure::stats::Grade;
use crate::report::cells::{Figure, Slot};
use crate::report::digits::{counted, percent};
use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::fmt;

/// Causes that are named.
const MOST_CAUSES: usize = 3;

/// How far figures can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    /// Nearly nothing disturbed it.
    Quiet,
    /// Some visits were disturbed; the intervals bear it.
    Usable,
    /// Take the intervals seriously: differences between cells may be noise.
    Noisy,
    /// Most figures say little: run again.
    Unusable,
}

impl Word {
    /// By the shares of disturbed visits and of graded cells that are D or U; `None` without a graded cell.
    pub fn of(disturbed: f64, poor: Option<f64>) -> Word {
        match (disturbed, poor) {
            (_, Some(poor)) if poor > 0.50 => Word::Unusable,
            (disturbed, poor) if disturbed > 0.25 || poor.unwrap_or(0.0) > 0.25 => Word::Noisy,
            (disturbed, Some(poor)) if disturbed <= 0.05 && poor <= 0.05 => Word::Quiet,
            _ => Word::Usable,
        }
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Word::Quiet => "quiet",
            Word::Usable => "usable",
            Word::Noisy => "noisy",
            Word::Unusable => "unusable",
        })
    }
}

/// The verdict of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// In one word.
    pub word: Word,
    /// Whether it would be a better one, did the grades not speak against it.
    pub by_grades: bool,
    /// Measured visits.
    pub visits: usize,
    /// Those of them that something disturbed.
    pub disturbed: usize,
    /// How many figures have each grade, and last how many have none; `None` where the run gives no grades.
    pub grades: Option<Vec<(Option<Grade>, usize)>>,
    /// The codes that disturbed most visits, with their numbers: the largest first.
    pub causes: Vec<(Code, usize)>,
}

/// Judges a run by its figures in the unit of their measures; `None` where it shows none, as it only tests.
pub fn verdict(findings: &Findings, slots: &[Slot]) -> Option<Verdict> {
    if slots.contains(&Slot::Works) {
        return None;
    }
    let visits = findings.all().count();
    let disturbed = findings.all().filter(|codes| codes.disturb()).count();
    let figures: Vec<&Figure> = slots.iter().filter_map(Slot::figure).collect();
    let graded: Vec<Grade> = figures.iter().filter_map(|figure| figure.grade()).collect();
    let poor = graded.iter().filter(|grade| **grade >= Grade::D).count();
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    let poor = (!graded.is_empty()).then(|| share(poor, graded.len()));
    let disturbed_share = share(disturbed, visits);
    let by_visits = Word::of(disturbed_share, Some(0.0));
    let by_grades = poor.is_some_and(|poor| Word::of(0.0, Some(poor)) > by_visits);
    let word = match (visits, Word::of(disturbed_share, poor)) {
        (0, _) => Word::Unusable,
        // Where most cells have no grade nothing shows that it was quiet.
        (_, Word::Quiet) if 2 * graded.len() < figures.len() => Word::Usable,
        (_, word) => word,
    };
    let mut causes: Vec<(Code, usize)> = Code::all()
        .filter(|code| code.detector().disturbs)
        .map(|code| (code, findings.count(code)))
        .filter(|(_, count)| *count > 0)
        .collect();
    causes.sort_by_key(|(code, count)| (Reverse(*count), *code));
    causes.truncate(MOST_CAUSES);
    Some(Verdict { word, by_grades, visits, disturbed, grades: grades(&figures), causes })
}

/// How many figures have each grade; those of the book's counts have none.
fn grades(figures: &[&Figure]) -> Option<Vec<(Option<Grade>, usize)>> {
    let graded = |grade: Option<Grade>| figures.iter().filter(|figure| figure.grade() == grade).count();
    let each = Grade::ALL.iter().map(|grade| Some(*grade)).chain([None]);
    let graded = each.map(|grade| (grade, graded(grade))).collect();
    (!figures.iter().any(|figure| figure.exact)).then_some(graded)
}

impl Verdict {
    /// For programs.
    pub fn json(&self) -> Value {
        let cause = |(code, visits): &(Code, usize)| {
            let detector = code.detector();
            json!({ "code": detector.code, "name": detector.name, "visits": visits })
        };
        let name = |grade: &Option<Grade>| grade.map_or("none".into(), |grade| grade.to_string());
        let graded = |(grade, count): &(Option<Grade>, usize)| (name(grade), json!(count));
        json!({
            "word": self.word.to_string(),
            "by_grades": self.by_grades,
            "visits": self.visits,
            "disturbed": self.disturbed,
            "grades": self.grades.as_ref().map(|grades| grades.iter().map(graded).collect::<Map<_, _>>()),
            "causes": self.causes.iter().map(cause).collect::<Vec<_>>(),
        })
    }
}

/// `noisy: 31 of 87 visits disturbed (36 %); grades A 7, ...`, or `noisy by its grades: ...`.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Verdict { word, by_grades, visits, disturbed, grades, .. } = self;
        if *visits == 0 {
            return write!(f, "{word}: nothing was measured");
        }
        let share = percent(*disturbed as f64 / *visits as f64);
        let why = if *by_grades { " by its grades" } else { "" };
        write!(f, "{word}{why}: {disturbed} of {} disturbed ({share}); ", counted(*visits, "visit"))?;
        let Some(grades) = grades else { return f.write_str("no grades, as in the book") };
        let name = |grade: &Option<Grade>| grade.map_or("without interval".into(), |grade| grade.to_string());
        let grades: Vec<String> =
            grades.iter().map(|(grade, count)| format!("{} {count}", name(grade))).collect();
        write!(f, "grades {}", grades.join(", "))
    }
}

/// What stands above the facts of a run: verdict, causes, what the run did, what could not be seen, what is muted.
pub fn facts(told: &mut Told, slots: &[Slot]) -> Vec<(&'static str, String)> {
    let findings = told.findings();
    let Some(verdict) = verdict(findings, slots) else { return Vec::new() };
    let mut facts = vec![("verdict", verdict.to_string())];
    let count = |code: Code, told: &mut Told| {
        let count = format!("{} of {}", findings.count(code), counted(verdict.visits, "visit"));
        told.line(code, &count)
    };
    facts.extend(verdict.causes.iter().map(|(code, _)| ("cause", count(*code, told))));
    let any = findings.all().fold(Codes::default(), Codes::and);
    let of_run = any.iter().filter(|code| code.detector().concern == Concern::Run);
    facts.extend(of_run.map(|code| ("noted", count(code, told))));
    if !findings.unseen.is_empty() {
        facts.push(("unseen", format!("not in this journal: {}", findings.unseen.titles())));
    }
    if !findings.muted.is_empty() {
        facts.push(("muted", findings.muted.titles()));
    }
    facts
}
