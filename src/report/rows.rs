//! Rows of a tidy CSV (RFC 4180, lines ended by a line feed): the axes first, then columns by name. Words are kept to one
//! line, controls shown as in the other formats.

use super::escape::line;
use crate::cell::{AXES, Cell, Value};

/// Fields of one row by the name of the column.
pub type Fields = Vec<(&'static str, String)>;

/// A table of rows.
pub struct Rows {
    /// The columns after the axes.
    columns: &'static [&'static str],
    /// What stands there so far.
    pub text: String,
}

impl Rows {
    /// A table with its head alone.
    pub fn new(columns: &'static [&'static str]) -> Rows {
        let mut text = String::new();
        for name in AXES.iter().map(|spec| spec.name).chain(columns.iter().copied()) {
            push_field(&mut text, name);
        }
        end_row(&mut text);
        Rows { columns, text }
    }

    /// A row from the cell and the columns that it has, in one part or several; the others are empty.
    pub fn push(&mut self, cell: &Cell, parts: &[&Fields]) {
        for spec in AXES {
            match cell.get(spec.axis) {
                Some(Value::Word(word)) => push_field(&mut self.text, word),
                Some(Value::Count(count)) => push_field(&mut self.text, &count.to_string()),
                None => self.text.push(','),
            }
        }
        for name in self.columns {
            let column = parts.iter().flat_map(|part| part.iter()).find(|(own, _)| own == name);
            push_field(&mut self.text, column.map_or("", |(_, field)| field));
        }
        end_row(&mut self.text);
    }
}

/// Adds a field and the comma behind it.
fn push_field(text: &mut String, field: &str) {
    // Nearly all are numbers and plain words, which are what they are.
    if field.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-/:".contains(&byte)) {
        text.push_str(field);
    } else {
        text.push_str(&quoted(&line(field)));
    }
    text.push(',');
}

/// Makes the last comma the end of the row.
fn end_row(text: &mut String) {
    text.pop();
    text.push('\n');
}

/// A field, in quotes where it has a comma, a quote or a line end.
fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_would_break_a_row_are_quoted() {
        assert_eq!(quoted("plain words; |"), "plain words; |");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"no\""), "\"say \"\"no\"\"\"");
        assert_eq!(quoted("two\nlines"), "\"two\nlines\"");
        assert_eq!(quoted("\r"), "\"\r\"");
    }

    #[test]
    fn a_row_is_of_the_cell_and_of_what_its_parts_have() {
        let cell =
            Cell::new(crate::cell::Measure::Append, "a,b").with(crate::cell::Axis::Workers, Value::Count(3));
        let mut rows = Rows::new(&["one", "two", "three"]);
        let parts = [
            vec![("three", "x\u{1b}\n y".to_owned())],
            vec![("one", "-1.5e3".to_owned()), ("two", String::new())],
        ];
        rows.push(&cell, &[&parts[0], &parts[1]]);
        let [head, row] = rows.text.lines().collect::<Vec<_>>()[..] else { panic!("{}", rows.text) };
        assert!(head.starts_with("measure,mechanism,") && head.ends_with(",one,two,three"), "{head}");
        assert_eq!(head.split(',').count(), row.replace("a,b", "").split(',').count());
        assert!(row.starts_with("append,\"a,b\",,3,") && row.ends_with(",-1.5e3,,x\\u{1b} y"), "{row}");
    }
}
