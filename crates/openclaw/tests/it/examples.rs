//! The configurations in `examples/` and in the documentation.

use std::path::{Path, PathBuf};

use crate::program::Home;

/// All example files.
fn examples() -> Vec<PathBuf> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let entries = std::fs::read_dir(directory).unwrap();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|it| it == "json"));
    found.sort();
    found
}

#[test]
fn every_example_is_valid_and_has_nothing_to_warn_about() {
    let examples = examples();
    assert!(examples.len() >= 4, "{examples:?}");
    for example in examples {
        let home = Home::new();
        let output = home
            .command(&["config", "validate", "--json", "--config"])
            .arg(&example)
            .env("DOCS_KEY", "0123456789")
            .output()
            .unwrap();
        let run = home.finish(output);
        assert_eq!(run.code, Some(0), "{}: {run}", example.display());
        let report = run.json();
        assert_eq!(report["warnings"], serde_json::json!([]), "{run}");
    }
}

/// All pages of the documentation.
fn pages(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|it| it == "md") {
            found.push(path);
        }
    }
}

#[test]
fn all_json_in_the_documentation_is_json() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let mut found = vec![root.join("README.md")];
    pages(&root.join("docs"), &mut found);
    let mut count = 0;
    for page in found {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("\n```json\n").skip(1) {
            let (block, _) = block.split_once("\n```").unwrap();
            if let Err(error) = serde_json::from_str::<serde_json::Value>(block) {
                panic!("{}: {error}:\n{block}", page.display());
            }
            count += 1;
        }
    }
    assert!(count > 5, "{count}");
}
