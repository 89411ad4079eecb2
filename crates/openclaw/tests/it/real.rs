//! Servers and clients that others wrote, through the whole program: `scripts/partners` installs them.

#[cfg(target_os = "linux")]
mod api;
mod clients;
mod editors;
#[cfg(target_os = "linux")]
mod keyring;
mod logins;
mod models;
mod questions;
mod traces;

use std::path::Path;

use openclaw_testkit::partners;
use serde_json::{Value as Json, json};

use crate::lab::Lab;
use crate::program::Run;

/// A server with the home directory in its command line, by which it is found if it is left.
fn lab(name: &str, command: &Path, arguments: &[&str]) -> Lab {
    let lab = Lab::empty();
    let home = lab.home.path().to_str().unwrap();
    let arguments: Vec<&str> = arguments
        .iter()
        .map(|word| if *word == "HOME" { home } else { word })
        .collect();
    let entry = json!({
        "command": command,
        "args": arguments,
        // Node and Python are slow on a busy machine.
        "connectionTimeoutMs": 60_000,
    });
    lab.settings(json!({ "mcp": { "servers": { name: entry } } }))
}

fn everything() -> Lab {
    let modules = partners().join("node_modules");
    let script = modules.join("@modelcontextprotocol/server-everything/dist/index.js");
    let node = modules.join(".bin/node");
    lab(
        "everything",
        &node,
        &[script.to_str().unwrap(), "stdio", "HOME"],
    )
}

#[test]
fn the_reference_server_is_called_by_people_and_programs() {
    let lab = everything();
    let run = lab.done(&["mcp", "call", "everything/echo", "message=hello"]);
    assert_eq!(run.stdout, "Echo: hello\n");
    let report = lab.json(&["mcp", "call", "everything/get-sum", "a=2", "b=3"]);
    let text = report["content"][0]["text"].as_str().unwrap();
    assert!(text.contains('5'), "{report:#}");
    let run = lab.run(&["mcp", "call", "everything/echo", "message=1", "--framed"]);
    assert!(run.stdout.contains("From: everything/echo"), "{run}");
    assert_eq!(lab.run(&["mcp", "call", "everything/echo"]).code, Some(2));
}

#[test]
fn resources_of_the_reference_server_are_listed_and_read() {
    let lab = everything();
    let report = lab.json(&["mcp", "resources", "everything"]);
    let first = &report["resources"][0];
    let uri = first["uri"].as_str().unwrap();
    assert!(!report["templates"].as_array().unwrap().is_empty());
    let read = lab.json(&["mcp", "read", "everything", uri]);
    let text = read["contents"][0]["text"].as_str().unwrap();
    let run = lab.done(&["mcp", "read", "everything", uri]);
    assert!(!text.is_empty() && run.stdout.contains(text.lines().next().unwrap()));
}

#[test]
fn prompts_of_the_reference_server_are_listed_and_filled_in() {
    let lab = everything();
    let report = lab.json(&["mcp", "prompts"]);
    let prompts = report["prompts"].as_array().unwrap();
    let with_arguments = prompts
        .iter()
        .find(|prompt| !prompt["arguments"].as_array().unwrap().is_empty())
        .unwrap();
    let name = with_arguments["name"].as_str().unwrap();
    let arguments: Vec<String> = with_arguments["arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| format!("{}=Berlin", argument["name"].as_str().unwrap()))
        .collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let line = [&["mcp", "prompt", "everything", name][..], &arguments].concat();
    let filled = lab.json(&line);
    assert!(
        filled["messages"].to_string().contains("Berlin"),
        "{filled:#}"
    );
    assert!(lab.done(&line).stdout.starts_with("user:\n"));
}

#[test]
fn the_reference_server_for_files_stays_in_its_directory() {
    let modules = partners().join("node_modules");
    let script = modules.join("@modelcontextprotocol/server-filesystem/dist/index.js");
    let node = modules.join(".bin/node");
    let lab = lab("files", &node, &[script.to_str().unwrap(), "HOME"]);
    lab.home.write("note.txt", "a note");
    let inside = format!("path={}/note.txt", lab.home.path().display());
    let run = lab.done(&["mcp", "call", "files/read_text_file", &inside]);
    assert!(run.stdout.contains("a note"), "{run}");
    let run = lab.run(&["mcp", "call", "files/read_text_file", "path=/etc/passwd"]);
    assert_eq!(run.code, Some(1), "{run}");
}

#[test]
fn the_reference_server_for_times_is_called() {
    let lab = Lab::empty();
    let program = lab.home.path().join("mcp-server-time");
    std::os::unix::fs::symlink(partners().join("python/bin/mcp-server-time"), &program).unwrap();
    let lab = lab.settings(json!({ "mcp": { "servers": { "time": {
        "command": program,
        "args": ["--local-timezone", "Europe/Berlin"],
        "connectionTimeoutMs": 60_000,
    } } } }));
    let call = [
        "mcp",
        "call",
        "time/get_current_time",
        "timezone=Asia/Kolkata",
    ];
    let report = lab.json(&call);
    assert_eq!(report["structuredContent"]["timezone"], "Asia/Kolkata");
    let told: Json = serde_json::from_str(&lab.done(&call).stdout).unwrap();
    assert!(told["datetime"].as_str().unwrap().ends_with("+05:30"));
    let wrong = [
        "mcp",
        "call",
        "time/get_current_time",
        "timezone=Europe/Atlantis",
    ];
    assert_eq!(lab.run(&wrong).code, Some(1));
}

/// Runs a command with an example, as somebody who has installed the servers in `~/mcp`.
fn with_example(lab: &Lab, name: &str, arguments: &[&str]) -> Run {
    let mcp = lab.home.path().join("mcp");
    let modules = partners().join("node_modules");
    if !mcp.exists() {
        std::fs::create_dir(&mcp).unwrap();
        std::os::unix::fs::symlink(&modules, mcp.join("node_modules")).unwrap();
    }
    let example = format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let output = lab
        .home
        .command(arguments)
        .args(["--config", &example])
        .env("PATH", modules.join(".bin"))
        .output()
        .unwrap();
    let run = lab.home.finish(output);
    assert_eq!(lab.processes(), 0, "a process is left: {run}");
    run
}

#[test]
fn the_examples_do_what_they_say() {
    let lab = Lab::empty();
    let call = ["mcp", "call", "everything/echo", "message=hello"];
    let run = with_example(&lab, "everything.json", &call);
    assert_eq!(run.stdout, "Echo: hello\n", "{run}");
    let names = |agent: &str| {
        let tools = ["mcp", "tools", "--json", "--agent", agent];
        let report = with_example(&lab, "restricted.json", &tools).json();
        let tools = report["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .map(|tool| tool["tool"].as_str().unwrap().to_owned())
            .collect::<Vec<String>>()
    };
    let main = names("main");
    assert!(main.contains(&"read_text_file".to_owned()), "{main:?}");
    assert!(!main.contains(&"write_file".to_owned()), "{main:?}");
    let guest = names("guest");
    let lists = |name: &String| name.starts_with("list_");
    assert!(!guest.is_empty() && guest.iter().all(lists), "{guest:?}");
    let write = [
        "mcp",
        "call",
        "files/write_file",
        "path=/tmp/x",
        "content=x",
    ];
    let run = with_example(&lab, "restricted.json", &write);
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("not allowed"), "{run}");
}
