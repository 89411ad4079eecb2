//! `config schema` agrees with `config validate`.

use jsonschema::Validator;
use openclaw_config::{reference, schema};
use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

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

/// Every field of a server with values that fit it and values that don't.
fn fields() -> Vec<(&'static str, Vec<Json>)> {
    let mut fields = vec![
        ("command", texts()),
        ("args", arguments()),
        (
            "env",
            [
                credentials(),
                vec![json!({ "A=B": "x" }), json!({ "A": "x\ny" })],
            ]
            .concat(),
        ),
        ("inheritEnv", inherited()),
        ("url", addresses()),
        (
            "headers",
            [
                credentials(),
                vec![
                    json!({ "Bad Name": "x" }),
                    json!({ "A": "x\ny" }),
                    json!({ "A": "x\ty" }),
                ],
            ]
            .concat(),
        ),
        ("apiKey", each_credential()),
        ("auth", logins()),
        (
            "oauth",
            vec![
                json!({}),
                json!({ "scope": "a b" }),
                json!({ "scope": 1 }),
                json!("oauth"),
                json!([]),
            ],
        ),
        ("roots", lists()),
        (
            "toolFilter",
            vec![
                json!({}),
                json!({ "include": ["a*"] }),
                json!({ "exclude": [1] }),
                json!([]),
                json!(1),
            ],
        ),
        ("aKeyThatNobodyKnows", vec![json!(1), json!({})]),
    ];
    for (name, accepted) in [
        (
            "transport",
            &["stdio", "http", "streamable-http", "sse"][..],
        ),
        ("type", &["stdio", "http", "streamable-http", "sse"]),
        ("protocol", &["auto", "legacy", "modern"]),
        ("scope", &["shared", "session"]),
        ("pin", &["off", "warn", "block"]),
    ] {
        fields.push((name, words(accepted)));
    }
    for name in ["cwd", "caCert", "clientCert", "clientKey", "toolPrefix"] {
        fields.push((name, texts()));
    }
    for name in [
        "enabled",
        "allowInsecureHttp",
        "sslVerify",
        "supportsParallelToolCalls",
        "restartOnCrash",
        "lazy",
        "trustAnnotations",
    ] {
        fields.push((name, booleans()));
    }
    for name in [
        "connectionTimeoutMs",
        "timeout",
        "connectTimeoutMs",
        "requestTimeoutMs",
        "toolTimeout",
        "maxTotalTimeoutMs",
        "maxRestarts",
        "idleTimeoutMs",
        "maxResultBytes",
    ] {
        fields.push((name, numbers()));
    }
    fields
}

fn numbers() -> Vec<Json> {
    vec![
        json!(0),
        json!(1),
        json!(-1),
        json!(1.5),
        json!(30000),
        json!(30000.0),
        json!(3e4),
        json!(4_294_967_295_u64),
        json!(4_294_967_296_u64),
        json!("5"),
        json!(null),
        json!([]),
    ]
}

fn booleans() -> Vec<Json> {
    vec![
        json!(true),
        json!(false),
        json!("true"),
        json!(0),
        json!(null),
    ]
}

fn texts() -> Vec<Json> {
    vec![
        json!("secret://env/X"),
        json!("a\u{0}b"),
        json!("x"),
        json!(""),
        json!(5),
        json!(["x"]),
        json!(null),
        json!({}),
    ]
}

fn lists() -> Vec<Json> {
    vec![
        json!([]),
        json!(["x"]),
        json!(["x", 5]),
        json!([""]),
        json!("x"),
        json!({}),
        json!(null),
    ]
}

fn words(accepted: &[&str]) -> Vec<Json> {
    let others = [json!("other"), json!(""), json!(1), json!(null)];
    accepted
        .iter()
        .map(|word| json!(word))
        .chain(others)
        .collect()
}

fn arguments() -> Vec<Json> {
    vec![
        json!([]),
        json!(["x", ""]),
        json!([1]),
        json!(["secret://gcp/x"]),
        json!(["a=secret://gcp/x"]),
        json!("x"),
    ]
}

