//! MCP clients that others wrote, with the agent as their tool.

mod fastmcp;
mod http2;
mod openai;
mod programs;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use openclaw_testkit::partners;
use serde_json::{Value as Json, json};

use crate::lab::{Lab, SOON};
use crate::program::Run;

/// An agent that somebody offers to the clients of their machine.
struct Offer {
    lab: Lab,
}

impl Offer {
    /// Of an agent with the built-in model and the fake server.
    fn new() -> Self {
        Self::of(Lab::new(""))
    }

    fn of(lab: Lab) -> Self {
        let offer = Self { lab };
        let servers = json!({ "mcpServers": { "openclaw": offer.entry() } });
        offer
            .lab
            .home
            .write("clients/mcp.json", &servers.to_string());
        offer
    }

    /// What stands in the configuration of a client. The path in the command line is how a process
    /// that is left behind is found.
    fn entry(&self) -> Json {
        let config = self.lab.home.path().join(".openclaw/openclaw.json");
        let command = self.lab.home.command(&[]);
        // Clients start servers with a few variables and those that they are told.
        let variables: serde_json::Map<String, Json> = command
            .get_envs()
            .filter_map(|(name, value)| Some((name.to_str()?.to_owned(), value?.to_str()?.into())))
            .collect();
        json!({
            "command": command.get_program().to_str().unwrap(),
            "args": ["mcp-server", "--config", config],
            "env": variables,
        })
    }

    /// The configuration of a client.
    fn configuration(&self) -> PathBuf {
        self.lab.home.path().join("clients/mcp.json")
    }

    /// A client that lives in the same home directory, and sees nothing of the machine's own.
    fn client(&self, program: PathBuf) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("HOME", self.lab.home.path())
            .env("PATH", path)
            .env("NO_COLOR", "1")
            // Without it, the registry would be asked for a newer one.
            .env("FASTMCP_CHECK_FOR_UPDATES", "off")
            .current_dir(self.lab.home.path().join("clients"));
        command
    }

    /// Lets a client work; afterwards nothing may be left of it and of the agent.
    fn finish(&self, command: &mut Command, input: &str) -> Run {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        let run = self.lab.home.finish(child.wait_with_output().unwrap());
        assert!(self.lab.is_quiet_within(SOON), "a process is left: {run}");
        run
    }

    fn done(&self, command: &mut Command) -> Json {
        let run = self.finish(command, "");
        assert_eq!(run.code, Some(0), "{command:?}: {run}");
        run.json()
    }

    /// The Inspector's command line.
    fn inspector(&self, era: &str, arguments: &[&str]) -> Json {
        let modules = partners().join("node_modules");
        let mut command = self.client(modules.join(".bin/node"));
        command
            .arg(modules.join("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
            .args(["--cli", "--quiet", "--format", "json", "--config"])
            .arg(self.configuration())
            .args(["--server", "openclaw", "--protocol-era", era])
            .args(arguments);
        self.done(&mut command)["result"].clone()
    }

    fn mcporter(&self, arguments: &[&str]) -> Json {
        let modules = partners().join("node_modules");
        let mut command = self.client(modules.join(".bin/node"));
        command
            .arg(modules.join("mcporter/dist/cli.js"))
            .arg("--config")
            .arg(self.configuration())
            .args(arguments);
        self.done(&mut command)
    }

    /// A call with mcporter.
    fn ordered(&self, arguments: &Json) -> Json {
        let arguments = arguments.to_string();
        let call = ["call", "openclaw.order_openclaw", "--output", "json"];
        self.mcporter(&[&call[..], &["--args", &arguments]].concat())
    }
}

/// The only tool there is, as the document describes it.
fn assert_the_tool(tools: &Json) {
    let tools = tools.as_array().unwrap();
    assert_eq!(tools.len(), 1, "{tools:#?}");
    assert_eq!(tools[0]["name"], "order_openclaw");
    let schema = &tools[0]["inputSchema"];
    assert_eq!(schema["required"], json!(["message"]), "{schema:#}");
    let properties = schema["properties"].as_object().unwrap();
    for name in ["message", "sessionKey", "images", "files"] {
        assert!(properties.contains_key(name), "{schema:#}");
    }
}

/// All texts of a result.
fn texts(result: &Json) -> String {
    let content = result["content"].as_array();
    let content = content.unwrap_or_else(|| panic!("no content: {result:#}"));
    let texts = content.iter().filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<&str>>().join("\n")
}
