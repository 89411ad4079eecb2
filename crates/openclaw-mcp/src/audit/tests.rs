#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::pin::pin;
use std::time::UNIX_EPOCH;

use futures_util::FutureExt as _;
use serde_json::json;

use super::*;

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

#[test]
fn a_line_tells_everything_but_what_was_said() {
    let directory = tempfile::tempdir().unwrap();
    let state = StateDirectory::open(&directory.path().join("state")).unwrap();
    let key = StateKey::of(&state).unwrap();
    let log = AuditLog::new(&state, &key).unwrap();
    let arguments = object(json!({"password": "hunter2-hunter2"}));
    let entry = AuditEntry {
        agent: "main",
        session: Some("agent:main:secret-session"),
        server: "files\n\u{1b}[31m",
        tool: "read",
        arguments: &arguments,
        outcome: CallOutcome::ToolError,
        duration: Duration::from_millis(12),
        correlation: "0123456789abcdef",
    };
    log.record(&entry, UNIX_EPOCH);
    log.record(&entry, UNIX_EPOCH);
    let other = object(json!({"password": "other"}));
    log.record(
        &AuditEntry {
            arguments: &other,
            ..entry
        },
        UNIX_EPOCH,
    );
    let path = state.file(layout::AUDIT).unwrap();
    #[cfg(unix)]
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("hunter2") && !text.contains("secret-session"));
    assert!(!text.contains('\u{1b}'));
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], lines[1]);
    assert_ne!(lines[0]["argumentsHash"], lines[2]["argumentsHash"]);
    assert_eq!(lines[0]["time"], "1970-01-01T00:00:00.000Z");
    assert_eq!(lines[0]["outcome"], "tool-error");
    assert_eq!(lines[0]["durationMs"], 12);
    assert_eq!(lines[0]["argumentsBytes"], 30);
    assert_eq!(lines[0]["session"].as_str().unwrap().len(), 32);
    // The hash means nothing in another state directory.
    let elsewhere = StateDirectory::open(&directory.path().join("other")).unwrap();
    let other_key = StateKey::of(&elsewhere).unwrap();
    let other_log = AuditLog::new(&elsewhere, &other_key).unwrap();
    assert_ne!(log.hash("x", b"y"), other_log.hash("x", b"y"));
    assert_ne!(log.hash("x", b"y"), log.hash("z", b"y"));
}

#[test]
fn calls_that_end_together_are_written_together_and_before_they_are_over() {
    let directory = tempfile::tempdir().unwrap();
    let state = StateDirectory::open(&directory.path().join("state")).unwrap();
    let key = StateKey::of(&state).unwrap();
    let log = AuditLog::new(&state, &key).unwrap();
    let arguments = Map::new();
    let entry = |tool| AuditEntry {
        agent: "main",
        session: None,
        server: "files",
        tool,
        arguments: &arguments,
        outcome: CallOutcome::Ok,
        duration: Duration::ZERO,
        correlation: "",
    };
    let path = state.file(layout::AUDIT).unwrap();
    let written = || {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let tools = text.lines().map(|line| {
            let line: Value = serde_json::from_str(line).unwrap();
            line["tool"].as_str().unwrap().to_owned()
        });
        tools.collect::<Vec<_>>()
    };
    let (zero, one, two, three) = (entry("zero"), entry("one"), entry("two"), entry("three"));
    // One that is alone waits for nobody.
    let first = log.begin();
    let alone = log.record_together(&zero, UNIX_EPOCH);
    assert!(alone.now_or_never().is_some());
    assert_eq!(written(), ["zero"]);
    let second = log.begin();
    let mut one = pin!(log.record_together(&one, UNIX_EPOCH));
    let mut two = pin!(log.record_together(&two, UNIX_EPOCH));
    assert!(one.as_mut().now_or_never().is_none() && two.as_mut().now_or_never().is_none());
    assert_eq!(written(), ["zero"]);
    assert!(two.as_mut().now_or_never().is_some());
    assert_eq!(written(), ["zero", "one", "two"]);
    assert!(one.as_mut().now_or_never().is_some());
    // One that nobody waits for to the end is written nevertheless.
    let mut three = Box::pin(log.record_together(&three, UNIX_EPOCH));
    assert!(three.as_mut().now_or_never().is_none());
    drop(three);
    assert_eq!(written(), ["zero", "one", "two", "three"]);
    drop((first, second));
    assert_eq!(log.under_way.load(Ordering::Relaxed), 0);
}
