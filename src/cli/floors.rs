//! Where noise floors are kept: a file for each class of machine in the user's data folder, or where the user says.

use super::{output, usage};
use crate::compare::floors::{Floors, SCHEMA};
use crate::report::digits::counted;
use anyhow::{Context, Result};
use nix::fcntl::{AT_FDCWD, AtFlags};
use nix::unistd::{AccessFlags, faccessat};
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

const FOLDER: &str = "ipcmatrix";

/// The file that was named, else that of the class in the user's data folder (XDG Base Directory Specification).
///
/// # Errors
/// Where no folder is known: exit code 2.
pub fn place(named: Option<&Path>, class: &[String; 2]) -> Result<PathBuf> {
    if let Some(named) = named {
        return Ok(named.to_path_buf());
    }
    // The specification says that a relative path is no valid one.
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    let data =
        data.ok_or_else(|| usage("neither XDG_DATA_HOME nor HOME is set: name a file for the floors"))?;
    Ok(data.join(FOLDER).join(format!("floors-{}.json", class[0])))
}

/// The text of a file; `None` where there is none.
fn text_of(path: &Path) -> std::io::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        text => text.map(Some),
    }
}

/// What a file holds; `None` where there is none.
///
/// # Errors
/// A file that is none of floors, or of another class of machine or version: exit code 2.
pub fn read(path: &Path, class: &[String; 2], version: &str) -> Result<Option<Floors>> {
    let shown = path.display();
    let text = text_of(path).map_err(|error| {
        usage(format!("cannot read the floors {shown}: {error}; name a file that you can read"))
    })?;
    text.map(|text| parse(&text, path, class, version)).transpose()
}

/// The floors that the text of a file holds; errors as those of [`read`].
fn parse(text: &str, path: &Path, class: &[String; 2], version: &str) -> Result<Floors> {
    let shown = path.display();
    let floors: Floors = serde_json::from_str(text).map_err(|error| {
        usage(format!("{shown}: expected a document of {SCHEMA}: {error}; calibrate into another file"))
    })?;
    let rules = [
        (floors.schema == SCHEMA, format!("its schema is {:?}, not {SCHEMA:?}", floors.schema)),
        (
            floors.machine_class[0] == class[0],
            format!("it is of machine class {}, this is {}", floors.machine_class[0], class[0]),
        ),
        (
            floors.version == version,
            format!("version {} of the program made it, this is {version}", floors.version),
        ),
    ];
    match rules.into_iter().find(|(holds, _)| !holds) {
        Some((_, why)) => Err(usage(format!("{shown}: {why}; remove it, or calibrate into another file"))),
        None => Ok(floors),
    }
}

/// The floors for a comparison, and where they come from in words that name no folder. A file that nobody named and that
/// cannot be read is told there, as the comparison can do without.
///
/// # Errors
/// Those of [`read`], and a file that was named and cannot be read or is not there.
pub fn find(named: Option<&Path>, class: Option<&[String; 2]>) -> Result<(Option<Floors>, String)> {
    let Some(class) = class else {
        if let Some(path) = named {
            return Err(usage(format!(
                "the floors of {} are of one class of machines, and the class of this one cannot be told: leave out --floors",
                path.display()
            )));
        }
        return Ok((None, "none are used, as the class of this machine cannot be told".to_owned()));
    };
    let none = |class: &[String; 2]| {
        format!("none are known for machine class {}; `ipcmatrix calibrate` makes them", class[0])
    };
    // Who has no data folder has calibrated nothing.
    let Ok(path) = place(named, class) else { return Ok((None, none(class))) };
    let version = env!("CARGO_PKG_VERSION");
    let found = match named {
        Some(_) => read(&path, class, version)?,
        None => match text_of(&path) {
            Err(error) => {
                let why = "none are used, as those in the user's data folder are not readable";
                return Ok((None, format!("{why}: {error}")));
            }
            Ok(text) => match text.map(|text| parse(&text, &path, class, version)).transpose() {
                Err(_) => {
                    let why = "none are used, as the file in the user's data folder is damaged or of another version: remove it and calibrate anew";
                    return Ok((None, why.to_owned()));
                }
                Ok(found) => found,
            },
        },
    };
    match found {
        Some(floors) => {
            let text =
                format!("calibrated for machine class {}, {}", class[0], counted(floors.cells.len(), "cell"));
            Ok((Some(floors), text))
        }
        None if named.is_some() => {
            Err(usage(format!("there is no file {}: `ipcmatrix calibrate -o` makes it", path.display())))
        }
        None => Ok((None, none(class))),
    }
}

/// Sees before anything is measured that the file could be written, and changes nothing.
///
/// # Errors
/// A folder that cannot be written, or a file in place of one: exit code 2.
pub fn can_write(path: &Path) -> Result<()> {
    let folder = path.ancestors().skip(1).map(output::or_here).find(|folder| folder.exists());
    let folder = folder.unwrap_or_else(|| output::or_here(Path::new("")));
    let refused = |why: String| {
        usage(format!(
            "cannot write the floors {}: {why}; name a place that can be written with -o",
            path.display()
        ))
    };
    if path.is_dir() {
        return Err(refused("it is a folder".to_owned()));
    }
    if !folder.is_dir() {
        return Err(refused(format!("{} is no folder", folder.display())));
    }
    // As the user who runs it, not as who started a program with that user's rights.
    let flags = AccessFlags::W_OK | AccessFlags::X_OK;
    faccessat(AT_FDCWD, folder, flags, AtFlags::AT_EACCESS)
        .map_err(|errno| refused(format!("{}: {}", folder.display(), errno.desc())))
}

/// Writes the file, whole or not at all, and the folder for it.
///
/// # Errors
/// What the file system refuses.
pub fn write(path: &Path, floors: &Floors) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| *folder != Path::new("")) {
        fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    output::write(path, &(serde_json::to_string_pretty(floors)? + "\n"))
}
