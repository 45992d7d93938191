//! One TOML file with its name: values of the right type, and a mistake with its place where they are not.

use super::mistake::{Mistake, Place, quoted, unknown};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The most tables, excludes or includes of one file.
const MOST_ENTRIES: usize = 256;

/// Mistakes after which no more are looked for.
const ENOUGH_MISTAKES: usize = 100;

/// A value with its place in the text.
pub(super) type Entry<'t> = Spanned<DeValue<'t>>;

/// A file that is being read.
pub(super) struct Page<'a> {
    file: &'a str,
    text: &'a str,
    pub mistakes: Vec<Mistake>,
}

impl<'a> Page<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Page<'a> {
        Page { file, text, mistakes: Vec::new() }
    }

    pub fn place(&self, offset: usize) -> Place {
        Place::of(self.file, self.text.as_bytes(), offset)
    }

    /// Notes a mistake at a byte of the text.
    pub fn note(&mut self, offset: usize, message: impl Into<String>) {
        if self.mistakes.len() < ENOUGH_MISTAKES {
            self.mistakes.push(self.place(offset).mistake(message));
        }
    }

    /// Notes every key that is not one of those allowed.
    pub fn check_keys(&mut self, table: &DeTable, allowed: &[&str]) {
        for key in table.keys() {
            if !allowed.contains(&key.get_ref().as_ref()) {
                self.note(key.span().start, unknown("key", key.get_ref(), allowed));
            }
        }
    }

    /// The value of a key that must be there; `at` is where the table begins.
    pub fn need<'t>(
        &mut self,
        (at, table): (usize, &'t DeTable<'t>),
        key: &str,
        expected: &str,
    ) -> Option<&'t Entry<'t>> {
        let value = table.get(key);
        if value.is_none() {
            self.note(at, format!("the key `{key}` is missing: expected {expected}"));
        }
        value
    }

    /// Notes that a value has the wrong type.
    pub fn wrong_type(&mut self, value: &Entry, expected: &str) {
        self.note(value.span().start, format!("found {}: expected {expected}", kind(value.get_ref())));
    }

    /// A string as it stands.
    pub fn string<'t>(&mut self, value: &'t Entry, expected: &str) -> Option<&'t str> {
        let string = value.get_ref().as_str();
        if string.is_none() {
            self.wrong_type(value, expected);
        }
        string
    }

    /// A line of text for people: not empty, not too long (in bytes), without control characters.
    pub fn line(&mut self, value: &Entry, longest: usize) -> Option<String> {
        let line = self.string(value, "a string")?;
        let wrong = if line.trim().is_empty() {
            "this text is empty".to_owned()
        } else if line.len() > longest {
            format!("this text has {} bytes, more than {longest}", line.len())
        } else if line.chars().any(char::is_control) {
            "this text has a line break or another control character: expected one line".to_owned()
        } else {
            return Some(line.to_owned());
        };
        self.note(value.span().start, wrong);
        None
    }

    /// The name of a table, which may become a file name.
    pub fn id(&mut self, value: &Entry) -> Option<String> {
        let id = self.line(value, 40)?;
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        if id.starts_with(|letter: char| letter.is_ascii_alphanumeric()) && id.chars().all(plain) {
            return Some(id);
        }
        let expected = "letters, digits, `.`, `_` and `-`, a letter or digit first";
        self.note(value.span().start, format!("{} cannot be an id: expected {expected}", quoted(&id)));
        None
    }

    /// The elements of a list that is not empty.
    pub fn list<'t>(&mut self, value: &'t Entry<'t>, expected: &str) -> Option<&'t [Entry<'t>]> {
        match value.get_ref() {
            DeValue::Array(array) if array.is_empty() => {
                self.note(value.span().start, format!("this list is empty: expected {expected}"));
                None
            }
            DeValue::Array(array) => Some(array),
            _ => {
                self.wrong_type(value, expected);
                None
            }
        }
    }

    /// The tables of `[[key]]`, each with the byte where it begins; none where the key is not there.
    pub fn tables<'t>(&mut self, root: &'t DeTable<'t>, key: &str) -> Vec<(usize, &'t DeTable<'t>)> {
        let expected = format!("[[{key}]] and its keys below it");
        let Some(value) = root.get(key) else { return Vec::new() };
        let entries = self.list(value, &expected).unwrap_or_default();
        if let Some(first_too_many) = entries.get(MOST_ENTRIES) {
            self.note(first_too_many.span().start, format!("more than {MOST_ENTRIES} entries of [[{key}]]"));
            return Vec::new();
        }
        let mut tables = Vec::new();
        for entry in entries {
            match entry.get_ref() {
                DeValue::Table(table) => tables.push((entry.span().start, table)),
                _ => self.wrong_type(entry, &expected),
            }
        }
        tables
    }
}

fn kind(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
