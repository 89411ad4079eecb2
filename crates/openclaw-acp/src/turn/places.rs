//! Files that a call is about, so that an editor can show them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use agent_client_protocol::v1::schema::ToolCallLocation;
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

/// What arguments are called that name a file.
const NAMES: [&str; 7] = [
    "path",
    "file",
    "file_path",
    "filePath",
    "filename",
    "fileName",
    "uri",
];
/// The longest path.
const LONGEST: usize = 4096;
/// How long a disk may take to say whether a file is there.
const PATIENCE: Duration = Duration::from_millis(200);

/// Where a call may be at work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Places {
    /// Files that are named by their whole path.
    sure: Vec<PathBuf>,
    /// Files that may be meant: names that are also something else to many servers.
    possible: Vec<PathBuf>,
    line: Option<u32>,
}

impl Places {
    /// The files that arguments name, in a project.
    pub(super) fn of(arguments: &Map<String, Value>, project: &Path) -> Self {
        let mut places = Self::default();
        let line = arguments.get("line").and_then(Value::as_u64);
        places.line = line.and_then(|line| u32::try_from(line).ok());
        for name in NAMES {
            let Some(Value::String(text)) = arguments.get(name) else {
                continue;
            };
            if text.is_empty() || text.len() > LONGEST || text.chars().any(char::is_control) {
                continue;
            }
            if let Some(path) = local_path(text) {
                places.sure.push(path);
            } else if name != "uri" && !text.contains("://") {
                let path = Path::new(text);
                if path.is_absolute() {
                    places.sure.push(path.to_owned());
                } else {
                    places.possible.push(project.join(path));
                }
            }
        }
        places
    }

    /// The files, those that have to be looked for included if they are found at once.
    pub(super) async fn found(mut self) -> Vec<ToolCallLocation> {
        if !self.possible.is_empty() {
            let possible = std::mem::take(&mut self.possible);
            let looking = spawn_blocking(move || {
                let there = possible.into_iter().filter(|path| path.is_file());
                there.collect::<Vec<_>>()
            });
            // A disk that sleeps, or is far away, is not waited for.
            if let Ok(Ok(there)) = timeout(PATIENCE, looking).await {
                self.sure.extend(there);
            }
        }
        let line = self.line;
        let places = self.sure.into_iter();
        places
            .map(|path| ToolCallLocation::new(path).line(line))
            .collect()
    }
}

/// The path of a file of this machine, of an address that begins with `file://`.
pub(super) fn local_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    if !rest.starts_with('/') {
        return None;
    }
    let path = percent_decode_str(rest).decode_utf8().ok()?;
    // Where paths begin with a letter, there is a slash before it in an address (RFC 8089 §E.2).
    let path = match path.as_bytes() {
        [b'/', letter, b':', ..] if cfg!(windows) && letter.is_ascii_alphabetic() => {
            path.get(1..)?
        }
        _ => &path,
    };
    (!path.chars().any(char::is_control)).then(|| PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn found(arguments: Value, project: &Path) -> Vec<(String, Option<u32>)> {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        let places = Places::of(&arguments, project).found().await;
        places
            .into_iter()
            .map(|place| (place.path.display().to_string(), place.line))
            .collect()
    }

    #[tokio::test]
    async fn files_are_found_by_what_arguments_are_called() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("a.rs"), "").unwrap();
        let here = project.path().join("a.rs").display().to_string();
        let nowhere = json!({ "path": "b.rs", "uri": "a.rs", "name": "/etc/passwd", "file": 7 });
        assert_eq!(found(nowhere, project.path()).await, []);
        let relative = json!({ "path": "a.rs", "line": 3 });
        assert_eq!(found(relative, project.path()).await, [(here, Some(3))]);
        let whole = json!({ "filePath": "/x/y", "line": -1 });
        assert_eq!(
            found(whole, project.path()).await,
            [("/x/y".to_owned(), None)]
        );
        let address = json!({ "uri": "file:///x/a%20b", "path": "https://example.com/a.rs" });
        assert_eq!(
            found(address, project.path()).await,
            [("/x/a b".to_owned(), None)]
        );
    }

    #[test]
    fn only_files_of_this_machine_have_a_path() {
        assert_eq!(local_path("file:///a"), Some(PathBuf::from("/a")));
        assert_eq!(local_path("file://localhost/a"), Some(PathBuf::from("/a")));
        for uri in [
            "file://there/a",
            "file:a",
            "https://x/a",
            "/a",
            "file:///%00",
        ] {
            assert_eq!(local_path(uri), None, "{uri}");
        }
    }
}
