//! Agents with fake servers, a store on disk and somebody who listens.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use openclaw_agent::{Agents, AgentsSetup, TurnError};
use openclaw_config::{Environment, Location, SessionRetention, load};
use openclaw_engine::{
    Audience, ReplyEvent, ReplyReport, ReplyRequest, ServerAnswer, ServerQuestion, ToolConsent,
    ToolQuestion,
};
use openclaw_mcp::{Servers, ServersSetup, StartMode};
use openclaw_mcp_client::Connector;
use openclaw_media::{DocumentProgram, MediaReader, MediaSetup};
use openclaw_models::{Model, Models, ModelsSetup};
use openclaw_process::{GuardianProgram, Launcher};
use openclaw_secrets::Redactor;
use openclaw_sessions::{KeptMessage, SessionKey, SessionStore, SessionsSetup, SqliteSessions};
use openclaw_state::StateDirectory;
use openclaw_testkit::FakeServer;
use openclaw_testkit::leaks::{eventually, processes_with_argument};
use serde_json::{Value, json};

pub(crate) const SOON: Duration = Duration::from_secs(10);

pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.parent().unwrap().parent().unwrap();
    profile.join("examples/fake_mcp_server")
}

pub(crate) fn fake(flags: &str) -> FakeServer {
    FakeServer::at(&program()).flags(flags)
}

/// An entry of the configuration for a fake server.
pub(crate) fn entry(fake: &FakeServer) -> Value {
    let arguments = fake.arguments().into_iter();
    let arguments: Vec<String> = arguments.map(|it| it.into_string().unwrap()).collect();
    json!({ "command": fake.program(), "args": arguments })
}

/// A configuration with one server.
pub(crate) fn one(fake: &FakeServer) -> Value {
    json!({ "mcp": { "servers": { "fake": entry(fake) } } })
}

pub(crate) struct House {
    directory: Arc<tempfile::TempDir>,
    pub(crate) servers: Arc<Servers>,
    pub(crate) store: Arc<SqliteSessions>,
    pub(crate) agents: Agents,
    markers: Vec<String>,
}

impl House {
    pub(crate) fn new(config: &Value, fakes: &[&FakeServer]) -> Self {
        let markers = fakes.iter().map(|it| it.marker().to_owned());
        Self::with_markers(config, markers.collect())
    }

    /// One with programs that have these words in their command lines.
    pub(crate) fn with_markers(config: &Value, markers: Vec<String>) -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), config, markers)
    }

    /// One more at the same place once this one is closed, as after a restart.
    pub(crate) async fn again(self, config: &Value, fakes: &[&FakeServer]) -> Self {
        let directory = Arc::clone(&self.directory);
        self.finish().await;
        let markers = fakes.iter().map(|it| it.marker().to_owned());
        Self::at(directory, config, markers.collect())
    }

    fn at(directory: Arc<tempfile::TempDir>, config: &Value, markers: Vec<String>) -> Self {
        let state = StateDirectory::open(&directory.path().join("state")).unwrap();
        let location = Location {
            config: directory.path().join("openclaw.json"),
            state: directory.path().join("state"),
            profile: None,
            named: true,
        };
        std::fs::write(&location.config, config.to_string()).unwrap();
        let environment = Environment::new([], Some(directory.path()), directory.path());
        let loaded = load(&location, &environment);
        let report = loaded.report.render(false);
        let launcher = Arc::new(Launcher::new(GuardianProgram::at(&program())));
        let connector = Connector::new(
            Arc::clone(&launcher),
            std::env::vars_os().collect(),
            std::env::current_dir().unwrap(),
            None,
        );
        let servers = Servers::new(ServersSetup {
            config: Arc::new(loaded.config.unwrap_or_else(|| panic!("{report}"))),
            state: state.clone(),
            connector: Arc::new(connector),
            redactor: Redactor::new(),
            mode: StartMode::OnDemand,
            restarts: true,
        });
        let servers = Arc::new(servers.unwrap());
        let store = Arc::new(SqliteSessions::open(SessionsSetup {
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
            documents: DocumentProgram::at(&program().with_file_name("document_reader")),
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
            store: Arc::clone(&store) as Arc<dyn SessionStore>,
            state: location.state.clone(),
            commands: &["mcp"],
        });
        Self {
            directory,
            servers,
            store,
            agents,
            markers,
        }
    }

    pub(crate) async fn reply(
        &self,
        model: &dyn Model,
        message: &str,
    ) -> Result<ReplyReport, TurnError> {
        self.reply_in(model, message, "main", &Listener::default())
            .await
    }

    pub(crate) async fn reply_in(
        &self,
        model: &dyn Model,
        message: &str,
        key: &str,
        listener: &Listener,
    ) -> Result<ReplyReport, TurnError> {
        let (plan, key) = self.agents.key(None, key)?;
        let request = ReplyRequest {
            message: message.to_owned(),
            correlation: "c0ffee".to_owned(),
            ..ReplyRequest::default()
        };
        let reply = self
            .agents
            .reply_with(model, &plan, &key, request, listener);
        Box::pin(reply).await
    }

    pub(crate) async fn kept(&self, key: &str) -> Vec<KeptMessage> {
        let main = openclaw_config::AgentId::main();
        let key = SessionKey::parse(key, &main).unwrap();
        self.store.show(&key).await.unwrap().unwrap_or_default()
    }

    pub(crate) async fn finish(self) {
        self.servers.shutdown().await;
        self.store.close().await;
        let markers = &self.markers;
        let is_gone = || {
            markers
                .iter()
                .all(|it| processes_with_argument(it).is_empty())
        };
        assert!(eventually(SOON, is_gone).await, "a process is left");
    }
}

