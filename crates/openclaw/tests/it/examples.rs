//! The configurations in `examples/`.

use std::path::PathBuf;

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
