//! `report --into FILE#BLOCK`: fills blocks of a document from records, or checks that they are what the records say.

use super::arguments::{Format, Report as Arguments};
use super::report::Wanted;
use super::{REGRESSED, WELL, output, plots, usage};
use crate::catalog::Catalog;
use crate::report::blocks::{Block, blocks, replaced};
use crate::report::load::reduce::journals_below;
use crate::report::load::{self, Run};
use crate::report::{markdown, text};
use anyhow::{Result, ensure};
use clap::Parser;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The words behind the name in a begin marker.
#[derive(Parser)]
#[command(name = "ipcmatrix report", no_binary_name = true, disable_help_flag = true)]
struct Words {
    #[command(flatten)]
    report: Arguments,
}

/// A block with what has to stand in it, and the files that belong to it.
struct Filled {
    block: Block,
    content: String,
    files: Vec<(PathBuf, String)>,
}

/// The file whose blocks are filled.
struct Target<'a> {
    path: PathBuf,
    name: &'a str,
    block: Option<&'a str>,
}

/// Fills the blocks or checks them; returns the exit code.
///
/// # Errors
/// Markers that are damaged, runs that cannot be read, words that do not fit: the user's. Nothing is written then.
pub fn splice(target: &str, arguments: &Arguments, catalog: &Catalog) -> Result<u8> {
    let (name, block) = target.rsplit_once('#').map_or((target, None), |(name, block)| (name, Some(block)));
    let user = |error: anyhow::Error| usage(format!("{error:#}"));
    // The file itself and not a link to it is replaced.
    let path = fs::canonicalize(name).map_err(|error| {
        usage(format!(
            "cannot read {name}: {error}; --into takes a file that is there, and with # a block of it"
        ))
    })?;
    let bytes = fs::read(&path).map_err(|error| usage(format!("cannot read {name}: {error}")))?;
    let text = String::from_utf8(bytes)
        .map_err(|_| usage(format!("{name} is not UTF-8 text: nothing is put into it")))?;
    let all = blocks(&text, name).map_err(user)?;
    let target = Target { path, name, block };
    let wanted = chosen(&target, all)?;
    let filled = Filler { target: &target, catalog, runs: BTreeMap::new() }.all(wanted, arguments)?;
    if arguments.check {
        return Ok(check(&target, &text, &filled));
    }
    write(&target, &text, filled)
}

/// The block that was named, or all of them; never none.
fn chosen(target: &Target, all: Vec<Block>) -> Result<Vec<Block>> {
    let Target { name, block, .. } = target;
    let example = block.unwrap_or("NAME");
    let marks = format!("<!-- ipcmatrix:begin {example} -->` and `<!-- ipcmatrix:end {example} -->");
    if all.is_empty() {
        return Err(usage(format!("{name} has no block: expected lines `{marks}`")));
    }
    let Some(block) = block else { return Ok(all) };
    let names = all.iter().map(|block| block.name.clone()).collect::<Vec<_>>().join(", ");
    let found: Vec<Block> = all.into_iter().filter(|own| own.name == *block).collect();
    if found.is_empty() {
        return Err(usage(format!("{name} has no block {block:?}, but {names}: expected lines `{marks}`")));
    }
    Ok(found)
}

/// Fills blocks; each run is read once.
struct Filler<'a> {
    target: &'a Target<'a>,
    catalog: &'a Catalog,
    runs: BTreeMap<PathBuf, Run>,
}

