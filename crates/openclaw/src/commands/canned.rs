//! An engine whose answers are always the same, hostile ones among them.

mod agent;
mod servers;

use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use openclaw_engine::{
    ActivityQuery, ActivityReport, AddServer, AddedServer, AgentQuery, AgentReport, ApprovalReport,
    ApprovalRequest, CallReport, CallRequest, ClientMetadata, ClientMetadataQuery, CommandsQuery,
    CommandsReport, CompletionQuery, CompletionReport, ConfigurationQuery, ConfigurationReport,
    ContentsReport, Credentials, DefinitionsReport, DeletedSession, Engine, EngineFailure,
    GatewayReport, ImportReport, ImportRequest, KeptLogin, KnownAgent, LendServers, Lender,
    LoanReport, LoginAnswer, LoginOffer, LoginReport, LoginRequest, LoginsQuery, LoginsReport,
    LogoutReport, LogsQuery, LogsReport, LookQuery, LookReport, ModelsQuery, ModelsReport,
    OfServer, OneLogin, OneServer, OneSession, Overview, Pending, PromptArgumentReport,
    PromptMessageReport, PromptReport, PromptRequest, PromptSummary, PromptsReport, ReadReport,
    ReadRequest, RegistrationKind, ReloadReport, RemovedServer, ResourceSummary, ResourcesReport,
    SecretsQuery, SecretsReport, ServerDetails, ServerReport, ServersQuery, ServersReport,
    SessionTranscript, SessionsQuery, SessionsReport, SetServer, ShownState, SkillsQuery,
    SkillsReport, StatisticsReport, TemplateSummary, ToolReport, ToolsReport, Watcher,
};
use serde_json::{Map, Value as Json, json};

use crate::render::tests::HOSTILE;
use servers::details;
pub(crate) use servers::{server, servers};

/// Eight bytes that begin like a PNG, in base64.
pub(crate) const PNG: &str = "iVBORw0KGgo=";

/// An engine whose answers are always the same.
#[derive(Default)]
pub(crate) struct Canned {
    closed: AtomicBool,
    /// How often servers were asked for.
    asked: AtomicUsize,
}

impl Canned {
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

fn ready<'a, T: Send + 'a>(value: T) -> Pending<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

fn unknown<'a, T: Send + 'a>(code: &'static str, what: &str, hint: &str) -> Pending<'a, T> {
    let failure = EngineFailure::asker(code, format!("there is no {what}")).hint(hint);
    Box::pin(std::future::ready(Err(failure)))
}

fn login_report(server: &str) -> LoginReport {
    LoginReport {
        server: server.to_owned(),
        issuer: format!("https://login.example{HOSTILE}"),
        scopes: vec!["read".to_owned(), HOSTILE.to_owned()],
        token_expires_at: Some("2000-01-01T00:00:00Z".to_owned()),
        renewable: true,
    }
}

fn tool(name: &str, description: &str) -> ToolReport {
    let schema = json!({
        "type": "object",
        "properties": { "limit": { "type": "integer" }, "query": { "type": "string" } },
        "required": ["query"],
    });
    ToolReport {
        name: format!("mcp_tavily_{name}"),
        server: "tavily".to_owned(),
        tool: name.to_owned(),
        title: None,
        description: format!("[MCP server: tavily] {description}"),
        input_schema: schema.as_object().cloned().unwrap_or_default(),
        annotations: Map::new(),
        changed: false,
    }
}

impl Engine for Canned {
    fn agent(&self, query: AgentQuery) -> Pending<'_, KnownAgent> {
        ready(KnownAgent {
            id: query.agent.unwrap_or_else(|| "main".to_owned()),
        })
    }

    fn servers(&self, query: ServersQuery) -> Pending<'_, ServersReport> {
        let mut servers = servers();
        let before = self.asked.fetch_add(1, Ordering::SeqCst);
        if !query.wait && before < 2 {
            servers[5].state = ShownState::Connecting;
        }
        ready(ServersReport {
            servers,
            warnings: Vec::new(),
        })
    }

