//! An engine that does what the name of a tool says.

use std::future::ready;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use openclaw_engine::*;
use serde_json::{Value, json};

/// What it was asked, and what it answers.
pub(crate) struct FakeEngine {
    /// The calls that arrived.
    pub(crate) calls: Mutex<Vec<CallRequest>>,
    /// How many calls are under way that never end.
    pub(crate) hanging: AtomicUsize,
    /// How many of them were withdrawn.
    pub(crate) withdrawn: AtomicUsize,
    /// How often the configuration was read anew.
    pub(crate) reloads: AtomicUsize,
    /// What comes of that.
    pub(crate) reload_fails: Mutex<bool>,
    /// How the server is.
    pub(crate) state: Mutex<ShownState>,
    /// What is wrong with the configuration.
    pub(crate) config_error: Mutex<Option<String>>,
    /// How often it was asked for its statistics.
    pub(crate) looks: AtomicUsize,
    /// Whether it has no overview to give.
    pub(crate) overview_hangs: Mutex<bool>,
}

impl Default for FakeEngine {
    fn default() -> Self {
        Self {
            calls: Mutex::default(),
            hanging: AtomicUsize::default(),
            withdrawn: AtomicUsize::default(),
            reloads: AtomicUsize::default(),
            reload_fails: Mutex::default(),
            state: Mutex::new(ShownState::Ready),
            config_error: Mutex::default(),
            looks: AtomicUsize::default(),
            overview_hangs: Mutex::default(),
        }
    }
}

/// Counts a call that is withdrawn.
struct Hanging<'a>(&'a FakeEngine);

impl Drop for Hanging<'_> {
    fn drop(&mut self) {
        self.0.hanging.fetch_sub(1, Ordering::SeqCst);
        self.0.withdrawn.fetch_add(1, Ordering::SeqCst);
    }
}

impl FakeEngine {
    fn server_report(&self) -> ServerReport {
        ServerReport {
            name: "fake".to_owned(),
            transport: Some(TransportKind::Stdio),
            target: "fake-server".to_owned(),
            enabled: true,
            state: *self.state.lock().unwrap(),
            auth: AuthKind::None,
            tools: 1,
            resources: 0,
            prompts: 0,
            pid: Some(42),
            protocol_version: None,
            restarts: 0,
            error: Some("it does not run <b>".to_owned()),
        }
    }

    async fn answer(&self, request: CallRequest) -> Result<CallReport, EngineFailure> {
        self.calls.lock().unwrap().push(request.clone());
        let report = |content: Value| CallReport {
            tool: "mcp_fake_echo".to_owned(),
            server: "fake".to_owned(),
            is_error: false,
            content: vec![content],
            structured_content: Some(Value::Object(request.arguments.object.clone())),
            duration_ms: 1,
            framed: request.framed.then(|| "framed".to_owned()),
        };
        match request.tool.as_str() {
            "echo" => Ok(report(json!({ "type": "text", "text": "hello" }))),
            "large" => Ok(report(
                json!({ "type": "text", "text": "x".repeat(12 << 20) }),
            )),
            "larger" => Ok(report(
                json!({ "type": "text", "text": "x".repeat(40 << 20) }),
            )),
            "too-large" => Ok(report(
                json!({ "type": "text", "text": "x".repeat(64 << 20) }),
            )),
            "denied" => Err(EngineFailure::operation("denied", "not allowed").about("fake")),
            "failed" => Err(EngineFailure::operation("call-failed", "it broke").hint("mend it")),
            "fake/lost" => Err(EngineFailure::operation("outcome-unknown", "nobody knows")),
            "ambiguous" => Err(EngineFailure::asker("ambiguous-tool", "one of several")),
            "invalid" => Err(EngineFailure::asker("invalid-arguments", "they do not fit")),
            "hang" => {
                self.hanging.fetch_add(1, Ordering::SeqCst);
                let _hanging = Hanging(self);
                std::future::pending().await
            }
            "slow" => {
                tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                Ok(report(json!({ "type": "text", "text": "at last" })))
            }
            "panic" => panic!("this is what it was told"),
            other => Err(EngineFailure::asker(
                "unknown-tool",
                format!("there is no tool `{other}`"),
            )),
        }
    }
}

