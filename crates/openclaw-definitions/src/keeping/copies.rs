//! Copies of the configuration that have in plain text what is in the keyring by now.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_state::{layout, read_bounded};
use serde_json::json;

use crate::credentials::Credential;

/// How large a copy may be to be looked at: as large as a configuration.
const LARGEST: u64 = 8_000_000;

/// The warning about such copies, if there are any.
pub(crate) fn warning(state: &Path, credentials: &[Credential]) -> Option<String> {
    let mut directories: Vec<PathBuf> = Vec::new();
    let mut fields: Vec<String> = Vec::new();
    for copy in copies(&state.join(layout::CONFIG_BACKUPS)) {
        let Ok(text) = read_bounded(&copy, LARGEST) else {
            continue;
        };
        let text = String::from_utf8_lossy(&text);
        for credential in credentials.iter().filter(|it| has(&text, it)) {
            let directory = copy.parent().unwrap_or(&copy).to_owned();
            if !directories.contains(&directory) {
                directories.push(directory);
            }
            let field = credential.field.to_string();
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
    }
    let directories: Vec<String> = directories
        .iter()
        .map(|it| it.display().to_string())
        .collect();
    (!fields.is_empty()).then(|| {
        format!(
            "older copies of the configuration still have {} in plain text: delete {}",
            fields.join(", "),
            directories.join(", ")
        )
    })
}

/// All copies, of whichever configuration.
fn copies(directory: &Path) -> Vec<PathBuf> {
    let inside = |directory: &Path| {
        let entries = fs::read_dir(directory).into_iter().flatten();
        let mut paths: Vec<PathBuf> = entries.flatten().map(|it| it.path()).collect();
        paths.sort();
        paths
    };
    let directories = inside(directory);
    directories.iter().flat_map(|it| inside(it)).collect()
}

/// Whether a value stands in a text, as it is or as JSON writes it.
fn has(text: &str, credential: &Credential) -> bool {
    let plain = credential.value.expose();
    let quoted = json!(plain).to_string();
    text.contains(plain) || text.contains(quoted.trim_matches('"'))
}
