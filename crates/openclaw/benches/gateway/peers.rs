//! Other gateways in front of the same server: `scripts/bench` installs them.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use openclaw_testkit::leaks::wait_until;
use openclaw_testkit::partners;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::keep_alive::{Address, Exchange, Request};
use crate::pipe::{call, initialize};
use crate::process::Running;

/// How long they may take to start, with all their servers.
const STARTING: Duration = Duration::from_mins(3);

/// The Node of the partners.
pub(crate) fn node() -> PathBuf {
    partners().join("node_modules/.bin/node")
}

/// Entries for the real server, so often.
pub(crate) fn everything(count: usize) -> Map<String, Value> {
    let program = everything_program();
    (0..count)
        .map(|number| {
            let entry = json!({ "command": node(), "args": [program, "stdio"],
                "env": { "NUMBER": number.to_string() } });
            (format!("everything{number}"), entry)
        })
        .collect()
}

/// The program of the real server.
pub(crate) fn everything_program() -> PathBuf {
    partners().join("node_modules/@modelcontextprotocol/server-everything/dist/index.js")
}

/// Where the other gateways are.
fn place() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = std::env::var_os("OPENCLAW_PEERS")
        .map_or_else(|| workspace.join("target/peers"), PathBuf::from);
    assert!(
        place.join("installed").exists(),
        "the other gateways are not in {}: run scripts/bench",
        place.display()
    );
    place
}

/// The version of one, as its list of what is installed says.
fn version(list: &str, before: &str) -> String {
    let text = std::fs::read_to_string(place().join(list)).expect("a list");
    let (_, rest) = text.split_once(before).expect("an entry");
    let is_part = |letter: &char| letter.is_ascii_digit() || *letter == '.';
    rest.chars().take_while(is_part).collect()
}

/// Another gateway that runs.
pub(crate) struct Peer {
    pub(crate) name: String,
    running: Running,
    address: Address,
    _directory: TempDir,
}

impl Peer {
    /// mcp-hub, in Node.
    pub(crate) fn hub(count: usize) -> Self {
        let mut command = Command::new(node());
        command
            .arg("--require")
            .arg(partners().join("listen.cjs"))
            .arg(place().join("node_modules/mcp-hub/dist/cli.js"))
            .args(["--port", "1", "--config"]);
        let name = format!(
            "mcp-hub {}, REST",
            version("package.json", "\"mcp-hub\": \"")
        );
        let peer = Self::start(name, command, count, "listening on ");
        // It listens before its servers run.
        let request = peer.address.get("/api/servers");
        let are_ready = || {
            let body = Exchange::open(&request).once(&request);
            body.matches("\"status\":\"connected\"").count() == count
        };
        assert!(wait_until(STARTING, are_ready), "servers are not ready");
        peer
    }

    /// mcp-proxy, in Python, with its Streamable HTTP.
    pub(crate) fn proxy(count: usize) -> Self {
        let mut command = Command::new(place().join("python/bin/mcp-proxy"));
        command.args([
            "--port",
            "0",
            "--log-level",
            "INFO",
            "--named-server-config",
        ]);
        let name = format!(
            "mcp-proxy {}, Streamable HTTP",
            version("requirements.txt", "mcp-proxy==")
        );
        // It says so once all its servers run.
        Self::start(name, command, count, "Uvicorn running on http://")
    }

    fn start(name: String, mut command: Command, count: usize, said: &'static str) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let config = directory.path().join("servers.json");
        let text = json!({ "mcpServers": everything(count) }).to_string();
        std::fs::write(&config, text).expect("a file");
        command
            .arg(&config)
            .env("HOME", directory.path())
            .env_remove("XDG_CONFIG_HOME")
            .current_dir(directory.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut running = Running::start(&mut command);
        let stderr = running.child().stderr.take().expect("an output");
        let (found, address) = mpsc::channel();
        // Reads on to the end, so that the program never waits for somebody who reads.
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once(said) {
                    let address = rest.split(' ').next().unwrap_or_default();
                    let _ = found.send(address.to_owned());
                }
            }
        });
        let address = address.recv_timeout(STARTING).expect("an address");
        Self {
            name,
            running,
            address: Address::new(&address),
            _directory: directory,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// A call of `echo` with the REST of mcp-hub.
    pub(crate) fn rest_call(&self) -> Request {
        let body = json!({ "server_name": "everything0", "tool": "echo",
            "arguments": { "message": "hello" } });
        let path = "/api/servers/tools";
        self.address.post(path, &body.to_string(), "Echo: hello")
    }

    /// Calls of `echo` in a session with mcp-proxy. Those that are in flight at once need numbers of
    /// their own.
    pub(crate) fn session_calls(&self, count: usize) -> Vec<Request> {
        let path = "/servers/everything0/mcp";
        let begin = self.address.post(path, &initialize().to_string(), "result");
        let head = Exchange::open(&begin).head(&begin);
        let session = head
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "))
            .expect("a session");
        let address = self
            .address
            .clone()
            .with(&format!("Mcp-Session-Id: {session}"))
            .with("Mcp-Protocol-Version: 2025-11-25");
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let done = address.post(path, &done.to_string(), "");
        Exchange::open(&done).head(&done);
        (1..=count)
            .map(|number| address.post(path, &call(number), "Echo: hello"))
            .collect()
    }
}
