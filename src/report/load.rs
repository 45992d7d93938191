//! Reads a journal back: a header, visits, an end.

mod line;
mod parallel;
mod pieces;
pub mod reduce;

use crate::cell::Cell;
use crate::record::{End, Header, Line, PlannedCell, Resumed, Visit};
use anyhow::{Context, Result, anyhow, bail, ensure};
use line::{cut_off, text_of};
use pieces::{PIECE_BYTES, Pieces};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// The journal's name in the folder of a run.
pub const JOURNAL: &str = "records.jsonl";

/// The name of what the machine was, beside it.
pub const ENVIRONMENT: &str = "environment.json";

/// A run as its journal tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What was going to be run.
    pub header: Header,
    /// The visits in the order in which they were made.
    pub visits: Vec<Visit>,
    /// How the run ended; `None` where the journal stops before.
    pub end: Option<End>,
    /// Whether a last line was cut off in the middle and dropped.
    pub torn_line: bool,
    /// Where it was interrupted and resumed.
    pub resumed: Vec<Resumed>,
}

/// Reads the journal of a run. `path` is the folder of the run, or the journal itself.
///
/// # Errors
/// What the system refuses, and everything that [`parse_run`] refuses; the path stands in front.
pub fn read_run(path: &Path) -> Result<Run> {
    let journal = journal_path(path)?;
    let name = journal.display().to_string();
    let file = File::open(&journal).with_context(|| format!("cannot read {name}"))?;
    parse(Pieces::of(BufReader::new(file), PIECE_BYTES), &name)
}

/// Reads what the machine was from beside the journal; `None` where it does not stand there.
///
/// # Errors
/// What the system refuses, and what is no JSON.
pub fn read_environment(path: &Path) -> Result<Option<Value>> {
    let file = journal_path(path)?.with_file_name(ENVIRONMENT);
    let shown = file.display();
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {shown}")),
    };
    let damaged = || format!("{shown} is no JSON: remove it, or put the one of the run there");
    serde_json::from_str(&text).map(Some).with_context(damaged)
}

/// The journal that a path given by a user stands for.
fn journal_path(path: &Path) -> Result<PathBuf> {
    let about = |path: &Path| {
        fs::metadata(path).with_context(|| {
            let option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
            let hint = if option { "; options go before --, behind it only runs" } else { "" };
            let path = path.display();
            format!(
                "cannot read {path}: expected the folder of a run, with {JOURNAL} in it, or a journal{hint}"
            )
        })
    };
    let found = about(path)?;
    let journal = if found.is_dir() { path.join(JOURNAL) } else { path.to_path_buf() };
    let kind = about(&journal)?.file_type();
    let path = journal.display();
    ensure!(
        kind.is_file() || kind.is_fifo(),
        "{path} is not a file: name the folder of a run, or its {JOURNAL}"
    );
    Ok(journal)
}

/// Reads a journal from memory; `name` is what errors call it.
///
/// A last line that has no newline and does not parse is what a killed run leaves: it is dropped,
/// and [`Run::torn_line`] says so. A line that says that the run was resumed, and visits, may follow an end.
///
/// # Errors
/// An empty or binary journal, a line that does not parse or is of another version, a header that is
/// missing or doubled, a cell that the header does not have; with name and line, what was expected
/// and what to do.
pub fn parse_run(bytes: &[u8], name: &str) -> Result<Run> {
    parse(Pieces::of(bytes, PIECE_BYTES), name)
}

fn parse(pieces: Pieces<impl BufRead + Send>, name: &str) -> Result<Run> {
    let mut parsed = Parsed::default();
    for read in parallel::each(pieces, |piece| piece.map(|piece| (piece.first, piece.lines(name)))) {
        let (first, read) = read.with_context(|| format!("cannot read {name}"))?;
        for (line, number) in read.lines.into_iter().zip(first..) {
            parsed.take(line).with_context(|| format!("{name}:{number}"))?;
        }
        parsed.torn_line = read.torn_line?;
    }
    parsed.finish(name)
}

/// Hands each line of a journal over, without its newline and with its number, of which the first is given. A last line that
/// has no newline and is no whole JSON is dropped; whether that was so.
///
/// # Errors
/// What cannot be read, an empty journal, what is no text, and what `take` says of a line, each with name and line.
fn lines(
    mut journal: impl BufRead,
    first: usize,
    name: &str,
    mut take: impl FnMut(&str, usize) -> Result<()>,
) -> Result<bool> {
    let mut line = Vec::new();
    for number in first.. {
        line.clear();
        journal.read_until(b'\n', &mut line).with_context(|| format!("cannot read {name}"))?;
        ensure!(
            number > 1 || !line.is_empty(),
            "{name} holds nothing: expected a journal that begins with a header; run again"
        );
        if line.is_empty() {
            break;
        }
        let whole = line.strip_suffix(b"\n");
        let taken = text_of(whole.unwrap_or(&line)).and_then(|text| take(text, number));
        match taken {
            Err(_) if whole.is_none() && number > 1 && cut_off(&line) => return Ok(true),
            taken => taken.with_context(|| format!("{name}:{number}"))?,
        }
    }
    Ok(false)
}

