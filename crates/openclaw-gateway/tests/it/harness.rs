//! A gateway that runs for one test.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use openclaw_gateway::{Credential, Followed, GatewaySetup, serve};
use openclaw_link::Listener;
use openclaw_secrets::Secret;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::client::{Answer, Client};
use crate::engine::FakeEngine;

/// The token of all gateways in these tests.
pub(crate) const TOKEN: &str = "a-token-that-nobody-at-all-can-guess";
/// How long anything may take that should happen soon.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A gateway that runs.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) engine: Arc<FakeEngine>,
    pub(crate) stop: CancellationToken,
    task: JoinHandle<()>,
    pub(crate) state: tempfile::TempDir,
}

/// What says which files there are.
pub(crate) type Look = Box<dyn Fn() -> Vec<PathBuf> + Send + Sync>;

/// What a gateway of a test is made of.
pub(crate) struct Wanted {
    pub(crate) credential: Credential,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) public_url: Option<&'static str>,
    /// How many MiB of large answers may wait to be read.
    pub(crate) answers_mebibytes: u32,
    pub(crate) files: Vec<PathBuf>,
    /// Looks for them in another way.
    pub(crate) look: Option<Look>,
    /// What they were like when the configuration was read; as they are when it starts if none is given.
    pub(crate) followed: Option<Followed>,
}

impl Default for Wanted {
    fn default() -> Self {
        Self {
            credential: Credential::Token(Secret::new(TOKEN)),
            allowed_hosts: Vec::new(),
            public_url: None,
            answers_mebibytes: openclaw_gateway::ANSWERS_MEBIBYTES,
            files: Vec::new(),
            look: None,
            followed: None,
        }
    }
}

impl Running {
    pub(crate) async fn start() -> Self {
        Self::with(Wanted::default()).await
    }

    pub(crate) async fn with(wanted: Wanted) -> Self {
        let http = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = http.local_addr().unwrap();
        let state = tempfile::tempdir().unwrap();
        let engine = Arc::new(FakeEngine::default());
        let stop = CancellationToken::new();
        let files = wanted.files;
        let followed = wanted.followed.unwrap_or_else(|| Followed::now(&files));
        let setup = GatewaySetup {
            engine: Arc::clone(&engine) as Arc<dyn openclaw_engine::Engine>,
            http,
            socket: Listener::bind(state.path()).unwrap(),
            credential: wanted.credential,
            allowed_hosts: wanted.allowed_hosts,
            public_url: wanted.public_url.map(|url| url.parse().unwrap()),
            answers_mebibytes: wanted.answers_mebibytes,
            configuration_files: wanted
                .look
                .unwrap_or_else(|| Box::new(move || files.clone())),
            followed,
            config: "openclaw.json".to_owned(),
            version: "1.2.3",
            stop: stop.clone(),
        };
        Self {
            address,
            engine,
            stop,
            task: tokio::spawn(serve(setup)),
            state,
        }
    }

    pub(crate) async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// One request over a connection of its own: method, path, further lines of the head, body.
    pub(crate) async fn ask(&self, method: &str, path: &str, head: &[&str], body: &str) -> Answer {
        let mut client = self.client().await;
        let host = format!("Host: {}", self.address);
        let head: Vec<&str> = std::iter::once(host.as_str())
            .chain(head.iter().copied())
            .collect();
        client.ask(method, path, &head, body).await
    }

    /// One request with the token.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[BEARER], "").await
    }

    /// One request with the token and JSON.
    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, &[BEARER, JSON], body).await
    }

    /// Stops it; says how long that took.
    pub(crate) async fn stop(self) -> Duration {
        let began = Instant::now();
        self.stop.cancel();
        self.ended().await;
        began.elapsed()
    }

    /// Waits until it has stopped.
    pub(crate) async fn ended(self) {
        timeout(SOON, self.task).await.unwrap().unwrap();
    }
}

/// The line that brings the token.
pub(crate) const BEARER: &str = "Authorization: Bearer a-token-that-nobody-at-all-can-guess";
/// The line that says that the body is JSON.
pub(crate) const JSON: &str = "Content-Type: application/json";

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + SOON;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// A call of a tool as it travels, for those who hang up or don't read.
pub(crate) fn call(tool: &str) -> String {
    let body = serde_json::json!({ "tool": tool }).to_string();
    format!(
        "POST /api/mcp/call HTTP/1.1\r\nHost: localhost\r\n{BEARER}\r\n{JSON}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}
