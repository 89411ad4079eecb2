//! Values for the fields of a server: those that fit and those that don't.

use serde_json::{Value as Json, json};

/// Every field of a server with values that fit it and values that don't.
pub(crate) fn fields() -> Vec<(&'static str, Vec<Json>)> {
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
        ("resources", resources()),
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
        "alwaysLoad",
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

fn resources() -> Vec<Json> {
    vec![
        json!({}),
        json!({ "inject": ["a*"], "maxBytes": 1 }),
        json!({ "inject": "a" }),
        json!({ "inject": [""] }),
        json!({ "maxBytes": 0 }),
        json!({ "maxBytes": 1_000_001 }),
        json!([]),
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
        json!({ "grantType": "client_credentials" }),
        json!({ "grantType": "password" }),
        json!({ "privateKey": "secret://file/key.pem", "keyId": "1" }),
        json!({ "keyId": "" }),
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

pub(crate) fn addresses() -> Vec<Json> {
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
