//! What surrounds a run: folders, full disks, closed pipes, limits, affinity, journals of yesterday.

use crate::cells::{EVERYWHERE, drivers};
use crate::machine::{self, Need, eventually};
use crate::program::{Ended, Program};
use crate::trial;
use ipcmatrix::record::Outcome;
use ipcmatrix::report::load::{JOURNAL, read_run};
use libtest_mimic::Trial;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::fs::{self, File};
use std::path::Path;

pub fn trials() -> Vec<Trial> {
    let mount: &[Need] = &[Need::Tool("unshare"), Need::Mount];
    vec![
        trial("input::nobody_reads_the_messages", &[], nobody_reads_the_messages),
        trial("input::messages_into_a_full_device", &[Need::FullDevice], messages_into_a_full_device),
        trial("input::anonymous_names_no_folder", &[], anonymous_names_no_folder),
        trial("input::output_under_a_file", &[], || {
            cannot_write("a_file/out", &["cannot make the folder a_file/out: Not a directory", "-o"])
        }),
        trial("input::output_in_proc", &[], || {
            cannot_write("/proc/out", &["cannot make the folder /proc/out: ", "-o"])
        }),
        trial("input::output_is_a_device", &[], || {
            cannot_write("/dev/null", &["cannot make the folder /dev/null: ", "-o"])
        }),
        trial("input::output_holds_a_run", &[], output_holds_a_run),
        trial("input::output_may_not_be_written", &[], output_may_not_be_written),
        trial("input::documents_may_not_be_written", &[], documents_may_not_be_written),
        trial("input::the_disk_is_full_from_the_start", mount, disk_full_from_the_start),
        trial("input::the_disk_gets_full", mount, disk_gets_full),
        trial("input::the_folder_is_removed_meanwhile", &[], folder_is_removed),
        trial("input::the_journal_is_replaced_meanwhile", &[], journal_is_replaced),
        trial("input::one_cpu", &[Need::TwoCpus], one_cpu),
        trial("input::sixteen_descriptors", &[], sixteen_descriptors),
        trial("input::too_few_descriptors_are_told", &[], too_few_descriptors),
        trial("input::closed_pipe", &[], closed_pipe),
        trial("input::full_output", &[Need::FullDevice], full_output),
        trial("input::full_output_of_help", &[Need::FullDevice], full_output_of_help),
        trial("input::help_has_examples", &[], help_has_examples),
        trial("input::version", &[], version),
        trial("input::report_of_what_is_no_run", &[], report_of_what_is_no_run),
        trial("input::report_of_a_torn_journal", &[], report_of_a_torn_journal),
        trial("input::report_gives_what_the_run_printed", &[], report_gives_what_the_run_printed),
        trial("input::quiet_is_quiet", &[], quiet_is_quiet),
        trial("input::the_same_seed_gives_the_same_order", &[], same_seed_same_order),
    ]
}

/// The smallest run there is.
const SMALL: [&str; 5] = ["run", "smoke", "--test", "-f", "measure:bandwidth mechanism:pipe"];

fn small(folder: &Path, output: &str) -> Program {
    Program::ipcmatrix(SMALL).args(["-o", output]).folder(folder)
}

fn no_panic(ended: &Ended) {
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}

fn cannot_write(output: &str, messages: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a_file"), "").unwrap();
    let ended = small(folder.path(), output).run().exits(2).says(messages);
    assert_eq!(ended.stdout, "", "nothing was run");
}

fn output_holds_a_run() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path(), "out").run().exits(0);
    let journal = fs::read(folder.path().join("out").join(JOURNAL)).unwrap();
    small(folder.path(), "out")
        .run()
        .exits(2)
        .says(&["out holds records.jsonl already: name another folder with -o"]);
    assert_eq!(fs::read(folder.path().join("out").join(JOURNAL)).unwrap(), journal, "it is as it was");
}

