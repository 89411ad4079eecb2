//! Servers of several places, laid over each other.

use std::time::Duration;

use openclaw_config::{Definition, Launch, Place, Restart, StdioLaunch, ToolNaming};

use crate::fixture::{Fixture, config, configured, names, server, shown};

fn stdio(server: &openclaw_config::Server) -> &StdioLaunch {
    match &server.launch {
        Launch::Stdio(launch) => launch,
        Launch::Remote(_) => panic!("a program"),
    }
}

#[test]
fn later_places_win_field_by_field() {
    let config = config(
        r#"{
            mcp: { servers: { a: { command: "one", args: ["x"], env: { A: "1", B: "2" }, lazy: true, maxRestarts: 1 } } },
            plugins: { entries: { "mcp-client": { config: { servers: { a: { args: ["y"], maxRestarts: 2 } } } } } },
            agents: {
                defaults: { mcp: { servers: { a: { env: { A: "3" } } } } },
                list: [{ id: "other", mcp: { servers: { a: { maxRestarts: 9 } } } }],
            },
        }"#,
    );
    let main = server(&config, "main", "a");
    assert_eq!(stdio(&main).command, "one");
    assert_eq!(stdio(&main).args, ["y"]);
    assert_eq!(
        stdio(&main).environment.len(),
        1,
        "a field is replaced as a whole"
    );
    assert!(main.lazy);
    assert_eq!(main.restart, Restart::AtMost(2));
    let other = server(&config, "other", "a");
    assert_eq!(other.restart, Restart::AtMost(9));
    assert_eq!(stdio(&other).args, ["y"]);
}

#[test]
fn another_command_or_address_leaves_nothing_of_the_old_launch() {
    let config = config(
        r#"{
            mcp: { servers: {
                a: { url: "https://a.example/mcp", headers: { "X-Team": "red" }, apiKey: "${KEY}x", requestTimeoutMs: 5, trustAnnotations: true, resources: { inject: ["*"] } },
                b: { command: "one", env: { TOKEN_FILE: "x" }, cwd: "/a", args: ["1"] },
            } },
            env: { vars: { KEY: "k" } },
            agents: { entries: { other: { mcp: { servers: {
                a: { url: "https://b.example/mcp" },
                b: { command: "two" },
            } } } } },
        }"#,
    );
    let Launch::Remote(a) = &server(&config, "other", "a").launch else {
        panic!("an address");
    };
    assert!(a.headers.is_empty());
    assert!(matches!(
        a.authorization,
        openclaw_config::Authorization::OAuth(_)
    ));
    let a = server(&config, "other", "a");
    assert_eq!(
        a.timeouts.request,
        Duration::from_millis(5),
        "settings stay"
    );
    assert!(!a.trust_annotations, "trust was given to another server");
    assert!(
        a.resources.inject.is_empty(),
        "resources of another server were chosen"
    );
    let b = server(&config, "other", "b");
    assert_eq!(stdio(&b).command, "two");
    assert!(stdio(&b).args.is_empty() && stdio(&b).environment.is_empty());
    assert_eq!(stdio(&b).directory, None);
}

#[test]
fn the_same_command_again_keeps_the_rest_and_moves_the_defaults() {
    let config = config(
        r#"{
            mcp: { servers: { a: { command: "one", args: ["x"] } } },
            plugins: { entries: { "mcp-client": { config: { servers: { a: { command: "one" } } } } } },
        }"#,
    );
    let a = server(&config, "main", "a");
    assert_eq!(stdio(&a).args, ["x"]);
    assert_eq!(a.place, Place::Plugin);
    assert_eq!(a.naming, ToolNaming::Joined);
    assert_eq!(a.timeouts.connection, Duration::from_secs(10));
}

#[test]
fn a_partial_entry_of_the_plugin_block_does_not_move_the_defaults() {
    let config = config(
        r#"{
            mcp: { servers: { a: { command: "one" } } },
            plugins: { entries: { "mcp-client": { config: { toolNaming: "{server}__{tool}", servers: { a: { lazy: true } } } } } },
        }"#,
    );
    let a = server(&config, "main", "a");
    assert!(a.lazy);
    assert_eq!(a.naming, ToolNaming::Prefixed);
    assert_eq!(a.timeouts.request, Duration::from_mins(1));
}

#[test]
fn a_plugin_block_that_is_switched_off_switches_off_its_own_servers_only() {
    let config = config(
        r#"{
            mcp: { servers: { a: { command: "one" } } },
            plugins: { entries: { "mcp-client": { enabled: false, config: { servers: {
                a: { command: "two" }, b: { command: "three" },
            } } } } },
        }"#,
    );
    assert!(configured(&config, "main", "a").enabled);
    assert_eq!(stdio(&server(&config, "main", "a")).command, "one");
    assert!(!configured(&config, "main", "b").enabled);
}

#[test]
fn an_agent_can_switch_a_server_off_for_itself() {
    let config = config(
        r#"{
            mcp: { servers: { a: { command: "one" } } },
            agents: { list: [{ id: "quiet", mcp: { servers: { a: { enabled: false } } } }] },
        }"#,
    );
    assert!(configured(&config, "main", "a").enabled);
    assert!(!configured(&config, "quiet", "a").enabled);
}

#[test]
fn switching_off_what_is_not_there_is_pointed_out() {
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: { github: { command: "one" } } },
            agents: { list: [{ id: "quiet", mcp: { servers: { gitub: { enabled: false } } } }] },
        }"#,
    );
    assert_eq!(
        fixture.problems(),
        ["agents.list[0].mcp.servers.gitub: there is no server `gitub` to switch off"]
    );
    assert_eq!(names(&fixture.config(), "quiet"), ["github"]);
}

