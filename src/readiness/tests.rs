//! Every mechanism keeps the promises of the trait.

use super::*;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::os::fd::{AsFd, AsRawFd};

const MANY: usize = 70;

fn counters() -> Vec<EventFd> {
    let counter = || EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK).unwrap();
    (0..MANY).map(|_| counter()).collect()
}

/// What one look tells, in ascending order, after a check that both ways to ask say the same.
fn look<R: Readiness>(readiness: &mut R, all: &[EventFd]) -> Vec<usize> {
    let count = readiness.wait(Patience::None).unwrap();
    let mut ready = vec![-1];
    readiness.ready(&mut ready);
    assert_eq!(ready.len(), count, "{}", R::NAME);
    let position = |descriptor: &RawFd| all.iter().position(|one| one.as_raw_fd() == *descriptor).unwrap();
    let mut told: Vec<usize> = ready.iter().map(position).collect();
    told.sort_unstable();
    let asked: Vec<usize> =
        (0..all.len()).filter(|index| readiness.is_ready(all[*index].as_raw_fd())).collect();
    assert_eq!(told, asked, "{}", R::NAME);
    told
}

fn tells_who_is_ready<R: Readiness>() {
    if R::present().is_err() {
        return;
    }
    let all = counters();
    let mut readiness = R::open(MANY).unwrap();
    all.iter().for_each(|one| readiness.watch(one.as_fd()).unwrap());
    assert_eq!(look(&mut readiness, &all), [0; 0], "{}: nothing has come", R::NAME);
    for some in [vec![3], vec![0, MANY - 1], (0..MANY).collect()] {
        some.iter().for_each(|index| assert_eq!(all[*index].write(1).unwrap(), 8));
        assert_eq!(look(&mut readiness, &all), some, "{}", R::NAME);
        if R::REARM == Rearm::Never {
            assert_eq!(look(&mut readiness, &all), some, "{}: as long as it is ready", R::NAME);
        } else {
            assert_eq!(look(&mut readiness, &all), [0; 0], "{}: once", R::NAME);
            some.iter().for_each(|index| readiness.rearm(all[*index].as_fd()).unwrap());
            assert_eq!(look(&mut readiness, &all), some, "{}: armed again", R::NAME);
        }
        for index in &some {
            assert_eq!(all[*index].read().unwrap(), 1);
            if R::REARM == Rearm::Always {
                readiness.rearm(all[*index].as_fd()).unwrap();
            }
        }
        assert_eq!(look(&mut readiness, &all), [0; 0], "{}: read empty", R::NAME);
    }
}

fn forgets_what_is_unwatched<R: Readiness>() {
    if R::present().is_err() {
        return;
    }
    let all = counters();
    let mut readiness = R::open(MANY).unwrap();
    all.iter().for_each(|one| readiness.watch(one.as_fd()).unwrap());
    for index in [MANY - 1, 0, 5] {
        readiness.unwatch(all[index].as_fd()).unwrap();
    }
    all.iter().for_each(|one| assert_eq!(one.write(1).unwrap(), 8));
    let left: Vec<usize> = (1..MANY - 1).filter(|index| *index != 5).collect();
    assert_eq!(look(&mut readiness, &all), left, "{}", R::NAME);
    assert_eq!(all[5].read().unwrap(), 1);
    readiness.watch(all[5].as_fd()).unwrap();
    all[5].write(1).unwrap();
    assert_eq!(readiness.wait(Patience::Milliseconds(1)).unwrap().min(1), 1, "{}", R::NAME);
    assert!(readiness.is_ready(all[5].as_raw_fd()), "{}: watched again", R::NAME);
}

macro_rules! of_every_mechanism {
    ($($test:ident),*) => {$(
        #[test]
        fn $test() {
            super::tests::$test::<Select>();
            super::tests::$test::<Pselect>();
            super::tests::$test::<Poll>();
            super::tests::$test::<Ppoll>();
            super::tests::$test::<Epoll>();
            super::tests::$test::<EpollEdge>();
            super::tests::$test::<EpollOneshot>();
            super::tests::$test::<IoUringPoll>();
        }
    )*};
}

mod every_mechanism {
    use super::*;
    of_every_mechanism!(tells_who_is_ready, forgets_what_is_unwatched);
}
