//! What a runtime is made of, its beginning and end.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use openclaw_agent::{Agents, AgentsSetup};
use openclaw_config::Config;
use openclaw_definitions::Definitions;
use openclaw_engine::EngineFailure;
use openclaw_mcp::{AgentPlan, Servers, ServersSetup, StartMode};
use openclaw_mcp_client::{Connector, EraMemory};
use openclaw_media::{DocumentProgram, MediaReader, MediaSetup};
use openclaw_models::{Models, ModelsSetup};
use openclaw_process::Launcher;
use openclaw_secrets::Redactor;
use openclaw_sessions::{SessionKey, SessionStore, SessionsSetup, SqliteSessions};
use openclaw_slash::TAKEN;
use openclaw_state::StateDirectory;
use openclaw_telemetry::Telemetry;

use crate::answers::loans::Lenders;
use crate::answers::logins::BegunLogin;
use crate::answers::reloads::Reloads;
use crate::answers::running::RunningLogins;
use crate::lasting::Lasting;
use crate::observer::Observer;
use crate::traces;

/// What a runtime is made of.
pub struct RuntimeSetup {
    /// The configuration.
    pub config: Arc<Config>,
    /// Where it is written, so that it can be changed and read anew. One that was made for a purpose
    /// is written nowhere.
    pub definitions: Option<Definitions>,
    /// Where what is remembered lies.
    pub state: StateDirectory,
    /// What knows the credentials that must not be seen.
    pub redactor: Redactor,
    /// The environment that servers get parts of.
    pub environment: Vec<(OsString, OsString)>,
    /// The directory that programs are started in.
    pub directory: PathBuf,
    /// What starts them.
    pub launcher: Arc<Launcher>,
    /// What it is opened for.
    pub life: Life,
    /// The program that reads documents.
    pub documents: DocumentProgram,
    /// Whether traces are exported, where variables or the configuration say so.
    pub traces: bool,
}

/// What a runtime is opened for: when its servers start, and whether those that are lost come back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// One command: servers start when something needs them, and the first failure counts.
    Command,
    /// Somebody who goes on asking: servers start when something needs them, and come back.
    Conversation,
    /// Everybody: servers start at once, and come back.
    Gateway,
}

/// The agents and servers of a configuration, in this process and for as long as a command takes.
/// Each server is started when something needs it, and once.
pub struct Runtime {
    pub(crate) servers: Arc<Servers>,
    pub(crate) models: Arc<Models>,
    pub(crate) media: Arc<MediaReader>,
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) agents: Agents,
    pub(crate) state: StateDirectory,
    pub(crate) definitions: Option<Definitions>,
    /// Where it can be asked by others, once it can.
    pub(crate) address: OnceLock<(String, Instant)>,
    /// Why the configuration could not be read anew, the last time.
    pub(crate) config_error: Arc<Mutex<Option<String>>>,
    /// What it goes by until it ends; none where nobody lives on when the configuration changes.
    pub(crate) lasting: Option<Arc<Lasting>>,
    /// Readings of the configuration, one at a time.
    pub(crate) reloads: Arc<Reloads>,
    pub(crate) observer: Arc<Observer>,
    pub(crate) redactor: Redactor,
    pub(crate) logins: RunningLogins<BegunLogin>,
    pub(crate) lenders: Arc<Lenders>,
    pub(crate) telemetry: Telemetry,
    environment: Vec<(OsString, OsString)>,
    pub(crate) directory: PathBuf,
    launcher: Arc<Launcher>,
    documents: DocumentProgram,
}

