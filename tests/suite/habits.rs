//! What a program of its kind is expected to have: completions, manual pages, a matrix to begin with, progress, colours,
//! lists for programs.

use crate::machine::Need;
use crate::program::{Ended, Program};
use crate::trial;
use libtest_mimic::Trial;
use std::fs;
use std::path::Path;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("habits::bash_completes_matrices_and_settings", &[Need::Tool("bash")], bash_completes),
        trial("habits::each_shell_reads_its_completions", &[], shells_read_them),
        trial("habits::manual_pages_are_written", &[], manual_pages_are_written),
        trial("habits::a_first_matrix_is_planned_and_run", &[], first_matrix_works),
        trial("habits::a_file_that_is_there_is_left_alone", &[], file_is_left_alone),
        trial("habits::verbose_tells_each_visit", &[], verbose_tells_each_visit),
        trial("habits::colours_go_by_option_then_environment", &[], colours),
        trial("habits::lists_are_json_too", &[], lists_are_json_too),
    ]
}

/// What bash offers where the reader has typed these words, as bash takes them apart, and presses TAB in the last of them.
fn bash_offers(words: &[&str]) -> Vec<String> {
    // The script calls the program by its name.
    let script = r#"ipcmatrix() { "$PROGRAM" "$@"; }
        eval "$("$PROGRAM" completions bash)"
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_TYPE=9 last="${@: -1}"
        [ "$last" = "=" ] && last=
        _ipcmatrix ipcmatrix "$last" 2> /dev/null
        printf '%s\n' "${COMPREPLY[@]}""#;
    let bash = Program::new("bash").args(["-c", script, "bash", "ipcmatrix"]).args(words);
    let ended = bash.env("PROGRAM", crate::program::IPCMATRIX).run().exits(0);
    ended.stdout.lines().map(String::from).collect()
}

fn bash_completes() {
    assert_eq!(bash_offers(&["run", "lo"]), ["locks", "log"]);
    assert_eq!(bash_offers(&["run", "--thor"]), ["--thorough"]);
    assert_eq!(bash_offers(&["plan", "-a", "placement=same_c"]), ["placement=same_cpu"]);
    // Bash replaces what stands behind the last sign only.
    assert_eq!(bash_offers(&["plan", "-a", "nodelay", "="]), ["off", "on"]);
    assert_eq!(bash_offers(&["plan", "smoke", "-a", "placement", "=", "same_c"]), ["same_cpu"]);
    assert_eq!(bash_offers(&["plan", "-f", "mechanism", ":", "unix_st"]), ["unix_stream"]);
    assert_eq!(bash_offers(&["report", ".", "--row", "mach"]), ["machine"]);
    assert_eq!(bash_offers(&["report", ".", "--col", "idle"]), ["idle_connections"]);
    assert_eq!(bash_offers(&["report", ".", "--split", "placement,spa"]), ["placement,spawn"]);
    assert_eq!(bash_offers(&["run", "--progress", "=", "al"]), ["always"]);
}

fn shells_read_them() {
    for (shell, reads) in [("bash", "bash -n"), ("zsh", "zsh -n"), ("fish", "fish --no-execute")] {
        let script = Program::ipcmatrix(["completions", shell]).run().exits(0).stdout;
        assert!(script.contains("IPCMATRIX_COMPLETE") && script.contains("ipcmatrix"), "{script}");
        if Need::Tool(shell).missing().is_none() {
            Program::shell(&format!("exec {reads} /dev/stdin"), [""; 0]).input(script).run().exits(0);
        }
    }
    Program::ipcmatrix(["completions", "tcsh"]).run().exits(2).says(&["bash, zsh, fish"]);
    let odd = Program::ipcmatrix(["--", "ipcmatrix", ""]).env("IPCMATRIX_COMPLETE", "tcsh").run();
    odd.exits(2).says(&["IPCMATRIX_COMPLETE", "tcsh"]);
}

fn manual_pages_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("a/b");
    Program::ipcmatrix(["man", "-o"]).args([&pages]).run().exits(0);
    let run = fs::read_to_string(pages.join("ipcmatrix-run.1")).unwrap();
    let printed =
        Program::ipcmatrix(["man", "run"]).run().exits(0).prints(&["\\-\\-precision", ".TH"]).stdout;
    assert_eq!(run, printed);
    Program::ipcmatrix(["man", "rum"]).run().exits(2).says(&["rum", "did you mean `run`"]);
    Program::ipcmatrix(["man", "-o", "/dev/null/x"]).run().exits(2).says(&["/dev/null/x", "-o"]);
}

