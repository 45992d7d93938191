//! How wide text is, about: the font of whoever looks is not known, so widths are taken a little too wide.

/// The width of a text in pixels, in a font without serifs of that size.
pub fn width(text: &str, size: f64) -> f64 {
    text.chars().map(letter_width).sum::<f64>() * size
}

/// The width of a letter as a part of the font's size.
fn letter_width(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | 't' | 'f' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '(' | ')' | '[' | ']'
        | ' ' => 0.36,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' => 0.72,
        '\0'..='\u{10ff}' => 0.6,
        _ => 1.05,
    }
}

/// Lines of that many pixels at most, broken between words, or inside one that is longer.
pub fn wrap(text: &str, most: f64, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|line| width(line, size) <= most) {
            Some(line) => lines.last_mut().into_iter().for_each(|last| last.clone_from(&line)),
            None => lines.extend(pieces(word, most, size)),
        }
    }
    lines
}

/// A word in pieces that fit.
fn pieces(word: &str, most: f64, size: f64) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for letter in word.chars() {
        let last = pieces.len() - 1;
        if !pieces[last].is_empty() && width(&pieces[last], size) + letter_width(letter) * size > most {
            pieces.push(String::new());
        }
        let last = pieces.len() - 1;
        pieces[last].push(letter);
    }
    pieces
}

/// The text, or its beginning with an ellipsis where it is wider.
pub fn shortened(text: &str, most: f64, size: f64) -> String {
    if width(text, size) <= most {
        return text.into();
    }
    let mut short = String::new();
    for letter in text.chars() {
        if width(&short, size) + (letter_width(letter) + letter_width('…')) * size > most {
            break;
        }
        short.push(letter);
    }
    short.trim_end().to_owned() + "…"
}

/// Which labels at an axis can be written without touching: from the last one, which is always, to the first.
/// `places` rise.
pub fn apart(places: &[f64], labels: &[String], size: f64) -> Vec<bool> {
    let mut next = f64::INFINITY;
    let mut shown: Vec<bool> = places
        .iter()
        .zip(labels)
        .rev()
        .map(|(place, label)| {
            let half = width(label, size) / 2.0;
            let fits = place + half + size / 2.0 <= next;
            if fits {
                next = place - half;
            }
            fits
        })
        .collect();
    shown.reverse();
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_lose_nothing() {
        let text = "Bandwidth between two processes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa end";
        let lines = wrap(text, 120.0, 12.0);
        assert!(lines.len() > 3 && lines.iter().all(|line| width(line, 12.0) <= 120.0), "{lines:?}");
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
        assert!(wrap("", 10.0, 12.0).is_empty());
        assert_eq!(wrap("mm", 1.0, 12.0), ["m", "m"], "narrower than a letter");
    }

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(shortened("pipe", 100.0, 12.0), "pipe");
        let short = shortened("unix_seqpacket_with_a_long_name", 100.0, 12.0);
        assert!(short.ends_with('…') && width(&short, 12.0) <= 100.0, "{short}");
    }

    #[test]
    fn labels_do_not_touch() {
        let labels = ["1000", "1023", "4096"].map(String::from);
        assert_eq!(apart(&[100.0, 102.0, 200.0], &labels, 12.0), [false, true, true]);
        assert_eq!(apart(&[0.0, 100.0, 200.0], &labels, 12.0), [true, true, true]);
    }
}
