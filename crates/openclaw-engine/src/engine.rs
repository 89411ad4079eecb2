//! What can be asked.

use std::pin::Pin;

use crate::activity::{ActivityQuery, ActivityReport};
use crate::agents::{AgentQuery, KnownAgent};
use crate::commands::{CommandsQuery, CommandsReport, CompletionQuery, CompletionReport};
use crate::configuration::{ConfigurationQuery, ConfigurationReport};
use crate::definitions::{
    AddServer, AddedServer, DefinitionsReport, ReloadReport, RemovedServer, SetServer,
};
use crate::failure::EngineFailure;
use crate::imports::{ImportReport, ImportRequest};
use crate::loans::{LendServers, Lender, LoanReport};
use crate::logins::{
    ClientMetadata, ClientMetadataQuery, LoginAnswer, LoginOffer, LoginReport, LoginRequest,
    LoginsQuery, LoginsReport, LogoutReport, OneLogin,
};
use crate::looking::{LookQuery, LookReport};
use crate::models::{ModelsQuery, ModelsReport};
use crate::overview::Overview;
use crate::prompts::{PromptReport, PromptRequest, PromptsReport};
use crate::replies::ReplyEngine;
use crate::resources::{ReadReport, ReadRequest, ResourcesReport};
use crate::secrets::{SecretsQuery, SecretsReport};
use crate::servers::{
    LogsQuery, LogsReport, OneServer, ServerDetails, ServersQuery, ServersReport,
};
use crate::sessions::{
    DeletedSession, OneSession, SessionTranscript, SessionsQuery, SessionsReport,
};
use crate::skills::{SkillsQuery, SkillsReport};
use crate::statistics::StatisticsReport;
use crate::tools::{
    ApprovalReport, ApprovalRequest, CallReport, CallRequest, OfServer, ToolsReport,
};
use crate::watching::Watcher;

/// An answer that is still to come. Dropping it withdraws the question.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, EngineFailure>> + Send + 'a>>;

