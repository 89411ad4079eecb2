//! Agents: which there are, and what each may use.

use openclaw_config::{Approval, ToolSearch, WithoutPerson};

use crate::fixture::{Fixture, agent, config};

#[test]
fn without_agents_there_is_main() {
    let config = config("{}");
    assert_eq!(config.default_agent.as_str(), "main");
    assert_eq!(config.agents.len(), 1);
}

#[test]
fn the_marked_agent_is_the_default_and_main_is_there_unless_one_is_marked() {
    let marked = config(r#"{ agents: { list: [{ id: "a" }, { id: "b", default: true }] } }"#);
    assert_eq!(marked.default_agent.as_str(), "b");
    assert!(!marked.agents.contains_key("main"));
    let unmarked = config(r#"{ agents: { entries: { a: {} } } }"#);
    assert_eq!(unmarked.default_agent.as_str(), "main");
    assert_eq!(unmarked.agents.len(), 2);
}

#[test]
fn two_defaults_are_pointed_out_and_the_first_counts() {
    let fixture = Fixture::new(
        r#"{ agents: { list: [{ id: "a", default: true }, { id: "b", default: true }] } }"#,
    );
    assert_eq!(fixture.config().default_agent.as_str(), "a");
    assert_eq!(
        fixture.problems(),
        ["agents: a and b are both marked as the default agent"]
    );
}

#[test]
fn names_of_agents_are_checked() {
    let fixture = Fixture::new(
        r#"{ agents: { list: [{ id: "Bad Name" }, {}, { id: "a" }, { id: "a" }], entries: { a: {} } } }"#,
    );
    insta::assert_debug_snapshot!(fixture.problems(), @r#"
    [
        "agents.list[0].id: `Bad Name` cannot name an agent: an agent's name has 1 to 64 lower-case letters, digits, `-` and `_`, beginning with a letter or digit",
        "agents.list[1]: an agent of `agents.list` needs `id`",
        "agents.list[3].id: there are two agents with the name `a`",
        "agents.entries.a: there are two agents with the name `a`",
    ]
    "#);
    assert!(fixture.load().config.is_none());
}

#[test]
fn every_list_of_tools_is_a_layer_from_the_outermost_to_the_agents_own() {
    let config = config(
        r#"{
            tools: { deny: ["a"] }, toolPolicy: { deny: ["b"] }, gateway: { tools: { allow: ["c"] } },
            agents: {
                defaults: { tools: { deny: ["d"] }, toolPolicy: { deny: ["e"] } },
                list: [{ id: "x", tools: { deny: ["f"] }, toolPolicy: { deny: ["g"] } }],
            },
        }"#,
    );
    let origins = |id| -> Vec<String> {
        agent(&config, id)
            .policy
            .iter()
            .map(|layer| layer.origin.clone())
            .collect()
    };
    assert_eq!(
        origins("main"),
        [
            "tools",
            "toolPolicy",
            "gateway.tools",
            "agents.defaults.tools",
            "agents.defaults.toolPolicy"
        ]
    );
    assert_eq!(origins("x").len(), 7);
}

#[test]
fn settings_of_tools_come_from_the_innermost_place() {
    let config = config(
        r#"{
            tools: { approval: "all", approvalWithoutPerson: "deny", readOnly: ["x_*"] },
            agents: { list: [{ id: "x", tools: { approval: "off", readOnly: ["y_*"], toolSearch: "on" } }] },
        }"#,
    );
    let (main, x) = (agent(&config, "main"), agent(&config, "x"));
    assert_eq!((main.approval, x.approval), (Approval::All, Approval::Off));
    assert_eq!(x.without_person, WithoutPerson::Deny);
    assert_eq!(x.read_only, ["x_*", "y_*"]);
    assert_eq!(
        (main.tool_search, x.tool_search),
        (ToolSearch::Auto, ToolSearch::On)
    );
}

#[test]
fn which_resources_are_injected_comes_from_the_innermost_place_that_says_so() {
    let config = config(
        r#"{
            mcp: { servers: { docs: { command: "x", resources: { inject: ["a://*"], maxBytes: 7 } } } },
            agents: {
                defaults: { resources: { inject: ["docs/b://*"], maxBytes: 9 } },
                entries: { some: { resources: { inject: ["c://d"] } }, none: { resources: { inject: [] } } },
            },
        }"#,
    );
    let of = |name: &str| {
        let resources = &agent(&config, name).resources;
        (resources.inject.clone(), resources.max_bytes)
    };
    assert_eq!(of("main"), (vec!["docs/b://*".to_owned()], 9));
    assert_eq!(of("some"), (vec!["c://d".to_owned()], 9));
    assert_eq!(of("none"), (vec![], 9));
    let docs = agent(&config, "none").servers.get("docs").unwrap();
    let docs = &docs.definition.sound().unwrap().resources;
    assert_eq!(
        (docs.inject.clone(), docs.max_bytes),
        (vec!["a://*".to_owned()], Some(7))
    );
    let nothing = crate::fixture::config("{}");
    assert_eq!(agent(&nothing, "main").resources.max_bytes, 50_000);
}

#[test]
fn a_policy_that_cannot_be_read_is_not_no_policy() {
    for text in [
        r#"{ tools: { deny: "mcp_fs_*" } }"#,
        r#"{ toolPolicy: { deny: [1] } }"#,
        r#"{ agents: { defaults: { tools: [] } } }"#,
        r#"{ agents: { list: [{ id: "x", tools: { deny: {} } }] } }"#,
    ] {
        assert!(Fixture::new(text).load().config.is_none(), "{text}");
    }
}

#[test]
fn models_are_a_name_or_a_name_with_fallbacks() {
    let config = config(
        r#"{ agents: {
            defaults: { model: "anthropic/sonnet" },
            list: [{ id: "x", model: { primary: "openai/gpt", fallbacks: ["ollama/q"] } }],
        } }"#,
    );
    assert_eq!(
        agent(&config, "main").model.as_ref().unwrap().primary,
        "anthropic/sonnet"
    );
    assert_eq!(
        agent(&config, "x").model.as_ref().unwrap().fallbacks,
        ["ollama/q"]
    );
}
