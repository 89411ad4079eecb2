use openclaw_engine::LATENCY_BOUNDS;
use openclaw_mcp::CallOutcome;
use serde_json::Map;

use super::*;

fn config(names: &[&str]) -> Config {
    let directory = tempfile::tempdir().unwrap();
    let location = openclaw_config::Location {
        config: directory.path().join("openclaw.json"),
        state: directory.path().join("state"),
        profile: None,
        named: true,
    };
    let servers = names.iter();
    let servers: Map<_, _> = servers
        .map(|name| ((*name).to_owned(), serde_json::json!({ "command": "x" })))
        .collect();
    let text = serde_json::json!({ "mcp": { "servers": servers } });
    std::fs::write(&location.config, text.to_string()).unwrap();
    let environment = openclaw_config::Environment::new([], None, directory.path());
    let loaded = openclaw_config::load(&location, &environment);
    loaded.config.unwrap()
}

fn call(server: &str, outcome: CallOutcome, took: Duration, reached: bool) -> impl Fn(&Observer) {
    move |observer| {
        let entry = AuditEntry {
            agent: "main",
            session: None,
            server,
            tool: "echo\u{1b}[31m hunter2hunter2",
            arguments: &Map::new(),
            outcome,
            duration: took,
            correlation: "c",
        };
        observer.called(&entry, reached);
    }
}

fn one(observer: &Observer, name: &str) -> Option<ServerStatistics> {
    let report = observer.statistics(|_| ShownState::Ready);
    report.servers.into_iter().find(|it| it.server == name)
}

#[test]
fn calls_are_in_the_class_of_their_duration_and_only_those_that_reached_the_server() {
    let observer = Observer::new(&config(&["a"]), Redactor::new());
    let exact = Duration::from_millis(5);
    for (took, reached) in [
        (Duration::ZERO, true),
        (exact, true),
        (exact + Duration::from_micros(1), true),
        (Duration::from_mins(2), true),
        (exact, false),
    ] {
        call("a", CallOutcome::Ok, took, reached)(&observer);
    }
    let counted = one(&observer, "a").unwrap();
    let mut expected = vec![0; LATENCY_BOUNDS.len() + 1];
    (expected[0], expected[2], expected[3], expected[14]) = (1, 1, 1, 1);
    assert_eq!(counted.latency, expected);
    assert!((counted.latency_sum_ms - 120_010.001).abs() < 1e-6);
    assert_eq!(counted.calls.ok, 5);
}

#[test]
fn every_outcome_has_its_own_count() {
    let observer = Observer::new(&config(&["a"]), Redactor::new());
    let outcomes = [
        CallOutcome::Ok,
        CallOutcome::ToolError,
        CallOutcome::NotDone,
        CallOutcome::Unknown,
        CallOutcome::Denied,
        CallOutcome::Rejected,
        CallOutcome::InvalidArguments,
        CallOutcome::Cancelled,
    ];
    for (times, outcome) in outcomes.into_iter().enumerate() {
        for _ in 0..=times {
            call("a", outcome, Duration::ZERO, false)(&observer);
        }
        // The word is that of the audit log.
        let written = serde_json::to_value(outcome).unwrap();
        assert_eq!(written, outcome.as_str());
    }
    let calls = one(&observer, "a").unwrap().calls;
    let counts = [
        calls.ok,
        calls.tool_error,
        calls.not_done,
        calls.unknown,
        calls.denied,
        calls.rejected,
        calls.invalid_arguments,
        calls.cancelled,
    ];
    assert_eq!(counts, [1, 2, 3, 4, 5, 6, 7, 8]);
}

#[test]
fn names_that_are_not_configured_are_not_counted_and_those_that_leave_are_forgotten() {
    let observer = Observer::new(&config(&["a", "b"]), Redactor::new());
    for name in ["a", "b", "never"] {
        call(name, CallOutcome::Ok, Duration::ZERO, true)(&observer);
    }
    observer.restarted(&["a".to_owned(), "never".to_owned()]);
    observer.go_over(&config(&["a", "c"]));
    assert_eq!(one(&observer, "a").unwrap().calls.ok, 1);
    assert_eq!(one(&observer, "a").unwrap().restarts, 1);
    assert_eq!(one(&observer, "c").unwrap().calls.ok, 0);
    assert_eq!(one(&observer, "b"), None);
    assert_eq!(one(&observer, "never"), None);
    observer.go_over(&config(&["a", "b"]));
    assert_eq!(one(&observer, "b").unwrap().calls.ok, 0);
}

