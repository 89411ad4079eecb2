//! The configuration changes while the gateway runs.

use std::fs;
use std::path::PathBuf;

use openclaw_testkit::leaks::wait_until;
use rustix::process::Signal;
use serde_json::{Value as Json, json};

use super::Gateway;
use crate::lab::{Lab, SOON};

fn config(lab: &Lab) -> PathBuf {
    lab.home.path().join(".openclaw/openclaw.json")
}

/// The configuration with one more server, which is switched off.
fn with_another(lab: &Lab, name: &str) -> String {
    let mut config: Json = serde_json::from_str(&lab.config_text()).unwrap();
    config["mcp"]["servers"][name] = json!({ "command": "true", "enabled": false });
    config.to_string()
}

fn names(gateway: &Gateway, lab: &Lab) -> Vec<String> {
    let servers = gateway
        .ask(&lab.home, "GET", "/api/mcp/servers", None)
        .json();
    let servers = servers["servers"].as_array().unwrap().clone();
    let names = servers
        .iter()
        .map(|it| it["name"].as_str().unwrap().to_owned());
    names.collect()
}

fn pid(gateway: &Gateway, lab: &Lab) -> Json {
    let servers = gateway
        .ask(&lab.home, "GET", "/api/mcp/servers", None)
        .json();
    servers["servers"][0]["pid"].clone()
}

fn error(gateway: &Gateway, lab: &Lab) -> Json {
    gateway.ask(&lab.home, "GET", "/api/status", None).json()["configError"].clone()
}

/// How often the configuration was read anew.
fn reloads(gateway: &Gateway, lab: &Lab) -> u64 {
    let metrics = gateway.ask(&lab.home, "GET", "/metrics", None).body;
    let line = metrics
        .lines()
        .find(|line| line.starts_with("openclaw_config_reloads_total{outcome=\"ok\"}"));
    let line = line.unwrap_or_else(|| panic!("{metrics}"));
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[test]
fn settings_that_wait_for_a_new_start_are_told_wherever_somebody_looks() {
    let lab = Lab::empty().alone();
    let mut gateway = Gateway::start(&lab.home, &[]);
    let settings = |port: u16| {
        json!({ "gateway": { "auth": { "token": "t".repeat(40) } }, "mcp": {
            "servers": { "off": { "command": "true", "enabled": false, "args": [port.to_string()] } },
        }})
    };
    let waits = || {
        let status = lab.home.run(&["gateway", "status", "--json"]).json();
        status["awaitsRestart"].clone()
    };
    assert_eq!(waits(), json!([]));
    // So does what stands beside the file.
    lab.home
        .write(".openclaw/.env", "OPENCLAW_GATEWAY_TOKEN=another\n");
    assert!(wait_until(SOON, || waits() == json!(["gateway"])));
    lab.home.write(
        ".openclaw/.env",
        "OTEL_SERVICE_NAME=another\nOTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:9\n",
    );
    assert!(wait_until(SOON, || waits() == json!(["diagnostics.otel"])));
    lab.home.write(".openclaw/.env", "");
    assert!(wait_until(SOON, || waits() == json!([])));
    // However often it changes.
    for port in [1, 2] {
        let before = reloads(&gateway, &lab);
        fs::write(config(&lab), settings(port).to_string()).unwrap();
        assert!(wait_until(SOON, || reloads(&gateway, &lab) > before));
        assert_eq!(waits(), json!(["gateway"]));
    }
    let status = lab.home.run(&["gateway", "status"]);
    assert!(
        status
            .stdout
            .contains("`gateway` has changed, and counts once the gateway is started anew"),
        "{status}"
    );
    let status = lab.home.run(&["status"]);
    assert!(
        status
            .stdout
            .contains("Restart needed: `gateway` has changed"),
        "{status}"
    );
    let doctor = lab.home.run(&["doctor"]);
    assert!(
        doctor
            .stdout
            .contains("`gateway` has changed since the gateway began"),
        "{doctor}"
    );
    gateway.signal(Signal::TERM);
    assert_eq!(gateway.ended().0, Some(0));
    let log = lab.home.path().join(".openclaw/logs/openclaw.log");
    let log = fs::read_to_string(log).unwrap();
    assert!(
        log.contains("counts once the gateway is started anew"),
        "{log}"
    );
    // Started anew, it goes by them.
    let _gateway = Gateway::start(&lab.home, &[]);
    assert_eq!(waits(), json!([]));
}

#[test]
fn what_is_as_wrong_as_before_at_another_place_of_the_file_waits_for_nothing() {
    let lab = Lab::empty().alone();
    let write = |before: &str| {
        let text = format!("{{ {before} diagnostics: {{ otel: {{ endpoint: 'nonsense' }} }} }}");
        fs::write(config(&lab), text).unwrap();
    };
    write("");
    let gateway = Gateway::start(&lab.home, &[]);
    let before = reloads(&gateway, &lab);
    write("mcp: { servers: { off: { command: 'true', enabled: false } } },");
    assert!(wait_until(SOON, || reloads(&gateway, &lab) > before));
    let status = lab.home.run(&["gateway", "status", "--json"]).json();
    assert_eq!(status["awaitsRestart"], json!([]));
}

/// Starts a gateway whose server is ready.
fn ready(lab: &Lab) -> Gateway {
    let gateway = Gateway::start(&lab.home, &[]);
    let servers = lab.home.run(&["mcp", "servers"]);
    assert_eq!(servers.code, Some(0), "{servers}");
    gateway
}

#[test]
fn a_changed_file_is_noticed_and_unchanged_servers_keep_running() {
    let lab = Lab::new("").alone();
    let gateway = ready(&lab);
    let before = pid(&gateway, &lab);
    assert!(before.is_u64(), "{before}");
    fs::write(config(&lab), with_another(&lab, "second")).unwrap();
    let noticed = wait_until(SOON, || names(&gateway, &lab) == ["fake", "second"]);
    assert!(noticed, "{:?}", names(&gateway, &lab));
    assert_eq!(pid(&gateway, &lab), before, "nothing was started anew");
    assert_eq!(lab.journal().events("started").len(), 1);
}

#[test]
fn a_file_that_cannot_be_used_changes_nothing_and_is_reported() {
    let lab = Lab::new("").alone();
    let gateway = ready(&lab);
    let before = pid(&gateway, &lab);
    let good = lab.config_text();
    for bad in ["{ mcp: { servers: ", "", "{ tools: { deny: 5 } }"] {
        fs::write(config(&lab), bad).unwrap();
        assert!(
            wait_until(SOON, || error(&gateway, &lab).is_string()),
            "{bad:?}"
        );
        let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
        assert_eq!(called.stdout, "hello\n", "{called}");
        // Nor does it keep others from asking for a long time.
        let chat = lab.home.run_with_input(&["chat"], "/mcp list\n");
        assert!(chat.stdout.contains("fake"), "{chat}");
        for (command, version) in [("mcp-server", json!("2025-11-25")), ("acp", json!(1))] {
            let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": version, "capabilities": {}, "clientCapabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            }});
            let served = lab.home.run_with_input(&[command], &format!("{hello}\n"));
            let answer: Json = serde_json::from_str(&served.stdout).unwrap();
            assert_eq!(answer["result"]["protocolVersion"], version, "{served}");
        }
        let status = lab.home.run(&["gateway", "status"]);
        assert!(status.stdout.starts_with("gateway degraded"), "{status}");
        fs::write(config(&lab), &good).unwrap();
        assert!(
            wait_until(SOON, || error(&gateway, &lab).is_null()),
            "{bad:?}"
        );
    }
    fs::remove_file(config(&lab)).unwrap();
    assert!(wait_until(SOON, || error(&gateway, &lab).is_string()));
    fs::write(config(&lab), &good).unwrap();
    assert!(wait_until(SOON, || error(&gateway, &lab).is_null()));
    assert_eq!(pid(&gateway, &lab), before, "it ran all the time");
}

