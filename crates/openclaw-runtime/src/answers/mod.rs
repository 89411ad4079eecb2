//! The answer to each question.

mod activity;
mod calling;
mod commands;
mod completing;
mod configuration;
mod definitions;
mod importing;
pub(crate) mod loans;
pub(crate) mod logins;
mod logs;
mod looking;
mod models;
mod offers;
mod prompting;
mod reload;
pub(crate) mod reloads;
mod replies;
pub(crate) mod running;
mod sessions;
mod skilled;
mod watching;

use std::sync::{Arc, PoisonError};

use futures_util::future::join_all;
use openclaw_config::{Config, ValueOwner};
use openclaw_content::shown_line;
use openclaw_engine::{
    ActivityQuery, ActivityReport, AddServer, AddedServer, AgentQuery, ApprovalReport,
    ApprovalRequest, AuthKind, CallReport, CallRequest, ClientMetadata, ClientMetadataQuery,
    CommandsQuery, CommandsReport, CompletionQuery, CompletionReport, ConfigurationQuery,
    ConfigurationReport, DefinitionsReport, DeletedSession, Engine, EngineFailure, GatewayReport,
    ImportReport, ImportRequest, KnownAgent, LendServers, Lender, LoanReport, LoginAnswer,
    LoginOffer, LoginReport, LoginRequest, LoginsQuery, LoginsReport, LogoutReport, LogsQuery,
    LogsReport, LookQuery, LookReport, ModelsQuery, ModelsReport, OfServer, OneLogin, OneServer,
    OneSession, Overview, Pending, PromptReport, PromptRequest, PromptsReport, ReadReport,
    ReadRequest, ReloadReport, RemovedServer, ResourcesReport, SecretRemark, SecretReport,
    SecretTrouble, SecretsQuery, SecretsReport, ServerDetails, ServersQuery, ServersReport,
    SessionTranscript, SessionsQuery, SessionsReport, SetServer, ShownState, SkillsQuery,
    SkillsReport, StatisticsReport, ToolsReport, Watcher,
};
use openclaw_mcp::{AgentPlan, PlannedServer};

use openclaw_secret_stores::SecretErrorKind;

use crate::report::{details, report};
use crate::runtime::Runtime;
use crate::unknown::found_server;

/// How much of a problem is told.
const PROBLEM: usize = 1_000;

