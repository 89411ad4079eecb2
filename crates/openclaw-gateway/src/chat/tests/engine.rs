//! An engine that does what the message says.

use std::future::{pending, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use openclaw_engine::{
    ActivityQuery, ActivityReport, AddServer, AddedServer, AgentQuery, AgentReport, ApprovalReport,
    ApprovalRequest, Audience, CallReport, CallRequest, ClientMetadata, ClientMetadataQuery,
    CommandsQuery, CommandsReport, CompletionQuery, CompletionReport, ConfigurationQuery,
    ConfigurationReport, Credentials, DefinitionsReport, DeletedSession, Engine, EngineFailure,
    GatewayReport, ImportReport, ImportRequest, KnownAgent, LendServers, Lender, LoanReport,
    LoginAnswer, LoginOffer, LoginReport, LoginRequest, LoginsQuery, LoginsReport, LogoutReport,
    LogsQuery, LogsReport, LookQuery, LookReport, ModelsQuery, ModelsReport, OfServer, OneLogin,
    OneServer, OneSession, Overview, Pending, PromptReport, PromptRequest, PromptsReport,
    ReadReport, ReadRequest, ReloadReport, RemovedServer, ReplyEngine, ReplyEvent, ReplyPart,
    ReplyReport, ReplyRequest, ResourcesReport, SecretsQuery, SecretsReport, ServerDetails,
    ServersQuery, ServersReport, SessionChoice, SessionTranscript, SessionsQuery, SessionsReport,
    SetServer, SkillsQuery, SkillsReport, StatisticsReport, ToolsReport, UsageReport, Watcher,
};
use tokio::sync::Semaphore;

/// A pixel.
pub(super) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// The engine. Messages that it knows:
///
/// | message | |
/// |---|---|
/// | `wait` | says something, goes on when the test opens the gate |
/// | `hang` | says something, calls a tool, and never ends |
/// | `silent` | never says anything |
/// | `flood` | says much, piece by piece, and ends |
/// | `panic` | fails as nothing should |
/// | `fail CODE` | fails at once |
/// | `break` | fails after half a sentence |
/// | `called` | fails after it has called a tool |
/// | `tools` | says something, calls a tool that gives two images and a file, says more |
/// | `whole` | the same texts, but not in parts |
/// | `retract` | begins twice |
/// | `/answer` | answers without a model |
/// | anything else | says it again, in words |
#[derive(Clone)]
pub(super) struct Scripted {
    asked: Arc<Mutex<Vec<ReplyRequest>>>,
    pub(super) gate: Arc<Semaphore>,
    /// How many turns run.
    running: Arc<AtomicUsize>,
}

impl Default for Scripted {
    fn default() -> Self {
        Self {
            asked: Arc::default(),
            gate: Arc::new(Semaphore::new(0)),
            running: Arc::default(),
        }
    }
}

/// Counts a turn for as long as it runs.
struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Scripted {
    /// What it was asked last.
    pub(super) fn last(&self) -> ReplyRequest {
        self.asked.lock().unwrap().last().cloned().unwrap()
    }

    /// Everything that it was asked.
    pub(super) fn requests(&self) -> Vec<ReplyRequest> {
        self.asked.lock().unwrap().clone()
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    pub(super) fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    async fn act(
        &self,
        message: &str,
        audience: &dyn Audience,
    ) -> Result<Vec<ReplyPart>, EngineFailure> {
        let said = |text: &str| ReplyPart::Text {
            text: text.to_owned(),
        };
        let hear = |event| audience.hear(event);
        let partial = |text: &str| {
            let text = text.to_owned();
            hear(ReplyEvent::Partial { text });
        };
        let block = |text: &str| {
            let text = text.to_owned();
            hear(ReplyEvent::Block { text });
        };
        let end = |text: &str| {
            let text = text.to_owned();
            hear(ReplyEvent::Final { text });
        };
        let tool = || {
            let (id, name) = ("1".to_owned(), "mcp_fake_look".to_owned());
            hear(ReplyEvent::tool_started(id, name));
        };
        if let Some(code) = message.strip_prefix("fail ") {
            return Err(failure(code));
        }
        match message {
            "wait" => {
                partial("one ");
                let _permit = self.gate.acquire().await.unwrap();
                partial("two");
                end("one two");
                Ok(vec![said("one two")])
            }
            "hang" => {
                partial("one ");
                tool();
                pending().await
            }
            "silent" => pending().await,
            "flood" => {
                let line = "0123456789abcdef".repeat(64);
                for _ in 0..1024 {
                    partial(&line);
                }
                end(&line.repeat(1024));
                Ok(vec![said(&line.repeat(1024))])
            }
            "panic" => panic!("as nothing should"),
            "break" => {
                partial("half a ");
                Err(failure("model-truncated"))
            }
            "called" => {
                tool();
                Err(failure("model-unavailable"))
            }
            "tools" => Ok(looked(audience)),
            "whole" => {
                block("I look.");
                tool();
                end("A pixel.");
                Ok(vec![said("I look."), said("A pixel.")])
            }
            "retract" => {
                partial("Wro");
                let reason = "it broke off".to_owned();
                hear(ReplyEvent::Retracted { reason });
                partial("Right");
                end("Right.");
                Ok(vec![said("Right.")])
            }
            "/answer" => {
                let text = "the answer".to_owned();
                hear(ReplyEvent::Answer { text });
                Ok(vec![said("the answer")])
            }
            other => {
                for word in other.split_inclusive(' ') {
                    partial(word);
                }
                end(other);
                Ok(vec![said(other)])
            }
        }
    }
}

/// A turn with a text, tools that give media, and another text. White space is said where nothing
/// follows it, and where something does.
fn looked(audience: &dyn Audience) -> Vec<ReplyPart> {
    let hear = |event| audience.hear(event);
    let partial = |text: &str| {
        let text = text.to_owned();
        hear(ReplyEvent::Partial { text });
    };
    let tool = || {
        let (id, name) = ("1".to_owned(), "mcp_fake_look".to_owned());
        hear(ReplyEvent::tool_started(id, name));
    };
    let (first, last) = ("I look.".to_owned(), " \nA pixel.".to_owned());
    partial("\n");
    tool();
    partial("I ");
    partial("look.");
    hear(ReplyEvent::Block {
        text: first.clone(),
    });
    tool();
    let media = media();
    for part in media.clone() {
        hear(ReplyEvent::Media { part });
    }
    partial(" \n");
    partial("A pixel");
    hear(ReplyEvent::Final { text: last.clone() });
    let mut parts = vec![ReplyPart::Text { text: first }];
    parts.extend(media);
    parts.push(ReplyPart::Text { text: last });
    parts
}

/// What a tool gives beside text.
fn media() -> Vec<ReplyPart> {
    let image = ReplyPart::Image {
        mime_type: "image/png".to_owned(),
        data: PNG.into(),
    };
    vec![
        image.clone(),
        image,
        ReplyPart::Resource {
            name: "notes.txt".to_owned(),
            mime_type: "text/plain".to_owned(),
            data: "aGVsbG8=".into(),
        },
    ]
}

fn failure(code: &str) -> EngineFailure {
    let is_askers = [
        "unknown-agent",
        "unknown-model",
        "session-key",
        "no-model-key",
    ];
    let mut failure = if is_askers.contains(&code) {
        EngineFailure::asker("", "it can't be done")
    } else {
        EngineFailure::operation("", "it can't be done")
    };
    failure.code = code.to_owned().into();
    failure.hint("do something else")
}

impl ReplyEngine for Scripted {
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        Box::pin(async move {
            self.running.fetch_add(1, Ordering::SeqCst);
            let _counted = Counted(&self.running);
            assert!(!audience.can_answer());
            self.asked.lock().unwrap().push(request.clone());
            let agent = request.agent.as_deref().unwrap_or("main");
            let session_key = match &request.session {
                SessionChoice::Main => format!("agent:{agent}:main"),
                SessionChoice::Key(key) => format!("agent:{agent}:{key}"),
                SessionChoice::Fresh(prefix) => format!("agent:{agent}:{prefix}-1"),
                SessionChoice::Editor(id) => format!("agent:{agent}:acp:{id}"),
            };
            if !request.message.starts_with(['/', 'f']) {
                audience.hear(ReplyEvent::Started {
                    session_key: session_key.clone(),
                    model: "test/scripted".to_owned(),
                });
            }
            let parts = self.act(&request.message, audience).await?;
            let reply = parts.iter().rev().find_map(|part| match part {
                ReplyPart::Text { text } => Some(text.clone()),
                _ => None,
            });
            Ok(ReplyReport {
                session_key,
                model: "test/scripted".to_owned(),
                reply: reply.unwrap_or_default(),
                parts,
                tool_calls: Vec::new(),
                usage: Some(UsageReport {
                    input_tokens: 10,
                    output_tokens: 2,
                    cached_tokens: 4,
                }),
                cut_off: request.message == "cut off",
            })
        })
    }
}

/// Questions that nobody asks here.
macro_rules! unasked {
    ($($name:ident($($argument:ty)?) -> $report:ty;)*) => {
        $(fn $name(&self $(, _: $argument)?) -> Pending<'_, $report> {
            Box::pin(ready(Err(failure("unasked"))))
        })*
    };
}