#[test]
fn globals_of_each_block_hold_for_its_servers() {
    let config = config(
        r#"{
            mcp: { toolDiscoveryInterval: 0, maxConcurrentServers: 3, servers: { a: { command: "x" } } },
            plugins: { entries: { "mcp-client": { config: {
                toolDiscoveryInterval: 1000, maxConcurrentServers: 4, debug: true,
                servers: { b: { command: "y" } },
            } } } },
        }"#,
    );
    assert_eq!(server(&config, "main", "a").discovery_interval, None);
    assert_eq!(
        server(&config, "main", "b").discovery_interval,
        Some(Duration::from_secs(1))
    );
    assert_eq!(config.server_limits.others, Some(3));
    assert_eq!(config.server_limits.plugin, 4);
    assert!(config.debug);
}

#[test]
fn agents_share_what_they_do_not_change() {
    let config = config(
        r#"{ mcp: { servers: { a: { command: "x" }, b: { command: "x" } } }, agents: { list: [{ id: "one" }, { id: "two", mcp: { servers: { b: { lazy: true } } } }] } }"#,
    );
    let get = |id, name| configured(&config, id, name);
    assert!(std::ptr::eq(get("one", "a"), get("two", "a")));
    assert!(!std::ptr::eq(get("one", "b"), get("two", "b")));
}

#[test]
fn an_override_of_a_refused_server_stays_refused() {
    for refused in [
        r#"{ url: "http://example.com/mcp" }"#,
        r#"{ command: "x", clientKey: "k" }"#,
        r#"{ url: "https://x.example", headers: { "Bad Name": "x" } }"#,
        r#"{ command: "x", env: { "A=B": "x" } }"#,
        r#"{ command: "x", env: { A: "secret://exec/nobody/id" } }"#,
    ] {
        let config = config(&format!(
            r#"{{ mcp: {{ servers: {{ a: {refused} }} }}, agents: {{ list: [{{ id: "b", mcp: {{ servers: {{ a: {{ lazy: true }} }} }} }}] }} }}"#
        ));
        for id in ["main", "b"] {
            let definition = &configured(&config, id, "a").definition;
            assert!(
                matches!(definition, Definition::Broken(_)),
                "{id}: {refused}"
            );
        }
    }
}

#[test]
fn an_override_cures_what_it_replaces() {
    let config = config(
        r#"{
            mcp: { servers: { a: { command: "x", env: { K: "${MISSING}" }, requestTimeoutMs: "soon" } } },
            agents: { list: [
                { id: "relaunched", mcp: { servers: { a: { command: "y", requestTimeoutMs: 5 } } } },
                { id: "given", mcp: { servers: { a: { env: { K: "literal" }, toolTimeout: 5 } } } },
                { id: "half", mcp: { servers: { a: { env: { K: "literal" } } } } },
            ] },
        }"#,
    );
    server(&config, "relaunched", "a");
    server(&config, "given", "a");
    for id in ["main", "half"] {
        let definition = &configured(&config, id, "a").definition;
        assert!(matches!(definition, Definition::Broken(_)), "{id}");
    }
}

#[test]
fn all_spellings_of_a_field_mean_the_same() {
    for (spelling, expected) in [
        (
            r#"{ url: "https://x.example", transport: "streamable-http" }"#,
            "http",
        ),
        (r#"{ url: "https://x.example", type: "http" }"#, "http"),
        (r#"{ url: "https://x.example" }"#, "http"),
        (r#"{ url: "https://x.example", type: "sse" }"#, "sse"),
        (r#"{ command: "x" }"#, "stdio"),
        (r#"{ command: "x", type: "stdio" }"#, "stdio"),
    ] {
        let config = config(&format!("{{ mcp: {{ servers: {{ a: {spelling} }} }} }}"));
        let shown = shown(&config, "main");
        assert_eq!(
            shown["mcp"]["servers"]["a"]["transport"], expected,
            "{spelling}"
        );
    }
    for spelling in ["connectionTimeoutMs", "timeout", "connectTimeoutMs"] {
        let text = format!("{{ mcp: {{ servers: {{ a: {{ command: 'x', {spelling}: 7 }} }} }} }}");
        let connection = server(&config(&text), "main", "a").timeouts.connection;
        assert_eq!(connection, Duration::from_millis(7));
    }
    for spelling in ["requestTimeoutMs", "toolTimeout"] {
        let text = format!("{{ mcp: {{ servers: {{ a: {{ command: 'x', {spelling}: 7 }} }} }} }}");
        let request = server(&config(&text), "main", "a").timeouts.request;
        assert_eq!(request, Duration::from_millis(7));
    }
}

#[test]
fn paths_are_relative_to_the_file_and_the_tilde_is_home() {
    let fixture = Fixture::new(
        r#"{ mcp: { servers: {
            a: { command: "x", cwd: "sub" },
            b: { command: "x", cwd: "~/sub" },
            c: { command: "x", cwd: "/abs" },
        } } }"#,
    );
    let config = fixture.config();
    let directory = |name| {
        stdio(&server(&config, "main", name))
            .directory
            .clone()
            .unwrap()
    };
    assert_eq!(directory("a"), fixture.path().join("sub"));
    assert_eq!(directory("b"), fixture.path().join("home/sub"));
    assert_eq!(directory("c"), std::path::Path::new("/abs"));
}
