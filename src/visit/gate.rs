//! The gate at which workers that wait for each other meet before the clock is read, so that they
//! begin together: a batch of a few hundred operations could otherwise be over in one worker before
//! it begins in the next, and would show a lock without its rivals.

use crate::sys::memory::SharedPair;
use std::hint::spin_loop;
use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

/// Looks at the gate this often before the CPU is offered to another worker, which may have to come yet.
const LOOKS_A_TURN: u32 = 200;

/// A barrier in memory that all workers share.
pub struct Gate {
    /// How many have come, and how often the gate was opened.
    shared: SharedPair<AtomicU32, AtomicU32>,
    workers: u32,
}

impl Gate {
    /// A gate for that many workers; none of them waits where they do not wait for each other anyway.
    ///
    /// # Errors
    /// mmap(2).
    pub fn new(workers: usize) -> io::Result<Gate> {
        let build = |place: &mut std::mem::MaybeUninit<AtomicU32>| {
            place.write(AtomicU32::new(0));
            Ok(())
        };
        let workers = u32::try_from(workers).map_err(|_| io::ErrorKind::InvalidInput)?;
        Ok(Gate { shared: SharedPair::build(build, AtomicU32::new(0))?, workers })
    }

    /// Waits until all workers have come. Where one never does, the coordinator ends the visit.
    pub fn pass(&self) {
        let (come, opened) = (self.shared.first(), self.shared.second());
        let before = opened.load(Ordering::Acquire);
        if come.fetch_add(1, Ordering::AcqRel) + 1 >= self.workers {
            come.store(0, Ordering::Relaxed);
            opened.store(before.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut looks = 0;
        while opened.load(Ordering::Acquire) == before {
            looks += 1;
            if looks % LOOKS_A_TURN == 0 {
                std::thread::yield_now();
            } else {
                spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    #[test]
    fn nobody_passes_before_all_have_come_time_after_time() {
        const WORKERS: usize = 5;
        const TIMES: usize = 200;
        let gate = Gate::new(WORKERS).unwrap();
        let come = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    for time in 1..=TIMES {
                        come.fetch_add(1, Ordering::SeqCst);
                        gate.pass();
                        assert!(come.load(Ordering::SeqCst) >= time * WORKERS);
                    }
                });
            }
        });
        assert_eq!(come.load(Ordering::SeqCst), WORKERS * TIMES);
    }
}
