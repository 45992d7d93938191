//! What disturbs the visits of a run: looks at the machine before and after each, and the quiet gate between them.

use super::machine::{Look, Machine};
use super::signals::Caught;
use crate::measure::clock::Clock;
use crate::record::Noise;
use std::collections::VecDeque;

/// The kernel counts CPU time in steps of 10 ms, so a share is over this at least.
const LEAST_WINDOW_NS: u64 = 1_000_000_000;

/// The foreign share of the CPUs from which on the gate waits.
const FOREIGN_LIMIT: f64 = 0.05;
/// A sleep of the gate.
const REST_MS: u64 = 50;
/// Sleeps before it judges: over less a single step of the counters is over the limit.
const LEAST_RESTS: u64 = 2;
/// It waits no longer than so many sleeps at a time.
const MOST_RESTS: u64 = 4;
/// The longest wait at a time, in nanoseconds.
pub(super) const LONGEST_WAIT_NS: u64 = MOST_RESTS * REST_MS * 1_000_000;
/// The part of the budget that all waits may take together: one in so many.
const BUDGET_PART: u64 = 4;
/// After a wait that did not help the gate stands open for so many visits, after another for twice as many, and so on.
const FIRST_OPEN_VISITS: u32 = 8;
const MOST_OPEN_VISITS: u32 = 64;

/// A look, and when it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    at_ns: u64,
    look: Look,
}

/// Watches the machine during a run.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// Looks in order; the first is the latest that is old enough to begin a window, where there is one.
    seen: VecDeque<Seen>,
    /// Foreign share of the CPUs over the last window.
    foreign_share: Option<f64>,
    /// All waits together.
    waited_ns: u64,
    /// When the last one ended.
    waited_until_ns: u64,
    /// Visits before which the gate stands open.
    open_visits: u32,
    /// How many were opened by the last wait that did not help.
    last_open_visits: u32,
}

impl Watch {
    /// Goes on with a run that has waited for so long.
    pub fn after_waits(waited_ns: u64) -> Watch {
        Watch { waited_ns, ..Watch::default() }
    }

    /// Looks at the machine, where it tells something.
    pub fn look(&mut self, machine: &mut dyn Machine, clock: &dyn Clock) -> Option<Seen> {
        let seen = Seen { look: machine.look()?, at_ns: clock.now_ns() };
        self.seen.push_back(seen);
        while self.seen.get(1).is_some_and(|next| seen.at_ns - next.at_ns >= LEAST_WINDOW_NS) {
            self.seen.pop_front();
        }
        Some(seen)
    }

    /// What disturbed the visit that began with that look and has just ended.
    pub fn noise(&mut self, before: Option<Seen>, machine: &mut dyn Machine, clock: &dyn Clock) -> Noise {
        let after = self.look(machine, clock);
        let (Some(before), Some(after)) = (before, after) else { return Noise::default() };
        let window = self.seen.front().filter(|first| after.at_ns - first.at_ns >= LEAST_WINDOW_NS);
        self.foreign_share = window.and_then(|first| foreign_share(first, &after));
        Noise {
            foreign_share: self.foreign_share,
            steal_share: window.and_then(|first| steal_share(first, &after)),
            pressure_share: pressure_share(&before, &after),
            throttled: increase(&before, &after, |look| look.counters.throttled),
            ..Noise::default()
        }
    }

    /// The quiet gate, before each visit: where others used much of the CPUs it waits until they do not, for a moment, and
    /// only where the run has so much time to spare. Nanoseconds that it waited.
    ///
    /// # Errors
    /// The signal that came meanwhile.
    pub fn quiet(
        &mut self,
        machine: &mut dyn Machine,
        clock: &dyn Clock,
        budget_ns: u64,
        to_spare: bool,
    ) -> Result<Option<u64>, Caught> {
        if !self.closed(budget_ns) || !to_spare {
            return Ok(None);
        }
        let Some(begin) = self.look(machine, clock) else { return Ok(None) };
        let mut quiet = false;
        for rests in 1..=MOST_RESTS {
            machine.rest(REST_MS)?;
            let now = self.look(machine, clock);
            let share = now.and_then(|now| foreign_share(&begin, &now));
            quiet = rests >= LEAST_RESTS && share.is_some_and(|share| share < FOREIGN_LIMIT);
            if quiet {
                break;
            }
        }
        self.waited_until_ns = clock.now_ns();
        let waited_ns = self.waited_until_ns - begin.at_ns;
        self.waited_ns += waited_ns;
        self.last_open_visits = match quiet {
            true => 0,
            false => (2 * self.last_open_visits).clamp(FIRST_OPEN_VISITS, MOST_OPEN_VISITS),
        };
        self.open_visits = self.last_open_visits;
        Ok(Some(waited_ns))
    }

    /// Whether the gate is closed: others used much of the CPUs in a window that no wait was in, the last waits were not in
    /// vain, and there may be more of them.
    fn closed(&mut self, budget_ns: u64) -> bool {
        let fresh = self.seen.front().is_some_and(|first| first.at_ns >= self.waited_until_ns);
        if !fresh || self.foreign_share.is_none_or(|share| share <= FOREIGN_LIMIT) {
            return false;
        }
        if self.open_visits > 0 {
            self.open_visits -= 1;
            return false;
        }
        self.waited_ns + LONGEST_WAIT_NS <= budget_ns / BUDGET_PART
    }
}

/// Increase of a counter, where both looks have it.
fn increase(from: &Seen, to: &Seen, of: impl Fn(&Look) -> Option<u64>) -> Option<u64> {
    Some(of(&to.look)?.saturating_sub(of(&from.look)?))
}

/// A part of the time between two looks, of so many CPUs. The counters are not read at one moment, so it can be a little
/// more than all of it.
fn share(part_ns: u64, from: &Seen, to: &Seen, cpus: u64) -> Option<f64> {
    let whole_ns = (to.at_ns - from.at_ns) * cpus;
    (whole_ns > 0).then(|| (part_ns as f64 / whole_ns as f64).min(1.0))
}

/// CPUs that both looks count, where they count the same.
fn cpus(from: &Seen, to: &Seen) -> Option<u64> {
    let of = |seen: &Seen| seen.look.counters.cpus.map(|time| time.cpus);
    of(from).filter(|cpus| of(to) == Some(*cpus))
}

fn foreign_share(from: &Seen, to: &Seen) -> Option<f64> {
    let busy_ns = increase(from, to, |look| look.counters.cpus.map(|time| time.busy_ns))?;
    let own_ns = increase(from, to, |look| Some(look.own_cpu_ns))?;
    share(busy_ns.saturating_sub(own_ns), from, to, cpus(from, to)?)
}

fn steal_share(from: &Seen, to: &Seen) -> Option<f64> {
    let steal_ns = increase(from, to, |look| look.counters.cpus.map(|time| time.steal_ns))?;
    share(steal_ns, from, to, cpus(from, to)?)
}

fn pressure_share(from: &Seen, to: &Seen) -> Option<f64> {
    share(1000 * increase(from, to, |look| look.counters.pressure_us)?, from, to, 1)
}

#[cfg(test)]
pub(super) mod tests;
