//! Work on all CPUs, whose results come in the order of what it was done to.

use std::sync::{Mutex, PoisonError};

/// What comes of each item, in their order, on as many threads as the process has CPUs: whoever is done with one takes the
/// next, and makes it.
pub fn each<T, R: Send>(items: impl Iterator<Item = T> + Send, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let most = items.size_hint().1.unwrap_or(usize::MAX);
    let items = Mutex::new(items.enumerate());
    let done = Mutex::new(Vec::new());
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let share = || {
        while let Some((at, item)) = next() {
            let one = work(item);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((at, one));
        }
    };
    // A single item is not worth the look at how many CPUs there are.
    let cpus = if most > 1 { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 };
    std::thread::scope(|scope| {
        for _ in 1..cpus.min(most) {
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
            let made = each(items.iter(), |item| {
                // Earlier items take longer.
                (0..(1000 - item) * 20).fold(*item, |sum, more| std::hint::black_box(sum ^ more));
                item * 3
            });
            assert_eq!(made, items.iter().map(|item| item * 3).collect::<Vec<_>>());
        }
    }
}
