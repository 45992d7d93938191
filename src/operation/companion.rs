//! The second thread of a worker's process: parked, or repeating the same operation on another CPU.

use super::Operation;
use crate::measure::clock::monotonic_ns;
use crate::sys::affinity;
use crate::sys::memory::Line;
use nix::unistd::{Pid, gettid};
use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

/// No operation takes so long, and who loses a CPU to another program loses it for longer.
const SOON_NS: u64 = 1_000_000;

/// The second thread checks its operations, and looks whether it is to end, after each that many: more often would be
/// most of what it does where the operation is a load.
const CHECKED: u64 = 64;

/// What worker and second thread share.
struct Shared {
    /// Operations that the second thread has done; all but the last few were checked.
    done: Line<AtomicU64>,
    ends: AtomicBool,
}

/// A second thread. It ends with its owner.
pub struct Companion {
    shared: Arc<Shared>,
    /// `None` once it was joined.
    thread: Option<JoinHandle<io::Result<()>>>,
    works: bool,
}

impl Companion {
    /// Starts one that is parked, and waits until it sleeps in the kernel. std::thread::park.
    ///
    /// # Errors
    /// pthread_create(3), or proc(5), where its state is read.
    pub fn parked() -> io::Result<Companion> {
        let (tell, told) = mpsc::channel();
        let companion = Companion::start(false, move |shared| {
            // Where nobody listens any more the owner is gone, and wants the thread to end.
            let _ = tell.send(gettid());
            while !shared.ends.load(Ordering::Acquire) {
                thread::park();
            }
            Ok(())
        })?;
        let thread = told.recv().map_err(io::Error::other)?;
        while !is_asleep(thread)? {
            thread::yield_now();
        }
        Ok(companion)
    }

    /// Starts one that repeats the operation on that CPU, and waits until it does.
    ///
    /// # Errors
    /// pthread_create(3), sched_setaffinity(2), or what the operation has.
    pub fn working<O: Operation>(cpu: usize, depth: u64) -> io::Result<Companion> {
        let mut companion = Companion::start(true, move |shared| {
            affinity::pin(cpu)?;
            let mut operation = O::enter(depth)?;
            let mut done = 0;
            while !shared.ends.load(Ordering::Relaxed) {
                for _ in 0..CHECKED {
                    operation.once()?;
                    done += 1;
                    // No other thread counts, so nothing need be locked for it.
                    shared.done.0.store(done, Ordering::Relaxed);
                }
                operation.check(CHECKED)?;
            }
            Ok(())
        })?;
        companion.has_worked_since(0)?;
        Ok(companion)
    }

    fn start(
        works: bool,
        run: impl FnOnce(&Shared) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Companion> {
        let shared = Arc::new(Shared { done: Line(AtomicU64::new(0)), ends: AtomicBool::new(false) });
        let theirs = Arc::clone(&shared);
        let thread = thread::Builder::new().name("second".into()).spawn(move || run(&theirs))?;
        Ok(Companion { shared, thread: Some(thread), works })
    }

    /// Operations that it has done, where it works.
    #[inline]
    pub fn done(&self) -> Option<u64> {
        self.works.then(|| self.shared.done.0.load(Ordering::Relaxed))
    }

    /// Waits until it has done more than that, where it works; for as long as the visit lasts. It has a CPU of its own, so
    /// it is seen as soon as it has.
    fn has_worked_since(&mut self, done: u64) -> io::Result<()> {
        while self.done().is_some_and(|now| now <= done) {
            // It may have worked and ended since the line above.
            let over = self.thread.as_ref().is_none_or(JoinHandle::is_finished);
            if over && self.done().is_some_and(|now| now <= done) {
                return Err(self.ended());
            }
            spin_loop();
        }
        Ok(())
    }

    /// Waits until it is at work, where it works: it is seen to go on several times, one soon after the other. Else the
    /// caller, or that thread, has lost its CPU in between, and may have come late.
    ///
    /// # Errors
    /// What ended it.
    pub fn is_at_work(&mut self) -> io::Result<()> {
        const TIMES: usize = 3;
        let mut seen = 0;
        while self.works && seen < TIMES {
            let begin_ns = monotonic_ns();
            self.has_worked_since(self.done().unwrap_or(0))?;
            let soon = monotonic_ns() - begin_ns < SOON_NS;
            seen = if soon { seen + 1 } else { 0 };
        }
        Ok(())
    }

    /// Why it has ended, which it should not.
    #[cold]
    fn ended(&mut self) -> io::Error {
        let why = match self.thread.take().map(JoinHandle::join) {
            Some(Ok(Err(error))) => error.to_string(),
            Some(Ok(Ok(()))) | None => "nobody told it to".into(),
            Some(Err(_)) => "it panicked".into(),
        };
        io::Error::other(format!("the second thread ended: {why}"))
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // What it says now comes too late for any batch.
            let _ = thread.join();
        }
    }
}

/// Whether a thread of this process sleeps. proc(5), /proc/pid/task/tid/stat: the state stands behind the name.
fn is_asleep(thread: Pid) -> io::Result<bool> {
    let stat = std::fs::read_to_string(format!("/proc/self/task/{thread}/stat"))?;
    Ok(stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('S')))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::mismatch;

    /// Counts for ever, or until it fails.
    struct Counts(u64);

    impl Operation for Counts {
        const NAME: &'static str = "counts";
        const SUMMARY: &'static str = "an operation of the tests";

        fn enter(most: u64) -> io::Result<Counts> {
            Ok(Counts(most))
        }

        fn once(&mut self) -> io::Result<()> {
            self.0 = self.0.checked_sub(1).ok_or_else(|| mismatch("it is counted out".into()))?;
            Ok(())
        }
    }

    fn cpu() -> usize {
        affinity::allowed_cpus().unwrap()[0]
    }

    #[test]
    fn one_that_works_goes_on_until_its_owner_goes() {
        let mut companion = Companion::working::<Counts>(cpu(), u64::MAX).unwrap();
        for _ in 0..3 {
            let before = companion.done().unwrap();
            companion.is_at_work().unwrap();
            assert!(companion.done().unwrap() >= before + 3);
        }
        let shared = Arc::clone(&companion.shared);
        drop(companion);
        assert_eq!(Arc::strong_count(&shared), 1, "the thread has ended");
    }

    #[test]
    fn one_that_fails_is_told_and_not_awaited_for_ever() {
        let mut companion = Companion::working::<Counts>(cpu(), 10).unwrap();
        let error = companion.has_worked_since(10).unwrap_err().to_string();
        assert_eq!(error, "the second thread ended: it is counted out");
        let Err(error) = Companion::working::<Counts>(cpu(), 0) else { panic!("it cannot have worked") };
        assert_eq!(error.to_string(), "the second thread ended: it is counted out");
    }

    #[test]
    fn one_that_is_parked_has_nothing_to_count() {
        let mut companion = Companion::parked().unwrap();
        assert_eq!(companion.done(), None);
        companion.is_at_work().unwrap();
        let shared = Arc::clone(&companion.shared);
        drop(companion);
        assert_eq!(Arc::strong_count(&shared), 1, "the thread has ended");
    }
}
