//! The values of an axis as text: words, numbers, sizes, `1..=5`, `pow2(1K, 64K)`.
//!
//! Matrix files, `-a` and filters all read values here, so that a value means the same in each.

use super::mistake::{quoted, unknown};
use crate::catalog::Catalog;
use crate::cell::{Axis, Kind, Value};

/// The most values that one list may give.
pub(super) const MOST_VALUES: u64 = 1024;

/// The longest path of an axis, in bytes.
const LONGEST_PATH: usize = 1024;

/// The values of a list with commas, in order.
///
/// # Errors
/// What stands there and what was expected: also for an empty list and for a value that stands twice.
pub(super) fn list(axis: Axis, text: &str, catalog: &Catalog) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    for item_text in split_at_commas(text) {
        for value in item(axis, item_text, catalog)? {
            push(axis, &mut values, value)?;
        }
    }
    Ok(values)
}

/// Adds a value to those of an axis.
///
/// # Errors
/// Where it is there already, or where there are too many.
pub(super) fn push(axis: Axis, values: &mut Vec<Value>, value: Value) -> Result<(), String> {
    if values.contains(&value) {
        return Err(format!("`{value}` stands twice on the axis `{axis}`"));
    }
    if values.len() as u64 >= MOST_VALUES {
        return Err(format!("the axis `{axis}` has more than {MOST_VALUES} values"));
    }
    values.push(value);
    Ok(())
}

/// The values of one item: a single value, `1..=5` or `pow2(1K, 64K)`.
///
/// # Errors
/// What stands there and what was expected.
pub(super) fn item(axis: Axis, text: &str, catalog: &Catalog) -> Result<Vec<Value>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(format!("a value is missing: expected {}", expected(axis, catalog)));
    }
    match axis.spec().kind {
        Kind::Words(words) => Ok(vec![word(&format!("value of `{axis}`"), text, words)?]),
        Kind::Mechanism => Ok(vec![word("mechanism", text, &mechanisms(catalog))?]),
        Kind::Count(..) | Kind::Bytes(..) => numbers(axis, text),
        Kind::Path(words) => path(axis, text, words).map(|value| vec![value]),
    }
}

/// A value that a driver gives as its default, or a word of the catalog: already known to be right.
pub(super) fn trusted(axis: Axis, text: &str) -> Value {
    match axis.spec().kind {
        Kind::Count(..) | Kind::Bytes(..) => number(axis, text).map_or(Value::word(text), Value::Count),
        Kind::Words(_) | Kind::Mechanism | Kind::Path(_) => Value::word(text),
    }
}

/// What an axis takes, as the end of a sentence.
pub(super) fn expected(axis: Axis, catalog: &Catalog) -> String {
    match axis.spec().kind {
        Kind::Words(words) => format!("one of {}", words.join(", ")),
        Kind::Mechanism => format!("one of {}", mechanisms(catalog).join(", ")),
        Kind::Count(least, most) => format!("a whole number from {least} to {most}"),
        Kind::Bytes(least, most) => format!("a size from {least} to {most} bytes, such as 4096 or 4K"),
        Kind::Path(words) => {
            [&["an absolute path without control characters"][..], words].concat().join(" or ")
        }
    }
}

/// The words that an axis takes; `None` where it takes numbers.
pub(super) fn words(axis: Axis, catalog: &Catalog) -> Option<Vec<&'static str>> {
    match axis.spec().kind {
        Kind::Words(words) => Some(words.to_vec()),
        Kind::Mechanism => Some(mechanisms(catalog)),
        Kind::Count(..) | Kind::Bytes(..) | Kind::Path(_) => None,
    }
}

/// Whether the values of an axis are numbers.
pub(super) fn takes_numbers(axis: Axis) -> bool {
    matches!(axis.spec().kind, Kind::Count(..) | Kind::Bytes(..))
}

/// The names of all mechanisms, each once, in the order of the catalog.
fn mechanisms(catalog: &Catalog) -> Vec<&'static str> {
    let mut names = Vec::new();
    for driver in catalog.drivers() {
        if !names.contains(&driver.mechanism) {
            names.push(driver.mechanism);
        }
    }
    names
}

