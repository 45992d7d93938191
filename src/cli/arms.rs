//! Two arms of a matrix: what was typed of them, and their visits.

use super::anonymous::shown;
use super::arguments::{Conduct, Run as Arguments, Selection};
use super::run::{self, Measured, Work};
use super::{matrices, usage};
use crate::catalog::Catalog;
use crate::cell::Cell;
use crate::compare::floors::Floors;
use crate::environment::Environment;
use crate::matrix::{Matrix, Override, Paired, Settings as AxisSettings};
use crate::record::{Arms, Effort};
use crate::runner::Settings;
use crate::runner::process::{Launch, Processes, probe_by};
use crate::runner::signals::Signals;
use anyhow::{Context, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The arm that changes nothing.
pub const BASE: &str = "base";

const EXPECTED: &str = "expected `base` (the cells as the matrix has them), or with commas between them AXIS=VALUE, \
                        env:NAME=VALUE or bin:PATH, such as nodelay=off or env:MALLOC_ARENA_MAX=1";

/// One arm, as it was typed and checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Arm {
    parts: Vec<String>,
    settings: AxisSettings,
    launch: Launch,
}

impl Arm {
    /// Reads an arm. `option` is how it was given, for errors.
    ///
    /// # Errors
    /// What stands there and what was expected: exit code 2.
    pub fn parse(option: &str, text: &str, catalog: &Catalog) -> Result<Arm> {
        let mut arm = Arm::default();
        if text.trim() != BASE {
            for part in text.split(',') {
                arm.add(part.trim(), catalog)
                    .map_err(|error| usage(format!("{option} '{text}': `{part}`: {error}")))?;
            }
        }
        Ok(arm)
    }

    fn add(&mut self, part: &str, catalog: &Catalog) -> Result<(), String> {
        match (part.strip_prefix("env:"), part.strip_prefix("bin:")) {
            (Some(variable), _) => self.add_variable(variable)?,
            (_, Some(path)) => self.add_program(path)?,
            _ => self.add_setting(part, catalog)?,
        }
        self.parts.push(part.to_owned());
        Ok(())
    }

    fn add_variable(&mut self, text: &str) -> Result<(), String> {
        let (name, value) =
            text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("expected env:NAME=VALUE")?;
        if self.launch.environment.iter().any(|(known, _)| known == name) {
            return Err(format!("the variable {name} is given twice"));
        }
        self.launch.environment.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    fn add_program(&mut self, path: &str) -> Result<(), String> {
        if self.launch.program != Launch::default().program {
            return Err("a second program: an arm is measured by one".to_owned());
        }
        let found = Path::new(path).canonicalize().map_err(|error| format!("{error}: expected bin:PATH"))?;
        let kind = found.metadata().map_err(|error| error.to_string())?;
        if !(kind.is_file() && kind.permissions().mode() & 0o111 != 0) {
            return Err("not a program: expected bin:PATH with the file of another ipcmatrix".to_owned());
        }
        self.launch.program = found;
        Ok(())
    }

    fn add_setting(&mut self, text: &str, catalog: &Catalog) -> Result<(), String> {
        if !text.contains('=') {
            return Err(EXPECTED.to_owned());
        }
        let setting = Override::parse(text, catalog)?;
        let [value] = setting.values() else {
            return Err("expected one value: an arm is one setting".to_owned());
        };
        match self.settings.insert(setting.axis(), value.clone()) {
            Some(_) => Err(format!("the axis `{}` is given twice", setting.axis())),
            None => Ok(()),
        }
    }

    /// Its text in reports; where nobody may be named, paths lose their folders.
    fn told(&self, anonymous: bool) -> String {
        let parts: Vec<String> = self.parts.iter().map(|part| shown(part, anonymous)).collect();
        if parts.is_empty() { BASE.to_owned() } else { parts.join(",") }
    }

    /// CRC-32 of its program's file, where that is another one than this.
    fn program_crc32(&self) -> Option<String> {
        let other = self.launch.program != Launch::default().program;
        let bytes = other.then(|| std::fs::read(&self.launch.program).ok()).flatten()?;
        Some(format!("{:08x}", crc32fast::hash(&bytes)))
    }
}

/// What is compared, and how.
pub struct Comparison<'a> {
    /// Which cells.
    pub selection: &'a Selection,
    /// How it is run.
    pub conduct: &'a Conduct,
    /// Both arms.
    pub arms: [Arm; 2],
    /// The least effect of interest in every cell, as a part.
    pub least: Option<f64>,
    /// How much a visit measures, as far as time is not short.
    pub effort: Effort,
    /// Where the report goes; `None` keeps nothing.
    pub output: Option<Option<PathBuf>>,
}

/// The noise floors for a machine of that class, and where they come from in words.
pub type FindFloors<'a> = &'a dyn Fn(Option<&[String; 2]>) -> Result<(Option<Floors>, String)>;