fn inherited() -> Vec<Json> {
    vec![
        json!(true),
        json!(false),
        json!(["A"]),
        json!([""]),
        json!("A"),
        json!(1),
    ]
}

fn credentials() -> Vec<Json> {
    let mut objects = vec![json!({}), json!([]), json!("x"), json!({ "": "x" })];
    objects.extend(
        each_credential()
            .into_iter()
            .map(|value| json!({ "A": value })),
    );
    objects
}

fn each_credential() -> Vec<Json> {
    vec![
        json!("x"),
        json!(5),
        json!(true),
        json!("secret://gcp/name"),
        json!("secret://nowhere/name"),
        json!("Bearer secret://gcp/name"),
        json!({ "prefix": "Bearer ", "secret": "secret://env/A" }),
        json!({ "prefix": "Bearer " }),
        json!({ "secret": "plain" }),
        json!({ "secret": { "source": "env", "id": "X" } }),
        json!({ "source": "env", "provider": "default", "id": "X" }),
        json!({ "source": "env" }),
        json!({ "id": "X" }),
        json!({ "source": 5, "id": "X" }),
        json!({ "source": "magic", "id": "X" }),
        json!({ "secret": "secret-ref:env/default/X" }),
        json!(null),
        json!([]),
    ]
}

fn logins() -> Vec<Json> {
    vec![
        json!("oauth"),
        json!("basic"),
        json!(1),
        json!({}),
        json!({ "clientId": "x", "scopes": ["a"] }),
        json!({ "clientId": "" }),
        json!({ "scopes": "a" }),
        json!({ "callbackPort": 0 }),
        json!({ "callbackPort": 65535 }),
        json!({ "callbackPort": 65536 }),
        json!({ "callbackHost": "localhost" }),
        json!({ "callbackHost": "0.0.0.0" }),
        json!({ "clientSecret": "secret://env/A" }),
        json!({ "clientSecret": [] }),
        json!({ "callbackPath": "/x" }),
        json!({ "callbackPath": "x" }),
        json!({ "authorizationServerUrl": "https://auth.example" }),
        json!({ "authorizationServerUrl": "http://localhost:9" }),
        json!({ "authorizationServerUrl": "http://auth.example" }),
        json!({ "clientMetadataUrl": "http://localhost:9" }),
        json!({ "clientMetadataUrl": "https://me.example/client.json" }),
        json!({ "redirectUrl": "http://auth.example/cb" }),
        json!({ "redirectUrl": "nowhere" }),
    ]
}

fn addresses() -> Vec<Json> {
    [
        "https://example.com/mcp",
        "HTTPS://EXAMPLE.COM",
        "https://example.com:8443/a?b=c#d",
        "https://user:pw@example.com/",
        "http://example.com",
        "http://localhost",
        "http://localhost:3000/mcp",
        "http://LOCALHOST:3000/mcp",
        "http://user@localhost/x",
        "http://localhost@example.com/x",
        "http://localhost.example.com",
        "http://127.0.0.1:80/",
        "http://127.9.9.9",
        "http://127.0.0.1.example.com",
        "http://[::1]/mcp",
        "http://[::1]:8080",
        "http://192.168.0.1/",
        "http://10.0.0.1:3000/mcp",
        "https://example.com:65535",
        "https://example.com:65536/",
        "https://example.com:99999",
        "https://user@",
        "https://:80",
        "https://[::1",
        "https://[::1]:443/x",
        "http://127.00.0.1",
        "http://127.1/",
        "http://2130706433/",
        "ftp://example.com",
        "ws://localhost",
        "example.com",
        "//example.com",
        "https://",
        "https:///mcp",
        "http:/x",
        "",
    ]
    .iter()
    .map(|text| json!(text))
    .chain([json!(5), json!(null), json!(["https://example.com"])])
    .collect()
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
