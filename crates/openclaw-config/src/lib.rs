//! Turns `openclaw.json` into a configuration that can be trusted, and back.
//!
//! | module | owns | never contains |
//! |---|---|---|
//! | `location`, `environment`, `dotenv` | which files and variables apply | the meaning of settings |
//! | `source`, `tree`, `parse`, `include`, `expand` | JSON5 with places, `$include`, `${VAR}` | any one setting |
//! | `report`, `render`, `hide` | everything that is wrong, as data and as text | deciding what is wrong |
//! | `shape` | how types read themselves and describe themselves | any one setting |
//! | `raw` | every field of the file: names, type, text | rules between fields |
//! | `server` | rules between the fields of a server, sound definitions | where servers stand in the file |
//! | `resolve`, `place`, `agent` | places laid over each other, agents | reading files |
//! | `config` | the resolved configuration | how it was found |
//! | `fingerprint`, `diff` | what makes connections the same, what a reload changes | starting and stopping servers |
//! | `schema`, `reference` | JSON Schema and Markdown, made from the declarations | |
//! | `values` | which values may be credentials, each with its field | what they are |
//! | `presence` | what is set at all, without any value | what it is set to |
//! | `show`, `credentials`, `arguments` | the resolved configuration as JSON, credentials hidden | |
//! | `edit` | changes of the file that keep comments and lose nothing | what to change |
//! | `shell` | texts as words of a command line | |
//! | `load` | the way from a file to a configuration | |

mod agent;
mod arguments;
mod config;
mod credentials;
mod diff;
mod dotenv;
mod edit;
mod environment;
mod expand;
mod fingerprint;
mod hide;
mod include;
mod load;
mod location;
mod parse;
mod path;
mod place;
mod presence;
mod raw;
mod reference;
mod render;
mod report;
mod resolve;
mod schema;
mod server;
mod shape;
mod shell;
mod show;
mod source;
mod tree;
mod values;

pub use agent::{AgentId, AgentIdError};
pub use config::{
    Agent, AgentResources, AgentServers, Approval, Config, ConfigValue, ConfiguredServer,
    Definition, FileMode, Gateway, GatewayAuthMode, GatewayBind, MediaSettings, ModelChoice,
    ModelFacts, ModelProvider, OtelSettings, PolicyLayer, SecretProgram, SecretProviderSettings,
    SecretSettings, ServerLimits, SessionRetention, SkillSettings, SkillsSettings, ToolSearch,
    Transcriber, TranscriptionProgram, TranscriptionService, TranscriptionSettings, WithoutPerson,
};
pub use diff::{Change, Connection, Connections, Difference, User, connections, difference};
pub use edit::{EditError, Editor, ServerEdit, written_server};
pub use environment::Environment;
pub use fingerprint::{Fingerprint, Fingerprints};
pub use load::{Loaded, load};
pub use location::{Location, LocationError, Overrides};
pub use path::JsonPath;
pub use place::Place;
pub use presence::Presence;
pub use reference::reference;
pub use render::ShownLines;
pub use report::{Kind, Problem, Report, Severity};
pub use schema::schema;
pub use server::{
    Authorization, CallbackHost, ClientIdentity, GrantType, InheritedEnvironment, Launch,
    LentError, LentLaunch, NameError, OAuthSettings, PinPolicy, ProtocolChoice, RemoteLaunch,
    RemoteTransport, Restart, Server, ServerName, ServerResources, ServerScope, StdioLaunch,
    Timeouts, TlsSettings, ToolFilter, ToolNaming, lent_server,
};
pub use shell::shell_word;
pub use source::Position;
pub use values::{NamedValue, PlacedReference, ValueOwner};
