//! Rows of a tidy CSV (RFC 4180, lines ended by a line feed): the axes first, then columns by name. Words are kept to one
//! line, controls shown as in the other formats.

use super::escape::line;
use crate::cell::{AXES, Cell};

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
        let mut rows = Rows { columns, text: String::new() };
        let head = AXES.iter().map(|spec| spec.name).chain(columns.iter().copied());
        rows.push_row(head.map(String::from));
        rows
    }

    fn push_row(&mut self, fields: impl Iterator<Item = String>) {
        let fields: Vec<String> = fields.map(|field| quoted(&line(&field))).collect();
        self.text += &fields.join(",");
        self.text.push('\n');
    }

    /// A row from the cell and the columns that it has; the others are empty.
    pub fn push(&mut self, cell: &Cell, fields: &Fields) {
        let axes = AXES.iter().map(|spec| cell.get(spec.axis).map(ToString::to_string).unwrap_or_default());
        let column = |name: &&str| fields.iter().find(|(own, _)| own == name);
        let rest =
            self.columns.iter().map(|name| column(name).map(|(_, field)| field.clone()).unwrap_or_default());
        let fields: Vec<String> = axes.chain(rest).collect();
        self.push_row(fields.into_iter());
    }
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
}
