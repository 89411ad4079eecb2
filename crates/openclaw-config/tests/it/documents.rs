//! The configurations that the documentation of the TypeScript OpenClaw and its proposals show.

use std::time::Duration;

use openclaw_config::{Authorization, Launch, Place, RemoteTransport, ToolNaming};

use crate::fixture::{Fixture, agent, names, server};

/// Loads a document as it stands; nothing in it may be an error.
fn document(text: &str) -> (Fixture, openclaw_config::Config) {
    let fixture = Fixture::new(text).variable("TAVILY_API_KEY", "tvly-from-the-environment");
    let loaded = fixture.load();
    assert_eq!(
        loaded.report.errors().count(),
        0,
        "{}",
        fixture.rendered(&loaded)
    );
    let config = loaded.config.unwrap();
    (fixture, config)
}

#[test]
fn servers_of_defaults_and_of_one_agent() {
    let (_fixture, config) = document(include_str!("documents/agents_with_servers.json"));
    assert_eq!(names(&config, "main"), ["filesystem", "linkedin"]);
    assert_eq!(
        names(&config, "research"),
        ["filesystem", "linkedin", "tavily"]
    );
    let tavily = server(&config, "research", "tavily");
    let Launch::Remote(launch) = &tavily.launch else {
        panic!("an address");
    };
    assert_eq!(launch.transport, RemoteTransport::Sse);
    assert!(matches!(launch.authorization, Authorization::Header(_)));
    assert_eq!(tavily.timeouts.connection, Duration::from_secs(30));
}

#[test]
fn the_plugin_block_has_its_own_defaults() {
    let (_fixture, config) = document(include_str!("documents/plugin_block.json5"));
    let tavily = server(&config, "main", "tavily");
    assert_eq!(tavily.place, Place::Plugin);
    assert_eq!(tavily.naming, ToolNaming::Joined);
    assert_eq!(tavily.timeouts.connection, Duration::from_secs(10));
    assert_eq!(tavily.timeouts.request, Duration::from_secs(30));
    assert_eq!(config.server_limits.plugin, 20);
    let Launch::Remote(corporate) = &server(&config, "main", "private-corp-server").launch else {
        panic!("an address");
    };
    let Authorization::OAuth(settings) = &corporate.authorization else {
        panic!("a login");
    };
    assert_eq!(
        settings.scopes.as_deref(),
        Some(&["read".to_owned(), "write".to_owned()][..])
    );
}

#[test]
fn a_tool_policy_of_the_gateway() {
    let (_fixture, config) = document(include_str!("documents/gateway_tool_policy.json"));
    let policy = &agent(&config, "main").policy;
    assert_eq!(policy.len(), 1);
    assert_eq!(policy[0].allow, ["mcp_linkedin_*"]);
    assert_eq!(policy[0].deny, ["mcp_filesystem_write_file"]);
}

#[test]
fn a_server_with_a_key() {
    let fragment = include_str!("documents/api_key_server.json");
    document(fragment);
    let (_fixture, config) = document(&format!("{{ mcp: {{ servers: {fragment} }} }}"));
    let Launch::Remote(launch) = &server(&config, "main", "tavily").launch else {
        panic!("an address");
    };
    assert!(matches!(launch.authorization, Authorization::ApiKey(_)));
}

#[test]
fn the_configuration_of_another_client_is_pointed_out() {
    let (fixture, config) = document(include_str!("documents/client_of_our_server.json"));
    assert!(names(&config, "main").is_empty());
    assert_eq!(
        fixture.problems(),
        ["mcpServers: servers are read from `mcp.servers`: this key has no effect"]
    );
}

#[test]
fn our_own_example_is_free_of_problems() {
    let fixture = Fixture::new(include_str!("../../../../examples/openclaw.json"));
    assert_eq!(fixture.problems(), Vec::<String>::new());
    let config = fixture.config();
    assert_eq!(names(&config, "main").len(), 6);
}
