//! The boundary between those who ask (commands, pages, editors) and the runtime that has the
//! servers, so that it makes no difference in which process that lives.
//!
//! Everything that crosses it is plain data that can be written as JSON, in the shapes that the
//! command line prints: another process needs nothing but these types.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `engine` | what can be asked | how it is answered |
//! | `failure` | why something was not done, and whose fault it is | formatting for terminals |
//! | `agents` | agents, by their names | |
//! | `servers` | servers and how they are | |
//! | `looking` | what can be seen without starting anything | |
//! | `tools` | tools, and calls of them | |
//! | `resources`, `prompts` | what else servers offer | |
//! | `loans` | servers that somebody lends to a session | |
//! | `configuration` | the configuration in force, and what is wrong with its files | credentials in clear |
//! | `definitions` | definitions of servers in the configuration | credentials in clear |
//! | `imports` | servers of other clients, taken over | credentials in clear |
//! | `replies` | turns of an agent | models |
//! | `questions` | what servers ask the person behind a call, and which answers fit | how people are asked |
//! | `skills` | what agents were taught | files |
//! | `commands` | what can be typed behind a slash | what it does |
//! | `sessions` | what was said, and is kept | |
//! | `models` | whether models can be asked | keys |
//! | `logins` | logins to servers | tokens |
//! | `secrets` | whether secrets can be had | secrets |
//! | `overview` | everything at one glance | |
//! | `statistics` | what servers did, in numbers | how they are shown |
//! | `watching` | what happens, told while it does | |
//! | `activity` | what happened lately, with its times | |

mod activity;
mod agents;
mod commands;
mod configuration;
mod definitions;
mod engine;
mod failure;
mod imports;
mod loans;
mod logins;
mod looking;
mod models;
mod overview;
mod prompts;
mod questions;
mod replies;
mod resources;
mod secrets;
mod servers;
mod sessions;
mod skills;
mod statistics;
mod tools;
mod watching;

pub use activity::{ActivityEntry, ActivityQuery, ActivityReport};
pub use agents::{AgentQuery, KnownAgent};
pub use commands::{
    Candidate, CommandOrigin, CommandReport, CommandsQuery, CommandsReport, CompletionQuery,
    CompletionReport,
};
pub use configuration::{
    ConfigurationProblem, ConfigurationQuery, ConfigurationReport, ProblemSeverity,
};
pub use definitions::{
    AddServer, AddedServer, DefinitionsReport, ReloadReport, RemovedServer, ServerEntry, SetServer,
    StoredCredential,
};
pub use engine::{Engine, Pending};
pub use failure::{Blame, EngineFailure};
pub use imports::{ImportOutcome, ImportReport, ImportRequest, ImportedFile, ServerImport};
pub use loans::{LendServers, Lender, LentLaunch, LentReport, LentServer, LentValue, LoanReport};
pub use logins::{
    ClientMetadata, ClientMetadataQuery, KeptLogin, LoginAnswer, LoginOffer, LoginReport,
    LoginRequest, LoginsQuery, LoginsReport, LogoutReport, OneLogin, RegistrationKind,
};
pub use looking::{LookQuery, LookReport};
pub use models::{ModelReport, ModelsQuery, ModelsReport};
pub use overview::{AgentReport, Credentials, GatewayReport, Overview};
pub use prompts::{
    PromptArgumentReport, PromptMessageReport, PromptReport, PromptRequest, PromptSummary,
    PromptsReport,
};
pub use questions::{
    Asks, FieldKind, FieldOption, FormField, Refusal, ServerAnswer, ServerQuestion,
};
pub use replies::{
    Attachment, AttachmentData, Audience, EarlierMessage, EarlierSpeaker, ReplyEngine, ReplyEvent,
    ReplyPart, ReplyReport, ReplyRequest, SessionChoice, ToolCallReport, ToolConsent, ToolEffect,
    ToolQuestion, UsageReport,
};
pub use resources::{
    ContentsReport, ReadReport, ReadRequest, ResourceSummary, ResourcesReport, TemplateSummary,
};
pub use secrets::{SecretRemark, SecretReport, SecretTrouble, SecretsQuery, SecretsReport};
pub use servers::{
    AuthKind, LogsQuery, LogsReport, OneServer, ServerDetails, ServerReport, ServersQuery,
    ServersReport, ShownState, TransportKind,
};
pub use sessions::{
    AskedCall, DeletedSession, MediaReport, MessageReport, OneSession, SessionReport,
    SessionTranscript, SessionsQuery, SessionsReport, Speaker,
};
pub use skills::{SkillReport, SkillsQuery, SkillsReport};
pub use statistics::{CallCounts, LATENCY_BOUNDS, ServerStatistics, StatisticsReport};
pub use tools::{
    ApprovalReport, ApprovalRequest, CallArguments, CallReport, CallRequest, OfServer, ToolReport,
    ToolsReport,
};
pub use watching::{EngineEvent, Watcher};