/// What has been read so far.
#[derive(Default)]
struct Parsed {
    header: Option<Header>,
    visits: Vec<Visit>,
    end: Option<End>,
    torn_line: bool,
    resumed: Vec<Resumed>,
}

impl Parsed {
    fn take(&mut self, line: Line) -> Result<()> {
        match (line, &self.header) {
            (Line::Header(header), None) => {
                check_header(&header)?;
                self.header = Some(*header);
            }
            (Line::Header(_), Some(_)) => bail!(SECOND_HEADER),
            (_, None) => bail!(
                "expected the header first: the beginning of the journal is missing; name a whole journal"
            ),
            (Line::Visit(visit), Some(header)) => {
                check_cell(visit.cell_index, &visit.cell, &header.cells)?;
                self.visits.push(*visit);
                self.end = None;
            }
            (Line::End(end), Some(_)) => self.end = Some(end),
            (Line::Resumed(resumed), Some(_)) => {
                self.resumed.push(resumed);
                self.end = None;
            }
        }
        Ok(())
    }

    fn finish(mut self, name: &str) -> Result<Run> {
        let header =
            self.header.take().ok_or_else(|| anyhow!("{name} has no header: name a whole journal"))?;
        let Parsed { visits, end, torn_line, resumed, .. } = self;
        Ok(Run { header, visits, end, torn_line, resumed })
    }
}

const SECOND_HEADER: &str =
    "a second header: a journal holds one run; put this line and those after it in a file of their own";

/// Whether every cell that a table or a gate names is there.
fn check_header(header: &Header) -> Result<()> {
    let cells = header.cells.len();
    let tables = header.tables.iter().map(|table| ("table", &table.id, &table.cells));
    let gates = header.gates.iter().map(|gate| ("gate", &gate.filter, &gate.cells));
    for (what, name, named) in tables.chain(gates) {
        if let Some(index) = named.iter().find(|index| **index >= cells) {
            bail!(
                "{what} {name:?} names cell {index}, but the header has {cells} cells: the header is damaged; run again"
            );
        }
    }
    Ok(())
}

