//! Commands and a gateway: who finds whom, and what is said about it.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use super::Gateway;
use crate::lab::{Lab, SOON};
use crate::program::Home;

#[test]
fn one_server_serves_every_command_and_stays() {
    let lab = Lab::new("").alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let state = || lab.home.run(&["mcp", "status", "fake", "--json"]).json();
    let first = state();
    assert_eq!(first["state"], "ready", "{first:#}");
    let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    assert_eq!(
        (called.code, called.stdout.as_str()),
        (Some(0), "hello\n"),
        "{called}"
    );
    assert_eq!(state()["pid"], first["pid"], "it is the same process");
    assert_eq!(lab.journal().events("started").len(), 1);
    drop(gateway);
    assert_eq!(lab.processes(), 0, "servers stop with the gateway");
}

#[test]
fn a_command_may_do_without_the_gateway() {
    let lab = Lab::new("").alone();
    let _gateway = Gateway::start(&lab.home, &[]);
    let call = ["mcp", "call", "fake/echo", "message=hello", "--local"];
    let called = lab.home.run(&call);
    assert_eq!(
        (called.code, called.stdout.as_str()),
        (Some(0), "hello\n"),
        "{called}"
    );
    assert_eq!(
        lab.journal().events("started").len(),
        2,
        "it has a server of its own"
    );
}

#[test]
fn another_configuration_is_not_the_gateways() {
    let lab = Lab::new("").alone();
    let _gateway = Gateway::start(&lab.home, &[]);
    lab.home.write(
        "other.json",
        "{ mcp: { servers: { quiet: { command: 'true', enabled: false } } } }",
    );
    let run = lab
        .home
        .run(&["--config", "other.json", "mcp", "servers", "--json"]);
    let names = &run.json()["servers"];
    assert_eq!(names[0]["name"], "quiet", "{run}");
    assert_eq!(names.as_array().unwrap().len(), 1, "{run}");
}

#[test]
fn the_status_says_how_it_is_and_the_end_is_waited_for() {
    let lab = Lab::new("").alone();
    let none = lab.home.run(&["gateway", "status"]);
    assert_eq!(
        (none.code, none.stdout.as_str()),
        (Some(1), "no gateway runs\n"),
        "{none}"
    );
    let mut gateway = Gateway::start(&lab.home, &[]);
    lab.home.run(&["mcp", "servers"]);
    let status = lab.home.run(&["gateway", "status", "--json"]).json();
    assert_eq!(status["running"], true);
    assert_eq!(status["pid"], gateway.pid());
    assert_eq!(status["address"], *gateway.address);
    assert_eq!(status["health"], "ok");
    let overview = lab.home.run(&["status", "--json"]).json();
    assert_eq!(overview["gateway"]["pid"], gateway.pid(), "{overview:#}");
    let told = lab.home.run(&["gateway", "status"]);
    assert!(told.stdout.contains("servers: 1 of 1 ready"), "{told}");
    let stopped = lab.home.run(&["gateway", "stop"]);
    assert_eq!(
        stopped.stdout,
        format!("gateway stopped (PID {})\n", gateway.pid())
    );
    assert_eq!(lab.processes(), 0, "it is over when the command is");
    assert_eq!(gateway.ended().0, Some(0));
    let again = lab.home.run(&["gateway", "stop"]);
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (Some(0), "no gateway runs\n"),
        "{again}"
    );
}

#[test]
fn there_is_one_gateway_for_a_state_directory() {
    let lab = Lab::empty().alone();
    let gateway = Gateway::start(&lab.home, &[]);
    let second = lab.home.run(&["gateway", "--port", "0"]);
    assert_eq!(second.code, Some(1), "{second}");
    let expected = format!(
        "a gateway runs already at {} (PID {})",
        gateway.address,
        gateway.pid()
    );
    assert!(second.stderr.contains(&expected), "{second}");
    // Another profile has its own.
    let other = Gateway::start(&lab.home, &["--profile", "other"]);
    let status = lab
        .home
        .run(&["gateway", "--profile", "other", "status", "--json"]);
    assert_eq!(status.json()["pid"], other.pid(), "{status}");
}

#[test]
fn a_gateway_that_was_killed_leaves_nothing_in_the_way() {
    let lab = Lab::new("--ignore-term --ignore-eof --grandchild").alone();
    let mut gateway = Gateway::start(&lab.home, &[]);
    lab.home.run(&["mcp", "servers"]);
    assert_ne!(lab.processes(), 0);
    gateway.kill();
    assert!(
        lab.is_quiet_within(Duration::from_secs(2)),
        "a process is left"
    );
    let status = lab.home.run(&["gateway", "status"]);
    assert_eq!(status.code, Some(1), "{status}");
    // Commands do by themselves what they did with it.
    let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    assert_eq!(called.stdout, "hello\n", "{called}");
    let next = Gateway::start(&lab.home, &[]);
    assert_eq!(lab.home.run(&["gateway", "status"]).code, Some(0));
    drop(next);
}

