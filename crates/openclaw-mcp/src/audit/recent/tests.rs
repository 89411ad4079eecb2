use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant, UNIX_EPOCH};

use openclaw_state::StateKey;
use serde_json::{Map, json};

use super::*;
use crate::audit::{AuditEntry, AuditLog, CallOutcome};

struct Place {
    _directory: tempfile::TempDir,
    state: StateDirectory,
}

impl Place {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        Self {
            _directory: directory,
            state,
        }
    }

    fn file(&self) -> PathBuf {
        self.state.file(layout::AUDIT).unwrap()
    }

    fn older(&self) -> PathBuf {
        self.file().with_extension("jsonl.1")
    }

    /// The tools that were called last.
    fn tools(&self, most: usize) -> Vec<String> {
        let calls = recent_calls(&self.state, most).unwrap().into_iter();
        calls.map(|call| call.tool).collect()
    }
}

/// A line of the log.
fn line(tool: &str) -> String {
    let line = json!({
        "time": "2026-01-01T00:00:00.000Z", "agent": "main", "server": "files", "tool": tool,
        "argumentsHash": "0123456789abcdef0123456789abcdef", "argumentsBytes": 2,
        "outcome": "ok", "durationMs": 1, "correlation": "c",
    });
    format!("{line}\n")
}

#[test]
fn what_was_written_is_read() {
    let place = Place::new();
    let key = StateKey::of(&place.state).unwrap();
    let log = AuditLog::new(&place.state, &key).unwrap();
    let arguments = Map::new();
    let entry = AuditEntry {
        agent: "main",
        session: Some("agent:main:main"),
        server: "files\n",
        tool: "read",
        arguments: &arguments,
        outcome: CallOutcome::InvalidArguments,
        duration: Duration::from_millis(12),
        correlation: "0123",
    };
    log.record(&entry, UNIX_EPOCH);
    log.record(
        &AuditEntry {
            tool: "write",
            ..entry
        },
        UNIX_EPOCH + Duration::from_secs(1),
    );
    let calls = recent_calls(&place.state, 10).unwrap();
    assert_eq!(calls.len(), 2);
    let expected = AuditedCall {
        time: "1970-01-01T00:00:00.000Z".to_owned(),
        agent: "main".to_owned(),
        server: "files\n".to_owned(),
        tool: "read".to_owned(),
        outcome: "invalid-arguments".to_owned(),
        duration_ms: 12,
        correlation: "0123".to_owned(),
    };
    assert_eq!(calls[0], expected);
    assert_eq!(place.tools(1), ["write"]);
    assert!(place.tools(0).is_empty());
}

#[test]
fn where_one_file_is_too_short_the_one_before_it_is_read_as_well() {
    let place = Place::new();
    assert!(place.tools(9).is_empty());
    fs::write(place.file(), [line("c"), line("d")].concat()).unwrap();
    fs::write(place.older(), [line("a"), line("b")].concat()).unwrap();
    assert_eq!(place.tools(9), ["a", "b", "c", "d"]);
    assert_eq!(place.tools(3), ["b", "c", "d"]);
    assert_eq!(place.tools(2), ["c", "d"]);
}

#[test]
fn lines_that_are_no_calls_are_passed_over() {
    let place = Place::new();
    let mut bytes = line("first").into_bytes();
    for garbage in [
        &b"\n"[..],
        b"not json\n",
        b"{}\n",
        b"[1,2]\n",
        b"{\"time\": \"2026-01-01T00:00:00.000Z\"}\n",
        b"\xff\xfe\x00 not text\n",
        line("of another clock")
            .replace("2026-01-01T", "yesterday ")
            .as_bytes(),
        // What is written whole or not at all is cut where a disk is full.
        &line("cut").as_bytes()[..40],
        b"\n",
        line("later").replace("\"ok\"", "\"invented\"").as_bytes(),
        line("second").replace('{', "{\"more\": [{}], ").as_bytes(),
        // A text with half a character in it.
        b"{\"time\":\"2026-01-01T00:00:00.000Z\",\"agent\":\"\xc3\"}\n",
        // It is still being written.
        &line("last").as_bytes()[..60],
    ] {
        bytes.extend_from_slice(garbage);
    }
    fs::write(place.file(), bytes).unwrap();
    assert_eq!(place.tools(9), ["first", "later", "second"]);
}

#[test]
fn of_large_files_only_the_end_is_read() {
    let place = Place::new();
    // Of 5 MB each, the first line of what is looked at cut.
    let many = |name: &str| {
        let lines = (0..).map(|number| line(&format!("{name}{number:06}")));
        let size = line(&format!("{name}000000")).len();
        lines.take(5_000_000 / size).collect::<String>()
    };
    fs::write(place.older(), many("old")).unwrap();
    fs::write(place.file(), many("new")).unwrap();
    let begun = Instant::now();
    let all = place.tools(1_000_000);
    let took = begun.elapsed();
    let size = line("new000000").len();
    let in_window = usize::try_from(WINDOW).unwrap() / size;
    assert_eq!(all.len(), 2 * in_window);
    assert!(all[0].starts_with("old") && all[in_window].starts_with("new"));
    assert!(all.is_sorted_by_key(|tool| (tool.starts_with("new"), tool.clone())));
    assert!(took < Duration::from_secs(5), "{took:?}");
    let begun = Instant::now();
    let some = place.tools(200);
    let took = begun.elapsed();
    assert_eq!(some, all[all.len() - 200..]);
    assert!(took < Duration::from_millis(500), "{took:?}");
}

#[test]
fn a_line_without_an_end_costs_only_itself() {
    let place = Place::new();
    let endless = "x".repeat(5_000_000);
    fs::write(place.file(), format!("{}{endless}", line("hidden"))).unwrap();
    fs::write(place.older(), line("older")).unwrap();
    assert_eq!(place.tools(9), ["older"]);
}

#[test]
fn a_log_that_cannot_be_read_is_an_error() {
    let place = Place::new();
    fs::create_dir(place.file()).unwrap();
    let error = recent_calls(&place.state, 9).unwrap_err();
    assert!(
        error.to_string().contains("audit.jsonl is a directory"),
        "{error}"
    );
}
