//! The filter language: `mechanism:pipe message_bytes:(4K OR 64K) -workers:1`.

use super::mistake::{quoted, unknown};
use super::value;
use crate::catalog::Catalog;
use crate::cell::{AXES, Axis, Cell, Value};

/// The deepest nesting of parentheses and negations.
const DEEPEST: usize = 32;

/// The longest filter, in bytes.
pub(super) const LONGEST: usize = 4096;

/// A condition on cells.
///
/// `axis:value` holds for a cell with that value on that axis, and never for a cell without the
/// axis; `axis:(V OR V)` for either value. A value is written as on an axis of a matrix file
/// (`4K`, `1..=3`), and words may hold `*` for any letters. Terms side by side must all hold, `OR`
/// between them asks for one of them and binds less, `-` turns a term round, parentheses group, and
/// `*` alone holds for every cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter(Node);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Every,
    Is(Axis, Vec<Value>),
    Not(Box<Node>),
    All(Vec<Node>),
    Any(Vec<Node>),
}

impl Filter {
    /// Reads a filter.
    ///
    /// # Errors
    /// What stands in the filter, at which character, and what was expected there: also for an axis
    /// or a value that does not exist.
    pub fn parse(text: &str, catalog: &Catalog) -> Result<Filter, String> {
        if text.len() > LONGEST {
            return Err(format!("the filter is longer than {LONGEST} bytes"));
        }
        if text.trim().is_empty() {
            return Err("the filter is empty; `*` keeps every cell".to_owned());
        }
        let mut reader = Reader { text, tokens: tokens(text), next: 0, depth: 0, catalog };
        let node = reader.any()?;
        match reader.peek() {
            None => Ok(Filter(node)),
            Some(_) => Err(reader.at("this `)` closes nothing")),
        }
    }

    /// Whether the filter holds for a cell.
    pub fn matches(&self, cell: &Cell) -> bool {
        self.0.matches(cell)
    }
}

impl Node {
    fn matches(&self, cell: &Cell) -> bool {
        match self {
            Node::Every => true,
            Node::Is(axis, values) => cell.get(*axis).is_some_and(|value| values.contains(value)),
            Node::Not(node) => !node.matches(cell),
            Node::All(nodes) => nodes.iter().all(|node| node.matches(cell)),
            Node::Any(nodes) => nodes.iter().any(|node| node.matches(cell)),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Open,
    Close,
    Minus,
    Or,
    Word(&'a str),
}

/// The tokens with the bytes at which they begin. A `-` is a negation only where a term begins.
fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let mut tokens = Vec::new();
    let mut position = 0;
    while let Some(letter) = text[position..].chars().next() {
        let rest = &text[position..];
        let (length, token) = match letter {
            '(' => (1, Some(Token::Open)),
            ')' => (1, Some(Token::Close)),
            '-' => (1, Some(Token::Minus)),
            letter if letter.is_whitespace() => (letter.len_utf8(), None),
            _ => {
                let ends = |letter: char| letter.is_whitespace() || letter == '(' || letter == ')';
                let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
                (word.len(), Some(if word == "OR" { Token::Or } else { Token::Word(word) }))
            }
        };
        tokens.extend(token.map(|token| (position, token)));
        position += length;
    }
    tokens
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<(usize, Token<'a>)>,
    next: usize,
    depth: usize,
    catalog: &'a Catalog,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.next).map(|(_, token)| *token)
    }

    /// Takes the next token if it is this one.
    fn take(&mut self, token: Token) -> bool {
        let is = self.peek() == Some(token);
        self.next += usize::from(is);
        is
    }

    /// A message about the next token.
    fn at(&self, message: &str) -> String {
        let offset = self.tokens.get(self.next).map_or(self.text.len(), |(offset, _)| *offset);
        let character = 1 + self.text[..offset].chars().count();
        format!("filter {}, character {character}: {message}", quoted(self.text))
    }

    /// Terms with `OR` in between.
    fn any(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.all()?];
        while self.take(Token::Or) {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::Any(nodes) })
    }

    /// Terms side by side.
    fn all(&mut self) -> Result<Node, String> {
        let mut nodes = vec![self.term()?];
        while !matches!(self.peek(), None | Some(Token::Close | Token::Or)) {
            nodes.push(self.term()?);
        }
        Ok(if nodes.len() == 1 { nodes.remove(0) } else { Node::All(nodes) })
    }

