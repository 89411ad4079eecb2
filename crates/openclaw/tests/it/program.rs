//! Runs of the program in a directory of their own.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use serde_json::Value as Json;

use crate::gateway::Gateway;

/// Has every command ask a gateway that is started for it: whatever a command does by itself, it does
/// with a gateway as well, and says the same.
const THROUGH_GATEWAY: &str = "OPENCLAW_TEST_THROUGH_GATEWAY";

/// A home directory, and the program that lives in it.
pub(crate) struct Home {
    variables: Vec<(&'static str, String)>,
    /// Whether commands ask a gateway.
    through_gateway: bool,
    /// The one that they ask. It ends before its directory does.
    gateway: Mutex<Option<Gateway>>,
    directory: tempfile::TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            variables: Vec::new(),
            through_gateway: cfg!(target_os = "linux")
                && std::env::var_os(THROUGH_GATEWAY).is_some(),
            gateway: Mutex::default(),
            directory: tempfile::tempdir().unwrap(),
        }
    }

    /// Has commands do without a gateway, in tests of what they do by themselves.
    pub(crate) fn alone(&mut self) {
        self.through_gateway = false;
    }

    /// Whether commands ask a gateway that runs.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_gateway(&self) -> bool {
        let gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        gateway.is_some()
    }

    /// Stops the gateway that commands ask, if there is one.
    pub(crate) fn stop_gateway(&self) {
        let mut gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        drop(gateway.take());
    }

    /// Starts the gateway that commands ask, unless it runs.
    fn start_gateway(&self) {
        let mut gateway = self.gateway.lock().unwrap_or_else(PoisonError::into_inner);
        if gateway.is_none() {
            // A configuration that can't be used has no gateway: commands say what is wrong with it.
            *gateway = Gateway::try_start(self, &[]);
        }
    }

    /// Gives the program more variables.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(dead_code, reason = "for a keyring that there is on Linux alone")
    )]
    pub(crate) fn set(&mut self, variables: Vec<(&'static str, String)>) {
        self.variables = variables;
    }

    pub(crate) fn with_config(text: &str) -> Self {
        let home = Self::new();
        home.write(".openclaw/openclaw.json", text);
        home
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        if name.ends_with("openclaw.json") {
            // The next command finds one that knows what is written now.
            self.stop_gateway();
        }
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A command that sees nothing of the machine's own configuration.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        if self.through_gateway {
            self.start_gateway();
        }
        self.plain_command(arguments)
    }

    /// The same, for which no gateway is started.
    pub(crate) fn plain_command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_openclaw"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            // Without it, the keyring of the person who runs the tests would be found.
            .env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")
            // Without it, a model that runs on this machine would be used.
            .env("OLLAMA_HOST", "off")
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.path());
        command
    }

    /// A gateway behind a command of the shell that limits it.
    #[cfg(target_os = "linux")]
    pub(crate) fn limited(&self, limit: &str) -> Command {
        let plain = self.plain_command(&["gateway", "run", "--port", "0"]);
        let mut command = Command::new("sh");
        let script = format!("{limit}; exec \"$0\" \"$@\"");
        command
            .arg("-c")
            .arg(script)
            .arg(plain.get_program())
            .args(plain.get_args());
        command.env_clear();
        for (name, value) in plain.get_envs() {
            command.envs(value.map(|value| (name, value)));
        }
        command.current_dir(self.path());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.finish(self.command(arguments).output().unwrap())
    }

    /// Runs something that reads its standard input.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &str) -> Run {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        self.finish(child.wait_with_output().unwrap())
    }

    /// What a run left, with the home directory's name taken out.
    pub(crate) fn finish(&self, output: Output) -> Run {
        let text = |bytes: Vec<u8>| {
            let real = fs::canonicalize(self.path()).unwrap();
            String::from_utf8(bytes)
                .unwrap()
                .replace(&real.display().to_string(), "HOME")
                .replace(&self.path().display().to_string(), "HOME")
        };
        Run {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

/// What a run left.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Run {
    pub(crate) fn json(&self) -> Json {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"))
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let code = self
            .code
            .map_or("killed".to_owned(), |code| code.to_string());
        write!(
            formatter,
            "exit: {code}\n--- stdout\n{}--- stderr\n{}",
            self.stdout, self.stderr
        )
    }
}
