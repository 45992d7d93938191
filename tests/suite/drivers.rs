//! Mechanisms that misbehave, each in one way.

use ipcmatrix::catalog::{Driver, Family, alone};
use ipcmatrix::cell::{Axis, Cell, Measure};
use ipcmatrix::faulty::ExcludesNobody;
use ipcmatrix::lock::increment;
use ipcmatrix::operation::{Operation, operation};
use ipcmatrix::readiness::{Patience, Poll, Readiness, wait};
use ipcmatrix::workload::{Batch, Body, Proof, Tally, Workload, mismatch};
use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::sys::signal::{Signal, raise};
use nix::sys::socket::{MsgFlags, send};
use nix::unistd::Pid;
use std::fs::{OpenOptions, read_dir};
use std::io::{self, Write};
use std::os::fd::{BorrowedFd, RawFd};
use std::process::{Command, Stdio, abort, exit};
use std::sync::atomic::{AtomicU64, Ordering};

/// The variable that turns this test program into ipcmatrix with these mechanisms.
pub const SWITCH: &str = "IPCMATRIX_HOSTILE";

/// Every one of them.
pub static HOSTILE: &[Driver] = &[
    increment::<ExcludesNobody>(),
    wait::<Miscounts>(),
    wait::<TellsOfAnother>(),
    operation::<Forgets>(),
    operation::<FailsBeside>(),
    operation::<StopsBeside>(),
    driver("behaves"),
    driver("hangs"),
    driver("stops"),
    driver("dies"),
    driver("aborts"),
    driver("leaves_early"),
    driver("panics"),
    driver("fails"),
    driver("speaks_nonsense"),
    driver("prints"),
    driver("floods"),
    driver("wanders"),
    driver("loses_work"),
    driver("fails_to_open"),
    driver("panics_in_open"),
    driver("hangs_in_open"),
    driver("fails_to_enter"),
    driver("dies_in_enter"),
    driver("hangs_in_enter"),
    driver("alters_a_byte"),
    driver("hangs_in_proof"),
    driver("fails_in_the_last_check"),
    driver("hangs_at_the_end"),
    driver("fails_at_the_end"),
    driver("leaves_a_child"),
    driver("leaves_a_child_that_holds_the_output"),
];

/// What a mechanism does beside nothing.
struct Deeds {
    enter: fn() -> io::Result<()>,
    /// In the worker's second batch, so that it is trusted by then.
    batch: fn(&mut Tally) -> io::Result<()>,
    /// What is added to the checksum.
    prove: fn() -> io::Result<u32>,
    /// After the last sample.
    conclude: fn() -> io::Result<()>,
    /// When the worker is told to leave.
    leave: fn(),
}

fn deeds(mechanism: &str) -> io::Result<Deeds> {
    let good =
        Deeds { enter: || Ok(()), batch: |_| Ok(()), prove: || Ok(0), conclude: || Ok(()), leave: || () };
    Ok(match mechanism {
        "behaves" => good,
        "hangs" => Deeds { batch: |_| hang(), ..good },
        "stops" => Deeds { batch: |_| Ok(raise(Signal::SIGSTOP)?), ..good },
        "dies" => Deeds { batch: |_| Ok(raise(Signal::SIGKILL)?), ..good },
        "aborts" => Deeds { batch: |_| abort(), ..good },
        "leaves_early" => Deeds { batch: |_| exit(0), ..good },
        "panics" => Deeds { batch: |_| panic!("on purpose"), ..good },
        "fails" => Deeds { batch: |_| made_up(), ..good },
        "speaks_nonsense" => Deeds { batch: |_| speak_nonsense(), ..good },
        "prints" => Deeds { batch: |_| print("not an outcome\n", 1), ..good },
        "floods" => Deeds { batch: |_| print(&"x".repeat(1 << 16), 300), ..good },
        "wanders" => Deeds { batch: |_| wander(), ..good },
        "loses_work" => Deeds { batch: lose, ..good },
        "fails_to_open" => return Err(io::Error::other("a made-up error")),
        "panics_in_open" => panic!("on purpose"),
        "hangs_in_open" => hang().map(|()| good)?,
        "fails_to_enter" => Deeds { enter: made_up, ..good },
        "dies_in_enter" => Deeds { enter: || Ok(raise(Signal::SIGKILL)?), ..good },
        "hangs_in_enter" => Deeds { enter: hang, ..good },
        "alters_a_byte" => Deeds { prove: || Ok(1), ..good },
        "hangs_in_proof" => Deeds { prove: || hang().map(|()| 0), ..good },
        "fails_in_the_last_check" => Deeds { conclude: made_up, ..good },
        "hangs_at_the_end" => Deeds { leave: || drop(hang()), ..good },
        "fails_at_the_end" => Deeds { leave: || exit(3), ..good },
        "leaves_a_child" => Deeds { enter: || leave_a_child(Stdio::null()), ..good },
        "leaves_a_child_that_holds_the_output" => Deeds { enter: || leave_a_child(Stdio::inherit()), ..good },
        other => return Err(io::Error::other(format!("no deed for {other}"))),
    })
}