/// Whether a cell is the one that the header plans in that place.
fn check_cell(index: usize, found: &Cell, planned: &[PlannedCell]) -> Result<()> {
    let expected = planned.get(index).map(|planned| &planned.cell).ok_or_else(|| {
        let cells = planned.len();
        anyhow!("cell_index {index}: expected less than {cells}, the cells of the header; remove the line if it is damaged")
    })?;
    ensure!(
        expected == found,
        "cell_index {index} is `{expected}` in the header, but this visit is of `{found}`; the journal mixes two runs"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SCHEMA;

    const RUN: &str = include_str!("../../tests/golden/small.jsonl");

    /// The error of a journal, with its chain.
    fn refused(text: impl AsRef<[u8]>) -> String {
        format!("{:#}", parse_run(text.as_ref(), "j.jsonl").unwrap_err())
    }

    fn lines() -> Vec<&'static str> {
        RUN.lines().collect()
    }

    #[test]
    fn a_whole_journal_reads() {
        let run = parse_run(RUN.as_bytes(), "j.jsonl").unwrap();
        assert_eq!(run.visits.len(), lines().len() - 2);
        assert!(run.end.is_some() && !run.torn_line);
    }

    #[test]
    fn only_a_last_line_without_newline_may_be_torn() {
        let (kept, last) = RUN.trim_end().rsplit_once('\n').unwrap();
        let torn = format!("{kept}\n{}", &last[..last.len() / 2]);
        let run = parse_run(torn.as_bytes(), "j.jsonl").unwrap();
        assert!(run.torn_line && run.end.is_none());
        assert_eq!(run.visits.len(), lines().len() - 2);
        let mut bytes = kept.as_bytes().to_vec();
        bytes.extend(b"\n{\"schema\":\"\xff");
        assert!(parse_run(&bytes, "j.jsonl").unwrap().torn_line, "torn inside a character");
        let last_line = lines().len();
        let error = refused(format!("{torn}\n"));
        assert!(error.starts_with(&format!("j.jsonl:{last_line}: expected a header")), "{error}");
        let whole = parse_run(RUN.trim_end().as_bytes(), "j.jsonl").unwrap();
        assert!(whole.end.is_some() && !whole.torn_line, "a last line that parses is used");
    }

    #[test]
    fn visits_after_an_end_reopen_the_run() {
        let resumed = format!("{RUN}{}\n", lines()[1]);
        let run = parse_run(resumed.as_bytes(), "j.jsonl").unwrap();
        assert_eq!(run.end, None);
        assert_eq!(run.visits.len(), lines().len() - 1);
    }

    #[test]
    fn what_is_no_journal_is_refused_with_place_and_advice() {
        assert!(refused("").starts_with("j.jsonl holds nothing"));
        assert!(refused(b"\x7fELF\x02\x01\0\0\0\xff\xfe").starts_with("j.jsonl:1: not text"));
        assert!(refused("{\"schema\":\"x\0\"}\n").starts_with("j.jsonl:1: not text"));
        assert!(refused("{}\n").starts_with("j.jsonl:1: no schema"));
        assert!(refused("# Notes\n").starts_with("j.jsonl:1: expected a header"));
        assert!(
            refused("{\"schema\":").starts_with("j.jsonl:1: expected a header"),
            "a torn header is no run"
        );
        assert!(refused(format!("{}\n", lines()[1])).starts_with("j.jsonl:1: expected the header first"));
        let twice = format!("{0}\n{0}\n", lines()[0]);
        assert!(refused(twice).starts_with("j.jsonl:2: a second header"));
        assert!(refused(format!("{}\n\n", lines()[0])).starts_with("j.jsonl:2: expected a header"));
    }

    /// Every way to cut a journal gives the same run, or the same error: that of the first line that has one.
    #[test]
    fn where_a_journal_is_cut_shows_nowhere() {
        let own = lines();
        let swapped = own[2].replacen("\"message_bytes\":", "\"message_bytes\":7", 1);
        let damaged = &own[3][..80];
        let journals = [
            RUN.to_owned(),
            RUN[..RUN.len() - 20].to_owned(),
            [own[0], own[1], &swapped, damaged, own[0], ""].join("\n"),
            [own[0], own[1], damaged, &swapped, own[0], ""].join("\n"),
            [own[0], own[1], own[0], damaged, &swapped, ""].join("\n"),
        ];
        for journal in &journals {
            let cut = |piece_bytes| parse(Pieces::of(journal.as_bytes(), piece_bytes), "j.jsonl");
            let whole = cut(1 << 22);
            for piece_bytes in [1, 1000, own[0].len(), 20_000] {
                match (&whole, cut(piece_bytes)) {
                    (Ok(whole), Ok(cut)) => assert_eq!(*whole, cut),
                    (whole, cut) => assert_eq!(
                        format!("{:#}", whole.as_ref().unwrap_err()),
                        format!("{:#}", cut.unwrap_err())
                    ),
                }
            }
        }
    }

    #[test]
    fn another_version_is_named() {
        let newer = RUN.replacen(SCHEMA, "ipcmatrix.record.v2", 1);
        let error = refused(newer);
        assert!(
            error.starts_with("j.jsonl:1: schema \"ipcmatrix.record.v2\": this program reads"),
            "{error}"
        );
        let unknown = format!("{}\n{{\"schema\":\"ipcmatrix.record.v9\",\"kind\":\"dream\"}}\n", lines()[0]);
        let error = "j.jsonl:2: schema \"ipcmatrix.record.v9\"";
        assert!(refused(&unknown).starts_with(error));
        assert!(refused(unknown.trim_end()).starts_with(error), "complete, so not torn");
    }

    #[test]
    fn a_run_that_was_resumed_has_no_end_until_the_next() {
        let broken = format!(
            "{RUN}{{\"schema\":\"{SCHEMA}\",\"kind\":\"resumed\",\"resumed\":\"2026-01-31T12:00:00Z\",\"visits\":4}}\n"
        );
        let run = parse_run(broken.as_bytes(), "j.jsonl").unwrap();
        assert!(run.end.is_none());
        let there = Resumed { resumed: "2026-01-31T12:00:00Z".into(), visits: 4, dropped_bytes: 0 };
        assert_eq!(run.resumed, [there]);
        let ended = format!("{broken}{}\n", lines().last().unwrap());
        let run = parse_run(ended.as_bytes(), "j.jsonl").unwrap();
        assert!(run.end.is_some() && run.resumed.len() == 1);
    }

    #[test]
    fn cells_outside_the_header_are_refused() {
        let far = lines()[1].replacen("\"cell_index\":", "\"cell_index\":90", 1);
        let error = refused(format!("{}\n{far}\n", lines()[0]));
        assert!(error.starts_with("j.jsonl:2: cell_index 90"), "{error}");
        let other = lines()[1].replacen("\"message_bytes\":", "\"message_bytes\":7", 1);
        let error = refused(format!("{}\n{other}\n", lines()[0]));
        assert!(error.contains("mixes two runs"), "{error}");
        let table = lines()[0].replacen("\"cells\":[0,", "\"cells\":[4000,", 1);
        let error = refused(format!("{table}\n"));
        assert!(error.contains("names cell 4000"), "{error}");
    }

    #[test]
    fn a_path_is_a_folder_or_a_journal() {
        let folder = tempfile::tempdir().unwrap();
        let error = format!("{:#}", read_run(folder.path()).unwrap_err());
        assert!(error.contains("records.jsonl: expected the folder of a run"), "{error}");
        fs::write(folder.path().join(JOURNAL), RUN).unwrap();
        let run = read_run(folder.path()).unwrap();
        assert_eq!(run, read_run(&folder.path().join(JOURNAL)).unwrap());
        let error = format!("{:#}", read_run(Path::new("/dev/null")).unwrap_err());
        assert!(error.contains("/dev/null is not a file"), "{error}");
    }
}