impl Comparison<'_> {
    /// Makes the visits of both arms, and hands over what was measured with the folder that it goes into.
    ///
    /// # Errors
    /// The user's mistakes before anything is run; else what keeps the run from starting.
    pub fn measure(
        &self,
        arguments: &Arguments,
        catalog: &Catalog,
        find_floors: FindFloors,
    ) -> Result<(Measured, Option<PathBuf>)> {
        let Paired { mut matrix, left_out } = self.paired(catalog)?;
        let mut environment = Environment::read(Path::new("/"));
        let _held = run::alone(arguments.test || arguments.no_lock)?;
        if arguments.anonymous {
            environment.leave_out_names();
        }
        let (floors, floors_from) = find_floors(environment.machine_class.as_ref())?;
        let signals = Signals::watch().context("cannot watch for signals")?;
        self.refuse(&mut matrix, &signals)?;
        let rounds = self.conduct.rounds;
        let mut header = run::header(arguments, &matrix, catalog, &environment, None);
        header.budget_s = self.conduct.budget.unwrap_or(run::NO_BUDGET).as_secs_f64();
        header.arms = Some(Arms {
            a: self.arms[0].told(arguments.anonymous),
            b: self.arms[1].told(arguments.anonymous),
            program_crc32: Some(self.arms.each_ref().map(Arm::program_crc32))
                .filter(|crcs| crcs.iter().any(Option::is_some)),
            rounds,
            least: self.least,
            floors_from,
            floors: floors.map_or(Vec::new(), |floors| paired_floors(&floors, &matrix, rounds as usize)),
            left_out: left_out.into_iter().map(|(cell, why)| [cell.to_string(), why]).collect(),
        });
        let folder = match &self.output {
            Some(_) => run::folder(arguments, &header, &environment)?,
            None => None,
        };
        let journal = run::open(folder.as_deref(), &header, &environment)?;
        let settings = settings(arguments, self.effort, rounds as usize);
        let launches = self.arms.each_ref().map(|arm| arm.launch.clone());
        let work = Work::new(header, &settings, folder.clone(), journal);
        Ok((work.measure(settings, &mut Processes::of_arms(&signals, launches), &arguments.talk), folder))
    }

    /// The cells of both arms.
    fn paired(&self, catalog: &Catalog) -> Result<Paired> {
        let [a, b] = &self.arms;
        let alike = a == b || a.launch != b.launch;
        let matrix = matrices::select(self.selection, catalog)?;
        let paired = matrix.paired([&a.settings, &b.settings], alike, catalog);
        match (paired.matrix.cells.is_empty(), paired.left_out.first()) {
            (true, Some((cell, why))) => Err(usage(format!(
                "there is nothing to compare: of {} cells none differs between the arms; {cell}: {why}. Choose other arms, \
                 or cells with -f",
                paired.left_out.len()
            ))),
            _ => Ok(paired),
        }
    }

    /// Asks the program of each arm which of its cells the machine refuses.
    fn refuse(&self, matrix: &mut Matrix, signals: &Signals) -> Result<()> {
        let half = matrix.cells.len() / 2;
        for (arm, planned) in self.arms.iter().zip(matrix.cells.chunks_mut(half)) {
            let cells: Vec<Cell> = planned.iter().map(|planned| planned.cell.clone()).collect();
            let refused = probe_by(&arm.launch, &cells, signals);
            let refused = refused.ok().filter(|refused| refused.len() == cells.len()).ok_or_else(|| {
                usage(format!(
                    "the arm '{}' cannot be measured: {} did not say which of the cells it can do. It must be an ipcmatrix \
                     of nearly this version, and start in that environment",
                    arm.told(false),
                    arm.launch.program.display()
                ))
            })?;
            for (planned, why) in planned.iter_mut().zip(refused) {
                planned.unavailable = planned.unavailable.take().or(why);
            }
        }
        Ok(())
    }
}

fn settings(arguments: &Arguments, effort: Effort, rounds: usize) -> Settings {
    Settings {
        effort,
        thrifty: Effort::THRIFTY,
        full_rounds: rounds,
        most_rounds: rounds,
        deadline_ms: arguments.deadline.as_millis() as u64,
        exact_op_ns: None,
    }
}

fn paired_floors(floors: &Floors, matrix: &Matrix, rounds: usize) -> Vec<Option<f64>> {
    let (a, b) = matrix.cells.split_at(matrix.cells.len() / 2);
    a.iter().zip(b).map(|(a, b)| floors.paired(&a.cell, &b.cell, rounds)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Arm> {
        Arm::parse("--a", text, &Catalog::shipped())
    }

    #[test]
    fn an_arm_is_settings_variables_and_a_program() {
        let arm = parse("nodelay=off, env:A=b=c,message_bytes=4K,bin:/bin/sh").unwrap();
        assert_eq!(arm.settings.len(), 2);
        assert_eq!(arm.launch.environment, [("A".to_owned(), "b=c".to_owned())]);
        assert_eq!(arm.launch.program, Path::new("/bin/sh").canonicalize().unwrap());
        assert_eq!(arm.told(false), "nodelay=off,env:A=b=c,message_bytes=4K,bin:/bin/sh");
        assert!(arm.told(true).ends_with("message_bytes=4K,bin:sh"), "{}", arm.told(true));
        assert_eq!(parse("base").unwrap(), Arm::default());
        assert_eq!(Arm::default().told(false), "base");
    }

    #[test]
    fn a_bad_arm_is_told_with_what_was_expected() {
        for (text, expected) in [
            ("", "expected `base`"),
            ("nodelay", "expected `base`"),
            ("nodelay=maybe", "off, on"),
            ("nodelay=off,nodelay=on", "given twice"),
            ("workers=1..=3", "expected one value"),
            ("measure=wait", "-f measure"),
            ("no_such=1", "axis"),
            ("env:=1", "env:NAME=VALUE"),
            ("env:A", "env:NAME=VALUE"),
            ("env:A=1,env:A=2", "given twice"),
            ("bin:/no/such/file", "expected bin:PATH"),
            ("bin:/etc/passwd", "not a program"),
            ("bin:/bin", "not a program"),
            ("bin:/bin/sh,bin:/bin/sh", "a second program"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("--a '") && error.contains(expected), "{text}: {error}");
        }
    }
}
