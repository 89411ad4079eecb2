//! Whatever stands in the file: an answer, in time, without a panic.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use crate::fixture::Fixture;

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{a:", "{mcp:{servers:{a:{env:{x:"] {
        let fixture = Fixture::new(&open.repeat(100_000));
        assert!(fixture.load().config.is_none());
    }
}

#[test]
fn a_file_full_of_mistakes_is_answered_in_seconds() {
    let mut text = String::from("{ mcp: { servers: { s: { command: 'x', ");
    for number in 0..100_000 {
        text.push_str(&format!("k{number}: 1, "));
    }
    text.push_str("} } } }");
    let fixture = Fixture::new(&text);
    let start = Instant::now();
    let loaded = fixture.load();
    let found = loaded.report.problems().len() + loaded.report.omitted();
    assert_eq!(found, 100_000);
    assert!(fixture.rendered(&loaded).contains("and 99900 more"));
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn errors_are_not_hidden_behind_warnings() {
    let mut text = String::from("{ mcp: { servers: { s: { command: 'x',\n");
    for number in 0..150 {
        text.push_str(&format!("k{number}: 1,\n"));
    }
    text.push_str("}, t: { command: 5 } } } }");
    let fixture = Fixture::new(&text);
    let rendered = fixture.rendered(&fixture.load());
    assert!(rendered.contains("error: expected a string"), "{rendered}");
    assert!(rendered.contains("and 50 more"), "{rendered}");
}

#[test]
fn a_full_report_makes_no_server_sound() {
    let mut text = String::from("{ mcp: { servers: { s: { command: 'x', args: [");
    for _ in 0..25_000 {
        text.push_str("5,");
    }
    text.push_str("] }, t: { command: 'x', env: { A: null } }, u: { command: 'x', env: { A: '${NONE}' } } } } }");
    let config = Fixture::new(&text).config();
    for name in ["s", "t", "u"] {
        let server = crate::fixture::configured(&config, "main", name);
        assert!(server.definition.sound().is_none(), "{name}");
    }
}

#[test]
fn many_agents_and_servers_are_answered_in_seconds() {
    let start = Instant::now();
    let agents: String = (0..1_000)
        .map(|number| format!("{{id:'a{number}',mcp:{{servers:{{s{number}:{{lazy:true}}}}}}}},"))
        .collect();
    let servers: String = (0..10_000)
        .map(|number| format!("s{number}:{{command:'x'}},"))
        .collect();
    let fixture = Fixture::new(&format!(
        "{{ mcp: {{ servers: {{ {servers} }} }}, agents: {{ list: [{agents}] }} }}"
    ));
    let config = fixture.config();
    assert_eq!(config.agents.len(), 1_001);
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn more_than_anybody_has_is_refused() {
    let agents: String = (0..1_001)
        .map(|number| format!("{{id:'a{number}'}},"))
        .collect();
    let servers: String = (0..10_001).map(|number| format!("s{number}:5,")).collect();
    let fixture = Fixture::new(&format!("{{ agents: {{ list: [{agents}] }} }}"));
    assert_eq!(
        fixture.problems(),
        ["agents.list: there are more than 1000 agents"]
    );
    let fixture = Fixture::new(&format!("{{ mcp: {{ servers: {{ {servers} }} }} }}"));
    assert_eq!(
        fixture.problems(),
        ["mcp.servers: more than 10000 stand here"]
    );
}

/// A piece of JSON5 in which servers, fields and values are mixed up.
fn document() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        Just("0x10".to_owned()),
        Just("-1.5e3".to_owned()),
        Just("NaN".to_owned()),
        Just("'stdio'".to_owned()),
        Just("'https://x.example/${A}'".to_owned()),
        Just("'secret://gcp/x'".to_owned()),
        Just("'$A'".to_owned()),
        "'[a-z/:.${}]{0,12}'",
    ];
    let key = prop::sample::select(vec![
        "mcp",
        "servers",
        "agents",
        "defaults",
        "list",
        "entries",
        "id",
        "command",
        "url",
        "env",
        "headers",
        "args",
        "tools",
        "deny",
        "plugins",
        "mcp-client",
        "config",
        "transport",
        "auth",
        "oauth",
        "clientSecret",
        "secret",
        "prefix",
        "source",
        "timeout",
        "connectionTimeoutMs",
        "enabled",
        "$include",
        "models",
        "providers",
        "vars",
        "gateway",
        "skills",
        "entries",
        "secrets",
        "a",
    ]);
    scalar.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|elements| format!("[{}]", elements.join(","))),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|members| {
                let members: Vec<String> = members
                    .iter()
                    .map(|(key, value)| format!("'{key}': {value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn any_values_are_answered(
        servers in document(), agents in document(), plugins in document(), root in document(),
    ) {
        for text in [
            format!("{{ mcp: {{ servers: {{ x: {servers}, y: {agents} }} }}, agents: {agents}, plugins: {plugins} }}"),
            format!("{{ agents: {{ defaults: {agents}, list: [{agents}, {{ id: 'x', mcp: {{ servers: {servers} }} }}] }} }}"),
            root,
        ] {
            let fixture = Fixture::new(&text);
            let loaded = fixture.load();
            loaded.report.render(false);
            if let Some(config) = &loaded.config {
                for agent in config.agents.values() {
                    config.show(agent, &openclaw_secrets::Redactor::new());
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let fixture = Fixture::empty();
        fixture.write("openclaw.json", bytes);
        fixture.load().report.render(true);
    }

    #[test]
    fn a_file_that_is_cut_anywhere_is_answered(cut in 0_usize..3000) {
        let text = include_str!("../../../../examples/openclaw.json");
        let cut = text.floor_char_boundary(cut);
        let loaded = Fixture::new(&text[..cut]).load();
        loaded.report.render(false);
    }
}
