//! Reads a line as this program writes it: first the version and the kind, and of a visit what was asked before what came
//! of it. Then every part can be read as it comes. In any other order a line has to be kept until its kind is known, which
//! takes several times as long; that is what reading [`super::Versioned`] does.

use super::{Arm, Line, Noise, Outcome, SCHEMA, Twin, Visit, WorkerSample};
use crate::cell::Cell;
use crate::workload::Tally;
use serde::de::value::{BorrowedStrDeserializer, MapAccessDeserializer};
use serde::de::{DeserializeSeed, Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;

/// The line; `None` where it is not as this program writes it, which says nothing about whether it is one.
pub fn line(text: &str) -> Option<Line> {
    serde_json::from_str::<Written>(text).ok().map(|written| written.0)
}

/// A line that is as this program writes it.
struct Written(Line);

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Written, D::Error> {
        deserializer.deserialize_map(Order)
    }
}

struct Order;

impl<'de> Visitor<'de> for Order {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a line with its version and its kind in front")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Written, A::Error> {
        if map.next_entry::<&str, &str>()? != Some(("schema", SCHEMA)) {
            return Err(A::Error::custom("another version, or not in front"));
        }
        let Some(("kind", kind)) = map.next_entry::<&str, &str>()? else {
            return Err(A::Error::custom("the kind is not behind the version"));
        };
        Ok(Written(match kind {
            "header" => Line::Header(rest(&mut map)?),
            "visit" => Line::Visit(Box::new(visit(map)?)),
            "end" => Line::End(rest(&mut map)?),
            "resumed" => Line::Resumed(rest(&mut map)?),
            _ => return Err(A::Error::custom("another kind")),
        }))
    }
}

/// What was asked of a visit: what stands before [`OUTCOME`].
#[derive(Deserialize)]
struct Asked {
    cell_index: usize,
    cell: Cell,
    round: u32,
    position: u32,
    begin_ns: u64,
    duration_ns: u64,
    #[serde(default)]
    thrifty: bool,
    arm: Option<Arm>,
    noise: Option<Noise>,
}

const OUTCOME: &str = "outcome";

/// What stands before the outcome of a visit, or nowhere: behind it such a key would be passed over.
const BEFORE: [&str; 5] = ["schema", "kind", "thrifty", "arm", "noise"];

fn visit<'de, A: MapAccess<'de>>(mut map: A) -> Result<Visit, A::Error> {
    let before = Keys { map: &mut map, last: Some(OUTCOME), never: &BEFORE[..2] };
    let Asked { cell_index, cell, round, position, begin_ns, duration_ns, thrifty, arm, noise } =
        Asked::deserialize(MapAccessDeserializer::new(before))?;
    let outcome = match map.next_value::<&str>()? {
        "measured" => Outcome::Measured(rest(&mut map)?),
        "unavailable" => Outcome::Unavailable(rest(&mut map)?),
        "failed" => {
            let Failed { phase, error } = rest(&mut map)?;
            Outcome::Failed { phase, error }
        }
        _ => return Err(A::Error::custom("another outcome")),
    };
    Ok(Visit { cell_index, cell, round, position, begin_ns, duration_ns, thrifty, arm, noise, outcome })
}

#[derive(Deserialize)]
struct Failed {
    phase: String,
    error: String,
}

/// What the rest of a line tells.
fn rest<'de, A: MapAccess<'de>, T: Deserialize<'de>>(map: &mut A) -> Result<T, A::Error> {
    T::deserialize(MapAccessDeserializer::new(Keys { map, last: None, never: &BEFORE }))
}