    fn term(&mut self) -> Result<Node, String> {
        if self.depth >= DEEPEST {
            return Err(self.at("the filter is nested too deeply"));
        }
        self.depth += 1;
        let node = match self.peek() {
            Some(Token::Minus) => {
                self.next += 1;
                Node::Not(Box::new(self.term()?))
            }
            Some(Token::Open) => {
                self.next += 1;
                let inside = self.any()?;
                self.close()?;
                inside
            }
            Some(Token::Word(word)) => self.word(word)?,
            Some(Token::Or | Token::Close) | None => {
                return Err(self.at("a term is missing: expected axis:value, such as mechanism:pipe"));
            }
        };
        self.depth -= 1;
        Ok(node)
    }

    fn close(&mut self) -> Result<(), String> {
        match self.take(Token::Close) {
            true => Ok(()),
            false => Err(self.at("expected `)`")),
        }
    }

    fn word(&mut self, word: &str) -> Result<Node, String> {
        if word == "*" {
            self.next += 1;
            return Ok(Node::Every);
        }
        let Some((name, text)) = word.split_once(':') else {
            return Err(self.at(&not_a_term(word)));
        };
        let Some(axis) = Axis::named(name) else {
            let names: Vec<&str> = AXES.iter().map(|spec| spec.name).collect();
            return Err(self.at(&unknown("axis", name, &names)));
        };
        if !text.is_empty() {
            return Ok(Node::Is(axis, self.values(axis, text)?));
        }
        self.next += 1;
        if !self.take(Token::Open) {
            return Err(self.at(&format!("a value is missing after `{name}:`")));
        }
        self.alternatives(axis)
    }

    /// `V OR V)` after `axis:(`.
    fn alternatives(&mut self, axis: Axis) -> Result<Node, String> {
        let mut values = Vec::new();
        loop {
            let Some(Token::Word(text)) = self.peek() else {
                return Err(self.at(&format!("expected a value of `{axis}`")));
            };
            values.extend(self.values(axis, text)?);
            if !self.take(Token::Or) {
                break;
            }
        }
        match self.take(Token::Close) {
            true => Ok(Node::Is(axis, values)),
            false => Err(self.at(&format!("expected `OR` or `)` after a value of `{axis}`"))),
        }
    }

    /// The values that the next token, which is or ends in this text, stands for.
    fn values(&mut self, axis: Axis, text: &str) -> Result<Vec<Value>, String> {
        let values = match value::words(axis, self.catalog) {
            Some(words) if text.contains('*') => globbed(axis, text, &words),
            _ => value::item(axis, text, self.catalog),
        };
        let values = values.map_err(|message| self.at(&message))?;
        self.next += 1;
        Ok(values)
    }
}

fn not_a_term(word: &str) -> String {
    let advice = match word.to_ascii_lowercase().as_str() {
        "or" => "did you mean `OR`?",
        "and" => "terms side by side must all hold: leave it out",
        "not" => "write `-` in front of the term",
        _ => "expected axis:value, such as mechanism:pipe",
    };
    format!("{} is not a term; {advice}", quoted(word))
}

/// The words that a pattern stands for.
fn globbed(axis: Axis, pattern: &str, words: &[&str]) -> Result<Vec<Value>, String> {
    let parts: Vec<&str> = pattern.split('*').collect();
    let found = words.iter().filter(|word| fits(&parts, word)).map(|word| Value::word(*word));
    let found: Vec<Value> = found.collect();
    match found.is_empty() {
        true => {
            Err(format!("no value of `{axis}` is like {}. Allowed: {}", quoted(pattern), words.join(", ")))
        }
        false => Ok(found),
    }
}

