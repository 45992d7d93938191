//! `--mute`: warnings that a report leaves out.

use crate::matrix::unknown;
use crate::report::warnings::{Code, Codes, DETECTORS};
use clap::Args;

/// What a report leaves out.
#[derive(Args, Debug, Clone)]
pub struct Muted {
    /// Leave out these warnings, from `ipcmatrix list warnings`; the report says which
    #[arg(long, value_name = "CODE,CODE", value_delimiter = ',', value_parser = parse_code)]
    mute: Vec<Code>,
}

impl Muted {
    /// As a set.
    pub fn codes(&self) -> Codes {
        self.mute.iter().copied().collect()
    }
}

fn parse_code(text: &str) -> Result<Code, String> {
    let allowed: Vec<&str> = DETECTORS.iter().map(|detector| detector.code).collect();
    Code::named(text).ok_or_else(|| unknown("warning", text, &allowed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_code_is_answered_with_the_nearest_and_all() {
        assert_eq!(parse_code("W003").map(|code| code.detector().name), Ok("foreign CPU"));
        for bad in ["w003", "W03", "W0033"] {
            let said = parse_code(bad).unwrap_err();
            assert!(said.contains("did you mean `W0") && said.contains("Allowed: W001, W002,"), "{said}");
        }
        for bad in ["", "foreign CPU", "W003 W004", "\u{1b}[2J"] {
            assert!(parse_code(bad).unwrap_err().contains("Allowed: W001,"), "{bad}");
        }
    }
}
