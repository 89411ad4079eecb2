//! Where log lines go, and what they never hold.

use std::fs;

use crate::program::Home;

fn log(home: &Home) -> Option<String> {
    fs::read_to_string(home.path().join(".openclaw/logs/openclaw.log")).ok()
}

#[test]
fn lines_are_for_people_or_for_programs_and_carry_the_operation() {
    let home = Home::with_config("{}");
    let human = home.run(&["--log-level", "debug", "config", "validate"]);
    assert!(human.stderr.contains("configuration checked"), "{human}");
    assert!(human.stderr.contains("operation{id="), "{human}");
    let json = home.run(&[
        "--log-level",
        "debug",
        "--log-format",
        "json",
        "config",
        "validate",
    ]);
    let line: serde_json::Value =
        serde_json::from_str(json.stderr.lines().next().unwrap()).unwrap();
    assert_eq!(line["fields"]["message"], "configuration checked");
    let id = line["span"]["id"].as_str().unwrap();
    assert_eq!(id.len(), 16, "{line}");
    // The same lines stand in the file, each operation under its own identifier.
    let log = log(&home).unwrap();
    assert_eq!(log.lines().count(), 2, "{log}");
    assert!(log.contains(id), "{log}");
}

#[cfg(unix)]
#[test]
fn the_log_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    home.run(&["--log-level", "debug", "config", "validate"]);
    let mode = |name: &str| {
        let metadata = fs::metadata(home.path().join(name)).unwrap();
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(".openclaw"), 0o700);
    assert_eq!(mode(".openclaw/logs"), 0o700);
    assert_eq!(mode(".openclaw/logs/openclaw.log"), 0o600);
}

#[test]
fn failures_are_in_the_log_and_mistakes_of_the_caller_are_not() {
    let home = Home::new();
    assert_eq!(home.run(&["config", "validte"]).code, Some(2));
    assert_eq!(log(&home), None);
    assert_eq!(home.run(&["man", "--output", "/dev/null/x"]).code, Some(1));
    let log = log(&home).unwrap();
    assert!(log.contains("cannot write the manual pages"), "{log}");
}

#[test]
fn a_state_directory_that_cannot_be_written_stops_no_command() {
    let home = Home::with_config("{}");
    home.write("blocked", "a file");
    let output = home
        .command(&[
            "--log-level",
            "debug",
            "config",
            "validate",
            "--config",
            ".openclaw/openclaw.json",
        ])
        .env("OPENCLAW_STATE_DIR", "blocked/state")
        .output()
        .unwrap();
    let run = home.finish(output);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        run.stderr.matches("nothing is logged to a file").count(),
        1,
        "said once: {run}"
    );
    assert!(run.stderr.contains("OPENCLAW_STATE_DIR"), "{run}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_on_a_full_disk_stops_no_command_and_is_told_once() {
    let home = Home::with_config("{}");
    home.write(".openclaw/logs/other", "");
    let path = home.path().join(".openclaw/logs/openclaw.log");
    std::os::unix::fs::symlink("/dev/full", path).unwrap();
    let run = home.run(&["--log-level", "trace", "config", "validate"]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(
        run.stderr.matches("nothing is logged to a file").count(),
        1,
        "said once: {run}"
    );
    assert!(run.stderr.contains("No space left on device"), "{run}");
}