/// Whether a word begins with the first part, ends with the last, and holds the others in between.
fn fits(parts: &[&str], word: &str) -> bool {
    let [first, middle @ .., last] = parts else { return false };
    let Some(mut rest) = word.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    for part in middle {
        let Some(position) = rest.find(part) else { return false };
        rest = &rest[position + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::super::sample::catalog;
    use super::*;
    use crate::cell::Measure;

    fn pipe(bytes: u64) -> Cell {
        Cell::new(Measure::Bandwidth, "pipe").with(Axis::MessageBytes, Value::Count(bytes))
    }

    fn mutex(workers: u64) -> Cell {
        Cell::new(Measure::Increment, "mutex").with(Axis::Workers, Value::Count(workers))
    }

    fn holds(text: &str, cell: &Cell) -> bool {
        Filter::parse(text, &catalog()).unwrap_or_else(|message| panic!("{message}")).matches(cell)
    }

    fn refused(text: &str) -> String {
        Filter::parse(text, &catalog()).unwrap_err()
    }

    #[test]
    fn terms_select_by_value_and_never_by_a_missing_axis() {
        assert!(holds("mechanism:pipe", &pipe(4096)));
        assert!(!holds("mechanism:tcp", &pipe(4096)));
        assert!(holds("message_bytes:4K", &pipe(4096)));
        assert!(!holds("workers:1", &pipe(4096)), "a pipe cell has no workers axis");
        assert!(holds("-workers:1", &pipe(4096)));
        assert!(holds("*", &pipe(1)) && !holds("-*", &pipe(1)));
    }

    #[test]
    fn values_in_parentheses_are_alternatives() {
        for (bytes, held) in [(4096, true), (65536, true), (1024, false)] {
            assert_eq!(holds("message_bytes:(4K OR 64K)", &pipe(bytes)), held, "{bytes}");
        }
        assert!(holds("workers:2..=4", &mutex(3)) && !holds("workers:2..=4", &mutex(5)));
    }

    #[test]
    fn and_binds_closer_than_or_and_parentheses_group() {
        let text = "mechanism:pipe message_bytes:1K OR mechanism:mutex";
        assert!(holds(text, &pipe(1024)) && holds(text, &mutex(1)) && !holds(text, &pipe(2048)));
        let text = "(mechanism:pipe OR mechanism:mutex) -message_bytes:1K";
        assert!(!holds(text, &pipe(1024)) && holds(text, &pipe(2048)) && holds(text, &mutex(1)));
        assert!(holds("-(mechanism:tcp OR workers:2)", &mutex(1)));
        assert!(holds("--mechanism:mutex", &mutex(1)));
    }

    #[test]
    fn a_star_stands_for_any_letters_of_a_word() {
        let locks = |text| holds(text, &mutex(1));
        assert!(locks("mechanism:*mutex") && locks("mechanism:m*") && locks("mechanism:m*e*"));
        assert!(!locks("mechanism:thread*") && !locks("mechanism:*_mutex"));
        assert!(
            refused("mechanism:door*").contains("no value of `mechanism` is like `door*`. Allowed: pipe")
        );
        assert!(refused("message_bytes:4*").contains("is not a number"));
    }

    #[test]
    fn mistakes_say_where_and_what_was_expected() {
        let cases = [
            ("", "the filter is empty; `*` keeps every cell"),
            (
                "mechanism:pip",
                "filter `mechanism:pip`, character 1: unknown mechanism `pip`; did you mean `pipe`? \
                 Allowed: pipe, queue, tcp, mutex, thread_mutex, record_lock",
            ),
            (
                "* mechanisms:pipe",
                "filter `* mechanisms:pipe`, character 3: unknown axis `mechanisms`; did you mean `mechanism`? \
                 Allowed: measure, mechanism, message_bytes, workers, spawn, placement, nodelay, capacity_bytes, highest_descriptor, descriptors, ready, file, call, variant, socket, idle_connections, process_state, depth, sender, daemon, log_socket, log_file",
            ),
            (
                "workers:0",
                "filter `workers:0`, character 1: `0` is out of bounds: expected a whole number from 1 to 64",
            ),
            ("(*", "filter `(*`, character 3: expected `)`"),
            ("*)", "filter `*)`, character 2: this `)` closes nothing"),
            (
                "pipe",
                "filter `pipe`, character 1: `pipe` is not a term; expected axis:value, such as mechanism:pipe",
            ),
            ("* or *", "filter `* or *`, character 3: `or` is not a term; did you mean `OR`?"),
            (
                "* OR",
                "filter `* OR`, character 5: a term is missing: expected axis:value, such as mechanism:pipe",
            ),
            ("workers:", "filter `workers:`, character 9: a value is missing after `workers:`"),
            (
                "workers:(1 2)",
                "filter `workers:(1 2)`, character 12: expected `OR` or `)` after a value of `workers`",
            ),
            ("workers:()", "filter `workers:()`, character 10: expected a value of `workers`"),
        ];
        for (text, message) in cases {
            assert_eq!(refused(text), message);
        }
    }

    #[test]
    fn hostile_nesting_and_length_end_in_an_error() {
        assert!(refused(&"(".repeat(4000)).ends_with("nested too deeply"));
        assert!(refused(&"-".repeat(4000)).ends_with("nested too deeply"));
        assert!(refused(&"* ".repeat(4000)).contains("longer than 4096 bytes"));
    }
}
