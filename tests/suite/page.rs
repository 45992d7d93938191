//! The HTML report in a browser: narrow and wide, light and dark, without a network, by keyboard alone.

use crate::browser::Page;
use crate::machine::Need;
use crate::program::Program;
use crate::trial;
use libtest_mimic::Trial;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub fn trials() -> Vec<Trial> {
    const CHROMIUM: &[Need] = &[Need::Chromium];
    let mut trials = vec![
        trial("page::it_is_sorted_by_keyboard", CHROMIUM, is_sorted_by_keyboard),
        trial("page::raw_numbers_are_reached_by_keyboard", CHROMIUM, raw_numbers_by_keyboard),
        trial("page::wide_tables_move_alone", CHROMIUM, wide_tables_move_alone),
        trial("page::it_is_told_to_who_does_not_see_it", CHROMIUM, is_told),
    ];
    for (width, scheme) in [(360, "light"), (360, "dark"), (1400, "light"), (1400, "dark")] {
        let name = format!("page::it_stands_alone_{width}_{scheme}");
        trials.push(trial(name, CHROMIUM, move || stands_alone(width, scheme)));
    }
    trials
}

/// In place of a journal that is kept with the tests.
const PUBLISHED: &str = "the published run";

/// The run below `reports/`.
fn published(root: &Path) -> PathBuf {
    let folders = fs::read_dir(root.join("reports")).unwrap().map(|entry| entry.unwrap().path());
    folders.filter(|folder| folder.join("records.jsonl").exists()).min().expect("a published run")
}

/// The page of a run whose journal is kept with the tests, or of the published one, and its address.
fn page(name: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = match name {
        PUBLISHED => published(root).join("records.jsonl"),
        name => root.join("tests/golden").join(format!("{name}.jsonl")),
    };
    fs::copy(golden, folder.path().join("records.jsonl")).unwrap();
    fs::write(folder.path().join("environment.json"), r#"{"cpu": {"model": "<b>"}}"#).unwrap();
    let ended = Program::ipcmatrix(["report", ".", "--format", "html"]).folder(folder.path()).run().exits(0);
    fs::write(folder.path().join("report.html"), ended.stdout).unwrap();
    let address = format!("file://{}/report.html", folder.path().display());
    (folder, address)
}

/// The texts whose contrast with what is behind them is under 4.5 (WCAG 2.2, 1.4.3).
const FAINT: &str = r#"(() => {
    const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
    const light = (colour) => parts(colour).slice(0, 3).map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const own = getComputedStyle(at).backgroundColor;
            if ((parts(own)[3] ?? 1) > 0) return own;
        }
        return "rgb(255, 255, 255)";
    };
    const faint = [];
    for (const element of document.querySelectorAll("main *")) {
        const texts = Array.from(element.childNodes).some((node) => node.nodeType === 3 && node.data.trim());
        if (!texts || !element.getClientRects().length) continue;
        const style = getComputedStyle(element);
        const drawn = element.ownerSVGElement !== null && element.ownerSVGElement !== undefined;
        if (drawn && element.tagName !== "text") continue;
        const back = drawn ? getComputedStyle(element.ownerSVGElement.querySelector(".back")).fill : behind(element);
        const both = [light(drawn ? style.fill : style.color), light(back)].sort((one, other) => other - one);
        const contrast = (both[0] + 0.05) / (both[1] + 0.05);
        if (contrast < 4.5) faint.push(`${element.tagName} ${element.textContent.slice(0, 30)} ${contrast}`);
    }
    return faint;
})()"#;

