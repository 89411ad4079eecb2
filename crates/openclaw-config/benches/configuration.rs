//! Reading, checking and resolving large configurations.
//!
//! Budget: 1,000 servers × 20 agents in under 50 ms.

#![expect(
    clippy::expect_used,
    reason = "a benchmark that can't be set up has nothing to say"
)]

use std::fs;
use std::path::Path;

use divan::Bencher;
use openclaw_config::{Environment, Location, connections, load};
use openclaw_state::StateKey;

fn main() {
    divan::main();
}

const SERVERS: usize = 1_000;
const AGENTS: usize = 20;

/// A configuration in which each agent changes so many of the servers.
fn text(overrides: usize) -> String {
    let mut text = String::from("// generated\n{\n  mcp: {\n    servers: {\n");
    for server in 0..SERVERS {
        if server % 2 == 0 {
            text.push_str(&format!(
                "      server{server}: {{\n        command: \"npx\",\n        args: [\"-y\", \"@example/server-{server}\", \"${{ROOT}}/data\"],\n        env: {{ API_KEY: \"secret://keyring/openclaw/{server}\", LOG_LEVEL: \"info\" }},\n        lazy: true,\n      }},\n"
            ));
        } else {
            text.push_str(&format!(
                "      server{server}: {{\n        url: \"https://server{server}.example/mcp\",\n        headers: {{ \"X-Team\": \"red\" }},\n        apiKey: \"${{KEY}}\",\n        requestTimeoutMs: 90000,\n        toolFilter: {{ include: [\"read_*\"] }},\n      }},\n"
            ));
        }
    }
    text.push_str("    },\n  },\n  agents: {\n    list: [\n");
    for agent in 0..AGENTS {
        text.push_str(&format!(
            "      {{ id: \"agent{agent}\", mcp: {{ servers: {{\n"
        ));
        for server in 0..overrides {
            text.push_str(&format!(
                "        server{server}: {{ requestTimeoutMs: {} }},\n",
                agent + 1
            ));
        }
        text.push_str("      } } },\n");
    }
    text.push_str("    ],\n  },\n}\n");
    text
}

fn fixture(overrides: usize) -> (tempfile::TempDir, Location, Environment) {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("openclaw.json");
    fs::write(&config, text(overrides)).expect("a file");
    let location = Location {
        config,
        state: directory.path().join("state"),
        profile: None,
        named: true,
    };
    let environment = Environment::new(
        [("ROOT", "/srv"), ("KEY", "a-key-from-the-environment")],
        None,
        Path::new("/"),
    );
    (directory, location, environment)
}

#[divan::bench(args = [0, 50, 1000])]
fn load_1000_servers_20_agents(bencher: Bencher<'_, '_>, overrides: usize) {
    let (_directory, location, environment) = fixture(overrides);
    bencher.bench_local(|| {
        let loaded = load(&location, &environment);
        assert_eq!(loaded.report.problems().len(), 0);
        loaded
    });
}

#[divan::bench]
fn fingerprints_of_1000_servers_20_agents(bencher: Bencher<'_, '_>) {
    let (_directory, location, environment) = fixture(0);
    let config = load(&location, &environment).config.expect("valid");
    let key = StateKey::from_bytes([1; 32]);
    bencher.bench_local(|| connections(&config, &key));
}
