//! `$include`.

use openclaw_config::Launch;

use crate::fixture::{Fixture, agent, server};

fn command(fixture: &Fixture, name: &str) -> String {
    match &server(&fixture.config(), "main", name).launch {
        Launch::Stdio(launch) => launch.command.clone(),
        Launch::Remote(_) => panic!("a program"),
    }
}

#[test]
fn a_string_replaces_and_an_array_merges_and_siblings_win() {
    let fixture = Fixture::new(
        r#"{ mcp: { $include: "mcp/all.json5" }, agents: { $include: ["a.json", "b.json"], list: [{ id: "own" }] } }"#,
    );
    fixture.write(
        "mcp/all.json5",
        r#"{ servers: { $include: "./servers.json", b: { command: "sibling" } } }"#,
    );
    fixture.write(
        "mcp/servers.json",
        r#"{ "a": { "command": "included" }, "b": { "command": "included", "args": ["x"] } }"#,
    );
    fixture.write(
        "a.json",
        r#"{ "defaults": { "workspace": "/a", "model": "x/a" }, "list": [{ "id": "a" }] }"#,
    );
    fixture.write("b.json", r#"{ "defaults": { "workspace": "/b" } }"#);
    assert_eq!(command(&fixture, "a"), "included");
    assert_eq!(command(&fixture, "b"), "sibling");
    let config = fixture.config();
    let main = agent(&config, "main");
    assert_eq!(main.workspace.as_deref(), Some(std::path::Path::new("/b")));
    assert_eq!(main.model.as_ref().unwrap().primary, "x/a");
    assert!(config.agents.contains_key("own") && config.agents.contains_key("a"));
}

#[test]
fn lists_of_what_is_denied_add_up() {
    let fixture = Fixture::new(r#"{ $include: ["a.json", "b.json"], tools: { deny: ["c"] } }"#);
    fixture.write("a.json", r#"{ "tools": { "deny": ["a"] } }"#);
    fixture.write("b.json", r#"{ "tools": { "deny": ["b"] } }"#);
    assert_eq!(
        agent(&fixture.config(), "main").policy[0].deny,
        ["a", "b", "c"]
    );
}

#[cfg(unix)]
#[test]
fn a_linked_configuration_includes_the_files_beside_the_real_one() {
    let fixture = Fixture::empty();
    fixture.write(
        "dotfiles/openclaw.json",
        r#"{ mcp: { servers: { $include: "servers.json" } } }"#,
    );
    fixture.write(
        "dotfiles/servers.json",
        r#"{ "a": { "command": "linked", "cwd": "sub" } }"#,
    );
    std::os::unix::fs::symlink("dotfiles/openclaw.json", fixture.location().config).unwrap();
    assert_eq!(command(&fixture, "a"), "linked");
}

#[test]
fn mistakes_name_the_included_file() {
    let fixture = Fixture::new(r#"{ mcp: { servers: { $include: "servers.json" } } }"#);
    fixture.write("servers.json", "{\n  \"a\": { \"command\": 5 }\n}");
    insta::assert_snapshot!(fixture.rendered(&fixture.load()), @r#"
    error: expected a string, found a number
     --> DIR/servers.json:2:21
      |
    2 |   "a": { "command": 5 }
      |                     ^
      |
      = note: at `mcp.servers.a.command`
      = help: put it in quotes
    "#);
}

#[test]
fn what_cannot_be_included_is_an_error_with_its_place() {
    let fixture = Fixture::new(
        r#"{
    a: { $include: "missing.json" },
    b: { $include: "../../../etc/passwd" },
    c: { $include: "/etc/passwd" },
    d: { $include: "circle.json" },
    e: { $include: 5 },
    f: { $include: ["ok.json", null] },
    g: { $include: "list.json", x: 1 },
    h: { $include: "sub" },
    i: { $include: "binary.json" },
    j: { $include: "broken.json" },
    k: { $include: "" },
}"#,
    );
    fixture.write(
        "circle.json",
        r#"{ "again": { "$include": "circle2.json" } }"#,
    );
    fixture.write(
        "circle2.json",
        r#"{ "and again": { "$include": "./circle.json" } }"#,
    );
    fixture.write("ok.json", "{}");
    fixture.write("list.json", "[]");
    fixture.write("sub/x.json", "{}");
    fixture.write("binary.json", b"{ \"\xc3\x28\": 1 }");
    fixture.write("broken.json", "{ \"a\": }");
    let rendered = fixture.rendered(&fixture.load());
    insta::assert_snapshot!(rendered);
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out() {
    let outside = tempfile::tempdir().unwrap();
    let target = outside.path().join("servers.json");
    std::fs::write(&target, "{}").unwrap();
    let fixture = Fixture::new(r#"{ mcp: { $include: "link.json" } }"#);
    std::os::unix::fs::symlink(&target, fixture.path().join("link.json")).unwrap();
    assert_eq!(
        fixture.problems(),
        ["mcp: `link.json` is outside of the configuration's directory"]
    );
}

#[test]
fn a_bad_include_inside_a_server_costs_only_that_server() {
    let fixture = Fixture::new(
        r#"{ mcp: { servers: { bad: { $include: "missing.json" }, good: { command: "x" } } } }"#,
    );
    assert_eq!(
        fixture.problems().len(),
        1,
        "nobody misses what may be in that file"
    );
    assert_eq!(command(&fixture, "good"), "x");
    let fixture = Fixture::new(
        r#"{ mcp: { servers: { bad: { command: "x", $include: "missing.json" } } } }"#,
    );
    let config = fixture.config();
    let bad = &crate::fixture::configured(&config, "main", "bad").definition;
    assert!(
        matches!(bad, openclaw_config::Definition::Broken(_)),
        "a half server is none"
    );
}

#[test]
fn ten_levels_are_enough_and_eleven_too_many() {
    let chain = |levels: usize| {
        let fixture = Fixture::new(r#"{ mcp: { servers: { a: { $include: "1.json" } } } }"#);
        for level in 1..levels {
            let text = format!(r#"{{ "$include": "{}.json" }}"#, level + 1);
            fixture.write(&format!("{level}.json"), text);
        }
        fixture.write(&format!("{levels}.json"), r#"{ "command": "deep" }"#);
        fixture
    };
    assert_eq!(command(&chain(10), "a"), "deep");
    let problems = chain(11).problems();
    assert!(
        problems[0].contains("more than 10 levels deep"),
        "{problems:?}"
    );
}

#[test]
fn files_that_include_many_files_end() {
    // Without a limit, ten levels of ten files each would be ten thousand million.
    let fixture = Fixture::new(r#"{ x: { $include: "1.json" } }"#);
    for level in 1..=10 {
        let name = format!("\"{}.json\"", level + 1);
        let names = vec![name; 10].join(", ");
        fixture.write(
            &format!("{level}.json"),
            format!(r#"{{ "a": {{ "$include": [{names}] }} }}"#),
        );
    }
    let problems = fixture.problems();
    assert!(
        problems
            .iter()
            .any(|problem| problem.contains("more than 200 files")),
        "{problems:?}"
    );
}

#[test]
fn an_included_file_may_have_two_megabytes() {
    let fixture = Fixture::new(r#"{ x: { $include: "large.json" } }"#);
    fixture.write("large.json", format!("{{}}{}", " ".repeat(2 << 20)));
    let problems = fixture.problems();
    assert!(
        problems[0].contains("larger than the limit of 2 MB"),
        "{problems:?}"
    );
}
