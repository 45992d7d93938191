//! Classes of pairs on saved trees of machines.

use super::Class::{CrossLlc, CrossNode, SameL2, SameLlc, SmtSibling};
use super::*;
use crate::environment::saved::Saved;

/// The CPUs from the last one down, as they are taken for workers.
fn proximity(fixture: &str, cpus: std::ops::Range<usize>) -> Proximity {
    let cpus: Vec<usize> = cpus.rev().collect();
    Proximity::read(Saved::of(fixture).root(), &cpus)
}

/// The pair of each class, the nearest class first.
fn pairs(proximity: &Proximity) -> [Option<[usize; 2]>; 5] {
    Class::ALL.map(|class| proximity.pair(class))
}

#[test]
fn two_sockets_with_threads_have_siblings_one_cache_and_two_nodes() {
    let machine = proximity(include_str!("../fixtures/two_sockets_64_cores_smt.txt"), 0..128);
    assert_eq!(pairs(&machine), [Some([127, 63]), None, Some([127, 126]), None, Some([127, 95])]);
    assert_eq!(machine.class(0, 64), Ok(SmtSibling));
    assert_eq!(machine.class(64, 31), Ok(SameLlc), "an instruction cache does not count");
    assert_eq!(machine.class(31, 32), Ok(CrossNode));
    assert_eq!(machine.told(), "smt_sibling, same_llc, cross_node");
}

#[test]
fn one_socket_of_several_last_level_caches_crosses_them_within_a_node() {
    let machine = proximity(include_str!("../fixtures/one_socket_four_l3.txt"), 0..16);
    assert_eq!(pairs(&machine), [None, None, Some([15, 14]), Some([15, 11]), None]);
    assert_eq!((machine.class(3, 0), machine.class(4, 3)), (Ok(SameLlc), Ok(CrossLlc)));
}

#[test]
fn a_hybrid_laptop_has_siblings_among_its_large_cores_and_shares_l2_among_its_small_ones() {
    let machine = proximity(include_str!("../fixtures/hybrid_laptop.txt"), 0..12);
    assert_eq!(pairs(&machine), [Some([3, 2]), Some([11, 10]), Some([11, 7]), None, None]);
    assert_eq!(machine.class(0, 2), Ok(SameLlc));
    assert_eq!(machine.class(4, 7), Ok(SameL2));
}

#[test]
fn without_a_description_of_caches_nothing_is_claimed() {
    let machine = proximity(include_str!("../fixtures/guest_without_caches.txt"), 0..2);
    assert_eq!(pairs(&machine), [None; 5]);
    let reason = "/sys/devices/system/cpu/cpu1/cache: no cache described";
    assert_eq!(machine.class(1, 0), Err(reason.to_owned()));
    assert_eq!(machine.told(), format!("no pair that is known; not known: {reason}"));
}

#[test]
fn an_arm64_server_has_a_cache_a_socket() {
    let machine = proximity(include_str!("../fixtures/arm64_server.txt"), 0..80);
    assert_eq!(pairs(&machine), [None, None, Some([79, 78]), None, Some([79, 39])]);
}

#[test]
fn only_the_cpus_that_are_allowed_make_pairs() {
    let fixture = include_str!("../fixtures/two_sockets_64_cores_smt.txt");
    let machine = proximity(fixture, 0..32);
    assert_eq!(pairs(&machine), [None, None, Some([31, 30]), None, None]);
    assert!(machine.class(0, 64).unwrap_err().contains("CPU 64 was not read"));
    assert!(proximity(fixture, 0..1).pair(SameLlc).is_none());
}

#[test]
fn a_damaged_tree_gives_a_reason_and_no_class() {
    let saved = Saved::of(include_str!("../fixtures/guest_without_caches.txt"));
    saved.put("sys/devices/system/cpu/cpu1/topology/thread_siblings_list", "1-");
    let machine = Proximity::read(saved.root(), &[1, 0]);
    assert!(machine.class(1, 0).unwrap_err().contains("cannot make sense of `1-`"));
    assert_eq!(pairs(&machine), [None; 5]);
}

#[test]
fn names_are_those_of_the_axis() {
    for class in Class::ALL {
        assert_eq!(Class::named(class.name()), Some(class));
    }
    assert_eq!(Class::named("cross_cpu"), None);
}
