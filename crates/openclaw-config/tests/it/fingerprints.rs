//! What makes connections the same, and what a reload changes.

use openclaw_config::{Change, Fingerprint, Fingerprints, connections, difference};
use openclaw_state::StateKey;

use crate::fixture::{Fixture, config, server};

fn key() -> StateKey {
    StateKey::from_bytes([7; 32])
}

fn fingerprint(definition: &str) -> Fingerprint {
    fingerprint_as("a", definition)
}

fn fingerprint_as(name: &str, definition: &str) -> Fingerprint {
    let config = config(&format!(
        "{{ mcp: {{ servers: {{ {name}: {definition} }} }} }}"
    ));
    Fingerprints::new(&config, &key()).of(&server(&config, "main", name))
}

#[test]
fn everything_that_belongs_to_the_launch_counts() {
    let launches = [
        "{ command: 'x' }",
        "{ command: 'y' }",
        "{ command: 'x', args: ['a', 'b'] }",
        "{ command: 'x', args: ['ab'] }",
        "{ command: 'x', args: ['a'], env: { b: '' } }",
        "{ command: 'x', env: { A: 'b' } }",
        "{ command: 'x', env: { A: 'secret://env/b' } }",
        "{ command: 'x', env: { A: 'secret://env/c' } }",
        "{ command: 'x', env: { A: { prefix: 'p', secret: 'secret://env/b' } } }",
        "{ command: 'x', inheritEnv: true }",
        "{ command: 'x', inheritEnv: ['A'] }",
        "{ command: 'x', cwd: '/tmp' }",
        "{ command: 'x', protocol: 'legacy' }",
        "{ command: 'x', scope: 'session' }",
        "{ command: 'x', roots: [] }",
        "{ command: 'x', roots: ['/'] }",
        "{ url: 'https://x.example' }",
        "{ url: 'https://x.example/a' }",
        "{ url: 'https://x.example', transport: 'sse' }",
        "{ url: 'https://x.example', headers: { A: 'b' } }",
        "{ url: 'https://x.example', headers: { Authorization: 'b' } }",
        "{ url: 'https://x.example', apiKey: 'b' }",
        "{ url: 'https://x.example', auth: 'oauth' }",
        "{ url: 'https://x.example', auth: { clientId: 'b' } }",
        "{ url: 'https://x.example', auth: { scopes: ['b'] } }",
        "{ url: 'https://x.example', sslVerify: false }",
        "{ url: 'https://x.example', caCert: 'b' }",
        "{ url: 'https://x.example', clientCert: 'b' }",
        "{ url: 'https://x.example', clientCert: 'b', clientKey: 'c' }",
    ];
    let prints: std::collections::BTreeMap<Fingerprint, &str> = launches
        .iter()
        .map(|launch| (fingerprint(launch), *launch))
        .collect();
    assert_eq!(prints.len(), launches.len(), "{prints:#?}");
}

#[test]
fn settings_do_not_count_and_neither_does_the_name_of_a_program() {
    let plain = fingerprint("{ command: 'x' }");
    let settings = "{ command: 'x', lazy: true, requestTimeoutMs: 5, toolPrefix: 'p', pin: 'off' }";
    assert_eq!(plain, fingerprint(settings));
    assert_eq!(plain, fingerprint_as("b", "{ command: 'x' }"));
}

#[test]
fn logins_are_per_name_and_keys_are_not() {
    let oauth = "{ url: 'https://x.example' }";
    assert_ne!(fingerprint_as("a", oauth), fingerprint_as("b", oauth));
    let keyed = "{ url: 'https://x.example', apiKey: 'secret://env/K' }";
    assert_eq!(fingerprint_as("a", keyed), fingerprint_as("b", keyed));
}

#[test]
fn another_key_gives_another_fingerprint() {
    let config = config("{ mcp: { servers: { a: { command: 'x' } } } }");
    let a = server(&config, "main", "a");
    assert_ne!(
        Fingerprints::new(&config, &key()).of(&a),
        Fingerprints::new(&config, &StateKey::from_bytes([8; 32])).of(&a)
    );
}