/// A runtime: in this process, or in the gateway.
///
/// Servers that a question needs are started by it; those that it does not need are left alone. Where a
/// question names an agent, the whole name of a session means its agent as it is in that session: with the
/// servers that are lent to it.
pub trait Engine: ReplyEngine {
    /// Which agent is meant. One that there is not is a failure that names the others.
    fn agent(&self, query: AgentQuery) -> Pending<'_, KnownAgent>;
    /// How the servers of an agent are.
    fn servers(&self, query: ServersQuery) -> Pending<'_, ServersReport>;
    /// How one server is, in detail.
    fn server(&self, query: OneServer) -> Pending<'_, ServerDetails>;
    /// Connects a server that was disconnected or failed.
    fn connect(&self, query: OneServer) -> Pending<'_, ServerDetails>;
    /// Stops a server until somebody asks for it.
    fn disconnect(&self, query: OneServer) -> Pending<'_, ServerDetails>;
    /// Lists again what servers offer, and revives those that failed.
    fn refresh(&self, query: OfServer) -> Pending<'_, ServersReport>;
    /// The last lines that a server wrote to its standard error.
    fn logs(&self, query: LogsQuery) -> Pending<'_, LogsReport>;
    /// The tools that an agent may use.
    fn tools(&self, query: OfServer) -> Pending<'_, ToolsReport>;
    /// Calls a tool.
    fn call(&self, request: CallRequest) -> Pending<'_, CallReport>;
    /// Accepts the definition that a tool has now.
    fn approve(&self, request: ApprovalRequest) -> Pending<'_, ApprovalReport>;
    /// The resources that servers offer.
    fn resources(&self, query: OfServer) -> Pending<'_, ResourcesReport>;
    /// Reads a resource.
    fn read(&self, request: ReadRequest) -> Pending<'_, ReadReport>;
    /// The prompts that servers offer.
    fn prompts(&self, query: OfServer) -> Pending<'_, PromptsReport>;
    /// Fills in a prompt.
    fn prompt(&self, request: PromptRequest) -> Pending<'_, PromptReport>;
    /// What can be typed behind a slash.
    fn commands(&self, query: CommandsQuery) -> Pending<'_, CommandsReport>;
    /// The skills of an agent.
    fn skills(&self, query: SkillsQuery) -> Pending<'_, SkillsReport>;
    /// How a message can go on that begins with a slash.
    fn complete(&self, query: CompletionQuery) -> Pending<'_, CompletionReport>;
    /// The definitions of servers, credentials hidden.
    fn definitions(&self, query: OfServer) -> Pending<'_, DefinitionsReport>;
    /// Tries a new server and writes it to the configuration.
    fn add_server(&self, request: AddServer) -> Pending<'_, AddedServer>;
    /// Writes the definition of a server to the configuration.
    fn set_server(&self, request: SetServer) -> Pending<'_, AddedServer>;
    /// Stops a server and deletes it from the configuration.
    fn remove_server(&self, query: OneServer) -> Pending<'_, RemovedServer>;
    /// Takes over servers of other MCP clients on the machine that answers.
    fn import(&self, request: ImportRequest) -> Pending<'_, ImportReport>;
    /// The configuration that is in force, credentials hidden, and what is wrong with its files now.
    fn configuration(&self, query: ConfigurationQuery) -> Pending<'_, ConfigurationReport>;
    /// Reads the configuration anew: what did not change is not touched.
    fn reload(&self) -> Pending<'_, ReloadReport>;
    /// The sessions that are kept.
    fn sessions(&self, query: SessionsQuery) -> Pending<'_, SessionsReport>;
    /// Lends servers to a session, for as long as their lender is there: they join those of its agent, and
    /// nobody else sees them.
    fn lend(&self, request: LendServers) -> Pending<'_, LoanReport>;
    /// Says that a lender is there, until whoever asks drops it: then everything that it lent is taken back.
    fn lending(&self, lender: Lender) -> Pending<'_, ()>;
    /// What was said in a session.
    fn session(&self, query: OneSession) -> Pending<'_, SessionTranscript>;
    /// Deletes a session.
    fn delete_session(&self, query: OneSession) -> Pending<'_, DeletedSession>;
    /// The models of the agents, and whether they can be asked.
    fn models(&self, query: ModelsQuery) -> Pending<'_, ModelsReport>;
    /// Everything at one glance. Nothing is started for it.
    fn overview(&self) -> Pending<'_, Overview>;
    /// What servers did since they are looked after, in numbers. Nothing is started for it.
    fn statistics(&self) -> Pending<'_, StatisticsReport>;
    /// What happened lately. Nothing is started for it.
    fn activity(&self, query: ActivityQuery) -> Pending<'_, ActivityReport>;
    /// What can be seen of servers right now. Nothing is started for it.
    fn look(&self, query: LookQuery) -> Pending<'_, LookReport>;
    /// Tells what happens from now on, until whoever asks drops it.
    fn watch<'a>(&'a self, watcher: &'a dyn Watcher) -> Pending<'a, ()>;
    /// Whether the secrets of the configuration can be had; each is asked for.
    fn secrets(&self, query: SecretsQuery) -> Pending<'_, SecretsReport>;
    /// The logins that are kept. Nothing is asked of servers for it.
    fn logins(&self, query: LoginsQuery) -> Pending<'_, LoginsReport>;
    /// Begins a login to a server.
    fn begin_login(&self, request: LoginRequest) -> Pending<'_, LoginOffer>;
    /// Waits until a login that was begun with this engine ends, however it does: with a browser that
    /// arrives here, or with [`Engine::finish_login`] in whatever process.
    fn await_login(&self, query: OneLogin) -> Pending<'_, LoginReport>;
    /// Ends a login with what the browser brought back.
    fn finish_login(&self, answer: LoginAnswer) -> Pending<'_, LoginReport>;
    /// Gives up the login to a server.
    fn logout(&self, query: OneServer) -> Pending<'_, LogoutReport>;
    /// The document that describes us to authorization servers, for whoever puts it where they find
    /// it.
    fn client_metadata(&self, query: ClientMetadataQuery) -> Pending<'_, ClientMetadata>;
    /// Ends what was started for this engine alone, and waits for it.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}
