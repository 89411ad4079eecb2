//! All servers of a configuration, with fake ones behind it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use openclaw_config::{Config, Environment, Location, load};
use openclaw_mcp::{
    AgentPlan, Approval, AuditEntry, Call, Part, ServerState, Servers, ServersListener,
    ServersSetup, StartMode, ToolChoice, ToolOutcome,
};
use openclaw_mcp_client::Connector;
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secrets::Redactor;
use openclaw_state::StateDirectory;
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::{Map, Value, json};

use crate::lab::{SOON, program};

pub(crate) struct House {
    directory: Arc<tempfile::TempDir>,
    pub(crate) servers: Servers,
    /// What is heard of the servers.
    pub(crate) hearing: Arc<Hearing>,
    redactor: Redactor,
    markers: Vec<String>,
}

/// Hears of calls, and looks whether they are written down by then.
pub(crate) struct Hearing {
    audit: PathBuf,
    pub(crate) calls: AtomicUsize,
    unwritten: AtomicUsize,
}

impl ServersListener for Hearing {
    fn server(&self, _: &[String], _: &ServerState) {}

    fn restarted(&self, _: &[String]) {}

    fn called(&self, _: &AuditEntry<'_>, _: bool) {
        let heard = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        let written = std::fs::read_to_string(&self.audit).unwrap_or_default();
        if written.lines().count() < heard {
            self.unwritten.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// An entry of the configuration for a fake server.
pub(crate) fn entry(fake: &FakeServer, more: Value) -> Value {
    let arguments: Vec<String> = fake
        .arguments()
        .into_iter()
        .map(|it| it.into_string().unwrap())
        .collect();
    let mut entry = json!({ "command": fake.program(), "args": arguments });
    for (name, value) in object(more) {
        entry[name] = value;
    }
    entry
}

pub(crate) fn fake(flags: &str) -> FakeServer {
    FakeServer::at(&program()).flags(flags)
}

pub(crate) fn config(directory: &Path, text: &Value) -> Arc<Config> {
    let location = Location {
        config: directory.join("openclaw.json"),
        state: directory.join("state"),
        profile: None,
        named: true,
    };
    std::fs::write(&location.config, text.to_string()).unwrap();
    let environment = Environment::new([], Some(directory), directory);
    let loaded = load(&location, &environment);
    let report = loaded.report.render(false);
    Arc::new(loaded.config.unwrap_or_else(|| panic!("{report}")))
}

fn servers(
    directory: &Path,
    mode: StartMode,
    text: &Value,
    redactor: &Redactor,
) -> (Servers, Arc<Hearing>) {
    let connector = Connector::new(
        Arc::new(Launcher::new(GuardianProgram::at(&program()))),
        std::env::vars_os().collect(),
        std::env::current_dir().unwrap(),
        None,
    );
    let hearing = Arc::new(Hearing {
        audit: audit_log(directory),
        calls: AtomicUsize::new(0),
        unwritten: AtomicUsize::new(0),
    });
    let setup = ServersSetup {
        config: config(directory, text),
        state: StateDirectory::open(&directory.join("state")).unwrap(),
        connector: Arc::new(connector),
        redactor: redactor.clone(),
        mode,
        restarts: true,
    };
    let listener = Arc::clone(&hearing) as Arc<dyn ServersListener>;
    (Servers::heard(setup, listener).unwrap(), hearing)
}

fn audit_log(directory: &Path) -> PathBuf {
    directory.join("state/logs/audit.jsonl")
}

impl House {
    pub(crate) fn new(mode: StartMode, text: &Value, fakes: &[&FakeServer]) -> Self {
        Self::with_redactor(mode, text, fakes, Redactor::new())
    }

    pub(crate) fn with_redactor(
        mode: StartMode,
        text: &Value,
        fakes: &[&FakeServer],
        redactor: Redactor,
    ) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (servers, hearing) = servers(directory.path(), mode, text, &redactor);
        Self {
            servers,
            hearing,
            directory: Arc::new(directory),
            redactor,
            markers: fakes.iter().map(|it| it.marker().to_owned()).collect(),
        }
    }

    /// One more at the same place, as after a restart.
    pub(crate) fn again(&self, mode: StartMode, text: &Value) -> Self {
        let (servers, hearing) = servers(self.path(), mode, text, &self.redactor);
        Self {
            servers,
            hearing,
            directory: Arc::clone(&self.directory),
            redactor: self.redactor.clone(),
            markers: self.markers.clone(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn agent(&self, name: &str) -> Arc<AgentPlan> {
        self.servers.agent(Some(name)).unwrap()
    }

    pub(crate) fn main(&self) -> Arc<AgentPlan> {
        self.servers.agent(None).unwrap()
    }

    pub(crate) async fn started(&self) -> Arc<AgentPlan> {
        let agent = self.main();
        self.servers.start(&agent, None).await;
        agent
    }

    pub(crate) fn names(&self, agent: &AgentPlan) -> Vec<String> {
        let tools = self.servers.tools(agent, None);
        tools.offered().map(|it| it.name().to_string()).collect()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolOutcome {
        let agent = self.main();
        self.call_as(&agent, tool, arguments).await
    }

    pub(crate) async fn call_as(
        &self,
        agent: &AgentPlan,
        tool: &str,
        arguments: Value,
    ) -> ToolOutcome {
        let call = Call {
            agent,
            session: Some("agent:main:secret-session"),
            tool: ToolChoice::Spelling(tool),
            arguments: object(arguments),
            correlation: "c0ffee",
            persons: None,
            approval: Approval::Given,
            progress: None,
            for_model: true,
        };
        self.servers.call(call).await
    }

    pub(crate) fn audit(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(audit_log(self.path())).unwrap_or_default();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// How many processes of the fake servers there are.
    pub(crate) fn processes(&self) -> usize {
        let found = self
            .markers
            .iter()
            .map(|it| processes_with_argument(it).len());
        found.sum()
    }

    /// Waits until a server has a call to work on.
    pub(crate) async fn until_busy(&self, server: &str) {
        let is_busy = || {
            let views = self.servers.view(&self.main());
            let view = views.into_iter().find(|it| it.server.name() == server);
            let connection = view.and_then(|it| it.state?.connection);
            connection.is_some_and(|it| it.diagnostics().in_flight > 0)
        };
        assert!(eventually(SOON, is_busy).await, "{server} got no call");
    }

    pub(crate) async fn finish(self) {
        self.servers.shutdown().await;
        let is_gone = || self.processes() == 0;
        assert!(eventually(SOON, is_gone).await, "a process is left");
        let unwritten = self.hearing.unwritten.load(Ordering::SeqCst);
        assert_eq!(unwritten, 0, "calls were told before they were written");
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

/// All text that the model reads.
pub(crate) fn text(outcome: &ToolOutcome) -> String {
    outcome.text().into_string()
}

pub(crate) fn media(outcome: &ToolOutcome) -> usize {
    let parts = outcome.parts.iter();
    parts
        .filter(|part| matches!(part, Part::Media { .. }))
        .count()
}

pub(crate) const A_MOMENT: Duration = Duration::from_millis(300);
