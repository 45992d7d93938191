//! A matrix file: its head, its tables, what it includes and what it excludes.

use super::expand::{Document, Draft, Exclude};
use super::filter::Filter;
use super::mistake::{Mistake, Place, quoted, unknown};
use super::page::{Entry, Page};
use super::{LARGEST_FILE_BYTES, SCHEMA, gate, table};
use crate::catalog::Catalog;
use std::collections::BTreeSet;
use std::time::Duration;
use toml::de::{DeTable, DeValue};

/// The longest budget.
pub(super) const LONGEST_BUDGET: Duration = Duration::from_secs(24 * 3600);

pub(super) const KEYS: &[&str] = &["schema", "title", "budget", "table", "exclude", "include", "gate"];

/// The reading of a file and of those that it includes.
pub(super) struct Session<'a> {
    catalog: &'a Catalog,
    /// Name and text of the matrices that may be included.
    library: &'a [(&'a str, &'a str)],
    /// The files that are being read, each included by the one before.
    open: Vec<String>,
    /// Every matrix that was included already.
    included: BTreeSet<String>,
    pub mistakes: Vec<Mistake>,
}

impl<'a> Session<'a> {
    pub fn new(catalog: &'a Catalog, library: &'a [(&'a str, &'a str)]) -> Session<'a> {
        Session { catalog, library, open: Vec::new(), included: BTreeSet::new(), mistakes: Vec::new() }
    }

    /// Reads a file and what it includes; mistakes are kept in the session.
    pub fn read(&mut self, name: &str, text: &str) -> Document {
        let mut page = Page::new(name, text);
        self.open.push(name.to_owned());
        let document = self.read_page(&mut page, text);
        self.open.pop();
        self.mistakes.append(&mut page.mistakes);
        document
    }

    fn read_page(&mut self, page: &mut Page, text: &str) -> Document {
        let mut document = Document::default();
        if text.len() > LARGEST_FILE_BYTES {
            page.note(0, format!("the file has {} bytes, more than {LARGEST_FILE_BYTES}", text.len()));
            return document;
        }
        let (root, errors) = DeTable::parse_recoverable(text);
        let root = root.get_ref();
        for error in &errors {
            let span = error.span().unwrap_or_default();
            let found = text.get(span.clone()).filter(|found| !found.is_empty());
            let found = found.map(|found| format!(" (found {})", quoted(found))).unwrap_or_default();
            page.note(span.start, error.message().to_owned() + &found);
        }
        if !errors.is_empty() || !check_schema(page, root) {
            return document;
        }
        page.check_keys(root, KEYS);
        if let Some(title) = page.need((0, root), "title", "a string: the heading of the report") {
            document.title = page.line(title, 200).unwrap_or_default();
        }
        document.budget = root.get("budget").and_then(|value| budget(page, value));
        self.read_tables(page, root, &mut document);
        self.read_includes(page, root, &mut document);
        note_double_ids(&document.ids, &mut page.mistakes);
        self.read_excludes(page, root, &mut document);
        document.gates.extend(gate::read(page, root, self.catalog));
        document
    }

    fn read_tables(&mut self, page: &mut Page, root: &DeTable, document: &mut Document) {
        if !root.contains_key("table") && !root.contains_key("include") {
            page.note(0, "the matrix shows nothing: expected at least one [[table]] or [[include]]");
        }
        for entry in page.tables(root, "table") {
            let id = page.need(entry, "id", "a short name, such as \"A.2\"").and_then(|value| page.id(value));
            if let Some(id) = &id {
                document.ids.push((id.clone(), page.place(entry.0)));
            }
            document.drafts.extend(table::read(page, entry, id, self.catalog));
        }
    }

    /// The tables of the matrices that this one includes; they come after its own.
    fn read_includes(&mut self, page: &mut Page, root: &DeTable, document: &mut Document) {
        for entry in page.tables(root, "include") {
            page.check_keys(entry.1, &["matrix"]);
            let names: Vec<&str> = self.library.iter().map(|(name, _)| *name).collect();
            let expected = format!("the name of a matrix: one of {}", names.join(", "));
            let Some(value) = page.need(entry, "matrix", &expected) else { continue };
            let Some(name) = page.string(value, &expected) else { continue };
            let at = value.span().start;
            match self.library.iter().find(|(known, _)| *known == name) {
                None => page.note(at, unknown("matrix", name, &names)),
                Some(_) if self.open.iter().any(|open| open == name) => {
                    let circle = [self.open.join(" includes "), name.to_owned()].join(" includes ");
                    page.note(at, format!("matrices include each other in a circle: {circle}"));
                }
                Some((name, text)) => {
                    if self.included.insert((*name).to_owned()) {
                        append(document, self.read(name, text));
                    }
                }
            }
        }
    }

    fn read_excludes(&mut self, page: &mut Page, root: &DeTable, document: &mut Document) {
        for entry in page.tables(root, "exclude") {
            page.check_keys(entry.1, &["filter", "tables"]);
            let tables = entry.1.get("tables").map(|value| table_ids(page, value, &document.ids));
            let expected = "a filter, such as \"workers:1 placement:cross_cpu\"";
            let Some(value) = page.need(entry, "filter", expected) else { continue };
            let Some(text) = page.string(value, expected) else { continue };
            match Filter::parse(text, self.catalog) {
                Err(message) => page.note(value.span().start, message),
                Ok(filter) => {
                    let position = document.excludes.len();
                    document.excludes.push(Exclude { place: page.place(value.span().start), filter });
                    let chosen =
                        |draft: &&mut Draft| tables.as_ref().is_none_or(|ids| ids.contains(&draft.id));
                    document.drafts.iter_mut().filter(chosen).for_each(|draft| draft.excludes.push(position));
                }
            }
        }
    }
}

