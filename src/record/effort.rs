//! How much a visit measures, by the kind of cell and by what was asked of the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many samples of what length a visit takes, by the kind of cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Effort {
    /// One worker, or a transport on one CPU.
    pub additive: Sampling,
    /// Two or more CPUs, or contended locks.
    pub interacting: Sampling,
    /// Contended locks with more workers than CPUs; the length is for each worker that a CPU has, up to a second in all.
    pub oversubscribed: Sampling,
    /// Batches, or tenths of one where workers outnumber CPUs, are run for this long, and at least once, before the first sample.
    pub warm_up_ns: u64,
    /// Whether a batch must move many channel capacities. Only `--test`, which shows no figure, says no.
    pub fill_channels: bool,
    /// Whether all samples are taken however long they take, and their mean leads (`--exact`).
    #[serde(default)]
    pub exact: bool,
}

/// Samples of one kind of cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Sampling {
    /// Samples a visit.
    pub samples: u32,
    /// Length that a sample is calibrated to.
    pub target_ns: u64,
}

/// What disturbs a cell, and so how it is sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One worker, or a transport on one CPU: interference only adds time.
    Additive,
    /// Two or more CPUs, or contended locks.
    Interacting,
    /// Contended locks with more workers than CPUs.
    Oversubscribed,
}

impl Kind {
    /// That of so many workers on so many CPUs, who are contended or not.
    pub fn of(contended: bool, workers: usize, cpus: usize) -> Kind {
        match contended {
            true if workers > cpus => Kind::Oversubscribed,
            false if cpus == 1 || workers == 1 => Kind::Additive,
            _ => Kind::Interacting,
        }
    }

    /// One of how many parts of a batch is tried when its size is chosen: a batch of a dozen turns takes long, and in four or five turns most of
    /// the contention has set in.
    pub fn parts_tried(self) -> u64 {
        if self == Kind::Oversubscribed { 3 } else { 1 }
    }

    /// How much of a batch of that size warms up: one of many turns is far longer than that takes.
    pub fn warm_up(self, batch: u64) -> u64 {
        if self == Kind::Oversubscribed { batch.div_ceil(10) } else { batch }
    }
}

const MS: u64 = 1_000_000;

/// Time on a CPU that each worker has in a sample where workers outnumber CPUs: a dozen turns or more (the scheduler takes the CPU
/// away after about 3 ms). In a sample of one or two turns a worker that is not interrupted while it holds the lock never
/// waits: five threads on one CPU then took 0.45 to 0.75 times what they take in samples of 400 ms.
const TURNS_NS: u64 = 50 * MS;

/// No sample is meant to be longer, however many workers a CPU has: a visit must calibrate and be over by its deadline.
const LONGEST_TURNS_NS: u64 = 1000 * MS;

impl Effort {
    /// What `run` does.
    pub const DEFAULT: Effort = Effort {
        additive: Sampling { samples: 10, target_ns: 5 * MS },
        interacting: Sampling { samples: 5, target_ns: 20 * MS },
        oversubscribed: Sampling { samples: 2, target_ns: TURNS_NS },
        warm_up_ns: 20 * MS,
        fill_channels: true,
        exact: false,
    };
    /// What `run` does in rounds that would otherwise not leave time for the rounds for every cell. Figures differ more from visit to
    /// visit than within one, so in the same time many short visits say more than few long ones.
    pub const THRIFTY: Effort = Effort {
        additive: Sampling { samples: 3, target_ns: 5 * MS },
        interacting: Sampling { samples: 3, target_ns: 10 * MS },
        oversubscribed: Sampling { samples: 1, target_ns: TURNS_NS },
        warm_up_ns: 5 * MS,
        fill_channels: true,
        exact: false,
    };
    /// What `run --quick` does: fewer samples, so that six visits a cell fit into a minute.
    pub const QUICK: Effort = Effort {
        additive: Sampling { samples: 4, target_ns: 5 * MS },
        interacting: Sampling { samples: 3, target_ns: 10 * MS },
        oversubscribed: Sampling { samples: 1, target_ns: TURNS_NS },
        warm_up_ns: 5 * MS,
        fill_channels: true,
        exact: false,
    };
    /// What `run --test` does: everything once, to see that it works. Its figures are not shown.
    pub const TEST: Effort = Effort {
        additive: Sampling { samples: 1, target_ns: MS / 5 },
        interacting: Sampling { samples: 1, target_ns: MS / 5 },
        oversubscribed: Sampling { samples: 1, target_ns: MS / 5 },
        warm_up_ns: 0,
        fill_channels: false,
        exact: false,
    };

    /// The samples of a cell of that kind by so many workers on so many CPUs.
    pub fn sampling(&self, kind: Kind, workers: usize, cpus: usize) -> Sampling {
        let Sampling { samples, target_ns } = match kind {
            Kind::Additive => return self.additive,
            Kind::Interacting => return self.interacting,
            Kind::Oversubscribed => self.oversubscribed,
        };
        let shared_ns = target_ns.saturating_mul(workers as u64) / cpus.max(1) as u64;
        Sampling { samples, target_ns: shared_ns.min(target_ns.max(LONGEST_TURNS_NS)) }
    }

    /// Whether figures come of it that are shown.
    pub fn shows_figures(&self) -> bool {
        self.fill_channels || self.exact
    }

    /// What `run --exact` does: that many samples of counts that are given.
    pub const fn exactly(samples: u32) -> Effort {
        let sampling = Sampling { samples, target_ns: 0 };
        Effort {
            additive: sampling,
            interacting: sampling,
            oversubscribed: sampling,
            warm_up_ns: 0,
            fill_channels: false,
            exact: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_outnumbers_the_cpus_has_turns_of_his_own_in_a_sample() {
        let target_ms = |contended, workers, cpus| {
            let sampling = Effort::DEFAULT.sampling(Kind::of(contended, workers, cpus), workers, cpus);
            (sampling.samples, sampling.target_ns / MS)
        };
        assert_eq!(target_ms(true, 2, 1), (2, 100));
        assert_eq!(target_ms(true, 5, 1), (2, 250));
        assert_eq!(target_ms(true, 5, 2), (2, 125));
        assert_eq!(target_ms(true, 64, 1), (2, 1000), "no longer than a visit has time for");
        assert_eq!(target_ms(true, 2, 2), (5, 20), "each has a CPU");
        assert_eq!(target_ms(false, 2, 1), (10, 5), "they take turns of their own accord");
        assert_eq!(target_ms(false, 2, 2), (5, 20));
        assert_eq!(target_ms(false, 1, 2), (10, 5));
        assert_eq!(
            Effort::exactly(3).sampling(Kind::Oversubscribed, 5, 1),
            Sampling { samples: 3, target_ns: 0 }
        );
    }
}
