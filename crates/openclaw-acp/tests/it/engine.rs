//! An engine that does what the message says.

use std::collections::HashMap;
use std::future::{pending, ready};
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use openclaw_engine::*;
use tokio::sync::Notify;

use crate::turns;

/// What it was asked, and what it answers.
#[derive(Default)]
pub(crate) struct FakeEngine {
    /// The messages that arrived.
    pub(crate) asked: Mutex<Vec<ReplyRequest>>,
    /// The servers that were lent.
    pub(crate) loans: Mutex<Vec<LendServers>>,
    /// Who is there to lend.
    pub(crate) lenders: AtomicUsize,
    /// How many turns run.
    pub(crate) running: AtomicUsize,
    /// How many events were told of turns that never end.
    pub(crate) heard: AtomicUsize,
    /// Of which agents it was asked for commands.
    pub(crate) commands: Mutex<Vec<Option<String>>>,
    /// The sessions that there are.
    pub(crate) sessions: Mutex<Vec<SessionReport>>,
    /// What was said in them.
    pub(crate) transcripts: Mutex<HashMap<String, Vec<MessageReport>>>,
    /// Makes it forget who lends.
    pub(crate) forget_lenders: Notify,
    /// Whether nobody can lend any more, and how often that was tried.
    pub(crate) is_down: AtomicBool,
    pub(crate) attempts: AtomicUsize,
    /// Whether it takes its time to take servers back.
    pub(crate) is_slow: AtomicBool,
    /// How often it was asked for sessions and what was said in them.
    pub(crate) looked_up: AtomicUsize,
    /// Whether it never says what was said.
    pub(crate) is_silent: AtomicBool,
    /// Lets turns go on that wait for it.
    pub(crate) go_on: Notify,
    /// What is wrong with the store.
    pub(crate) problems: Mutex<Vec<String>>,
    /// Those that were deleted.
    pub(crate) deleted: Mutex<Vec<String>>,
}

/// Counts something for as long as it is there.
pub(crate) struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    pub(crate) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The whole name of a session.
pub(crate) fn key(choice: &SessionChoice) -> String {
    match choice {
        SessionChoice::Editor(id) => format!("agent:main:acp:{id}"),
        other => panic!("{other:?}"),
    }
}

impl FakeEngine {
    pub(crate) fn loans(&self) -> Vec<LendServers> {
        self.loans.lock().unwrap().clone()
    }

    pub(crate) fn asked(&self) -> Vec<ReplyRequest> {
        self.asked.lock().unwrap().clone()
    }

    fn server(name: &str) -> ServerReport {
        let is_down = name == "down";
        ServerReport {
            name: name.to_owned(),
            transport: Some(TransportKind::Stdio),
            target: "server".to_owned(),
            enabled: true,
            state: if is_down {
                ShownState::Failed
            } else {
                ShownState::Ready
            },
            auth: AuthKind::None,
            tools: 1,
            resources: 0,
            prompts: 0,
            pid: None,
            protocol_version: None,
            restarts: 0,
            error: is_down.then(|| "it\u{1b}[2J ended".to_owned()),
        }
    }
}

impl ReplyEngine for FakeEngine {
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        Box::pin(async move {
            let _counted = Counted::new(&self.running);
            self.asked.lock().unwrap().push(request.clone());
            assert!(audience.can_answer());
            let session_key = key(&request.session);
            let model = "test/scripted".to_owned();
            audience.hear(ReplyEvent::Started {
                session_key: session_key.clone(),
                model: model.clone(),
            });
            let reply = turns::act(self, &request, audience).await?;
            audience.hear(ReplyEvent::Final {
                text: reply.clone(),
            });
            Ok(ReplyReport {
                session_key,
                model,
                cut_off: reply == "cut",
                reply,
                parts: Vec::new(),
                tool_calls: Vec::new(),
                usage: None,
            })
        })
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

impl Engine for FakeEngine {
    fn agent(&self, _: AgentQuery) -> Pending<'_, KnownAgent> {
        not_here()
    }