    fn server(&self, query: OneServer) -> Pending<'_, ServerDetails> {
        match servers().into_iter().find(|one| one.name == query.server) {
            Some(server) => ready(details(server)),
            None => unknown("unknown-server", "server \"tavly\"", "did you mean tavily?"),
        }
    }

    fn connect(&self, query: OneServer) -> Pending<'_, ServerDetails> {
        self.server(query)
    }

    fn disconnect(&self, query: OneServer) -> Pending<'_, ServerDetails> {
        ready(details(ServerReport {
            state: ShownState::Stopped,
            ..server(&query.server)
        }))
    }

    fn refresh(&self, _query: OfServer) -> Pending<'_, ServersReport> {
        ready(ServersReport {
            servers: vec![server("tavily")],
            warnings: Vec::new(),
        })
    }

    fn logs(&self, query: LogsQuery) -> Pending<'_, LogsReport> {
        let lines = match query.server.as_str() {
            "quiet" => vec![],
            _ => vec!["one".to_owned(), format!("  two {HOSTILE}")],
        };
        ready(LogsReport {
            server: query.server,
            last: lines.len() as u64,
            lines,
        })
    }

    fn tools(&self, query: OfServer) -> Pending<'_, ToolsReport> {
        let mut hostile = tool("x", &format!("{HOSTILE} {}", "long ".repeat(100)));
        hostile.name = HOSTILE.to_owned();
        hostile.server = HOSTILE.to_owned();
        let mut changed = tool("extract", "Reads pages.");
        changed.changed = true;
        let mut long = tool(&"t".repeat(300), "");
        long.server = "long".to_owned();
        let tools = match query.server.as_deref() {
            Some("quiet") => vec![],
            _ => vec![changed, tool("search", "Searches the web."), hostile, long],
        };
        let problems = vec!["broken could not be asked: it has failed".to_owned()];
        ready(ToolsReport { tools, problems })
    }

    fn call(&self, request: CallRequest) -> Pending<'_, CallReport> {
        let (content, structured_content): (Vec<Json>, _) = match request.tool.as_str() {
            "data" => (vec![], Some(json!({ "answer": 42 }))),
            "nothing" => (vec![], None),
            "missing" => {
                return unknown("unknown-tool", "tool \"missing\"", "did you mean echo?");
            }
            _ => (
                vec![
                    json!({ "type": "text", "text": format!("hello {HOSTILE}") }),
                    json!({ "type": "image", "mimeType": "image/jpeg", "data": PNG }),
                    json!({ "type": "audio", "mimeType": "audio/wav", "data": "?" }),
                    json!({ "type": "resource", "resource": { "uri": "file:///a", "text": "a" } }),
                    json!({ "type": "resource", "resource": { "uri": HOSTILE, "blob": "AAAA" } }),
                    json!({ "type": "resource_link", "name": HOSTILE, "uri": "file:///b" }),
                    json!({ "type": HOSTILE }),
                ],
                None,
            ),
        };
        ready(CallReport {
            is_error: request.tool == "fails",
            framed: request.framed.then(|| "<<<framed>>>".to_owned()),
            tool: request.tool,
            server: "everything".to_owned(),
            content,
            structured_content,
            duration_ms: 3,
        })
    }

    fn approve(&self, request: ApprovalRequest) -> Pending<'_, ApprovalReport> {
        ready(ApprovalReport {
            changed: request.tool != "same",
            tool: request.tool,
            server: "everything".to_owned(),
        })
    }

    fn logins(&self, _query: LoginsQuery) -> Pending<'_, LoginsReport> {
        let kept = |server: &str, problem: Option<String>| KeptLogin {
            server: server.to_owned(),
            issuer: Some(format!("https://login.example{HOSTILE}")),
            token_expires_at: None,
            renewable: problem.is_none(),
            hint: problem.is_some().then(|| format!("log in again{HOSTILE}")),
            problem,
        };
        ready(LoginsReport {
            logins: vec![
                kept("linear", None),
                kept("notes", Some(format!("the login has ended: {HOSTILE}"))),
            ],
            remarks: vec!["the key to saved logins is in a file".to_owned()],
        })
    }

    fn begin_login(&self, request: LoginRequest) -> Pending<'_, LoginOffer> {
        if request.server != "linear" {
            return unknown("unknown-server", "server \"x\"", "did you mean linear?");
        }
        ready(LoginOffer {
            server: request.server,
            login: "login-1".to_owned(),
            url: "https://login.example/authorize?state=abc&code_challenge=def".to_owned(),
            issuer: format!("https://login.example{HOSTILE}"),
            found: "that the server names".to_owned(),
            registration: RegistrationKind::Dynamic,
            client_id: HOSTILE.to_owned(),
            why: format!("it registers clients {HOSTILE}"),
            scopes: vec!["read".to_owned(), HOSTILE.to_owned()],
            redirect_url: "http://127.0.0.1:1/callback".to_owned(),
            listening: !request.by_hand,
            ends_at: "2000-01-01T00:00:00Z".to_owned(),
            remarks: vec!["there is no keyring".to_owned()],
        })
    }

    fn await_login(&self, _query: OneLogin) -> Pending<'_, LoginReport> {
        ready(login_report("linear"))
    }

    fn finish_login(&self, answer: LoginAnswer) -> Pending<'_, LoginReport> {
        ready(login_report(&answer.server))
    }

    fn logout(&self, query: OneServer) -> Pending<'_, LogoutReport> {
        let (revoked, reason) = match query.server.as_str() {
            "withdrawn" => (Some(true), None),
            "kept" => (Some(false), Some(format!("HTTP status 503 {HOSTILE}"))),
            _ => (None, None),
        };
        ready(LogoutReport {
            was_logged_in: query.server != "nobody",
            server: query.server,
            revoked,
            reason,
        })
    }

    fn client_metadata(&self, query: ClientMetadataQuery) -> Pending<'_, ClientMetadata> {
        ready(ClientMetadata {
            document: json!({ "client_id": query.url }),
        })
    }

    fn resources(&self, query: OfServer) -> Pending<'_, ResourcesReport> {
        if query.server.as_deref() == Some("quiet") {
            return ready(ResourcesReport::default());
        }
        ready(ResourcesReport {
            resources: vec![ResourceSummary {
                server: HOSTILE.to_owned(),
                uri: format!("file:///{HOSTILE}"),
                name: HOSTILE.to_owned(),
                title: Some("A page".to_owned()),
                description: None,
                mime_type: Some("text/plain".to_owned()),
                size: Some(2048),
            }],
            templates: vec![TemplateSummary {
                server: "docs".to_owned(),
                uri_template: "docs:///{page}".to_owned(),
                name: "page".to_owned(),
                title: None,
                description: Some("Any page".to_owned()),
                mime_type: None,
            }],
            problems: vec![],
        })
    }

    fn read(&self, request: ReadRequest) -> Pending<'_, ReadReport> {
        let part = |text: Option<&str>, blob: Option<&str>| ContentsReport {
            uri: request.uri.clone(),
            mime_type: None,
            text: text.map(str::to_owned),
            blob: blob.map(str::to_owned),
        };
        let contents = match request.uri.as_str() {
            "blob:" => vec![part(None, Some(PNG))],
            "bad:" => vec![part(None, Some("?"))],
            "both:" => vec![part(Some("text"), None), part(None, Some(PNG))],
            _ => vec![part(Some(HOSTILE), None)],
        };
        ready(ReadReport {
            server: request.server,
            uri: request.uri,
            contents,
        })
    }

    fn prompts(&self, query: OfServer) -> Pending<'_, PromptsReport> {
        let argument = |name: &str, required| PromptArgumentReport {
            name: name.to_owned(),
            description: None,
            required,
        };
        let prompts = match query.server.as_deref() {
            Some("quiet") => vec![],
            _ => vec![PromptSummary {
                server: "docs".to_owned(),
                name: HOSTILE.to_owned(),
                title: None,
                description: Some(format!("Reviews code {HOSTILE}")),
                arguments: vec![argument("code", true), argument("language", false)],
            }],
        };
        ready(PromptsReport {
            prompts,
            problems: vec![],
        })
    }

    fn prompt(&self, request: PromptRequest) -> Pending<'_, PromptReport> {
        let message = |role: &str, content| PromptMessageReport {
            role: role.to_owned(),
            content,
        };
        let text = format!("{HOSTILE} {}", Json::Object(request.arguments));
        ready(PromptReport {
            server: request.server,
            name: request.name,
            description: None,
            messages: vec![
                message("user", json!({ "type": "text", "text": text })),
                message("assistant", json!([{ "type": "image", "data": PNG }])),
            ],
        })
    }

    fn commands(&self, _: CommandsQuery) -> Pending<'_, CommandsReport> {
        ready(CommandsReport::default())
    }

    fn skills(&self, _: SkillsQuery) -> Pending<'_, SkillsReport> {
        ready(SkillsReport {
            skills: Vec::new(),
            problems: vec![format!("/w/skills/x/SKILL.md:2: {HOSTILE}")],
        })
    }

    fn complete(&self, _: CompletionQuery) -> Pending<'_, CompletionReport> {
        ready(CompletionReport::default())
    }

    fn definitions(&self, _: OfServer) -> Pending<'_, DefinitionsReport> {
        ready(DefinitionsReport::default())
    }

    fn add_server(&self, request: AddServer) -> Pending<'_, AddedServer> {
        unknown("unknown-server", &request.name, "")
    }

    fn set_server(&self, request: SetServer) -> Pending<'_, AddedServer> {
        unknown("unknown-server", &request.name, "")
    }

    fn remove_server(&self, query: OneServer) -> Pending<'_, RemovedServer> {
        unknown("unknown-server", &query.server, "")
    }

    fn import(&self, _: ImportRequest) -> Pending<'_, ImportReport> {
        ready(ImportReport::default())
    }

    fn configuration(&self, _: ConfigurationQuery) -> Pending<'_, ConfigurationReport> {
        ready(ConfigurationReport::default())
    }

    fn reload(&self) -> Pending<'_, ReloadReport> {
        ready(ReloadReport::default())
    }

    fn sessions(&self, query: SessionsQuery) -> Pending<'_, SessionsReport> {
        ready(agent::sessions(query.agent.as_deref()))
    }

    fn lend(&self, _request: LendServers) -> Pending<'_, LoanReport> {
        ready(LoanReport::default())
    }

    fn lending(&self, _lender: Lender) -> Pending<'_, ()> {
        ready(())
    }

    fn session(&self, query: OneSession) -> Pending<'_, SessionTranscript> {
        agent::session(&query)
    }

    fn delete_session(&self, query: OneSession) -> Pending<'_, DeletedSession> {
        agent::delete_session(&query)
    }

    fn models(&self, query: ModelsQuery) -> Pending<'_, ModelsReport> {
        ready(agent::models(query.ask))
    }

    fn secrets(&self, _query: SecretsQuery) -> Pending<'_, SecretsReport> {
        ready(SecretsReport::default())
    }

    fn statistics(&self) -> Pending<'_, StatisticsReport> {
        ready(StatisticsReport::default())
    }

    fn look(&self, _: LookQuery) -> Pending<'_, LookReport> {
        ready(LookReport::default())
    }

    fn activity(&self, _: ActivityQuery) -> Pending<'_, ActivityReport> {
        ready(ActivityReport::default())
    }

    fn watch<'a>(&'a self, _watcher: &'a dyn Watcher) -> Pending<'a, ()> {
        Box::pin(std::future::pending())
    }

    fn overview(&self) -> Pending<'_, Overview> {
        ready(Overview {
            version: "1.2.3".to_owned(),
            gateway: GatewayReport::default(),
            servers: servers(),
            agents: vec![AgentReport {
                id: "main".to_owned(),
                model: Some("builtin/offline".to_owned()),
                credentials: Credentials::Builtin,
                servers: vec!["tavily".to_owned()],
            }],
            sessions: 3,
            sessions_error: None,
            config_error: None,
            awaits_restart: Vec::new(),
        })
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.closed.store(true, Ordering::SeqCst);
        Box::pin(std::future::ready(()))
    }
}
