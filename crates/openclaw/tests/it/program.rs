//! Runs of the program in a directory of their own.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value as Json;

/// A home directory, and the program that lives in it.
pub(crate) struct Home {
    directory: tempfile::TempDir,
    variables: Vec<(&'static str, String)>,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
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
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// A command that sees nothing of the machine's own configuration.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
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