    fn lend(&self, request: LendServers) -> Pending<'_, LoanReport> {
        if self.lenders.load(Ordering::SeqCst) == 0 {
            self.attempts.fetch_add(1, Ordering::SeqCst);
            let failure = EngineFailure::asker("unknown-lender", "nobody lends");
            return Box::pin(ready(Err(failure)));
        }
        if request.servers.is_empty() && self.is_slow.load(Ordering::SeqCst) {
            return Box::pin(async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                let session_key = key(&request.session);
                self.loans.lock().unwrap().push(request);
                Ok(LoanReport {
                    session_key,
                    servers: Vec::new(),
                })
            });
        }
        self.loans.lock().unwrap().push(request.clone());
        if request.servers.iter().any(|server| server.name == "fail") {
            return Box::pin(ready(Err(EngineFailure::operation("system", "no room"))));
        }
        let servers = request.servers.iter().map(|server| {
            let is_bad = server.name == "bad";
            LentReport {
                asked: server.name.clone(),
                name: (!is_bad).then(|| server.name.clone()),
                problem: is_bad.then(|| "it has no\nname".to_owned()),
                left_out: Vec::new(),
            }
        });
        Box::pin(ready(Ok(LoanReport {
            session_key: key(&request.session),
            servers: servers.collect(),
        })))
    }

    fn lending(&self, _: Lender) -> Pending<'_, ()> {
        Box::pin(async {
            if self.is_down.load(Ordering::SeqCst) {
                return Err(EngineFailure::operation("gateway-gone", "it is gone"));
            }
            let _counted = Counted::new(&self.lenders);
            self.forget_lenders.notified().await;
            Err(EngineFailure::operation("gateway-gone", "it is gone"))
        })
    }

    fn servers(&self, query: ServersQuery) -> Pending<'_, ServersReport> {
        assert!(query.wait);
        let loans = self.loans();
        let mut lent = loans.iter().flat_map(|loan| &loan.servers);
        if lent.any(|server| server.name == "hidden") {
            let failure = EngineFailure::operation("system", "it is dark");
            return Box::pin(ready(Err(failure)));
        }
        let loan = loans
            .iter()
            .rev()
            .find(|loan| Some(key(&loan.session)) == query.agent);
        let names = loan.iter().flat_map(|loan| &loan.servers);
        let mut servers: Vec<_> = names.map(|server| Self::server(&server.name)).collect();
        // One that is not the editor's.
        servers.push(ServerReport {
            name: "other".to_owned(),
            ..Self::server("down")
        });
        Box::pin(ready(Ok(ServersReport {
            servers,
            warnings: Vec::new(),
        })))
    }

    fn commands(&self, query: CommandsQuery) -> Pending<'_, CommandsReport> {
        self.commands.lock().unwrap().push(query.agent);
        Box::pin(ready(Ok(CommandsReport {
            commands: vec![CommandReport {
                name: "help".to_owned(),
                description: "says what there is".to_owned(),
                usage: Some("[topic]".to_owned()),
                origin: CommandOrigin::Builtin,
            }],
        })))
    }

    fn sessions(&self, _: SessionsQuery) -> Pending<'_, SessionsReport> {
        self.looked_up.fetch_add(1, Ordering::SeqCst);
        let sessions = self.sessions.lock().unwrap().clone();
        Box::pin(ready(Ok(SessionsReport {
            sessions,
            problems: self.problems.lock().unwrap().clone(),
            set_aside: Vec::new(),
        })))
    }

    fn session(&self, query: OneSession) -> Pending<'_, SessionTranscript> {
        self.looked_up.fetch_add(1, Ordering::SeqCst);
        if self.is_silent.load(Ordering::SeqCst) {
            return Box::pin(pending());
        }
        let said = self.transcripts.lock().unwrap().get(&query.key).cloned();
        let transcript = said.map(|messages| SessionTranscript {
            key: query.key,
            messages,
        });
        let none = EngineFailure::asker("unknown-session", "there is none");
        Box::pin(ready(transcript.ok_or(none)))
    }

    fn delete_session(&self, query: OneSession) -> Pending<'_, DeletedSession> {
        self.deleted.lock().unwrap().push(query.key.clone());
        Box::pin(ready(Ok(DeletedSession { key: query.key })))
    }

    fn reload(&self) -> Pending<'_, ReloadReport> {
        not_here()
    }

    fn overview(&self) -> Pending<'_, Overview> {
        not_here()
    }

    fn statistics(&self) -> Pending<'_, StatisticsReport> {
        not_here()
    }

    fn watch<'a>(&'a self, _: &'a dyn Watcher) -> Pending<'a, ()> {
        not_here()
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(ready(()))
    }

    not_asked! {
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
        skills(SkillsQuery) -> SkillsReport;
        complete(CompletionQuery) -> CompletionReport;
        definitions(OfServer) -> DefinitionsReport;
        add_server(AddServer) -> AddedServer;
        set_server(SetServer) -> AddedServer;
        remove_server(OneServer) -> RemovedServer;
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
        client_metadata(ClientMetadataQuery) -> ClientMetadata;
    }
}
