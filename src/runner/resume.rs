//! Takes up a run where its journal ends: who may, and what is left of the round that was begun.

use super::Settings;
use super::arms::Pairs;
use super::schedule::{Rounds, Schedule};
use crate::record::{End, Header, Outcome, Visit};

/// How far a run has come.
pub struct Begun {
    pub(super) schedule: Box<dyn Rounds>,
    pub(super) visits: Vec<Visit>,
    /// Nanoseconds of the budget that were spent.
    pub(super) spent_ns: u64,
    /// The round that was begun last, 0 before the first.
    pub(super) round: usize,
    /// What is left of it.
    pub(super) rest: Vec<Vec<usize>>,
    /// Whether it takes fewer samples.
    pub(super) thrifty: bool,
}

impl Begun {
    /// A run that is to begin.
    pub fn nothing(header: &Header, settings: &Settings) -> Begun {
        Begun {
            schedule: match header.arms {
                Some(_) => Box::new(Pairs::new(&header.cells, header.seed)),
                None => Box::new(Schedule::new(
                    &header.cells,
                    header.seed,
                    header.precision,
                    settings.full_rounds,
                )),
            },
            visits: Vec::new(),
            spent_ns: 0,
            round: 0,
            rest: Vec::new(),
            thrifty: false,
        }
    }

    /// A run that was begun, as its journal tells it: its visits go through the schedule once more, so that what is
    /// left is drawn as it would have been.
    ///
    /// # Errors
    /// What is wrong where the visits are not those that the seed gives.
    pub fn replay(
        header: &Header,
        settings: &Settings,
        visits: Vec<Visit>,
        end: Option<&End>,
    ) -> Result<Begun, String> {
        let mut begun = Begun::nothing(header, settings);
        let mut past = visits.as_slice();
        while !past.is_empty() {
            let before = end_ns(&visits[..visits.len() - past.len()]);
            begun.schedule.begin_round(begun.round + 1, header.budget_s, before);
            past = begun.replay_round(past)?;
        }
        begun.spent_ns = spent_ns(&visits, end);
        begun.visits = visits;
        Ok(begun)
    }

    /// Replays a round, or what there is of it; returns the visits of those after it.
    fn replay_round<'a>(&mut self, mut past: &'a [Visit]) -> Result<&'a [Visit], String> {
        let order = self.schedule.next_round();
        self.round += 1;
        if order.is_empty() {
            return Err(surplus(&past[0]));
        }
        for (place, cells) in order.iter().enumerate() {
            for (nth, cell) in cells.iter().enumerate() {
                let Some((visit, later)) = past.split_first() else {
                    self.rest = std::iter::once(&cells[nth..])
                        .chain(order[place + 1..].iter().map(Vec::as_slice))
                        .map(<[usize]>::to_vec)
                        .collect();
                    return Ok(past);
                };
                self.take(*cell, visit)?;
                past = later;
                if matches!(visit.outcome, Outcome::Failed { .. }) {
                    // A failure ends a visit of several cells: those behind have their turn in the next round.
                    break;
                }
            }
        }
        Ok(past)
    }

    fn take(&mut self, cell: usize, visit: &Visit) -> Result<(), String> {
        if (visit.cell_index, visit.round as usize) != (cell, self.round) {
            return Err(surplus(visit));
        }
        self.schedule.record(cell, &visit.outcome, visit.duration_ns);
        self.thrifty = visit.thrifty;
        Ok(())
    }
}

fn surplus(visit: &Visit) -> String {
    format!(
        "visit {} (round {}, cell {}) is not the one that the seed of the run gives: the journal was changed",
        visit.position, visit.round, visit.cell_index
    )
}

/// When the last visit ended, in nanoseconds since the run began; 0 where there is none.
pub(super) fn end_ns(visits: &[Visit]) -> u64 {
    visits.last().map_or(0, |visit| visit.begin_ns + visit.duration_ns)
}

/// Nanoseconds until the end, or until that of the last visit where a run was killed.
fn spent_ns(visits: &[Visit], end: Option<&End>) -> u64 {
    let last = end_ns(visits);
    end.map_or(last, |end| last.max((end.elapsed_s * 1e9) as u64))
}

/// Whether a run that ended so has nothing left to do.
pub fn is_finished(end: Option<&End>) -> bool {
    end.is_some_and(|end| matches!(end.reason.as_str(), "done" | "budget" | "rounds"))
}

/// Why a run that was begun with `then` cannot be resumed by one that would begin with `now`.
pub fn refusal(then: &Header, now: &Header) -> Option<String> {
    let (version, effort) = (&then.version, &then.effort);
    let percent = (then.precision * 1e6).round() / 1e4;
    let known = |fact: &Option<String>| fact.is_some();
    let cpus = |header: &Header| header.allowed_cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let rules = [
        (
            then.arms.is_none() && now.arms.is_none(),
            "it compares two arms, and only a run of one can be resumed: begin anew with `ipcmatrix ab`"
                .to_owned(),
        ),
        (
            then.matrix_crc32 == now.matrix_crc32,
            "the matrix is another one, or this machine can now run other cells of it".to_owned(),
        ),
        (
            then.version == now.version,
            format!("it was begun by version {version} of the program, this is {}", now.version),
        ),
        (known(&then.binary_crc32), "its journal does not say which binary wrote it".to_owned()),
        (known(&now.binary_crc32), "the binary of this program cannot be read".to_owned()),
        (then.binary_crc32 == now.binary_crc32, "it was begun by another build of the program".to_owned()),
        (known(&then.boot_crc32), "its journal does not say in which boot it was written".to_owned()),
        (known(&now.boot_crc32), "which boot this is cannot be read".to_owned()),
        (then.boot_crc32 == now.boot_crc32, "the machine was booted since, or this is another".to_owned()),
        (
            then.machine_class == now.machine_class,
            "the machine is of another class now: more or fewer CPUs are allowed, or a limit was changed"
                .to_owned(),
        ),
        (
            then.allowed_cpus == now.allowed_cpus,
            format!("it was begun on the CPUs {}, now {} are allowed: use taskset(1)", cpus(then), cpus(now)),
        ),
        (then.effort == now.effort, format!("its effort is {effort}, not {}", now.effort)),
        (then.precision == now.precision, format!("it was begun with --precision {percent}%")),
        (then.seed == now.seed, format!("it was begun with --seed {}", then.seed)),
        (then.budget_s == now.budget_s, format!("it was begun with a budget of {} s", then.budget_s)),
    ];
    rules.into_iter().find(|(holds, _)| !holds).map(|(_, reason)| reason)
}

#[cfg(test)]
mod tests;