const fn driver(mechanism: &'static str) -> Driver {
    let summary = "misbehaves in one way";
    Driver::plain(Family::Lock, Measure::Increment, mechanism, summary, |cells| {
        Ok(Box::new(Hostile::open(alone(cells)?)?))
    })
}

/// Workers of which the last one misbehaves.
struct Hostile {
    workers: usize,
    deeds: Deeds,
}

impl Hostile {
    fn open(cell: &Cell) -> io::Result<Hostile> {
        Ok(Hostile { workers: cell.count(Axis::Workers) as usize, deeds: deeds(cell.mechanism())? })
    }
}

/// One worker; without deeds it behaves.
struct Worker<'a> {
    deeds: Option<&'a Deeds>,
    batches: u64,
}

impl Body for Worker<'_> {
    fn run(&mut self, ops: u64) -> io::Result<Tally> {
        let mut tally = Tally::moved(ops, 0);
        self.batches += 1;
        match self.deeds {
            Some(deeds) if self.batches == 2 => (deeds.batch)(&mut tally)?,
            _ => {}
        }
        Ok(tally)
    }

    fn prove(&mut self) -> io::Result<Proof> {
        let crc32 = self.deeds.map_or(Ok(0), |deeds| (deeds.prove)())?;
        Ok(Proof { bytes: 1, crc32 })
    }

    fn conclude(&mut self) -> io::Result<()> {
        self.deeds.map_or(Ok(()), |deeds| (deeds.conclude)())
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(deeds) = self.deeds {
            (deeds.leave)();
        }
    }
}

impl Workload for Hostile {
    fn workers(&self) -> usize {
        self.workers
    }

    fn enter(&self, worker: usize) -> io::Result<Box<dyn Body + '_>> {
        let deeds = (worker + 1 == self.workers).then_some(&self.deeds);
        if let Some(deeds) = deeds {
            (deeds.enter)()?;
        }
        Ok(Box::new(Worker { deeds, batches: 0 }))
    }

    fn timed(&self, _worker: usize) -> bool {
        true
    }

    fn verify(&self, batch: &Batch) -> io::Result<()> {
        match batch.tallies.iter().find(|tally| tally.bytes != batch.ops) {
            Some(tally) => Err(mismatch(format!("{} of {} operations were done", tally.bytes, batch.ops))),
            None => Ok(()),
        }
    }

    fn verify_proof(&self, proofs: &[Proof]) -> io::Result<()> {
        match proofs.iter().any(|proof| proof.crc32 != 0) {
            true => Err(mismatch("a byte came altered".to_owned())),
            false => Ok(()),
        }
    }
}

fn made_up() -> io::Result<()> {
    Err(io::Error::other("a made-up error"))
}

fn hang() -> io::Result<()> {
    loop {
        std::thread::park();
    }
}

fn lose(tally: &mut Tally) -> io::Result<()> {
    tally.bytes -= 1;
    Ok(())
}

fn print(text: &str, times: usize) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    (0..times).try_for_each(|_| stdout.write_all(text.as_bytes()))?;
    stdout.flush()
}

