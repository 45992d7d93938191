//! Mistakes in a matrix file, each with its place and with what was expected there.

use std::fmt;

/// The most mistakes that one report lists.
pub const MOST_MISTAKES: usize = 10;

/// The longest piece of a file that a message repeats, in characters.
const LONGEST_QUOTE: usize = 60;

/// One mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// The file, or the option of the command line, that holds it.
    pub file: String,
    /// Line, from 1; 0 where the mistake has no place in a file.
    pub line: usize,
    /// Column in characters, from 1; 0 where the mistake has no place in a file.
    pub column: usize,
    /// What stands there and what was expected.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.message),
        }
    }
}

/// Every mistake that was found, in the order of their places; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistakes(pub Vec<Mistake>);

impl Mistakes {
    /// One mistake alone.
    pub(super) fn one(mistake: Mistake) -> Mistakes {
        Mistakes(vec![mistake])
    }

    /// These mistakes in order, at most [`MOST_MISTAKES`] of them and then a word that there are more.
    pub(super) fn sorted(mut mistakes: Vec<Mistake>) -> Mistakes {
        mistakes.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        mistakes.dedup();
        if mistakes.len() > MOST_MISTAKES {
            mistakes.truncate(MOST_MISTAKES);
            let file = mistakes[0].file.clone();
            mistakes.push(Mistake { file, line: 0, column: 0, message: "and more like these".to_owned() });
        }
        Mistakes(mistakes)
    }
}

/// One mistake a line.
impl fmt::Display for Mistakes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, mistake) in self.0.iter().enumerate() {
            if position > 0 {
                f.write_str("\n")?;
            }
            mistake.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Mistakes {}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// The place of a byte of a text.
    pub fn of(file: &str, text: &[u8], offset: usize) -> Place {
        let before = &text[..offset.min(text.len())];
        let begin = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + String::from_utf8_lossy(&before[begin..]).chars().count();
        Place { file: file.to_owned(), line, column }
    }

    /// Something that stands outside any file, such as an option of the command line.
    pub fn outside(what: String) -> Place {
        Place { file: what, line: 0, column: 0 }
    }

    /// A mistake at this place.
    pub fn mistake(&self, message: impl Into<String>) -> Mistake {
        let Place { file, line, column } = self.clone();
        Mistake { file, line, column, message: message.into() }
    }
}

/// A piece of a file as a message repeats it: in backquotes, short, without control characters.
pub(super) fn quoted(text: &str) -> String {
    let mut shown = String::new();
    for letter in text.chars().take(LONGEST_QUOTE) {
        match letter.is_control() {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    let dots = if text.chars().nth(LONGEST_QUOTE).is_some() { "..." } else { "" };
    format!("`{shown}{dots}`")
}

/// What to say of a word that is not one of those allowed: the nearest one, then all.
pub(crate) fn unknown(what: &str, word: &str, allowed: &[&str]) -> String {
    let near = match nearest(word, allowed) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => ".".to_owned(),
    };
    format!("unknown {what} {}{near} Allowed: {}", quoted(word), allowed.join(", "))
}

/// The one allowed word that is nearest to this one, if any is near.
fn nearest<'a>(word: &str, allowed: &[&'a str]) -> Option<&'a str> {
    if word.len() > LONGEST_QUOTE {
        return None;
    }
    let word = word.to_lowercase();
    let within = (word.chars().count() / 3).max(1);
    let near = allowed.iter().map(|other| (strsim::osa_distance(&word, &other.to_lowercase()), *other)).min();
    if let Some((_, other)) = near.filter(|(distance, _)| *distance <= within) {
        return Some(other);
    }
    let mut holding = allowed.iter().filter(|other| word.len() >= 4 && other.to_lowercase().contains(&word));
    match (holding.next(), holding.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters_from_one() {
        let text = "a\nüb\n".as_bytes();
        assert_eq!((Place::of("m", text, 0).line, Place::of("m", text, 0).column), (1, 1));
        assert_eq!((Place::of("m", text, 4).line, Place::of("m", text, 4).column), (2, 2));
        assert_eq!(Place::of("m", text, 999).line, 3);
    }

    #[test]
    fn a_near_word_is_offered_and_a_far_one_is_not() {
        let allowed = ["pipe", "posix_queue", "pthread_mutex"];
        assert_eq!(nearest("pip", &allowed), Some("pipe"));
        assert_eq!(nearest("Pipe", &allowed), Some("pipe"));
        assert_eq!(nearest("mutex", &allowed), Some("pthread_mutex"));
        assert_eq!(nearest("doors", &allowed), None);
        assert_eq!(nearest("", &allowed), None);
        assert_eq!(nearest(&"x".repeat(1 << 20), &allowed), None);
    }

    #[test]
    fn control_characters_and_long_text_are_not_repeated() {
        assert_eq!(quoted("a\u{1b}[2Jb"), "`a\\u{1b}[2Jb`");
        assert_eq!(quoted(&"x".repeat(100)), format!("`{}...`", "x".repeat(60)));
    }

    #[test]
    fn only_the_first_ten_are_listed() {
        let place = |line| Place { file: "m".to_owned(), line, column: 1 };
        let all: Vec<Mistake> = (1..=13).rev().map(|line| place(line).mistake("bad")).collect();
        let mistakes = Mistakes::sorted(all);
        assert_eq!(mistakes.0.len(), 11);
        assert_eq!(mistakes.0[0].line, 1);
        assert!(mistakes.to_string().ends_with("m:10:1: bad\nm: and more like these"), "{mistakes}");
    }
}