fn path(axis: Axis, text: &str, words: &[&str]) -> Result<Value, String> {
    let absolute = text.starts_with('/') && text.len() <= LONGEST_PATH && !text.contains(char::is_control);
    match absolute || words.contains(&text) {
        true => Ok(Value::word(text)),
        false => Err(format!(
            "{} is no value of `{axis}`: expected an absolute path of at most {LONGEST_PATH} bytes without control \
             characters{}",
            quoted(text),
            words.iter().map(|word| format!(", or {word}")).collect::<String>()
        )),
    }
}

fn word(what: &str, text: &str, allowed: &[&str]) -> Result<Value, String> {
    match allowed.contains(&text) {
        true => Ok(Value::word(text)),
        false => Err(unknown(what, text, allowed)),
    }
}

/// The items between the commas that stand outside parentheses.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut items, mut begin, mut depth) = (Vec::new(), 0, 0_usize);
    for (position, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                items.push(&text[begin..position]);
                begin = position + 1;
            }
            _ => {}
        }
    }
    items.push(&text[begin..]);
    items
}

fn numbers(axis: Axis, text: &str) -> Result<Vec<Value>, String> {
    let counts = if let Some(inside) = text.strip_prefix("pow2(") {
        powers(axis, text, inside)?
    } else if let Some((first, last)) = text.split_once("..=") {
        range(text, number(axis, first)?, number(axis, last)?)?
    } else if text.contains("..") {
        return Err(format!("{} is no range: write both ends and `..=`, such as 1..=5", quoted(text)));
    } else {
        vec![number(axis, text)?]
    };
    Ok(counts.into_iter().map(Value::Count).collect())
}

fn range(text: &str, first: u64, last: u64) -> Result<Vec<u64>, String> {
    if first > last {
        return Err(format!("{} is empty: the first number is larger than the last", quoted(text)));
    }
    if last - first >= MOST_VALUES {
        return Err(format!("{} gives more than {MOST_VALUES} values", quoted(text)));
    }
    Ok((first..=last).collect())
}

fn powers(axis: Axis, text: &str, inside: &str) -> Result<Vec<u64>, String> {
    let ends = inside.strip_suffix(')').and_then(|ends| ends.split_once(','));
    let Some((first, last)) = ends else {
        return Err(format!(
            "{} lacks an end: expected pow2(FIRST, LAST), such as pow2(1K, 64K)",
            quoted(text)
        ));
    };
    let (first, last) = (number(axis, first)?, number(axis, last)?);
    if let Some(other) = [first, last].into_iter().find(|end| !end.is_power_of_two()) {
        return Err(format!("{}: {other} is not a power of two", quoted(text)));
    }
    if first > last {
        return Err(format!("{} is empty: the first number is larger than the last", quoted(text)));
    }
    Ok((first.trailing_zeros()..=last.trailing_zeros()).map(|power| 1 << power).collect())
}

/// A number of that axis, within its bounds.
fn number(axis: Axis, text: &str) -> Result<u64, String> {
    let text = text.trim();
    let (least, most, units) = match axis.spec().kind {
        Kind::Bytes(least, most) => (least, most, "KMG"),
        Kind::Count(least, most) => (least, most, ""),
        Kind::Words(_) | Kind::Mechanism | Kind::Path(_) => (0, 0, ""),
    };
    let expected = if units.is_empty() {
        format!("expected a whole number from {least} to {most}")
    } else {
        format!("expected a size from {least} to {most} bytes, such as 4096 or 4K")
    };
    let unit = text.chars().last().and_then(|letter| units.find(letter));
    let digits = if unit.is_some() { &text[..text.len() - 1] } else { text };
    let shift = unit.map_or(0, |power| 10 * (power + 1));
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{} is not a number: {expected}", quoted(text)));
    }
    let count = digits.parse::<u64>().ok().and_then(|count| count.checked_mul(1 << shift));
    count
        .filter(|count| (least..=most).contains(count))
        .ok_or_else(|| format!("{} is out of bounds: {expected}", quoted(text)))
}

#[cfg(test)]
mod tests {
    use super::super::sample::catalog;
    use super::*;

    fn counts(axis: Axis, text: &str) -> Vec<u64> {
        let values = list(axis, text, &catalog()).unwrap();
        let count = |value| if let Value::Count(count) = value { count } else { panic!("{value} is a word") };
        values.into_iter().map(count).collect()
    }

