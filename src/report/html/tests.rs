use super::*;
use crate::report::load::parse_run;
use roxmltree::{Document as Tree, Node, ParsingOptions};

const HOSTILE: &[u8] = include_bytes!("../../../tests/golden/hostile.jsonl");
const SMALL: &[u8] = include_bytes!("../../../tests/golden/small.jsonl");

fn page_of(journal: &[u8], environment: Option<&Value>) -> String {
    html(&parse_run(journal, "j").unwrap(), environment, Options::default()).unwrap()
}

/// The page read as XML, which forgives nothing.
fn tree(page: &str) -> Tree<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Tree::parse_with_options(page, options).unwrap()
}

fn elements<'a>(tree: &'a Tree, name: &'a str) -> impl Iterator<Item = Node<'a, 'a>> {
    tree.descendants().filter(move |node| node.has_tag_name(name))
}

#[test]
fn nothing_is_asked_of_anybody() {
    for journal in [SMALL, HOSTILE] {
        let page = page_of(journal, None);
        let tree = tree(&page);
        for node in tree.descendants().filter(Node::is_element) {
            for attribute in node.attributes() {
                let outside = matches!(
                    attribute.name(),
                    "src" | "srcset" | "action" | "data" | "poster" | "xlink:href"
                );
                assert!(!outside && !attribute.name().starts_with("on"), "{attribute:?}");
                let own = attribute.value().starts_with('#') || attribute.value() == "data:,";
                assert!(attribute.name() != "href" || own, "{attribute:?}");
            }
        }
        assert!(!page.contains("@import") && !page.contains("url("), "a style that loads something");
        for call in ["fetch(", "XMLHttpRequest", "import(", "sendBeacon", "WebSocket", "innerHTML", "eval("] {
            assert!(!page.contains(call), "{call}");
        }
        assert!(page.contains("default-src 'none'"));
    }
}

#[test]
fn hostile_words_stay_words() {
    let environment = serde_json::json!({"<b>": {"</td>\u{202e}": "<script>alert(2)</script>\u{1b}[31m", "x": {"value": null, "reason": "&\"'<"}}});
    let page = page_of(HOSTILE, Some(&environment));
    let tree = tree(&page);
    assert_eq!((elements(&tree, "script").count(), elements(&tree, "b").count()), (1, 0));
    let steers = |letter: char| {
        (letter.is_control() && letter != '\n')
            || ('\u{202a}'..='\u{202e}').contains(&letter)
            || letter == '\u{2066}'
    };
    assert!(!page.contains(steers));
    assert!(page.contains("\\u{202e}") && page.contains("\\u{1b}"), "shown, not lost");
    let text: String = tree.descendants().filter_map(|node| node.text()).collect();
    for word in [
        "<script>alert(1)</script>",
        "<script>alert(2)</script>",
        "unknown: &\"'<",
        "a|b `c`",
        "<!-- ipcmatrix:end -->",
    ] {
        assert!(text.contains(word), "{word} is shown as it is");
    }
}

#[test]
fn every_reference_has_its_target_and_no_name_is_given_twice() {
    for journal in [SMALL, HOSTILE] {
        let page = page_of(journal, None);
        let tree = tree(&page);
        let ids: Vec<&str> = tree.descendants().filter_map(|node| node.attribute("id")).collect();
        assert!(ids.iter().all(|id| ids.iter().filter(|other| *other == id).count() == 1), "{ids:?}");
        for node in tree.descendants() {
            let listed =
                ["aria-labelledby", "aria-describedby"].into_iter().filter_map(|name| node.attribute(name));
            let linked = node.attribute("href").and_then(|link| link.strip_prefix('#'));
            for id in listed.flat_map(|list| list.split(' ')).chain(linked) {
                assert!(ids.contains(&id), "{id} is nowhere");
            }
        }
    }
}

#[test]
fn tables_are_told_to_who_does_not_see_them() {
    let page = page_of(SMALL, None);
    let tree = tree(&page);
    let mut tables = 0;
    for table in elements(&tree, "table") {
        tables += 1;
        assert!(table.children().any(|node| node.has_tag_name("caption")));
        for heading in table.descendants().filter(|node| node.has_tag_name("th")) {
            let button = heading.children().any(|node| node.has_tag_name("button"));
            match heading.attribute("scope") {
                Some("row") => assert!(!button),
                Some("col") => assert!(button && heading.attribute("aria-sort") == Some("none")),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(tables, 3, "two placements and the increments");
    let figures = elements(&tree, "td").filter(|place| place.attribute("title").is_some());
    let raw: Vec<&str> = figures.filter_map(|place| place.attribute("title")).collect();
    assert_eq!(raw.len(), 12, "each figure has its raw number: {raw:?}");
    assert!(raw[0].contains(" MB/s, 95 % interval ") && raw[0].ends_with(" ns an operation"), "{raw:?}");
}

#[test]
fn the_environment_is_there_or_said_to_be_missing() {
    assert!(page_of(SMALL, None).contains("No environment.json stands beside the journal."));
    let environment = serde_json::json!({"cpu": {"model": "M 1", "caches": [{"level": 1}], "online": {"list": "0-1", "count": 2},
        "governor": {"value": null, "reason": "no such file"}}, "schema": "s"});
    let page = page_of(SMALL, Some(&environment));
    let tree = tree(&page);
    let row = |name: &str| {
        let heading = elements(&tree, "th").find(|node| node.text() == Some(name)).unwrap();
        heading.next_sibling_element().and_then(|node| node.text()).map(str::to_owned)
    };
    assert_eq!(row("model").as_deref(), Some("M 1"));
    assert_eq!(row("caches.0").as_deref(), Some("level 1"));
    assert_eq!(row("online").as_deref(), Some("list 0-1, count 2"));
    assert_eq!(row("governor").as_deref(), Some("unknown: no such file"));
    assert_eq!(row("schema").as_deref(), Some("s"));
}