fn first_matrix_works() {
    let folder = tempfile::tempdir().unwrap();
    let ipcmatrix = |words: &[&str]| Program::ipcmatrix(words).folder(folder.path()).run();
    ipcmatrix(&["init"]).exits(0).says(&["ipcmatrix plan my-matrix.toml"]);
    ipcmatrix(&["plan", "my-matrix.toml"]).exits(0).prints(&["bandwidth", "expected time"]);
    let filter = "mechanism:(pipe OR pthread_mutex) placement:same_cpu";
    ipcmatrix(&["run", "my-matrix.toml", "--test", "-f", filter]).exits(0).prints(&["works"]);
    let shown = ipcmatrix(&["init", "-"]).exits(0).stdout;
    assert_eq!(shown, fs::read_to_string(folder.path().join("my-matrix.toml")).unwrap());
}

fn file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    fs::write(&path, "mine").unwrap();
    let init = |path: &Path| -> Ended { Program::ipcmatrix(["init"]).args([path]).run() };
    init(&path).exits(2).says(&["mine.toml is there already"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    init(&folder.path().join("no/mine.toml")).exits(2).says(&["no/mine.toml", "name another file"]);
}

fn verbose_tells_each_visit() {
    let run = |more: &[&str]| {
        let words = ["run", "smoke", "--test", "-f", "mechanism:pipe"];
        Program::ipcmatrix(words).args(more).run().exits(0).stderr
    };
    let visits = |said: &str| said.lines().filter(|line| line.starts_with("visit ")).count();
    let said = run(&["-v"]);
    assert_eq!(visits(&said), 2, "{said}");
    assert!(said.contains("visit 1, round 1: ") && said.contains("verified"), "{said}");
    assert_eq!(visits(&run(&["--progress", "always"])), 0);
    Program::ipcmatrix(["run", "-q", "-v"]).run().exits(2).says(&["--quiet", "--verbose"]);
}

fn colours() {
    let said = |words: &[&str], variables: &[(&str, &str)]| {
        let plain = Program::ipcmatrix(["list", "no_such"]).args(words).env("TERM", "xterm");
        let with = variables.iter().fold(plain, |program, (name, value)| program.env(name, value));
        with.run().exits(2).stderr.contains('\u{1b}')
    };
    assert!(!said(&[], &[]), "no terminal");
    assert!(said(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!said(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(said(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(!said(&["--color=never"], &[("CLICOLOR_FORCE", "1")]));
    let own = Program::ipcmatrix(["--color=always", "report", "no/such"]).run().exits(2);
    assert!(own.stderr.starts_with("\u{1b}[") && own.stderr.contains("ipcmatrix:"), "{}", own.stderr);
    let json = Program::ipcmatrix(["doctor", "--format", "json", "--color=always"]).run().exits(0).stdout;
    assert!(!json.contains('\u{1b}'));
}

fn lists_are_json_too() {
    let list = |words: &[&str]| -> serde_json::Value {
        let words = ["list", "--format", "json"].iter().chain(words);
        serde_json::from_str(&Program::ipcmatrix(words).run().exits(0).stdout).unwrap()
    };
    let all = list(&[]);
    assert_eq!(all["schema"], "ipcmatrix.list.v1");
    for (what, key, first) in [
        ("matrices", "name", "appendix"),
        ("mechanisms", "name", "pipe"),
        ("axes", "name", "placement"),
        ("metrics", "name", "figure"),
        ("warnings", "code", "W001"),
    ] {
        let one = list(&[what]);
        assert_eq!(one[what], all[what]);
        assert_eq!(one.as_object().unwrap().len(), 2, "{what} and the schema");
        let rows = one[what].as_array().unwrap();
        assert!(rows.iter().any(|row| row[key] == first), "{what}: {first}");
        let text = Program::ipcmatrix(["list", what]).run().exits(0).stdout;
        assert!(rows.iter().all(|row| text.contains(row[key].as_str().unwrap())), "{what}");
    }
}