#[test]
fn what_is_in_the_state_directory_is_for_its_owner() {
    let lab = Lab::empty().alone();
    let _gateway = Gateway::start(&lab.home, &[]);
    for name in ["gateway.sock", "gateway.token", "gateway.lock"] {
        let path = lab.home.path().join(".openclaw").join(name);
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn changes_made_by_commands_are_in_force_when_they_end() {
    let mut lab = Lab::empty().alone();
    let program = lab.unknown_program("");
    let _gateway = Gateway::start(&lab.home, &[]);
    let mut connect = vec!["mcp", "connect", "--name", "mine", "--"];
    connect.extend(program.iter().map(String::as_str));
    let connected = lab.home.run(&connect);
    assert_eq!(connected.code, Some(0), "{connected}");
    let called = lab.home.run(&["mcp", "call", "mine/echo", "message=hello"]);
    assert_eq!(called.stdout, "hello\n", "{called}");
    let marker = lab.processes();
    assert_ne!(marker, 0, "the gateway has it");
    let removed = lab.home.run(&["mcp", "remove", "mine"]);
    assert_eq!(removed.code, Some(0), "{removed}");
    let gone = lab.home.run(&["mcp", "call", "mine/echo", "message=hello"]);
    assert_eq!(gone.code, Some(2), "{gone}");
}

#[test]
fn a_configuration_that_cannot_be_read_is_no_beginning() {
    let home = Home::with_config("{ mcp: { servers: { x: ");
    let run = home.run(&["gateway", "--port", "0"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("openclaw.json:1:"), "{run}");
}

#[test]
fn a_bad_server_costs_only_itself() {
    let lab = Lab::new("").alone().settings(json!({
        "mcp": { "servers": { "bad": { "comand": "x" } } }
    }));
    let _gateway = Gateway::start(&lab.home, &[]);
    let servers = lab.home.run(&["mcp", "servers", "--json"]).json();
    let states: Vec<_> = servers["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["name"].clone(), it["state"].clone()))
        .collect();
    assert_eq!(
        states,
        [
            (json!("bad"), json!("failed")),
            (json!("fake"), json!("ready"))
        ]
    );
}

#[test]
fn other_machines_are_let_in_only_with_a_credential() {
    for (settings, told) in [
        (
            json!({ "bind": "lan", "auth": { "mode": "none" } }),
            "gateway.auth",
        ),
        (json!({ "bind": "custom" }), "gateway.customBindHost"),
        (
            json!({ "bind": "custom", "customBindHost": "here" }),
            "in digits",
        ),
        (json!({ "bind": "tailnet" }), "tailnet"),
        (
            json!({ "auth": { "mode": "password" } }),
            "gateway.auth.password",
        ),
        (
            json!({ "bind": "custom", "customBindHost": "0.0.0.0",
                    "auth": { "mode": "password", "password": "short" } }),
            "8 characters",
        ),
    ] {
        let lab = Lab::empty()
            .alone()
            .settings(json!({ "gateway": settings }));
        let run = lab.home.run(&["gateway", "--port", "0"]);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(told), "{told}: {run}");
    }
}

#[test]
fn many_servers_start_at_once_and_none_is_left() {
    let mut lab = Lab::empty().alone();
    for number in 0..100 {
        lab = lab.server(&format!("s{number}"), "", json!({}));
    }
    let gateway = Gateway::start(&lab.home, &[]);
    let servers = lab.home.run(&["mcp", "servers", "--json"]).json();
    let servers = servers["servers"].as_array().unwrap().clone();
    assert_eq!(servers.len(), 100);
    let not_ready: Vec<_> = servers.iter().filter(|it| it["state"] != "ready").collect();
    assert!(not_ready.is_empty(), "{not_ready:#?}");
    drop(gateway);
    assert_eq!(lab.processes(), 0);
}

#[test]
fn the_unit_is_printed_written_and_deleted() {
    let home = Home::new();
    let printed = home.run(&["gateway", "install", "--print", "--port", "19000"]);
    assert_eq!(printed.code, Some(0), "{printed}");
    assert!(
        printed
            .stdout
            .contains("\"gateway\" \"run\" \"--port\" \"19000\"\n"),
        "{printed}"
    );
    assert!(printed.stdout.contains("Type=notify"), "{printed}");
    let unit = home
        .path()
        .join(".config/systemd/user/openclaw-mcp-gateway.service");
    assert!(!unit.exists());
    // No systemd answers here: what was done is told, and what is left to do.
    let installed = home
        .plain_command(&["gateway", "install"])
        .env("PATH", "/nowhere")
        .output();
    let installed = home.finish(installed.unwrap());
    assert_eq!(installed.code, Some(1), "{installed}");
    assert!(
        installed.stderr.contains("systemctl --user enable --now"),
        "{installed}"
    );
    assert!(unit.exists());
    let removed = home
        .plain_command(&["gateway", "uninstall"])
        .env("PATH", "/nowhere")
        .output();
    let removed = home.finish(removed.unwrap());
    assert_eq!(removed.code, Some(0), "{removed}");
    assert!(!unit.exists());
    // One of somebody else stays.
    home.write(
        ".config/systemd/user/openclaw-mcp-gateway.service",
        "[Unit]\n",
    );
    let refused = home.run(&["gateway", "install"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert_eq!(std::fs::read_to_string(&unit).unwrap(), "[Unit]\n");
}

#[test]
fn the_file_of_a_directory_that_somebody_entered_chooses_no_token() {
    let lab = Lab::empty().alone();
    lab.home.write(
        ".env",
        "OPENCLAW_GATEWAY_TOKEN=known-to-everybody-in-the-world\n",
    );
    let gateway = Gateway::start(&lab.home, &[]);
    let header = "Authorization: Bearer known-to-everybody-in-the-world\r\n";
    assert_eq!(
        gateway.ask_with(header, "GET", "/api/status", None).status,
        401
    );
    assert_eq!(
        gateway.ask(&lab.home, "GET", "/api/status", None).status,
        200
    );
}

#[test]
fn whoever_comes_while_it_stops_waits_for_its_end() {
    let lab = Lab::new("--ignore-term --ignore-eof").alone();
    let mut gateway = Gateway::start(&lab.home, &[]);
    lab.home.run(&["mcp", "servers"]);
    gateway.signal(Signal::TERM);
    let socket = lab.home.path().join(".openclaw/gateway.sock");
    assert!(openclaw_testkit::leaks::wait_until(SOON, || !socket.exists()));
    let status = lab.home.run(&["gateway", "status"]);
    assert!(status.stderr.contains("starting or stopping"), "{status}");
    let stopped = lab.home.run(&["gateway", "stop"]);
    assert_eq!(
        (stopped.code, stopped.stdout.as_str()),
        (Some(0), "gateway stopped\n"),
        "{stopped}"
    );
    assert_eq!(gateway.ended().0, Some(0));
    assert_eq!(lab.processes(), 0);
}

#[test]
fn options_stand_where_they_mean_something() {
    let home = Home::new();
    let run = home.run(&["gateway", "--port", "19000", "status"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("stand behind"), "{run}");
}

#[test]
fn a_server_of_another_agent_that_failed_is_trouble_of_the_gateway() {
    let lab = Lab::new("").alone().settings(json!({
        "agents": { "entries": { "other": { "mcp": { "servers": {
            "gone": { "command": "/nowhere/at/all" },
        } } } } },
    }));
    let gateway = Gateway::start(&lab.home, &[]);
    lab.home.run(&["mcp", "servers", "--agent", "other"]);
    let status = lab.home.run(&["gateway", "status"]);
    assert!(status.stdout.starts_with("gateway degraded"), "{status}");
    assert!(status.stdout.contains("gone: Failed"), "{status}");
    let health = gateway.ask_with("", "GET", "/health", None).json();
    assert_eq!(health["status"], "degraded", "{health}");
}

#[test]
fn who_follows_a_log_sees_why_a_server_died_and_what_it_says_when_it_is_back() {
    let lab = Lab::new("--flood-stderr 100 --exit-on-call").alone();
    let _gateway = Gateway::start(&lab.home, &[]);
    let first = lab.home.run(&["mcp", "logs", "fake"]).stdout;
    assert_eq!(first.lines().count(), 1);
    let mut following = lab.start(&["mcp", "logs", "fake", "-f"]);
    let stdout = BufReader::new(following.stdout.take().unwrap());
    let (sender, lines) = std::sync::mpsc::channel();
    let reading = std::thread::spawn(move || {
        for line in stdout.lines() {
            let _ = sender.send(line.unwrap());
        }
    });
    let next = || lines.recv_timeout(SOON).unwrap();
    assert_eq!(next(), first.trim_end());
    let called = lab.home.run(&["mcp", "call", "fake/echo", "message=hello"]);
    assert_eq!(called.code, Some(1), "{called}");
    assert_eq!(next(), "fake-mcp-server: exits because it was called");
    // It says the same as before, and as much of it, so that counting alone does not tell.
    assert_eq!(next(), first.trim_end());
    let more = lines.recv_timeout(Duration::from_millis(600));
    assert!(more.is_err(), "no line comes twice: {more:?}");
    following.kill().unwrap();
    following.wait().unwrap();
    reading.join().unwrap();
}
