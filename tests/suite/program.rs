//! Starts a program, hears it out, and gives up on it after a generous time.

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::ffi::OsStr;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// No trial waits longer than this for one program.
const PATIENCE: Duration = Duration::from_secs(60);
/// In the environment of everything that a trial starts, with a value of its own.
const MARK: &str = "IPCMATRIX_TRIAL";

/// The program under test.
pub const IPCMATRIX: &str = env!("CARGO_BIN_EXE_ipcmatrix");

/// The text of a journal as that of another run: with another seed, by the digit in front of it, above 0.
pub fn as_another_run(journal: &Path, digit: usize) -> String {
    let text = std::fs::read_to_string(journal).unwrap();
    text.replacen("\"seed\":", &format!("\"seed\":{digit}"), 1)
}

/// A program that is going to be started.
pub struct Program {
    command: Command,
    input: Vec<u8>,
    mark: String,
}

/// What came of it.
#[derive(Debug)]
pub struct Ended {
    status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// A program that runs, in a process group of its own.
pub struct Running {
    pid: Pid,
    mark: String,
    status: Receiver<ExitStatus>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Program {
    /// Any program.
    pub fn new(file: impl AsRef<OsStr>) -> Program {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}.{}", std::process::id(), SERIAL.fetch_add(1, Ordering::Relaxed));
        let mut command = Command::new(file);
        command.env(MARK, &mark).env_remove("CI").env("LC_ALL", "C").process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Program { command, input: Vec::new(), mark }
    }

    /// The program under test. Trials run beside each other, so a run takes no lock.
    pub fn ipcmatrix<S: AsRef<OsStr>>(arguments: impl IntoIterator<Item = S>) -> Program {
        let mut arguments = arguments.into_iter().peekable();
        let is_run = arguments.peek().is_some_and(|word| word.as_ref() == "run");
        let program = Program::new(IPCMATRIX).args(arguments.next());
        program.args(is_run.then_some("--no-lock")).args(arguments)
    }

    /// A script of the shell, in which `$1` is the program under test, and `$2` ... are the arguments.
    pub fn shell<S: AsRef<OsStr>>(script: &str, arguments: impl IntoIterator<Item = S>) -> Program {
        Program::new("sh").args(["-c", script, "sh", IPCMATRIX]).args(arguments)
    }

    /// More arguments.
    pub fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Program {
        self.command.args(arguments);
        self
    }

    /// A variable of its environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Program {
        self.command.env(name, value);
        self
    }

    /// Where it is started.
    pub fn folder(mut self, folder: &Path) -> Program {
        self.command.current_dir(folder);
        self
    }

    /// What it reads on its standard input.
    pub fn input(mut self, text: impl Into<Vec<u8>>) -> Program {
        self.input = text.into();
        self
    }

    /// Where its standard output goes, instead of to the trial.
    pub fn stdout(mut self, to: impl Into<Stdio>) -> Program {
        self.command.stdout(to);
        self
    }

    /// Starts it. It must be awaited by the thread that started it: visits end with that thread.
    pub fn start(mut self) -> Running {
        let mut child = self.command.spawn().unwrap_or_else(|error| panic!("{:?}: {error}", self.command));
        let pid = Pid::from_raw(child.id() as i32);
        let (stdout, stderr) = (heard(child.stdout.take()), heard(child.stderr.take()));
        tell(&mut child, self.input);
        Running { pid, mark: self.mark, status: awaited(child), stdout, stderr }
    }

    /// Starts it and waits for its end.
    pub fn run(self) -> Ended {
        self.start().end()
    }
}

/// Hands over the input, in a thread, as the program may not read it at once.
fn tell(child: &mut Child, input: Vec<u8>) {
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read its input is not at fault for that.
        thread::spawn(move || drop(pipe.write_all(&input)));
    }
}

fn heard(pipe: Option<impl Read + Send + 'static>) -> Receiver<String> {
    let (tell, told) = channel();
    thread::spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut text).unwrap();
        }
        // Nobody listens where the trial has failed already.
        let _ = tell.send(String::from_utf8_lossy(&text).into_owned());
    });
    told
}

fn awaited(mut child: Child) -> Receiver<ExitStatus> {
    let (tell, told) = channel();
    thread::spawn(move || {
        // Nobody listens where the trial has failed already.
        let _ = tell.send(child.wait().unwrap());
    });
    told
}

impl Running {
    /// Sends a signal to the program alone.
    pub fn signal(&self, signal: Signal) {
        nix::sys::signal::kill(self.pid, signal).unwrap();
    }

    /// Waits for its end, at most that long; whether it came.
    pub fn ends_within(&mut self, time: Duration) -> bool {
        match self.status.recv_timeout(time) {
            Ok(status) => {
                let (tell, told) = channel();
                tell.send(status).unwrap();
                self.status = told;
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => panic!("the thread that waits for the program is gone"),
        }
    }

    /// Its process.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// What marks its processes.
    pub fn mark(&self) -> String {
        self.mark.clone()
    }

    /// Waits for its end and for the end of everything that holds its output.
    pub fn end(self) -> Ended {
        let status = self.soon(&self.status, "it did not end");
        let stdout = self.soon(&self.stdout, "something holds its standard output after its end");
        let stderr = self.soon(&self.stderr, "something holds its standard error after its end");
        Ended { status, stdout, stderr }
    }

    fn soon<T>(&self, from: &Receiver<T>, otherwise: &str) -> T {
        from.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            // A group that is gone by now is what is wanted.
            let _ = killpg(self.pid, Signal::SIGKILL);
            panic!("{otherwise} within {PATIENCE:?}")
        })
    }
}

impl Ended {
    /// Its exit code; 128 and the signal's number where a signal ended it, as the shell has it.
    pub fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| 128 + self.status.signal().unwrap_or(0))
    }

    /// Whether a signal ended it that it had not caught.
    pub fn by_signal(&self) -> bool {
        self.status.signal().is_some()
    }

    /// Itself, if that was its exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ended {
        assert_eq!(self.code(), code, "standard output:\n{}\nstandard error:\n{}", self.stdout, self.stderr);
        self
    }

    /// Itself, if all of these stand in its standard error.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Ended {
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} does not stand in\n{}", self.stderr);
        }
        self
    }

    /// Itself, if all of these stand in its standard output.
    #[track_caller]
    pub fn prints(self, words: &[&str]) -> Ended {
        for word in words {
            assert!(self.stdout.contains(word), "{word:?} does not stand in\n{}", self.stdout);
        }
        self
    }
}

/// Processes that carry the mark, with their command lines.
pub fn alive(mark: &str) -> Vec<String> {
    let wanted = format!("{MARK}={mark}");
    let carries = |folder: &Path| {
        // A process that ends meanwhile, or has ended and is not reaped yet, has no environment to read.
        let environment = std::fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    processes.filter(|folder| carries(folder)).map(|folder| described(&folder)).collect()
}

fn described(folder: &Path) -> String {
    let command = std::fs::read(folder.join("cmdline")).unwrap_or_default();
    format!("{} {}", folder.display(), String::from_utf8_lossy(&command).replace('\0', " "))
}