/// An ordinary user, who meets a folder that belongs to somebody else.
fn output_may_not_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let read_only = folder.path().join("out");
    fs::create_dir(&read_only).unwrap();
    let mut permissions = fs::metadata(&read_only).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&read_only, permissions).unwrap();
    // Root writes there all the same, so `/sys` stands for such a folder then.
    let output = if machine::is_root() { "/sys/ipcmatrix-out" } else { "out" };
    let ended = small(folder.path(), output).run().exits(2).says(&["ipcmatrix: cannot "]);
    assert_eq!(ended.stdout, "", "nothing was run");
}

/// A place that the user named and that cannot be written is the user's to change, whatever is written there.
fn documents_may_not_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::copy(golden.join("small.jsonl"), folder.path().join("run").join(JOURNAL)).unwrap();
    // A folder stands where the file should.
    for taken in ["x/cells.json", "compare/compare.json", "man/ipcmatrix.1"] {
        fs::create_dir_all(folder.path().join(taken)).unwrap();
    }
    let copy = folder.path().join("other");
    fs::create_dir(&copy).unwrap();
    fs::copy(golden.join("real-1.jsonl"), copy.join(JOURNAL)).unwrap();
    for words in
        ["export run --format json -o x/cells.json", "compare run other -o compare", "man -o man", "init x"]
    {
        let ended = Program::ipcmatrix(words.split(' ')).folder(folder.path()).run().exits(2);
        ended.says(&["name a"]);
    }
}

/// Runs in a small file system, which is mounted for the trial alone; `$2` is where.
fn on_a_small_disk(kilobytes: u32, script: &str, folder: &Path) -> Ended {
    let script = format!("mount -t tmpfs -o size={kilobytes}k none \"$2\" || exit 99\n{script}");
    let command = ["-m", "sh", "-c", &script, "sh", crate::program::IPCMATRIX];
    Program::new("unshare").args(command).args([folder]).run()
}

fn disk_full_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let ended =
        on_a_small_disk(4, "exec \"$1\" run --no-lock smoke --budget 10s -o \"$2/out\"", folder.path())
            .exits(2);
    assert_eq!(ended.stdout, "", "nothing was run");
    ended.says(&["No space left on device", "nothing was run", "-o"]);
}

/// The run stops; what was measured is printed, the loss is told, and the journal up to there can be read.
fn disk_gets_full() {
    let folder = tempfile::tempdir().unwrap();
    let script = "\"$1\" run --no-lock smoke --budget 30s -o \"$2/out\"; code=$?
        ls -A \"$2/out\" >&2
        \"$1\" report \"$2/out\" >&2 || exit 98
        exit $code";
    let ended = on_a_small_disk(80, script, folder.path()).exits(1);
    no_panic(&ended);
    let visits = |text: &str| {
        let line = text.lines().find(|line| line.starts_with("visits ")).expect("how many visits were made");
        line.split_whitespace().nth(1).unwrap().parse::<u32>().unwrap()
    };
    let (printed, kept) = (visits(&ended.stdout), visits(&ended.stderr));
    assert!(kept > 0 && printed >= kept, "{printed} visits printed, {kept} in the journal");
    let ended = ended.prints(&["smoke-bandwidth", "the journal could not be written"]);
    let said =
        ["the journal could not be written any more: No space left on device", "cannot write", "README.md"];
    let ended = ended.says(&said);
    assert!(
        !ended.stderr.lines().any(|line| line.contains(".partial") && !line.contains("ipcmatrix:")),
        "{}",
        ended.stderr
    );
}

/// Starts a run and waits for its first visit in the journal.
fn begun(folder: &Path) -> crate::program::Running {
    let running = Program::ipcmatrix(["run", "smoke", "--quick", "--budget", "30s", "-o", "out"])
        .folder(folder)
        .start();
    let journal = folder.join("out").join(JOURNAL);
    let lines = || fs::read(&journal).unwrap_or_default().iter().filter(|byte| **byte == b'\n').count();
    eventually(|| (lines() < 2).then(|| "no visit has been made yet".to_owned()));
    running
}