fn known(agent: Option<&str>) -> Result<(), EngineFailure> {
    match agent {
        None | Some("main") => Ok(()),
        Some(other) => Err(EngineFailure::asker(
            "unknown-agent",
            format!("there is no agent `{other}`"),
        )),
    }
}

fn not_here<T: Send + 'static>() -> Pending<'static, T> {
    Box::pin(ready(Err(EngineFailure::operation(
        "system",
        "this is not asked in these tests",
    ))))
}

macro_rules! not_asked {
    ($($name:ident($query:ty) -> $report:ty;)*) => {
        $(fn $name(&self, _: $query) -> Pending<'_, $report> {
            not_here()
        })*
    };
}

impl ReplyEngine for FakeEngine {
    fn reply<'a>(
        &'a self,
        _request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        let (session_key, model) = ("openai:1".to_owned(), "builtin/offline".to_owned());
        let text = "hello".to_owned();
        let image = ReplyPart::Image {
            mime_type: "image/png".to_owned(),
            data: "iVBORw0KGgo=".into(),
        };
        audience.hear(ReplyEvent::Started {
            session_key: session_key.clone(),
            model: model.clone(),
        });
        audience.hear(ReplyEvent::Partial { text: text.clone() });
        audience.hear(ReplyEvent::Media {
            part: image.clone(),
        });
        audience.hear(ReplyEvent::Final { text: text.clone() });
        Box::pin(ready(Ok(ReplyReport {
            session_key,
            model,
            reply: text.clone(),
            parts: vec![ReplyPart::Text { text }, image],
            tool_calls: Vec::new(),
            usage: None,
            cut_off: false,
        })))
    }
}