impl Engine for Runtime {
    fn agent(&self, query: AgentQuery) -> Pending<'_, KnownAgent> {
        let agent = Self::agent(self, query.agent.as_deref());
        let known = agent.map(|agent| KnownAgent {
            id: agent.agent.id.to_string(),
        });
        Box::pin(std::future::ready(known))
    }

    fn servers(&self, query: ServersQuery) -> Pending<'_, ServersReport> {
        Box::pin(async move {
            let agent = self.agent(query.agent.as_deref())?;
            let names = query.servers.as_deref();
            if query.wait {
                self.servers.start(&agent, names).await;
            } else {
                self.servers.begin(&agent, names).await;
            }
            Ok(self.all_servers(&agent))
        })
    }

    fn server(&self, query: OneServer) -> Pending<'_, ServerDetails> {
        Box::pin(async move {
            let (agent, server) = self.one(&query)?;
            let names = [server.name().to_owned()];
            self.servers.start(&agent, Some(&names)).await;
            Ok(self.details(&agent, &server).await)
        })
    }

    fn connect(&self, query: OneServer) -> Pending<'_, ServerDetails> {
        Box::pin(async move {
            let (agent, server) = self.one(&query)?;
            if agent.denies(server.name()) {
                let name = server.name();
                let message = format!("the policy allows the agent no tool of `{name}`");
                return Err(EngineFailure::operation("denied", message));
            }
            self.servers.connect(&server).await;
            Ok(self.details(&agent, &server).await)
        })
    }

    fn disconnect(&self, query: OneServer) -> Pending<'_, ServerDetails> {
        Box::pin(async move {
            let (agent, server) = self.one(&query)?;
            self.servers.disconnect(&server).await;
            Ok(self.details(&agent, &server).await)
        })
    }

    fn refresh(&self, query: OfServer) -> Pending<'_, ServersReport> {
        Box::pin(self.answer_refresh(query))
    }

    fn logs(&self, query: LogsQuery) -> Pending<'_, LogsReport> {
        Box::pin(self.answer_logs(query))
    }

    fn tools(&self, query: OfServer) -> Pending<'_, ToolsReport> {
        Box::pin(self.answer_tools(query))
    }

    fn call(&self, request: CallRequest) -> Pending<'_, CallReport> {
        Box::pin(self.telemetry.around(self.answer_call(request)))
    }

    fn approve(&self, request: ApprovalRequest) -> Pending<'_, ApprovalReport> {
        Box::pin(self.answer_approval(request))
    }

    fn resources(&self, query: OfServer) -> Pending<'_, ResourcesReport> {
        Box::pin(self.answer_resources(query))
    }

    fn read(&self, request: ReadRequest) -> Pending<'_, ReadReport> {
        Box::pin(self.telemetry.around(self.answer_read(request)))
    }

    fn prompts(&self, query: OfServer) -> Pending<'_, PromptsReport> {
        Box::pin(self.answer_prompts(query))
    }

    fn prompt(&self, request: PromptRequest) -> Pending<'_, PromptReport> {
        Box::pin(self.telemetry.around(self.answer_prompt(request)))
    }

    fn commands(&self, query: CommandsQuery) -> Pending<'_, CommandsReport> {
        Box::pin(async move { self.answer_commands(&query) })
    }

    fn skills(&self, query: SkillsQuery) -> Pending<'_, SkillsReport> {
        Box::pin(async move {
            Ok(skilled::report(
                &self.agents,
                &*self.agent(query.agent.as_deref())?,
            ))
        })
    }

    fn complete(&self, query: CompletionQuery) -> Pending<'_, CompletionReport> {
        Box::pin(self.telemetry.around(self.answer_complete(query)))
    }

    fn definitions(&self, query: OfServer) -> Pending<'_, DefinitionsReport> {
        Box::pin(std::future::ready(self.answer_definitions(&query)))
    }

    fn add_server(&self, request: AddServer) -> Pending<'_, AddedServer> {
        Box::pin(self.answer_add_server(request))
    }

    fn set_server(&self, request: SetServer) -> Pending<'_, AddedServer> {
        Box::pin(self.answer_set_server(request))
    }

    fn remove_server(&self, query: OneServer) -> Pending<'_, RemovedServer> {
        Box::pin(self.answer_remove_server(query))
    }

    fn import(&self, request: ImportRequest) -> Pending<'_, ImportReport> {
        Box::pin(self.answer_import(request))
    }

    fn configuration(&self, query: ConfigurationQuery) -> Pending<'_, ConfigurationReport> {
        Box::pin(self.answer_configuration(query))
    }

    fn reload(&self) -> Pending<'_, ReloadReport> {
        Box::pin(self.answer_reload())
    }

    fn sessions(&self, query: SessionsQuery) -> Pending<'_, SessionsReport> {
        Box::pin(self.answer_sessions(query))
    }

    fn lend(&self, request: LendServers) -> Pending<'_, LoanReport> {
        Box::pin(self.answer_lend(request))
    }

    fn lending(&self, lender: Lender) -> Pending<'_, ()> {
        Box::pin(self.answer_lending(lender))
    }

    fn session(&self, query: OneSession) -> Pending<'_, SessionTranscript> {
        Box::pin(self.answer_session(query))
    }

    fn delete_session(&self, query: OneSession) -> Pending<'_, DeletedSession> {
        Box::pin(self.answer_delete_session(query))
    }

    fn models(&self, query: ModelsQuery) -> Pending<'_, ModelsReport> {
        Box::pin(self.answer_models(query))
    }

    fn overview(&self) -> Pending<'_, Overview> {
        Box::pin(async move {
            let config = self.servers.config();
            let default = self.agent(None)?;
            let agents = config.agents.values();
            let agents = join_all(agents.map(|agent| self.agent_report(agent))).await;
            let (sessions, sessions_error) = match self.sessions.count().await {
                Ok(count) => (count, None),
                Err(error) => (0, Some(error.to_string())),
            };
            Ok(Overview {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                gateway: self.gateway_report(),
                servers: self.all_servers(&default).servers,
                agents,
                sessions,
                sessions_error,
                config_error: self.last_config_error(),
                awaits_restart: self.awaits_restart(&config),
            })
        })
    }

    fn statistics(&self) -> Pending<'_, StatisticsReport> {
        Box::pin(std::future::ready(Ok(self.answer_statistics())))
    }

    fn activity(&self, query: ActivityQuery) -> Pending<'_, ActivityReport> {
        Box::pin(self.answer_activity(query))
    }

    fn look(&self, query: LookQuery) -> Pending<'_, LookReport> {
        Box::pin(self.answer_look(query))
    }

    fn watch<'a>(&'a self, watcher: &'a dyn Watcher) -> Pending<'a, ()> {
        self.answer_watch(watcher)
    }

    fn secrets(&self, query: SecretsQuery) -> Pending<'_, SecretsReport> {
        Box::pin(async move {
            let checked = self.servers.check_secrets(query.server.as_deref()).await;
            let hidden = |text: &str| self.redactor.redact(text).into_owned();
            let secrets = checked.into_iter().map(|(placed, answer)| {
                let (error, remarks) = match answer {
                    Ok(remarks) => (None, remarks),
                    Err(error) => (Some(error), Vec::new()),
                };
                let (server, owner) = match placed.owner {
                    ValueOwner::Server(name) => (Some(name.clone()), format!("the server {name}")),
                    ValueOwner::ModelProvider(name) => (None, format!("the model provider {name}")),
                    ValueOwner::Gateway => (None, "the gateway".to_owned()),
                    ValueOwner::Media => (None, "media".to_owned()),
                    ValueOwner::Diagnostics => (None, "diagnostics".to_owned()),
                };
                SecretReport {
                    server,
                    owner,
                    field: placed.field,
                    reference: hidden(&placed.reference.to_string()),
                    kind: error.as_ref().map(|error| trouble(error.kind())),
                    error: error.as_ref().map(|error| hidden(&error.to_string())),
                    hint: error.and_then(|error| error.hint_text().map(hidden)),
                    remarks: remarks
                        .iter()
                        .map(|remark| SecretRemark {
                            message: hidden(&remark.to_string()),
                            fix: hidden(&remark.fix()),
                        })
                        .collect(),
                }
            });
            Ok(SecretsReport {
                secrets: secrets.collect(),
            })
        })
    }

    fn logins(&self, query: LoginsQuery) -> Pending<'_, LoginsReport> {
        Box::pin(self.answer_logins(query))
    }

    fn begin_login(&self, request: LoginRequest) -> Pending<'_, LoginOffer> {
        Box::pin(self.answer_begin_login(request))
    }

    fn await_login(&self, query: OneLogin) -> Pending<'_, LoginReport> {
        Box::pin(self.answer_await_login(query))
    }

    fn finish_login(&self, answer: LoginAnswer) -> Pending<'_, LoginReport> {
        Box::pin(self.answer_finish_login(answer))
    }

    fn logout(&self, query: OneServer) -> Pending<'_, LogoutReport> {
        Box::pin(self.answer_logout(query))
    }

    fn client_metadata(&self, query: ClientMetadataQuery) -> Pending<'_, ClientMetadata> {
        Box::pin(async move { self.answer_client_metadata(query) })
    }

    fn close(&self) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async {
            // Side by side: a login whose renewal takes long must not keep sessions from being closed.
            // What turns that end now have handed in is still written down.
            let closing = async { tokio::join!(self.servers.shutdown(), self.sessions.close()) };
            self.telemetry_after(closing).await;
        })
    }
}

