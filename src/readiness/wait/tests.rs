//! A worker whose descriptors are taken away.

use super::*;
use crate::cell::{Measure, Value};
use crate::readiness::{EpollOneshot, Poll, Select};

fn waiter<R: Readiness>(descriptors: u64, ready: &str) -> Waiter<R> {
    let cell = Cell::new(Measure::Wait, R::NAME)
        .with(Axis::Descriptors, Value::Count(descriptors))
        .with(Axis::Ready, Value::word(ready))
        .with(Axis::File, Value::word("eventfd"))
        .with(Axis::Call, Value::word("many"));
    Waiter::enter(Plan::of(&cell).unwrap()).unwrap()
}

/// A batch as a worker makes it.
fn batch<R: Readiness>(waiter: &mut Waiter<R>) -> io::Result<()> {
    waiter.run(20)?;
    waiter.twin(20)?;
    waiter.after_batch()
}

#[test]
fn a_descriptor_that_is_closed_in_between_fails_the_batch() {
    let mut all = waiter::<EpollOneshot>(9, "all");
    batch(&mut all).unwrap();
    drop(all.watched.remove(4));
    assert!(batch(&mut all).unwrap_err().to_string().contains("told of 8 descriptors, 9 are ready"));

    let mut last = waiter::<Poll>(9, "last");
    batch(&mut last).unwrap();
    drop(last.watched.remove(0));
    let error = batch(&mut last).unwrap_err().to_string();
    assert!(error.contains("told of 2 descriptors, 1 are ready"), "poll tells of a closed one: {error}");

    let mut first = waiter::<Select>(9, "first");
    batch(&mut first).unwrap();
    drop(first.watched.pop());
    assert_eq!(batch(&mut first).unwrap_err().raw_os_error(), Some(nix::libc::EBADF));
}

#[test]
fn one_that_is_not_ready_fails_the_batch_though_the_count_is_right() {
    let mut all = waiter::<Poll>(3, "all");
    all.watched[1].empty().unwrap();
    all.expected = 2;
    all.run(1).unwrap();
    let error = all.after_batch().unwrap_err().to_string();
    assert!(error.contains("told of 2 descriptors, not of descriptor "), "{error}");
}

#[test]
fn every_place_is_drawn_and_none_beyond() {
    let mut waiter = waiter::<Poll>(7, "random");
    let mut drawn = [0; 7];
    for _ in 0..700 {
        drawn[waiter.draw()] += 1;
    }
    assert!(drawn.iter().all(|times| *times > 50), "{drawn:?}");
}
