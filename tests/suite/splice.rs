//! Blocks of a document: filled from records, checked, and left alone where anything is wrong.

use crate::program::Program;
use crate::trial;
use libtest_mimic::Trial;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use tempfile::TempDir;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("splice::a_document_is_filled_and_checked_by_one_command", &[], filled_and_checked),
        trial("splice::plots_and_text_stand_in_blocks_too", &[], plots_and_text),
        trial("splice::what_is_wrong_is_told_and_nothing_is_written", &[], refused),
        trial("splice::nothing_but_the_block_changes", &[], nothing_else),
    ]
}

/// A folder with a run in `out` and a document.
fn with(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("out")).unwrap();
    let journal = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/small.jsonl");
    fs::copy(journal, folder.path().join("out/records.jsonl")).unwrap();
    fs::write(folder.path().join("R.md"), text).unwrap();
    folder
}

fn block(name: &str, words: &str) -> String {
    format!("<!-- ipcmatrix:begin {name} {words} -->\n<!-- ipcmatrix:end {name} -->\n")
}

fn report(folder: &TempDir, words: &[&str]) -> Program {
    Program::ipcmatrix(["report"]).args(words).folder(folder.path())
}

fn text(folder: &TempDir) -> String {
    fs::read_to_string(folder.path().join("R.md")).unwrap()
}

fn filled_and_checked() {
    let words = "--table A.2 -f 'placement:same_cpu mechanism:(pipe OR tcp)' out";
    let folder = with(&format!("# Mine\n{}between\n{}", block("a", words), block("b", "--table A.4 out")));
    let stale = report(&folder, &["--into", "R.md", "--check"]).run().exits(3);
    let stale = stale.says(&["R.md:2: block \"a\" is not what the records say", "R.md:5: block \"b\""]);
    assert_eq!(stale.stdout, "");
    report(&folder, &["--into", "R.md#a"]).run().exits(0);
    let half = report(&folder, &["--into", "R.md", "--check"]).run().exits(3);
    assert!(half.stderr.contains("\"b\"") && !half.stderr.contains("\"a\""), "{}", half.stderr);
    report(&folder, &["--into", "R.md"]).run().exits(0);
    let made = text(&folder);
    assert!(made.starts_with("# Mine\n<!-- ipcmatrix:begin a ") && made.contains("-->\nbetween\n"), "{made}");
    assert!(made.contains("](out);") && made.contains("### A.2 ") && made.contains("### A.4 "), "{made}");
    let before = fs::metadata(folder.path().join("R.md")).unwrap().ino();
    report(&folder, &["--into", "R.md"]).run().exits(0);
    report(&folder, &["--into", "R.md", "--check"]).run().exits(0);
    assert_eq!(fs::metadata(folder.path().join("R.md")).unwrap().ino(), before, "a true file is not written");
    fs::write(folder.path().join("R.md"), made.replacen("| ", "| 1", 1)).unwrap();
    report(&folder, &["--into", "R.md", "--check"]).run().exits(3).says(&["block \"a\""]);
}

fn plots_and_text() {
    let folder =
        with(&[block("p", "--format svg --table A.2 -o out out"), block("t", "--format text out")].concat());
    report(&folder, &["--into", "R.md"]).run().exits(0);
    let made = text(&folder);
    assert!(made.contains("](out/A.2.svg)\n") && made.contains("\n```text\nipcmatrix:"), "{made}");
    assert!(fs::read_to_string(folder.path().join("out/A.2.svg")).unwrap().contains("<svg "));
    report(&folder, &["--into", "R.md", "--check"]).run().exits(0);
    let plot = folder.path().join("out/A.2.svg");
    let before = fs::metadata(&plot).unwrap().ino();
    report(&folder, &["--into", "R.md"]).run().exits(0);
    assert_eq!(fs::metadata(&plot).unwrap().ino(), before, "a true plot is not written");
    fs::write(&plot, "<svg/>").unwrap();
    report(&folder, &["--into", "R.md", "--check"]).run().exits(3).says(&[
        "block \"p\"",
        "its plot",
        "A.2.svg",
    ]);
}

fn refused() {
    let good = block("a", "out");
    let cases: &[(String, &[&str], &str)] = &[
        ("no block\n".into(), &["--into", "R.md"], "R.md has no block: expected lines"),
        (good.clone(), &["--into", "R.md#b"], "R.md has no block \"b\", but a"),
        (good.clone(), &["--into", "gone.md"], "cannot read gone.md"),
        (good.clone(), &["out", "--into", "R.md#a"], "leave out RUN, or the words in the marker"),
        (good.clone(), &["out", "--into", "R.md"], "which block?"),
        (good.clone() + &good, &["--into", "R.md"], "R.md:3: a second block \"a\""),
        ("<!-- ipcmatrix:begin a out -->\n".into(), &["--into", "R.md"], "block \"a\" has no end"),
        (block("a", ""), &["--into", "R.md"], "nothing says what it shows"),
        (block("a", "gone"), &["--into", "R.md"], "R.md:1: block \"a\": cannot read"),
        (block("a", "out out"), &["--into", "R.md"], "a block shows one run, and these are 2"),
        (block("a", "--format csv out"), &["--into", "R.md"], "md, text or svg"),
        (block("a", "--format svg out"), &["--into", "R.md"], "name their folder with -o"),
        (block("a", "-f 'x out"), &["--into", "R.md"], "a quote in its begin marker does not end"),
        (block("a", "--tabel A.2 out"), &["--into", "R.md"], "unexpected argument '--tabel'"),
        (block("a", "--into R.md out"), &["--into", "R.md"], "neither --into, --check nor --gate"),
        (block("a", "--table A.9 out"), &["--into", "R.md"], "there is no table \"A.9\""),
        (good + &block("b", "--row placement --table A.2 out"), &["--into", "R.md"], "nothing is averaged"),
    ];
    for (document, words, message) in cases {
        let folder = with(document);
        report(&folder, words).run().exits(2).says(&[message]);
        assert_eq!(text(&folder), *document, "nothing is written: {message}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind: {message}");
    }
    let folder = with("");
    fs::write(folder.path().join("R.md"), b"\xff\n<!-- ipcmatrix:begin a out -->\n").unwrap();
    report(&folder, &["--into", "R.md"]).run().exits(2).says(&["is not UTF-8 text"]);
    let folder = with(&block("a", "."));
    fs::create_dir(folder.path().join("again")).unwrap();
    fs::copy(folder.path().join("out/records.jsonl"), folder.path().join("again/records.jsonl")).unwrap();
    let many = "a block shows one run, and below . are 2: name one of them";
    report(&folder, &["--into", "R.md"]).run().exits(2).says(&[many]);
}

fn nothing_else() {
    let around = "\u{feff}# Mine\r\n\r\n<!-- ipcmatrix:begin a --table A.2 out -->\r\n<!-- ipcmatrix:end a -->\r\nlast line  \r\nno newline";
    let folder = with(around);
    let real = folder.path().join("R.md");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    symlink("../R.md", folder.path().join("sub/link.md")).unwrap();
    report(&folder, &["--into", "sub/link.md"]).run().exits(0);
    let made = text(&folder);
    let (before, after) = around.split_at(around.find("<!-- ipcmatrix:end").unwrap());
    assert!(made.starts_with(before) && made.ends_with(after), "{made:?}");
    assert_eq!(made.matches('\n').count() - 1, made.matches("\r\n").count() - 1, "every line ends as it did");
    assert!(made.len() > around.len() + 100);
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(folder.path().join("sub/link.md").symlink_metadata().unwrap().is_symlink());
}
