//! `openclaw mcp resources`, `read`, `prompts` and `prompt`.

use serde_json::json;

use crate::lab::{Lab, assert_harmless, assert_keys};
use crate::scripted::{self, Script};

#[test]
fn resources_are_listed_with_their_patterns() {
    let lab = Lab::new("");
    insta::assert_snapshot!(lab.done(&["mcp", "resources"]).stdout);
    let report = lab.json(&["mcp", "resources", "fake"]);
    let keys = ["server", "uri", "name", "title", "mimeType", "size"];
    for resource in report["resources"].as_array().unwrap() {
        assert_keys(resource, &keys);
    }
    assert_eq!(report["resources"][1]["size"], 70);
    assert_keys(&report["templates"][0], &["server", "uriTemplate", "name"]);
    assert_eq!(
        lab.failure(&["mcp", "resources", "fkae"], 2)["code"],
        "unknown-server"
    );
}

#[test]
fn a_resource_is_read() {
    let lab = Lab::new("");
    let run = lab.done(&["mcp", "read", "fake", "test://text"]);
    assert_eq!(run.stdout, "the text of a resource\n");
    let report = lab.json(&["mcp", "read", "fake", "test://numbered/7"]);
    assert_keys(&report, &["server", "uri", "contents"]);
    assert_keys(&report["contents"][0], &["uri", "mimeType", "text"]);
    assert_eq!(report["contents"][0]["text"], "number 7");
}

#[test]
fn what_is_not_text_is_written_as_it_is() {
    let lab = Lab::new("");
    let output = lab
        .home
        .command(&["mcp", "read", "fake", "test://blob"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(&output.stdout[..8], b"\x89PNG\r\n\x1a\n");
    assert_eq!(output.stdout.len(), 70);
    let report = lab.json(&["mcp", "read", "fake", "test://blob"]);
    assert!(report["contents"][0]["blob"].is_string(), "{report:#}");
}

#[test]
fn a_resource_that_is_not_there_is_a_failure() {
    let lab = Lab::new("");
    let error = lab.failure(&["mcp", "read", "fake", "test://none"], 1);
    assert!(
        error["message"].as_str().unwrap().contains("not found"),
        "{error}"
    );
    assert_eq!(
        lab.failure(&["mcp", "read", "fkae", "test://text"], 2)["code"],
        "unknown-server"
    );
}

#[test]
fn prompts_are_listed_with_their_arguments() {
    let lab = Lab::new("");
    insta::assert_snapshot!(lab.done(&["mcp", "prompts"]).stdout);
    let report = lab.json(&["mcp", "prompts", "fake"]);
    let keys = ["server", "name", "title", "description", "arguments"];
    for prompt in report["prompts"].as_array().unwrap() {
        assert_keys(prompt, &keys);
    }
    assert_eq!(report["prompts"][1]["arguments"][0]["name"], "name");
}

#[test]
fn a_prompt_is_filled_in() {
    let lab = Lab::new("");
    let arguments = [
        "mcp",
        "prompt",
        "fake",
        "greeting",
        "name=Ada",
        "style=funny",
    ];
    let run = lab.done(&arguments);
    assert_eq!(
        run.stdout,
        "user:\nGreet Ada in a funny way.\n\nassistant:\nHello!\n"
    );
    let report = lab.json(&arguments);
    assert_keys(&report, &["server", "name", "description", "messages"]);
    assert_keys(&report["messages"][0], &["role", "content"]);
    assert_eq!(report["description"], "A funny greeting for Ada");
    let run = lab.run(&["mcp", "prompt", "fake", "greetin"]);
    assert_ne!(run.code, Some(0), "{run}");
    let run = lab.run(&["mcp", "prompt", "fake", "greeting"]);
    assert_ne!(run.code, Some(0), "a required argument is missing: {run}");
    assert!(run.stderr.contains("name"), "{run}");
}

#[test]
fn names_of_offers_cannot_act_on_the_terminal() {
    let evil = "\u{1b}[2Jevil\u{202e}\nStatus: fine";
    let script = Script {
        resources: json!([{ "uri": format!("x://{evil}"), "name": evil, "description": evil }]),
        prompts: json!([{ "name": evil, "description": evil }]),
        ..Script::default()
    };
    let lab = scripted::lab(&script, &json!({}));
    for command in ["resources", "prompts"] {
        for more in [&[][..], &["--json"]] {
            let run = lab.done(&[&["mcp", command], more].concat());
            assert!(run.stdout.contains("evil"), "{run}");
            assert_harmless(&run.stdout);
            assert_harmless(&run.stderr);
        }
    }
}

#[test]
fn a_server_that_failed_is_told_beside_what_the_others_offer() {
    let lab = Lab::new("").settings(json!({
        "mcp": { "servers": { "broken": { "command": "/nowhere/program" } } },
    }));
    for command in ["tools", "resources", "prompts"] {
        let run = lab.done(&["mcp", command]);
        assert!(run.stderr.contains("warning: the server `broken`"), "{run}");
        let report = lab.json(&["mcp", command]);
        assert_eq!(report["problems"].as_array().unwrap().len(), 1, "{report}");
    }
}
