//! `config schema` agrees with `config validate`.

use jsonschema::Validator;
use openclaw_config::{reference, schema};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use crate::cases::{addresses, fields};
use crate::fixture::Fixture;

fn validator() -> Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(&schema())
        .expect("the schema is one")
}

/// Whether `config validate` has no error.
fn is_valid(document: &Json) -> bool {
    let loaded = Fixture::new(&document.to_string()).load();
    loaded.report.errors().count() == 0
}

fn agree(validator: &Validator, document: &Json) {
    let by_schema: Vec<String> = validator
        .iter_errors(document)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    let fixture = Fixture::new(&document.to_string());
    let loaded = fixture.load();
    assert_eq!(
        by_schema.is_empty(),
        loaded.report.errors().count() == 0,
        "{document:#}\nthe schema: {by_schema:#?}\nvalidate: {}",
        fixture.rendered(&loaded)
    );
}

fn in_mcp(server: &Json) -> Json {
    json!({ "mcp": { "servers": { "s": server } } })
}

/// A server in every place in which it stands for itself.
fn in_all_places(server: &Json) -> Vec<Json> {
    let servers = json!({ "servers": { "s": server } });
    let mut places = vec![in_mcp(server)];
    // Elsewhere, an entry without a launch is a part of something, of which a schema knows nothing.
    if server.get("command").is_some() || server.get("url").is_some() {
        places.push(json!({ "plugins": { "entries": { "mcp-client": { "config": servers } } } }));
        places.push(json!({ "agents": { "defaults": { "mcp": servers } } }));
        places.push(json!({ "agents": { "list": [{ "id": "a", "mcp": servers }] } }));
        places.push(json!({ "agents": { "entries": { "a": { "mcp": servers } } } }));
    }
    places
}

/// Whether only `config validate` can judge it: rules for a whole server, in a place for parts.
fn needs_the_whole(server: &Json) -> bool {
    server.get("clientKey").is_some() && server.get("clientCert").is_none()
}

#[test]
fn the_schema_is_a_schema() {
    assert!(jsonschema::meta::is_valid(&schema()));
    validator();
}

#[test]
fn the_documents_and_our_example_fit() {
    let validator = validator();
    for text in [
        include_str!("documents/agents_with_servers.json"),
        include_str!("documents/gateway_tool_policy.json"),
        include_str!("documents/api_key_server.json"),
        include_str!("documents/client_of_our_server.json"),
    ] {
        let document: Json = serde_json::from_str(text).unwrap();
        assert!(validator.is_valid(&document), "{text}");
        assert!(is_valid(&document), "{text}");
    }
}

#[test]
fn every_value_of_every_field_is_judged_alike() {
    let validator = validator();
    for (name, values) in fields() {
        for value in values {
            for base in [
                json!({ "command": "x" }),
                json!({ "url": "https://example.com" }),
                json!({}),
            ] {
                let mut server = base;
                server[name] = value.clone();
                agree(&validator, &in_mcp(&server));
            }
        }
    }
}

#[test]
fn every_field_of_the_schema_is_tried() {
    let schema = schema();
    let known: Vec<&str> = fields().iter().map(|(name, _)| *name).collect();
    for name in schema["$defs"]["server"]["properties"]
        .as_object()
        .unwrap()
        .keys()
    {
        assert!(
            known.contains(&name.as_str()),
            "{name} is not among the generated cases"
        );
    }
}