impl Engine for FakeEngine {
    fn agent(&self, _: AgentQuery) -> Pending<'_, KnownAgent> {
        not_here()
    }

    fn servers(&self, query: ServersQuery) -> Pending<'_, ServersReport> {
        Box::pin(async move {
            known(query.agent.as_deref())?;
            Ok(ServersReport {
                servers: vec![self.server_report()],
                warnings: vec!["beware".to_owned()],
            })
        })
    }

    fn server(&self, query: OneServer) -> Pending<'_, ServerDetails> {
        Box::pin(async move {
            known(query.agent.as_deref())?;
            if query.server != "fake" {
                let message = format!("there is no server `{}`", query.server);
                return Err(EngineFailure::asker("unknown-server", message));
            }
            Ok(ServerDetails {
                report: self.server_report(),
                server_info: None,
                session_id: None,
                token_expires_at: None,
                token_renewable: None,
                scopes: Some(vec!["read".to_owned()]),
                issuer: None,
                last_heartbeat: None,
                stderr: vec!["a line".to_owned()],
                resolved_command: None,
                passed_over: 0,
            })
        })
    }

    fn refresh(&self, query: OfServer) -> Pending<'_, ServersReport> {
        self.servers(ServersQuery {
            agent: query.agent,
            wait: true,
            ..ServersQuery::default()
        })
    }

    fn tools(&self, query: OfServer) -> Pending<'_, ToolsReport> {
        Box::pin(async move {
            known(query.agent.as_deref())?;
            if query.server.as_deref() == Some("down") {
                return Err(EngineFailure::operation("server-not-ready", "it is down"));
            }
            let is_wordy = query.server.as_deref() == Some("wordy");
            Ok(ToolsReport {
                tools: vec![ToolReport {
                    name: "mcp_fake_echo".to_owned(),
                    server: "fake".to_owned(),
                    tool: "echo".to_owned(),
                    title: None,
                    description: "says it again".repeat(if is_wordy { 500_000 } else { 1 }),
                    input_schema: serde_json::Map::new(),
                    annotations: serde_json::Map::new(),
                    changed: false,
                }],
                problems: Vec::new(),
            })
        })
    }

    fn call(&self, request: CallRequest) -> Pending<'_, CallReport> {
        Box::pin(self.answer(request))
    }

    fn reload(&self) -> Pending<'_, ReloadReport> {
        self.reloads.fetch_add(1, Ordering::SeqCst);
        let outcome = if *self.reload_fails.lock().unwrap() {
            Err(EngineFailure::asker("config", "the file can't be used"))
        } else {
            Ok(ReloadReport {
                added: vec!["new".to_owned()],
                ..ReloadReport::default()
            })
        };
        Box::pin(ready(outcome))
    }

    fn sessions(&self, _: SessionsQuery) -> Pending<'_, SessionsReport> {
        Box::pin(ready(Ok(SessionsReport {
            sessions: vec![SessionReport {
                key: "main".to_owned(),
                agent: "main".to_owned(),
                messages: 2,
                created_at: "2026-01-01T00:00:00Z".to_owned(),
                updated_at: "2026-01-01T00:00:00Z".to_owned(),
            }],
            problems: Vec::new(),
            set_aside: Vec::new(),
        })))
    }

    fn overview(&self) -> Pending<'_, Overview> {
        if *self.overview_hangs.lock().unwrap() {
            return Box::pin(std::future::pending());
        }
        Box::pin(ready(Ok(Overview {
            version: "1.2.3".to_owned(),
            gateway: GatewayReport::default(),
            servers: vec![self.server_report()],
            agents: vec![AgentReport {
                id: "main".to_owned(),
                model: None,
                credentials: Credentials::Builtin,
                servers: vec!["fake".to_owned()],
            }],
            sessions: 0,
            sessions_error: None,
            config_error: self.config_error.lock().unwrap().clone(),
            awaits_restart: Vec::new(),
        })))
    }

    fn statistics(&self) -> Pending<'_, StatisticsReport> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        let server = |name: &str, state| ServerStatistics {
            server: name.to_owned(),
            state,
            calls: CallCounts {
                ok: 3,
                ..CallCounts::default()
            },
            latency: vec![2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            latency_sum_ms: 3.5,
            restarts: 4,
        };
        Box::pin(ready(Ok(StatisticsReport {
            servers: vec![
                server("fake", *self.state.lock().unwrap()),
                server("na\"me", ShownState::Ready),
            ],
            turns: 7,
            failed_turns: 1,
            cancelled_turns: 2,
            reloads: 2,
            failed_reloads: 1,
        })))
    }

    fn watch<'a>(&'a self, _: &'a dyn Watcher) -> Pending<'a, ()> {
        not_here()
    }

    fn client_metadata(&self, query: ClientMetadataQuery) -> Pending<'_, ClientMetadata> {
        Box::pin(ready(Ok(ClientMetadata {
            document: json!({ "client_id": query.url, "redirect_uris": [] }),
        })))
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(ready(()))
    }

    not_asked! {
        connect(OneServer) -> ServerDetails;
        disconnect(OneServer) -> ServerDetails;
        logs(LogsQuery) -> LogsReport;
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
        session(OneSession) -> SessionTranscript;
        lend(LendServers) -> LoanReport;
        lending(Lender) -> ();
        delete_session(OneSession) -> DeletedSession;
        models(ModelsQuery) -> ModelsReport;
        activity(ActivityQuery) -> ActivityReport;
        configuration(ConfigurationQuery) -> ConfigurationReport;
        import(ImportRequest) -> ImportReport;
        look(LookQuery) -> LookReport;
        secrets(SecretsQuery) -> SecretsReport;
        logins(LoginsQuery) -> LoginsReport;
        begin_login(LoginRequest) -> LoginOffer;
        await_login(OneLogin) -> LoginReport;
        finish_login(LoginAnswer) -> LoginReport;
        logout(OneServer) -> LogoutReport;
    }
}
