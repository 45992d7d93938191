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
    use crate::sys::affinity::{allowed_cpus, pin};

    #[test]
    fn the_second_number_is_the_delay() {
        assert_eq!(second_number("1457716 17859 2\n"), Some(17859));
        assert_eq!(second_number("1457716"), None);
        assert_eq!(second_number("0 x 2"), None);
    }

    #[test]
    fn two_threads_that_want_one_cpu_wait_for_it() {
        let Some(before) = RunDelay::of_this_thread().ns() else { return };
        let cpu = allowed_cpus().unwrap()[0];
        let waited_ns = || {
            pin(cpu).unwrap();
            let delay = RunDelay::of_this_thread();
            // Both are ready until both have waited, and whoever is ready without the CPU waits.
            while delay.ns().unwrap() < 1_000_000 {
                std::hint::spin_loop();
            }
            delay.ns().unwrap()
        };
        let delays = std::thread::scope(|scope| {
            let both = [scope.spawn(waited_ns), scope.spawn(waited_ns)];
            both.map(|thread| thread.join().unwrap())
        });
        assert!(delays.iter().all(|delay| *delay >= 1_000_000), "{delays:?} {before}");
    }
}