/// Whether the file is one that this program reads; another one would only give misleading mistakes.
fn check_schema(page: &mut Page, root: &DeTable) -> bool {
    let expected = format!("`schema = {SCHEMA}`, the only one that this program reads");
    let Some(value) = page.need((0, root), "schema", &expected) else { return false };
    match value.get_ref() {
        DeValue::Integer(number) if number.to_string() == SCHEMA.to_string() => return true,
        DeValue::Integer(number) => {
            page.note(value.span().start, format!("the schema is {number}: expected {expected}"));
        }
        _ => page.wrong_type(value, &expected),
    }
    false
}

fn budget(page: &mut Page, value: &Entry) -> Option<Duration> {
    let expected = "a duration from 1s to 24h, such as \"90s\" or \"3m\"";
    let text = page.string(value, expected)?;
    let duration = humantime::parse_duration(text).ok();
    let duration = duration.filter(|duration| (Duration::from_secs(1)..=LONGEST_BUDGET).contains(duration));
    if duration.is_none() {
        page.note(value.span().start, format!("{} is no budget: expected {expected}", quoted(text)));
    }
    duration
}

/// The ids of an exclude's tables, each of which must exist.
fn table_ids(page: &mut Page, value: &Entry, known: &[(String, Place)]) -> BTreeSet<String> {
    let expected = "a list of table ids, such as [\"A.4\"]";
    let known: Vec<&str> = known.iter().map(|(id, _)| id.as_str()).collect();
    let mut ids = BTreeSet::new();
    for element in page.list(value, expected).unwrap_or_default() {
        let Some(id) = page.string(element, expected) else { continue };
        if !known.contains(&id) {
            page.note(element.span().start, unknown("table", id, &known));
        } else if !ids.insert(id.to_owned()) {
            page.note(element.span().start, format!("table {} stands twice", quoted(id)));
        }
    }
    ids
}

fn note_double_ids(ids: &[(String, Place)], mistakes: &mut Vec<Mistake>) {
    for (position, (id, place)) in ids.iter().enumerate() {
        if let Some((_, other)) = ids[..position].iter().find(|(other, _)| other == id) {
            let Place { file, line, .. } = other;
            mistakes.push(
                place.mistake(format!("two tables have the id `{id}`: the other one is at {file}:{line}")),
            );
        }
    }
}

/// Adds the tables of an included matrix, with its own excludes.
fn append(document: &mut Document, included: Document) {
    let shift = document.excludes.len();
    document.excludes.extend(included.excludes);
    document.ids.extend(included.ids);
    document.gates.extend(included.gates);
    document.drafts.extend(included.drafts.into_iter().map(|mut draft| {
        draft.excludes.iter_mut().for_each(|position| *position += shift);
        draft
    }));
}
