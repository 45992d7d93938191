//! One name for a cell in every format that has names: `bandwidth/mechanism=pipe/message_bytes=1024`.

use crate::cell::{Axis, Cell};
use std::fmt::Write;

/// The axes but the measure, each with a slash in front: `/mechanism=pipe/message_bytes=1024`.
pub fn axes(cell: &Cell) -> String {
    let mut name = String::new();
    for (axis, value) in cell.axes().filter(|(axis, _)| *axis != Axis::Measure) {
        let _infallible = write!(name, "/{axis}={}", escaped(&value.to_string()));
    }
    name
}

/// The measure, then the axes.
pub fn path(cell: &Cell) -> String {
    escaped(cell.word(Axis::Measure)) + &axes(cell)
}

/// A value with everything but letters, digits, `_`, `.` and `:` in ASCII as `%2F`, byte by byte: no slash ends it early, no
/// space ends the name, and no `-4` at its end is taken for a number of processors.
pub fn escaped(value: &str) -> String {
    let mut name = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b':' => name.push(char::from(byte)),
            _ => {
                let _infallible = write!(name, "%{byte:02X}");
            }
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Measure, Value};

    #[test]
    fn a_name_has_every_axis_and_no_value_breaks_it() {
        let cell = Cell::new(Measure::RoundTrip, "pipe").with(Axis::Placement, Value::word("same_cpu"));
        assert_eq!(path(&cell), "round_trip/mechanism=pipe/placement=same_cpu");
        let hostile = cell.with(Axis::LogFile, Value::word("/var/a b-4\n%é"));
        assert_eq!(
            axes(&hostile),
            "/mechanism=pipe/placement=same_cpu/log_file=%2Fvar%2Fa%20b%2D4%0A%25%C3%A9"
        );
    }
}
