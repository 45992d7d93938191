//! An error that is raised some calls deep and handled above: handed up by each call, or by unwinding the stack.
//!
//! Between who handles and who raises are `depth` calls of a function that is not inlined. They have nothing to drop, so
//! unwinding finds no landing pad in them.

use super::Operation;
use super::frames::{descend, hand_up};
use crate::cell::Axis;
use crate::workload::mismatch;
use std::any::Any;
use std::hint::black_box;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook};

const DEPTH: &[(Axis, &str)] = &[(Axis::Depth, "1")];

/// What a panic says.
macro_rules! said {
    () => {
        "raised on purpose"
    };
}

#[inline(never)]
fn fail(value: u64) -> Result<u64, u64> {
    Err(value)
}

#[inline(never)]
fn panic_with_text(_value: u64) -> u64 {
    panic!(said!())
}

#[inline(never)]
fn unwind_with(value: u64) -> u64 {
    resume_unwind(Box::new(value))
}

/// What a thread raises: another value each time, by a function that the compiler cannot know.
struct Raise<F> {
    depth: u64,
    raise: F,
    value: u64,
}

impl<F: Copy> Raise<F> {
    fn new(depth: u64, raise: F) -> Raise<F> {
        Raise { depth: black_box(depth.max(1)), raise: black_box(raise), value: 0 }
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        self.value = self.value.wrapping_add(1);
        self.value
    }
}

#[cold]
fn not_caught(name: &str, value: u64) -> io::Error {
    mismatch(format!("{name}: what was caught is not what was raised ({value})"))
}

/// The value of a function that says whether it could.
pub struct ResultError(Raise<fn(u64) -> Result<u64, u64>>);

impl Operation for ResultError {
    const NAME: &'static str = "result_error";
    const SUMMARY: &'static str = "Err handed up by `?` through `depth` calls, std::result";
    const EXTRA_AXES: &'static [(Axis, &'static str)] = DEPTH;
    const ROUGH_NS: u64 = 2;

    fn enter(depth: u64) -> io::Result<ResultError> {
        Ok(ResultError(Raise::new(depth, fail)))
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        let value = self.0.next();
        match hand_up(self.0.depth, self.0.raise, value) {
            Err(found) if found == value => Ok(()),
            _ => Err(not_caught(Self::NAME, value)),
        }
    }
}

/// A panic.
pub struct PanicCatch(Raise<fn(u64) -> u64>);

impl PanicCatch {
    fn new(depth: u64) -> PanicCatch {
        PanicCatch(Raise::new(depth, panic_with_text))
    }
}

impl Operation for PanicCatch {
    const NAME: &'static str = "panic_catch";
    const SUMMARY: &'static str =
        "panic! in `depth` calls, caught by std::panic::catch_unwind, with a hook that is silent";
    const EXTRA_AXES: &'static [(Axis, &'static str)] = DEPTH;
    const ROUGH_NS: u64 = 150;

    /// Silences the hook of the process, which would print each panic.
    fn enter(depth: u64) -> io::Result<PanicCatch> {
        set_hook(Box::new(|_| {}));
        Ok(PanicCatch::new(depth))
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        let value = self.0.next();
        match caught(&self.0, value) {
            Some(panic) if panic.downcast_ref::<&str>() == Some(&said!()) => Ok(()),
            _ => Err(not_caught(Self::NAME, value)),
        }
    }
}

/// What came up; nothing where the calls returned.
#[inline(always)]
fn caught(of: &Raise<fn(u64) -> u64>, value: u64) -> Option<Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(|| descend(of.depth, of.raise, value))).err()
}

/// Unwinding alone.
pub struct ResumeUnwind(Raise<fn(u64) -> u64>);

impl Operation for ResumeUnwind {
    const NAME: &'static str = "resume_unwind";
    const SUMMARY: &'static str =
        "std::panic::resume_unwind in `depth` calls, caught by std::panic::catch_unwind: no hook";
    const EXTRA_AXES: &'static [(Axis, &'static str)] = DEPTH;
    const ROUGH_NS: u64 = 150;

    fn enter(depth: u64) -> io::Result<ResumeUnwind> {
        Ok(ResumeUnwind(Raise::new(depth, unwind_with)))
    }

    #[inline(always)]
    fn once(&mut self) -> io::Result<()> {
        let value = self.0.next();
        match caught(&self.0, value) {
            Some(thrown) if thrown.downcast_ref::<u64>() == Some(&value) => Ok(()),
            _ => Err(not_caught(Self::NAME, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised<O: Operation>(mut operation: O) {
        (0..20).for_each(|_| operation.once().unwrap());
    }

    #[test]
    fn what_is_raised_is_caught_at_every_depth() {
        for depth in [1, 2, 10, 100] {
            raised(ResultError::enter(depth).unwrap());
            // Its `enter` would silence the other tests of this process.
            raised(PanicCatch::new(depth));
            raised(ResumeUnwind::enter(depth).unwrap());
        }
    }

    #[test]
    fn what_is_not_raised_is_told() {
        let mut result = ResultError::enter(3).unwrap();
        result.0.raise = |value| Err(value + 1);
        let error = result.once().unwrap_err().to_string();
        assert_eq!(error, "result_error: what was caught is not what was raised (1)");
        result.0.raise = Ok;
        assert!(result.once().is_err());
        let mut other = ResumeUnwind::enter(3).unwrap();
        other.0.raise = |value| resume_unwind(Box::new(value + 1));
        assert!(other.once().is_err());
        let mut none = PanicCatch::new(3);
        none.0.raise = |value| value;
        assert!(none.once().is_err());
        none.0.raise = |_| resume_unwind(Box::new("something else"));
        assert!(none.once().is_err());
    }

    #[test]
    fn there_are_as_many_calls_as_asked_for() {
        for depth in [1, 2, 10] {
            assert_eq!(descend(depth, |value| value, 5), 5 + depth, "each adds one");
            assert_eq!(hand_up(depth, Ok, 5), Ok(5 + depth));
        }
    }
}