#[test]
fn a_secret_counts_by_reference_and_a_variable_by_value() {
    let text =
        "{ mcp: { servers: { a: { command: 'x', env: { A: '${V}', B: 'secret://env/V' } } } } }";
    let print = |value: &'static str| {
        let config = Fixture::new(text).variable("V", value).config();
        Fingerprints::new(&config, &key()).of(&server(&config, "main", "a"))
    };
    assert_ne!(print("one"), print("two"));
    let text = "{ mcp: { servers: { a: { command: 'x', env: { B: 'secret://env/V' } } } } }";
    let print = |value: &'static str| {
        let config = Fixture::new(text).variable("V", value).config();
        Fingerprints::new(&config, &key()).of(&server(&config, "main", "a"))
    };
    assert_eq!(print("one"), print("two"));
}

#[test]
fn another_setup_of_a_provider_means_another_secret() {
    let print = |path: &str| {
        let config = config(&format!(
            "{{ secrets: {{ providers: {{ f: {{ source: 'file', path: '{path}' }} }} }},
               mcp: {{ servers: {{ a: {{ command: 'x', env: {{ A: {{ source: 'file', provider: 'f', id: '/x' }} }} }} }} }} }}"
        ));
        Fingerprints::new(&config, &key()).of(&server(&config, "main", "a"))
    };
    assert_ne!(print("/one"), print("/two"));
    assert_eq!(print("/one"), print("/one"));
}

#[test]
fn agents_share_connections() {
    let config = config(
        "{ mcp: { servers: { a: { command: 'x' }, b: { command: 'x', lazy: true }, c: { command: 'y' }, off: { command: 'z', enabled: false } } },
           agents: { list: [{ id: 'one' }, { id: 'two', mcp: { servers: { a: { requestTimeoutMs: 5 } } } }] } }",
    );
    let connections = connections(&config, &key());
    assert_eq!(
        connections.len(),
        2,
        "three agents, four servers, two processes"
    );
    assert_eq!(
        connections
            .values()
            .map(|connection| connection.users.len())
            .max(),
        Some(6)
    );
}

#[test]
fn a_reload_touches_only_what_changed() {
    let old = config(
        "{ mcp: { servers: { same: { command: 'a' }, changed: { command: 'b' }, tuned: { command: 'c' }, gone: { command: 'd' }, off: { command: 'e' } } } }",
    );
    let new = config(
        "{ mcp: { servers: { same: { command: 'a' }, changed: { command: 'b', args: ['x'] }, tuned: { command: 'c', lazy: true }, added: { command: 'f' }, off: { command: 'e', enabled: false } } } }",
    );
    let difference = difference(&old, &new, &key());
    let changes: Vec<(String, Change)> = difference
        .changes
        .iter()
        .map(|((_, name), change)| (name.to_string(), *change))
        .collect();
    assert_eq!(
        changes,
        [
            ("added".to_owned(), Change::Added),
            ("changed".to_owned(), Change::Relaunched),
            ("gone".to_owned(), Change::Removed),
            ("off".to_owned(), Change::Switched),
            ("tuned".to_owned(), Change::Reconfigured),
        ]
    );
    assert_eq!(difference.keep.len(), 2);
    assert_eq!(difference.start.len(), 2);
    assert_eq!(difference.stop.len(), 3);
}

#[test]
fn a_renamed_server_keeps_its_connection() {
    let old = config("{ mcp: { servers: { old: { command: 'a' } } } }");
    let new = config("{ mcp: { servers: { new: { command: 'a' } } } }");
    let difference = difference(&old, &new, &key());
    assert!(difference.start.is_empty() && difference.stop.is_empty());
    assert_eq!(difference.keep.len(), 1);
}

#[test]
fn a_secret_never_appears_in_a_fingerprint_or_a_debug_print() {
    let config =
        config("{ mcp: { servers: { a: { command: 'x', env: { TOKEN: 'hunter2hunter2' } } } } }");
    assert!(!format!("{config:?}").contains("hunter2"));
}
