//! Colours: the option, then NO_COLOR, then CLICOLOR_FORCE, then whether the stream is a terminal. A colour only ever
//! stands on a word that says the same.

use super::arguments::Colour;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use std::ffi::OsStr;
use std::io;

/// For what is wrong.
pub const BAD: Style = AnsiColor::Red.on_default().bold();
/// For what may be wrong.
pub const DOUBTFUL: Style = AnsiColor::Yellow.on_default();
/// For what is as it must be.
pub const GOOD: Style = AnsiColor::Green.on_default();

/// Keeps what the option says for the whole program, messages about the command line included: it is looked for in the
/// words before they are parsed. What is no value of it is left to the parser to refuse.
pub fn take_option(words: impl Iterator<Item = impl AsRef<OsStr>>) {
    asked(words).unwrap_or(ColorChoice::Auto).write_global();
}

/// What the option says, where it is there.
fn asked(words: impl Iterator<Item = impl AsRef<OsStr>>) -> Option<ColorChoice> {
    let (mut choice, mut is_value) = (None, false);
    for word in words {
        let word = word.as_ref().to_string_lossy();
        let value = match word.strip_prefix("--color=") {
            _ if is_value => Some(&*word),
            _ if word == "--" => break,
            value => value,
        };
        is_value = !is_value && word == "--color";
        choice = value.and_then(|value| clap::ValueEnum::from_str(value, false).ok()).map(of).or(choice);
    }
    choice
}

fn of(colour: Colour) -> ColorChoice {
    match colour {
        Colour::Auto => ColorChoice::Auto,
        Colour::Always => ColorChoice::Always,
        Colour::Never => ColorChoice::Never,
    }
}

/// Whether a stream shows colours.
#[derive(Clone, Copy, Debug)]
pub struct Paint(bool);

impl Paint {
    /// As standard output has it.
    pub fn stdout() -> Paint {
        Paint(AutoStream::choice(&io::stdout()) != ColorChoice::Never)
    }

    /// As standard error has it.
    pub fn stderr() -> Paint {
        Paint(AutoStream::choice(&io::stderr()) != ColorChoice::Never)
    }

    /// None, wherever the tests run.
    #[cfg(test)]
    pub fn plain() -> Paint {
        Paint(false)
    }

    /// The word, in that style where the stream shows colours.
    pub fn word(self, style: Style, word: &str) -> String {
        if self.0 { format!("{style}{word}{style:#}") } else { word.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_found_wherever_it_stands() {
        let of = |words: &str| asked(words.split(' '));
        assert_eq!(of("list --color=always"), Some(ColorChoice::Always));
        assert_eq!(of("--color never list"), Some(ColorChoice::Never));
        assert_eq!(of("--color never list --color auto"), Some(ColorChoice::Auto));
        for none in ["list", "--color", "--color=loud", "run -- --color=always", "--color -- always"] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    #[test]
    fn a_word_has_its_style_or_none() {
        assert_eq!(Paint(false).word(BAD, "fail"), "fail");
        let painted = Paint(true).word(BAD, "fail");
        assert!(painted.starts_with('\u{1b}') && painted.contains("fail") && painted.ends_with("\u{1b}[0m"));
    }
}
