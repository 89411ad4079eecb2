//! `config show`: everything but credentials.

use serde_json::json;

use crate::fixture::{Fixture, agent, shown};

#[test]
fn credentials_are_hidden_wherever_they_stand() {
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: {
                a: {
                    command: "x",
                    args: ["--token", "hunter2a", "--password=hunter2b", "--port", "80", "sk-proj-hunter2hunter2hunter2hunter2"],
                    env: {
                        API_KEY: "hunter2c", PLAIN: "shown", LEVEL: 3,
                        FROM: "${MY_SECRET}", HIDDEN: "secret://env/NAME",
                        DATABASE: "postgres://user:hunter2d@host/db",
                    },
                },
                b: { url: "https://user:hunter2e@x.example/mcp?api_key=hunter2f", apiKey: "hunter2g" },
                c: { url: "https://x.example/", headers: { Authorization: "Bearer hunter2h", "X-Team": "red" } },
                d: { url: "https://x.example/", auth: { clientId: "me", clientSecret: "hunter2i" } },
            } },
            models: { providers: { p: { apiKey: "hunter2j", headers: { "x-api-key": "hunter2k" } } } },
            gateway: { auth: { token: "hunter2l", password: "hunter2m" } },
            secrets: { providers: { e: { source: "exec", command: "/bin/x", args: ["--token", "hunter2n"], env: { TOKEN: "hunter2o" } } } },
            skills: { entries: { s: { apiKey: "hunter2q", env: { TOKEN: "hunter2r", PLAIN: "seen" } } } },
        }"#,
    )
    .variable("MY_SECRET", "hunter2p");
    let config = fixture.config();
    let shown = shown(&config, "main");
    let text = shown.to_string();
    assert!(!text.contains("hunter2"), "{shown:#}");
    let a = &shown["mcp"]["servers"]["a"];
    assert_eq!(
        a["args"],
        json!([
            "--token",
            "[REDACTED]",
            "--password=[REDACTED]",
            "--port",
            "80",
            "[REDACTED]"
        ])
    );
    assert_eq!(a["env"]["PLAIN"], "shown");
    assert_eq!(a["env"]["LEVEL"], "3");
    assert_eq!(a["env"]["FROM"], "[REDACTED]");
    assert_eq!(a["env"]["HIDDEN"], "secret://env/NAME");
    assert_eq!(shown["skills"]["entries"]["s"]["env"]["PLAIN"], "seen");
    assert_eq!(shown["mcp"]["servers"]["c"]["headers"]["x-team"], "red");
    assert_eq!(shown["mcp"]["servers"]["d"]["auth"]["clientId"], "me");
}

#[test]
fn what_is_named_like_a_credential_is_hidden_however_plain() {
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: {
                a: {
                    command: "x",
                    args: ["--password=12345678", "-e", "GITHUB_TOKEN=918273645546372819", "X-Api-Key: my_dog_rex", "--token", "12345678"],
                    env: { DB_PASSWORD: "my_dog_rex", API_KEY: 87654321, AUTH_ENABLED: true },
                },
                b: { url: "https://my_dog_rex@x.example/?token=918273645546372819&page=2", headers: { "X-Api-Key": "my_dog_rex" } },
            } },
            models: { providers: { p: { baseUrl: "https://x.example/v1?key=my_dog_rex" } } },
        }"#,
    );
    let config = fixture.config();
    let shown = shown(&config, "main");
    let text = shown.to_string();
    for secret in ["my_dog_rex", "12345678", "87654321", "918273645546372819"] {
        assert!(!text.contains(secret), "{secret}: {shown:#}");
    }
    let servers = &shown["mcp"]["servers"];
    assert_eq!(
        servers["b"]["url"],
        "https://redacted@x.example/?token=redacted&page=2"
    );
    assert_eq!(servers["a"]["args"][2], "GITHUB_TOKEN=[REDACTED]");
    assert_eq!(servers["a"]["env"]["AUTH_ENABLED"], "true");
}

#[test]
fn what_variables_put_in_is_hidden_everywhere() {
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: {
                a: { command: "x", args: ["${MY_API_KEY}", "-x${MY_API_KEY}y"], cwd: "/${MY_API_KEY}", toolPrefix: "${MY_API_KEY}" },
                b: { url: "https://x.example/${MY_API_KEY}?a=${MY_API_KEY}", oauth: { clientId: "${MY_API_KEY}", scope: "${MY_API_KEY}", authorizationServerUrl: "https://u:hunter2swordfish@as.example/" } },
            } },
            agents: { defaults: { model: "${MY_API_KEY}", workspace: "/${MY_API_KEY}" } },
            models: { providers: { p: { api: "${MY_API_KEY}", baseUrl: "https://x.example/${MY_API_KEY}" } } },
            secrets: { providers: { e: { source: "exec", command: "/x", args: ["${MY_API_KEY}"], env: { A: "${MY_API_KEY}" } } } },
        }"#,
    )
    .variable("MY_API_KEY", "hunter2swordfish");
    let loaded = fixture.load();
    let redactor = openclaw_secrets::Redactor::new();
    for secret in &loaded.credentials {
        let _ = redactor.learn(secret);
    }
    let config = loaded.config.unwrap();
    let shown = config.show(agent(&config, "main"), &redactor);
    assert!(!shown.to_string().contains("hunter2"), "{shown:#}");
}

#[test]
fn broken_servers_are_shown_with_their_reasons() {
    let fixture = Fixture::new("{ mcp: { servers: { a: { command: 5 } } } }");
    let config = fixture.config();
    let shown = shown(&config, "main");
    assert_eq!(
        shown["mcp"]["servers"]["a"]["problems"],
        json!(["mcp.servers.a.command: expected a string, found a number"])
    );
}

#[test]
fn the_whole_picture() {
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: { fs: { command: "npx", args: ["-y", "x"] } } },
            agents: { defaults: { model: "anthropic/x" }, list: [{ id: "r", mcp: { servers: { fs: { enabled: false } } }, tools: { deny: ["x"] } }] },
        }"#,
    );
    let config = fixture.config();
    insta::assert_snapshot!(format!("{:#}", shown(&config, "main")));
}