#[test]
fn other_sections_are_judged_alike() {
    let validator = validator();
    let values = [
        json!({}),
        json!([]),
        json!(1),
        json!("x"),
        json!(true),
        json!(null),
        json!(["x"]),
        json!({ "x": {} }),
        json!({ "x": 1 }),
        json!(0),
        json!(70000),
        json!("auto"),
        json!("off"),
    ];
    let paths = [
        "mcp",
        "mcp.servers",
        "mcp.toolDiscoveryInterval",
        "mcp.maxConcurrentServers",
        "mcp.toolNaming",
        "mcp.debug",
        "plugins",
        "plugins.entries",
        "plugins.entries.mcp-client",
        "plugins.entries.mcp-client.enabled",
        "plugins.entries.mcp-client.config",
        "plugins.entries.mcp-client.config.debug",
        "agents",
        "agents.defaults",
        "agents.defaults.mcp",
        "agents.defaults.mcp.servers",
        "agents.defaults.model",
        "agents.defaults.workspace",
        "agents.entries",
        "agents.entries.a.default",
        "agents.entries.a.model",
        "tools",
        "tools.allow",
        "tools.deny",
        "tools.approval",
        "tools.approvalWithoutPerson",
        "tools.readOnly",
        "tools.toolSearch",
        "toolPolicy",
        "toolPolicy.allow",
        "models",
        "models.providers",
        "models.providers.p.apiKey",
        "models.providers.p.api",
        "models.providers.p.headers",
        "models.providers.p.timeoutSeconds",
        "models.providers.p.models",
        "gateway",
        "gateway.port",
        "gateway.auth",
        "gateway.auth.mode",
        "gateway.auth.token",
        "gateway.tools",
        "skills",
        "skills.load",
        "skills.load.extraDirs",
        "skills.allowBundled",
        "skills.entries",
        "skills.entries.s.enabled",
        "skills.entries.s.env",
        "skills.entries.s.apiKey",
        "media",
        "media.transcription",
        "media.transcription.provider",
        "diagnostics",
        "diagnostics.otel",
        "diagnostics.otel.endpoint",
        "diagnostics.otel.sampleRate",
        "secrets",
        "env",
        "env.vars",
        "something.else",
        "models.providers.p.baseUrl",
        "gateway.publicUrl",
        "agents.entries.Bad Name",
        "secrets.providers",
        "secrets.providers.p",
        "secrets.providers.p.source",
    ];
    for path in paths {
        for value in &values {
            let mut document = value.clone();
            for key in path.rsplit('.') {
                document = json!({ key: document });
            }
            if is_partial_server(path, value) {
                continue;
            }
            agree(&validator, &document);
        }
    }
}

/// Whether a schema can't judge it: an entry of an agent alone does not make a server.
fn is_partial_server(path: &str, value: &Json) -> bool {
    path == "agents.defaults.mcp.servers" && value == &json!({ "x": {} })
}

#[test]
fn agents_and_providers_are_judged_alike() {
    let validator = validator();
    for document in [
        json!({ "agents": { "list": [{}] } }),
        json!({ "agents": { "list": [{ "id": "a" }] } }),
        json!({ "agents": { "list": [{ "id": "Bad" }] } }),
        json!({ "agents": { "list": [{ "id": "" }] } }),
        json!({ "agents": { "list": [5] } }),
        json!({ "agents": { "entries": { "a-b_1": {} } } }),
        json!({ "agents": { "entries": { "A": {} } } }),
        json!({ "tools": { "toolSearch": false } }),
        json!({ "tools": { "toolSearch": { "enabled": true } } }),
        json!({ "tools": { "toolSearch": { "enabled": 1 } } }),
        json!({ "tools": { "toolSearch": "maybe" } }),
        json!({ "secrets": { "providers": { "p": {} } } }),
        json!({ "secrets": { "providers": { "p": { "source": "env" } } } }),
        json!({ "secrets": { "providers": { "p": { "source": "magic" } } } }),
        json!({ "secrets": { "providers": { "p": { "source": "file" } } } }),
        json!({ "secrets": { "providers": { "p": { "source": "file", "path": "x" } } } }),
        json!({ "secrets": { "providers": { "p": { "source": "exec" } } } }),
        json!({ "secrets": { "providers": { "p": { "source": "exec", "command": "x" } } } }),
        json!({ "secrets": { "providers": { "p": { "source": "exec", "command": "/x" } } } }),
        json!({ "media": { "transcription": {} } }),
        json!({ "media": { "transcription": { "enabled": false } } }),
        json!({ "media": { "transcription": { "enabled": true } } }),
        json!({ "media": { "transcription": { "provider": "openai", "baseUrl": "https://u:p@x.example/v1" } } }),
        json!({ "media": { "transcription": { "provider": "openai", "baseUrl": "https://x.example/a@b" } } }),
        json!({ "media": { "transcription": { "provider": "command", "command": "x", "args": ["secret://env/X"] } } }),
        json!({ "media": { "transcription": { "provider": "openai" } } }),
        json!({ "media": { "transcription": { "provider": "deepgram", "timeoutMs": 0 } } }),
        json!({ "media": { "transcription": { "provider": "whisper" } } }),
        json!({ "media": { "transcription": { "provider": "command" } } }),
        json!({ "media": { "transcription": { "provider": "command", "command": "x" } } }),
        json!({ "media": { "transcription": { "provider": "openai", "baseUrl": "http://10.0.0.1" } } }),
        json!({ "media": { "transcription": { "provider": "openai", "apiKey": "secret://x" } } }),
        json!({ "models": { "providers": { "p": { "baseUrl": "http://10.0.0.1/v1" } } } }),
        json!({ "models": { "providers": { "p": { "baseUrl": "ftp://x" } } } }),
    ] {
        agree(&validator, &document);
    }
}

