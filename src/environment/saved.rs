//! Trees of machines, built from the texts in `fixtures` folders.
//!
//! A line is a path, one space, and the text of the file; `\n` in it ends a line. `{0-3}` in a path makes a file
//! for each number, and `{n}`, `{n+4}` and `{n-4}` in the text are that number and its neighbours. `#` begins a
//! remark.

use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A tree in a temporary folder.
pub(crate) struct Saved {
    folder: TempDir,
}

impl Saved {
    /// The tree that the text describes.
    pub(crate) fn of(fixture: &str) -> Saved {
        let saved = Saved { folder: tempfile::tempdir().expect("a temporary folder") };
        for line in fixture.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (path, text) = line.split_once(' ').expect("a path and a text");
            match path.split_once('{') {
                None => saved.put(path, &text.replace("\\n", "\n")),
                Some((before, rest)) => saved.put_many(before, rest, text),
            };
        }
        saved
    }

    fn put_many(&self, before: &str, rest: &str, text: &str) -> &Saved {
        let (range, after) = rest.split_once('}').expect("a range ends");
        let (first, last) = range.split_once('-').expect("a range has two ends");
        let (first, last): (u32, u32) = (first.parse().expect("a number"), last.parse().expect("a number"));
        for number in first..=last {
            self.put(&format!("{before}{number}{after}"), &filled(text, number));
        }
        self
    }

    /// Writes one file; the text gets the newline that the kernel writes.
    pub(crate) fn put(&self, path: &str, text: &str) -> &Saved {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a file stands in a folder")).expect("a folder");
        fs::write(path, format!("{text}\n")).expect("a file");
        self
    }

    /// Removes one file.
    pub(crate) fn remove(&self, path: &str) -> &Saved {
        fs::remove_file(self.folder.path().join(path)).expect("the file was there");
        self
    }

    /// Its root.
    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }
}

fn filled(text: &str, number: u32) -> String {
    let mut parts = text.split('{');
    let mut all = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (hole, rest) = part.split_once('}').expect("a hole ends");
        let offset: i64 = hole.strip_prefix('n').expect("a hole holds n").parse().unwrap_or(0);
        all += &format!("{}{rest}", i64::from(number) + offset);
    }
    all
}
