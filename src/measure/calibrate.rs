//! How many operations make a batch of the wanted length.

/// A batch never has more operations than this, however short they seem.
const MOST_OPS: u64 = 1 << 40;
/// A batch of the chosen size is tried, and made longer by at most these factors where it turns out too
/// short: a rate seen in a short batch may not be that of a longer one.
const MOST_GROWTH: [u64; 3] = [8, 3, 2];

/// Finds the operations a worker that take about `target_ns`: 1, 2, 4, ... until a quarter of what is tried is reached, then scaled. A batch
/// of that size is then tried and corrected, because contention may set in only in longer batches. What is tried is the target, or
/// one of `parts` of it: then the last try is scaled. Never under `least`. `run` does that many operations and returns
/// the elapsed nanoseconds.
///
/// # Errors
/// The first error of `run`.
pub fn calibrate<E>(
    target_ns: u64,
    parts: u64,
    least: u64,
    mut run: impl FnMut(u64) -> Result<u64, E>,
) -> Result<u64, E> {
    let tried_ns = target_ns / parts.max(1);
    let mut ops = 1;
    let mut elapsed = run(ops)?;
    while elapsed < tried_ns / 4 && ops < MOST_OPS {
        ops *= 2;
        elapsed = run(ops)?;
    }
    for most_growth in MOST_GROWTH {
        ops = scaled(ops, tried_ns, elapsed).min(ops.saturating_mul(most_growth)).max(least);
        elapsed = run(ops)?;
        let near = (tried_ns / 3 * 2..=tried_ns / 2 * 3).contains(&elapsed);
        if near || ops == least && elapsed > tried_ns {
            break;
        }
    }
    if parts <= 1 {
        return Ok(ops);
    }
    // Nobody tries it, so it is no guess far beyond what was tried: a rate that was not met there may not hold further out.
    let most = ops.saturating_mul(parts).saturating_mul(3) / 2;
    Ok(scaled(ops, target_ns, elapsed).min(most).max(least))
}

fn scaled(ops: u64, target_ns: u64, elapsed_ns: u64) -> u64 {
    let wanted = ops as u128 * target_ns as u128 / elapsed_ns.max(1) as u128;
    u64::try_from(wanted).unwrap_or(MOST_OPS).clamp(1, MOST_OPS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn calibrated(target_ns: u64, least: u64, cost: impl Fn(u64) -> u64) -> u64 {
        calibrate(target_ns, 1, least, |ops| Ok::<_, Infallible>(cost(ops))).unwrap()
    }

    #[test]
    fn a_batch_of_even_operations_takes_the_target() {
        for op_ns in [1, 7, 1000, 300_000] {
            let ops = calibrated(5_000_000, 1, |ops| ops * op_ns + 30_000);
            let elapsed = ops * op_ns + 30_000;
            assert!((4_500_000..=5_600_000).contains(&elapsed), "{op_ns} ns: {elapsed}");
        }
    }

    #[test]
    fn an_operation_longer_than_the_target_is_done_once() {
        assert_eq!(calibrated(5_000_000, 1, |ops| ops * 80_000_000), 1);
    }

    #[test]
    fn the_least_is_kept() {
        assert_eq!(calibrated(5_000_000, 70_000, |ops| ops * 1000), 70_000);
    }

    #[test]
    fn contention_that_sets_in_late_is_corrected() {
        // Below 1,000 operations one worker is done before the other starts.
        let cost = |ops: u64| if ops < 1000 { ops * 60 } else { ops * 6000 };
        let ops = calibrated(20_000_000, 1, cost);
        assert!((13_000_000..=30_000_000).contains(&cost(ops)), "{ops}");
    }

    #[test]
    fn a_rate_that_breaks_down_in_long_batches_costs_few_of_them() {
        let tried = std::cell::RefCell::new(Vec::new());
        let ops = calibrated(20_000_000, 1, |ops| {
            tried.borrow_mut().push(ops);
            if ops > 5000 { ops * 100_000 } else { ops * 1000 }
        });
        assert!(ops <= 1200, "{ops}");
        assert!(tried.borrow().iter().filter(|ops| **ops > 5000).count() <= 2, "{tried:?}");
    }

    #[test]
    fn of_a_long_batch_a_part_is_tried_and_scaled() {
        let (target_ns, op_ns) = (240_000_000, 300);
        let spent = |parts| {
            let mut spent_ns = 0;
            let run = |ops: u64| {
                spent_ns += ops * op_ns;
                Ok::<_, Infallible>(ops * op_ns)
            };
            let ops = calibrate(target_ns, parts, 1, run).unwrap();
            assert!((ops * op_ns).abs_diff(target_ns) < target_ns / 100, "{parts}: {ops}");
            spent_ns
        };
        assert!(spent(3) * 5 < spent(1) * 2, "{} against {}", spent(3), spent(1));
        let least = calibrate(target_ns, 3, 1_000_000, |ops| Ok::<_, Infallible>(ops * op_ns)).unwrap();
        assert_eq!(least, 1_000_000, "never under the least");
    }

    #[test]
    fn what_nobody_tries_is_near_what_was_tried() {
        let target_ns = 240_000_000;
        // Contention sets in late, and then the rate goes on falling.
        let falling = |ops: u64| if ops < 1000 { ops * 60 } else { (ops as f64).powf(1.2) as u64 * 600 };
        let tried = std::cell::RefCell::new(Vec::new());
        let run = |ops: u64| {
            tried.borrow_mut().push(ops);
            Ok::<_, Infallible>(falling(ops))
        };
        let ops = calibrate(target_ns, 3, 1, run).unwrap();
        assert!((target_ns / 2..target_ns * 2).contains(&falling(ops)), "{ops}: {} ns", falling(ops));
        // Each longer batch seems ten times as fast as the one before: the corrections never come near.
        let last = std::cell::Cell::new(0);
        let ever_faster = |ops: u64| {
            last.set(ops);
            Ok::<_, Infallible>(if ops < 1000 { ops * 30_000 } else { 1_000_000 })
        };
        let ops = calibrate(target_ns, 3, 1, ever_faster).unwrap();
        assert!(ops <= last.get() * 9 / 2, "{ops} after {}", last.get());
    }

    #[test]
    fn an_error_ends_it() {
        let result = calibrate(1000, 1, 1, |ops| if ops < 4 { Ok(1) } else { Err(ops) });
        assert_eq!(result, Err(4));
    }
}
