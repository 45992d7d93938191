//! Blocks of a document that a report fills: what stands between `<!-- ipcmatrix:begin NAME ARGUMENTS -->` and
//! `<!-- ipcmatrix:end NAME -->`, each on a line of its own.
//!
//! Markers in fenced code are examples and are left alone. Nothing outside a block changes, and lines end as that of the
//! begin marker does.

use anyhow::{Result, bail, ensure};
use std::ops::Range;

const MARK: &str = "<!-- ipcmatrix:";

/// A block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// What stands behind the name in the begin marker; empty where nothing does.
    pub arguments: String,
    /// The line of the begin marker, from 1.
    pub line: usize,
    /// The bytes between the two lines.
    inside: Range<usize>,
    /// How its lines end.
    newline: &'static str,
}

/// The blocks of a text, in their order; `name` is what errors call it.
///
/// # Errors
/// A marker that is damaged, missing, doubled or in the wrong place, with its line and what was expected.
pub fn blocks(text: &str, name: &str) -> Result<Vec<Block>> {
    let mut found: Vec<Block> = Vec::new();
    let mut open: Option<Block> = None;
    let mut fence: Option<&str> = None;
    let mut at = 0;
    for (index, whole) in text.split_inclusive('\n').enumerate() {
        let (start, line) = (at, whole.trim_end());
        at += whole.len();
        if open.is_none() {
            let in_code = fence.is_some();
            step(&mut fence, line);
            if in_code {
                continue;
            }
        }
        let Some(marker) = line.strip_prefix(MARK) else { continue };
        let place = format!("{name}:{}", index + 1);
        match (read(marker, &place)?, open.take()) {
            (Marker::Begin(block, arguments), None) => {
                if let Some(known) = found.iter().find(|known| known.name == block) {
                    bail!(
                        "{place}: a second block {block:?}, after that of line {}: give one another name",
                        known.line
                    );
                }
                let newline = if whole.ends_with("\r\n") { "\r\n" } else { "\n" };
                let (name, arguments) = (block.to_owned(), arguments.to_owned());
                open = Some(Block { name, arguments, line: index + 1, inside: at..at, newline });
            }
            (Marker::Begin(block, _), Some(outer)) => bail!(
                "{place}: block {block:?} begins inside of {:?}: expected `{MARK}end {} -->` before it",
                outer.name,
                outer.name
            ),
            (Marker::End(block), Some(own)) if own.name == block => {
                found.push(Block { inside: own.inside.start..start, ..own });
            }
            (Marker::End(block), Some(own)) => bail!(
                "{place}: expected the end of block {:?}, which begins in line {}, and found that of {block:?}",
                own.name,
                own.line
            ),
            (Marker::End(block), None) => {
                bail!(
                    "{place}: block {block:?} ends here and did not begin: expected `{MARK}begin {block} -->` before it"
                )
            }
        }
    }
    if let Some(Block { name: block, line, .. }) = open {
        bail!("{name}:{line}: block {block:?} has no end: expected a line `{MARK}end {block} -->` below it");
    }
    Ok(found)
}

/// Whether the line opens or closes fenced code (CommonMark 4.5, without indentation).
fn step<'a>(fence: &mut Option<&'a str>, line: &'a str) {
    let marks = |letter: char| &line[..line.len() - line.trim_start_matches(letter).len()];
    let run = if line.starts_with('`') { marks('`') } else { marks('~') };
    match *fence {
        None if run.len() >= 3 && !(run.starts_with('`') && line[run.len()..].contains('`')) => {
            *fence = Some(run);
        }
        Some(opened) if run.starts_with(opened) && line.len() == run.len() => *fence = None,
        _ => {}
    }
}

enum Marker<'a> {
    Begin(&'a str, &'a str),
    End(&'a str),
}

/// Reads a marker behind [`MARK`].
fn read<'a>(marker: &'a str, place: &str) -> Result<Marker<'a>> {
    let expected = "expected `<!-- ipcmatrix:begin NAME ARGUMENTS -->` or `<!-- ipcmatrix:end NAME -->` on a line of its own";
    let Some(inside) = marker.strip_suffix("-->") else {
        bail!("{place}: this marker does not end on its line: {expected}");
    };
    let (word, rest) = inside.trim().split_once(char::is_whitespace).unwrap_or((inside.trim(), ""));
    let (name, arguments) = rest.trim().split_once(char::is_whitespace).unwrap_or((rest.trim(), ""));
    let lawful = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    ensure!(
        !name.is_empty() && name.chars().all(lawful),
        "{place}: a marker needs a name of letters, digits, `.`, `_` and `-`: {expected}"
    );
    match (word, arguments.trim()) {
        ("begin", arguments) => Ok(Marker::Begin(name, arguments)),
        ("end", "") => Ok(Marker::End(name)),
        _ => bail!("{place}: {expected}"),
    }
}