impl Engine for Scripted {
    unasked! {
        agent(AgentQuery) -> KnownAgent;
        servers(ServersQuery) -> ServersReport;
        server(OneServer) -> ServerDetails;
        connect(OneServer) -> ServerDetails;
        disconnect(OneServer) -> ServerDetails;
        refresh(OfServer) -> ServersReport;
        logs(LogsQuery) -> LogsReport;
        tools(OfServer) -> ToolsReport;
        call(CallRequest) -> CallReport;
        approve(ApprovalRequest) -> ApprovalReport;
        resources(OfServer) -> ResourcesReport;
        read(ReadRequest) -> ReadReport;
        prompts(OfServer) -> PromptsReport;
        prompt(PromptRequest) -> PromptReport;
        commands(CommandsQuery) -> CommandsReport;
        skills(SkillsQuery) -> SkillsReport;
        complete(CompletionQuery) -> CompletionReport;
        definitions(OfServer) -> DefinitionsReport;
        add_server(AddServer) -> AddedServer;
        set_server(SetServer) -> AddedServer;
        remove_server(OneServer) -> RemovedServer;
        configuration(ConfigurationQuery) -> ConfigurationReport;
        import(ImportRequest) -> ImportReport;
        look(LookQuery) -> LookReport;
        reload() -> ReloadReport;
        sessions(SessionsQuery) -> SessionsReport;
        lend(LendServers) -> LoanReport;
        lending(Lender) -> ();
        delete_session(OneSession) -> DeletedSession;
        models(ModelsQuery) -> ModelsReport;
        statistics() -> StatisticsReport;
        activity(ActivityQuery) -> ActivityReport;
        secrets(SecretsQuery) -> SecretsReport;
        logins(LoginsQuery) -> LoginsReport;
        begin_login(LoginRequest) -> LoginOffer;
        await_login(OneLogin) -> LoginReport;
        finish_login(LoginAnswer) -> LoginReport;
        logout(OneServer) -> LogoutReport;
        client_metadata(ClientMetadataQuery) -> ClientMetadata;
    }

    fn session(&self, query: OneSession) -> Pending<'_, SessionTranscript> {
        Box::pin(ready(match query.key.as_str() {
            "new" => Err(failure("unknown-session")),
            "empty" => Ok(SessionTranscript {
                key: query.key,
                messages: Vec::new(),
            }),
            _ => Err(failure("unasked")),
        }))
    }

    fn overview(&self) -> Pending<'_, Overview> {
        let agent = |id: &str| AgentReport {
            id: id.to_owned(),
            model: Some("test/scripted".to_owned()),
            credentials: Credentials::Builtin,
            servers: Vec::new(),
        };
        Box::pin(ready(Ok(Overview {
            version: "1".to_owned(),
            gateway: GatewayReport::default(),
            servers: Vec::new(),
            agents: vec![agent("main"), agent("coder")],
            sessions: 0,
            sessions_error: None,
            config_error: None,
            awaits_restart: Vec::new(),
        })))
    }

    fn watch<'a>(&'a self, _: &'a dyn Watcher) -> Pending<'a, ()> {
        Box::pin(pending())
    }

    fn close(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(ready(()))
    }
}
