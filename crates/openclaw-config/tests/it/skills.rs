//! Settings of skills, and what is set at all.

use openclaw_config::Definition;

use crate::fixture::{Fixture, agent, config};

#[test]
fn settings_of_skills_are_read_and_directories_are_found() {
    let fixture = Fixture::new(
        r#"{ skills: {
            load: { extraDirs: ["more", "~/skills"], watch: true },
            allowBundled: ["mcp"],
            entries: { a: { enabled: false }, b: { env: { X: "1" }, apiKey: "${KEY}" } },
        } }"#,
    )
    .variable("KEY", "value");
    let config = fixture.config();
    let settings = config.skills.sound().unwrap();
    let real = std::fs::canonicalize(fixture.path()).unwrap();
    assert_eq!(
        settings.extra_directories,
        [real.join("more"), fixture.path().join("home/skills")]
    );
    assert_eq!(
        settings.allow_bundled.as_deref(),
        Some(&["mcp".to_owned()][..])
    );
    assert!(!settings.entries["a"].sound().unwrap().enabled);
    let second = settings.entries["b"].sound().unwrap();
    assert!(second.enabled && second.api_key.is_some());
    assert!(second.environment.contains_key("X"));
}

#[test]
fn a_mistake_in_one_skill_costs_only_that_one() {
    let fixture = Fixture::new(
        r#"{ skills: { entries: {
            a: { enabled: "no" }, b: { apiKey: "${NOT_SET}" }, c: {},
            d: { enabled: false, apiKey: "${NOT_SET}" },
        } } }"#,
    );
    let problems = fixture.problems();
    assert_eq!(
        problems,
        [
            "skills.entries.a.enabled: expected a boolean, found a string",
            "skills.entries.b.apiKey: the environment variable NOT_SET is not set",
        ]
    );
    let config = fixture.config();
    let entries = &config.skills.sound().unwrap().entries;
    let broken: Vec<&str> = entries
        .iter()
        .filter(|(_, entry)| matches!(entry, Definition::Broken(_)))
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(broken, ["a", "b"]);
}

#[test]
fn a_list_of_what_is_allowed_that_cannot_be_read_does_not_count_as_none() {
    for text in [
        "{ skills: { allowBundled: 'mcp' } }",
        "{ skills: { allowBundled: ['${NOT_SET}'] } }",
        "{ skills: { entries: 5 } }",
    ] {
        let config = config(text);
        assert!(matches!(config.skills, Definition::Broken(_)), "{text}");
    }
}

#[test]
fn what_is_set_can_be_asked_for_by_its_path() {
    let fixture = Fixture::new(
        r#"{
            channels: { mail: { enabled: true, port: 0, user: " ", key: "${NOT_SET}", host: "${HOST}" } },
            browser: {}, list: [], nothing: null, off: false,
            plugins: { entries: { "mcp-client": {}, other: { enabled: true } } },
        }"#,
    )
    .variable("HOST", "example.com");
    let config = fixture.config();
    let has = |path: &str| config.has(agent(&config, "main"), path);
    for path in [
        "channels.mail",
        "channels.mail.enabled",
        "channels.mail.host",
        "browser",
        "list",
        "plugins.entries.mcp-client.enabled",
        "plugins.entries.other.enabled",
    ] {
        assert!(has(path), "{path}");
    }
    for path in [
        "channels.mail.port",
        "channels.mail.user",
        "channels.mail.key",
        "channels.mail.enabled.more",
        "channels.chat",
        "nothing",
        "off",
        "",
        ".",
        "mcp.servers",
    ] {
        assert!(!has(path), "{path}");
    }
}

#[test]
fn the_plugin_block_is_on_only_where_it_is_and_does_not_say_otherwise() {
    let path = "plugins.entries.mcp-client.enabled";
    for (text, expected) in [
        ("{}", false),
        ("{ plugins: { entries: {} } }", false),
        ("{ plugins: { entries: { 'mcp-client': {} } } }", true),
        (
            "{ plugins: { entries: { 'mcp-client': { enabled: true } } } }",
            true,
        ),
        (
            "{ plugins: { entries: { 'mcp-client': { enabled: false } } } }",
            false,
        ),
    ] {
        let config = config(text);
        assert_eq!(config.has(agent(&config, "main"), path), expected, "{text}");
    }
}

#[test]
fn servers_count_wherever_they_stand_and_only_for_those_who_have_them() {
    let config = config(
        r#"{
            mcp: { servers: { off: { command: "x", enabled: false, lazy: true } } },
            agents: { list: [
                { id: "one", mcp: { servers: { "a.b": { command: "x" } } } },
                { id: "two" },
            ] },
        }"#,
    );
    let has = |id: &str, path: &str| config.has(agent(&config, id), path);
    assert!(has("one", "mcp.servers") && has("one", "mcp.servers.a.b"));
    assert!(!has("one", "mcp.servers.off"));
    assert!(has("one", "mcp.servers.off.lazy"));
    assert!(!has("two", "mcp.servers") && !has("two", "mcp.servers.a.b"));
}
