//! A runtime with a configuration on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use openclaw_config::{Environment, Location};
use openclaw_definitions::Definitions;
use openclaw_engine::{
    AddServer, Audience, CallArguments, CallReport, CallRequest, Engine, EngineFailure,
    ReplyEngine, ReplyEvent, ReplyReport, ReplyRequest, ServerEntry, ServerReport, ToolConsent,
    ToolQuestion,
};
use openclaw_media::DocumentProgram;
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_runtime::{Life, Runtime, RuntimeSetup};
use openclaw_secrets::Redactor;
use openclaw_state::StateDirectory;
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(10);

fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    profile.join("examples/fake_mcp_server")
}

pub(crate) fn fake(flags: &str) -> FakeServer {
    FakeServer::at(&program()).flags(flags)
}

/// The definition of a fake server.
pub(crate) fn entry(fake: &FakeServer) -> Value {
    let arguments = fake.arguments().into_iter();
    let arguments: Vec<String> = arguments.map(|it| it.into_string().unwrap()).collect();
    json!({ "command": fake.program(), "args": arguments })
}

/// A configuration with these servers and no model but the one that is built in.
pub(crate) fn servers(servers: &Value) -> Value {
    json!({
        "mcp": { "servers": servers },
        "agents": { "defaults": { "model": "builtin/offline" } },
    })
}

/// Asks for a new server that is tried, and not kept in any keyring.
pub(crate) fn add(name: &str, entry: Value) -> AddServer {
    AddServer {
        name: name.to_owned(),
        entry: definition(entry),
        check: true,
        replace: false,
        keyring: false,
    }
}

pub(crate) fn definition(entry: Value) -> ServerEntry {
    serde_json::from_value(entry).unwrap()
}

pub(crate) struct House {
    directory: tempfile::TempDir,
    pub(crate) engine: Runtime,
}

impl House {
    /// A runtime of a configuration that stands in a file.
    pub(crate) fn new(config: &Value) -> Self {
        Self::living(config, Life::Command)
    }

    /// The same, as a gateway has it.
    pub(crate) fn of_gateway(config: &Value) -> Self {
        Self::living(config, Life::Gateway)
    }

    fn living(config: &Value, life: Life) -> Self {
        Self::written(Some(config), life)
    }

    /// A runtime of the defaults: there is no file.
    pub(crate) fn without_file(life: Life) -> Self {
        Self::written(None, life)
    }

    fn written(config: Option<&Value>, life: Life) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let location = Location {
            config: directory.path().join("openclaw.json"),
            state: directory.path().join("state"),
            profile: None,
            named: config.is_some(),
        };
        if let Some(config) = config {
            std::fs::write(&location.config, format!("{config:#}")).unwrap();
        }
        // Without it, the keyring of the person who runs the tests would be found.
        let nowhere = [("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus")];
        let environment = Environment::new(nowhere, Some(directory.path()), directory.path());
        let redactor = Redactor::new();
        let state = StateDirectory::open(&location.state).unwrap();
        let definitions = Definitions::new(location, environment, redactor.clone());
        let engine = Runtime::open(RuntimeSetup {
            life,
            config: Arc::new(definitions.load().config.unwrap()),
            definitions: Some(definitions),
            state,
            redactor,
            environment: std::env::vars_os().collect(),
            directory: directory.path().to_owned(),
            launcher: Arc::new(Launcher::new(GuardianProgram::at(&program()))),
            documents: DocumentProgram::at(&program()),
            traces: false,
        });
        Self {
            engine: engine.unwrap(),
            directory,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.directory.path().join("openclaw.json")
    }

    pub(crate) fn text(&self) -> String {
        std::fs::read_to_string(self.file()).unwrap()
    }

    pub(crate) fn write(&self, text: &str) {
        std::fs::write(self.file(), text).unwrap();
    }

    /// Calls a tool that repeats what it is told.
    pub(crate) async fn echo(&self, server: &str) -> Result<CallReport, EngineFailure> {
        self.call(&format!("{server}/echo"), "message", "hello")
            .await
    }

    /// Calls a tool with one argument.
    pub(crate) async fn call(
        &self,
        tool: &str,
        argument: &str,
        value: &str,
    ) -> Result<CallReport, EngineFailure> {
        let request = CallRequest {
            agent: None,
            tool: tool.to_owned(),
            arguments: CallArguments {
                words: vec![(argument.to_owned(), value.to_owned())],
                ..CallArguments::default()
            },
            approved: true,
            framed: false,
            correlation: String::new(),
        };
        self.engine.call(request).await
    }

    pub(crate) async fn reply(&self, message: &str) -> Result<ReplyReport, EngineFailure> {
        let request = ReplyRequest {
            message: message.to_owned(),
            ..ReplyRequest::default()
        };
        self.engine.reply(request, &Silent).await
    }

    /// How a server is, without starting it.
    pub(crate) async fn seen(&self, server: &str) -> ServerReport {
        let overview = self.engine.overview().await.unwrap();
        let mut servers = overview.servers.into_iter();
        servers.find(|it| it.name == server).unwrap()
    }

    /// Waits until a server is like this.
    pub(crate) async fn until(&self, server: &str, is_so: impl Fn(&ServerReport) -> bool) {
        let deadline = Instant::now() + SOON;
        loop {
            let seen = self.seen(server).await;
            if is_so(&seen) {
                return;
            }
            assert!(Instant::now() < deadline, "{seen:?}");
            tokio::task::yield_now().await;
        }
    }

    /// The names of the servers that there are.
    pub(crate) async fn names(&self) -> Vec<String> {
        let overview = self.engine.overview().await.unwrap();
        overview.servers.into_iter().map(|it| it.name).collect()
    }

    /// Closes the engine; nothing that it started is left.
    pub(crate) async fn finish(self, fakes: &[&FakeServer]) {
        self.engine.close().await;
        assert_gone(fakes).await;
    }
}

/// Makes sure that these programs have ended.
pub(crate) async fn assert_gone(fakes: &[&FakeServer]) {
    let is_gone = || {
        let mut fakes = fakes.iter();
        fakes.all(|it| processes_with_argument(it.marker()).is_empty())
    };
    assert!(eventually(SOON, is_gone).await, "a process is left");
}

/// Somebody who hears nothing and is asked nothing.
pub(crate) struct Silent;

impl Audience for Silent {
    fn hear(&self, _: ReplyEvent) {}

    fn can_answer(&self) -> bool {
        false
    }

    fn approve(
        &self,
        _: ToolQuestion,
    ) -> std::pin::Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(std::future::ready(ToolConsent::No))
    }
}
