use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::*;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("page")
}

/// The files of a folder and of those in it, by their paths below it.
fn files(folder: &Path, below: &str, found: &mut BTreeSet<String>) {
    for entry in folder.read_dir().unwrap() {
        let entry = entry.unwrap();
        let name = format!("{below}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), &format!("{name}/"), found);
        } else {
            found.insert(name);
        }
    }
}

fn text(name: &str) -> &'static str {
    let asset = ASSETS.iter().find(|asset| asset.name == name).unwrap();
    std::str::from_utf8(asset.bytes).unwrap()
}

fn modules() -> impl Iterator<Item = &'static str> {
    let names = ASSETS.iter().map(|asset| asset.name);
    names.filter(|name| Path::new(name).extension().is_some_and(|it| it == "js"))
}

#[test]
fn every_file_is_part_of_the_program() {
    let mut written = BTreeSet::new();
    files(&folder(), "", &mut written);
    // For those who write it alone.
    written.remove("jsconfig.json");
    let served: BTreeSet<String> = ASSETS.iter().map(|it| it.name.to_owned()).collect();
    assert_eq!(served, written);
}

#[test]
fn the_page_names_everything_so_that_it_comes_in_one_round() {
    let index = text(INDEX);
    for name in ASSETS.iter().map(|it| it.name).filter(|it| *it != INDEX) {
        let named = index.matches(&format!("\"/page/{name}\"")).count();
        assert_eq!(named, 1, "{name}");
    }
    for line in index.lines().filter(|line| line.contains("\"/page/")) {
        let known = ASSETS
            .iter()
            .any(|it| line.contains(&format!("\"/page/{}\"", it.name)));
        assert!(known, "{line}");
    }
}

#[test]
fn nothing_stands_in_the_page_that_its_policy_forbids() {
    let index = text(INDEX);
    assert!(!index.contains("<style") && !index.contains(" style="));
    assert!(!index.contains(" onclick=") && !index.contains("javascript:"));
    assert_eq!(
        index.matches("<script").count(),
        1,
        "one, and it has an address"
    );
    assert!(index.contains("<script type=\"module\" src=\"/page/start.js\"></script>"));
}

/// Everything that others wrote is shown as text: what reads markup is not used at all.
#[test]
fn nothing_reads_markup_or_runs_text() {
    for name in modules() {
        for forbidden in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "DOMParser",
            "createContextualFragment",
            "setHTML",
            "srcdoc",
            "eval(",
            "new Function",
            "setAttribute(\"style\"",
            "setAttribute(\"on",
        ] {
            assert!(!text(name).contains(forbidden), "{name}: {forbidden}");
        }
    }
}

#[test]
fn nothing_comes_from_elsewhere() {
    for asset in ASSETS {
        let text = std::str::from_utf8(asset.bytes).unwrap();
        for line in text.lines().filter(|line| line.contains("://")) {
            let is_known = [
                // Names, and patterns that addresses are compared with.
                "http://www.w3.org/2000/svg",
                "https?:\\/\\/",
                "${location.host}",
                "https://…/mcp",
            ]
            .iter()
            .any(|known| line.contains(known));
            assert!(is_known, "{}: {line}", asset.name);
        }
        assert!(!text.contains("@import"), "{}", asset.name);
    }
}

#[test]
fn files_have_their_kinds_and_versions_their_names() {
    let tags: BTreeSet<String> = ASSETS.iter().map(Asset::tag).collect();
    assert_eq!(tags.len(), ASSETS.len());
    for asset in ASSETS {
        let html = asset.kind().starts_with("text/html");
        assert_eq!(html, asset.name == INDEX, "{}", asset.name);
    }
}
