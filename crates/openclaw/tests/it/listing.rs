//! `openclaw mcp servers`, `tools`, `status`, `probe`, `logs`, `doctor`, and `openclaw status`.

use serde_json::{Value as Json, json};

use crate::lab::{Lab, assert_harmless, assert_keys};
use crate::scripted::{self, Script, tool};

const SERVER: [&str; 13] = [
    "name",
    "transport",
    "target",
    "enabled",
    "state",
    "auth",
    "tools",
    "resources",
    "prompts",
    "pid",
    "protocolVersion",
    "restarts",
    "error",
];

/// Takes out of a snapshot what differs from run to run.
fn filters() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.add_filter(r"PID \d+", "PID [pid]");
    settings.add_filter(r"stdio:///\S+/fake_mcp_server", "stdio://[fake]");
    settings.add_filter(r"/\S+/fake_mcp_server", "[fake]");
    settings.add_filter(r"--journal \S+ --marker \S+", "[marker]");
    settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:[port]");
    settings
}

/// One server of every kind.
fn several() -> Lab {
    Lab::empty()
        .server("fake", "--only-tools echo,add,elicit", json!({}))
        .server("off", "", json!({ "enabled": false }))
        .address("remote", "http --only-tools echo", json!({}))
        .address("private", "http --status 401", json!({}))
        .settings(json!({ "mcp": { "servers": { "broken": { "command": "/nowhere/program" } } } }))
}