fn stands_alone(width: u32, scheme: &str) {
    for name in ["small", "hostile"] {
        let (_folder, address) = page(name);
        let mut page = Page::open(&address, width, scheme);
        let sticks_out = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
        assert_eq!(page.value("innerWidth"), width);
        assert_eq!(page.value(sticks_out), 0, "{name}");
        assert_eq!(page.value("(scrollTo(9999, 0), scrollX)"), 0, "{name} moves sideways as a whole");
        let faint = page.value(FAINT);
        assert!(faint.as_array().is_some_and(Vec::is_empty), "{name}: {faint:#}");
        let dark = page.value("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 29)";
        assert_eq!(dark, scheme == "dark");
        let figures = page.value("document.querySelectorAll('td[title]').length");
        assert_eq!(figures, if name == "small" { 12 } else { 1 });
        let requests = page.told("Network.requestWillBeSent");
        let outside: Vec<_> =
            requests.iter().filter(|request| request["request"]["url"] != address).collect();
        let outside: Vec<_> =
            outside.iter().filter(|request| request["request"]["url"] != "data:,").collect();
        assert!(!requests.is_empty() && outside.is_empty(), "{name}: {outside:?}");
        for complaint in [
            "Log.entryAdded",
            "Runtime.consoleAPICalled",
            "Runtime.exceptionThrown",
            "Page.javascriptDialogOpening",
        ] {
            assert!(page.told(complaint).is_empty(), "{name}: {:?}", page.told(complaint));
        }
    }
}

/// The published run has tables that are wider than any screen.
fn wide_tables_move_alone() {
    for width in [360, 1400] {
        let (_folder, address) = page(PUBLISHED);
        let mut page = Page::open(&address, width, "light");
        let wide = "[...document.querySelectorAll('.wide')].some(box => box.scrollWidth > box.clientWidth)";
        assert_eq!(page.value(wide), true, "a table that is wider than {width} pixels");
        assert_eq!(page.value("(scrollTo(9999, 0), scrollX)"), 0, "at {width} pixels");
    }
}

/// Goes on with Tab until what has the focus matches.
fn tab_to(page: &mut Page, what: &str) {
    for _ in 0..200 {
        page.press("Tab");
        if page.value(&format!("document.activeElement.matches({what:?})")) == true {
            return;
        }
    }
    panic!("{what} is not reached by Tab");
}

/// The rows of the third table: by its first column, and whether it says how it is sorted.
fn rows(page: &mut Page) -> (String, String) {
    let rows =
        "Array.from(document.querySelectorAll('#table-2 tbody th')).map((row) => row.textContent).join(' ')";
    let sorted =
        "Array.from(document.querySelectorAll('#table-2 thead th')).map((head) => head.ariaSort).join(' ')";
    let text = |value: serde_json::Value| value.as_str().unwrap().to_owned();
    (text(page.value(rows)), text(page.value(sorted)))
}

fn is_sorted_by_keyboard() {
    let (_folder, address) = page("small");
    let mut page = Page::open(&address, 1400, "light");
    tab_to(&mut page, "#table-2 thead button");
    page.press("Tab");
    assert_eq!(page.value("document.activeElement.textContent"), "pthread_mutex");
    let states = |one: &str, two: &str| (one.to_owned(), two.to_owned());
    assert_eq!(rows(&mut page), states("1 2 3", "none none none"));
    page.press("Enter");
    assert_eq!(rows(&mut page), states("1 2 3", "none ascending none"));
    page.press("Enter");
    assert_eq!(rows(&mut page), states("3 2 1", "none descending none"));
    page.press("Tab");
    page.press("Enter");
    assert_eq!(rows(&mut page), states("1 3 2", "none none ascending"), "those without a figure stay last");
    page.press("Enter");
    assert_eq!(rows(&mut page), states("1 3 2", "none none descending"));
}

fn raw_numbers_by_keyboard() {
    let (_folder, address) = page("small");
    let mut page = Page::open(&address, 360, "dark");
    let shown = "document.querySelector('#table-1 .raw').textContent";
    tab_to(&mut page, "#table-1 td");
    let first = page.value(shown).as_str().unwrap().to_owned();
    assert!(first.starts_with("1024, pipe: ") && first.ends_with("ns an operation"), "{first}");
    page.press("ArrowDown");
    assert!(page.value(shown).as_str().unwrap().starts_with("65536, pipe: "));
    page.press("ArrowRight");
    assert!(page.value(shown).as_str().unwrap().starts_with("65536, tcp: "), "over a place without a figure");
    page.press("ArrowRight");
    assert!(page.value(shown).as_str().unwrap().starts_with("65536, tcp: "), "there is none behind the last");
    page.press("Tab");
    assert_eq!(page.value("document.activeElement.matches('td[title]')"), false, "a table is one stop");
}

/// What a screen reader is told: every table, button, picture and link has a name.
fn is_told() {
    let (_folder, address) = page("small");
    let mut page = Page::open(&address, 1400, "light");
    let tree = page.call("Accessibility.getFullAXTree", serde_json::json!({}));
    let nodes: Vec<(&str, &str)> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|node| node["ignored"] == false)
        .map(|node| {
            (node["role"]["value"].as_str().unwrap(), node["name"]["value"].as_str().unwrap_or_default())
        })
        .collect();
    for (role, least) in
        [("table", 3), ("columnheader", 10), ("rowheader", 7), ("button", 10), ("image", 2), ("link", 5)]
    {
        let names: Vec<&str> = nodes.iter().filter(|(own, _)| *own == role).map(|(_, name)| *name).collect();
        assert!(names.len() >= least && names.iter().all(|name| !name.is_empty()), "{role}: {names:?}");
    }
    assert!(nodes.contains(&("image", "A.2 Bandwidth of message passing")));
    assert!(nodes.contains(&("table", "placement same_cpu (all workers on one CPU)")));
}