fn folder_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let running = begun(folder.path());
    fs::remove_dir_all(folder.path().join("out")).unwrap();
    let ended = running.end().exits(1);
    no_panic(&ended);
    ended.prints(&["smoke-bandwidth", "the journal could not be written"]).says(&[
        "the tables above hold all visits made",
        "cannot write out/README.md: No such file or directory",
    ]);
    assert!(!folder.path().join("out").exists(), "what somebody removed is not made again");
}

fn journal_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let running = begun(folder.path());
    let journal = folder.path().join("out").join(JOURNAL);
    fs::remove_file(&journal).unwrap();
    fs::write(&journal, "mine\n").unwrap();
    running.end().exits(1).says(&["another file stands in its place"]).prints(&["smoke-bandwidth"]);
    assert_eq!(fs::read_to_string(&journal).unwrap(), "mine\n");
}

/// What has one worker crosses nothing anyway.
const TWO_WORKERS: &str = "-(mechanism:memory_copy OR measure:wait OR measure:operation)";

/// In a thread of its own, as the affinity is the thread's and is inherited by what it starts.
fn one_cpu() {
    let cpu = machine::cpus()[0];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_path_buf();
    let pinned = move || {
        let mut set = CpuSet::new();
        set.set(cpu).unwrap();
        sched_setaffinity(Pid::from_raw(0), &set).unwrap();
        let axes = ["run", "smoke", "--test", "-a", "placement=same_cpu,cross_cpu", "-o", "out"];
        let axes = axes.into_iter().chain(["-f", EVERYWHERE, "-f", TWO_WORKERS]);
        Program::ipcmatrix(axes).folder(&path).run()
    };
    let ended = std::thread::spawn(pinned).join().unwrap().exits(0);
    let reason = format!("cross_cpu needs two CPUs, the process may run on CPU {cpu} only (affinity)");
    let half = drivers(&[EVERYWHERE, TWO_WORKERS]);
    ended.prints(&[&format!("{half} measured, {half} unavailable, 0 failed"), &reason, "taskset"]);
    for visit in read_run(&folder.path().join("out")).unwrap().visits {
        let crosses = visit.cell.word(ipcmatrix::cell::Axis::Placement) == "cross_cpu";
        match visit.outcome {
            Outcome::Measured(figures) if !crosses => {
                assert_eq!(figures.effective["cpus"], serde_json::json!([cpu]))
            }
            Outcome::Unavailable(refused) if crosses => assert_eq!(refused.reason, reason),
            other => panic!("{}: {other:?}", visit.cell),
        }
    }
}

/// All but the server, which says that its connections do not fit.
fn sixteen_descriptors() {
    const FEW: &str = "-measure:serve";
    let run = |filter: &str| {
        let script =
            format!("ulimit -n 16; exec \"$1\" run --no-lock smoke --test -f '{EVERYWHERE}' -f '{filter}'");
        Program::shell(&script, [""; 0]).run().exits(0)
    };
    run(FEW).prints(&[&format!("{} measured, 0 unavailable, 0 failed", drivers(&[EVERYWHERE, FEW]))]);
    let refused = format!("0 measured, {} unavailable, 0 failed", drivers(&[EVERYWHERE, "measure:serve"]));
    run("measure:serve").prints(&[&refused, "RLIMIT_NOFILE is 16", "ulimit -n"]);
}

/// At each limit: every cell is measured, or fails with the reason, or the program says why it cannot begin.
fn too_few_descriptors() {
    for limit in 5..16 {
        let script = format!("ulimit -n {limit}; exec \"$1\" run --no-lock smoke --test");
        let ended = Program::shell(&script, [""; 0]).run();
        no_panic(&ended);
        match ended.code() {
            0 => drop(ended.prints(&[" 0 failed"])),
            1 => assert!(
                format!("{}{}", ended.stdout, ended.stderr).contains("Too many open files"),
                "{ended:?}"
            ),
            other => panic!("exit code {other} with {limit} descriptors: {ended:?}"),
        }
    }
}

