//! Where the next visit goes, as far as the run has a say. Pure: it is fed visits and asked before the next.

use super::crowded::Crowded;
use crate::record::{Header, Visit};

/// What visits are told of where to go.
#[derive(Debug)]
pub(super) struct Places {
    crowded: Crowded,
    /// The CPU that another program takes which does not know how to follow, where it is an arm.
    first_choice: Option<usize>,
    /// The CPU that the workers of the last visit shared.
    last: Option<usize>,
    /// The CPUs to avoid: as they were before the first of a pair.
    pub avoided_cpus: Vec<usize>,
    /// The CPU to take.
    pub same_cpu_as: Option<usize>,
}

impl Places {
    /// After those visits of a run.
    pub fn after(header: &Header, visits: &[Visit]) -> Places {
        let other_program = header.arms.as_ref().is_some_and(|arms| arms.program_crc32.is_some());
        let first_choice = header.allowed_cpus.last().map(|cpu| *cpu as usize).filter(|_| other_program);
        let crowded = Crowded::default();
        let mut places =
            Places { crowded, first_choice, last: None, avoided_cpus: Vec::new(), same_cpu_as: None };
        visits.iter().for_each(|visit| places.take(visit));
        places
    }

    /// Takes in a visit.
    pub fn take(&mut self, visit: &Visit) {
        self.crowded.take(visit);
        self.last = visit.shared_cpu();
    }

    /// Before the next visit: both arms of a pair are measured in the same place.
    pub fn next(&mut self, second_arm: bool) {
        if second_arm {
            self.same_cpu_as = self.last;
            return;
        }
        self.avoided_cpus = self.crowded.cpus();
        self.same_cpu_as = self.first_choice.filter(|_| self.avoided_cpus.is_empty());
    }
}
