//! Reads small files of `/proc` and `/sys` below a root. Never writes, never starts a process.

use super::fact::Found;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// More than any file of `/proc` or `/sys` that is read as text, in bytes.
const LARGEST_TEXT_BYTES: u64 = 8 << 20;

/// The machine's own file tree, or a saved one.
pub(super) struct Tree {
    root: PathBuf,
}

impl Tree {
    /// The tree below that folder; `/` is the machine itself.
    pub fn new(root: &Path) -> Tree {
        Tree { root: root.to_path_buf() }
    }

    /// Whether this is the machine itself, so that the kernel may be asked too.
    pub fn live(&self) -> bool {
        self.root == Path::new("/")
    }

    fn below(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// The first `most` bytes of a file.
    pub fn bytes(&self, path: &str, most: u64) -> Found<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(self.below(path))
            .and_then(|file| file.take(most).read_to_end(&mut bytes))
            .map_err(|error| reason(path, &error))?;
        Ok(bytes)
    }

    /// A file as text, without the white space and zero bytes around it.
    pub fn text(&self, path: &str) -> Found<String> {
        let bytes = self.bytes(path, LARGEST_TEXT_BYTES)?;
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_string())
    }

    /// As [`Tree::text`], but an empty file is an unknown value.
    pub fn word(&self, path: &str) -> Found<String> {
        let text = self.text(path)?;
        if text.is_empty() { Err(format!("{path}: empty")) } else { Ok(text) }
    }

    /// A file that holds one number.
    pub fn number<T: FromStr>(&self, path: &str) -> Found<T> {
        parse(path, &self.word(path)?)
    }

    /// A file of `key: value` lines.
    pub fn keyed(&self, path: &'static str) -> Keyed {
        Keyed { path, text: self.text(path) }
    }

    /// Names in a folder, sorted.
    pub fn names(&self, path: &str) -> Found<Vec<String>> {
        let entries = std::fs::read_dir(self.below(path)).map_err(|error| reason(path, &error))?;
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        Ok(names)
    }

    /// Whether there is a file or folder of that name.
    pub fn has(&self, path: &str) -> bool {
        self.below(path).exists()
    }
}

/// A file of `key: value` lines, such as `/proc/meminfo`; of equal keys the first counts.
pub(super) struct Keyed {
    path: &'static str,
    text: Found<String>,
}

impl Keyed {
    /// The value of a key as text.
    pub fn word(&self, key: &str) -> Found<String> {
        let text = self.text.as_ref().map_err(Clone::clone)?;
        let value = text.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == key);
        match value.map(|(_, value)| value.trim()) {
            Some(value) if !value.is_empty() => Ok(value.to_string()),
            _ => Err(format!("{}: no `{key}`", self.path)),
        }
    }

    /// The value of a key as a number.
    pub fn number<T: FromStr>(&self, key: &str) -> Found<T> {
        parse(self.path, &self.word(key)?)
    }

    /// The value of a key that is given in kB (of 1024 bytes), in bytes.
    pub fn kib_as_bytes(&self, key: &str) -> Found<u64> {
        let word = self.word(key)?;
        let kib: u64 = parse(self.path, word.trim_end_matches("kB").trim_end())?;
        kib.checked_mul(1024).ok_or_else(|| unreadable(self.path, &word))
    }
}

/// A number, or a reason that quotes what stood there.
pub(super) fn parse<T: FromStr>(path: &str, word: &str) -> Found<T> {
    word.parse().map_err(|_| unreadable(path, word))
}

/// The reason for a text that is not what the file should hold.
pub(super) fn unreadable(path: &str, text: &str) -> String {
    let start: String = text.chars().take(40).collect();
    format!("{path}: cannot make sense of `{start}`")
}

fn reason(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("{path}: no such file"),
        io::ErrorKind::PermissionDenied => format!("{path}: permission denied"),
        _ => format!("{path}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_name_the_file_below_the_root_only() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let tree = Tree::new(folder.path());
        assert_eq!(tree.text("/proc/cmdline"), Err("/proc/cmdline: no such file".to_string()));
        assert_eq!(
            tree.keyed("/proc/meminfo").number::<u64>("MemTotal").unwrap_err(),
            "/proc/meminfo: no such file"
        );
        assert!(!tree.live());
    }

    #[test]
    fn keys_are_matched_whole_and_damaged_numbers_are_quoted() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::create_dir(folder.path().join("proc")).expect("a folder");
        let text = "model name\t: A B\nmodel\t\t: 7\nempty :\nMemTotal: 3 kB\nbad: x kB\n\
                    huge: 18446744073709551615 kB\n";
        std::fs::write(folder.path().join("proc/cpuinfo"), text).expect("a file");
        let keyed = Tree::new(folder.path()).keyed("/proc/cpuinfo");
        assert_eq!(keyed.number::<u64>("model"), Ok(7));
        assert_eq!(keyed.word("model name").as_deref(), Ok("A B"));
        assert_eq!(keyed.word("empty").unwrap_err(), "/proc/cpuinfo: no `empty`");
        assert_eq!(keyed.kib_as_bytes("MemTotal"), Ok(3072));
        assert!(keyed.kib_as_bytes("bad").unwrap_err().contains("`x`"));
        assert!(keyed.kib_as_bytes("huge").is_err(), "no overflow");
    }
}