#[test]
fn a_file_may_be_replaced_and_may_be_a_link() {
    let lab = Lab::new("").alone();
    let one = lab.home.path().join("one.json");
    let two = lab.home.path().join("two.json");
    fs::write(&one, lab.config_text()).unwrap();
    fs::write(&two, with_another(&lab, "second")).unwrap();
    fs::remove_file(config(&lab)).unwrap();
    std::os::unix::fs::symlink(&one, config(&lab)).unwrap();
    let gateway = ready(&lab);
    // The link leads elsewhere from one moment to the next.
    let next = lab.home.path().join("next");
    std::os::unix::fs::symlink(&two, &next).unwrap();
    fs::rename(&next, config(&lab)).unwrap();
    assert!(wait_until(SOON, || names(&gateway, &lab).len() == 2));
    // What it leads to is replaced.
    let new = lab.home.path().join("new.json");
    fs::write(&new, fs::read_to_string(&one).unwrap()).unwrap();
    fs::rename(&new, &two).unwrap();
    assert!(wait_until(SOON, || names(&gateway, &lab).len() == 1));
    assert_eq!(lab.journal().events("started").len(), 1);
}

#[test]
fn somebody_may_ask_for_it() {
    let lab = Lab::new("").alone();
    let gateway = ready(&lab);
    // Nothing has changed, so that nobody else has a reason to read it.
    let before = reloads(&gateway, &lab);
    gateway.signal(Signal::HUP);
    assert!(wait_until(SOON, || reloads(&gateway, &lab) == before + 1));
    fs::write(config(&lab), with_another(&lab, "refreshed")).unwrap();
    let refreshed = lab.home.run(&["mcp", "refresh", "--json"]).json();
    let refreshed = refreshed["servers"].as_array().unwrap().clone();
    assert!(
        refreshed.iter().any(|it| it["name"] == "refreshed"),
        "{refreshed:#?}"
    );
}

#[test]
fn a_call_in_flight_ends_well_when_its_server_changes() {
    let lab = Lab::new("").alone();
    let gateway = ready(&lab);
    let call = lab.start(&["mcp", "call", "fake/sleep", "ms=2000"]);
    assert!(wait_until(SOON, || lab.calls() == 1));
    let mut changed: Json = serde_json::from_str(&lab.config_text()).unwrap();
    changed["mcp"]["servers"]["fake"]["env"] = json!({ "SOMETHING": "else" });
    fs::write(config(&lab), changed.to_string()).unwrap();
    gateway.signal(Signal::HUP);
    let started = wait_until(SOON, || lab.journal().events("started").len() == 2);
    assert!(started, "the new one is started beside the old one");
    let ended = lab.home.finish(call.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0), "{ended}");
}

#[test]
fn a_refresh_with_a_file_that_is_wrong_says_so_with_and_without_a_gateway() {
    let lab = Lab::new("").alone();
    let gateway = ready(&lab);
    fs::write(config(&lab), "{ nonsense").unwrap();
    let with = lab.home.run(&["mcp", "refresh"]);
    assert_eq!(with.code, Some(2), "{with}");
    assert!(with.stdout.contains("Running"), "it goes on: {with}");
    assert!(with.stderr.contains("openclaw.json"), "{with}");
    drop(gateway);
    let without = lab.home.run(&["mcp", "refresh"]);
    assert_eq!(without.code, Some(2), "{without}");
}