impl Filler<'_> {
    fn all(&mut self, wanted: Vec<Block>, arguments: &Arguments) -> Result<Vec<Filled>> {
        if !arguments.runs.is_empty() && self.target.block.is_none() {
            return Err(usage(
                "which block? Name it behind the file, as in --into README.md#tables; without a RUN each block says itself what it shows",
            ));
        }
        wanted.into_iter().map(|block| self.one(block, arguments)).collect()
    }

    /// What has to stand in a block: by the command line, else by its own words.
    fn one(&mut self, block: Block, typed: &Arguments) -> Result<Filled> {
        let place = format!("{}:{}: block {:?}", self.target.name, block.line, block.name);
        let here = PathBuf::new();
        let beside = self.target.path.parent().unwrap_or(Path::new("/")).to_path_buf();
        let user = |error: anyhow::Error| usage(format!("{place}: {error:#}"));
        let made = match (typed.runs.is_empty(), block.arguments.is_empty()) {
            (false, true) => self.content(typed, &here),
            (true, false) => own_words(&block).and_then(|own| self.content(&own.report, &beside)),
            (false, false) => Err(anyhow::anyhow!(
                "its begin marker says what it shows, and so does the command line: leave out RUN, or the words in the marker"
            )),
            (true, true) => Err(anyhow::anyhow!(
                "nothing says what it shows: expected RUN on the command line, or words in the marker, such as \
                 `<!-- ipcmatrix:begin {} --table A.2 reports/my-run -->`",
                block.name
            )),
        };
        let (content, files) = made.map_err(user)?;
        let content = block.filled(&content).map_err(user)?;
        Ok(Filled { block, content, files })
    }

    /// The report as the content of a block, and the files of its plots. Paths in `arguments` are seen from `folder`.
    fn content(&mut self, arguments: &Arguments, folder: &Path) -> Result<(String, Vec<(PathBuf, String)>)> {
        let wanted = Wanted::of(arguments, Format::Md, self.catalog)?;
        let [run] = arguments.runs.as_slice() else {
            anyhow::bail!("a block shows one run, and these are {}", arguments.runs.len());
        };
        let path = folder.join(run);
        if let Ok(several @ [_, _, ..]) = journals_below(&path).as_deref() {
            anyhow::bail!(
                "a block shows one run, and below {} are {}: name one of them",
                run.display(),
                several.len()
            );
        }
        if !self.runs.contains_key(&path) {
            self.runs.insert(path.clone(), load::read_run(&path)?);
        }
        let Some(run) = self.runs.get_mut(&path) else { anyhow::bail!("{} was not read", path.display()) };
        let document = wanted.document(run, true)?;
        match wanted.format {
            Format::Md => Ok((markdown::block(&document, &self.link(&path)?), Vec::new())),
            Format::Text => Ok((fenced(&text::render(&document)), Vec::new())),
            Format::Svg => self.pictures(&document, arguments, folder),
            Format::Csv | Format::Html => anyhow::bail!("a block takes --format md, text or svg"),
        }
    }

    /// Links to the plots, whose files stand in the folder of `-o`.
    fn pictures(
        &self,
        document: &crate::report::document::Document,
        arguments: &Arguments,
        folder: &Path,
    ) -> Result<(String, Vec<(PathBuf, String)>)> {
        let Some(output) = &arguments.output else {
            anyhow::bail!("a block links the files of its plots: name their folder with -o");
        };
        let output = folder.join(output);
        ensure!(output.is_dir(), "{} is no folder: make it first", output.display());
        let files = plots::files(document, arguments)?;
        let link = |(name, title, _): &(String, String, String)| -> Result<String> {
            let target = markdown::target(&format!("{}/{name}", self.link(&output)?));
            Ok(format!("![Plot of table {}]({target})\n", crate::report::escape::markdown(title)))
        };
        let links = files.iter().map(link).collect::<Result<Vec<_>>>()?.join("\n");
        Ok((links, files.into_iter().map(|(name, _, svg)| (output.join(name), svg)).collect()))
    }

    /// The way from the file to another one, for a link.
    fn link(&self, to: &Path) -> Result<String> {
        let to = fs::canonicalize(to)?;
        let from = self.target.path.parent().unwrap_or(Path::new("/"));
        let same = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
        let up = from.components().skip(same).map(|_| "..".to_owned());
        let down = to.components().skip(same).map(|part| part.as_os_str().to_string_lossy().into_owned());
        let parts: Vec<String> = up.chain(down).collect();
        Ok(if parts.is_empty() { ".".into() } else { parts.join("/") })
    }
}

/// The words of a begin marker.
fn own_words(block: &Block) -> Result<Words> {
    let Some(words) = shlex::split(&block.arguments) else {
        anyhow::bail!("a quote in its begin marker does not end");
    };
    let words = Words::try_parse_from(words).map_err(|error| {
        let text = error.render().to_string();
        anyhow::anyhow!("{}", text.lines().take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" "))
    })?;
    let Arguments { into, check, gate, .. } = &words.report;
    ensure!(
        into.is_none() && !check && !gate,
        "its begin marker takes what a report shows, and neither --into, --check nor --gate"
    );
    Ok(words)
}

/// Text in a fence that is longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}{fence}\n")
}

/// Tells which blocks are stale.
fn check(target: &Target, text: &str, filled: &[Filled]) -> u8 {
    let name = target.name;
    let mut code = WELL;
    for Filled { block, content, files } in filled {
        let stale = |path: &&(PathBuf, String)| fs::read_to_string(&path.0).ok().as_ref() != Some(&path.1);
        let file = files.iter().find(stale);
        if block.inside(text) != content || file.is_some() {
            let what = file.map_or(String::new(), |(path, _)| format!(" (its plot {})", path.display()));
            output::say(&format!(
                "{name}:{}: block {:?} is not what the records say{what}: fill it by the same command without --check",
                block.line, block.name
            ));
            code = REGRESSED;
        }
    }
    code
}

/// Writes what differs: plots first, so that the document never links what is not there.
fn write(target: &Target, text: &str, filled: Vec<Filled>) -> Result<u8> {
    let mut contents = Vec::new();
    for Filled { block, content, files } in filled {
        for (path, svg) in files {
            // One that is as it should be is left alone: it may be on a file system that is read only.
            if std::fs::read_to_string(&path).ok().as_ref() != Some(&svg) {
                output::write(&path, &svg).map_err(|error| usage(format!("{error:#}")))?;
            }
        }
        contents.push((block, content));
    }
    let made = replaced(text, &contents);
    if made != text {
        output::replace(&target.path, &made).map_err(|error| usage(format!("{error:#}")))?;
    }
    Ok(WELL)
}
