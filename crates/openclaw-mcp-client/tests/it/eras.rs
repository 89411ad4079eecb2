//! Finding out what a server speaks.

use std::time::Duration;

use openclaw_mcp_client::{ConnectError, Era, Protocol, Transport};
use openclaw_testkit::JournalReader;
use tokio::time::Instant;

use crate::lab::{Lab, close, echo};

/// How often a server was asked something.
fn asked(journal: &JournalReader, method: &str) -> usize {
    let methods = journal.methods();
    methods.iter().filter(|it| *it == method).count()
}

#[tokio::test]
async fn both_eras_are_spoken_on_both_transports() {
    let mut lab = Lab::new();
    for (era, spoken, version) in [
        ("legacy", Era::Legacy, "2025-11-25"),
        ("modern", Era::Modern, "2026-07-28"),
        ("both", Era::Modern, "2026-07-28"),
    ] {
        let (program, _) = lab.program(&format!("stdio --era {era}"));
        let (address, _) = lab.address(&format!("http --era {era}"));
        for target in [program, address] {
            let connection = lab.connect(&target).await;
            let told = connection.diagnostics();
            assert_eq!((told.era, told.version), (spoken, version), "{era}");
            echo(&connection, "hello").await;
            close(connection).await;
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn older_revisions_are_spoken() {
    let mut lab = Lab::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let (program, _) = lab.program(&format!("stdio --era legacy --versions {version}"));
        let (address, _) = lab.address(&format!("http --era legacy --versions {version}"));
        for target in [program, address] {
            let connection = lab.connect(&target).await;
            assert_eq!(connection.diagnostics().version, version);
            echo(&connection, version).await;
            close(connection).await;
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn the_configuration_decides_where_it_says_so() {
    let mut lab = Lab::new();
    for (protocol, method) in [
        (Protocol::Legacy, "server/discover"),
        (Protocol::Modern, "initialize"),
    ] {
        let (mut program, program_journal) = lab.program("stdio --era both");
        let (mut address, address_journal) = lab.address("http --era both");
        for (target, journal) in [
            (&mut program, program_journal),
            (&mut address, address_journal),
        ] {
            target.protocol = protocol;
            let connection = lab.connect(target).await;
            echo(&connection, "hello").await;
            close(connection).await;
            assert_eq!(asked(&journal, method), 0, "{protocol:?}");
        }
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_server_without_the_second_era_can_be_refused() {
    let mut lab = Lab::new();
    let (program, _) = lab.program("stdio --era legacy");
    let (address, _) = lab.address("http --era legacy");
    for mut target in [program, address] {
        target.protocol = Protocol::Modern;
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(error.to_string().contains("second era"), "{error}");
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_is_mute_on_the_second_era_is_still_reached() {
    let mut lab = Lab::new();
    let (program, _) = lab.program("stdio --era legacy --mute-discover");
    let (mut address, _) = lab.address("http --era legacy --mute-discover");
    address.timeouts.connection = Duration::from_secs(4);
    for target in [program, address] {
        let started = Instant::now();
        let connection = lab.connect(&target).await;
        assert_eq!(connection.diagnostics().era, Era::Legacy);
        assert!(started.elapsed() < Duration::from_secs(3));
        echo(&connection, "hello").await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_is_slow_to_start_still_speaks_the_second_era() {
    let mut lab = Lab::new();
    let (target, journal) = lab.program("stdio --era both --initialize-delay 1500");
    let connection = lab.connect(&target).await;
    // It was asked in both eras by then, and answered the first question first.
    assert_eq!(connection.diagnostics().era, Era::Modern);
    assert_eq!(asked(&journal, "initialize"), 1);
    echo(&connection, "hello").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_takes_nearly_all_the_time_is_waited_for() {
    let mut lab = Lab::new();
    for era in ["legacy", "both"] {
        let (mut target, _) = lab.program(&format!("stdio --era {era} --initialize-delay 29000"));
        target.timeouts.connection = Duration::from_secs(30);
        let connection = lab.connect(&target).await;
        echo(&connection, "at last").await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_exits_over_an_unknown_question_is_started_again() {
    let mut lab = Lab::new();
    let (target, journal) = lab.program("stdio --era legacy --exit-on-unknown");
    let connection = lab.connect(&target).await;
    assert_eq!(connection.diagnostics().era, Era::Legacy);
    assert_eq!(asked(&journal, "initialize"), 1);
    echo(&connection, "hello").await;
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn what_a_server_speaks_is_remembered() {
    let mut lab = Lab::new();
    let (mut program, program_journal) = lab.program("stdio --era legacy --exit-on-unknown");
    let (mut streamable, streamable_journal) = lab.address("http --era legacy");
    let (mut events, events_journal) = lab.address("sse");
    for (name, target, journal) in [
        ("program", &mut program, program_journal),
        ("streamable", &mut streamable, streamable_journal),
        ("events", &mut events, events_journal),
    ] {
        target.fingerprint = Some(name.to_owned());
        lab.connect(target).await.close().await;
        let before = asked(&journal, "server/discover");
        let connection = lab.connect(target).await;
        echo(&connection, name).await;
        close(connection).await;
        assert_eq!(asked(&journal, "server/discover"), before, "{name}");
    }
    // A second process of ours knows it, too.
    let second = lab.another_connector();
    let connection = second.connect(&events).await.unwrap();
    assert_eq!(connection.diagnostics().transport, Transport::HttpEvents);
    close(connection).await;
    drop(second);
    lab.finish().await;
}

#[tokio::test]
async fn a_server_that_has_moved_on_is_found_out_again() {
    let mut lab = Lab::new();
    let (mut old, _) = lab.program("stdio --era legacy");
    let (mut new, _) = lab.program("stdio --era modern");
    old.fingerprint = Some("same".to_owned());
    new.fingerprint = Some("same".to_owned());
    lab.connect(&old).await.close().await;
    let connection = lab.connect(&new).await;
    assert_eq!(connection.diagnostics().era, Era::Modern);
    close(connection).await;
    // And back.
    let connection = lab.connect(&old).await;
    assert_eq!(connection.diagnostics().era, Era::Legacy);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn unknown_revisions_are_named() {
    let mut lab = Lab::new();
    let (program, _) = lab.program("stdio --era legacy --wrong-version");
    let (address, _) = lab.address("http --era legacy --wrong-version");
    for target in [program, address] {
        let error = lab.connector().connect(&target).await.err().unwrap();
        assert!(error.to_string().contains("1999-01-01"), "{error}");
    }
    lab.finish().await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_an_immediate_error() {
    let mut lab = Lab::new();
    let (mut target, _) = lab.program("stdio");
    let openclaw_mcp_client::Endpoint::Program(program) = &mut target.endpoint else {
        panic!("it is a program")
    };
    program.command = "no-such-server".to_owned();
    let error = lab.connector().connect(&target).await.err().unwrap();
    assert!(matches!(error, ConnectError::NoProgram(_)), "{error}");
    assert!(error.is_permanent());
    assert!(error.to_string().contains("PATH: /"), "{error}");
    lab.finish().await;
}

#[tokio::test]
async fn what_was_remembered_and_is_wrong_locks_nobody_out() {
    let mut lab = Lab::new();
    for (before, now) in [
        ("stdio --era modern", "stdio --era legacy --mute-discover"),
        ("stdio --era modern", "stdio --era legacy --exit-on-unknown"),
        ("stdio --era legacy", "stdio --era modern"),
        ("http --era modern", "http --era legacy"),
        ("http --era legacy", "http --era modern"),
        ("sse", "http --era modern"),
        ("sse", "http --era legacy"),
        ("http --era modern", "sse"),
    ] {
        let (mut old, _) = lab.server_of(before);
        let (mut new, _) = lab.server_of(now);
        old.fingerprint = Some(format!("{before} {now}"));
        new.fingerprint = old.fingerprint.clone();
        lab.connect(&old).await.close().await;
        // In another process, so that only the file remembers.
        let connector = lab.another_connector();
        let started = Instant::now();
        let connection = connector.connect(&new).await.expect(now);
        assert!(
            started.elapsed() < Duration::from_secs(8),
            "{before}, then {now}"
        );
        echo(&connection, now).await;
        close(connection).await;
    }
    lab.finish().await;
}

#[tokio::test]
async fn what_fails_is_not_remembered() {
    let mut lab = Lab::new();
    let (mut good, _) = lab.program("stdio --era legacy");
    let (mut mute, _) = lab.program("stdio --mute");
    good.fingerprint = Some("it".to_owned());
    mute.fingerprint = Some("it".to_owned());
    mute.timeouts.connection = Duration::from_secs(1);
    lab.connect(&good).await.close().await;
    assert!(lab.connector().connect(&mute).await.is_err());
    let (mut modern, journal) = lab.program("stdio --era modern");
    modern.fingerprint = Some("it".to_owned());
    let connection = lab.another_connector().connect(&modern).await.unwrap();
    assert_eq!(asked(&journal, "initialize"), 0, "nothing is remembered");
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn a_slow_server_that_refuses_the_first_era_is_waited_for() {
    let mut lab = Lab::new();
    let (target, journal) = lab.program("stdio --era modern --initialize-delay 1200");
    let connection = lab.connect(&target).await;
    assert_eq!(connection.diagnostics().era, Era::Modern);
    assert_eq!(asked(&journal, "initialize"), 1, "it was asked both");
    // The late refusal of our second question is no oddity.
    echo(&connection, "hello").await;
    assert_eq!(connection.diagnostics().passed_over, 0);
    close(connection).await;
    lab.finish().await;
}

#[tokio::test]
async fn times_without_end_are_fine() {
    let mut lab = Lab::new();
    for way in ["stdio", "http", "sse"] {
        let (mut target, _) = lab.server_of(way);
        target.timeouts.connection = Duration::MAX;
        target.timeouts.request = Duration::MAX;
        target.timeouts.total = Duration::MAX;
        let connection = lab.connect(&target).await;
        echo(&connection, way).await;
        close(connection).await;
    }
    lab.finish().await;
}