/// The keys of a map up to one, which is read and not handed on.
struct Keys<'a, A> {
    map: &'a mut A,
    last: Option<&'static str>,
    /// Keys that must not come.
    never: &'static [&'static str],
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Keys<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.map.next_key::<&str>()? {
            None => Ok(None),
            Some(key) if self.last == Some(key) => Ok(None),
            Some(key) if self.never.contains(&key) => Err(A::Error::custom("a key in another place")),
            Some(key) => seed.deserialize(BorrowedStrDeserializer::new(key)).map(Some),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A [`WorkerSample`] with its tally in line, as it stands in a journal. What is flattened by serde is kept first, and journals
/// consist of these for the most part.
#[derive(Deserialize)]
struct Flat {
    begin_ns: u64,
    end_ns: u64,
    drained_ns: Option<u64>,
    cpu_ns: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    run_delay_ns: Option<u64>,
    cpu: usize,
    twin: Option<Twin>,
    bytes: u64,
    calls: u64,
    waits: Option<u64>,
    request_p50_ns: Option<u64>,
    request_p99_ns: Option<u64>,
    beside_ops: Option<u64>,
    refused: Option<u64>,
}

impl<'de> Deserialize<'de> for WorkerSample {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<WorkerSample, D::Error> {
        let flat = Flat::deserialize(deserializer)?;
        let Flat { begin_ns, end_ns, drained_ns, cpu_ns, voluntary_switches, involuntary_switches, .. } =
            flat;
        let Flat { run_delay_ns, cpu, twin, bytes, calls, waits, request_p50_ns, request_p99_ns, .. } = flat;
        let Flat { beside_ops, refused, .. } = flat;
        let tally = Tally { bytes, calls, waits, request_p50_ns, request_p99_ns, beside_ops, refused };
        Ok(WorkerSample {
            begin_ns,
            end_ns,
            drained_ns,
            cpu_ns,
            voluntary_switches,
            involuntary_switches,
            run_delay_ns,
            cpu,
            twin,
            tally,
        })
    }
}

/// A list that takes no more memory than it needs: most have one or two items, where room is made for four at first.
pub fn fitting<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    let mut list = Vec::deserialize(deserializer)?;
    list.shrink_to_fit();
    Ok(list)
}

#[cfg(test)]
mod tests {
    use super::super::Versioned;
    use super::*;
    use serde_json::{Map, Value};

    const RUN: &str = include_str!("../../tests/golden/small.jsonl");

    fn in_any_order(text: &str) -> Option<Line> {
        serde_json::from_str::<Versioned>(text).ok().map(|versioned| versioned.line)
    }

    /// The line with its keys in another order.
    fn turned(text: &str) -> String {
        let keys: Map<String, Value> = serde_json::from_str(text).unwrap();
        Value::Object(keys.into_iter().rev().collect()).to_string()
    }

    #[test]
    fn what_this_program_writes_reads_the_same_as_in_any_order() {
        for text in RUN.lines() {
            let read = line(text);
            assert!(read.is_some(), "{text}");
            assert_eq!(read, in_any_order(text), "{text}");
        }
        let visit = RUN.lines().nth(1).unwrap();
        let (asked, _) = visit.split_once("\"outcome\"").unwrap();
        for outcome in [
            r#""failed","phase":"open","error":"\u00e9"}"#,
            r#""unavailable","reason":"r","remedy":"s","limit":null}"#,
        ] {
            let text = format!("{asked}\"outcome\":{outcome}");
            assert_eq!(line(&text), in_any_order(&text), "{text}");
        }
    }

    /// Each byte of a visit in turn is taken away or doubled: whatever this reads the other reader reads too, and the same.
    #[test]
    fn what_is_read_here_is_never_read_otherwise_there() {
        let mut read = 0;
        for text in RUN.lines().skip(1).step_by(120) {
            for at in 0..text.len() {
                let (before, behind) = (&text[..at], &text[at..]);
                for changed in
                    [format!("{before}{}", &behind[1..]), format!("{before}{}{behind}", &behind[..1])]
                {
                    if let Some(line) = line(&changed) {
                        assert_eq!(Some(line), in_any_order(&changed), "{changed}");
                        read += 1;
                    }
                }
            }
        }
        assert!(read > 100, "{read}: most numbers are as good with a digit more");
    }

    #[test]
    fn keys_in_other_places_are_left_to_the_other_reader() {
        for text in RUN.lines() {
            assert_eq!(line(&turned(text)), None);
            assert_eq!(in_any_order(&turned(text)), in_any_order(text));
        }
        let visit = RUN.lines().nth(1).unwrap().strip_suffix('}').unwrap();
        for late in [r#""thrifty":true"#, r#""arm":"b""#, r#""noise":{}"#, r#""kind":"end""#] {
            assert_eq!(line(&format!("{visit},{late}}}")), None, "{late}");
        }
        assert!(line(&format!("{visit},\"new\":1}}")).is_some(), "keys of other versions are passed over");
    }
}
