//! Titles, notes, reasons and errors come from users and from the system: nothing in them may break
//! a table, colour a terminal, or turn the reading direction.

use std::fmt::Write;

/// One line of printable text: white space becomes one space; what would steer a terminal or change the
/// order of letters is shown as `\u{1b}`.
pub fn line(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        if steers(letter) {
            let _infallible = write!(safe, "{}", letter.escape_unicode());
        } else {
            safe.push(letter);
        }
    }
    safe.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a character acts instead of showing: controls but white space, bidirectional controls,
/// invisible format characters, tags.
fn steers(letter: char) -> bool {
    let invisible = matches!(letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}');
    invisible || (letter.is_control() && !letter.is_whitespace())
}

/// Text for a GitHub document, in a table or out of one: [`line()`], with what Markdown or HTML would
/// read as markup escaped. Underscores inside a word stay as they are.
pub fn markdown(text: &str) -> String {
    escape_start(markdown_within(text))
}

/// The same for what begins no line, such as a place of a table.
pub fn markdown_within(text: &str) -> String {
    let letters: Vec<char> = line(text).chars().collect();
    let mut safe = String::with_capacity(letters.len());
    let inside_word = |position: usize| {
        let word = |at: Option<usize>| at.and_then(|at| letters.get(at)).is_some_and(|c| c.is_alphanumeric());
        word(position.checked_sub(1)) && word(Some(position + 1))
    };
    for (position, letter) in letters.iter().enumerate() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\\' | '`' | '*' | '[' | ']' | '|' | '~' | '$' => safe.extend(['\\', *letter]),
            '_' if !inside_word(position) => safe.push_str("\\_"),
            _ => safe.push(*letter),
        }
    }
    safe
}

/// The text, not to be taken for a heading, a list or a rule where it begins a line.
fn escape_start(text: String) -> String {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    match (&text.as_bytes()[digits..], digits) {
        ([b'#' | b'-' | b'+' | b'=', ..], 0) => format!("\\{text}"),
        ([b'.' | b')'] | [b'.' | b')', b' ', ..], 1..) => {
            format!("{}\\{}", &text[..digits], &text[digits..])
        }
        _ => text,
    }
}

/// Text as a code span, for use outside tables: fenced by more backticks than it has in a row.
pub fn code(text: &str) -> String {
    let safe = line(text);
    let longest = safe.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{safe}{pad}{fence}")
}

/// A command line that a shell would split into these words again.
pub fn command(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let bare = |letter: char| letter.is_ascii_alphanumeric() || "-_./=,:%+@".contains(letter);
    if !word.is_empty() && word.chars().all(bare) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_shown_and_do_not_act() {
        assert_eq!(line("a\x1b[31mred\x07"), "a\\u{1b}[31mred\\u{7}");
        assert_eq!(line("one\r\n\ttwo\u{2028}three\u{85}four"), "one two three four");
        assert_eq!(line("abc\u{202e}txt.exe\u{2066}"), "abc\\u{202e}txt.exe\\u{2066}");
        assert_eq!(line("zero\u{200b}width\u{feff}\u{e0041}"), "zero\\u{200b}width\\u{feff}\\u{e0041}");
        assert_eq!(line("größe ±3 µs עברית"), "größe ±3 µs עברית", "letters of any script stay");
    }

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            markdown("a|b `c` <b>&</b> [x](y) *i* ~s~ $m$"),
            "a\\|b \\`c\\` &lt;b&gt;&amp;&lt;/b&gt; \\[x\\](y) \\*i\\* \\~s\\~ \\$m\\$"
        );
        assert_eq!(markdown("pthread_mutex _it_"), "pthread_mutex \\_it\\_");
        assert_eq!(markdown("back\\slash|"), "back\\\\slash\\|");
        assert_eq!(
            ["# a", "- a", "+ a", "=", "1. a", "12) a", "1.5 s", "> a"].map(markdown),
            ["\\# a", "\\- a", "\\+ a", "\\=", "1\\. a", "12\\) a", "1.5 s", "&gt; a"]
        );
    }

    #[test]
    fn a_code_span_outlasts_its_backticks() {
        assert_eq!(code("plain"), "`plain`");
        assert_eq!(code("a``b`"), "``` a``b` ```");
        assert_eq!(code("a\x1b[0m"), "`a\\u{1b}[0m`");
    }

    #[test]
    fn a_command_can_be_pasted_back() {
        let words = ["ipcmatrix", "run", "-f", "mechanism:pipe -workers:1", "it's", ""].map(String::from);
        assert_eq!(command(&words), r"ipcmatrix run -f 'mechanism:pipe -workers:1' 'it'\''s' ''");
    }
}
