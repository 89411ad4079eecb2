//! What is told to those who watch over many programs.

use std::time::Duration;

use openclaw_config::{Config, Definition, OtelSettings, ValueOwner};
use openclaw_secrets::Redactor;

use crate::fixture::{Fixture, config};

fn otel(config: &Config) -> &OtelSettings {
    config.otel.sound().unwrap()
}

#[test]
fn nothing_is_exported_unless_the_file_says_so() {
    for text in ["{}", "{ diagnostics: {} }", "{ diagnostics: { otel: {} } }"] {
        let config = config(text);
        assert!(!otel(&config).enabled);
        let shown = config.show(&config.agents[&config.default_agent], &Redactor::new());
        assert!(shown.get("diagnostics").is_none(), "{shown}");
    }
    let off = config("{ diagnostics: { enabled: false, otel: { enabled: true } } }");
    assert!(!otel(&off).enabled);
}

#[test]
fn every_setting_is_read() {
    let read = config(
        "{ diagnostics: { otel: { enabled: true, endpoint: 'https://c.example', protocol: \
         'http/protobuf', headers: { Authorization: 'secret://env/KEY' }, serviceName: 'mine', \
         traces: true, sampleRate: 0.5, flushIntervalMs: 1000, captureContent: false } } }",
    );
    let settings = otel(&read);
    assert!(settings.enabled && settings.traces);
    assert_eq!(
        settings.endpoint.as_ref().unwrap().as_str(),
        "https://c.example/"
    );
    assert_eq!(settings.service_name.as_deref(), Some("mine"));
    assert_eq!(settings.sample_rate, Some(0.5));
    assert_eq!(settings.flush_interval, Some(Duration::from_secs(1)));
    let references = read.references();
    assert_eq!(references[0].owner, ValueOwner::Diagnostics);
    assert_eq!(references[0].field, "otel.headers.authorization");
    let shown = read.show(&read.agents[&read.default_agent], &Redactor::new());
    let shown = &shown["diagnostics"]["otel"];
    assert_eq!(shown["headers"]["authorization"], "secret://env/KEY");
    assert_eq!(shown["flushIntervalMs"], 1000);
}

#[test]
fn a_mistake_costs_only_the_export() {
    for (text, place) in [
        (
            "{ diagnostics: { otel: { protocol: 'grpc' } } }",
            "protocol",
        ),
        ("{ diagnostics: { otel: { sampleRate: 2 } } }", "sampleRate"),
        (
            "{ diagnostics: { otel: { sampleRate: 'all' } } }",
            "sampleRate",
        ),
        (
            "{ diagnostics: { otel: { endpoint: 'collector:4317' } } }",
            "endpoint",
        ),
        (
            "{ diagnostics: { otel: { flushIntervalMs: 0 } } }",
            "flushIntervalMs",
        ),
        (
            "{ diagnostics: { otel: { headers: { 'a b': 'c' } } } }",
            "headers",
        ),
    ] {
        let loaded = Fixture::new(text).load();
        let config = loaded.config.expect("the rest is usable");
        assert!(matches!(config.otel, Definition::Broken(_)), "{text}");
        let problem = &loaded.report.problems()[0];
        assert!(problem.path().to_string().contains(place), "{problem:?}");
    }
}

#[test]
fn what_is_probably_not_meant_is_warned_about() {
    for (text, words) in [
        ("{ diagnostics: { otel: { metrics: true } } }", "/metrics"),
        (
            "{ diagnostics: { otel: { logs: true } } }",
            "logs are not exported",
        ),
        (
            "{ diagnostics: { otel: { endpoint: 'http://c.example' } } }",
            "read along",
        ),
        (
            "{ diagnostics: { otel: { headers: { 'x-api-key': 'sk-4711aBcDeFgHiJkLmNoPqRsTuV' } } } }",
            "plain text",
        ),
    ] {
        let loaded = Fixture::new(text).load();
        assert!(loaded.config.unwrap().otel.sound().is_some(), "{text}");
        let problems = loaded.report.problems();
        let [problem] = problems else {
            panic!("{text}: {problems:?}");
        };
        assert!(problem.message().contains(words), "{problem:?}");
    }
}
