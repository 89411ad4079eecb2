//! Servers of a configuration, this program itself being each of them.

use std::path::Path;
use std::sync::Arc;

use openclaw_config::{Config, Environment, Location, load};
use openclaw_mcp::{
    AgentPlan, Approval, Call, Servers, ServersSetup, StartMode, ToolChoice, ToolOutcome,
};
use openclaw_mcp_client::Connector;
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secrets::Redactor;
use openclaw_state::StateDirectory;
use serde_json::{Map, Value, json};

pub(crate) struct House {
    pub(crate) servers: Servers,
    pub(crate) agent: Arc<AgentPlan>,
    _directory: tempfile::TempDir,
}

/// An entry of the configuration for this program as a server.
pub(crate) fn entry(flags: &[&str]) -> Value {
    let program = std::env::current_exe().expect("this program");
    let arguments: Vec<&str> = ["stdio"].iter().chain(flags).copied().collect();
    json!({ "command": program, "args": arguments, "protocol": "legacy" })
}

fn config(directory: &Path, text: &Value) -> Config {
    let location = Location {
        config: directory.join("openclaw.json"),
        state: directory.join("state"),
        profile: None,
        named: true,
    };
    std::fs::write(&location.config, text.to_string()).expect("a file");
    let environment = Environment::new([], Some(directory), directory);
    load(&location, &environment)
        .config
        .expect("a configuration")
}

impl House {
    pub(crate) async fn started(servers: &Value) -> Self {
        Self::with(&json!({ "mcp": { "servers": servers } })).await
    }

    /// With a whole configuration.
    pub(crate) async fn with(text: &Value) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let connector = Connector::new(
            Arc::new(Launcher::new(GuardianProgram::this_program())),
            std::env::vars_os().collect(),
            std::env::current_dir().expect("a directory"),
            None,
        );
        let servers = Servers::new(ServersSetup {
            config: Arc::new(config(directory.path(), text)),
            state: StateDirectory::open(&directory.path().join("state")).expect("a state"),
            connector: Arc::new(connector),
            redactor: Redactor::new(),
            mode: StartMode::OnDemand,
            restarts: true,
        });
        let servers = servers.expect("servers");
        let agent = servers.agent(None).expect("an agent");
        servers.start(&agent, None).await;
        Self {
            servers,
            agent,
            _directory: directory,
        }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Map<String, Value>) -> ToolOutcome {
        let call = Call {
            agent: &self.agent,
            session: None,
            tool: ToolChoice::Name(tool),
            arguments,
            correlation: "0123456789abcdef",
            persons: None,
            approval: Approval::Ask(None),
            progress: None,
            for_model: true,
        };
        self.servers.call(call).await
    }
}

/// Arguments with a message.
pub(crate) fn message(text: &str) -> Map<String, Value> {
    Map::from_iter([("message".to_owned(), Value::from(text))])
}
