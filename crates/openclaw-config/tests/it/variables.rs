//! `${VAR}` in the configuration.

use openclaw_config::{Authorization, ConfigValue, Definition, Launch};

use crate::fixture::{Fixture, configured, server};

fn plain(value: &ConfigValue) -> &str {
    match value {
        ConfigValue::Plain { value, .. } => value.expose(),
        ConfigValue::Reference { .. } => panic!("a value"),
    }
}

#[test]
fn variables_are_put_in_everywhere() {
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: {
                a: { command: "${BIN}/srv", args: ["--x=${X}", "$${X}", "$X"], env: { A: "$X", B: "${X}-${X}" } },
                b: { url: "https://${HOST}/mcp", apiKey: "$X" },
            } },
        }"#,
    )
    .variable("BIN", "/opt")
    .variable("X", "one")
    .variable("HOST", "h.example");
    let config = fixture.config();
    let Launch::Stdio(a) = &server(&config, "main", "a").launch else {
        panic!("a program");
    };
    assert_eq!(a.command, "/opt/srv");
    assert_eq!(a.args, ["--x=one", "${X}", "$X"]);
    assert_eq!(plain(&a.environment["A"]), "one");
    assert_eq!(plain(&a.environment["B"]), "one-one");
    let Launch::Remote(b) = &server(&config, "main", "b").launch else {
        panic!("an address");
    };
    assert_eq!(b.url.as_str(), "https://h.example/mcp");
    let Authorization::ApiKey(key) = &b.authorization else {
        panic!("a key");
    };
    assert_eq!(plain(key), "one");
}

#[test]
fn a_missing_variable_is_the_problem_of_the_server_that_needs_it() {
    let fixture = Fixture::new(
        r#"{ mcp: { servers: {
            one: { command: "a" },
            two: { command: "b", env: { KEY: "${MISSING_KEY}" } },
            three: { url: "https://${MISSING_HOST}/mcp" },
        } } }"#,
    );
    let loaded = fixture.load();
    assert_eq!(loaded.report.errors().count(), 0);
    insta::assert_snapshot!(fixture.rendered(&loaded), @r#"
    warning: the environment variable MISSING_KEY is not set
     --> DIR/openclaw.json:3:46
      |
    3 |             two: { command: "b", env: { KEY: "${MISSING_KEY}" } },
      |                                              ^^^^^^^^^^^^^^^^
      |
      = note: at `mcp.servers.two.env.KEY`
      = help: set it, add it to `.env`, or write `$${MISSING_KEY}` for that text itself

    warning: the environment variable MISSING_HOST is not set
     --> DIR/openclaw.json:4:27
      |
    4 |             three: { url: "https://${MISSING_HOST}/mcp" },
      |                           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = note: at `mcp.servers.three.url`
      = help: set it, add it to `.env`, or write `$${MISSING_HOST}` for that text itself
    "#);
    let config = loaded.config.unwrap();
    assert!(matches!(
        configured(&config, "main", "one").definition,
        Definition::Sound(_)
    ));
    for (name, variable) in [("two", "MISSING_KEY"), ("three", "MISSING_HOST")] {
        match &configured(&config, "main", name).definition {
            Definition::Broken(reasons) => {
                assert!(reasons[0].message().contains(variable), "{reasons:?}");
            }
            Definition::Sound(_) => panic!("{name} can't start"),
        }
    }
}

#[test]
fn nobody_needs_variables_for_what_is_switched_off() {
    let fixture = Fixture::new(
        r#"{ mcp: { servers: { a: { enabled: false, command: "a", env: { KEY: "${MISSING}" } } } } }"#,
    );
    assert_eq!(fixture.problems(), Vec::<String>::new());
    // Whoever switches it on for one agent gets to know.
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: { a: { enabled: false, command: "${MISSING}" } } },
            agents: { list: [{ id: "x", mcp: { servers: { a: { enabled: true } } } }] },
        }"#,
    );
    let config = fixture.config();
    assert!(matches!(
        configured(&config, "x", "a").definition,
        Definition::Broken(_)
    ));
}

