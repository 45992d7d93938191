//! Work on all CPUs, whose results come in the order of what it was done to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// What comes of each item, in their order, on as many threads as the process has CPUs: each takes the next item that nobody
/// has taken. They have ended when this returns.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let share = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else { break };
            let one = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
        }
    };
    // A single item is not worth the look at how many CPUs there are.
    let most = if items.len() > 1 { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    std::thread::scope(|scope| {
        for _ in 1..most.min(items.len()) {
            scope.spawn(share);
        }
        share();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::each;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for items in [0, 1, 2, 1000] {
            let items: Vec<usize> = (0..items).collect();
            let made = each(&items, |item| {
                // Earlier items take longer.
                (0..(1000 - item) * 20).fold(*item, |sum, more| std::hint::black_box(sum ^ more));
                item * 3
            });
            assert_eq!(made, items.iter().map(|item| item * 3).collect::<Vec<_>>());
        }
    }
}