/// Somebody who listens, and answers questions in one way.
#[derive(Default)]
pub(crate) struct Listener {
    pub(crate) events: Mutex<Vec<ReplyEvent>>,
    pub(crate) questions: Mutex<Vec<ToolQuestion>>,
    pub(crate) consent: Option<ToolConsent>,
    /// What servers asked.
    pub(crate) asked: Mutex<Vec<ServerQuestion>>,
    /// What they are answered; nothing ever, if that is none.
    pub(crate) answer: Option<ServerAnswer>,
    pub(crate) has_started_a_tool: AtomicBool,
}

impl Listener {
    pub(crate) fn answering(consent: ToolConsent) -> Self {
        Self {
            consent: Some(consent),
            ..Self::default()
        }
    }

    /// What happened, in short; partials are put together.
    pub(crate) fn heard(&self) -> Vec<String> {
        let mut heard: Vec<String> = Vec::new();
        for event in self.events.lock().unwrap().iter() {
            let short = match event {
                ReplyEvent::Started { model, .. } => format!("started {model}"),
                ReplyEvent::Partial { text } => {
                    if let Some(last) = heard.last_mut()
                        && last.starts_with("partial ")
                    {
                        last.push_str(text);
                        continue;
                    }
                    format!("partial {text}")
                }
                ReplyEvent::Reasoning { text } => format!("reasoning {text}"),
                ReplyEvent::Retracted { reason } => format!("retracted {reason}"),
                ReplyEvent::Block { text } => format!("block {text}"),
                ReplyEvent::ToolStarted { name, .. } => format!("calls {name}"),
                ReplyEvent::ToolResult { call, .. } => {
                    let end = if call.is_error { "failed" } else { "done" };
                    format!("{end} {}", call.name)
                }
                ReplyEvent::Media { part } => format!("media {}", media_type(part)),
                ReplyEvent::ToolProgress { text, .. } => format!("progress {text}"),
                ReplyEvent::Visit { url, .. } => format!("visit {url}"),
                ReplyEvent::Notice { text } => format!("notice {text}"),
                ReplyEvent::Answer { text } => format!("answer {text}"),
                ReplyEvent::Final { text } => format!("final {text}"),
            };
            heard.push(short);
        }
        heard
    }
}

fn media_type(part: &openclaw_engine::ReplyPart) -> &str {
    use openclaw_engine::ReplyPart;
    match part {
        ReplyPart::Text { .. } => "text",
        ReplyPart::Image { mime_type, .. }
        | ReplyPart::Audio { mime_type, .. }
        | ReplyPart::Resource { mime_type, .. } => mime_type,
    }
}

impl Audience for Listener {
    fn hear(&self, event: ReplyEvent) {
        if matches!(event, ReplyEvent::ToolStarted { .. }) {
            self.has_started_a_tool.store(true, Ordering::SeqCst);
        }
        self.events.lock().unwrap().push(event);
    }

    fn can_answer(&self) -> bool {
        self.consent.is_some()
    }

    fn approve(
        &self,
        question: ToolQuestion,
    ) -> Pin<Box<dyn Future<Output = ToolConsent> + Send + '_>> {
        self.questions.lock().unwrap().push(question);
        Box::pin(std::future::ready(self.consent.unwrap_or(ToolConsent::No)))
    }

    fn answer(
        &self,
        question: ServerQuestion,
    ) -> Pin<Box<dyn Future<Output = ServerAnswer> + Send + '_>> {
        self.asked.lock().unwrap().push(question);
        match self.answer.clone() {
            Some(answer) => Box::pin(std::future::ready(answer)),
            None => Box::pin(std::future::pending()),
        }
    }
}