impl Runtime {
    /// Makes a runtime, within the asynchronous one that it is to run on.
    pub fn open(setup: RuntimeSetup) -> Result<Self, EngineFailure> {
        let memory = EraMemory::new(&setup.state);
        let memory = memory.map_err(|error| unusable(&error))?;
        let connector = Connector::new(
            Arc::clone(&setup.launcher),
            setup.environment.clone(),
            setup.directory.clone(),
            Some(memory),
        );
        let sessions: Arc<dyn SessionStore> = Arc::new(SqliteSessions::open(SessionsSetup {
            state: setup.state.clone(),
            retention: setup.config.session_retention,
            clock: Arc::new(std::time::SystemTime::now),
        }));
        let lasts = setup.life == Life::Gateway;
        let lasting = lasts.then(|| Arc::new(Lasting::of(&setup.config)));
        let observer = Observer::new(&setup.config, setup.redactor.clone());
        let observer = Arc::new(match setup.life {
            Life::Gateway => observer.remembering(),
            // Nobody comes later and asks what happened.
            Life::Command | Life::Conversation => observer,
        });
        let heard = ServersSetup {
            config: Arc::clone(&setup.config),
            state: setup.state.clone(),
            connector: Arc::new(connector),
            redactor: setup.redactor.clone(),
            mode: match setup.life {
                Life::Gateway => StartMode::Eager,
                Life::Command | Life::Conversation => StartMode::OnDemand,
            },
            restarts: setup.life != Life::Command,
        };
        let servers = Servers::heard(heard, Arc::<Observer>::clone(&observer));
        let servers = Arc::new(servers.map_err(|error| unusable(&error))?);
        let telemetry = if setup.traces {
            traces::start(&setup.config, servers.secret_resolver(), &setup.redactor)
        } else {
            Telemetry::off()
        };
        let models = Arc::new(Models::new(ModelsSetup {
            config: Arc::clone(&setup.config),
            resolver: servers.secret_resolver(),
            redactor: setup.redactor.clone(),
        }));
        let media = Arc::new(MediaReader::new(MediaSetup {
            config: setup.config,
            resolver: servers.secret_resolver(),
            redactor: setup.redactor.clone(),
            state: setup.state.clone(),
            launcher: Arc::clone(&setup.launcher),
            documents: setup.documents.clone(),
            environment: setup.environment.clone(),
        }));
        let agents = Agents::new(AgentsSetup {
            servers: Arc::clone(&servers),
            models: Arc::clone(&models),
            media: Arc::clone(&media),
            store: Arc::clone(&sessions),
            state: setup.state.path().to_owned(),
            commands: &TAKEN,
        });
        Ok(Self {
            servers,
            models,
            media,
            sessions,
            agents,
            state: setup.state,
            definitions: setup.definitions,
            address: OnceLock::new(),
            config_error: Arc::default(),
            lasting,
            reloads: Arc::default(),
            observer,
            redactor: setup.redactor,
            logins: RunningLogins::default(),
            lenders: Arc::default(),
            telemetry,
            environment: setup.environment,
            directory: setup.directory,
            launcher: setup.launcher,
            documents: setup.documents,
        })
    }

    /// Another runtime on this machine, for a configuration that is written nowhere. Whoever drops it
    /// ends what it has started.
    pub(crate) fn beside(&self, config: Config) -> Result<Self, EngineFailure> {
        Self::open(RuntimeSetup {
            config: Arc::new(config),
            definitions: None,
            state: self.state.clone(),
            redactor: self.redactor.clone(),
            environment: self.environment.clone(),
            directory: self.directory.clone(),
            launcher: Arc::clone(&self.launcher),
            life: Life::Command,
            documents: self.documents.clone(),
            traces: false,
        })
    }

    /// Says that others can ask it from now on, and where.
    pub fn serves_at(&self, address: String) {
        // Only the first address counts: there is no second one.
        let _ = self.address.set((address, Instant::now()));
    }

    /// The files that the configuration was read from, and those that would be read if they were there.
    pub fn configuration_files(&self) -> Vec<PathBuf> {
        let definitions = self.definitions.as_ref();
        definitions.map(Definitions::files).unwrap_or_default()
    }

    /// An agent, the default one if none is named; by the whole name of a session, as it is in that.
    pub(crate) fn agent(&self, name: Option<&str>) -> Result<Arc<AgentPlan>, EngineFailure> {
        let default = &self.servers.config().default_agent;
        let session = name.filter(|name| name.starts_with("agent:"));
        let session = session.and_then(|name| SessionKey::parse_existing(name, default).ok());
        let found = match session {
            Some(key) => self.servers.agent_in(key.agent().as_str(), key.as_str()),
            None => self.servers.agent(name),
        };
        found.map_err(|error| {
            EngineFailure::asker("unknown-agent", error.to_string())
                .hint(format!("the agents are: {}", error.known.join(", ")))
        })
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&OsString> {
        let mut variables = self.environment.iter();
        variables
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }
}

fn unusable(error: &dyn std::error::Error) -> EngineFailure {
    EngineFailure::operation("state", error.to_string())
}