#[test]
fn a_bare_server_has_the_defaults_of_the_schema() {
    let schema = schema();
    let properties = schema["$defs"]["server"]["properties"].as_object().unwrap();
    for (place, launch) in [
        ("stdio", "command: 'x'"),
        ("http", "url: 'https://x.example'"),
    ] {
        let config = crate::fixture::config(&format!(
            "{{ mcp: {{ servers: {{ s: {{ {launch} }} }} }} }}"
        ));
        let shown = crate::fixture::shown(&config, "main");
        let server = &shown["mcp"]["servers"]["s"];
        for (name, property) in properties {
            let default = property
                .get("default")
                .filter(|_| property["deprecated"] != true);
            if let (Some(default), Some(found)) = (default, server.get(name)) {
                assert_eq!(found, default, "{place}: {name}");
            }
        }
    }
    let mcp = &schema["$defs"]["mcp"]["properties"];
    let plugin = &schema["$defs"]["pluginConfig"]["properties"];
    let text = "{ mcp: { servers: { s: { command: 'x' } } }, plugins: { entries: { 'mcp-client': { config: { servers: { p: { command: 'x' } } } } } } }";
    let shown = crate::fixture::shown(&crate::fixture::config(text), "main");
    for (server, block) in [("s", mcp), ("p", plugin)] {
        for name in ["toolNaming", "toolDiscoveryInterval"] {
            assert_eq!(
                shown["mcp"]["servers"][server][name], block[name]["default"],
                "{server}.{name}"
            );
        }
    }
    let limit = &shown["plugins"]["entries"]["mcp-client"]["config"]["maxConcurrentServers"];
    assert_eq!(limit, &plugin["maxConcurrentServers"]["default"]);
}

#[test]
fn names_of_servers_are_judged_alike() {
    let validator = validator();
    let long = "x".repeat(65);
    let fits = "é".repeat(64);
    for name in [
        "a",
        "a b",
        "a/b",
        "",
        "__proto__",
        "constructor",
        "a\u{7f}",
        "a\u{85}",
        "\n",
        "日本",
        &long,
        &fits,
    ] {
        agree(
            &validator,
            &json!({ "mcp": { "servers": { name: { "command": "x" } } } }),
        );
    }
}

fn server() -> impl Strategy<Value = Json> {
    let fields = fields();
    let field = (0..fields.len()).prop_flat_map(move |index| {
        let (name, values) = fields[index].clone();
        (Just(name), prop::sample::select(values))
    });
    // Mostly servers with a launch: others are wrong before anything else is looked at.
    let launch = prop_oneof![
        4 => Just(json!({ "command": "x" })),
        4 => prop::sample::select(addresses()).prop_map(|url| json!({ "url": url })),
        1 => Just(json!({})),
        1 => Just(json!({ "command": "x", "url": "https://example.com" })),
    ];
    (launch, prop::collection::vec(field, 0..5)).prop_map(|(launch, fields)| {
        let mut server: Map<String, Json> = launch.as_object().cloned().unwrap_or_default();
        server.extend(
            fields
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        Json::Object(server)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn generated_servers_are_judged_alike(server in server()) {
        thread_local! {
            static VALIDATOR: Validator = validator();
        }
        VALIDATOR.with(|validator| {
            let places = in_all_places(&server);
            let count = if needs_the_whole(&server) { 1 } else { places.len() };
            for document in &places[..count] {
                agree(validator, document);
            }
        });
    }
}

#[test]
fn the_reference_names_every_field() {
    let (text, schema) = (reference(), schema());
    for (title, object) in schema["$defs"].as_object().unwrap() {
        assert!(text.contains(&format!("\n## {title}\n")), "{title}");
        for name in object["properties"].as_object().unwrap().keys() {
            assert!(text.contains(&format!("`{name}`")), "{title}.{name}");
        }
    }
}
