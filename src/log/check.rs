//! Reads a log back: which lines are whole, and which are lost, doubled, reordered or torn.

use super::line::read_text;

/// How a line of ours looks in the file.
#[derive(Clone, Debug)]
pub struct Form {
    /// What stands right in front of the text; what is in front of that is the business of whoever wrote it there.
    /// Empty where the text is the whole line.
    pub tag: Vec<u8>,
    /// Bytes of the text.
    pub text_bytes: usize,
    /// Whether others write into the file too: a line without the tag is none of ours then, else it is torn.
    pub has_strangers: bool,
}

/// What was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Lines of ours, whole or not.
    pub lines: u64,
    /// Lines of the batch that are there, whole, once at least.
    pub whole: u64,
    /// Whole lines that were there before, or that no worker wrote.
    pub doubled: u64,
    /// Whole lines of an earlier batch, which missed them.
    pub late: u64,
    /// Whole lines behind a later one of the same worker.
    pub reordered: u64,
    /// Lines that are not whole.
    pub torn: u64,
}

/// The part of one worker.
struct Seen {
    numbers: Vec<u64>,
    highest: Option<u64>,
}

/// Reads the lines of one batch, however they come in pieces.
pub struct Check<'a> {
    form: &'a Form,
    first: u64,
    ops: u64,
    seen: Vec<Seen>,
    found: Found,
    /// The begin of a line whose end has not come yet.
    begun: Vec<u8>,
}

impl<'a> Check<'a> {
    /// Each worker wrote `ops` lines, the numbers from `first` on.
    pub fn new(form: &'a Form, workers: usize, first: u64, ops: u64) -> Check<'a> {
        let words = ops.div_ceil(u64::from(u64::BITS)) as usize;
        let seen = (0..workers).map(|_| Seen { numbers: vec![0; words], highest: None }).collect();
        Check { form, first, ops, seen, found: Found::default(), begun: Vec::new() }
    }

    /// The next bytes of the file.
    pub fn feed(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            if self.begun.is_empty() {
                self.line(&rest[..end]);
            } else {
                self.begun.extend_from_slice(&rest[..end]);
                let line = std::mem::take(&mut self.begun);
                self.line(&line);
            }
            rest = &rest[end + 1..];
        }
        self.begun.extend_from_slice(rest);
    }

    /// What was found. A last line without an end is torn.
    pub fn end(mut self) -> Found {
        if !self.begun.is_empty() && (!self.form.has_strangers || self.text_of(&self.begun).is_some()) {
            self.found.lines += 1;
            self.found.torn += 1;
        }
        self.found
    }