impl Block {
    /// What stands in it.
    pub fn inside<'a>(&self, text: &'a str) -> &'a str {
        &text[self.inside.clone()]
    }

    /// What has to stand in it: an empty line above and below the content, lines ended as they are there.
    ///
    /// # Errors
    /// Content that has a marker of its own.
    pub fn filled(&self, content: &str) -> Result<String> {
        ensure!(
            !content.lines().any(|line| line.starts_with(MARK)),
            "block {:?} would get a marker in it, from a title or a note of the run: leave that table out",
            self.name
        );
        let lines = std::iter::once("").chain(content.trim_matches('\n').lines()).chain([""]);
        Ok(lines.map(|line| format!("{line}{}", self.newline)).collect())
    }
}

/// The text with other contents in some blocks, which stand in the order of the text.
pub fn replaced(text: &str, contents: &[(Block, String)]) -> String {
    let mut made = String::with_capacity(text.len());
    let mut at = 0;
    for (block, content) in contents {
        made += &text[at..block.inside.start];
        made += content;
        at = block.inside.end;
    }
    made + &text[at..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        blocks(text, "f.md").unwrap_err().to_string()
    }

    #[test]
    fn blocks_are_found_with_their_arguments_and_only_they_change() {
        let text = "a\r\n<!-- ipcmatrix:begin one --table A.2 'x y' -->\r\nold\r\n<!-- ipcmatrix:end one -->\r\nb\n\
                    <!-- ipcmatrix:begin two -->\n<!-- ipcmatrix:end two -->";
        let found = blocks(text, "f.md").unwrap();
        assert_eq!([found[0].arguments.as_str(), found[1].arguments.as_str()], ["--table A.2 'x y'", ""]);
        assert_eq!((found[0].inside(text), found[1].inside(text)), ("old\r\n", ""));
        let fill = |block: &Block| (block.clone(), block.filled("x\ny\n").unwrap());
        let made = replaced(text, &[fill(&found[0]), fill(&found[1])]);
        assert_eq!(
            made,
            "a\r\n<!-- ipcmatrix:begin one --table A.2 'x y' -->\r\n\r\nx\r\ny\r\n\r\n<!-- ipcmatrix:end one -->\r\nb\n\
             <!-- ipcmatrix:begin two -->\n\nx\ny\n\n<!-- ipcmatrix:end two -->"
        );
        let again = blocks(&made, "f.md").unwrap();
        assert_eq!(
            replaced(&made, &again.iter().map(fill).collect::<Vec<_>>()),
            made,
            "a second time changes nothing"
        );
    }

    #[test]
    fn markers_in_code_are_examples() {
        let text = "```md\n<!-- ipcmatrix:begin x -->\n```\n~~~~\n~~~\n<!-- ipcmatrix:end x -->\n~~~~\n\
                    ```inline``` code\n<!-- ipcmatrix:begin y -->\n```\n<!-- ipcmatrix:end y -->\n";
        let found = blocks(text, "f.md").unwrap();
        assert_eq!(found.iter().map(|block| block.name.as_str()).collect::<Vec<_>>(), ["y"]);
        assert_eq!(
            blocks("text <!-- ipcmatrix:begin x --> text\n", "f.md").unwrap(),
            [],
            "not at the beginning of a line"
        );
    }

    #[test]
    fn damaged_markers_are_refused_with_line_and_expectation() {
        let begin = "<!-- ipcmatrix:begin a -->\n";
        let end = "<!-- ipcmatrix:end a -->\n";
        let cases = [
            (begin.to_owned(), "f.md:1: block \"a\" has no end: expected a line `<!-- ipcmatrix:end a -->`"),
            (format!("{end}{begin}"), "f.md:1: block \"a\" ends here and did not begin"),
            (format!("{begin}{end}{begin}{end}"), "f.md:3: a second block \"a\", after that of line 1"),
            (format!("{begin}{begin}{end}"), "f.md:2: block \"a\" begins inside of \"a\""),
            (format!("{begin}<!-- ipcmatrix:end b -->\n"), "f.md:2: expected the end of block \"a\""),
            (format!("{begin}{end}{end}"), "f.md:3: block \"a\" ends here and did not begin"),
            ("<!-- ipcmatrix:begin -->\n".into(), "f.md:1: a marker needs a name"),
            ("<!-- ipcmatrix:begin a|b -->\n".into(), "f.md:1: a marker needs a name"),
            ("<!-- ipcmatrix:begin a\n-->\n".into(), "f.md:1: this marker does not end on its line"),
            ("<!-- ipcmatrix:bgin a -->\n".into(), "f.md:1: expected `<!-- ipcmatrix:begin NAME"),
            ("<!-- ipcmatrix:end a b -->\n".into(), "f.md:1: expected `<!-- ipcmatrix:begin NAME"),
        ];
        for (text, message) in cases {
            assert!(refused(&text).starts_with(message), "{text}: {}", refused(&text));
        }
    }

    #[test]
    fn content_cannot_end_its_block() {
        let block = &blocks("<!-- ipcmatrix:begin a -->\n<!-- ipcmatrix:end a -->\n", "f.md").unwrap()[0];
        assert!(
            block.filled("x\n<!-- ipcmatrix:end a -->\n").unwrap_err().to_string().contains("a marker in it")
        );
    }
}
