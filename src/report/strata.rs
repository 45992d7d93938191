//! What is said of figures that are two ([`crate::strata`]).

use crate::measure::stats::distance::Distance;
use crate::measure::stats::modes::Modes;
use crate::strata::cores::Core;
use crate::strata::{ONE_CPU, SEVERAL_CPUS};

const BY_CPU: &str = "grade U: placement free lets the kernel put the workers on one CPU or on several, which are two different \
                      figures: each is shown by its median with its share of the samples";
const BY_DISTANCE: &str = "grade U: the two CPUs were near to each other in some visits and far in others (a cache line took over \
                           1.5 times as long there and back, as when a host moves the CPUs of a virtual machine): each is shown by its \
                           median with its share of the visits; visits in which it changed are in neither";

const BY_CORE: &str = "grade U: in some visits the workers had their cores alone, in others another thread used them too (arithmetic that could use a \
                       whole core took over 1.1 times as long): each is shown by its median with its share of the visits; visits in which it \
                       changed are in neither";

/// The footnote of a figure that is told in two strata; `None` where its parts have no names.
pub fn footnote(modes: &Modes) -> Option<&'static str> {
    match modes.0[0].name {
        ONE_CPU | SEVERAL_CPUS => Some(BY_CPU),
        name if [Core::Alone, Core::Shared].iter().any(|of| of.word() == name) => Some(BY_CORE),
        name => [Distance::Near, Distance::Far].iter().any(|of| of.word() == name).then_some(BY_DISTANCE),
    }
}

#[cfg(test)]
mod tests;
