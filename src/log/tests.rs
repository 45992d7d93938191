//! Every log that needs no process of its own, by threads; logs that break their promise; and the daemon in a thread.

use super::append::Append;
use super::check::Check;
use super::daemon::{Counters, Daemon, mark};
use super::private_file::{PrivateFile, cut, explained, write_whole};
use super::*;
use crate::cell::Value;
use crate::workload::{Batch, Delivery, Tally, Workload};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::Ordering;
use std::thread;

const WORKERS: usize = 3;
const OPS: u64 = 1_001;

fn cell(mechanism: &str) -> Cell {
    Cell::new(Measure::Append, mechanism)
        .with(Axis::MessageBytes, Value::Count(80))
        .with(Axis::Workers, Value::Count(WORKERS as u64))
}

/// Runs batches with a thread for each worker, and verifies each.
fn batches(workload: &dyn Workload, batches: u64) -> io::Result<Delivery> {
    thread::scope(|scope| {
        let (ready, mut told) = (std::sync::mpsc::channel(), Vec::new());
        for worker in 0..WORKERS {
            let (tell, orders) = std::sync::mpsc::channel::<u64>();
            let tallies = ready.0.clone();
            told.push(tell);
            scope.spawn(move || {
                let mut body = workload.enter(worker).unwrap();
                for ops in orders {
                    let tally = body.run(ops).and_then(|tally| body.drain().map(|_| tally));
                    tallies.send((worker, tally)).unwrap();
                }
            });
        }
        for batch in 1..=batches {
            told.iter().for_each(|tell| tell.send(OPS).unwrap());
            let mut tallies = [Tally::default(); WORKERS];
            for _ in 0..WORKERS {
                let (worker, tally) = ready.1.recv().unwrap();
                tallies[worker] = tally?;
            }
            workload.verify(&Batch { ops: OPS, total_ops: batch * OPS, tallies: &tallies })?;
        }
        Ok(workload.delivery().expect("a batch that verified has lines"))
    })
}

#[test]
fn every_log_that_is_written_by_the_application_has_each_line_once() {
    let written: Vec<&Driver> = DRIVERS.iter().filter(|driver| driver.extra_axes.is_empty()).collect();
    assert_eq!(written.len(), 4);
    for driver in written {
        let workload = (driver.open)(&[cell(driver.mechanism)]).unwrap();
        let delivery = batches(workload.as_ref(), 3).unwrap();
        let attempted = WORKERS as u64 * OPS;
        assert_eq!(
            delivery,
            Delivery { attempted, reordered: 0, ..Delivery::default() },
            "{}",
            driver.mechanism
        );
        assert_eq!(workload.delivery(), Some(delivery));
        assert!(workload.effective()["file_system"].as_str().is_some_and(|name| !name.is_empty()));
        assert_eq!(workload.daemon(), None);
    }
}

/// What a log does to the line of that number.
type Harm = fn(&File, &[u8]) -> io::Result<()>;

/// The line that is harmed.
const HARMED: u64 = 700;

/// Does harm to one line of each worker.
struct Harmful {
    file: PrivateFile,
    harm: Harm,
}

struct Harmer(File, Harm, u64);

impl Writer for Harmer {
    fn append(&mut self, line: &[u8]) -> io::Result<bool> {
        let harmed = self.2 == HARMED;
        self.2 += 1;
        if harmed {
            (self.1)(&self.0, line)?
        } else {
            write_whole(&self.0, line)?
        }
        Ok(true)
    }
}

/// The harm is chosen by the number of bytes of a line: the only thing that a cell has to say.
const HARMS: [Harm; 4] = [
    |_, _| Ok(()),
    |file, line| write_whole(file, line).and_then(|()| write_whole(file, line)),
    |file, line| write_whole(file, &line[..30]).and_then(|()| write_whole(file, &line[29..])),
    write_whole,
];

impl LogSink for Harmful {
    const NAME: &'static str = "harmful";
    const SUMMARY: &'static str = "does harm to a line";
    type Writer = Harmer;

    fn usable(_cell: &Cell) -> Result<(), Unavailable> {
        Ok(())
    }

    fn open(cell: &Cell) -> io::Result<Harmful> {
        Ok(Harmful { file: PrivateFile::open()?, harm: HARMS[cell.message_bytes() - 80] })
    }

    fn framing(&self) -> Framing {
        Framing::default()
    }

    fn promise(&self) -> Promise {
        Promise::Everything
    }

    fn writer(&self, _worker: usize) -> io::Result<Harmer> {
        Ok(Harmer(self.file.appending()?, self.harm, 0))
    }

    fn read_back(&self, check: &mut Check) -> io::Result<()> {
        self.file.read_back(check)
    }

    fn room_bytes(&self) -> u64 {
        self.file.room_bytes()
    }

    fn effective(&self) -> Effective {
        Effective::new()
    }
}

