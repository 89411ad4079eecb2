//! A gateway of ours that runs, in a home directory of its own.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use openclaw_testkit::leaks::wait_until;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::conversation::Door;
use crate::keep_alive::{Address, Exchange};
use crate::process::Running;

/// How long servers may take to be ready; those of Node start one after the other on a small machine.
const CONNECTING: Duration = Duration::from_mins(2);

/// A home directory with a configuration.
pub(crate) struct Home {
    directory: TempDir,
}

impl Home {
    pub(crate) fn with(servers: &Map<String, Value>) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let state = directory.path().join(".openclaw");
        std::fs::create_dir(&state).expect("a directory");
        let config = json!({ "mcp": { "servers": servers } });
        std::fs::write(state.join("openclaw.json"), config.to_string()).expect("a file");
        Self { directory }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    /// The program, with this directory and nothing else of ours in its environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw"));
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .args(arguments)
            .env_clear()
            .env("PATH", path)
            .env("HOME", self.path())
            .stdin(Stdio::null());
        command
    }
}

/// A gateway that is ready; its servers may still be connecting.
pub(crate) struct Gateway {
    running: Running,
    address: String,
    token: String,
    /// From the start of the process to the line that says that it is ready.
    pub(crate) ready_after: Duration,
    pub(crate) home: Home,
}

impl Gateway {
    pub(crate) fn start(servers: &Map<String, Value>) -> Self {
        Self::start_in(Home::with(servers))
    }

    pub(crate) fn start_in(home: Home) -> Self {
        let mut command = home.command(&["gateway", "run", "--port", "0"]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let started = Instant::now();
        let mut running = Running::start(&mut command);
        let stdout = running.child().stdout.take().expect("an output");
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        let ready_after = started.elapsed();
        let address = line
            .strip_prefix("gateway ready at http://")
            .and_then(|rest| rest.split_once(' '))
            .map(|(address, _)| address.to_owned())
            .expect("the gateway is ready");
        let token = home.path().join(".openclaw/gateway.token");
        let token = std::fs::read_to_string(token).expect("a token");
        Self {
            running,
            address,
            token: token.trim().to_owned(),
            ready_after,
            home,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }

    /// Where `tool` can be called over a connection that calls share.
    pub(crate) fn door(&self, tool: &str, expected: &str) -> Door {
        Door {
            authority: self.address.clone(),
            token: self.token.clone(),
            tool: tool.to_owned(),
            expected: expected.to_owned(),
        }
    }

    pub(crate) fn address(&self) -> Address {
        Address::new(&self.address).with(&format!("Authorization: Bearer {}", self.token))
    }

    /// Waits until all servers are ready.
    pub(crate) fn all_ready(self, count: usize) -> Self {
        let request = self.address().get("/api/mcp/servers");
        let are_ready = || {
            let body = Exchange::open(&request).once(&request);
            let report: Value = serde_json::from_str(&body).expect("a report");
            let servers = report["servers"].as_array().expect("servers");
            let ready = servers.iter().filter(|server| server["state"] == "ready");
            ready.count() == count
        };
        assert!(wait_until(CONNECTING, are_ready), "servers are not ready");
        self
    }

    /// Stops it, and gives the home directory back for another.
    pub(crate) fn stop(self) -> Home {
        drop(self.running);
        self.home
    }
}

/// Entries for this program as a server, which costs next to nothing.
pub(crate) fn light(count: usize) -> Map<String, Value> {
    let program = std::env::current_exe().expect("this program");
    // An hour is longer than anything here.
    let arguments = |number: usize| {
        let marker = number.to_string();
        json!(["stdio", "--lifetime", "3600", "--marker", marker])
    };
    (0..count)
        .map(|number| {
            let entry = json!({ "command": program, "args": arguments(number) });
            (format!("server{number}"), entry)
        })
        .collect()
}