    fn text_of<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let tag = &self.form.tag[..];
        if tag.is_empty() {
            return Some(line);
        }
        line.windows(tag.len()).position(|window| window == tag).map(|at| &line[at + tag.len()..])
    }

    fn line(&mut self, line: &[u8]) {
        let text = self.text_of(line);
        if text.is_none() && self.form.has_strangers {
            return;
        }
        self.found.lines += 1;
        match text.and_then(|text| read_text(text, self.form.text_bytes)) {
            Some((worker, number)) => self.whole(worker, number),
            None => self.found.torn += 1,
        }
    }

    fn whole(&mut self, worker: usize, number: u64) {
        if number < self.first && worker < self.seen.len() {
            self.found.late += 1;
            return;
        }
        let place = number.wrapping_sub(self.first);
        let Some(seen) = self.seen.get_mut(worker).filter(|_| place < self.ops) else {
            self.found.doubled += 1;
            return;
        };
        let (word, bit) = (&mut seen.numbers[(place / 64) as usize], 1 << (place % 64));
        if *word & bit != 0 {
            self.found.doubled += 1;
            return;
        }
        *word |= bit;
        self.found.whole += 1;
        self.found.reordered += u64::from(seen.highest.is_some_and(|highest| number < highest));
        seen.highest = seen.highest.max(Some(number));
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::{Line, MOST_LINE_BYTES};
    use super::*;

    const FIRST: u64 = 100;
    const OPS: u64 = 70;

    fn bare() -> Form {
        Form { tag: Vec::new(), text_bytes: 79, has_strangers: false }
    }

    fn line(worker: usize, number: u64) -> Vec<u8> {
        let line = Line::new("", 80, worker, true).unwrap();
        line.build(&mut [0; MOST_LINE_BYTES], number).to_vec()
    }

    /// Every line of both workers, in turns.
    fn all() -> Vec<Vec<u8>> {
        (FIRST..FIRST + OPS).flat_map(|number| [line(0, number), line(1, number)]).collect()
    }

    fn found_in(form: &Form, file: &[u8], piece: usize) -> Found {
        let mut check = Check::new(form, 2, FIRST, OPS);
        file.chunks(piece).for_each(|piece| check.feed(piece));
        check.end()
    }

    fn found(lines: &[Vec<u8>]) -> Found {
        let found = found_in(&bare(), &lines.concat(), 4096);
        assert_eq!(found, found_in(&bare(), &lines.concat(), 7), "pieces make no difference");
        found
    }

    const ALL: Found = Found { lines: 140, whole: 140, doubled: 0, late: 0, reordered: 0, torn: 0 };

    #[test]
    fn a_good_file_has_every_line_once() {
        assert_eq!(found(&all()), ALL);
        let one_after_the_other: Vec<_> = [0, 1]
            .iter()
            .flat_map(|worker| (FIRST..FIRST + OPS).map(|number| line(*worker, number)))
            .collect();
        assert_eq!(found(&one_after_the_other), ALL, "workers have no order among each other");
        assert_eq!(found(&[]), Found::default());
    }

    #[test]
    fn a_lost_line_is_missed() {
        for lost in [0, 64, 139] {
            let mut lines = all();
            lines.remove(lost);
            assert_eq!(found(&lines), Found { lines: 139, whole: 139, ..ALL });
        }
    }

    #[test]
    fn a_doubled_line_and_one_of_another_batch_are_seen() {
        let doubled = |extra: Vec<u8>| {
            let mut lines = all();
            lines.insert(17, extra);
            found(&lines)
        };
        // The line that stands there early is the first; the one in its place is doubled.
        assert_eq!(doubled(line(0, FIRST)), Found { lines: 141, doubled: 1, ..ALL });
        for stranger in [line(1, FIRST + OPS), line(2, FIRST), line(2, FIRST - 1)] {
            assert_eq!(doubled(stranger), Found { lines: 141, doubled: 1, ..ALL });
        }
        assert_eq!(doubled(line(0, FIRST - 1)), Found { lines: 141, late: 1, ..ALL });
    }

    #[test]
    fn reordered_lines_are_those_behind_a_later_one() {
        let mut lines = all();
        lines.swap(0, 2);
        assert_eq!(found(&lines), Found { reordered: 1, ..ALL });
        let mut lines = all();
        let first = lines.remove(0);
        lines.push(first);
        assert_eq!(found(&lines), Found { reordered: 1, ..ALL }, "one came last");
    }

    #[test]
    fn torn_lines_are_seen_however_they_were_torn() {
        let mut lines = all();
        lines[3].truncate(40);
        assert_eq!(found(&lines), Found { lines: 139, whole: 138, torn: 1, ..ALL }, "two became one");
        let mut lines = all();
        let (one, other) = (lines[4].clone(), lines[5].clone());
        lines[4] = [&one[..30], &other[..30]].concat();
        lines[5] = [&one[30..], &other[30..]].concat();
        let torn = found(&lines);
        assert_eq!((torn.whole, torn.torn), (138, 2), "one inside the other: {torn:?}");
        let mut lines = all();
        lines[139].pop();
        assert_eq!(found(&lines), Found { whole: 139, torn: 1, ..ALL }, "the last has no end");
        let mut lines = all();
        lines[0] = vec![0; 80];
        assert_eq!(found(&lines), Found { lines: 139, whole: 138, torn: 1, ..ALL }, "a hole");
    }

    #[test]
    fn behind_a_tag_the_text_is_found_and_strangers_are_left_alone() {
        let tagged = |text: &[u8]| [b"Oct 11 22:14:15 here ipcmatrix: ", text].concat();
        let mut lines: Vec<_> = all().iter().map(|line| tagged(line)).collect();
        let form = |has_strangers| Form { tag: b"ipcmatrix: ".to_vec(), text_bytes: 79, has_strangers };
        assert_eq!(found_in(&form(false), &lines.concat(), 999), ALL);
        lines.insert(9, b"Oct 11 22:14:15 here cron[1]: nothing of ours\n".to_vec());
        assert_eq!(found_in(&form(true), &lines.concat(), 999), ALL);
        assert_eq!(found_in(&form(false), &lines.concat(), 999), Found { lines: 141, torn: 1, ..ALL });
        lines.push(b"Oct 11 22:14:15 here cron[1]: cut".to_vec());
        assert_eq!(found_in(&form(true), &lines.concat(), 999), ALL);
    }
}