/// The reader of the output goes away after the first line, or before it.
fn closed_pipe() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path(), "out").run().exits(0);
    let commands = [
        "list",
        "--help",
        "run --help",
        "plan",
        "run smoke --test -q",
        "report out",
        "report out --format csv",
    ];
    for command in commands {
        for reader in ["head -1 > /dev/null", "true"] {
            let script = format!("( \"$1\" {command}; echo $? > code ) | {reader}");
            let ended = Program::shell(&script, [""; 0]).folder(folder.path()).run().exits(0);
            assert_eq!(ended.stderr, "", "{command} | {reader}");
            eventually(|| {
                fs::read_to_string(folder.path().join("code")).is_err().then(|| "no exit code yet".to_owned())
            });
            assert_eq!(
                fs::read_to_string(folder.path().join("code")).unwrap(),
                "0\n",
                "{command} | {reader}"
            );
            fs::remove_file(folder.path().join("code")).unwrap();
        }
    }
}

fn to_a_full_device(arguments: &[&str], folder: &Path) -> Ended {
    let full = File::options().write(true).open("/dev/full").unwrap();
    Program::ipcmatrix(arguments).folder(folder).stdout(full).run()
}

fn full_output() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path(), "out").run().exits(0);
    for arguments in [&["list"][..], &["plan"], &["report", "out"], &["report", "out", "--format", "csv"]] {
        let ended = to_a_full_device(arguments, folder.path()).exits(1);
        ended.says(&["ipcmatrix: cannot write to standard output: No space left on device"]);
    }
    let run = [&SMALL[..], &["-o", "kept"]].concat();
    to_a_full_device(&run, folder.path())
        .exits(1)
        .says(&["cannot write to standard output: No space left on device"]);
    assert!(folder.path().join("kept/README.md").exists(), "the report is written all the same");
}

fn full_output_of_help() {
    let folder = tempfile::tempdir().unwrap();
    to_a_full_device(&["--help"], folder.path()).exits(1).says(&["No space left on device"]);
}

fn help_has_examples() {
    let ended = Program::ipcmatrix(["--help"]).run().exits(0);
    ended.prints(&[
        "Usage: ipcmatrix [OPTIONS] <COMMAND>",
        "Examples:\n  ipcmatrix run ",
        "Exit codes: 0 all well",
    ]);
    for command in ["run", "plan", "list", "report"] {
        let ended = Program::ipcmatrix([command, "--help"]).run().exits(0);
        ended.prints(&["Usage: ipcmatrix ", &format!("Examples:\n  ipcmatrix {command}")]);
    }
}

fn version() {
    let ended = Program::ipcmatrix(["--version"]).run().exits(0);
    assert_eq!(ended.stdout, format!("ipcmatrix {}\n", env!("CARGO_PKG_VERSION")));
}

fn report_of_what_is_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    file("empty", b"");
    file("binary", b"\x7fELF\0\xff");
    file("prose", b"# Notes\n");
    fs::create_dir(folder.path().join("hollow")).unwrap();
    let cases = [
        ("missing", "cannot read missing: expected the folder of a run"),
        ("hollow", "hollow holds no run: expected the folder of a run"),
        ("empty", "empty holds nothing: expected a journal"),
        ("binary", "binary:1: not text"),
        ("prose", "prose:1: expected a header"),
        ("/dev/null", "/dev/null is not a file"),
    ];
    for (name, message) in cases {
        let ended =
            Program::ipcmatrix(["report", name]).folder(folder.path()).run().exits(2).says(&[message]);
        assert_eq!(ended.stdout, "");
    }
}

/// Cut anywhere in its last line: what stands before is shown, and the cut is told.
fn report_of_a_torn_journal() {
    let folder = tempfile::tempdir().unwrap();
    small(folder.path(), "out").run().exits(0);
    let journal = folder.path().join("out").join(JOURNAL);
    let whole = fs::read_to_string(&journal).unwrap();
    let (before, last) = whole.trim_end().rsplit_once('\n').unwrap();
    let told = "its last line was cut off and is dropped";
    let report = || Program::ipcmatrix(["report", "out"]).folder(folder.path()).run().exits(0);
    assert!(!report().stdout.contains(told), "a whole journal is not called so");
    for cut in [1, last.len() / 2, last.len() - 1] {
        fs::write(&journal, format!("{before}\n{}", &last[..cut])).unwrap();
        report().prints(&["1 measured, 0 unavailable, 0 failed", told, "works"]);
    }
}

