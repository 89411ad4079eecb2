//! An agent with many tools and a store on disk.

use std::pin::Pin;
use std::sync::Arc;

use openclaw_agent::{Agents, AgentsSetup};
use openclaw_config::{Environment, Location, SessionRetention, load};
use openclaw_engine::{
    Audience, ReplyEvent, ReplyRequest, SessionChoice, ToolConsent, ToolQuestion,
};
use openclaw_mcp::{Servers, ServersSetup, StartMode};
use openclaw_mcp_client::Connector;
use openclaw_media::{DocumentProgram, MediaReader, MediaSetup};
use openclaw_models::{Models, ModelsSetup};
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secrets::Redactor;
use openclaw_sessions::{SessionStore, SessionsSetup, SqliteSessions};
use openclaw_state::StateDirectory;
use serde_json::Value;

pub(crate) struct House {
    _directory: tempfile::TempDir,
    pub(crate) servers: Arc<Servers>,
    pub(crate) store: Arc<dyn SessionStore>,
    pub(crate) agents: Agents,
}

impl House {
    pub(crate) fn new(config: &Value) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let state = StateDirectory::open(&directory.path().join("state")).expect("a state");
        let location = Location {
            config: directory.path().join("openclaw.json"),
            state: directory.path().join("state"),
            profile: None,
            named: true,
        };
        std::fs::write(&location.config, config.to_string()).expect("a file");
        let environment = Environment::new([], Some(directory.path()), directory.path());
        let config = load(&location, &environment)
            .config
            .expect("a configuration");
        let this = std::env::current_exe().expect("a program");
        let launcher = Arc::new(Launcher::new(GuardianProgram::at(&this)));
        let connector = Connector::new(
            Arc::clone(&launcher),
            std::env::vars_os().collect(),
            std::env::current_dir().expect("a directory"),
            None,
        );
        let servers = Servers::new(ServersSetup {
            config: Arc::new(config),
            state: state.clone(),
            connector: Arc::new(connector),
            redactor: Redactor::new(),
            mode: StartMode::OnDemand,
            restarts: false,
        });
        let servers = Arc::new(servers.expect("servers"));
        let store: Arc<dyn SessionStore> = Arc::new(SqliteSessions::open(SessionsSetup {
            state: state.clone(),
            retention: SessionRetention::default(),
            clock: Arc::new(std::time::SystemTime::now),
        }));
        let media = MediaReader::new(MediaSetup {
            config: servers.config(),
            resolver: servers.secret_resolver(),
            redactor: Redactor::new(),
            state: state.clone(),
            launcher,
            documents: DocumentProgram::at(&this),
            environment: std::env::vars_os().collect(),
        });
        let agents = Agents::new(AgentsSetup {
            media: Arc::new(media),
            servers: Arc::clone(&servers),
            models: Arc::new(Models::new(ModelsSetup {
                config: servers.config(),
                resolver: servers.secret_resolver(),
                redactor: Redactor::new(),
            })),
            store: Arc::clone(&store),
            state: location.state.clone(),
            commands: &[],
        });
        Self {
            _directory: directory,
            servers,
            store,
            agents,
        }
    }

    pub(crate) async fn close(self) {
        self.servers.shutdown().await;
        self.store.close().await;
    }
}

/// A request in a session of its own.
pub(crate) fn request(message: &str) -> ReplyRequest {
    ReplyRequest {
        message: message.to_owned(),
        session: SessionChoice::Fresh("bench".to_owned()),
        approved: true,
        ..ReplyRequest::default()
    }
}

/// Somebody who does something with each event.
pub(crate) struct Hearing<F>(pub(crate) F);

impl<F: Fn(ReplyEvent) + Send + Sync> Audience for Hearing<F> {
    fn hear(&self, event: ReplyEvent) {
        (self.0)(event);
    }

    fn can_answer(&self) -> bool {
        false
    }

    fn approve(
        &self,
        _question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        Box::pin(std::future::ready(ToolConsent::No))
    }
}
