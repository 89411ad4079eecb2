//! `${VAR}` in the configuration.

use openclaw_config::{Authorization, ConfigValue, Definition, Launch};

use crate::fixture::{Fixture, agent, configured, server};

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
            Definition::Broken(reasons) => assert!(reasons[0].contains(variable), "{reasons:?}"),
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
    warning: line 2 is not `NAME=value` and is ignored
    --> DIR/state/.env
    ");
    assert!(agent(&loaded.config.unwrap(), "main").servers.is_empty());
}

#[test]
fn a_model_key_that_is_missing_is_not_sent_as_its_own_name() {
    let fixture = Fixture::new(
        r#"{ models: { providers: { x: { apiKey: "${NONE}", headers: { "X-Key": "${NONE}" } } } } }"#,
    );
    let config = fixture.config();
    assert_eq!(config.model_providers["x"].api_key, None);
    assert!(config.model_providers["x"].headers.is_empty());
    assert_eq!(fixture.load().report.warnings().count(), 2);
}