#[test]
fn whoever_watches_is_told_without_credentials_and_whoever_is_slow_knows_that_it_missed_some() {
    let redactor = Redactor::new();
    let _ = redactor.learn(&openclaw_secrets::Secret::new("hunter2hunter2"));
    let observer = Observer::new(&config(&["a"]), redactor);
    let told = call("a", CallOutcome::Ok, Duration::from_millis(7), true);
    // Nobody watches yet.
    told(&observer);
    let mut events = observer.watch();
    told(&observer);
    let event = events.try_recv().unwrap();
    let EngineEvent::Call {
        tool,
        outcome,
        duration_ms,
        ..
    } = &*event
    else {
        panic!("{event:?}");
    };
    assert_eq!((outcome.as_str(), *duration_ms), ("ok", 7));
    assert!(
        !tool.contains("hunter2") && !tool.contains('\u{1b}'),
        "{tool}"
    );
    assert!(events.try_recv().is_err(), "only what happened since");
    for _ in 0..=WAITING {
        told(&observer);
    }
    let missed = events.try_recv().unwrap_err();
    assert_eq!(missed, broadcast::error::TryRecvError::Lagged(1));
}

#[test]
fn turns_end_however_they_do() {
    let observer = Observer::new(&config(&[]), Redactor::new());
    assert!(observer.turn().went(Ok::<_, ()>(())).is_ok());
    assert!(observer.turn().went(Err::<(), _>(())).is_err());
    // Whoever waited for it gave up.
    drop(observer.turn());
    let report = observer.statistics(|_| ShownState::Ready);
    assert_eq!(
        (report.turns, report.failed_turns, report.cancelled_turns),
        (3, 1, 1)
    );
}

#[test]
fn every_name_of_a_server_is_told_of() {
    let observer = Observer::new(&config(&["a", "b"]), Redactor::new());
    let mut events = observer.watch();
    let names = ["a".to_owned(), "b".to_owned()];
    observer.server(&names, &ServerState::default());
    for name in names {
        let event = events.try_recv().unwrap();
        let EngineEvent::Server { server, .. } = &*event else {
            panic!("{event:?}");
        };
        assert_eq!(*server, name);
    }
}

/// A call of a server, as the log has it.
fn audited(time: &str, tool: &str) -> AuditedCall {
    AuditedCall {
        time: time.to_owned(),
        agent: "main".to_owned(),
        server: "a".to_owned(),
        tool: tool.to_owned(),
        outcome: "ok".to_owned(),
        duration_ms: 1,
        correlation: "c".to_owned(),
    }
}

#[test]
fn a_restart_is_told_to_those_who_watch_and_to_those_who_come_later() {
    let observer = Observer::new(&config(&["a"]), Redactor::new()).remembering();
    let mut events = observer.watch();
    observer.restarted(&["a".to_owned(), "never".to_owned()]);
    let restarted = |server: &str| EngineEvent::Restarted {
        server: server.to_owned(),
    };
    let wanted = [restarted("a"), restarted("never")];
    let told = [events.try_recv().unwrap(), events.try_recv().unwrap()];
    assert_eq!(told.map(|event| (*event).clone()), wanted);
    let kept = observer.activity(Vec::new(), 10).into_iter();
    assert_eq!(kept.map(|entry| entry.event).collect::<Vec<_>>(), wanted);
    assert_eq!(one(&observer, "a").unwrap().restarts, 1);
}

#[test]
fn calls_are_put_between_what_is_remembered_by_their_time() {
    let observer = Observer::new(&config(&["a"]), Redactor::new()).remembering();
    // Calls that are told are not remembered: they are in the log.
    call("a", CallOutcome::Ok, Duration::ZERO, true)(&observer);
    observer.restarted(&["a".to_owned()]);
    let calls = vec![
        audited("9999-01-01T00:00:00.001Z", "later"),
        audited("9999-01-01T00:00:00.000Z", "late"),
        audited("1970-01-01T00:00:00.000Z", "early"),
    ];
    let names = |most| {
        let entries = observer.activity(calls.clone(), most).into_iter();
        let names = entries.map(|entry| match entry.event {
            EngineEvent::Call { tool, .. } => tool,
            EngineEvent::Restarted { server } => format!("restarted {server}"),
            other => panic!("{other:?}"),
        });
        names.collect::<Vec<_>>()
    };
    assert_eq!(names(9), ["early", "restarted a", "late", "later"]);
    assert_eq!(names(3), ["restarted a", "late", "later"]);
    assert_eq!(names(0), Vec::<String>::new());
}

#[test]
fn whoever_is_not_asked_later_remembers_nothing() {
    let observer = Observer::new(&config(&["a"]), Redactor::new());
    observer.restarted(&["a".to_owned()]);
    assert!(observer.activity(Vec::new(), 10).is_empty());
}

#[test]
fn the_servers_may_change_while_it_is_asked_how_they_are() {
    let (before, after) = (config(&["a"]), config(&["b"]));
    let observer = Observer::new(&before, Redactor::new());
    // This would wait for ever if the list were held.
    let report = observer.statistics(|_| {
        observer.go_over(&after);
        ShownState::Ready
    });
    assert_eq!(report.servers.len(), 1);
    assert!(one(&observer, "b").is_some());
}