#[test]
fn servers_are_listed_with_how_they_are() {
    let lab = several();
    let text = lab.done(&["mcp", "servers"]);
    filters().bind(|| insta::assert_snapshot!("servers", text));
    let list = lab.json(&["mcp", "list"]);
    let servers = list["servers"].as_array().unwrap();
    for server in servers {
        assert_keys(server, &SERVER);
    }
    let states: Vec<&str> = servers
        .iter()
        .map(|it| it["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        ["failed", "ready", "disabled", "needs-auth", "ready"]
    );
    assert_eq!(servers[1]["transport"], "stdio");
    assert_eq!(servers[1]["tools"], 3);
    assert!(servers[1]["pid"].is_u64() && servers[4]["pid"].is_null());
    assert_eq!(servers[4]["transport"], "http");
}

#[test]
fn without_servers_there_is_a_word_about_adding_one() {
    let lab = Lab::empty();
    for command in ["servers", "tools", "status"] {
        let run = lab.done(&["mcp", command]);
        assert!(run.stdout.contains("`openclaw mcp"), "{run}");
    }
    assert_eq!(lab.json(&["mcp", "servers"]), json!({ "servers": [] }));
}

#[test]
fn tools_are_listed_by_the_names_that_the_model_sees() {
    let lab = Lab::new("--only-tools echo,add,elicit").server("other", "--tools 1", json!({}));
    insta::assert_snapshot!(lab.done(&["mcp", "tools", "fake"]));
    let report = lab.json(&["mcp", "tools", "fake"]);
    let keys = [
        "name",
        "server",
        "tool",
        "title",
        "description",
        "inputSchema",
        "annotations",
    ];
    for tool in report["tools"].as_array().unwrap() {
        assert_keys(tool, &keys);
    }
    assert_eq!(report["tools"][0]["name"], "mcp_fake_add");
    assert_eq!(report["tools"][0]["annotations"]["readOnlyHint"], true);
    let all = lab.json(&["mcp", "tools"]);
    let names: Vec<&Json> = all["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert!(
        names.contains(&&json!("mcp_other_generated_0")),
        "{names:?}"
    );
    assert_eq!(
        lab.failure(&["mcp", "tools", "fkae"], 2)["code"],
        "unknown-server"
    );
}

#[test]
fn a_filter_decides_what_is_offered() {
    let filter = json!({ "toolFilter": { "include": ["e*"], "exclude": ["elicit*"] } });
    let lab = Lab::empty().server("fake", "", filter);
    let report = lab.json(&["mcp", "tools"]);
    let names: Vec<&str> = report["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["tool"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["echo", "end_subscriptions", "environment"]);
}

#[test]
fn a_server_is_shown_in_detail() {
    let lab = Lab::new("--only-tools echo,add --flood-stderr 100");
    let text = lab.done(&["mcp", "status", "fake"]);
    filters().bind(|| insta::assert_snapshot!("status_of_one", text));
    let details = lab.json(&["mcp", "status", "fake"]);
    assert_keys(&details, &SERVER);
    let more = [
        "sessionId",
        "tokenExpiresAt",
        "scopes",
        "issuer",
        "lastHeartbeat",
        "stderr",
        "resolvedCommand",
    ];
    assert_keys(&details, &more);
    assert_eq!(
        details["stderr"].as_array().unwrap().len(),
        1,
        "{details:#}"
    );
    let all = lab.json(&["mcp", "status"]);
    assert_keys(&all["servers"][0], &more);
    assert_eq!(
        lab.failure(&["mcp", "status", "fkae"], 2)["code"],
        "unknown-server"
    );
}

#[test]
fn lines_of_standard_error_are_shown() {
    let lab = Lab::new("--flood-stderr 250");
    let run = lab.done(&["mcp", "logs", "fake"]);
    assert_eq!(run.stdout.lines().count(), 3, "{run}");
    let report = lab.json(&["mcp", "logs", "fake"]);
    assert_keys(&report, &["server", "lines", "last"]);
    let quiet = Lab::new("").done(&["mcp", "logs", "fake"]);
    assert_eq!(quiet.stdout, "");
    assert!(quiet.stderr.contains("wrote nothing"), "{quiet}");
    assert_eq!(
        lab.failure(&["mcp", "logs", "fkae"], 2)["code"],
        "unknown-server"
    );
}

#[test]
fn a_probe_fails_where_a_server_does() {
    let lab = several();
    assert_eq!(lab.run(&["mcp", "probe"]).code, Some(1));
    lab.done(&["mcp", "probe", "fake"]);
    assert_eq!(lab.run(&["mcp", "probe", "broken"]).code, Some(1));
    assert_eq!(Lab::new("").run(&["mcp", "probe", "--json"]).code, Some(0));
}

#[test]
fn a_doctor_that_probes_says_what_works_and_what_does_not() {
    let lab = several();
    for command in [&["mcp", "doctor", "--probe"][..], &["doctor", "--probe"]] {
        let run = lab.run(command);
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stdout.contains("fake is connected, 3 tools"), "{run}");
        assert!(run.stdout.contains("private needs a login"), "{run}");
        assert_eq!(run.stdout.matches("problem  ").count(), 2, "{run}");
        assert!(run.stdout.contains("/nowhere/program"), "{run}");
    }
    let run = lab.run(&["doctor", "--json"]);
    let report = run.json();
    assert_eq!(report["ok"], false);
    for check in report["checks"].as_array().unwrap() {
        assert_keys(check, &["level", "area", "server", "message", "fix"]);
    }
    let fine = Lab::new("").json(&["mcp", "doctor", "fake", "--probe"]);
    assert_eq!(fine["ok"], true, "{fine:#}");
}

#[test]
fn everything_is_on_one_screen() {
    let lab = several();
    let overview = lab.json(&["status"]);
    assert_keys(
        &overview,
        &["version", "gateway", "servers", "agents", "sessions"],
    );
    let gateway = ["running", "pid", "uptimeMs", "address"];
    assert_keys(&overview["gateway"], &gateway);
    assert_eq!(overview["gateway"]["running"], lab.home.has_gateway());
    assert_eq!(overview["servers"].as_array().unwrap().len(), 5);
    assert_keys(
        &overview["agents"][0],
        &["id", "model", "credentials", "servers"],
    );
    let run = lab.done(&["status"]);
    assert!(run.stdout.contains("private"), "{run}");
    assert_eq!(
        lab.journal().entries().len(),
        0,
        "nothing is started for it"
    );
}

#[test]
fn every_agent_has_its_own_servers_and_policy() {
    let lab = Lab::new("").server("other", "--only-tools echo", json!({})).settings(json!({
        "agents": { "list": [
            { "id": "main", "default": true },
            { "id": "quiet", "tools": { "deny": ["mcp_fake_*"] },
              "mcp": { "servers": { "other": { "enabled": false } } } },
            { "id": "more", "mcp": { "servers": { "own": { "command": "/nowhere/program" } } } },
        ] },
    }));
    let states = |agent: &str| -> Vec<(String, String)> {
        let report = lab.json(&["mcp", "servers", "--agent", agent]);
        let servers = report["servers"].as_array().unwrap().iter();
        let text = |it: &Json| it.as_str().unwrap().to_owned();
        servers
            .map(|it| (text(&it["name"]), text(&it["state"])))
            .collect()
    };
    let pairs = |list: &[(&str, &str)]| -> Vec<(String, String)> {
        let list = list.iter();
        list.map(|(one, other)| ((*one).to_owned(), (*other).to_owned()))
            .collect()
    };
    assert_eq!(
        states("main"),
        pairs(&[("fake", "ready"), ("other", "ready")])
    );
    assert_eq!(
        states("quiet"),
        pairs(&[("fake", "stopped"), ("other", "disabled")])
    );
    let more = [("fake", "ready"), ("other", "ready"), ("own", "failed")];
    assert_eq!(states("more"), pairs(&more));
    let call = ["mcp", "call", "fake/echo", "message=hi", "--agent"];
    lab.done(&[&call[..], &["more"]].concat());
    lab.failure(&[&call[..], &["quiet"]].concat(), 1);
    let error = lab.failure(&["mcp", "servers", "--agent", "nobody"], 2);
    assert!(error["hint"].as_str().unwrap().contains("quiet"), "{error}");
}

#[test]
fn a_hostile_server_cannot_act_on_the_terminal() {
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}evil\u{202e}\nStatus: Connected\u{200b}";
    let script = Script {
        info: json!({ "name": evil, "version": evil }),
        tools: json!([tool("echo", evil), tool(evil, evil)]),
        stderr: "\\033[2Jevil\\033]0;owned\\007\\r\\n",
        ..Script::default()
    };
    let lab = scripted::lab(&script, &json!({}));
    for command in [
        &["servers"][..],
        &["tools"],
        &["status", "scripted"],
        &["logs", "scripted"],
        &["refresh"],
        &["connect", "scripted"],
        &["doctor", "--probe"],
    ] {
        for more in [&[][..], &["--json"]] {
            let run = lab.done(&[&["mcp"], command, more].concat());
            assert_harmless(&run.stdout);
            assert_harmless(&run.stderr);
        }
    }
    let run = lab.done(&["mcp", "status", "scripted"]);
    assert!(run.stdout.contains("evil"), "its words are there: {run}");
}

#[test]
fn what_a_server_wrote_before_it_died_is_there() {
    let lab = Lab::new("--exit-after 1 --flood-stderr 100").settings(json!({}));
    let run = lab.done(&["mcp", "logs", "fake"]);
    assert!(run.stdout.contains("eeeeeeee"), "{run}");
}
