//! What a skill requires.

use openclaw_skills::{Obstacle, Standing};

use crate::fixture::{Fixture, obstacles};

/// Why a skill with these fields of ours does not apply.
fn judged(fixture: &Fixture, metadata: &str) -> Vec<String> {
    fixture.skill(
        "work/skills/s",
        &format!("metadata: {{ openclaw: {metadata} }}"),
    );
    let skills = fixture.find();
    assert!(skills.problems.is_empty(), "{:?}", skills.problems);
    obstacles(skills.get("s").unwrap())
}

#[test]
fn without_requirements_a_skill_applies() {
    assert!(judged(&Fixture::new(), "{}").is_empty());
}

#[test]
fn systems_have_the_names_that_skills_know() {
    let fixture = Fixture::new();
    let here = match std::env::consts::OS {
        "macos" => "darwin",
        "windows" => "win32",
        other => other,
    };
    assert!(judged(&fixture, &format!("{{ os: [plan9, {here}] }}")).is_empty());
    assert!(judged(&fixture, &format!("{{ os: {here} }}")).is_empty());
    assert_eq!(
        judged(&fixture, "{ os: [plan9], always: true }"),
        ["it is only for `plan9`"]
    );
}

#[cfg(unix)]
#[test]
fn programs_are_looked_for_and_must_be_programs() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    for (name, mode) in [("runs", 0o755), ("rests", 0o644)] {
        let path = fixture.write(&format!("bin/{name}"), "");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    std::fs::create_dir(fixture.path("bin/directory")).unwrap();
    let path = format!("/nowhere::{}", fixture.path("bin").display());
    let fixture = fixture.variable("PATH", path);
    let judged = |requires: &str| judged(&fixture, &format!("{{ requires: {requires} }}"));
    assert!(judged("{ bins: [runs] }").is_empty());
    assert!(judged("{ bins: 'runs, runs', anyBins: [none, runs] }").is_empty());
    assert_eq!(
        judged("{ bins: [runs, rests, directory, none, ../bin/runs, ''], anyBins: [none, rests] }"),
        [
            "not found among programs: `rests`, `directory`, `none`, `../bin/runs`",
            "needs one of the programs `none`, `rests`",
        ]
    );
}

#[test]
fn variables_come_from_the_environment_or_from_the_settings_of_the_skill() {
    let metadata = "{ primaryEnv: KEY, requires: { env: [KEY, SET, EMPTY] } }";
    let fixture = Fixture::new().variable("SET", "x").variable("EMPTY", "");
    assert_eq!(
        judged(&fixture, metadata),
        ["not set in the environment: `KEY`, `EMPTY`"]
    );
    let fixture =
        fixture.config("skills: { entries: { s: { apiKey: 'k', env: { EMPTY: 'y' } } } }");
    assert!(judged(&fixture, metadata).is_empty());
    // It stands for that variable, and for no other.
    let fixture = fixture.config("skills: { entries: { s: { apiKey: 'k', env: { EMPTY: '' } } } }");
    assert_eq!(
        judged(&fixture, metadata),
        ["not set in the environment: `EMPTY`"]
    );
    // The variables of the configuration count as well, and a reference is as good as a value.
    let fixture = fixture.config(
        "env: { vars: { EMPTY: 'no', KEY: 'z', OTHER: 'w' } },
         skills: { entries: { s: { env: { EMPTY: 'secret://env/X' } } } }",
    );
    let more = "{ requires: { env: [KEY, OTHER, EMPTY] } }";
    assert!(judged(&fixture, more).is_empty());
}

#[test]
fn settings_of_the_configuration_can_be_required() {
    let metadata = "{ requires: { config: [mcp.servers, plugins.entries.mcp-client.enabled, \
                    channels.mail.enabled] } }";
    let fixture = Fixture::new();
    assert_eq!(
        judged(&fixture, metadata),
        [
            "not set in the configuration: `mcp.servers`, `plugins.entries.mcp-client.enabled`, \
          `channels.mail.enabled`"
        ]
    );
    let fixture = fixture.config(
        "plugins: { entries: { 'mcp-client': { config: { servers: { x: { command: 'x' } } } } } },
         channels: { mail: { enabled: true } }",
    );
    assert!(judged(&fixture, metadata).is_empty());
}

#[test]
fn always_means_whatever_else_is_missing() {
    let metadata = "{ always: true, requires: { bins: [none], env: [NONE], config: [none] } }";
    assert!(judged(&Fixture::new(), metadata).is_empty());
}

#[test]
fn the_configuration_switches_skills_off_by_name_or_by_key() {
    let fixture = Fixture::new().config("skills: { entries: { s: { enabled: false } } }");
    let off = ["it is switched off in the configuration"];
    assert_eq!(judged(&fixture, "{ always: true }"), off);
    let fixture = fixture.config("skills: { entries: { key: { enabled: false }, s: {} } }");
    assert_eq!(judged(&fixture, "{ skillKey: key }"), off);
    assert!(judged(&fixture, "{}").is_empty());
}

#[test]
fn settings_that_are_wrong_do_not_count_as_none() {
    let wrong = ["its settings are wrong: see `openclaw config validate`"];
    for config in [
        "skills: { entries: { s: { enabled: 'no' } } }",
        "skills: { allowBundled: 5 }",
    ] {
        let fixture = Fixture::new().config(config);
        assert_eq!(judged(&fixture, "{ always: true }"), wrong, "{config}");
    }
}

#[test]
fn the_skill_of_the_program_applies_where_there_are_servers() {
    let standing = |config: &str| {
        let skills = Fixture::new().config(config).find();
        assert!(skills.problems.is_empty(), "{:?}", skills.problems);
        skills.get("mcp").unwrap().standing.clone()
    };
    let missing = vec![Obstacle::MissingSettings(vec!["mcp.servers".to_owned()])];
    assert_eq!(standing(""), Standing::NotNow(missing));
    let servers = "mcp: { servers: { x: { command: 'x' } } }";
    assert_eq!(standing(servers), Standing::Applies);
    assert_eq!(
        standing(&format!("{servers}, skills: {{ allowBundled: ['other'] }}")),
        Standing::NotNow(vec![Obstacle::NotAllowed])
    );
    assert_eq!(
        standing(&format!("{servers}, skills: {{ allowBundled: ['mcp'] }}")),
        Standing::Applies
    );
}
