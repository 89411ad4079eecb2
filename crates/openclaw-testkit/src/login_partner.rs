//! Servers with an authorization server of their own that nobody here wrote, as programs.

use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value as Json;

use crate::partners::partners;

/// How long one may take to start: Node and Python are slow on a busy machine.
const STARTING: Duration = Duration::from_mins(1);

/// A server that one has to log in to. It ends when this is dropped, or when the test is killed.
///
/// A person is not needed: who asks to be logged in is sent back with a code at once.
#[derive(Debug)]
pub struct LoginPartner {
    /// Its end tells the program to go, even if this process is killed.
    stdin: Option<ChildStdin>,
    child: Child,
    readers: Vec<JoinHandle<()>>,
    complaints: Arc<Mutex<Vec<String>>>,
    places: Json,
}

impl LoginPartner {
    /// `FastMCP` with its `InMemoryOAuthProvider`, whose access tokens live so long: clients register
    /// themselves, refresh tokens rotate, tokens can be given back.
    ///
    /// Not everything is as in the books. The metadata do not say that there are clients without a
    /// secret, but there are. Who registers must name all scopes that it will ever ask for. `client_id`
    /// must be in the form even where it is in the header, and `client_secret`, be it empty, where
    /// tokens are given back. `invalid_grant` has the status 401. Who shows an access token that has
    /// expired loses the refresh token as well; a new access token ends the one before. `resource` is
    /// not looked at, and no `iss` is sent.
    ///
    /// # Panics
    ///
    /// Where the partners are not installed.
    pub fn fastmcp(lifetime: Duration) -> io::Result<Self> {
        let python = if cfg!(windows) {
            "python/Scripts/python.exe"
        } else {
            "python/bin/python"
        };
        let mut command = program(&partners().join(python));
        command.arg(script("fastmcp_login.py"));
        command.env("FASTMCP_CHECK_FOR_UPDATES", "off");
        Self::start(command, lifetime)
    }

    /// The demo of the TypeScript SDK with `--oauth --oauth-strict`, whose access tokens live so long:
    /// clients register themselves, `resource` is looked at, there are no refresh tokens, and nothing
    /// can be given back.
    ///
    /// A token that is unknown or has expired is answered with the status 500, and so is a code that
    /// comes twice. `invalid_client` has the status 400. The secret of a client expires after 30
    /// days, and where a client does not say how it will prove its identity, the answer does not
    /// either. No `iss` is sent. Only 20 clients may register in an hour.
    ///
    /// # Panics
    ///
    /// Where the partners are not installed.
    pub fn typescript_sdk(lifetime: Duration) -> io::Result<Self> {
        let modules = partners().join("node_modules");
        let mut command = program(&modules.join(".bin/node"));
        command.arg(script("sdk_login.mjs"));
        command.arg(modules.join("@modelcontextprotocol/sdk/dist/esm/examples/server"));
        Self::start(command, lifetime)
    }

    fn start(mut command: Command, lifetime: Duration) -> io::Result<Self> {
        command.arg(lifetime.as_secs().to_string());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let complaints: Arc<Mutex<Vec<String>>> = Arc::default();
        let kept = Arc::clone(&complaints);
        let mut readers = Vec::new();
        if let Some(stderr) = child.stderr.take() {
            readers.push(read(stderr, move |line| {
                kept.lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(line);
            }));
        }
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            // Nobody listens after the first line.
            readers.push(read(stdout, move |line| drop(sender.send(line))));
        }
        let mut partner = Self {
            stdin: child.stdin.take(),
            child,
            readers,
            complaints,
            places: Json::Null,
        };
        partner.places = partner.wait(&lines)?;
        Ok(partner)
    }

    /// Waits until the program says where it is.
    fn wait(&self, lines: &Receiver<String>) -> io::Result<Json> {
        let line = lines.recv_timeout(STARTING).unwrap_or_default();
        let places: Json = serde_json::from_str(&line).unwrap_or_default();
        if places["url"].is_string() {
            return Ok(places);
        }
        let said = self.complaints().join("\n");
        let message = format!("the program does not listen but says: {line}\n{said}");
        Err(io::Error::other(message))
    }

    /// The address of the MCP server.
    pub fn url(&self) -> &str {
        self.places["url"].as_str().unwrap_or_default()
    }

    /// Where `FastMCP` tells how many clients, access tokens and refresh tokens it keeps, in JSON:
    /// `clients`, `access_tokens`, `refresh_tokens`.
    pub fn counters_url(&self) -> Option<String> {
        let control = self.places["control"].as_str()?;
        Some(format!("{control}/counters"))
    }

    /// What it wrote to its standard error so far.
    pub fn complaints(&self) -> Vec<String> {
        let complaints = self.complaints.lock();
        complaints.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for LoginPartner {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        for reader in self.readers.drain(..) {
            // A thread that panicked has said so.
            let _ = reader.join();
        }
    }
}

/// A program to which nothing of the machine counts.
fn program(path: &Path) -> Command {
    let mut command = Command::new(path);
    command.env_clear();
    // Windows can't do without it.
    if let Some(root) = std::env::var_os("SystemRoot") {
        command.env("SystemRoot", root);
    }
    command
}

/// What one of their interpreters runs.
fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("partners")
        .join(name)
}

/// Hands over every line until there are no more.
fn read(
    stream: impl Read + Send + 'static,
    mut take: impl FnMut(String) + Send + 'static,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            take(line);
        }
    })
}