impl Runtime {
    fn one(
        &self,
        query: &OneServer,
    ) -> Result<(Arc<AgentPlan>, Arc<PlannedServer>), EngineFailure> {
        let agent = self.agent(query.agent.as_deref())?;
        let server = found_server(&agent, &query.server)?;
        Ok((agent, server))
    }

    fn gateway_report(&self) -> GatewayReport {
        let Some((address, since)) = self.address.get() else {
            return GatewayReport::default();
        };
        GatewayReport {
            running: true,
            pid: Some(std::process::id()),
            uptime_ms: u64::try_from(since.elapsed().as_millis()).ok(),
            address: Some(address.clone()),
        }
    }

    /// Where settings stand that have changed and don't count yet.
    fn awaits_restart(&self, config: &Config) -> Vec<String> {
        let unlike = self.lasting.as_ref().map(|it| it.unlike(config));
        let places = unlike.into_iter().flatten();
        places.map(str::to_owned).collect()
    }

    fn last_config_error(&self) -> Option<String> {
        let error = self.config_error.lock();
        error.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn all_servers(&self, agent: &AgentPlan) -> ServersReport {
        let tools = self.servers.tools(agent, None);
        let servers = self.servers.view(agent);
        let servers = servers
            .iter()
            .map(|view| report(view, &tools, &self.redactor));
        ServersReport {
            servers: servers.collect(),
            warnings: Vec::new(),
        }
    }

    async fn details(&self, agent: &AgentPlan, server: &Arc<PlannedServer>) -> ServerDetails {
        let login = match self.servers.login_state(server).await {
            Ok(login) => login,
            Err(error) => {
                let name = server.name();
                tracing::warn!(server = name, "the saved login can't be looked at: {error}");
                None
            }
        };
        let tools = self.servers.tools(agent, None);
        let view = self.servers.view_one(agent, server);
        details(self, &view, &tools, login)
    }

    /// Starts one server or all, and says which can't be asked.
    pub(crate) async fn started(
        &self,
        agent: &AgentPlan,
        server: Option<&str>,
    ) -> Result<Vec<String>, EngineFailure> {
        let names = match server {
            Some(name) => Some(vec![found_server(agent, name)?.name().to_owned()]),
            None => None,
        };
        self.servers.start(agent, names.as_deref()).await;
        let tools = self.servers.tools(agent, None);
        let views = self.servers.view(agent);
        let views = views.iter();
        let is_meant = |name: &str| server.is_none_or(|server| server == name);
        let reports = views
            .filter(|view| is_meant(view.server.name()))
            .map(|view| report(view, &tools, &self.redactor));
        let mut problems = Vec::new();
        for report in reports {
            let Some(problem) = problem(&report, server.is_some()) else {
                continue;
            };
            // Whoever asks for one server wants to know why it can't be asked, and nothing else.
            if server.is_some() {
                return Err(if needs_login(&report) {
                    EngineFailure::operation("needs-auth", problem).about(report.name)
                } else {
                    EngineFailure::operation("server-not-ready", problem)
                });
            }
            problems.push(problem);
        }
        Ok(problems)
    }
}

/// Whether a login would help.
fn needs_login(report: &openclaw_engine::ServerReport) -> bool {
    report.state == ShownState::NeedsAuth && report.auth == AuthKind::Oauth
}

/// Why a server can't be asked, if it can't.
fn problem(report: &openclaw_engine::ServerReport, is_named: bool) -> Option<String> {
    let word = match report.state {
        ShownState::Ready => return None,
        // Whoever asks for all of them does not mean those.
        ShownState::Disabled | ShownState::Stopped if !is_named => return None,
        ShownState::Disabled => "is disabled",
        ShownState::Stopped => "is stopped",
        ShownState::Connecting => "is still connecting",
        ShownState::Restarting => "was lost and is being restarted",
        ShownState::NeedsAuth if needs_login(report) => "needs a login",
        ShownState::NeedsAuth => "does not let us in",
        ShownState::Failed => "has failed",
    };
    let name = &report.name;
    let problem = match &report.error {
        Some(error) => format!("the server `{name}` {word}: {error}"),
        None => format!("the server `{name}` {word}"),
    };
    Some(shown_line(&problem, PROBLEM))
}

fn trouble(kind: SecretErrorKind) -> SecretTrouble {
    match kind {
        SecretErrorKind::Missing => SecretTrouble::Missing,
        SecretErrorKind::Refused => SecretTrouble::Refused,
        SecretErrorKind::Unusable => SecretTrouble::Unusable,
        SecretErrorKind::Misconfigured => SecretTrouble::Misconfigured,
        // Whatever else there will be is not for a person to mend.
        _ => SecretTrouble::Unavailable,
    }
}