fn report_gives_what_the_run_printed() {
    let folder = tempfile::tempdir().unwrap();
    let printed = small(folder.path(), "out").run().exits(0).stdout;
    let report = |format: &str| {
        Program::ipcmatrix(["report", "out", "--format", format]).folder(folder.path()).run().exits(0)
    };
    assert_eq!(report("text").stdout, printed);
    assert_eq!(report("md").stdout, fs::read_to_string(folder.path().join("out/README.md")).unwrap());
    assert_eq!(report("csv").stdout.lines().count(), 2, "a heading and one sample");
    let mut names: Vec<_> =
        fs::read_dir(folder.path().join("out")).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["README.md", "environment.json", JOURNAL]);
    let environment = fs::read_to_string(folder.path().join("out/environment.json")).unwrap();
    assert!(serde_json::from_str::<serde_json::Value>(&environment).unwrap().is_object());
}

fn quiet_is_quiet() {
    let folder = tempfile::tempdir().unwrap();
    let ended = small(folder.path(), "out").args(["-q"]).run().exits(0);
    assert_eq!(ended.stderr, "");
    let loud = small(folder.path(), "loud").run().exits(0).says(&["1 of 1 cells", "report: loud/README.md"]);
    assert!(
        !loud.stderr.contains('\u{1b}') && !loud.stderr.contains('\r'),
        "no progress where no terminal is"
    );
}

fn same_seed_same_order() {
    let folder = tempfile::tempdir().unwrap();
    let order = |seed: &str, output: &str| {
        let arguments = ["run", "smoke", "--test", "-q", "--seed", seed, "-o", output];
        Program::ipcmatrix(arguments).folder(folder.path()).run().exits(0);
        let visits = read_run(&folder.path().join(output)).unwrap().visits;
        visits.into_iter().map(|visit| visit.cell_index).collect::<Vec<_>>()
    };
    let first = order("7", "a");
    assert_eq!(first.len(), ipcmatrix::catalog::Catalog::shipped().drivers().count());
    assert_eq!(first, order("7", "b"));
    assert_ne!(first, order("8", "c"), "one of very many orders");
}

/// Both streams go into a pipe whose reader leaves: no panic, and the exit code is that of the run.
fn nobody_reads_the_messages() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{{ \"$1\" {} -o out; echo $? > code; }} 2>&1 | head -1", quoted(&SMALL));
    Program::shell(&script, [""; 0]).folder(folder.path()).run().exits(0);
    assert_eq!(fs::read_to_string(folder.path().join("code")).unwrap(), "0\n");
}

fn messages_into_a_full_device() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!("exec \"$1\" {} -o out 2> /dev/full", quoted(&SMALL));
    Program::shell(&script, [""; 0]).folder(folder.path()).run().exits(0).prints(&["1 measured"]);
    assert!(folder.path().join("out/README.md").exists());
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
}

/// Neither the journal, the report nor the environment tells where the matrix or the output stood; the class of the
/// machine stays, for comparing.
fn anonymous_names_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("a-telling-name");
    fs::create_dir(&home).unwrap();
    let smoke = ipcmatrix::matrix::shipped("smoke").unwrap();
    fs::write(home.join("mine.toml"), smoke).unwrap();
    let (matrix, output) = (home.join("mine.toml"), home.join("out"));
    let words = ["run", matrix.to_str().unwrap(), "--anonymous", "--test", "-f", "mechanism:pipe", "-o"];
    Program::ipcmatrix(words).args([output.to_str().unwrap()]).folder(folder.path()).run().exits(0);
    for file in [JOURNAL, "README.md", "environment.json"] {
        let text = fs::read_to_string(output.join(file)).unwrap();
        assert!(file == "README.md" || text.contains("\"machine_class\""), "{file}");
        assert!(!text.contains("a-telling-name"), "{file}");
        assert!(file == "environment.json" || text.contains("mine.toml"), "{file} names the matrix itself");
    }
}
