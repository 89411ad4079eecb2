//! Whatever stands in a file: an answer without a panic, and entries that we take.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::fixture::Machine;

/// Texts of the kind that matter here.
fn text() -> BoxedStrategy<String> {
    prop_oneof![
        "[a-zA-Z0-9 ./_-]{0,12}",
        r"(\$|\{|\}|\$\{|env:|input:|file:|A|a_b|:-|/|~|userHome){0,8}",
        "https?://(localhost|x\\.example|127\\.1|\\[::1\\]|a@b@c|)(:[0-9]{0,6})?(/[a-z ]{0,4})?",
        prop::sample::select(vec![
            "secret://env/A",
            "$include",
            "__proto__",
            "\0",
            "\r\n",
            "stdio",
            "http",
            "sse",
            "$HOME",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ]
    .boxed()
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..4)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

const FIELDS: &[&str] = &[
    "args",
    "auth",
    "bearer_token",
    "bearer_token_env_var",
    "command",
    "cwd",
    "disabled",
    "disabledTools",
    "enabled",
    "enabled_tools",
    "env",
    "envFile",
    "env_http_headers",
    "env_vars",
    "headers",
    "http_headers",
    "oauth",
    "scopes",
    "serverUrl",
    "startup_timeout_ms",
    "startup_timeout_sec",
    "timeout",
    "tool_timeout_sec",
    "type",
    "url",
];

/// A field with a value that may well be right.
fn field() -> impl Strategy<Value = (String, Value)> {
    let name = prop::sample::select(FIELDS);
    let table = prop::collection::vec((text(), text().prop_map(Value::from)), 0..4)
        .prop_map(|pairs| Value::Object(pairs.into_iter().collect()))
        .boxed();
    let login = (text(), value(), text()).prop_map(
        |(id, port, scopes)| json!({ "clientId": id, "callbackPort": port, "scopes": scopes, "CLIENT_SECRET": id }),
    );
    let list = prop::collection::vec(text(), 0..4)
        .prop_map(Value::from)
        .boxed();
    let any = (name, value()).prop_map(|(name, value)| (name.to_owned(), value));
    prop_oneof![
        2 => any,
        1 => text().prop_map(|value| ("command".to_owned(), Value::from(value))),
        1 => text().prop_map(|value| ("url".to_owned(), Value::from(value))),
        1 => table.clone().prop_map(|value| ("env".to_owned(), value)),
        1 => table.prop_map(|value| ("headers".to_owned(), value)),
        1 => list.clone().prop_map(|value| ("args".to_owned(), value)),
        1 => list.prop_map(|value| ("env_vars".to_owned(), value)),
        1 => login.prop_map(|value| ("oauth".to_owned(), value)),
    ]
}

fn servers() -> impl Strategy<Value = Value> {
    let server = prop::collection::vec(field(), 1..8).prop_map(|fields| {
        let mut server: Map<String, Value> = fields.into_iter().collect();
        if !server.contains_key("url") && !server.contains_key("command") {
            server.insert("command".to_owned(), Value::from("x"));
        }
        Value::Object(server)
    });
    prop::collection::vec((text(), server), 1..3)
        .prop_map(|servers| Value::Object(servers.into_iter().collect()))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_servers_become_entries_that_we_take(
        servers in servers(),
        place in prop::sample::select(vec![
            ("home/.config/Claude/claude_desktop_config.json", "mcpServers"),
            ("project/.mcp.json", "mcpServers"),
            ("project/.cursor/mcp.json", "mcpServers"),
            ("home/.config/Code/User/mcp.json", "servers"),
            ("home/.codeium/windsurf/mcp_config.json", "mcpServers"),
            ("project/other.json", "mcp_servers"),
            ("project/unknown.json", "mcpServers"),
        ]),
    ) {
        let machine = Machine::new();
        let mut document = Map::new();
        document.insert(place.1.to_owned(), servers);
        machine.write(place.0, Value::Object(document).to_string());
        machine.find("all");
        machine.find(machine.path(place.0).to_str().unwrap());
    }

    #[test]
    fn any_value_is_answered(value in value()) {
        let machine = Machine::new();
        machine.write("project/a.json", value.to_string());
        machine.find("a.json");
    }

    #[test]
    fn any_text_is_answered(
        text in r#"([{}\[\],:"'\\/*#=.\n -]|mcpServers|mcp_servers|command|url|a|1|"x"|\u{e9}){0,60}"#,
    ) {
        let machine = Machine::new();
        machine.write("project/a.json", &text).write("project/a.toml", &text);
        machine.find("a.json");
        machine.find("a.toml");
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let machine = Machine::new();
        machine.write("project/a.json", &bytes).write("project/a.toml", &bytes);
        machine.find("a.json");
        machine.find("a.toml");
    }
}