/// Writes into everything that it can reach, whoever listens there.
fn speak_nonsense() -> io::Result<()> {
    for entry in read_dir("/proc/self/fd")?.flatten() {
        let Some(descriptor) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        if descriptor > 2 && send(descriptor, b"\xff{]nonsense", MsgFlags::MSG_DONTWAIT).is_err() {
            // Not a socket. What cannot be opened again cannot be written into either.
            let opened = OpenOptions::new().write(true).open(entry.path());
            let _ = opened.and_then(|mut file| file.write_all(b"\xff{]nonsense"));
        }
    }
    Ok(())
}

/// Moves to another CPU than the one that it was put on.
fn wander() -> io::Result<()> {
    let here = sched_getcpu()?;
    let mut others = CpuSet::new();
    (0..CpuSet::count()).filter(|cpu| *cpu != here).try_for_each(|cpu| others.set(cpu))?;
    sched_setaffinity(Pid::from_raw(0), &others)?;
    // Where there is no other CPU the kernel has refused it.
    assert!(!sched_getaffinity(Pid::from_raw(0))?.is_set(here)?);
    Ok(())
}

fn leave_a_child(output: Stdio) -> io::Result<()> {
    let quiet = || Stdio::null();
    Command::new("sleep").arg("1000").stdin(quiet()).stdout(output).stderr(quiet()).spawn().map(drop)
}

/// Tells of one descriptor more than are ready.
struct Miscounts(Poll);

/// Tells of the right number of descriptors, but of none of those that are ready.
struct TellsOfAnother(Poll);

macro_rules! liar {
    ($liar:ident, $name:literal, $count:expr, $is_ready:literal) => {
        impl Readiness for $liar {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = "poll with a lie";

            fn open(most_descriptors: usize) -> io::Result<$liar> {
                Poll::open(most_descriptors).map($liar)
            }

            fn watch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
                self.0.watch(descriptor)
            }

            fn unwatch(&mut self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
                self.0.unwatch(descriptor)
            }

            fn wait(&mut self, patience: Patience) -> io::Result<usize> {
                self.0.wait(patience).map($count)
            }

            fn is_ready(&self, descriptor: RawFd) -> bool {
                $is_ready && self.0.is_ready(descriptor)
            }

            fn ready(&self, ready: &mut Vec<RawFd>) {
                ready.clear();
            }
        }
    };
}

liar!(Miscounts, "miscounts", |told| told + 1, true);
liar!(TellsOfAnother, "tells_of_another", |told| told, false);

/// Does nothing, and finds that out in the end.
struct Forgets;

impl Operation for Forgets {
    const NAME: &'static str = "forgets";
    const SUMMARY: &'static str = "does nothing";

    fn enter(_depth: u64) -> io::Result<Forgets> {
        Ok(Forgets)
    }

    fn once(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn check(&mut self, ops: u64) -> io::Result<()> {
        Err(mismatch(format!("forgets did nothing {ops} times")))
    }
}

/// Fails in the first thread of a process that enters it: the second of two that work, which is started first.
struct FailsBeside;

/// Threads that have entered an operation of this process.
static ENTERED: AtomicU64 = AtomicU64::new(0);

fn is_first() -> bool {
    ENTERED.fetch_add(1, Ordering::Relaxed) == 0
}

impl Operation for FailsBeside {
    const NAME: &'static str = "fails_beside";
    const SUMMARY: &'static str = "fails in the second thread";

    fn enter(_depth: u64) -> io::Result<FailsBeside> {
        if is_first() { Err(io::Error::other("a made-up error")) } else { Ok(FailsBeside) }
    }

    fn once(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stops in the second thread as soon as it has worked a little.
struct StopsBeside {
    left: u64,
}

impl Operation for StopsBeside {
    const NAME: &'static str = "stops_beside";
    const SUMMARY: &'static str = "stops in the second thread";

    fn enter(_depth: u64) -> io::Result<StopsBeside> {
        Ok(StopsBeside { left: if is_first() { 10 } else { u64::MAX } })
    }

    fn once(&mut self) -> io::Result<()> {
        self.left = self.left.checked_sub(1).ok_or_else(|| io::Error::other("it has had enough"))?;
        Ok(())
    }
}