    fn refused(axis: Axis, text: &str) -> String {
        list(axis, text, &catalog()).unwrap_err()
    }

    #[test]
    fn sizes_ranges_and_powers_become_numbers_in_order() {
        assert_eq!(counts(Axis::MessageBytes, "1K, 64K"), [1024, 65536]);
        assert_eq!(counts(Axis::MessageBytes, "12345"), [12345]);
        assert_eq!(counts(Axis::MessageBytes, "64M"), [64 << 20]);
        assert_eq!(counts(Axis::MessageBytes, "pow2(1K, 8K)"), [1024, 2048, 4096, 8192]);
        assert_eq!(counts(Axis::MessageBytes, "1,pow2(2,4),100"), [1, 2, 4, 100]);
        assert_eq!(counts(Axis::Workers, "1..=5"), [1, 2, 3, 4, 5]);
        assert_eq!(counts(Axis::CapacityBytes, "0,1G"), [0, 1 << 30]);
    }

    #[test]
    fn numbers_out_of_bounds_say_what_was_expected() {
        let size = "is out of bounds: expected a size from 1 to 67108864 bytes, such as 4096 or 4K";
        for text in ["0", "1099511627776", "1024G", "99999999999999999999", "99999999999999999K"] {
            assert_eq!(refused(Axis::MessageBytes, text), format!("`{text}` {size}"));
        }
        let workers = "is out of bounds: expected a whole number from 1 to 64";
        for text in ["0", "1000"] {
            assert_eq!(refused(Axis::Workers, text), format!("`{text}` {workers}"));
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["K", "4k", "-1", "+1", "1.5", "1 K", "0x10", "four"] {
            assert!(refused(Axis::MessageBytes, text).contains("is not a number"), "{text}");
        }
        assert!(refused(Axis::Workers, "1K").contains("is not a number"));
    }

    #[test]
    fn ranges_and_powers_that_give_nothing_or_too_much_are_refused() {
        assert!(refused(Axis::Workers, "1..5").contains("write both ends and `..=`"));
        assert!(refused(Axis::Workers, "5..=1").contains("is empty"));
        assert!(refused(Axis::MessageBytes, "1..=64M").contains("more than 1024 values"));
        assert!(refused(Axis::MessageBytes, "pow2(1K").contains("lacks an end"));
        assert!(refused(Axis::MessageBytes, "pow2(1K, 3K)").contains("3072 is not a power of two"));
        assert!(refused(Axis::CapacityBytes, "pow2(0, 4)").contains("0 is not a power of two"));
        assert!(refused(Axis::MessageBytes, "pow2(4K, 1K)").contains("is empty"));
    }

    #[test]
    fn a_path_is_absolute_or_one_of_the_words() {
        assert_eq!(list(Axis::LogFile, "/a b/c", &catalog()), Ok(vec![Value::word("/a b/c")]));
        assert_eq!(list(Axis::LogFile, "looked_for", &catalog()), Ok(vec![Value::word("looked_for")]));
        let long = format!("/{}", "x".repeat(LONGEST_PATH));
        for (axis, text) in [
            (Axis::LogFile, "var/log"),
            (Axis::LogFile, &long),
            (Axis::LogSocket, "looked_for"),
            (Axis::LogSocket, "/a\u{7}"),
        ] {
            assert!(refused(axis, text).contains("expected an absolute path"), "{text:?}");
        }
        assert!(refused(Axis::LogFile, "1").ends_with(", or looked_for"));
    }

    #[test]
    fn a_value_that_stands_twice_or_is_missing_is_refused() {
        assert_eq!(refused(Axis::MessageBytes, "1K,1024"), "`1024` stands twice on the axis `message_bytes`");
        assert!(refused(Axis::Workers, "1,,2").starts_with("a value is missing"));
        assert!(refused(Axis::Placement, "").starts_with("a value is missing: expected one of same_cpu"));
    }

    #[test]
    fn the_default_of_every_driver_is_a_value_of_its_axis() {
        for catalog in [catalog(), Catalog::shipped()] {
            for driver in catalog.drivers() {
                for (axis, text) in driver.extra_axes {
                    let read = item(*axis, text, &catalog);
                    assert_eq!(read, Ok(vec![trusted(*axis, text)]), "{} {axis}", driver.mechanism);
                }
            }
        }
    }
}
