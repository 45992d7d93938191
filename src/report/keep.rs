//! A run with some of its cells.

use super::load::Run;
use crate::cell::Cell;

/// The run with the cells that are wanted, their visits, and the tables that show one of them.
pub fn keep(mut run: Run, wanted: impl Fn(&Cell) -> bool) -> Run {
    let mut kept = Vec::new();
    let mut moved = Vec::new();
    for planned in std::mem::take(&mut run.header.cells) {
        let keep = wanted(&planned.cell);
        moved.push(keep.then_some(kept.len()));
        kept.extend(keep.then_some(planned));
    }
    run.header.cells = kept;
    for table in &mut run.header.tables {
        table.cells = table.cells.iter().filter_map(|position| moved[*position]).collect();
    }
    run.header.tables.retain(|table| !table.cells.is_empty());
    run.visits.retain_mut(|visit| match moved[visit.cell_index] {
        Some(position) => {
            visit.cell_index = position;
            true
        }
        None => false,
    });
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::load::parse_run;

    #[test]
    fn visits_and_tables_follow_their_cells() {
        let whole = parse_run(include_bytes!("../../tests/golden/small.jsonl"), "j.jsonl").unwrap();
        let of = |mechanism: &str| keep(whole.clone(), |cell| cell.mechanism() == mechanism);
        let queue = of("posix_queue");
        assert!(!queue.header.cells.is_empty() && queue.header.cells.len() < whole.header.cells.len());
        let at_home =
            |run: &Run| run.visits.iter().all(|visit| run.header.cells[visit.cell_index].cell == visit.cell);
        assert!(!queue.visits.is_empty() && at_home(&queue) && at_home(&whole));
        assert_eq!(queue.header.tables.len(), 1, "the table of increments has no queue");
        assert!(of("nothing").header.tables.is_empty() && of("nothing").visits.is_empty());
        assert_eq!(keep(whole.clone(), |_| true), whole);
    }
}