#[test]
fn the_configuration_has_variables_of_its_own_that_give_way() {
    let fixture = Fixture::new(
        r#"{
            env: { vars: { A: "config", B: "config", C: "${A}!" } },
            mcp: { servers: { a: { command: "x", args: ["${A}", "${B}", "${C}", "${D}"] } } },
        }"#,
    )
    .variable("A", "process");
    fixture.write("state/.env", "B=dotenv\nD=dotenv\n");
    let config = fixture.config();
    let Launch::Stdio(a) = &server(&config, "main", "a").launch else {
        panic!("a program");
    };
    assert_eq!(a.args, ["process", "dotenv", "process!", "dotenv"]);
}

#[test]
fn a_broken_line_of_a_dotenv_file_is_pointed_out_without_its_text() {
    let fixture = Fixture::new("{}");
    fixture.write("state/.env", "GOOD=1\nhunter2 is not an assignment\n");
    let loaded = fixture.load();
    let rendered = fixture.rendered(&loaded);
    insta::assert_snapshot!(rendered, @r"
    warning: this line is not `NAME=value` and is ignored
    --> DIR/state/.env:2:1
    ");
    assert_eq!(
        loaded
            .report
            .position(&loaded.report.problems()[0])
            .unwrap()
            .line,
        2
    );
}

#[test]
fn a_provider_that_misses_a_variable_is_not_used_at_all() {
    let fixture = Fixture::new(
        r#"{
            models: { providers: {
                key: { baseUrl: "https://models.example/v1", apiKey: "${NONE}" },
                host: { baseUrl: "https://${NONE}/v1", apiKey: "x" },
                fine: { apiKey: "x" },
            } },
            secrets: { providers: { e: { source: "exec", command: "/${NONE}" } } },
            mcp: { servers: { a: { command: "x" } } },
        }"#,
    );
    let loaded = fixture.load();
    assert_eq!(
        loaded.report.errors().count(),
        0,
        "a warning, as for servers"
    );
    assert_eq!(loaded.report.warnings().count(), 3);
    let config = loaded.config.unwrap();
    let usable = |name: &str| config.model_providers[name].sound().is_some();
    assert!(!usable("key") && !usable("host") && usable("fine"));
    assert!(config.secrets.providers["e"].sound().is_none());
    server(&config, "main", "a");
}

#[test]
fn a_policy_that_misses_a_variable_is_an_error() {
    for text in [
        r#"{ tools: { deny: ["${NONE}"] } }"#,
        r#"{ gateway: { tools: { deny: ["${NONE}"] } } }"#,
        r#"{ agents: { defaults: { workspace: "${NONE}" } } }"#,
    ] {
        let fixture = Fixture::new(text);
        assert!(fixture.load().config.is_none(), "{text}");
    }
    let gateway = Fixture::new(r#"{ gateway: { auth: { token: "${NONE}" } } }"#).config();
    assert!(
        gateway.gateway.sound().is_none(),
        "only the gateway needs it"
    );
}

#[test]
fn switched_off_here_and_on_there_is_warned_about() {
    let fixture = Fixture::new(
        r#"{
            mcp: { servers: { a: { enabled: false, command: "${MISSING}" } } },
            agents: { list: [{ id: "x", mcp: { servers: { a: { enabled: true } } } }] },
        }"#,
    );
    assert_eq!(
        fixture.problems(),
        ["mcp.servers.a.command: the environment variable MISSING is not set"]
    );
    let fixture = Fixture::new(
        r#"{ plugins: { entries: { "mcp-client": { enabled: false, config: { servers: { a: { command: "${MISSING}" } } } } } } }"#,
    );
    assert_eq!(fixture.problems(), Vec::<String>::new());
}

#[test]
fn numbers_keep_their_digits() {
    let fixture = Fixture::new(
        r#"{ mcp: { servers: { a: { command: "x", env: { ID: +1234567890123456789., HEX: 0x10, HALF: 0.50 } } } } }"#,
    );
    let config = fixture.config();
    let Launch::Stdio(a) = &server(&config, "main", "a").launch else {
        panic!("a program");
    };
    let values = ["ID", "HEX", "HALF"].map(|name| plain(&a.environment[name]));
    assert_eq!(values, ["1234567890123456789", "16", "0.50"]);
    let fixture = Fixture::new(
        r#"{ mcp: { servers: { a: { command: "x", env: { ID: 0x1234567890ABCDEF12 } } } } }"#,
    );
    assert_eq!(
        fixture.problems(),
        ["mcp.servers.a.env.ID: this number has too many digits"]
    );
}
