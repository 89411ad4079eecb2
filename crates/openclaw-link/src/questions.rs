//! The table of all questions of an engine, and both ends of the link made from it: the engine for
//! whoever asks, and the way from a name to the answer. A question that is not in the table does not
//! compile.

use std::pin::Pin;

use bytes::Bytes;
use openclaw_engine::{
    ActivityQuery, ActivityReport, AddServer, AddedServer, AgentQuery, ApprovalReport,
    ApprovalRequest, Audience, CallReport, CallRequest, ClientMetadata, ClientMetadataQuery,
    CommandsQuery, CommandsReport, CompletionQuery, CompletionReport, ConfigurationQuery,
    ConfigurationReport, DefinitionsReport, DeletedSession, Engine, EngineFailure, ImportReport,
    ImportRequest, KnownAgent, LendServers, Lender, LoanReport, LoginAnswer, LoginOffer,
    LoginReport, LoginRequest, LoginsQuery, LoginsReport, LogoutReport, LogsQuery, LogsReport,
    LookQuery, LookReport, ModelsQuery, ModelsReport, OfServer, OneLogin, OneServer, OneSession,
    Overview, Pending, PromptReport, PromptRequest, PromptsReport, ReadReport, ReadRequest,
    ReloadReport, RemovedServer, ReplyEngine, ReplyReport, ReplyRequest, ResourcesReport,
    SecretsQuery, SecretsReport, ServerDetails, ServersQuery, ServersReport, SessionTranscript,
    SessionsQuery, SessionsReport, SetServer, SkillsQuery, SkillsReport, StatisticsReport,
    ToolsReport, Watcher,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::desk::Reporter;
use crate::remote::Remote;

/// Has an agent answer a message.
pub(crate) const REPLY: &str = "reply";
/// Tells what happens.
pub(crate) const WATCH: &str = "watch";
/// Has the gateway stop; no question of an engine.
pub(crate) const STOP: &str = "stop";

/// What a question leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// Something: who does not hear the answer does not know whether it was carried out.
    Some,
}

/// A question whose answer is reported. It has a place of its own: else each question would take the room of
/// the largest.
type Reported<'a> = Pin<Box<dyn Future<Output = Result<(), EngineFailure>> + Send + 'a>>;

async fn reported(
    pending: Pending<'_, impl Serialize + Sync>,
    reporter: &Reporter,
) -> Result<(), EngineFailure> {
    reporter.report(&pending.await?).await;
    Ok(())
}

macro_rules! table {
    ($($name:ident($($query:ident: $kind:ty)?) -> $report:ty, $effect:ident;)+) => {
        impl Engine for Remote {
            $(fn $name(&self $(, $query: $kind)?) -> Pending<'_, $report> {
                let with = ($($query)?);
                Box::pin(async move {
                    let link = self.link().await?;
                    link.ask(stringify!($name), Effect::$effect, with).await
                })
            })+

            fn watch<'a>(&'a self, watcher: &'a dyn Watcher) -> Pending<'a, ()> {
                Box::pin(async move { self.link().await?.watch(watcher).await })
            }

            fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
                Remote::close(self);
                Box::pin(std::future::ready(()))
            }
        }

        /// Puts the question of a name to an engine, and reports the answer.
        pub(crate) async fn put(
            engine: &dyn Engine,
            question: &str,
            with: Bytes,
            reporter: &Reporter,
        ) -> Result<(), EngineFailure> {
            let reported: Reported<'_> = match question {
                $(stringify!($name) => {
                    let pending = engine.$name($(read::<$kind>(stringify!($query), &with)?)?);
                    Box::pin(reported(pending, reporter))
                })+
                _ => return Err(unknown(question)),
            };
            // It may be large, and the answer far away.
            drop(with);
            reported.await
        }
    };
}

table! {
    agent(query: AgentQuery) -> KnownAgent, None;
    servers(query: ServersQuery) -> ServersReport, None;
    server(query: OneServer) -> ServerDetails, None;
    connect(query: OneServer) -> ServerDetails, Some;
    disconnect(query: OneServer) -> ServerDetails, Some;
    refresh(query: OfServer) -> ServersReport, Some;
    logs(query: LogsQuery) -> LogsReport, None;
    tools(query: OfServer) -> ToolsReport, None;
    call(request: CallRequest) -> CallReport, Some;
    approve(request: ApprovalRequest) -> ApprovalReport, Some;
    resources(query: OfServer) -> ResourcesReport, None;
    read(request: ReadRequest) -> ReadReport, None;
    prompts(query: OfServer) -> PromptsReport, None;
    prompt(request: PromptRequest) -> PromptReport, None;
    commands(query: CommandsQuery) -> CommandsReport, None;
    skills(query: SkillsQuery) -> SkillsReport, None;
    complete(query: CompletionQuery) -> CompletionReport, None;
    definitions(query: OfServer) -> DefinitionsReport, None;
    add_server(request: AddServer) -> AddedServer, Some;
    set_server(request: SetServer) -> AddedServer, Some;
    remove_server(query: OneServer) -> RemovedServer, Some;
    import(request: ImportRequest) -> ImportReport, Some;
    configuration(query: ConfigurationQuery) -> ConfigurationReport, None;
    reload() -> ReloadReport, Some;
    sessions(query: SessionsQuery) -> SessionsReport, None;
    lend(request: LendServers) -> LoanReport, Some;
    lending(lender: Lender) -> (), None;
    session(query: OneSession) -> SessionTranscript, None;
    delete_session(query: OneSession) -> DeletedSession, Some;
    models(query: ModelsQuery) -> ModelsReport, None;
    overview() -> Overview, None;
    statistics() -> StatisticsReport, None;
    look(query: LookQuery) -> LookReport, None;
    activity(query: ActivityQuery) -> ActivityReport, None;
    secrets(query: SecretsQuery) -> SecretsReport, None;
    logins(query: LoginsQuery) -> LoginsReport, None;
    begin_login(request: LoginRequest) -> LoginOffer, Some;
    await_login(query: OneLogin) -> LoginReport, None;
    finish_login(answer: LoginAnswer) -> LoginReport, Some;
    logout(query: OneServer) -> LogoutReport, Some;
    client_metadata(query: ClientMetadataQuery) -> ClientMetadata, None;
}

impl ReplyEngine for Remote {
    fn reply<'a>(
        &'a self,
        request: ReplyRequest,
        audience: &'a dyn Audience,
    ) -> Pending<'a, ReplyReport> {
        Box::pin(async move { self.link().await?.reply(request, audience).await })
    }
}

/// Reads what a question is asked with. Nothing stands for an object with nothing in it.
pub(crate) fn read<T: DeserializeOwned>(what: &str, with: &[u8]) -> Result<T, EngineFailure> {
    let with = if with == b"null" { b"{}" } else { with };
    openclaw_json::read(with).map_err(|error| {
        let message = format!("the {what} of the question can't be read: {error}");
        EngineFailure::asker("bad-question", message)
    })
}

fn unknown(question: &str) -> EngineFailure {
    let known = question
        .chars()
        .all(|it| it.is_ascii_alphanumeric() || it == '_');
    let message = if known && question.len() <= 64 {
        format!("the gateway does not know the question `{question}`")
    } else {
        "the gateway does not know the question".to_owned()
    };
    EngineFailure::asker("unknown-question", message)
        .hint("if the gateway is older than the program that asks, restart it")
}
