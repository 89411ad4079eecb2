#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::time::UNIX_EPOCH;

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
