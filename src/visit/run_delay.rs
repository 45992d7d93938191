//! How long a thread was ready and had no CPU.

use std::fs::File;
use std::os::unix::fs::FileExt;

/// The longest text of the file: three numbers of 64 bits.
const MOST_BYTES: usize = 64;

/// The kernel's account of the thread that opened it. proc_pid_schedstat(5), and Documentation/scheduler/sched-stats.rst
/// of the kernel.
pub struct RunDelay(Option<File>);

impl RunDelay {
    /// That of the calling thread. Opened when the worker has all descriptors that its cell asks for by number.
    pub fn of_this_thread() -> RunDelay {
        RunDelay(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Nanoseconds that the thread has waited for a CPU so far; `None` where the kernel does not tell.
    pub fn ns(&self) -> Option<u64> {
        let mut text = [0; MOST_BYTES];
        let got = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        second_number(std::str::from_utf8(&text[..got]).ok()?)
    }
}

/// Time on a CPU, time in wait of one, and how often it got one.
fn second_number(text: &str) -> Option<u64> {
    text.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::clock::thread_cpu_ns;
    use crate::sys::affinity::{allowed_cpus, pin};
    use std::time::{Duration, Instant};

    /// Many turns of a scheduler.
    const SPUN: Duration = Duration::from_millis(100);

    #[test]
    fn the_second_number_is_the_delay() {
        assert_eq!(second_number("1457716 17859 2\n"), Some(17859));
        assert_eq!(second_number("1457716"), None);
        assert_eq!(second_number("0 x 2"), None);
    }

    #[test]
    fn two_threads_that_want_one_cpu_wait_for_it() {
        if RunDelay::of_this_thread().ns().is_none() {
            eprintln!("not tested: this kernel has no /proc/thread-self/schedstat");
            return;
        }
        let cpu = allowed_cpus().unwrap()[0];
        // What a thread got of the CPU, how long it waited, and how long both took, in nanoseconds.
        let spun = || {
            pin(cpu).unwrap();
            let (delay, begin, begin_cpu) = (RunDelay::of_this_thread(), Instant::now(), thread_cpu_ns());
            let before = delay.ns().unwrap();
            while begin.elapsed() < SPUN {
                std::hint::spin_loop();
            }
            (thread_cpu_ns() - begin_cpu, delay.ns().unwrap() - before, begin.elapsed().as_nanos() as u64)
        };
        let both = std::thread::scope(|scope| {
            let both = [scope.spawn(spun), scope.spawn(spun)];
            both.map(|thread| thread.join().unwrap())
        });
        for (ran, waited, took) in both {
            // A thread that never sleeps runs or waits. A host that takes the CPU away makes either longer, so nothing is exact.
            assert!(waited > took / 10, "it shared the CPU: {both:?}");
            assert!(ran + waited > took / 2 && ran + waited < took * 2, "{both:?}");
        }
    }
}