#[test]
fn a_line_that_is_lost_doubled_or_torn_fails_the_batch() {
    let harmed = |harm: u64| {
        let cell = cell("harmful").with(Axis::MessageBytes, Value::Count(80 + harm));
        batches(&Append::<Harmful>::open(&cell).unwrap(), 1).map_err(|error| error.to_string())
    };
    let says = |harm, words: &str| {
        let error = harmed(harm).unwrap_err();
        assert!(error.contains(words), "{error}");
    };
    says(0, "3 are lost where 0 were dropped, 0 are doubled, 0 late and 0 torn");
    says(1, "0 are lost where 0 were dropped, 3 are doubled, 0 late and 0 torn");
    // Other threads may write into the middle of one that is torn.
    says(2, "torn");
    assert!(!harmed(2).unwrap_err().contains(" 0 torn"));
    assert!(harmed(3).is_ok(), "the harness itself does no harm");
}

#[test]
fn a_batch_without_room_is_refused_before_a_line_is_written() {
    let workload = Append::<InFile<direct_write::DirectWrite>>::open(&cell("direct_write")).unwrap();
    let error = workload.enter(0).unwrap().run(1 << 40).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(error.to_string().contains("has no room") && error.to_string().contains("TMPDIR"), "{error}");
}

#[test]
fn a_full_disk_is_told_in_words_also_where_a_part_was_written() {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    for error in [write_whole(&full, b"line\n").unwrap_err(), cut(&full, b"line\n", 2)] {
        let error = explained(error);
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let text = error.to_string();
        assert!(text.starts_with("the disk of the log is full: ") && text.contains("TMPDIR"), "{text}");
    }
    let null = OpenOptions::new().write(true).open("/dev/null").unwrap();
    assert!(cut(&null, b"line\n", 2).to_string().contains("a write of 5 bytes wrote 2"));
}

#[test]
fn a_folder_without_room_is_unavailable_with_how_much_is_needed() {
    let all = |line_bytes| cell("direct_write").with(Axis::MessageBytes, Value::Count(line_bytes));
    assert_eq!(private_file::has_room(&all(80)), Ok(()));
    let refused = private_file::has_room(&all(1 << 20)).unwrap_err();
    assert!(refused.reason.contains("the cell needs 1258291200000"), "{refused}");
    // What binds depends on the machine: the limit of ours, a smaller disk, or RLIMIT_FSIZE.
    let binds =
        [("a limit of ipcmatrix", "shorter lines"), ("the disk", "TMPDIR"), ("RLIMIT_FSIZE", "ulimit -f")];
    let fits =
        |(what, remedy): &(&str, &str)| refused.reason.contains(what) && refused.remedy.contains(remedy);
    assert!(binds.iter().any(fits), "{refused}");
}

#[test]
fn lines_that_are_too_long_or_too_short_are_limits() {
    let refused = |line_bytes| {
        let cell = cell("direct_write").with(Axis::MessageBytes, Value::Count(line_bytes));
        let over = |limit: &Limit| match limit.name {
            LimitName::Protocol { most, .. } => limit.needs > most,
            _ => true,
        };
        limits(&cell).iter().any(over)
    };
    assert_eq!([71, 72, 80, 1024, 1025].map(refused), [true, false, false, false, true]);
    for driver in DRIVERS {
        assert_eq!(
            (driver.limits)(&cell(driver.mechanism).with(Axis::MessageBytes, Value::Count(1025))).len(),
            1
        );
    }
}

/// What a daemon writes and counts that gets these datagrams, and how it ends.
fn served(limited: bool, datagrams: &[&[u8]]) -> (String, [u64; 3], io::Error) {
    let (ours, theirs) = UnixDatagram::pair().unwrap();
    let (answer, reply) =
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, SockFlag::SOCK_CLOEXEC).unwrap();
    let (mut file, counters) = (tempfile::tempfile().unwrap(), Counters::default());
    let written = file.try_clone().unwrap();
    let ended = thread::scope(|scope| {
        let (counters, replies) = (&counters, [reply]);
        let daemon = scope.spawn(move || {
            Daemon { socket: &theirs, file: &written, limited, counters, replies: &replies }
                .serve()
                .unwrap_err()
        });
        datagrams.iter().for_each(|datagram| assert_eq!(ours.send(datagram).unwrap(), datagram.len()));
        ours.send(&mark(0)).unwrap();
        assert_eq!(nix::unistd::read(&answer, &mut [0; 8]), Ok(1), "it says that all is done");
        ours.send(b"no priority").unwrap();
        daemon.join().unwrap()
    });
    let mut text = String::new();
    std::io::Seek::rewind(&mut file).unwrap();
    file.read_to_string(&mut text).unwrap();
    let counts =
        [&counters.received, &counters.limited, &counters.written].map(|c| c.load(Ordering::Relaxed));
    (text, counts, ended)
}

#[test]
fn the_daemon_writes_a_line_for_each_message_without_its_priority() {
    let (text, counts, ended) = served(false, &[b"<13>Oct 11 22:14:15 here x: one", b"<0>two", b"<191>"]);
    assert_eq!(text, "Oct 11 22:14:15 here x: one\ntwo\n\n");
    assert_eq!(counts, [4, 0, 3], "the last came but is none");
    assert_eq!(ended.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_limited_daemon_counts_what_it_drops() {
    let many = vec![&b"<13>line"[..]; 5_000];
    let (text, [received, limited, written], _) = served(true, &many);
    assert_eq!((received, limited + written), (5_001, 5_000));
    assert_eq!(text.lines().count() as u64, written);
    assert!(written >= daemon::LIMIT_LINES.min(limited), "{written} of {received}");
}
