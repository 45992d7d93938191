//! Every lock between the threads of one process, and the two that are none.

use super::*;
use crate::cell::Value;
use crate::sys::memory::SharedPair;
use crate::workload::{Batch, Workload};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const WORKERS: usize = 4;
const OPS: u64 = 20_000;

fn cell(mechanism: &str, workers: usize) -> Cell {
    Cell::new(Measure::Increment, mechanism).with(Axis::Workers, Value::Count(workers as u64))
}

fn increment_at_once(workload: &dyn Workload) {
    let begin = Barrier::new(workload.workers());
    thread::scope(|scope| {
        for worker in 0..workload.workers() {
            let begin = &begin;
            scope.spawn(move || {
                let mut body = workload.enter(worker).unwrap();
                begin.wait();
                body.run(OPS).unwrap();
            });
        }
    });
}

fn after(total_ops: u64) -> Batch<'static> {
    Batch { ops: OPS, total_ops, tallies: &[] }
}

/// Those that serve threads and are not made in a namespace or under a name, which a test of many threads
/// could not enter or announce.
fn for_threads(driver: &&Driver) -> bool {
    let named = driver.mechanism == "posix_semaphore_named";
    driver.reach != Reach::Processes && !driver.private_ipc && !named
}

#[test]
fn no_update_is_lost_between_threads_and_one_missing_is_noticed() {
    for driver in DRIVERS.iter().filter(for_threads) {
        let workload = (driver.open)(&[cell(driver.mechanism, WORKERS)]).unwrap();
        increment_at_once(workload.as_ref());
        increment_at_once(workload.as_ref());
        workload.verify(&after(2 * OPS)).unwrap_or_else(|error| panic!("{}: {error}", driver.mechanism));
        let unguarded = driver.mechanism == "no_lock";
        assert_eq!(workload.verify(&after(2 * OPS + 1)).is_err(), !unguarded, "{}", driver.mechanism);
        assert_eq!(workload.lost_updates(2 * OPS).is_some(), unguarded, "{}", driver.mechanism);
    }
}

#[test]
fn what_no_lock_loses_is_what_is_missing_from_the_counter() {
    let workload = Increment::<no_lock::NoLock>::open(&cell("no_lock", 2)).unwrap();
    workload.enter(0).unwrap().run(70).unwrap();
    assert_eq!(workload.lost_updates(50), Some(30), "2 x 50 were due, 70 arrived");
}

/// Runs batches in a second thread until this one has seen the counter in the midst of one.
fn counter_moves_by_steps<L: Lock>() {
    const BATCH: u64 = 1_000_000;
    let workload = Increment::<L>::open(&cell(L::NAME, 1)).unwrap();
    let (counter, seen) = (workload.counter(), AtomicBool::new(false));
    thread::scope(|scope| {
        let batches = scope.spawn(|| {
            let mut body = workload.enter(0).unwrap();
            (1..=1_000u64).find(|_| {
                body.run(BATCH).unwrap();
                seen.load(Ordering::Relaxed)
            })
        });
        while !batches.is_finished() {
            if counter.load(Ordering::Relaxed) % BATCH != 0 {
                seen.store(true, Ordering::Relaxed);
            }
        }
    });
    assert!(seen.into_inner(), "{}: the increments of a batch were made into one addition", L::NAME);
}

#[test]
fn a_batch_without_a_lock_is_not_folded_into_one_addition() {
    counter_moves_by_steps::<no_lock::NoLock>();
    counter_moves_by_steps::<atomic_add::AtomicAdd>();
}

/// The most workers that were inside at once, where each gives the CPU away while it is.
fn most_inside<L: Lock>() -> usize {
    const TIMES: usize = 50;
    let shared = SharedPair::build(L::init, AtomicUsize::new(0)).unwrap();
    let (lock, inside) = (shared.first(), shared.second());
    let most = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                let own_handle = lock.own_handle().unwrap();
                let lock = own_handle.as_ref().unwrap_or(lock);
                let visit = || {
                    most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                };
                (0..TIMES).for_each(|_| lock.hold(visit).unwrap());
            });
        }
    });
    most.into_inner()
}

#[test]
fn one_thread_is_inside_at_a_time_and_readers_are_together() {
    let alone = [
        most_inside::<pthread_mutex::PthreadMutex>,
        most_inside::<pthread_mutex_adaptive::PthreadMutexAdaptive>,
        most_inside::<pthread_mutex_robust::PthreadMutexRobust>,
        most_inside::<pthread_mutex_pi::PthreadMutexPi>,
        most_inside::<pthread_spin::PthreadSpin>,
        most_inside::<pthread_rwlock::PthreadRwlock>,
        most_inside::<pthread_rwlock_prefer_writer::PthreadRwlockPreferWriter>,
        most_inside::<posix_semaphore::PosixSemaphore>,
        most_inside::<ofd_lock::OfdLock>,
        most_inside::<flock::Flock>,
        most_inside::<futex_mutex::FutexMutex>,
        most_inside::<parking_lot_mutex::ParkingLotMutex>,
        most_inside::<parking_lot_fair_mutex::ParkingLotFairMutex>,
        most_inside::<parking_lot_rwlock::ParkingLotRwlock>,
        most_inside::<std_mutex::StdMutex>,
        most_inside::<std_rwlock::StdRwlock>,
    ];
    for (position, most_inside) in alone.iter().enumerate() {
        assert_eq!(most_inside(), 1, "the lock at position {position}");
    }
    assert!(most_inside::<pthread_rwlock_read::PthreadRwlockRead>() > 1);
}
